# jags() as the packages R2jags and jagsUI have it. What both call alike means
# the same; the result has R2jags's BUGSoutput and the fields of jagsUI beside
# it, so a script of either finds what it reads.

jags <- function(data, inits = NULL, parameters.to.save,
                 model.file = "model.bug", n.chains = 3, n.iter = 2000,
                 n.burnin = floor(n.iter / 2),
                 n.thin = max(1, floor((n.iter - n.burnin) / 1000)),
                 n.adapt = 100, DIC = TRUE, jags.seed = NULL, seed = jags.seed,
                 working.directory = NULL, progress.bar = "text",
                 quiet = progress.bar == "none" || !verbose, verbose = TRUE,
                 envir = parent.frame(), ...) {
  force(envir)
  if (missing(parameters.to.save))
    parameters.to.save <- NULL
  if (n.iter <= n.burnin)
    stop("n.iter, the number of all iterations, must be above n.burnin",
         call. = FALSE)
  if (is.null(n.adapt))
    n.adapt <- 100
  if (!is.null(working.directory)) {
    before <- setwd(working.directory)
    on.exit(setwd(before))
  }
  model <- jags.model(model.file, data_by_name(data, envir), inits, n.chains,
                      n.adapt + n.burnin, quiet = quiet)
  if (!is.null(seed))
    model$run$seed <- settle_seed(seed)
  monitor <- setdiff(parameters.to.save, "deviance")
  if (DIC)
    monitor <- c(monitor, "deviance")
  fit <- structure(list(model = model, parameters.to.save = monitor,
                        parameters = monitor,
                        model.file = name_of_model(model.file),
                        modfile = name_of_model(model.file), n.iter = n.iter,
                        n.adapt = n.adapt, run.date = Sys.time()),
                   class = c("gbm_jagsfit", "rjags", "jagsUI"))
  more_of_fit(fit, n.iter - n.burnin, n.thin, n.burnin)
}

name_of_model <- function(model)
  if (is.character(model) && length(model) == 1 && !grepl("\n", model)) model else
    "model"

# Chains run beside each other in any case.
jags.parallel <- function(data, inits = NULL, parameters.to.save, ...,
                          envir = parent.frame(), n.cluster,
                          export_obj_names) {
  force(envir)
  jags(data, inits, parameters.to.save, ..., envir = envir)
}

# jagsUI: the samples alone.
jags.basic <- function(data, inits = NULL, parameters.to.save, ...,
                       save.model = FALSE, envir = parent.frame()) {
  force(envir)
  fit <- jags(data, inits, parameters.to.save, ..., envir = envir)
  if (save.model) list(samples = fit$samples, model = fit$model) else fit$samples
}

# Data as a list, or as names of objects: c("y", "n"), list("y", "n").
data_by_name <- function(data, envir) {
  if (is.list(data) && is.null(names(data)) &&
      all(vapply(data, is.character, NA)))
    data <- unlist(data)
  if (!is.character(data))
    return(data)
  missing <- data[!vapply(data, exists, NA, envir = envir)]
  if (length(missing) > 0)
    stop("data names ", missing[1], ", and there is no such object",
         call. = FALSE)
  stats::setNames(lapply(data, get, envir = envir), data)
}

# n.iter more iterations, and what is told of them.
more_of_fit <- function(fit, n.iter, n.thin, n.burnin) {
  began <- proc.time()[["elapsed"]]
  got <- more_draws(fit$model, fit$parameters.to.save, n.iter, n.thin)
  draws <- got$draws
  table <- bugs_table(draws)
  statistic <- function(column) shape_as_arrays(table[, column])
  fit$samples <- mcmc_list(draws, got$warmup, n.thin, got$lead)
  fit$sims.list <- sims_list(draws)
  for (column in c("mean", "sd"))
    fit[[column]] <- statistic(column)
  for (q in c("2.5", "25", "50", "75", "97.5"))
    fit[[paste0("q", q)]] <- statistic(paste0(q, "%"))
  signs <- apply(draws, 3, function(x) mean(sign(x) == sign(mean(x))))
  overlap <- as.numeric(table[, "2.5%"] <= 0 & table[, "97.5%"] >= 0)
  fit$overlap0 <- shape_as_arrays(stats::setNames(overlap == 1,
                                                  rownames(table)))
  fit$f <- shape_as_arrays(signs)
  fit$Rhat <- statistic("Rhat")
  fit$n.eff <- statistic("n.eff")
  fit$summary <- cbind(table, overlap0 = overlap, f = signs)
  fit[c("pD", "DIC")] <- dic_of_deviance(draws)
  fit$calc.DIC <- !is.null(fit$DIC)
  fit$mcmc.info <- list(
    n.chains = dim(draws)[2], n.adapt = fit$n.adapt, n.iter = fit$n.iter,
    n.burnin = n.burnin, n.thin = n.thin, n.samples = prod(dim(draws)[1:2]),
    elapsed.mins = (proc.time()[["elapsed"]] - began) / 60)
  fit$BUGSoutput <- bugs_output(fit, draws, table, n.burnin, n.thin)
  fit
}

