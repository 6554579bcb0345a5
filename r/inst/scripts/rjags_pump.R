# PUMP (Gaver and O'Muircheartaigh 1987; George, Makov and Smith 1993), with the
# arrays of jags.samples() and the deviance information criterion.
library(rjags)
load.module("dic")

writeLines("
model {
  for (i in 1:N) {
    theta[i] ~ dgamma(alpha, beta)
    lambda[i] <- theta[i] * t[i]
    x[i] ~ dpois(lambda[i])
  }
  alpha ~ dexp(1.0)
  beta ~ dgamma(0.1, 1.0)
}", model_file <- tempfile(fileext = ".bug"))

pump <- data.frame(
  t = c(94.3, 15.7, 62.9, 126, 5.24, 31.4, 1.05, 1.05, 2.1, 10.5),
  x = c(5, 1, 5, 14, 3, 19, 1, 1, 4, 22))
m <- jags.model(model_file, data = c(as.list(pump), N = nrow(pump)),
                inits = function() list(alpha = runif(1, 0.5, 1), beta = 1),
                n.chains = 3, n.adapt = 1000)
update(m, 1000)
samples <- coda.samples(m, c("alpha", "beta", "theta"), n.iter = 8000, thin = 2)
more <- coda.samples(m, c("alpha", "beta"), n.iter = 2000, thin = 2)
print(start(more))
arrays <- jags.samples(m, c("theta", "beta"), n.iter = 2000)
print(arrays$theta)
print(apply(arrays$theta, 1, sd))
print(dic.samples(m, n.iter = 2000))
