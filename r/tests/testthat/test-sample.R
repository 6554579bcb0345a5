skip_without_gbmc()

normal <- "model {
  for (i in 1:N) { y[i] ~ dnorm(mu[g[i]], 4) }
  for (k in 1:2) {
    mu[k] ~ dnorm(0, 1)
    for (j in 1:2) { a.b[k,j] ~ dnorm(10 * k + j, 1.0E4) }
  }
}"
data <- list(y = c(1.2, NA, 3.1, 2.5, 4), N = 5,
             g = factor(c("u", "v", "v", "u", "v")))

test_that("draws are of the posterior and under their names", {
  fit <- gbm_sample(normal, data, seed = 3, draws = 4000, quiet = TRUE)
  expect_identical(dim(fit), c(4000L, 4L, 7L))
  mean <- apply(fit$draws, 3, mean)
  sd <- apply(fit$draws, 3, stats::sd)
  # two observations of precision 4 and a prior of precision 1 for each group
  exact <- c(4 * 3.7 / 9, 4 * 7.1 / 9)
  expect_equal(unname(mean[c("mu[1]", "mu[2]")]), exact, tolerance = 0.01)
  expect_equal(unname(sd[c("mu[1]", "mu[2]")]), rep(1 / 3, 2), tolerance = 0.03)
  expect_equal(unname(mean["y[2]"]), exact[2], tolerance = 0.02)
  expect_equal(unname(sd["y[2]"]), sqrt(1 / 4 + 1 / 9), tolerance = 0.03)
  a <- apply(gbm_array(fit, "a.b"), 3:4, mean)
  expect_equal(unname(a), matrix(c(11, 21, 12, 22), 2), tolerance = 1e-3)
  expect_identical(rownames(fit$table), dimnames(fit$draws)$variable)
  expect_equal(fit$table[, "mean"], mean, tolerance = 1e-8)
  expect_equal(fit$table[, "97.5%"], apply(fit$draws, 3, stats::quantile,
                                           0.975), tolerance = 1e-8)
  expect_identical(colnames(fit$table),
                   c("mean", "sd", "mcse", "2.5%", "25%", "50%", "75%", "97.5%",
                     "ess_bulk", "ess_tail", "rhat"))
  expect_identical(dimnames(gbm_array(fit, "mu"))[[3]], c("u", "v"))
  expect_true(all(c("mu[u]", "mu[v]") %in% rownames(summary(fit)$table)))
  own <- summary(fit, "mu", quantiles = 0.9)$table
  expect_identical(dimnames(own)[[1]], c("mu[u]", "mu[v]"))
  expect_equal(own[, "90%"], apply(gbm_array(fit, "mu"), 3, stats::quantile,
                                   0.9), ignore_attr = TRUE)
  expect_output(print(fit), "4 chains of 4000 draws.*mu\\[u\\]")
})

test_that("a seed settles the draws, and set.seed() does", {
  run <- function(...) gbm_sample(normal, data, draws = 20, warmup = 20,
                                  quiet = TRUE, ...)$draws
  set.seed(8)
  one <- run()
  set.seed(8)
  expect_identical(run(), one)
  expect_false(identical(run(), one))
  expect_identical(run(seed = 5), run(seed = 5))
})

test_that("a fit is what coda and posterior have", {
  fit <- gbm_sample(normal, data, seed = 1, chains = 2, warmup = 50,
                    draws = 60, thin = 3, monitor = c("mu", "a.b"),
                    quiet = TRUE)
  samples <- as.mcmc.list(fit)
  expect_identical(coda::mcpar(samples[[1]]), c(53, 110, 3))
  expect_identical(as.numeric(samples[[2]][, "a.b[2,1]"]),
                   as.numeric(fit$draws[, 2, "a.b[2,1]"]))
  expect_identical(dim(as.matrix(fit)), c(40L, 6L))
  skip_if_not_installed("posterior")
  draws <- posterior::as_draws_array(fit)
  expect_identical(posterior::variables(draws), dimnames(fit$draws)$variable)
  expect_identical(as.numeric(posterior::extract_variable(draws, "mu[2]")),
                   as.numeric(fit$draws[, , "mu[2]"]))
  expect_identical(posterior::ndraws(posterior::as_draws_df(fit)), 40L)
  long <- gbm_sample(normal, data, seed = 1, quiet = TRUE)
  table <- posterior::summarise_draws(posterior::as_draws_array(long))
  expect_equal(as.numeric(table$rhat), unname(long$table[, "rhat"]), tolerance = 1e-8)
  expect_equal(as.numeric(table$ess_bulk), unname(long$table[, "ess_bulk"]),
               tolerance = 1e-6)
})

test_that("what is wrong is said with its place", {
  error <- tryCatch(gbm_sample("model {\n x ~ dnorm(0, 1)\n y <- x +\n}"),
                    error = identity)
  expect_s3_class(error, "gbm_error")
  expect_match(conditionMessage(error), "^model.gbm:4:1: error: .*\\^")
  wrong <- function(pattern, ...)
    expect_error(gbm_sample(normal, ..., quiet = TRUE), pattern)
  wrong("^g must be supplied", data[c("y", "N")])
  wrong("^data: y\\[1\\] = -Inf", replace(data, "y", list(rep(-Inf, 5))))
  wrong("no such variable", data, monitor = "nu")
  wrong("inits\\[\\[1\\]\\]", data, inits = list(mu = 1:7))
  wrong("chains must be", data, chains = 0)
  expect_error(gbm_model("absent.bug"), "no model file absent.bug")
  expect_error(gbm_array(list(draws = array(0, c(1, 1, 1), list(
    NULL, NULL, variable = "a"))), "b"), "no draws of b; there are some of a")
})

test_that("a method may have the sampler compiled again", {
  fit <- gbm_sample(normal, data, draws = 50, warmup = 50, quiet = TRUE,
                    options = c("--method", "tempering", "--replicas", "3"))
  expect_identical(dim(fit)[1:2], c(50L, 4L))
  model <- gbm_compile(normal, data, quiet = TRUE)
  expect_true(file.exists(model$sampler))
  folder <- dirname(model$sampler)
  rm(model)
  gc()
  expect_false(file.exists(folder))
})

test_that("a model is explained and checked", {
  expect_output(print(gbm_explain(normal, data)), "mu .*sampler|sampler")
  expect_true(gbm_check(normal, data, quiet = TRUE))
})

test_that("warnings of the sampler are R's", {
  expect_warning(gbm_sample("model { y ~ dnorm(m, 1); m ~ dnorm(0, 1) }",
                            list(y = 1), draws = 10, warmup = 10,
                            options = "--no-check", quiet = TRUE),
                 "drawn without self-check")
})
