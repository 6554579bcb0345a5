skip_without_gbmc()
skip_if_not_installed("loo")
skip_if(Sys.getenv("GBMR_SCRIPTS") != "all", "these take their time")

# What is an observation in each: a number, a missing one left out, a count, a
# vector, a series' next value.
test_that("loo and waic agree whatever is observed", {
  before <- options(gbmr.options = c("-O", "0")) # of gbmc: no speed is wanted
  on.exit(options(before))
  x <- c(-1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2)
  agrees("model {
    for (i in 1:8) { y[i] ~ dnorm(a + b * x[i], tau) }
    a ~ dnorm(0, 0.01)  b ~ dnorm(0, 0.01)  tau ~ dgamma(1, 1)
  }", list(x = x, y = c(-2, NA, -1.4, 0.3, NA, 2.2, 2.9, 4.4)))
  agrees("model {
    for (i in 1:8) { y[i] ~ dbern(p[i])  logit(p[i]) <- a + b * x[i] }
    a ~ dnorm(0, 1)  b ~ dnorm(0, 1)
  }", list(x = x, y = c(0, 0, 1, 0, 1, 1, 0, 1)))
  agrees("model {
    for (i in 1:8) { r[i] ~ dbin(p[i], n[i])  logit(p[i]) <- a + e[i]
                     e[i] ~ dnorm(0, tau) }
    a ~ dnorm(0, 0.1)  tau ~ dgamma(2, 2)
  }", list(n = rep(20, 8), r = c(3, 5, 9, 12, 6, 8, 15, 2)))
  agrees("model {
    for (i in 1:8) { y[i] ~ dnorm(m, tau) T(0, ) }
    m ~ dnorm(0, 1)  tau ~ dgamma(2, 2)
  }", list(y = c(0.3, 1.2, 0.1, 2.4, 0.9, 1.7, 0.4, 0.2)))
  agrees("model {
    for (i in 1:6) { y[i, 1:2] ~ dmnorm(m[], Q[, ]) }
    m[1:2] ~ dmnorm(zero[], R[, ])  Q[1:2, 1:2] ~ dwish(R[, ], 3)
  }", list(zero = c(0, 0), R = diag(2),
           y = cbind(c(1, 2, 0, -1, 3, 1), c(0.5, 1.8, -0.3, -1.2, 2.1, 1.4))))
  agrees("model {
    for (i in 1:5) { n[i, 1:3] ~ dmulti(p[], 10) }
    p[1:3] ~ ddirch(one[])
  }", list(one = c(1, 1, 1),
           n = rbind(c(2, 5, 3), c(1, 6, 3), c(4, 4, 2), c(3, 3, 4), c(0, 7, 3))))
  agrees("model {
    for (t in 2:8) { y[t] ~ dnorm(a * y[t - 1], tau) }
    y[1] ~ dnorm(0, 1)  a ~ dunif(-1, 1)  tau ~ dgamma(2, 2)
  }", list(y = c(0.2, 0.5, 0.4, 0.9, 0.3, -0.2, -0.6, -0.1)))
})
