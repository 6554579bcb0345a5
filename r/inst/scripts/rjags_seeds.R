# SEEDS (Crowder 1978): random effects in a logistic regression, as in the first
# volume of examples of BUGS.
library(rjags)
library(coda)

seeds_model <- "model {
  for (i in 1:N) {
    r[i] ~ dbin(p[i], n[i])
    b[i] ~ dnorm(0.0, tau)
    logit(p[i]) <- alpha0 + alpha1 * x1[i] + alpha2 * x2[i] +
      alpha12 * x1[i] * x2[i] + b[i]
  }
  alpha0 ~ dnorm(0.0, 1.0E-6)
  alpha1 ~ dnorm(0.0, 1.0E-6)
  alpha2 ~ dnorm(0.0, 1.0E-6)
  alpha12 ~ dnorm(0.0, 1.0E-6)
  tau ~ dgamma(1, 0.1)
  sigma <- 1 / sqrt(tau)
}"
seeds <- list(
  r = c(10, 23, 23, 26, 17, 5, 53, 55, 32, 46, 10, 8, 10, 8, 23, 0, 3, 22, 15,
        32, 3),
  n = c(39, 62, 81, 51, 39, 6, 74, 72, 51, 79, 13, 16, 30, 28, 45, 4, 12, 41,
        30, 51, 7),
  x1 = rep(0:1, c(11, 10)),
  x2 = rep(c(0, 1, 0, 1), c(5, 6, 5, 5)),
  N = 21)
m <- jags.model(textConnection(seeds_model), seeds, n.chains = 4,
                n.adapt = 1000, quiet = TRUE)
update(m, 1000, progress.bar = "none")
params <- c("alpha0", "alpha1", "alpha12", "alpha2", "sigma")
samples <- coda.samples(m, params, 10000, thin = 2, progress.bar = "none")
print(summary(window(samples, start = start(samples) + 100)))
print(HPDinterval(samples[[1]]))
