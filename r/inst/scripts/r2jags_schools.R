# The eight schools (Rubin 1981; Gelman et al. 2004, section 5.5), with R2jags:
# the model is a function, data are named, initial values are drawn.
library(R2jags)

schools <- function() {
  for (j in 1:J) {
    y[j] ~ dnorm(theta[j], tau.y[j])
    theta[j] ~ dnorm(mu, tau)
    tau.y[j] <- pow(sd[j], -2)
  }
  mu ~ dnorm(0.0, 1.0E-3)
  sigma ~ dnorm(0, 0.01) %_% T(0, )
  tau <- pow(sigma, -2)
}
J <- 8
y <- c(28.4, 7.9, -2.8, 6.8, -0.6, 0.6, 18.0, 12.2)
sd <- c(14.9, 10.2, 16.3, 11.0, 9.4, 11.4, 10.4, 17.6)
jags.data <- list("y", "sd", "J")
jags.params <- c("mu", "sigma", "theta")
jags.inits <- function() list(mu = rnorm(1), sigma = runif(1), theta = rnorm(J))

fit <- jags(data = jags.data, inits = jags.inits, jags.params, n.chains = 3,
            n.iter = 12000, n.burnin = 2000, n.thin = 2, model.file = schools)
print(fit)
attached <- fit$BUGSoutput$sims.list
print(mean(attached$theta[, 1] > attached$theta[, 3]))
print(fit$BUGSoutput$summary["mu", c("mean", "2.5%", "97.5%", "Rhat")])
print(fit$BUGSoutput$DIC)
longer <- update(fit, n.iter = 1000)
print(longer$BUGSoutput$mean$theta)
