# Data and parameters drawn from the prior, or given the draws of a fit.

gbm_simulate <- function(model, data = list(), fit = NULL, anew = NULL,
                         posterior = FALSE, chains = 4, warmup = 1000,
                         draws = 1000, monitor = NULL, seed = NULL,
                         options = character(), quiet = FALSE) {
  if (!is.null(fit) && posterior)
    stop("fit = and posterior = TRUE are two ways to the parameters: name one",
         call. = FALSE)
  if (is.null(fit) && !is.null(anew))
    stop("anew = goes with fit =", call. = FALSE)
  numbers <- as_numbers(data)
  seed <- settle_seed(seed, NULL)
  program <- compiled(model, numbers, quiet)
  scratch <- tempfile("gbmr")
  dir.create(scratch)
  on.exit(unlink(scratch, recursive = TRUE))
  file <- function(name) file.path(scratch, name)
  args <- c("simulate", "--data", write_dump(numbers, file("data.R")),
            "--seed", format_option(seed), options,
            "--quantiles", paste(100 * summary_quantiles, collapse = ","),
            "--digits", "17", "--out", file("draws.csv"),
            "--summary", file("summary.json"))
  if (!is.null(monitor))
    args <- c(args, "--monitor", format_option(monitor))
  if (!is.null(fit)) {
    chains <- dim(fit)[2]
    args <- c(args, "--from", write_fit(fit, file("fit.nc")),
              if (!is.null(anew)) c("--anew", format_option(anew)))
  } else {
    for (name in c("chains", "warmup", "draws"))
      check_count(get(name), name, name != "warmup")
    args <- c(args, "--chains", format_option(chains), "--warmup",
              format_option(warmup), "--draws", format_option(draws),
              if (posterior) "--posterior")
  }
  ran <- run_program(program$sampler, args, scratch, show_run(quiet))
  have <- file.exists(file("summary.json")) && file.exists(file("draws_1.csv"))
  if (ran$status == 1 || !have)
    stop_for("the sampler", ran, scratch)
  # R-hats and effective sizes, of which the other warnings are, are the fit's
  lost <- grep("draws? .*missing", ran$err, value = TRUE)
  for (line in lost)
    warning(line, call. = FALSE)
  result <- read_fit(scratch, chains)
  result[c("model", "seed", "warmup", "thin", "notes")] <- list(
    gbm_model(model), as.numeric(seed),
    if (is.null(fit)) warmup else fit$warmup,
    if (is.null(fit)) 1 else fit$thin, ran$err)
  result$labels <- find_labels(gbmc_text(result$model, "--emit=ast"), data)
  result
}

# What the model of a fit draws of new data, given the fit's draws. It is compiled
# for what these data supply.
predict.gbm_fit <- function(object, newdata, ...) {
  model <- object$model
  model[c("sampler", "handle")] <- NULL
  gbm_simulate(model, newdata, fit = object, ...)
}

# ---- the fit's draws, as the sampler reads them

# Arrays as lists of the cells that have draws, without variables that the data
# gave, also in part: those belong to their rows.
write_fit <- function(fit, path) {
  names <- dimnames(fit$draws)$variable
  parts <- split_names(names)
  variables <- setdiff(unique(parts$base), c(fit$given, "deviance"))
  write_netcdf(path, dim(fit$draws)[1:2], lapply(variables, function(name) {
    at <- which(parts$base == name)
    index <- parts$index[at]
    if (is.null(index[[1]]))
      return(list(name = name, values = fit$draws[, , at]))
    index <- do.call(rbind, index)
    shape <- apply(index, 2, max)
    strides <- rev(cumprod(c(1, rev(shape)[-length(shape)])))
    cells <- as.vector((index - 1) %*% strides)
    first <- order(cells)
    list(name = name, shape = shape, cells = cells[first],
         values = aperm(fit$draws[, , at[first], drop = FALSE], c(3, 1, 2)))
  }))
}

# A file of netCDF's classic format with 64-bit offsets, big-endian: the header,
# then the variables one after the other. `variables` have a name, values (cell,
# draw, chain: the last dimension first), and, if they are arrays, shape and cells.
write_netcdf <- function(path, extents, variables) {
  put <- function(x, size) writeBin(x, raw(), size = size, endian = "big")
  integer <- function(x) put(as.integer(x), 4)
  # a double holds it exactly
  offset <- function(x) c(integer(x %/% 2^31 %/% 2), word(x %% 2^32))
  word <- function(x) integer(ifelse(x < 2^31, x, x - 2^32))
  text <- function(x) {
    bytes <- charToRaw(x)
    c(integer(length(bytes)), bytes, raw(-length(bytes) %% 4))
  }
  dims <- c(list(list("chain", extents[2]), list("draw", extents[1])),
            lapply(Filter(function(v) !is.null(v$cells), variables),
                   function(v) list(paste0(v$name, "_dim_0"), length(v$cells))))
  names <- vapply(dims, `[[`, "", 1)
  all <- list()
  for (v in variables) {
    own <- paste0(v$name, "_dim_0")
    listed <- !is.null(v$cells)
    all <- c(all, list(list(name = v$name, shape = v$shape,
                            dims = c("chain", "draw", if (listed) own),
                            values = v$values)),
             if (listed) list(list(name = own, dims = own, values = v$cells)))
  }
  header <- function(begins) {
    c(charToRaw("CDF"), as.raw(2), integer(0),
      integer(c(10, length(dims))),
      unlist(lapply(dims, function(d) c(text(d[[1]]), integer(d[[2]])))),
      integer(c(0, 0, 11, length(all))),
      unlist(Map(function(v, begin) {
        bytes <- 8 * length(v$values)
        c(text(v$name), integer(c(length(v$dims), match(v$dims, names) - 1)),
          if (is.null(v$shape)) integer(c(0, 0)) else
            c(integer(c(12, 1)), text("shape"),
              integer(c(4, length(v$shape), v$shape))),
          integer(6), word(min(bytes, 2^32 - 4)), offset(begin))
      }, all, begins)))
  }
  sizes <- vapply(all, function(v) 8 * length(v$values), 0)
  start <- length(header(rep(0, length(all))))
  file <- file(path, "wb")
  on.exit(close(file))
  writeBin(header(start + cumsum(c(0, sizes))[seq_along(all)]), file)
  for (v in all)
    writeBin(as.double(v$values), file, size = 8, endian = "big")
  path
}
