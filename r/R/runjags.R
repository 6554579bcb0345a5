# The functions of the package runjags that most scripts call.

run.jags <- function(model, monitor = NA, data = NA, n.chains = NA, inits = NA,
                     burnin = 4000, sample = 10000, adapt = 1000, thin = 1,
                     silent.jags = FALSE, envir = parent.frame(), ...) {
  force(envir)
  model <- gbm_model(model)
  own <- comments_of_runjags(model$text)
  data <- runjags_list(data, own$data, envir)
  if (is.character(inits) && !anyNA(inits))
    inits <- lapply(inits, function(text)
      read.jagsdata(textConnection(text)))
  if (!is.list(inits) && !is.function(inits))
    inits <- if (length(own$inits) > 0) data_by_name(own$inits, envir)
  if (length(monitor) == 1 && is.na(monitor))
    monitor <- own$monitor
  if (length(monitor) == 0)
    stop("no variables to monitor", call. = FALSE)
  monitor <- unique(sub("^(dic|pd|pD|ped)$", "deviance", monitor))
  if (is.na(n.chains))
    n.chains <- if (is.list(inits) && is.null(names(inits)))
      max(1, length(inits)) else 2
  compiled <- jags.model(model, data, inits, n.chains, adapt + burnin,
                         quiet = isTRUE(silent.jags))
  fit <- structure(list(model = compiled, monitor = monitor, burnin = burnin,
                        thin = thin, sample = 0, data = data),
                   class = c("gbm_runjags", "runjags"))
  extend.jags(fit, sample = sample)
}

# What lines like "#data# N, Y", "#monitor# m" and "#inits# m" of a model name.
comments_of_runjags <- function(text) {
  names <- function(kind) {
    line <- grep(paste0("#\\s*", kind, "\\s*#"), text, value = TRUE)
    unlist(strsplit(trimws(sub(paste0(".*#\\s*", kind, "\\s*#"), "", line)),
                    "[ ,;]+"))
  }
  list(data = names("data"), monitor = names("monitor"),
       inits = names("inits"))
}

runjags_list <- function(data, names, envir) {
  if (is.list(data) || is.environment(data))
    return(data)
  text <- is.character(data) && any(grepl("<-|=", data))
  given <- if (text) read.jagsdata(textConnection(data)) else
    if (is.character(data)) data_by_name(data, envir) else list()
  absent <- setdiff(names, names(given))
  c(given, if (length(absent) > 0) data_by_name(absent, envir))
}

# The draws of a fit, with `sample` more of each chain.
extend.jags <- function(runjags.object, sample = 10000, combine = TRUE, ...) {
  fit <- runjags.object
  got <- more_draws(fit$model, fit$monitor, sample * fit$thin, fit$thin)
  draws <- if (combine) got$fit$draws[, , dimnames(got$draws)$variable,
                                      drop = FALSE] else got$draws
  lead <- if (combine) 0 else got$lead
  fit$mcmc <- mcmc_list(draws, got$warmup, fit$thin, lead)
  fit$sample <- dim(draws)[1]
  fit$summaries <- runjags_summaries(fit$mcmc)
  fit$summary <- summary(fit$mcmc)
  fit$hpd <- fit$summaries[, c("Lower95", "Median", "Upper95"), drop = FALSE]
  if (length(fit$mcmc) > 1)
    fit$psrf <- coda::gelman.diag(fit$mcmc, autoburnin = FALSE,
                                  multivariate = FALSE)
  if ("deviance" %in% dimnames(draws)$variable) {
    dic <- dic_of_deviance(draws)
    fit$dic <- list(meandeviance = dic[[2]] - dic[[1]], pd = dic[[1]],
                    dic = dic[[2]])
  }
  fit
}

# Runs, and goes on until potential scale reduction factors are below the
# target, `max.extend` times at most.
autorun.jags <- function(model, ..., startburnin = 4000, startsample = 10000,
                         psrf.target = 1.05, max.extend = 5,
                         envir = parent.frame()) {
  force(envir)
  fit <- run.jags(model, ..., burnin = startburnin, sample = startsample,
                  envir = envir)
  above <- function(fit)
    any(fit$summaries[, "psrf"] > psrf.target, na.rm = TRUE)
  while (max.extend > 0 && above(fit)) {
    fit <- extend.jags(fit, sample = startsample)
    max.extend <- max.extend - 1
  }
  if (above(fit))
    warning("the chains have not converged: psrf up to ",
            format(max(fit$summaries[, "psrf"], na.rm = TRUE), digits = 4),
            call. = FALSE)
  fit
}

runjags_summaries <- function(samples) {
  all <- as.matrix(samples)
  hpd <- matrix(coda::HPDinterval(coda::mcmc(all), prob = 0.95), ncol = 2)
  sd <- apply(all, 2, stats::sd)
  size <- coda::effectiveSize(samples)
  error <- sd / sqrt(size)
  lag <- vapply(seq_len(ncol(all)), function(k)
    mean(vapply(samples, function(chain) correlation_at(chain[, k], 10), 0)),
    0)
  psrf <- if (length(samples) > 1)
    coda::gelman.diag(samples, autoburnin = FALSE, multivariate = FALSE)$psrf[, 1]
  else NA_real_
  table <- cbind(hpd[, 1], apply(all, 2, stats::median), hpd[, 2],
                 colMeans(all), sd, NA_real_, error, 100 * error / sd, size,
                 lag, psrf)
  dimnames(table) <- list(colnames(all),
                          c("Lower95", "Median", "Upper95", "Mean", "SD",
                            "Mode", "MCerr", "MC%ofSD", "SSeff", "AC.10",
                            "psrf"))
  table
}

correlation_at <- function(x, lag)
  if (length(x) > lag + 1 && stats::sd(x) > 0)
    stats::cor(x[-seq_len(lag)], x[seq_len(length(x) - lag)]) else NA_real_

summary.gbm_runjags <- function(object, vars = NA, ...) {
  table <- object$summaries
  if (length(vars) == 1 && is.na(vars))
    return(table)
  table[selected(rownames(table), vars), , drop = FALSE]
}

print.gbm_runjags <- function(x, digits = 5, ...) {
  cat("\nJAGS model summary statistics from ", x$sample * length(x$mcmc),
      " samples (chains = ", length(x$mcmc), "; adapt+burnin = ",
      x$model$run$warmup, "; thin = ", x$thin, "), drawn by gbm:\n\n", sep = "")
  print(x$summaries, digits = digits, ...)
  invisible(x)
}

plot.gbm_runjags <- function(x, ...) plot(x$mcmc, ...)

as.mcmc.list.gbm_runjags <- function(x, ...) x$mcmc
as.mcmc.gbm_runjags <- function(x, ...) combine.mcmc(x$mcmc)

# All chains as one.
combine.mcmc <- function(mcmc.objects, ...) {
  all <- as.matrix(as.mcmc.list(mcmc.objects))
  coda::mcmc(all, thin = coda::thin(as.mcmc.list(mcmc.objects)))
}

dump.format <- function(namedlist, ...) {
  lines <- vapply(names(namedlist), function(name)
    if (is.character(namedlist[[name]]))
      paste0("\"", name, "\" <- \"", namedlist[[name]], "\"")
    else
      paste0("\"", name, "\" <- ", dump_numbers(numbers_of(namedlist[[name]],
                                                           name))), "")
  paste0(paste(lines, collapse = "\n"), "\n")
}
