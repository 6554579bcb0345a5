# The sampler's DIC, WAIC and LOO are those that R has from the same draws.
skip_without_gbmc()
skip_if_not_installed("loo")

pump <- list(
  t = c(94.3, 15.7, 62.9, 126, 5.24, 31.4, 1.05, 1.05, 2.1, 10.5),
  x = c(5, 1, 5, 14, 3, 19, 1, 1, 4, 22), N = 10)
pump_model <- "model {
  for (i in 1:N) { theta[i] ~ dgamma(alpha, beta); x[i] ~ dpois(theta[i] * t[i]) }
  alpha ~ dexp(1)
  beta ~ dgamma(0.1, 1.0)
}"
schools_model <- "model {
  for (j in 1:8) {
    y[j] ~ dnorm(theta[j], 1 / (s[j] * s[j]))
    theta[j] ~ dnorm(mu, tau)
  }
  mu ~ dnorm(0, 0.01)
  tau ~ dgamma(1, 10)
}"
schools <- list(y = c(28.4, 7.9, -2.8, 6.8, -0.6, 0.6, 18.0, 12.2),
                s = c(14.9, 10.2, 16.3, 11.0, 9.4, 11.4, 10.4, 17.6))

agrees <- function(model, data, at_means) {
  fit <- gbm_sample(model, data, monitor = c("all", "deviance"), chains = 3,
                    log_lik = TRUE, seed = 2, quiet = TRUE)
  values <- unname(fit$log_lik)
  n <- dim(values)[3]
  draws <- prod(dim(values)[1:2])
  r <- suppressWarnings(
    loo::loo(values, r_eff = rep(fit$loo[["r_eff"]], n)))
  expect_lt(max(abs(r$pointwise[, "elpd_loo"] - fit$pointwise[, "elpd"])), 1e-8)
  expect_lt(max(abs(r$diagnostics$pareto_k - fit$pointwise[, "pareto_k"])), 1e-8)
  expect_lt(abs(r$estimates["elpd_loo", "Estimate"] - fit$loo[["elpd"]]), 1e-8)
  # ArviZ's variances have n where those of loo have n - 1
  expect_lt(abs(r$estimates["elpd_loo", "SE"] * sqrt((n - 1) / n) -
                  fit$loo[["se"]]), 1e-8)
  w <- suppressWarnings(loo::waic(values))
  expect_lt(max(abs(w$pointwise[, "p_waic"] * (draws - 1) / draws -
                      fit$pointwise[, "p_waic"])), 1e-8)
  lpd <- w$pointwise[, "elpd_waic"] + w$pointwise[, "p_waic"]
  expect_lt(abs(sum(lpd) - fit$waic[["p"]] - fit$waic[["elpd"]]), 1e-8)
  expect_s3_class(suppressWarnings(loo::loo(fit)), "psis_loo")
  deviance <- fit$draws[, , "deviance"]
  expect_lt(max(abs(deviance + 2 * apply(values, 1:2, sum))), 1e-8)
  expect_lt(abs(mean(deviance) - fit$dic[["mean_deviance"]]), 1e-8)
  expect_lt(abs(mean(deviance) + 2 * at_means(apply(fit$draws, 3, mean)) -
                  fit$dic[["pd"]]), 1e-7)
}

test_that("loo, waic and DIC agree", {
  agrees(pump_model, pump, function(m)
    sum(dpois(pump$x, m[paste0("theta[", 1:10, "]")] * pump$t, log = TRUE)))
  agrees(schools_model, schools, function(m)
    sum(dnorm(schools$y, m[paste0("theta[", 1:8, "]")], schools$s, log = TRUE)))
})

test_that("without log likelihoods that is said", {
  fit <- gbm_sample(schools_model, schools, draws = 10, quiet = TRUE)
  expect_error(loo::waic(fit), "log_lik = TRUE")
})
