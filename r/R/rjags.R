# The functions of the package rjags, by their names and arguments.
#
# A model that was made by jags.model() draws nothing until it is asked for
# samples: adaptation and updates before the first of them are its warm-up.
# What follows goes on from a checkpoint of the sampler, bit for bit, as long as
# it keeps variables that the first call named, thinned alike; other variables
# or another thinning need a new run, with other random numbers and a warm-up
# as long, which a message says.

jags.model <- function(file, data = NULL, inits, n.chains = 1, n.adapt = 1000,
                       quiet = FALSE) {
  if (missing(file))
    stop("Model file name missing")
  if (is.null(data))
    data <- list()
  if (missing(inits))
    inits <- NULL
  run <- new.env(parent = emptyenv())
  run$numbers <- as_numbers(data)
  run$data <- as.list(data)
  run$inits <- inits
  run$chains <- n.chains
  run$quiet <- quiet
  run$seed <- settle_seed(inits = inits)
  expand_inits(inits, n.chains) # complains early
  run$program <- gbm_compile(file, run$numbers, quiet = quiet)
  run$variables <- c(names_in(run$program), "deviance")
  run$warmup <- n.adapt # sweeps before the first that is kept
  run$sweeps <- 0       # since then, that the chains have gone
  run$fit <- NULL       # the last run
  run$checkpoint <- tempfile("gbmr", fileext = ".state")
  reg.finalizer(run, function(run)
    unlink(paste0(run$checkpoint, c("", ".1"))), onexit = TRUE)
  run_rjags(run, draws = 1, dry = TRUE)
  structure(list(
    run = run,
    data = function() run$numbers,
    model = function() run$program$text,
    nchain = function() run$chains,
    iter = function() run$warmup + run$sweeps,
    recompile = function() invisible(NULL)),
    class = c("gbm_jags", "jags"))
}

# Whether data and starting values are right is known before long sampling
# begins: a run of one sweep.
run_rjags <- function(run, draws, warmup = 0, monitor = NULL, dry = FALSE, ...)
  gbm_sample(run$program, run$data, run$inits, chains = run$chains,
             warmup = warmup, draws = draws, monitor = monitor,
             seed = as.numeric(run$seed), quiet = dry || run$quiet, ...)

print.gbm_jags <- function(x, ...) {
  cat("gbm model, with ", x$nchain(), " chain(s):\n\n", sep = "")
  cat(x$model(), sep = "\n")
  invisible(x)
}

adapt <- function(object, n.iter, end.adaptation = FALSE, ...) {
  update.gbm_jags(object, n.iter)
  invisible(TRUE)
}

update.gbm_jags <- function(object, n.iter = 1, ...) {
  check_count(n.iter, "n.iter", FALSE)
  run <- object$run
  if (is.null(run$fit))
    run$warmup <- run$warmup + n.iter
  else
    run$sweeps <- run$sweeps + n.iter
  invisible(NULL)
}

variable.names.gbm_jags <- function(object, ...)
  setdiff(object$run$variables, "deviance")

# The variables of a compiled model, without those that the compiler added.
names_in <- function(program) {
  ran <- run_program(program$sampler, "info")
  rows <- grep("^  [^ ]", ran$out, value = TRUE)
  rows <- rows[seq_len(match("", ran$out[-seq_len(match("variables:",
                                                        ran$out))]) - 1)]
  names <- sub("^  ([^ []+).*", "\\1", rows)
  text <- paste(program$text, collapse = "\n")
  names[vapply(names, grepl, NA, x = text, fixed = TRUE)]
}

