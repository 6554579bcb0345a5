# Beetles (Bliss 1935): a dose-response curve with the complementary log-log
# link, with R2jags: names of data in a character vector, a model file.
library(R2jags)

model.file <- file.path(tempdir(), "beetles.txt")
cat("model {
  for (i in 1:N) {
    r[i] ~ dbin(p[i], n[i])
    cloglog(p[i]) <- alpha.star + beta * (x[i] - mean(x[]))
  }
  alpha <- alpha.star - beta * mean(x[])
  beta ~ dnorm(0.0, 0.001)
  alpha.star ~ dnorm(0.0, 0.001)
}", file = model.file)
x <- c(1.6907, 1.7242, 1.7552, 1.7842, 1.8113, 1.8369, 1.8610, 1.8839)
n <- c(59, 60, 62, 56, 63, 59, 62, 60)
r <- c(6, 13, 18, 28, 52, 53, 61, 60)
N <- 8
set.seed(1)
fit <- jags(c("x", "n", "r", "N"),
            inits = list(list(beta = 0), list(beta = 10), list(beta = 30)),
            parameters.to.save = c("alpha.star", "beta"),
            model.file = model.file, n.chains = 3, n.iter = 12000,
            n.burnin = 2000, n.thin = 1, DIC = TRUE, progress.bar = "none")
print(fit, digits = 3)
mcmc <- as.mcmc(fit)
print(gelman.diag(mcmc))
