# The programs behind this package: where gbmc is, and how a program runs: what
# it says on stderr is shown while it comes, and kept.

# gbmc: the option gbmr.gbmc, $GBMC, $GBM_HOME (an installation's prefix, or a
# folder in which gbm was built), or the search path.
find_gbmc <- function() {
  home <- Sys.getenv("GBM_HOME")
  named <- c(getOption("gbmr.gbmc"), Sys.getenv("GBMC"))
  named <- named[nzchar(named)]
  if (length(named) > 0 && !file.exists(named[1]))
    stop("the compiler gbmc is not at ", named[1],
         " (option gbmr.gbmc, or $GBMC)", call. = FALSE)
  places <- c(named,
              if (nzchar(home)) file.path(home, c("bin", "build"), "gbmc"),
              Sys.which("gbmc"))
  there <- places[nzchar(places) & file.exists(places)]
  if (length(there) == 0)
    stop("the compiler gbmc was not found: put it on the search path, or ",
         "name it in the environment variable GBMC or by ",
         "options(gbmr.gbmc = \"/path/to/gbmc\")", call. = FALSE)
  normalizePath(there[[1]])
}

# Runs `program` in `folder`. Lines of stderr go to `show` (a function) when
# they come, those that a carriage return ends straight to the terminal. A
# program that draws keeps what it has when it is stopped, so an interrupt asks
# it to end (by SIGTERM: of SIGINT, which a terminal sends to it as well, a
# second would kill it) and waits. Value: status, out, err, interrupted.
run_program <- function(program, args, folder = ".", show = NULL) {
  scratch <- tempfile("gbmr")
  dir.create(scratch)
  on.exit(unlink(scratch, recursive = TRUE))
  file <- function(name) file.path(scratch, name)
  command <- paste(
    "cd", shQuote(folder), "&&",
    "sh -c", shQuote("echo $$ >\"$0\"; exec \"$@\""), shQuote(file("pid")),
    paste(shQuote(c(program, args)), collapse = " "),
    "</dev/null 2>&1 >", shQuote(file("out")))
  # the shell outlives an interrupt, to say how the program ended
  script <- paste0("trap : INT; ", command, "; echo $? >",
                   shQuote(file("status")))
  relay <- relay_of(pipe(script, "rb"), show)
  interrupted <- FALSE
  tryCatch(relay$go(), interrupt = function(e) {
    interrupted <<- TRUE
    pid <- suppressWarnings(as.integer(readLines(file("pid"))))
    if (length(pid) == 1 && !is.na(pid))
      tools::pskill(pid, tools::SIGTERM)
  })
  if (interrupted)
    suspendInterrupts(relay$go())
  relay$close()
  status <- if (file.exists(file("status")))
    as.integer(readLines(file("status"))) else 2L
  list(status = status, interrupted = interrupted, err = relay$lines(),
       out = if (file.exists(file("out"))) readLines(file("out")) else
         character())
}

# Reads a connection to its end by `go`, again after an interrupt.
relay_of <- function(connection, show) {
  lines <- character()
  piece <- raw()
  newline <- as.raw(10L)
  carriage <- as.raw(13L)
  done <- FALSE
  take <- function(byte) {
    if (byte != newline && byte != carriage) {
      piece <<- c(piece, byte)
      return()
    }
    text <- rawToChar(piece)
    piece <<- raw()
    if (byte == carriage) {
      if (!is.null(show))
        cat(text, "\r", sep = "", file = stderr())
    } else {
      text <- gsub("\033\\[K", "", text)
      lines <<- c(lines, text)
      if (!is.null(show))
        show(text)
    }
  }
  list(
    go = function() {
      while (!done) {
        byte <- readBin(connection, "raw", 1L)
        if (length(byte) == 0)
          done <<- TRUE
        else
          take(byte)
      }
      if (length(piece) > 0)
        take(newline)
    },
    close = function() close(connection),
    lines = function() lines)
}

# How a program's notes are told: messages, that suppressMessages() takes away.
# Errors and warnings, with the lines of text below them, become R's own.
say_lines <- function(quiet) {
  if (quiet)
    return(NULL)
  condition <- FALSE
  function(line) {
    if (!grepl("^[ \t]", line))
      condition <<- grepl("^([^ ]+: )?(error|warning|failed):", line)
    if (!condition) # without the folder of files that only R knows of
      message(gsub(paste0(tempdir(), "/[^ ]*/"), "", line))
  }
}

# An error of gbmc or of a sampler: its text has the place, and the line with a
# caret below it; files that only R knows of have R's names. The condition has
# class `gbm_error` and the status.
stop_for <- function(what, ran, folder = NULL) {
  text <- ran$err[!grepl("^note:", ran$err)]
  first <- grep("(error|failed):", text)
  if (length(first) > 0)
    text <- text[first[1]:length(text)]
  if (!is.null(folder))
    text <- gsub(paste0(folder, "/"), "", text, fixed = TRUE)
  text <- sub("^(error|failed): ", "", text)
  text <- sub("^data[0-9a-f]*\\.R:[0-9:]+ ", "data: ", text)
  text <- sub("\\binits([0-9]+)\\.R\\b(:[0-9:]+)?", "inits[[\\1]]\\2", text)
  text <- sub("^(inits\\[\\[[0-9]+\\]\\]):[0-9:]+ ", "\\1: ", text)
  text <- gsub("\\bfit\\.nc\\b", "the fit", text)
  text <- sub("(run --monitor)", "(monitor =)", text, fixed = TRUE)
  text <- sub("\\(--anew ([^)]*)\\)", "(anew = \"\\1\")", text)
  if (length(text) == 0)
    text <- paste(what, "ended with status", ran$status)
  stop(structure(
    class = c("gbm_error", "error", "condition"),
    list(message = paste(text, collapse = "\n"), call = NULL,
         status = ran$status)))
}

warn_for <- function(ran) {
  text <- grep("^(.*: )?warning: ", ran$err, value = TRUE)
  for (line in text)
    warning(sub("^warning: ", "", line), call. = FALSE, immediate. = FALSE)
}
