# Models: text or files, what gbmc makes of them, and what it says about them.

gbm_model <- function(model) {
  if (inherits(model, "gbm_model"))
    return(model)
  if (inherits(model, "connection"))
    model <- readLines(model, warn = FALSE)
  if (is.function(model))
    model <- text_of_function(model)
  if (!is.character(model) || length(model) == 0 || anyNA(model))
    stop("a model is its text, the name of a file, a connection or a ",
         "function, not ", class(model)[1], call. = FALSE)
  if (length(model) == 1 && !grepl("[{\n]", model)) {
    if (!file.exists(model))
      stop("there is no model file ", model, call. = FALSE)
    path <- normalizePath(model)
    return(structure(list(folder = dirname(path), file = basename(path),
                          text = readLines(path, warn = FALSE)),
                     class = "gbm_model"))
  }
  text <- unlist(strsplit(paste(model, collapse = "\n"), "\n", fixed = TRUE))
  structure(list(folder = folder_of(text), file = "model.gbm", text = text),
            class = "gbm_model")
}

# The same text has the same folder, and the same name within: gbmc then finds
# its sampler in the cache.
folder_of <- function(text) {
  written <- tempfile("model")
  writeLines(text, written)
  folder <- file.path(tempdir(), "gbmr", unname(tools::md5sum(written)))
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  file.rename(written, file.path(folder, "model.gbm"))
  folder
}

# A model written as the body of a function, as R2jags allows: there %_% stands
# before what R cannot parse, as in dnorm(0, 1) %_% T(0, ).
text_of_function <- function(f) {
  text <- deparse(body(f), width.cutoff = 500L)
  text <- gsub("%_%", "", text, fixed = TRUE)
  text <- gsub("([0-9])L\\b", "\\1", text)
  if (!grepl("\\{\\s*$", text[1]))
    text <- c("{", text, "}")
  if (any(grepl("^\\s*model\\s*\\{", text)))
    return(paste(text[-c(1, length(text))], collapse = "\n"))
  paste(c("model", text), collapse = "\n")
}

print.gbm_model <- function(x, ...) {
  cat(x$text, sep = "\n")
  invisible(x)
}

gbm_compile <- function(model, data = NULL,
                        options = getOption("gbmr.options"), quiet = FALSE) {
  model <- gbm_model(model)
  # The data stay beside the sampler, which for some methods has itself compiled
  # again; both go when no model names them any more.
  handle <- new.env(parent = emptyenv())
  handle$folder <- tempfile("gbmr")
  dir.create(handle$folder)
  reg.finalizer(handle, function(handle)
    unlink(handle$folder, recursive = TRUE), onexit = TRUE)
  sampler <- file.path(handle$folder, "sampler")
  args <- c(options, model$file, "-o", sampler)
  if (length(data) > 0)
    args <- c(args, "--data", write_dump(as_numbers(data),
                                         file.path(handle$folder, "data.R")))
  ran <- run_program(find_gbmc(), args, model$folder, say_lines(quiet))
  if (ran$interrupted || ran$status != 0)
    stop_for("gbmc", ran, if (model$file == "model.gbm") model$folder)
  warn_for(ran)
  model$sampler <- sampler
  model$handle <- handle
  model
}

# A program of the model, compiled unless it is; by what the data supply.
compiled <- function(model, data, quiet) {
  model <- gbm_model(model)
  if (!is.null(model$sampler) && file.exists(model$sampler))
    return(model)
  gbm_compile(model, data, quiet = quiet)
}

# What gbmc prints of a model with these arguments.
gbmc_text <- function(model, args, data = NULL) {
  model <- gbm_model(model)
  if (length(data) > 0) {
    file <- tempfile("data", fileext = ".R")
    on.exit(unlink(file))
    args <- c(args, "--data", write_dump(as_numbers(data), file))
  }
  ran <- run_program(find_gbmc(), c(args, model$file), model$folder)
  if (ran$status != 0)
    stop_for("gbmc", ran, if (model$file == "model.gbm") model$folder)
  ran$out
}

gbm_explain <- function(model, data = NULL)
  structure(gbmc_text(model, "--explain", data), class = "gbm_explanation")

print.gbm_explanation <- function(x, ...) {
  cat(unclass(x), sep = "\n")
  invisible(x)
}

gbm_check <- function(model, data = list(), seed = NULL, options = character(),
                      quiet = FALSE) {
  numbers <- as_numbers(data)
  model <- compiled(model, numbers, quiet)
  file <- tempfile("data", fileext = ".R")
  on.exit(unlink(file))
  write_dump(numbers, file)
  ran <- run_program(model$sampler,
                     c("check", "--data", file, "--seed", settle_seed(seed),
                       options), show = say_lines(quiet))
  if (ran$status == 1)
    stop_for("the check", ran)
  if (!quiet)
    cat(ran$out, ran$err[grepl("error:", ran$err)], sep = "\n")
  invisible(ran$status == 0)
}

gbm_version <- function()
  run_program(find_gbmc(), "--version")$out
