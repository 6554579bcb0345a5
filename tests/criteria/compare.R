# LOO, WAIC and DIC of the eight models, as the sampler told them, beside those
# that R has: loo and waic of the package loo from the same draws to 1e-8; pD from
# the deviance at the means by R's densities, and the mean deviance of rjags'
# dic.samples, where it is there.
#
#   Rscript compare.R FOLDER   with NAME.json (summary), NAME_1.csv, ... (draws)
folder <- commandArgs(TRUE)[1]
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
models <- sub("[.]bug$", "", list.files(here, "[.]bug$"))
has_loo <- requireNamespace("loo", quietly = TRUE)
has_rjags <- suppressMessages(requireNamespace("rjags", quietly = TRUE))
near <- function(a, b, limit, what)
  if (length(a) != length(b) || !all(abs(a - b) < limit))
    stop(what, ": ", paste(signif(c(a, b), 12), collapse = " "), call. = FALSE)

vector_density <- function(y, m, Q)
  sum(log(det(Q)) / 2 - log(2 * pi) -
        apply(y, 1, function(r) sum((r - m) * (Q %*% (r - m))) / 2))
# The log likelihood at parameters m, a named vector.
log_likelihood <- list(
  line_missing = function(d, m)
    sum(dnorm(d$y, m[["a"]] + m[["b"]] * d$x, 1 / sqrt(m[["tau"]]), log = TRUE),
        na.rm = TRUE),
  logistic = function(d, m)
    sum(dbinom(d$y, 1, plogis(m[["a"]] + m[["b"]] * d$x), log = TRUE)),
  binomial_effects = function(d, m)
    sum(dbinom(d$r, d$n, plogis(m[["a"]] + m[paste0("e.", 1:8)]), log = TRUE)),
  truncated = function(d, m) {
    sd <- 1 / sqrt(m[["tau"]])
    sum(dnorm(d$y, m[["m"]], sd, log = TRUE) -
          pnorm(0, m[["m"]], sd, lower.tail = FALSE, log.p = TRUE))
  },
  vectors = function(d, m)
    vector_density(d$y, m[paste0("m.", 1:2)],
                   matrix(m[c("Q.1.1", "Q.2.1", "Q.1.2", "Q.2.2")], 2)),
  multinomial = function(d, m)
    sum(apply(d$n, 1, dmultinom, prob = m[paste0("p.", 1:3)], log = TRUE)),
  series = function(d, m)
    dnorm(d$y[1], 0, 1, log = TRUE) +
      sum(dnorm(d$y[-1], m[["a"]] * d$y[-8], 1 / sqrt(m[["tau"]]), log = TRUE)),
  schools = function(d, m)
    sum(dnorm(d$y, m[paste0("theta.", 1:8)], d$s, log = TRUE)))

compare <- function(name) {
  told <- jsonlite::fromJSON(file.path(folder, paste0(name, ".json")))
  chains <- lapply(1:told$chains, function(k) as.matrix(utils::read.csv(
    file.path(folder, sprintf("%s_%d.csv", name, k)), comment.char = "#")))
  draws <- do.call(rbind, chains)
  data <- jsonlite::fromJSON(file.path(here, paste0(name, ".json")))
  own <- told$loo$observations
  each <- function(what)
    unname(vapply(own, function(o) if (is.null(o[[what]])) NA else o[[what]], 0))
  at <- grep("^log_lik", colnames(draws))
  n <- length(at)
  stopifnot(n == length(own), n >= 5)
  near(draws[, "deviance"], -2 * rowSums(draws[, at]), 1e-8, "deviance")
  near(mean(draws[, "deviance"]), told$dic$mean_deviance, 1e-7, "mean deviance")
  at_means <- -2 * log_likelihood[[name]](data, colMeans(draws))
  near(told$dic$mean_deviance - at_means, told$dic$pd, 1e-7, "pD")
  half <- vapply(chains, function(x) stats::var(x[, "deviance"]) / 2, 0) # R2jags
  near(mean(half), told$dic$pv, 1e-7, "pV")
  if (has_loo) {
    values <- array(draws[, at], c(nrow(chains[[1]]), told$chains, n))
    r <- suppressWarnings(loo::loo(values, r_eff = rep(told$loo$r_eff, n)))
    near(r$pointwise[, "elpd_loo"], each("elpd"), 1e-8, "elpd_loo")
    k <- r$diagnostics$pareto_k
    finite <- is.finite(k) # where all draws say the same there is no tail
    near(k[finite], each("pareto_k")[finite], 1e-8, "Pareto k")
    near(r$estimates["elpd_loo", "Estimate"], told$loo$elpd, 1e-8, "elpd_loo")
    near(r$estimates["elpd_loo", "SE"], told$loo$se, 1e-8, "its standard error")
    w <- suppressWarnings(loo::waic(values))
    near(w$pointwise[, "p_waic"], each("p_waic"), 1e-8, "p_waic")
    near(w$estimates["elpd_waic", ], c(told$waic$elpd, told$waic$se), 1e-8,
         "elpd_waic")
  }
  line <- sprintf("%-17s %2d observations, elpd_loo %8.3f, elpd_waic %8.3f, mean deviance %7.3f, pD %5.3f",
                  name, n, told$loo$elpd, told$waic$elpd,
                  told$dic$mean_deviance, told$dic$pd)
  if (has_rjags) line <- paste0(line, beside_jags(name, data, told))
  cat(line, "\n")
}

# rjags' penalty is Plummer's (2002), a divergence between chains: another number
# than the pD of Spiegelhalter et al. (2002) but where what is observed is normal
# with a known variance.
beside_jags <- function(name, data, told) {
  model <- rjags::jags.model(
    file.path(here, paste0(name, ".bug")), data, n.chains = 3, quiet = TRUE,
    inits = lapply(1:3, function(k) list(
      .RNG.name = "base::Mersenne-Twister", .RNG.seed = k)))
  update(model, 1000, progress.bar = "none")
  dic <- rjags::dic.samples(model, 8000, progress.bar = "none")
  error <- 2 * told$parameters$deviance$mcse # of both
  near(sum(dic$deviance), told$dic$mean_deviance, 5 * error, "mean deviance in JAGS")
  if (name == "schools")
    near(sum(dic$penalty), told$dic$pd, 0.05 * told$dic$pd, "penalty in JAGS")
  sprintf("; dic.samples %7.3f, penalty %5.3f", sum(dic$deviance),
          sum(dic$penalty))
}

stopifnot(length(models) == 8, setequal(models, names(log_likelihood)))
for (name in models) compare(name)
cat("eight models:", c("LOO and WAIC as loo has them,"[has_loo], "pD and pV as R has them",
                       if (has_rjags) "and the mean deviance of rjags"), "\n")
