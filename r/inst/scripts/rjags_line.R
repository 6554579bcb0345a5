# LINE, of the BUGS manual (Spiegelhalter et al. 1996), with rjags.
library(rjags)

model_string <- "
model {
  for (i in 1:N) {
    Y[i] ~ dnorm(mu[i], tau)
    mu[i] <- alpha + beta * (x[i] - x.bar)
  }
  x.bar <- mean(x)
  alpha ~ dnorm(0.0, 1.0E-4)
  beta ~ dnorm(0.0, 1.0E-4)
  sigma <- 1.0 / sqrt(tau)
  tau ~ dgamma(1.0, 1.0E-1)
}"

line <- list(x = c(1, 2, 3, 4, 5), Y = c(1, 3, 3, 3, 5), N = 5)
inits <- list(list(alpha = 3, beta = 0, tau = 1.5, .RNG.seed = 1,
                   .RNG.name = "base::Wichmann-Hill"),
              list(alpha = 1, beta = 1, tau = 0.375, .RNG.seed = 2,
                   .RNG.name = "base::Wichmann-Hill"))
m <- jags.model(textConnection(model_string), data = line, inits = inits,
                n.chains = 2)
update(m, 1000)
samples <- coda.samples(m, c("alpha", "beta", "sigma"), n.iter = 10000)
print(summary(samples))
print(gelman.diag(samples))
print(effectiveSize(samples))
