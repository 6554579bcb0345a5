# Employment by gross national product (Longley 1967), the example of jagsUI.
library(jagsUI)

data(longley)
gnp <- longley$GNP
employed <- longley$Employed
n <- length(employed)
data <- list(gnp = gnp, employed = employed, n = n)
modfile <- tempfile()
writeLines("
model{
  for (i in 1:n){
    employed[i] ~ dnorm(mu[i], tau)
    mu[i] <- alpha + beta*gnp[i]
  }
  alpha ~ dnorm(0, 0.00001)
  beta ~ dnorm(0, 0.00001)
  sigma ~ dunif(0,1000)
  tau <- pow(sigma,-2)
}", con = modfile)
inits <- function() list(alpha = rnorm(1, 0, 1), beta = rnorm(1, 0, 1),
                         sigma = runif(1, 0, 3))
params <- c("alpha", "beta", "sigma")
out <- jags(data = data, inits = inits, parameters.to.save = params,
            model.file = modfile, n.chains = 3, n.adapt = 100, n.iter = 11000,
            n.burnin = 1000, n.thin = 2, parallel = TRUE, seed = 7)
print(out)
print(out$mean$beta)
print(out$q2.5$alpha)
print(out$overlap0$beta)
print(out$Rhat$sigma)
print(out$summary)
out <- update(out, n.iter = 8000)
