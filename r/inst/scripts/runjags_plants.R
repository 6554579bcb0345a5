# Yields of plants in three groups (Dobson 1983), with a variance for each.
library(runjags)

plants <- list(y = PlantGrowth$weight, g = as.numeric(PlantGrowth$group),
               N = nrow(PlantGrowth), G = 3)
model_string <- "
model {
  for (i in 1:N) {
    y[i] ~ dnorm(mean.group[g[i]], tau[g[i]])
  }
  for (k in 1:G) {
    mean.group[k] ~ dnorm(0, 1.0E-3)
    tau[k] ~ dgamma(0.1, 0.1)
    sd.group[k] <- 1 / sqrt(tau[k])
  }
  difference <- mean.group[3] - mean.group[2]
}"
results <- autorun.jags(model_string, data = plants, n.chains = 3,
                        monitor = c("mean.group", "sd.group", "difference"),
                        inits = list(list(tau = c(1, 1, 1)),
                                     list(tau = c(2, 2, 2)),
                                     list(tau = c(3, 3, 3))),
                        startburnin = 1000, startsample = 6000)
print(summary(results, vars = "difference"))
print(summary(combine.mcmc(results)))