# n.iter more sweeps of the variables: draws (iterations, chains, variables),
# those that a user's names ask for, and their first iteration.
more_draws <- function(model, variable.names, n.iter, thin, log_lik = FALSE) {
  if (!inherits(model, "gbm_jags"))
    stop("Invalid JAGS model")
  check_count(n.iter, "n.iter", TRUE)
  check_count(thin, "thin", TRUE)
  if (n.iter < thin)
    stop("n.iter is smaller than thin: no draw would be kept", call. = FALSE)
  run <- model$run
  wanted <- known_variables(run, unique(variable.names))
  goes_on <- !is.null(run$fit) &&
    all(wanted %in% run$monitor | sub("\\[.*", "", wanted) %in% run$monitor) &&
    thin == run$thin && (!log_lik || run$log_lik)
  if (goes_on) {
    fit <- run_rjags(run, run$sweeps + n.iter, run$warmup, run$monitor,
                     thin = thin, log_lik = run$log_lik,
                     checkpoint = run$checkpoint, resume = run$checkpoint)
  } else {
    if (!is.null(run$fit)) {
      if (!run$quiet)
        message("note: other variables or another thinning: a new run, with ",
                run$warmup + run$sweeps, " sweeps of warm-up")
      run$warmup <- run$warmup + run$sweeps
      run$sweeps <- 0
      run$seed <- format((as.numeric(run$seed) + 1) %% 2^31,
                         scientific = FALSE)
      unlink(paste0(run$checkpoint, c("", ".1")))
    }
    fit <- run_rjags(run, n.iter, run$warmup, wanted, thin = thin,
                     log_lik = log_lik, checkpoint = run$checkpoint)
    run$monitor <- wanted
    run$thin <- thin
    run$log_lik <- log_lik
  }
  before <- run$sweeps %/% thin
  rows <- seq_len(dim(fit$draws)[1])
  rows <- rows[rows > before]
  run$sweeps <- run$sweeps + n.iter
  run$fit <- fit
  names <- dimnames(fit$draws)$variable
  list(draws = fit$draws[rows, , selected(names, wanted), drop = FALSE],
       log_lik = if (!is.null(fit$log_lik))
         fit$log_lik[rows, , , drop = FALSE],
       lead = before, warmup = run$warmup, fit = fit)
}

# As rjags, with a warning for names that the model has not.
known_variables <- function(run, names) {
  known <- sub("\\[.*", "", names) %in% run$variables
  for (name in names[!known])
    warning("Failed to set trace monitor for ", name, "\nVariable ", name,
            " not found", call. = FALSE)
  if (!any(known))
    stop("No valid monitors set", call. = FALSE)
  names[known]
}

# The columns that names ask for, in their order: "theta", "theta[2]",
# "theta[1:3]".
selected <- function(columns, wanted) {
  parts <- split_names(columns)
  unlist(lapply(wanted, function(name) {
    at <- which(parts$base == name | columns == name)
    if (length(at) > 0)
      return(at)
    ask <- regmatches(name, regexec("^([^[]+)\\[(.*)\\]$", name))[[1]]
    if (length(ask) == 0)
      return(integer())
    ranges <- lapply(strsplit(ask[3], ",")[[1]], function(r) {
      ends <- as.integer(strsplit(trimws(r), ":")[[1]])
      if (length(ends) == 0) NULL else ends[1]:ends[length(ends)]
    })
    which(parts$base == ask[2] & vapply(parts$index, function(at)
      length(at) == length(ranges) &&
        all(mapply(function(a, r) is.null(r) || a %in% r, at, ranges)), NA))
  }))
}

coda.samples <- function(model, variable.names = NULL, n.iter, thin = 1,
                         na.rm = TRUE, ...) {
  got <- more_draws(model, variable.names, n.iter, thin)
  mcmc_list(got$draws, got$warmup, thin, got$lead)
}

jags.samples <- function(model, variable.names, n.iter, thin = 1,
                         type = "trace", force.list = FALSE, ...) {
  type <- match.arg(type, c("trace", "mean", "variance"))
  got <- more_draws(model, variable.names, n.iter, thin)
  part <- structure(list(draws = got$draws), class = "gbm_fit")
  bases <- unique(split_names(dimnames(got$draws)$variable)$base)
  arrays <- lapply(bases, function(v)
    monitor_array(gbm_array(part, v), v, type))
  names(arrays) <- bases
  if (force.list)
    arrays <- stats::setNames(list(arrays), type)
  arrays
}

# As rjags has it: the variable's dimensions, then iteration and chain.
monitor_array <- function(x, name, type) {
  n <- length(dim(x))
  dimnames(x) <- NULL
  x <- if (n == 2) array(x, c(1, dim(x))) else aperm(x, c(seq_len(n)[-(1:2)],
                                                          1, 2))
  own <- seq_len(length(dim(x)) - 2)
  last <- length(dim(x))
  if (type != "trace") {
    x <- apply(x, c(own, last), if (type == "mean") mean else stats::var)
    names(dim(x)) <- c(rep("", length(own)), "chain")
  } else {
    names(dim(x)) <- c(rep("", length(own)), "iteration", "chain")
  }
  structure(x, class = c("gbm_mcarray", "mcarray"), varname = name)
}

