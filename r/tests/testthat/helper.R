# What needs the compiler is skipped where there is none. Programs of tests are
# run once, so little is optimised.
options(gbmr.options = c("-O", "1"))

skip_without_gbmc <- function() {
  found <- tryCatch(gbmr:::find_gbmc(), error = function(e) NULL)
  skip_if(is.null(found), "the compiler gbmc is not there")
}

# A script of inst/scripts with its library line changed; its variables.
run_script <- function(name) {
  text <- readLines(system.file("scripts", paste0(name, ".R"),
                                package = "gbmr"))
  text <- sub("^library\\((rjags|R2jags|jagsUI|runjags)\\)", "library(gbmr)",
              text)
  variables <- new.env(parent = globalenv())
  set.seed(11)
  suppressMessages(utils::capture.output(
    for (call in parse(text = text)) eval(call, variables)))
  variables
}

# The first of what scripts call their result.
samples_of <- function(variables)
  for (name in c("samples", "fit", "out", "results"))
    if (exists(name, variables, inherits = FALSE))
      return(coda::as.mcmc.list(get(name, variables)))

# Means and sds agree with those that JAGS found in long runs (reference.csv).
expect_reference <- function(name, samples) {
  all <- utils::read.csv(system.file("scripts", "reference.csv",
                                     package = "gbmr"))
  known <- all[all$script == name, ]
  expect_gt(nrow(known), 1)
  draws <- as.matrix(samples)
  expect_true(all(known$variable %in% colnames(draws)))
  size <- coda::effectiveSize(samples)[known$variable]
  draws <- draws[, known$variable, drop = FALSE]
  expect_gt(min(size), 200)
  sd <- apply(draws, 2, stats::sd)
  z <- (colMeans(draws) - known$mean) / sqrt(sd^2 / size + known$mcse^2)
  expect_lt(max(abs(z)), 4.5, label = paste(name, "largest z of a mean"))
  spread <- abs(log(sd / known$sd)) * sqrt(size)
  expect_lt(max(spread), 6, label = paste(name, "largest error of a sd"))
}
