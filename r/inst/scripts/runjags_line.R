# The first example of runjags: names of data, monitors and initial values are
# in the model's comments.
library(runjags)

X <- 1:100
set.seed(5)
Y <- rnorm(length(X), 2 * X + 10, 1)
N <- length(X)
model <- "model {
  for (i in 1 : N) {
    Y[i] ~ dnorm(true.y[i], precision);
    true.y[i] <- (m * X[i]) + c;
  }
  m ~ dunif(-1000, 1000);
  c ~ dunif(-1000, 1000);
  precision ~ dexp(1);
  #data# N, X, Y
  #monitor# m, c, precision
}"
inits1 <- dump.format(list(m = 1, c = 1, precision = 1))
inits2 <- dump.format(list(m = 0.1, c = 10, precision = 1))
results <- run.jags(model = model, n.chains = 2, inits = c(inits1, inits2),
                    burnin = 1000, sample = 6000)
print(results)
print(summary(results)[, c("Lower95", "Median", "Upper95", "psrf")])
results <- extend.jags(results, sample = 2000)
