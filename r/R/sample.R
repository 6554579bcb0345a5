# A run of a model's sampler, and its draws.

gbm_sample <- function(model, data = list(), inits = NULL, chains = 4,
                       warmup = 1000, draws = 1000, thin = 1, monitor = NULL,
                       seed = NULL, log_lik = FALSE, lp = FALSE,
                       start = NULL, until = NULL, device = NULL,
                       threads = NULL, checkpoint = NULL, resume = NULL,
                       options = character(), quiet = FALSE,
                       progress = if (quiet) "none" else
                         if (interactive()) "bar" else "lines") {
  counts <- list(chains = chains, warmup = warmup, draws = draws, thin = thin)
  for (name in names(counts))
    check_count(counts[[name]], name, name != "warmup")
  numbers <- as_numbers(data)
  seed <- settle_seed(seed, inits)
  inits <- expand_inits(inits, chains)
  program <- compiled(model, numbers, quiet)
  scratch <- tempfile("gbmr")
  dir.create(scratch)
  on.exit(unlink(scratch, recursive = TRUE))
  file <- function(...) file.path(scratch, paste0(...))
  args <- c("--data", write_dump(numbers, file("data.R")))
  for (k in seq_along(inits))
    args <- c(args, "--init", write_dump(inits[[k]], file("inits", k, ".R")))
  option <- function(name, value)
    if (!is.null(value)) c(paste0("--", name), format_option(value))
  args <- c(args, unlist(Map(option, names(counts), counts)),
            option("seed", seed), option("start", start),
            option("until", until), option("device", device),
            option("threads", threads), option("monitor", monitor),
            option("checkpoint", full_path(checkpoint)),
            option("resume", full_path(resume)),
            option("progress", progress),
            if (log_lik) "--log-lik", if (lp) "--lp", options,
            "--quantiles", paste(100 * summary_quantiles, collapse = ","),
            "--digits", "17", "--out", file("draws.csv"),
            "--summary", file("summary.json"))
  ran <- run_program(program$sampler, unname(args), scratch,
                     show_run(quiet))
  have <- file.exists(file("summary.json")) && file.exists(file("draws_1.csv"))
  if (ran$status == 1 || !have)
    stop_for("the sampler", ran, scratch)
  warn_for(ran)
  fit <- read_fit(scratch, chains)
  fit[c("model", "seed", "warmup", "thin", "notes")] <-
    list(gbm_model(model), as.numeric(seed), warmup, thin, ran$err)
  fit$labels <- find_labels(gbmc_text(fit$model, "--emit=ast"), data)
  fit$given <- names(numbers)
  if (ran$status != 0)
    warning(sub("^[a-z]+: ", "", utils::tail(ran$err, 1)), call. = FALSE)
  fit
}

summary_quantiles <- c(0.025, 0.25, 0.5, 0.75, 0.975)

check_count <- function(x, name, positive) {
  if (!is.numeric(x) || length(x) != 1 || is.na(x) || x != floor(x) ||
      x < positive)
    stop(name, " must be one whole number",
         if (positive) " above 0" else " that is not negative", call. = FALSE)
}

format_option <- function(value)
  if (is.character(value)) paste(value, collapse = ",") else
    format(value, scientific = FALSE, digits = 15)

full_path <- function(path)
  if (!is.null(path)) file.path(normalizePath(dirname(path)), basename(path))

# Lines that a run says, but for where its scratch files are.
show_run <- function(quiet) {
  say <- say_lines(quiet)
  if (is.null(say))
    return(NULL)
  function(line)
    if (!grepl("draws\\.csv|\\.state", line))
      say(line)
}

# What a run wrote in `folder`. The columns have the names of the summary.
read_fit <- function(folder, chains) {
  summary <- jsonlite::fromJSON(file.path(folder, "summary.json"),
                                simplifyVector = FALSE)
  tables <- lapply(seq_len(chains), function(k)
    read_chain(file.path(folder, paste0("draws_", k, ".csv"))))
  columns <- colnames(tables[[1]])
  all <- simplify2array(tables)
  all <- aperm(all, c(1, 3, 2))
  statistics <- grepl("__$", columns)
  pointwise <- grepl("^log_lik\\.[0-9]+$", columns) &
    !is.null(summary$loo$observations)
  columns[!statistics & !pointwise] <- names_of_columns(
    columns[!statistics & !pointwise], names(summary$parameters))
  columns[pointwise] <- names(summary$loo$observations)
  take <- function(which) {
    part <- all[, , which, drop = FALSE]
    dimnames(part) <- list(iteration = NULL, chain = NULL,
                           variable = columns[which])
    part
  }
  structure(
    list(draws = take(!statistics & !pointwise),
         log_lik = if (any(pointwise)) take(pointwise),
         lp = all[, , columns == "lp__"],
         table = summary_table(summary$parameters)[
           columns[!statistics & !pointwise], , drop = FALSE],
         moments = if (length(summary$moments) > 0)
           summary_table(summary$moments),
         dic = unlist(summary$dic), waic = unlist(summary$waic),
         loo = unlist(summary$loo[names(summary$loo) != "observations"]),
         pointwise = if (any(pointwise))
           summary_table(summary$loo$observations),
         timing = unlist(summary$timing), complete = summary$complete),
    class = "gbm_fit")
}

# CmdStan's CSV has theta.1.2 for theta[1,2], in the order of R's arrays, and no
# other dot: alpha.c is alpha_c there, and alpha_c_ if that is taken. The summary
# has the names, array by array in the same order, each row by row.
names_of_columns <- function(columns, names) {
  parts <- split_names(names)
  taken <- unique(parts$base)
  plain <- vapply(taken, function(name) {
    out <- gsub(".", "_", name, fixed = TRUE)
    while (out != name && out %in% taken)
      out <- paste0(out, "_")
    out
  }, "")
  keys <- paste0(plain[parts$base], vapply(parts$index, function(at)
    paste0(rep(".", length(at) > 0), paste(at, collapse = ".")), ""))
  at <- match(make.unique(columns, "\n"), make.unique(keys, "\n"))
  if (anyNA(at) || length(keys) != length(columns))
    stop("the draws and their summary have different variables; are gbmr and ",
         "gbmc of one version?", call. = FALSE)
  names[at]
}

read_chain <- function(path) {
  first <- readLines(path, 100)
  at <- grep("^[^#]", first)[1]
  columns <- strsplit(first[at], ",", fixed = TRUE)[[1]]
  values <- scan(path, sep = ",", comment.char = "#", skip = at, quiet = TRUE)
  matrix(values, ncol = length(columns), byrow = TRUE,
         dimnames = list(NULL, columns))
}

# Rows of the summary's JSON as a matrix; null is NA. The quantiles are those that
# were asked for.
summary_table <- function(rows) {
  if (length(rows) == 0)
    return(matrix(0, 0, 0))
  columns <- names(rows[[1]])
  columns <- setdiff(columns, c("q5", "q95")) # of its own accord
  table <- matrix(vapply(rows, function(row)
    vapply(columns, function(k)
      if (is.null(row[[k]])) NA_real_ else as.double(row[[k]]), 0),
    numeric(length(columns))), length(rows), byrow = TRUE)
  at <- suppressWarnings(as.numeric(sub("^q", "", columns))) # of a quantile
  columns[!is.na(at)] <- paste0(at[!is.na(at)], "%")
  dimnames(table) <- list(names(rows), columns)
  last <- match(columns, c("ess_bulk", "ess_tail", "rhat"), 0)
  table[, order(last, !is.na(at), at), drop = FALSE]
}