# The table of BUGS. Rhat and n.eff are those of Gelman and Rubin (1992) as
# Gelman et al. (2004, section 11.6) have them: with W the mean of the chains'
# variances, B/n the variance of their means and V = (n - 1)/n W + B/n, sqrt(V/W)
# and m n V / B, at most m n. (A fit of gbm_sample() has the rank-normalised
# ones.)
bugs_table <- function(draws) {
  n <- dim(draws)[1]
  m <- dim(draws)[2]
  of <- function(f) apply(draws, 3, f)
  quantiles <- t(apply(draws, 3, stats::quantile, summary_quantiles,
                       na.rm = TRUE))
  rhat <- rep(NA_real_, dim(draws)[3])
  n.eff <- rhat
  if (m > 1 && n > 1) {
    means <- matrix(apply(draws, c(2, 3), mean), m)
    within <- colMeans(matrix(apply(draws, c(2, 3), stats::var), m))
    between <- apply(means, 2, stats::var) # B/n
    all <- (n - 1) / n * within + between
    rhat <- ifelse(within > 0, sqrt(all / within), 1)
    n.eff <- ifelse(between > 0, pmin(m * all / between, m * n), m * n)
  }
  table <- cbind(of(mean), of(stats::sd), quantiles, rhat, n.eff)
  dimnames(table) <- list(dimnames(draws)$variable,
                          c("mean", "sd", "2.5%", "25%", "50%", "75%", "97.5%",
                            "Rhat", "n.eff"))
  table
}

# pD is half the variance of the deviance, the mean of the chains' (R2jags).
dic_of_deviance <- function(draws) {
  if (!"deviance" %in% dimnames(draws)$variable)
    return(list(NULL, NULL))
  deviance <- draws[, , "deviance", drop = FALSE]
  pd <- mean(apply(deviance, 2, stats::var)) / 2
  list(pd, mean(deviance) + pd)
}

# Named numbers, one for each element, as scalars, vectors and arrays.
shape_as_arrays <- function(x) {
  one <- array(x, c(1, 1, length(x)),
               list(iteration = NULL, chain = NULL, variable = names(x)))
  bases <- unique(split_names(names(x))$base)
  stats::setNames(lapply(bases, function(v) {
    a <- gbm_array(list(draws = one), v)
    if (length(dim(a)) <= 3) as.vector(a) else array(a, dim(a)[-(1:2)])
  }), bases)
}

sims_list <- function(draws) {
  bases <- unique(split_names(dimnames(draws)$variable)$base)
  stats::setNames(lapply(bases, function(v) {
    a <- gbm_array(list(draws = draws), v)
    d <- dim(a)
    if (length(d) == 2) as.vector(a) else
      array(a, c(d[1] * d[2], d[-(1:2)]))
  }), bases)
}

bugs_output <- function(fit, draws, table, n.burnin, n.thin) {
  d <- dim(draws)
  names <- dimnames(draws)$variable
  out <- list(
    n.chains = d[2], n.iter = fit$n.iter, n.burnin = n.burnin,
    n.thin = n.thin, n.keep = d[1], n.sims = d[1] * d[2],
    sims.array = array(draws, d, list(NULL, NULL, names)),
    sims.list = lapply(fit$sims.list, function(x)
      if (is.null(dim(x))) matrix(x, ncol = 1) else x),
    sims.matrix = matrix(draws, d[1] * d[2], d[3], dimnames = list(NULL, names)),
    summary = table, mean = fit$mean, sd = fit$sd, median = fit$q50,
    root.short = names(fit$mean), model.file = fit$model.file, program = "gbm",
    isDIC = fit$calc.DIC, DICbyR = fit$calc.DIC)
  if (fit$calc.DIC)
    out[c("pD", "DIC")] <- list(fit$pD, fit$DIC)
  structure(out, class = "gbm_bugs")
}

print.gbm_bugs <- function(x, digits = 3, ...) {
  cat("Inference for the model \"", x$model.file, "\", fit using gbm,\n ",
      x$n.chains, " chains, each with ", x$n.iter, " iterations (first ",
      x$n.burnin, " discarded)",
      if (x$n.thin > 1) paste0(", n.thin = ", x$n.thin), "\n n.sims = ",
      x$n.sims, " iterations saved\n", sep = "")
  print(format_table(x$summary, digits), quote = FALSE, right = TRUE)
  if (x$isDIC)
    cat("\npD = ", format(x$pD, digits = digits), " (var(deviance)/2) and DIC = ",
        format(x$DIC, digits = digits + 2), "\n", sep = "")
  invisible(x)
}

print.gbm_jagsfit <- function(x, digits = 3, ...) {
  print.gbm_bugs(x$BUGSoutput, digits)
  invisible(x)
}

summary.gbm_jagsfit <- function(object, ...) object$summary

plot.gbm_jagsfit <- function(x, ...) plot(x$samples, ...)

# Goes on where the fit ended; its draws are the new ones.
update.gbm_jagsfit <- function(object, n.iter = 1000,
                               n.thin = object$BUGSoutput$n.thin, ...) {
  before <- object$n.iter
  object$n.iter <- before + n.iter
  more_of_fit(object, n.iter, n.thin, before)
}

autojags <- function(object, n.iter = 1000, n.thin = object$BUGSoutput$n.thin,
                     Rhat = 1.1, n.update = 2, ...) {
  if (!inherits(object, "gbm_jagsfit"))
    stop("autojags() goes on with what jags() returned", call. = FALSE)
  above <- function(fit) any(fit$summary[, "Rhat"] > Rhat, na.rm = TRUE)
  while (n.update > 0 && above(object)) {
    object <- update.gbm_jagsfit(object, n.iter, n.thin)
    n.update <- n.update - 1
  }
  object
}

as.mcmc.list.gbm_jagsfit <- function(x, ...) x$samples
as.mcmc.gbm_jagsfit <- function(x, ...) x$samples

traceplot <- function(x, ...) coda::traceplot(as.mcmc.list(x), ...)
