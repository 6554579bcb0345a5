# British coal-mining disasters (Jarrett 1979; Carlin, Gelfand and Smith 1992):
# a change point in a series of counts, with R2jags.
library(R2jags)

D <- c(4, 5, 4, 0, 1, 4, 3, 4, 0, 6, 3, 3, 4, 0, 2, 6, 3, 3, 5, 4, 5, 3, 1, 4,
       4, 1, 5, 5, 3, 4, 2, 5, 2, 2, 3, 4, 2, 1, 3, 2, 1, 1, 1, 1, 1, 3, 0, 0,
       1, 0, 1, 1, 0, 0, 3, 1, 0, 3, 2, 2, 0, 1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 2,
       1, 0, 0, 0, 1, 1, 0, 2, 2, 3, 1, 1, 2, 1, 1, 1, 1, 2, 4, 2, 0, 0, 0, 1,
       4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0)
coal.model <- function() {
  for (year in 1:N) {
    D[year] ~ dpois(mu[year])
    log(mu[year]) <- b[1] + step(year - changeyear) * b[2]
  }
  for (j in 1:2) {
    b[j] ~ dnorm(0.0, 1.0E-2)
  }
  changeyear ~ dunif(1, N)
}
fit <- jags(data = list(D = D, N = length(D)), inits = NULL,
            parameters.to.save = c("b", "changeyear"), model.file = coal.model,
            n.chains = 4, n.iter = 4000, n.burnin = 1000, n.thin = 1)
print(fit)
print(1850 + fit$BUGSoutput$median$changeyear)
