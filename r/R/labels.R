# Labels of elements: what the data's factors and dimnames say of the model's
# arrays. In `theta[school[i]]` theta has an element for each level of school;
# in a loop that goes over rows or columns of labelled data, what else has the
# loop's index as a subscript has these labels, too.

# For each array of the data, a list with labels (or NULL) for each dimension.
labels_of_data <- function(data) {
  lapply(as.list(data), function(x) {
    if (is.data.frame(x))
      return(list(if (is.character(attr(x, "row.names"))) row.names(x),
                  names(x)))
    if (!is.null(dim(x)))
      return(if (is.null(dimnames(x))) rep(list(NULL), length(dim(x)))
             else unname(dimnames(x)))
    list(names(x))
  })
}

levels_of_data <- function(data)
  lapply(Filter(is.factor, as.list(data)), levels)

# The references of a model: array, dimension, and what stands there: the name
# of an array whose element is the subscript, or the number of a loop. `text` is
# gbmc's print of the model, with one statement, `for` or `}` a line.
references_in <- function(text) {
  found <- list()
  loops <- list() # name and number of the loops that are open; "" another {
  count <- 0L
  for (line in text) {
    index <- regmatches(line, regexec("^\\s*for \\((\\w+) in ", line))[[1]]
    if (length(index) > 1) {
      count <- count + 1L
      loops <- c(loops, list(list(name = index[2], number = count)))
    } else if (grepl("\\{\\s*$", line)) {
      loops <- c(loops, list(list(name = "", number = 0L)))
    } else if (grepl("^\\s*\\}\\s*$", line)) {
      loops <- loops[-length(loops)]
    }
    found <- c(found, references_in_line(line, loops))
  }
  found
}

references_in_line <- function(line, loops) {
  found <- list()
  starts <- gregexpr("[A-Za-z][A-Za-z0-9._]*\\[", line)[[1]]
  for (k in seq_along(starts)[starts > 0]) {
    open <- starts[k] + attr(starts, "match.length")[k]
    name <- substr(line, starts[k], open - 2L)
    subscripts <- split_subscripts(substring(line, open))
    for (d in seq_along(subscripts)) {
      s <- subscripts[d]
      loop <- Filter(function(l) l$name == s, loops)
      through <- regmatches(
        s, regexec("^([A-Za-z][A-Za-z0-9._]*)\\[.*\\]$", s))[[1]]
      if (length(loop) > 0)
        found <- c(found, list(list(name = name, dimension = d,
                                    loop = loop[[length(loop)]]$number)))
      else if (length(through) > 1)
        found <- c(found, list(list(name = name, dimension = d,
                                    through = through[2])))
    }
  }
  found
}

# "i, g[j]] + b[" is subscripts "i", "g[j]" up to the bracket that closes.
split_subscripts <- function(text) {
  letters <- strsplit(text, "")[[1]]
  depth <- cumsum((letters %in% c("[", "(")) - (letters %in% c("]", ")")))
  end <- match(-1, depth)
  if (is.na(end))
    return(character())
  commas <- which(letters == "," & depth == 0)
  commas <- c(0L, commas[commas < end], end)
  trimws(vapply(seq_len(length(commas) - 1), function(k)
    substr(text, commas[k] + 1L, commas[k + 1] - 1L), ""))
}

# A list: array -> list of labels by dimension. What is told twice, in
# different words, has no label.
find_labels <- function(text, data) {
  known <- labels_of_data(data)
  levels <- levels_of_data(data)
  labelled <- length(levels) > 0 ||
    any(vapply(known, function(x) !all(vapply(x, is.null, NA)), NA))
  if (!labelled)
    return(list())
  references <- references_in(text)
  tell <- function(where, labels) {
    key <- paste(where$name, where$dimension)
    if (is.null(told[[key]]))
      told[[key]] <<- labels
    else if (!identical(told[[key]], labels))
      told[[key]] <<- NA_character_
  }
  told <- list()
  for (r in references)
    if (!is.null(r$through) && !is.null(levels[[r$through]]))
      tell(r, levels[[r$through]])
  of_loop <- list()
  for (r in references) {
    own <- if (!is.null(r$loop) && r$dimension <= length(known[[r$name]]))
      known[[r$name]][[r$dimension]]
    if (!is.null(own))
      of_loop[[as.character(r$loop)]] <-
        c(of_loop[[as.character(r$loop)]], list(own))
  }
  for (r in references) {
    labels <- if (!is.null(r$loop)) unique(of_loop[[as.character(r$loop)]])
    if (length(labels) == 1 && is.null(known[[r$name]]))
      tell(r, labels[[1]])
  }
  gather_labels(told)
}

gather_labels <- function(told) {
  result <- list()
  for (key in names(told)) {
    if (anyNA(told[[key]]))
      next
    parts <- strsplit(key, " ", fixed = TRUE)[[1]]
    d <- as.integer(parts[2])
    of <- result[[parts[1]]]
    if (length(of) < d)
      of <- c(of, rep(list(NULL), d - length(of)))
    of[[d]] <- told[[key]]
    result[[parts[1]]] <- of
  }
  result
}
