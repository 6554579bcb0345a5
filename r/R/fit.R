# What one does with a fit: a table, arrays, coda, posterior, loo.

# "theta[2,3]": the array's name and the subscripts.
split_names <- function(names) {
  parts <- regmatches(names, regexec("^([^[]+)(\\[([0-9,]+)\\])?$", names))
  list(base = vapply(parts, `[`, "", 2),
       index = lapply(parts, function(p)
         if (nzchar(p[4])) as.integer(strsplit(p[4], ",")[[1]])))
}

labelled_names <- function(names, labels) {
  if (length(labels) == 0)
    return(names)
  parts <- split_names(names)
  vapply(seq_along(names), function(k) {
    of <- labels[[parts$base[k]]]
    at <- parts$index[[k]]
    if (is.null(of) || is.null(at))
      return(names[k])
    words <- vapply(seq_along(at), function(d)
      if (d <= length(of) && at[d] <= length(of[[d]])) of[[d]][at[d]] else
        as.character(at[d]), "")
    paste0(parts$base[k], "[", paste(words, collapse = ","), "]")
  }, "")
}

# The draws of one variable: iterations, chains, and its own dimensions. An
# element that is data has no draws, and is NA.
gbm_array <- function(fit, variable) {
  draws <- fit$draws
  parts <- split_names(dimnames(draws)$variable)
  of <- which(parts$base == variable)
  if (length(of) == 0)
    stop("no draws of ", variable, "; there are some of ",
         paste(unique(parts$base), collapse = ", "), call. = FALSE)
  lead <- dim(draws)[1:2]
  if (is.null(parts$index[[of[1]]]))
    return(array(draws[, , of], lead,
                 list(iteration = NULL, chain = NULL)))
  index <- do.call(rbind, parts$index[of])
  extent <- apply(index, 2, max)
  result <- array(NA_real_, c(prod(lead), prod(extent)))
  strides <- c(1, cumprod(extent)[-length(extent)])
  result[, 1 + (index - 1) %*% strides] <- draws[, , of]
  dim(result) <- c(lead, extent)
  labels <- lapply(seq_along(extent), function(d) {
    of <- fit$labels[[variable]]
    if (d <= length(of) && length(of[[d]]) == extent[d]) of[[d]]
  })
  dimnames(result) <- c(list(iteration = NULL, chain = NULL), labels)
  result
}

summary.gbm_fit <- function(object, variables = NULL,
                            quantiles = c(0.025, 0.25, 0.5, 0.75, 0.975), ...) {
  table <- object$table
  keep <- seq_len(nrow(table))
  if (!is.null(variables))
    keep <- which(split_names(rownames(table))$base %in% variables |
                    rownames(table) %in% variables)
  table <- table[keep, , drop = FALSE]
  if (!identical(quantiles, summary_quantiles)) {
    draws <- object$draws[, , keep, drop = FALSE]
    own <- apply(draws, 3, stats::quantile, probs = quantiles, na.rm = TRUE)
    own <- matrix(own, nrow(table), length(quantiles), byrow = TRUE,
                  dimnames = list(NULL, paste0(100 * quantiles, "%")))
    at <- grep("%$", colnames(table))
    table <- cbind(table[, seq_len(at[1] - 1), drop = FALSE], own,
                   table[, -seq_len(max(at)), drop = FALSE])
  }
  rownames(table) <- labelled_names(rownames(table), object$labels)
  structure(list(table = table, draws = dim(object$draws)[1],
                 chains = dim(object$draws)[2], warmup = object$warmup,
                 thin = object$thin, complete = object$complete,
                 dic = object$dic, waic = object$waic),
            class = "summary.gbm_fit")
}

