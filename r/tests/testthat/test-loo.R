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
