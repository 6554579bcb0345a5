# What needs no compiler: data, names, labels, tables.

test_that("every digit goes through a dump", {
  set.seed(1)
  x <- list(a = rnorm(200) * 10^runif(200, -300, 300), b = 5L, c = NA_real_,
            d = c(1, NA, 3), m = matrix(rnorm(6), 2), e = numeric(0),
            u = array(1:24, 2:4), inf = c(Inf, -Inf), one = array(7, 1))
  file <- tempfile()
  gbmr:::write_dump(x, file)
  back <- read.jagsdata(file)
  expect_setequal(names(back), names(x))
  for (name in setdiff(names(x), "one"))
    expect_identical(as.double(back[[name]]), as.double(x[[name]]))
  expect_identical(dim(back$u), 2:4)
})

test_that("R's kinds of data become numbers", {
  data <- gbmr:::as_numbers(list(
    f = factor(c("b", "a", NA)), l = c(TRUE, NA), n = NULL,
    d = data.frame(u = 1:2, v = factor(c("y", "x"))), x = 3))
  expect_identical(names(data), c("f", "l", "d", "x"))
  expect_identical(data$f, c(2L, 1L, NA))
  expect_identical(data$l, c(1L, NA))
  expect_equal(unname(data$d), cbind(1:2, 2:1))
  columns <- gbmr:::as_numbers(data.frame(a = 1:2, b = 3:4))
  expect_identical(columns, list(a = 1:2, b = 3:4))
  expect_error(gbmr:::as_numbers(list(g = "text")), "data\\$g is text")
  expect_error(gbmr:::as_numbers(list(1)), "must have a name")
  expect_error(gbmr:::as_numbers(list(a = 1, a = 2)), "has a twice")
  expect_error(gbmr:::as_numbers(list(`a b` = 1)), "cannot be a name")
  expect_error(gbmr:::as_numbers(list(d = Sys.Date())), "dates or times")
  expect_error(gbmr:::as_numbers(list(l = list(1, 2))), "class list")
  expect_error(gbmr:::as_numbers(7), "must be a named list")
})

test_that("inits are lists or functions, and name JAGS's seed", {
  expect_null(gbmr:::expand_inits(NULL, 2))
  expect_identical(gbmr:::expand_inits(list(a = 1), 2),
                   list(list(a = 1), list(a = 1)))
  expect_identical(gbmr:::expand_inits(function(chain) list(a = chain), 2),
                   list(list(a = 1L), list(a = 2L)))
  expect_identical(gbmr:::expand_inits(
    list(list(a = 1, .RNG.name = "base::Super-Duper", .RNG.seed = 9)), 1),
    list(list(a = 1)))
  expect_error(gbmr:::expand_inits(list(list(a = 1)), 2), "1 elements, for 2")
  expect_identical(gbmr:::settle_seed(NULL, list(list(.RNG.seed = 9))), "9")
  set.seed(4)
  one <- gbmr:::settle_seed()
  set.seed(4)
  expect_identical(gbmr:::settle_seed(), one)
  expect_error(gbmr:::settle_seed(-1), "seed must be")
})

test_that("columns of CmdStan's CSV have their names in the model", {
  # the summary has arrays row by row, the CSV column by column
  names <- c("alpha.c", "alpha_c", "a.b[1,1]", "a.b[1,2]", "a.b[2,1]",
             "a.b[2,2]", "t[10]", "t[2]")
  columns <- c("alpha_c_", "alpha_c", "a_b.1.1", "a_b.2.1", "a_b.1.2",
               "a_b.2.2", "t.2", "t.10")
  expect_identical(gbmr:::names_of_columns(columns, names),
                   names[c(1, 2, 3, 5, 4, 6, 8, 7)])
  expect_error(gbmr:::names_of_columns(columns[-1], names), "one version")
})

test_that("labels come from factors, names and loops", {
  text <- c("model {", "  for (i in 1:N) {",
            "    y[i] ~ dnorm(mu[school[i]] + X[i,1] * b[2, site[i]], tau)",
            "    r[i] <- y[i] - mu[school[i]]", "  }",
            "  for (k in 1:2) {", "    w[k] <- X[1,k]", "  }",
            "  for (i in 1:3) {", "    u[i] ~ dnorm(0, 1)", "  }", "}")
  data <- list(y = stats::setNames(1:3, c("p", "q", "r")),
               school = factor(c("A", "B", "A")),
               site = factor(c("s", "s", "t")),
               X = matrix(0, 3, 2, dimnames = list(NULL, c("age", "sex"))))
  found <- gbmr:::find_labels(text, data)
  expect_identical(found$mu, list(c("A", "B")))
  expect_identical(found$b, list(NULL, c("s", "t")))
  expect_identical(found$w, list(c("age", "sex")))
  expect_identical(found$r, list(c("p", "q", "r")))
  expect_null(found$u) # another loop with this index
  expect_identical(
    gbmr:::labelled_names(c("mu[2]", "b[1,2]", "u[1]", "tau", "mu[3]"), found),
    c("mu[B]", "b[1,t]", "u[1]", "tau", "mu[3]"))
  expect_identical(gbmr:::find_labels(stop("not read"), list(y = 1:3)), list())
})

test_that("a model may be a function", {
  text <- gbmr:::text_of_function(function() {
    for (i in 1:N) {
      y[i] ~ dnorm(mu, 1.0E-3) %_% T(0, )
    }
    mu <- 3
  })
  expect_match(text, "^model\n\\{")
  expect_match(text, "dnorm(mu, 0.001)  T(0, )", fixed = TRUE)
  expect_false(grepl("%_%", text))
})

test_that("Rhat and n.eff are those of Gelman et al. (2004)", {
  set.seed(2)
  draws <- array(rnorm(400), c(100, 4, 1), list(NULL, NULL, variable = "a"))
  draws[, 1, ] <- draws[, 1, ] + 1
  table <- gbmr:::bugs_table(draws)
  b <- stats::var(colMeans(draws[, , 1]))
  w <- mean(apply(draws[, , 1], 2, stats::var))
  v <- 0.99 * w + b
  expect_equal(table[, "Rhat"], sqrt(v / w))
  expect_equal(table[, "n.eff"], 4 * v / b)
  expect_equal(table[, "97.5%"], quantile(draws, 0.975, names = FALSE))
})

test_that("BUGS data are read row by row", {
  file <- tempfile()
  writeLines("list(N = 2, x = structure(.Data = c(1, 2, 3, 4, 5, 6),
             .Dim = c(2, 3)))", file)
  data <- read.bugsdata(file)
  expect_identical(data$x, matrix(1:6 + 0, 2, byrow = TRUE))
})
