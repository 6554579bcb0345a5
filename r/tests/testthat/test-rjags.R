skip_without_gbmc()

line <- "model {
  for (i in 1:N) { y[i] ~ dnorm(a.b + b * x[i], tau) }
  a.b ~ dnorm(0, 0.001)
  b ~ dnorm(0, 0.001)
  tau ~ dgamma(0.01, 0.01)
  for (i in 1:2) { for (j in 1:3) { m[i,j] <- 10 * i + j + b * 0.001 } }
}"
x <- c(-1.2, -0.4, 0.1, 0.3, 0.9, 1.7)
data <- list(x = x, y = c(-1, 0.5, 1.2, 1.4, 3.1, 4), N = 6)
inits <- list(list(a.b = 0, .RNG.name = "base::Wichmann-Hill", .RNG.seed = 5),
              list(a.b = 1, .RNG.name = "base::Wichmann-Hill", .RNG.seed = 6))
make <- function()
  jags.model(textConnection(line), data, inits, n.chains = 2, n.adapt = 100,
             quiet = TRUE)

test_that("samples after samples are those of one long run", {
  parts <- make()
  update(parts, 50)
  first <- coda.samples(parts, c("a.b", "b", "m"), 60, thin = 2)
  update(parts, 30)
  second <- coda.samples(parts, c("m[1,1:2]", "b"), 40, thin = 2)
  whole <- make()
  update(whole, 50)
  all <- coda.samples(whole, c("a.b", "b", "m"), 130, thin = 2)
  expect_identical(coda::mcpar(first[[1]]), c(152, 210, 2))
  expect_identical(coda::mcpar(second[[1]]), c(242, 280, 2))
  expect_identical(colnames(second[[1]]), c("m[1,1]", "m[1,2]", "b"))
  for (chain in 1:2) {
    b <- as.numeric(all[[chain]][, "b"])
    expect_identical(as.numeric(first[[chain]][, "b"]), b[1:30])
    expect_identical(as.numeric(second[[chain]][, "b"]), b[46:65])
  }
  expect_equal(parts$iter(), 280)
  expect_match(parts$run$fit$notes, "goes on after 30 of 65", all = FALSE)
})

test_that("other variables are a new run, which is said", {
  m <- jags.model(textConnection(line), data, inits, 2, 100, quiet = TRUE)
  m$run$quiet <- FALSE
  suppressMessages(coda.samples(m, "b", 20))
  said <- character()
  other <- withCallingHandlers(
    coda.samples(m, "tau", 20),
    message = function(c) {
      said <<- c(said, conditionMessage(c))
      invokeRestart("muffleMessage")
    })
  expect_match(said[1], "a new run, with 120 sweeps of warm-up")
  expect_identical(coda::mcpar(other[[1]]), c(121, 140, 1))
})

test_that("jags.samples() has arrays", {
  got <- jags.samples(make(), c("m", "b"), 25)
  expect_identical(names(got), c("m", "b"))
  expect_identical(unname(dim(got$m)), c(2L, 3L, 25L, 2L))
  expect_identical(unname(dim(got$b)), c(1L, 25L, 2L))
  expect_equal(round(apply(unclass(got$m), 1:2, mean)),
               outer(1:2, 1:3, function(i, j) 10 * i + j),
               ignore_attr = TRUE)
  samples <- as.mcmc.list(got$m)
  expect_identical(colnames(samples[[1]])[1:3], c("m[1,1]", "m[2,1]", "m[1,2]"))
  expect_identical(as.numeric(samples[[2]][, "m[2,3]"]),
                   as.numeric(got$m[2, 3, , 2]))
  expect_output(print(got$m), "Marginalizing over: iteration\\(25\\),chain\\(2\\)")
})

