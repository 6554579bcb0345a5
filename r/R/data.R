# Data and starting values: from R's objects to the R dump format, which is as
# R has arrays, column by column, and keeps every digit.

# A list of arrays of numbers, with NA for what is missing. Factors become
# codes, logical values 0 and 1, a data frame in the list a matrix; a data frame
# as the whole is its columns. Names of what is missing here are told in errors.
as_numbers <- function(data, what = "data") {
  if (is.null(data))
    return(list())
  if (is.environment(data))
    data <- as.list(data)
  if (!is.list(data))
    stop(what, " must be a named list, a data frame or an environment, not ",
         class(data)[1], call. = FALSE)
  data <- as.list(data)
  data <- data[!vapply(data, is.null, NA)]
  names <- names(data)
  if (length(data) > 0 && (is.null(names) || any(!nzchar(names))))
    stop(what, " must have a name for each of its elements", call. = FALSE)
  if (anyDuplicated(names))
    stop(what, " has ", names[anyDuplicated(names)], " twice", call. = FALSE)
  odd <- grep("^[A-Za-z][A-Za-z0-9._]*$", names, value = TRUE, invert = TRUE)
  odd <- setdiff(odd, grep("^\\.RNG\\.", names, value = TRUE))
  if (length(odd) > 0)
    stop("\"", odd[1], "\" in ", what, " cannot be a name in a model",
         call. = FALSE)
  for (name in names)
    data[[name]] <- numbers_of(data[[name]], paste0(what, "$", name))
  data
}

numbers_of <- function(x, name) {
  if (is.data.frame(x)) {
    for (column in names(x))
      x[[column]] <- numbers_of(x[[column]], paste0(name, "$", column))
    x <- as.matrix(x)
  }
  if (inherits(x, c("Date", "POSIXt", "difftime")))
    stop(name, " holds dates or times: give numbers, with the unit that the ",
         "model means", call. = FALSE)
  if (is.factor(x))
    return(structure(as.integer(x), dim = dim(x), names = names(x)))
  if (is.character(x))
    stop(name, " is text; make a factor of it, whose codes the model then sees",
         call. = FALSE)
  if (is.logical(x)) # NA alone is logical
    storage.mode(x) <- "integer"
  if (!is.numeric(x) || is.list(x))
    stop(name, " is of class ", class(x)[1], "; it must be numbers",
         call. = FALSE)
  x
}

dump_numbers <- function(x) {
  text <- sprintf("%.17g", as.double(x))
  text[is.na(x)] <- "NA"
  text[is.nan(x)] <- "NaN"
  text[which(x == Inf)] <- "Inf"
  text[which(x == -Inf)] <- "-Inf"
  dims <- dim(x)
  if (length(text) == 1 && is.null(dims))
    return(text)
  values <- if (length(text) == 0) "numeric(0)" else
    paste0("c(", paste(text, collapse = ", "), ")")
  if (length(dims) < 2)
    return(values)
  paste0("structure(", values, ", .Dim = c(",
         paste(dims, collapse = ", "), "))")
}

write_dump <- function(data, path) {
  lines <- vapply(names(data), function(name)
    if (is.character(data[[name]])) # of .RNG.name
      paste0("`", name, "` <- \"", data[[name]], "\"")
    else
      paste0("`", name, "` <- ", dump_numbers(data[[name]])), "")
  writeLines(lines, path)
  path
}

# Starting values as one list of numbers for each chain: from NULL, one list for
# all, a list of lists, or a function of nothing or of the chain's number.
# Generators that inits name are JAGS's own; gbm has one seed for all.
expand_inits <- function(inits, chains) {
  if (is.null(inits) || (is.list(inits) && length(inits) == 0))
    return(NULL)
  if (is.function(inits)) {
    numbered <- length(formals(inits)) > 0 && !"..." %in% names(formals(inits))
    inits <- lapply(seq_len(chains), function(k)
      if (numbered) inits(k) else inits())
  } else if (!is.list(inits)) {
    stop("inits must be a list, a list of lists or a function, not ",
         class(inits)[1], call. = FALSE)
  } else if (!is.null(names(inits))) {
    inits <- rep(list(inits), chains)
  }
  if (length(inits) != chains)
    stop("inits has ", length(inits), " elements, for ", chains, " chains",
         call. = FALSE)
  lapply(seq_along(inits), function(k) {
    chain <- inits[[k]]
    as_numbers(chain[grep("^\\.RNG\\.", names(chain), invert = TRUE)],
               paste0("inits[[", k, "]]"))
  })
}

# The seed that inits name for JAGS's generators, or one that R's generator
# draws: so set.seed() settles a run.
settle_seed <- function(seed = NULL, inits = NULL) {
  if (is.list(inits)) {
    given <- inits[[".RNG.seed"]]
    if (is.null(given) && length(inits) > 0 && is.list(inits[[1]]))
      given <- inits[[1]][[".RNG.seed"]]
    if (is.null(seed))
      seed <- given
  }
  if (is.null(seed))
    seed <- sample.int(.Machine$integer.max, 1L)
  if (!is.numeric(seed) || length(seed) != 1 || is.na(seed) || seed < 0 ||
      seed != floor(seed) || seed > 2^53)
    stop("seed must be one whole number that is not negative", call. = FALSE)
  format(seed, scientific = FALSE)
}
