# Breaks of yarn by wool and tension (Tukey 1977), counts with overdispersion;
# factors as they are.
library(jagsUI)

jags.data <- list(breaks = warpbreaks$breaks, wool = warpbreaks$wool,
                  tension = warpbreaks$tension, n = nrow(warpbreaks))
file <- tempfile()
cat("
model {
  for (i in 1:n) {
    breaks[i] ~ dpois(lambda[i])
    log(lambda[i]) <- mu + a[wool[i]] + b[tension[i]] + e[i]
    e[i] ~ dnorm(0, tau)
  }
  a[1] <- 0
  a[2] ~ dnorm(0, 0.1)
  b[1] <- 0
  for (k in 2:3) { b[k] ~ dnorm(0, 0.1) }
  mu ~ dnorm(0, 0.01)
  tau ~ dgamma(2, 0.2)
  sd.e <- 1 / sqrt(tau)
}", file = file)
out <- jags(jags.data, NULL, c("mu", "a[2]", "b[2]", "b[3]", "sd.e"), file,
            n.chains = 4, n.iter = 9000, n.burnin = 1000, n.thin = 2,
            DIC = FALSE, verbose = FALSE)
print(round(out$summary[, 1:7], 2))
print(class(out$samples))