summary.gbm_mcarray <- function(object, FUN = mean, ...) {
  object <- unclass(object)
  over <- names(dim(object)) %in% c("iteration", "chain")
  structure(list(stat = apply(object, which(!over), FUN, ...),
                 drop.dims = dim(object)[over]),
            class = "summary.gbm_mcarray")
}

print.summary.gbm_mcarray <- function(x, ...) {
  cat("mcarray:\n")
  print(x$stat, ...)
  cat("\nMarginalizing over:",
      paste0(names(x$drop.dims), "(", x$drop.dims, ")", collapse = ","), "\n")
  invisible(x)
}

print.gbm_mcarray <- function(x, ...) {
  print(summary.gbm_mcarray(x, mean), ...)
  invisible(x)
}

as.mcmc.list.gbm_mcarray <- function(x, ...) {
  d <- dim(x)
  own <- d[!names(d) %in% c("iteration", "chain")]
  if (!all(c("iteration", "chain") %in% names(d)))
    stop("only traces can become mcmc lists", call. = FALSE)
  subscripts <- if (prod(own) == 1) "" else
    paste0("[", apply(do.call(expand.grid, lapply(own, seq_len)), 1, paste,
                      collapse = ","), "]")
  values <- array(x, c(prod(own), d[["iteration"]], d[["chain"]]))
  coda::mcmc.list(lapply(seq_len(d[["chain"]]), function(k) {
    of_chain <- t(matrix(values[, , k], prod(own)))
    colnames(of_chain) <- paste0(attr(x, "varname"), subscripts)
    coda::mcmc(of_chain)
  }))
}

# pD here is the mean deviance less that at the means of the random nodes
# (Spiegelhalter et al. 2002), one number for the whole model.
dic.samples <- function(model, n.iter, thin = 1, type = "pD", ...) {
  if (type == "popt")
    stop("type = \"popt\" is not supported: it needs the predictive ",
         "distributions of two chains; use type = \"pD\", or loo()",
         call. = FALSE)
  type <- match.arg(type, "pD")
  got <- more_draws(model, "deviance", n.iter, thin, log_lik = TRUE)
  penalty <- got$fit$dic[["pd"]]
  structure(list(deviance = -2 * apply(got$log_lik, 3, mean),
                 penalty = c(all = penalty), type = type),
            class = c("gbm_dic", "dic"))
}

print.gbm_dic <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  deviance <- sum(x$deviance)
  cat("Mean deviance: ", format(deviance, digits = digits), "\n")
  cat("penalty", format(sum(x$penalty), digits = digits), "\n")
  cat("Penalized deviance:",
      format(deviance + sum(x$penalty), digits = digits), "\n")
  invisible(x)
}

diffdic <- function(dic1, dic2) {
  if (!identical(names(dic1$deviance), names(dic2$deviance)))
    stop("the models have different observations", call. = FALSE)
  c(difference = sum(dic1$deviance) + sum(dic1$penalty) -
      sum(dic2$deviance) - sum(dic2$penalty))
}

list.samplers <- function(object) {
  lines <- gbm_explain(object$run$program, object$run$data)
  lines[seq_len(match("", lines) - 1)]
}

# Modules: what JAGS loads by name is always there.
load.module <- function(name, path, quiet = FALSE) invisible(NULL)
unload.module <- function(name, quiet = FALSE) invisible(NULL)
list.modules <- function() c("basemod", "bugs", "dic", "glm", "mix", "msm")
set.factory <- function(name, type, state) {
  warning("samplers are chosen in the model's block samplers { }; ",
          "set.factory() does nothing", call. = FALSE)
  invisible(NULL)
}

read.jagsdata <- function(file) {
  data <- new.env()
  eval(parse(file), data)
  as.list(data)
}
read.data <- function(file, format = c("jags", "bugs"))
  if (match.arg(format) == "jags") read.jagsdata(file) else read.bugsdata(file)

# BUGS has arrays row by row.
read.bugsdata <- function(file) {
  by_row <- function(.Data, .Dim)
    aperm(array(.Data, rev(.Dim)), rev(seq_along(.Dim)))
  eval(parse(file)[[1]], list(structure = by_row))
}