print.summary.gbm_fit <- function(x, digits = 3, max = 60, ...) {
  cat(x$chains, if (x$chains == 1) " chain of " else " chains of ", x$draws,
      " draws after ", x$warmup, " sweeps of warm-up",
      if (x$thin > 1) paste0(", every ", x$thin, "th kept"),
      if (!isTRUE(x$complete)) "; the run was ended before", "\n", sep = "")
  shown <- x$table[seq_len(min(max, nrow(x$table))), , drop = FALSE]
  print(format_table(shown, digits), quote = FALSE, right = TRUE)
  if (nrow(shown) < nrow(x$table))
    cat("... and ", nrow(x$table) - nrow(shown), " more rows; see ",
        "summary(fit, variables = )$table, or print(, max = )\n", sep = "")
  if (length(x$dic) > 0)
    cat("deviance ", format(x$dic[["mean_deviance"]], digits = digits + 2),
        ", pD ", format(x$dic[["pd"]], digits = digits), ", DIC ",
        format(x$dic[["dic"]], digits = digits + 2), "\n", sep = "")
  invisible(x)
}

# Each row with the digits that its sd asks for; counts without any.
format_table <- function(table, digits) {
  out <- array("", dim(table), dimnames(table))
  counts <- colnames(table) %in% c("ess_bulk", "ess_tail", "n.eff")
  rhat <- colnames(table) %in% c("rhat", "Rhat")
  for (k in seq_len(nrow(table))) {
    sd <- table[k, "sd"]
    places <- if (is.finite(sd) && sd > 0)
      max(0, digits - 1 - floor(log10(sd))) else digits
    out[k, ] <- formatC(table[k, ], format = "f", digits = min(places, 15))
    out[k, counts] <- formatC(table[k, counts], format = "f", digits = 0)
    out[k, rhat] <- formatC(table[k, rhat], format = "f", digits = 3)
    if ("mcse" %in% colnames(table))
      out[k, "mcse"] <- formatC(table[k, "mcse"], format = "g", digits = 2)
  }
  out[is.na(table)] <- "NA"
  out
}

print.gbm_fit <- function(x, ...) {
  print(summary(x), ...)
  invisible(x)
}

dim.gbm_fit <- function(x) dim(x$draws)

# ---- coda

mcmc_list <- function(draws, warmup, thin, lead = 0) {
  names <- dimnames(draws)$variable
  coda::mcmc.list(lapply(seq_len(dim(draws)[2]), function(k) {
    values <- matrix(draws[, k, ], dim(draws)[1], length(names),
                     dimnames = list(NULL, names))
    coda::mcmc(values, start = warmup + (lead + 1) * thin, thin = thin)
  }))
}

as.mcmc.list.gbm_fit <- function(x, ...)
  mcmc_list(x$draws, x$warmup, x$thin)

as.mcmc.gbm_fit <- function(x, ...) {
  if (dim(x$draws)[2] == 1)
    return(as.mcmc.list.gbm_fit(x)[[1]])
  as.mcmc.list.gbm_fit(x)
}

as.array.gbm_fit <- function(x, ...) x$draws

as.matrix.gbm_fit <- function(x, ...) {
  draws <- x$draws
  matrix(draws, ncol = dim(draws)[3],
         dimnames = list(NULL, dimnames(draws)$variable))
}

as.data.frame.gbm_fit <- function(x, ...)
  as.data.frame(as.matrix.gbm_fit(x), optional = TRUE, ...)

# ---- posterior and loo, where they are installed

as_draws.gbm_fit <- function(x, ...) posterior::as_draws_array(x$draws)
as_draws_array.gbm_fit <- as_draws.gbm_fit
as_draws_df.gbm_fit <- function(x, ...)
  posterior::as_draws_df(as_draws.gbm_fit(x))
as_draws_matrix.gbm_fit <- function(x, ...)
  posterior::as_draws_matrix(as_draws.gbm_fit(x))
as_draws_list.gbm_fit <- function(x, ...)
  posterior::as_draws_list(as_draws.gbm_fit(x))
as_draws_rvars.gbm_fit <- function(x, ...)
  posterior::as_draws_rvars(as_draws.gbm_fit(x))

log_lik_of <- function(fit) {
  if (is.null(fit$log_lik))
    stop("the fit has no log likelihoods: sample with log_lik = TRUE",
         call. = FALSE)
  unname(fit$log_lik)
}

loo.gbm_fit <- function(x, ...) {
  values <- log_lik_of(x)
  loo::loo(values, r_eff = loo::relative_eff(exp(values)), ...)
}

waic.gbm_fit <- function(x, ...) loo::waic(log_lik_of(x), ...)
