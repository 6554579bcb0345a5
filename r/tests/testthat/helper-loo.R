# The fit's WAIC, LOO and DIC are those that the package loo has from the same
# draws; DIC where `at_means`, the log likelihood at them, is given.
agrees <- function(model, data, at_means = NULL) {
  fit <- gbm_sample(model, data, monitor = c("all", "deviance"), chains = 3,
                    log_lik = TRUE, seed = 2, quiet = TRUE)
  values <- unname(fit$log_lik)
  n <- dim(values)[3]
  r <- suppressWarnings(
    loo::loo(values, r_eff = rep(fit$loo[["r_eff"]], n)))
  expect_lt(max(abs(r$pointwise[, "elpd_loo"] - fit$pointwise[, "elpd"])), 1e-8)
  # where all draws say the same there is no tail: Inf in loo
  k <- r$diagnostics$pareto_k
  expect_equal(is.infinite(k), unname(is.na(fit$pointwise[, "pareto_k"])))
  expect_lt(max(abs(k - fit$pointwise[, "pareto_k"])[is.finite(k)]), 1e-8)
  expect_lt(abs(r$estimates["elpd_loo", "Estimate"] - fit$loo[["elpd"]]), 1e-8)
  expect_lt(abs(r$estimates["elpd_loo", "SE"] - fit$loo[["se"]]), 1e-8)
  w <- suppressWarnings(loo::waic(values))
  expect_lt(max(abs(w$pointwise[, "p_waic"] - fit$pointwise[, "p_waic"])), 1e-8)
  expect_lt(max(abs(w$estimates["elpd_waic", ] - fit$waic[c("elpd", "se")])),
            1e-8)
  expect_s3_class(suppressWarnings(loo::loo(fit)), "psis_loo")
  deviance <- fit$draws[, , "deviance"]
  expect_lt(max(abs(deviance + 2 * apply(values, 1:2, sum))), 1e-8)
  expect_lt(abs(mean(deviance) - fit$dic[["mean_deviance"]]), 1e-8)
  if (is.null(at_means))
    return()
  expect_lt(abs(mean(deviance) + 2 * at_means(apply(fit$draws, 3, mean)) -
                  fit$dic[["pd"]]), 1e-7)
}
