# Makes inst/scripts/reference.csv: posterior means and sds of the variables that
# each script keeps, by JAGS through rjags, from long runs. From the package's
# folder:  Rscript reference/make.R
#
# A script is run up to where it asks for samples, by stand-ins for the functions
# that ask; what they were given goes to rjags.
library(gbmr)

draw_by_jags <- function(model, data, inits, variables) {
  text <- gbmr:::gbm_model(model)$text
  data <- gbmr:::as_numbers(data)
  inits <- gbmr:::expand_inits(inits, 4L) # NULL: JAGS's own
  m <- rjags::jags.model(textConnection(text), data, inits, n.chains = 4,
                         n.adapt = 2000, quiet = TRUE)
  stats::update(m, 5000, progress.bar = "none")
  samples <- rjags::coda.samples(m, setdiff(variables, "deviance"), 100000,
                                 thin = 5, progress.bar = "none")
  stop(structure(class = c("drawn", "condition"), list(samples = samples)))
}

one_start <- function(inits)
  if (is.list(inits) && is.null(names(inits))) inits[[1]] else
    if (is.character(inits)) NULL else inits

stand_ins <- function() {
  e <- new.env(parent = globalenv())
  model <- NULL
  e$jags.model <- function(file, data = NULL, inits = NULL, ...)
    model <<- list(gbmr:::gbm_model(file), data, one_start(inits))
  e$update <- function(...) NULL
  e$coda.samples <- function(m, variable.names, ...)
    draw_by_jags(model[[1]], model[[2]], model[[3]], variable.names)
  e$jags <- function(data, inits = NULL, parameters.to.save, model.file, ...)
    draw_by_jags(model.file, gbmr:::data_by_name(data, parent.frame()),
                 one_start(inits), parameters.to.save)
  e$run.jags <- e$autorun.jags <-
    function(model, monitor = NA, data = NA, inits = NULL, ...) {
      own <- gbmr:::comments_of_runjags(gbmr:::gbm_model(model)$text)
      draw_by_jags(model, gbmr:::runjags_list(data, own$data, parent.frame()),
                   one_start(inits), if (anyNA(monitor)) own$monitor else
                     monitor)
    }
  e
}

rows <- NULL
for (path in sort(list.files("inst/scripts", "\\.R$", full.names = TRUE))) {
  text <- grep("^library", readLines(path), value = TRUE, invert = TRUE)
  got <- tryCatch(eval(parse(text = text), stand_ins()), drawn = identity)
  table <- summary(got$samples)$statistics
  size <- coda::effectiveSize(got$samples)
  cat(path, "smallest effective size", min(size), "\n")
  rows <- rbind(rows, data.frame(
    script = sub("\\.R$", "", basename(path)), variable = rownames(table),
    mean = table[, "Mean"], sd = table[, "SD"],
    mcse = table[, "SD"] / sqrt(size)))
}
rows[3:5] <- signif(rows[3:5], 6)
utils::write.csv(rows, "inst/scripts/reference.csv", row.names = FALSE,
                 quote = FALSE)