test_that("deviances are those of the data", {
  m <- make()
  dic <- dic.samples(m, 3000)
  expect_length(dic$deviance, 6)
  samples <- coda.samples(m, c("deviance", "a.b", "b", "tau"), 3000)
  draws <- as.matrix(samples)
  own <- vapply(1:200, function(k) -2 * sum(dnorm(
    data$y, draws[k, "a.b"] + draws[k, "b"] * x, 1 / sqrt(draws[k, "tau"]),
    log = TRUE)), 0)
  expect_equal(own, unname(draws[1:200, "deviance"]), tolerance = 1e-10)
  expect_equal(sum(dic$deviance), mean(draws[, "deviance"]), tolerance = 0.03)
  expect_gt(sum(dic$penalty), 1.5)
  expect_output(print(dic), "Penalized deviance:")
  expect_equal(diffdic(dic, dic), c(difference = 0))
  expect_error(dic.samples(m, 100, type = "popt"), "not supported")
})

test_that("mistakes are told when the model is made", {
  expect_error(jags.model(textConnection(line), data[-1], quiet = TRUE),
               "x must be supplied")
  expect_error(jags.model(textConnection(line), data, list(tau = -1),
                          quiet = TRUE), "tau")
  expect_error(coda.samples(list(), "b", 10), "Invalid JAGS model")
  expect_warning(got <- coda.samples(make(), c("nu[1]", "b"), 10),
                 "Variable nu\\[1\\] not found")
  expect_identical(coda::varnames(got), "b")
  expect_error(suppressWarnings(coda.samples(make(), "nu", 10)),
               "No valid monitors")
  expect_setequal(variable.names(make()), c("N", "x", "y", "a.b", "b", "tau",
                                            "m"))
})

test_that("jags() has the fields of R2jags and of jagsUI", {
  in_function <- function() { # data by name, where the call is
    y <- data$y
    N <- 6
    x <- data$x
    jags(c("x", "y", "N"), NULL, c("b", "m", "tau"), textConnection(line),
         n.chains = 2, n.iter = 400, n.burnin = 100, n.thin = 1, seed = 3,
         progress.bar = "none")
  }
  fit <- in_function()
  bugs <- fit$BUGSoutput
  expect_identical(dim(bugs$sims.list$m), c(600L, 2L, 3L))
  expect_identical(dim(bugs$sims.list$b), c(600L, 1L))
  expect_length(fit$sims.list$b, 600)
  expect_equal(dim(fit$mean$m), c(2L, 3L))
  expect_equal(round(fit$q97.5$m[2, 1]), 21)
  expect_identical(bugs$n.sims, 600L)
  expect_equal(fit$mean$b, mean(bugs$sims.matrix[, "b"]))
  expect_equal(bugs$pD, mean(apply(bugs$sims.array[, , "deviance"], 2,
                                   stats::var)) / 2)
  expect_equal(fit$DIC, fit$mean$deviance + fit$pD)
  expect_false(fit$overlap0$tau)
  expect_output(print(fit), "n.sims = 600.*DIC = ")
  longer <- update(fit, 200)
  expect_identical(coda::mcpar(longer$samples[[1]]), c(501, 700, 1))
  basic <- jags.basic(data, NULL, "b", textConnection(line), n.chains = 1,
                      n.iter = 60, n.burnin = 20, n.thin = 2, seed = 1,
                      verbose = FALSE)
  expect_identical(coda::niter(basic), 20L)
  expect_error(jags(c("x", "nothing.here"), NULL, "b", textConnection(line)),
               "data names nothing.here")
})

test_that("run.jags() goes on and combines", {
  fit <- run.jags(line, c("b", "dic"), dump.format(data), n.chains = 2,
                  burnin = 50, adapt = 50, sample = 100, thin = 2,
                  silent.jags = TRUE)
  expect_identical(coda::mcpar(fit$mcmc[[1]]), c(102, 300, 2))
  more <- extend.jags(fit, sample = 50)
  expect_identical(coda::niter(more$mcmc), 150L)
  expect_identical(as.numeric(more$mcmc[[1]][1:100, "b"]),
                   as.numeric(fit$mcmc[[1]][, "b"]))
  expect_identical(nrow(combine.mcmc(more)), 300L)
  expect_identical(rownames(summary(more, vars = "b")), "b")
  expect_equal(fit$dic$dic, fit$dic$meandeviance + fit$dic$pd)
  expect_error(run.jags(line, data = data), "no variables to monitor")
})
