skip_without_gbmc()

# A line, groups that are indexed in two dimensions, and an array that is random
# in part.
model <- "model {
  for (i in 1:N) {
    y[i] ~ dnorm(a.b[g[i], 1] + b[g[i]] * x[i] + w[i], 4)
    w[i] ~ dnorm(mu, 1)
    e[i] ~ dnorm(mu, 16)
    z[i] ~ dnorm(e[i], 1)
  }
  b[1] <- 0
  for (j in 2:J) { b[j] ~ dnorm(0, 1) }
  for (j in 1:J) { for (k in 1:2) { a.b[j, k] ~ dnorm(mu, 1) } }
  mu ~ dnorm(0, 1)
}"
old <- list(N = 6, J = 3, g = c(1, 2, 3, 1, 2, 3), x = 1:6,
            w = c(NA, 0, 0, 0, 0, 0), y = 1:6, z = c(0, 1, 2, 0, 1, 2))

test_that("predictions have the parameters of each draw", {
  fit <- gbm_sample(model, old, seed = 1, chains = 2, draws = 2000,
                    monitor = c("a.b", "b", "mu", "e", "w"), quiet = TRUE)
  new <- list(N = 3, J = 4, g = c(3, 1, 4), x = c(2, 7, 1))
  # data gave a part of w, which belongs to the old rows
  expect_error(predict(fit, new, anew = "e", quiet = TRUE),
               "w\\[1\\] has no draws in the fit.*\\(anew = \"w\"\\)")
  own <- c("e", "w")
  p <- predict(fit, new, anew = own, seed = 2, quiet = TRUE)
  expect_identical(dim(p)[1:2], dim(fit)[1:2])
  draws <- function(f, name) as.vector(f$draws[, , name])
  standard <- function(z) {
    expect_lt(abs(mean(z)), 4.5 / sqrt(length(z)))
    expect_lt(abs(mean(z^2) - 1), 4.5 * sqrt(2 / length(z)))
  }
  standard(2 * (draws(p, "y[1]") - draws(fit, "a.b[3,1]") -
                  2 * draws(fit, "b[3]") - draws(p, "w[1]")))
  standard(2 * (draws(p, "y[2]") - draws(fit, "a.b[1,1]") -
                  draws(p, "w[2]")))
  standard(2 * (draws(p, "y[3]") - draws(p, "a.b[4,1]") - draws(p, "b[4]") -
                  draws(p, "w[3]")))
  standard(draws(p, "a.b[4,2]") - draws(fit, "mu"))   # a new group
  standard(4 * (draws(p, "e[2]") - draws(fit, "mu"))) # anew
  expect_false("mu" %in% dimnames(p$draws)$variable)
  standard(draws(p, "w[3]") - draws(fit, "mu"))
  expect_identical(predict(fit, new, anew = own, seed = 2, quiet = TRUE)$draws,
                   p$draws)
  expect_error(predict(fit, c(new, list(z = 1:3)), anew = own, quiet = TRUE),
               "what the data give may depend on it")
  less <- gbm_sample(model, old, seed = 1, draws = 20, monitor = c("b", "mu"),
                     quiet = TRUE)
  expect_error(predict(less, new, quiet = TRUE), "has no draws in the fit")
})

test_that("the prior, and data anew", {
  prior <- gbm_simulate(model, old[c("N", "J", "g", "x")], seed = 3,
                        draws = 2000, quiet = TRUE)
  expect_equal(stats::var(as.vector(gbm_array(prior, "mu"))), 1,
               tolerance = 0.1)
  anew <- gbm_simulate(model, old, posterior = TRUE, seed = 3, draws = 500,
                       quiet = TRUE)
  expect_identical(dim(gbm_array(anew, "z")), c(500L, 4L, 6L))
  expect_error(gbm_simulate(model, old, anew = "e"), "goes with fit")
  expect_error(gbm_simulate(model, old, fit = prior, posterior = TRUE), "one")
})
