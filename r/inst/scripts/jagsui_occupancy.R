# A site-occupancy model (MacKenzie et al. 2002) as in Kery and Schaub (2012),
# with latent states that are given starting values.
library(jagsUI)

set.seed(24)
M <- 100
J <- 3
z.true <- rbinom(M, 1, 0.6)
y <- matrix(rbinom(M * J, 1, 0.4 * z.true), M, J)
win.data <- list(y = y, M = nrow(y), J = ncol(y))
sink(model.txt <- tempfile())
cat("
model {
  psi ~ dunif(0, 1)
  p ~ dunif(0, 1)
  for (i in 1:M) {
    z[i] ~ dbern(psi)
    for (j in 1:J) {
      y[i,j] ~ dbern(z[i] * p)
    }
  }
  N.occ <- sum(z[])
}
", fill = TRUE)
sink()
zst <- apply(y, 1, max)
inits <- function() list(z = zst)
out <- jags(win.data, inits, c("psi", "p", "N.occ"), model.txt, n.chains = 3,
            n.thin = 1, n.iter = 3000, n.burnin = 500)
print(out, dig = 3)
print(table(out$sims.list$N.occ)[1:3])
