# Records what R says of every distribution and function of the library, for
# check_recorded.py: Rscript tests/stdlib/record.R [FOLDER]. Parameters and
# points are random, with a fixed seed and few digits, so that they are read as
# they were used. Needs the packages mvtnorm, MCMCpack, evd, expm and Rmpfr;
# what no package has stands here as a formula of its own.
suppressMessages({
    library(mvtnorm)
    library(MCMCpack)
    library(evd)
    library(expm)
    library(Rmpfr)
})
set.seed(20240229)
folder <- commandArgs(TRUE)
folder <- if (length(folder)) folder[1] else "tests/stdlib/recorded"
CASES <- 4   # random parameters of a distribution
BINS <- 12   # for the draws
options(warn = -1) # R warns of the NaN that are recorded

# ---- JSON, one line an item ----

json <- function(x) {
    if (is.character(x))
        return(sprintf("\"%s\"", x))
    if (is.list(x)) {
        items <- vapply(x, json, "")
        if (!is.null(names(x)))
            return(paste0("{", paste0("\"", names(x), "\": ", items,
                                      collapse = ", "), "}"))
        return(paste0("[", paste(items, collapse = ", "), "]"))
    }
    if (is.matrix(x))
        return(json(lapply(seq_len(nrow(x)), function(i) plain(x[i, ]))))
    text <- ifelse(is.nan(x), "NaN", ifelse(x == Inf, "Infinity",
        ifelse(x == -Inf, "-Infinity", sprintf("%.15g", x))))
    if (length(x) == 1 && !inherits(x, "vector_of"))
        return(text)
    paste0("[", paste(text, collapse = ", "), "]")
}
plain <- function(x) structure(as.numeric(x), class = "vector_of")
out <- NULL
begin <- function(name) {
    out <<- file(file.path(folder, name), "w")
    writeLines("[", out)
    first <<- TRUE
}
put <- function(item) {
    cat(if (first) "" else ",\n", json(item), sep = "", file = out)
    first <<- FALSE
}
finish <- function() {
    cat("\n]\n", file = out)
    close(out)
}

# ---- random parameters ----

positive <- function(low = 0.3, shape = 2) function()
    round(low + rgamma(1, shape), 3)
real <- function(sd = 1.5) function() round(rnorm(1, 0, sd), 3)
unit <- function() round(rbeta(1, 2, 2) * 0.96 + 0.02, 3)
whole <- function(low, high) function() sample(low:high, 1)
choice <- function(...) function() sample(c(...), 1)
weights <- function(k = 3) function() round(0.3 + rgamma(k, 2), 3)
reals <- function(k = 3) function() round(rnorm(k), 3)
cutpoints <- function(k = 3) function() cumsum(round(c(rnorm(1) - 1,
    0.2 + rgamma(k - 1, 1)), 3))
spd <- function(k = 3) function() {
    a <- matrix(round(rnorm(k * (k + 2)), 1), k)
    round(a %*% t(a) / 2 + 0.5 * diag(k), 3)
}

# ---- a scalar distribution ----

# parameters: generators. log_density(x, v), cdf(x, v), survival(x, v),
# quantile(p, v): v the list of parameters. support(v): lower and upper end.
# more: further parameters, for density and cdf only.
scalar <- function(name, parameters, log_density, support, cdf = NULL,
                   survival = NULL, quantile = NULL, discrete = FALSE,
                   more = list(), mean = NULL, draws = TRUE, truncate = TRUE,
                   points = NULL, edges = TRUE, folded = FALSE) {
    if (is.null(cdf))
        cdf <- if (discrete) cumulate(log_density, support)
            else integral(log_density, support)
    if (is.null(survival))
        survival <- function(x, v) 1 - cdf(x, v)
    if (is.null(quantile))
        quantile <- if (discrete) search(cdf, support)
            else invert(cdf, support)
    cases <- lapply(seq_len(CASES), function(i)
        lapply(parameters, function(f) f()))
    for (i in seq_along(c(cases, more))) {
        v <- c(cases, more)[[i]]
        ends <- support(v)
        random <- i <= length(cases)
        if (random || is.null(points)) {
            u <- c(round(runif(if (random) 6 else 3), 3), 1e-6, 1 - 1e-6)
            x <- vapply(u, quantile, 0, v)
            if (!discrete)
                x <- signif(x, 6)
            x <- x[x >= ends[1] & x <= ends[2]]
        } else x <- points
        x <- unique(x[is.finite(x)])
        inside <- log_density(x, v)
        beyond <- c(ends[1] - 1, ends[2] + 1)
        beyond <- beyond[is.finite(beyond)]
        edge <- ends[is.finite(ends) & ends == signif(ends, 10)]
        if (!edges)
            edge <- numeric(0)
        item <- list(name = name, parameters = unname(v),
                     discrete = as.numeric(discrete),
                     x = plain(x), log_density = plain(inside),
                     beyond = plain(beyond), edge = plain(edge),
                     edge_log_density = plain(vapply(edge, log_density, 0, v)))
        if (folded)
            item$folded <- 1
        item$cdf <- plain(vapply(x, cdf, 0, v))
        item$survival <- plain(vapply(x, survival, 0, v))
        if (random) {
            item$p <- plain(u[1:4])
            item$quantile <- plain(vapply(u[1:4], quantile, 0, v))
            if (!is.null(mean))
                item$mean <- mean(v)
            if (draws) {
                item$draws <- bins(cdf, quantile, v, ends[1], ends[2], discrete)
                if (truncate)
                    item$truncated <- truncated(log_density, cdf, survival,
                                                quantile, v, ends, discrete)
            }
        }
        put(item)
    }
}

# P(lower <= X <= upper), from the nearer tail.
mass <- function(cdf, survival, v, lower, upper, discrete) {
    if (discrete)
        lower <- ceiling(lower) - 1
    if (survival(upper, v) < 0.5 && cdf(lower, v) > 0.5)
        return(survival(lower, v) - survival(upper, v))
    cdf(upper, v) - cdf(lower, v)
}

# Cutpoints and the mass up to each; at most BINS cells of mass 1 / (2 BINS).
bins <- function(cdf, quantile, v, lower, upper, discrete) {
    below <- if (discrete) cdf(ceiling(lower) - 1, v) else cdf(lower, v)
    total <- cdf(upper, v) - below
    p <- below + total * seq_len(BINS - 1) / BINS
    cuts <- vapply(p, quantile, 0, v)
    cuts <- unique(if (discrete) cuts else signif(cuts, 10))
    cuts <- cuts[cuts < upper]
    up_to <- (vapply(cuts, cdf, 0, v) - below) / total
    list(cuts = plain(cuts), mass = plain(diff(c(0, up_to, 1))))
}

truncated <- function(log_density, cdf, survival, quantile, v, ends, discrete) {
    q <- function(u) {
        x <- quantile(u, v)
        if (discrete) x else signif(x, 4)
    }
    bounds <- list(c(q(0.7), Inf), c(-Inf, q(0.35)), c(q(0.3), q(0.6)),
                   c(q(0.9), q(0.999)))
    if (discrete) # too rare for rejection
        bounds <- c(bounds, list(c(q(1 - 1e-5), Inf)))
    result <- list()
    for (b in bounds) {
        lower <- max(b[1], ends[1])
        upper <- min(b[2], ends[2])
        if (lower > upper || (!discrete && lower == upper))
            next
        total <- mass(cdf, survival, v, lower, upper, discrete)
        x <- if (discrete) seq(lower, min(upper, lower + 4))
            else signif(c(lower + (min(upper, lower + 1) - lower) *
                          c(0.01, 0.4, 0.97)), 6)
        if (lower == -Inf)
            x <- upper - c(0, 0.5, 2)
        x <- x[x >= lower & x <= upper]
        item <- list(lower = b[1], upper = b[2], x = plain(x),
                     log_density = plain(log_density(x, v) - log(total)))
        item$draws <- bins(cdf, quantile, v, lower, upper, discrete)
        result[[length(result) + 1]] <- item
    }
    result
}

integral <- function(log_density, support) function(x, v) {
    ends <- support(v)
    if (x <= ends[1]) return(0)
    if (x >= ends[2]) return(1)
    f <- function(t) exp(log_density(t, v))
    if (ends[1] == 0) # over log t: powers at 0
        return(integrate(function(s) f(exp(s)) * exp(s), -80, log(x),
                         rel.tol = 1e-11, subdivisions = 2000)$value)
    integrate(f, ends[1], x, rel.tol = 1e-11, subdivisions = 2000)$value
}
invert <- function(cdf, support) function(p, v) {
    ends <- support(v)
    lower <- if (is.finite(ends[1])) ends[1] else -1
    upper <- if (is.finite(ends[2])) ends[2] else lower + 2
    while (cdf(lower, v) > p) lower <- 2 * lower - 1
    while (cdf(upper, v) < p) upper <- 2 * upper + 1
    uniroot(function(x) cdf(x, v) - p, c(lower, upper), tol = 1e-12)$root
}
cumulate <- function(log_density, support) function(x, v) {
    lower <- support(v)[1]
    if (x < lower) return(0)
    if (x >= support(v)[2]) return(1)
    sum(exp(log_density(lower:floor(x), v)))
}
search <- function(cdf, support) function(p, v) {
    x <- support(v)[1]
    while (cdf(x, v) < p) x <- x + 1
    x
}
# R's four functions; `arguments` turns v into their arguments.
from_r <- function(stem, arguments = function(v) v, shift = 0, factor = NULL) {
    get4 <- function(letter) get(paste0(letter, stem))
    call <- function(letter, x, v, ...) do.call(get4(letter),
        c(list(x), unname(arguments(v)), list(...)))
    list(log_density = function(x, v) call("d", x - shift, v, log = TRUE),
         cdf = function(x, v) call("p", x - shift, v),
         survival = function(x, v) call("p", x - shift, v, lower.tail = FALSE),
         quantile = function(p, v) call("q", p, v) + shift)
}
# Location and scale: x = mu(v) + scale(v) z.
moved <- function(base, mu, scale) list(
    log_density = function(x, v)
        base$log_density((x - mu(v)) / scale(v), v) - log(scale(v)),
    cdf = function(x, v) base$cdf((x - mu(v)) / scale(v), v),
    survival = function(x, v) base$survival((x - mu(v)) / scale(v), v),
    quantile = function(p, v) mu(v) + scale(v) * base$quantile(p, v))
with <- function(name, parameters, four, support, ...)
    scalar(name, parameters, four$log_density, support, four$cdf,
           four$survival, four$quantile, ...)

LINE <- function(v) c(-Inf, Inf)
HALF <- function(v) c(0, Inf)
COUNT <- function(v) c(0, Inf)

# ---- the scalar distributions ----

continuous <- function() {
    p <- positive()
    m <- real()
    normal <- function(sd) from_r("norm", function(v) list(v[[1]], sd(v)))
    with("dnorm", list(m, p), normal(function(v) v[[2]]^-0.5), LINE,
         more = list(list(1e6, 1e-6), list(-3, 1e8)),
         mean = function(v) v[[1]])
    with("normal", list(m, p), normal(function(v) v[[2]]), LINE)
    lognormal <- function(sd) from_r("lnorm", function(v) list(v[[1]], sd(v)))
    # edges = FALSE: the formula is Inf - Inf there, or the end is rounded.
    with("dlnorm", list(m, p), lognormal(function(v) v[[2]]^-0.5), HALF,
         more = list(list(20, 0.04)), edges = FALSE,
         mean = function(v) exp(v[[1]] + 0.5 / v[[2]]))
    with("lognormal", list(m, p), lognormal(function(v) v[[2]]), HALF)

    gamma2 <- from_r("gamma")
    for (name in c("dgamma", "gamma"))
        with(name, list(p, p), gamma2, HALF, mean = function(v) v[[1]] / v[[2]],
             more = list(list(0.01, 0.01), list(1, 2), list(3e4, 10)))
    chi <- from_r("chisq")
    for (name in c("dchisqr", "chi_square"))
        with(name, list(p), chi, HALF, more = list(list(1), list(400)))
    with("dexp", list(p), from_r("exp"), HALF, more = list(list(1e-8)),
         mean = function(v) 1 / v[[1]])
    with("exponential", list(p), from_r("exp"), HALF)
    for (name in c("dbeta", "beta"))
        with(name, list(p, p), from_r("beta"), function(v) c(0, 1),
             mean = function(v) v[[1]] / (v[[1]] + v[[2]]),
             more = list(list(0.2, 0.1), list(1, 1), list(5000, 300)))
    with("df", list(positive(1, 3), p), from_r("f"), HALF,
         more = list(list(1, 1), list(200, 5)))
    with("dunif", list(m, positive(6)), from_r("unif"),
         function(v) c(v[[1]], v[[2]]),
         mean = function(v) (v[[1]] + v[[2]]) / 2)
    with("uniform", list(m, positive(6)), from_r("unif"),
         function(v) c(v[[1]], v[[2]]))

    inverse <- function(scale) list(
        log_density = function(x, v) ifelse(x <= 0, -Inf,
            dgamma(1 / x, v[[1]], scale(v), log = TRUE) - 2 * log(x)),
        cdf = function(x, v) if (x <= 0) 0 else
            pgamma(1 / x, v[[1]], scale(v), lower.tail = FALSE),
        survival = function(x, v) if (x <= 0) 1 else
            pgamma(1 / x, v[[1]], scale(v)),
        quantile = function(p, v) 1 / qgamma(p, v[[1]], scale(v),
                                             lower.tail = FALSE))
    for (name in c("dinvgamma", "inverse_gamma"))
        with(name, list(p, p), inverse(function(v) v[[2]]), HALF,
             more = list(list(0.001, 0.001)), edges = FALSE)
    chi_like <- function(scale) {
        base <- inverse(function(v) scale(v))
        lapply(base, function(f) function(x, v)
            f(x, c(list(v[[1]] / 2), v)))
    }
    with("inv_chi_square", list(p), chi_like(function(v) 0.5), HALF)
    with("scaled_inv_chi_square", list(p, p),
         chi_like(function(v) v[[2]] / 2 * v[[3]]^2), HALF)

    generalised <- list(
        log_density = function(x, v) {
            r <- v[[1]]; l <- v[[2]]; b <- v[[3]]
            ifelse(x < 0, -Inf, log(b) + b * r * log(l) - lgamma(r) +
                (b * r - 1) * log(x) - (l * x)^b)
        },
        cdf = function(x, v) pgamma((v[[2]] * max(0, x))^v[[3]], v[[1]]),
        survival = function(x, v) pgamma((v[[2]] * max(0, x))^v[[3]], v[[1]],
                                         lower.tail = FALSE),
        quantile = function(p, v) qgamma(p, v[[1]])^(1 / v[[3]]) / v[[2]])
    with("dgen.gamma", list(p, p, p), generalised, HALF)

    laplace <- list(
        log_density = function(x, v) -log(2) - abs(x),
        cdf = function(x, v) if (x < 0) exp(x) / 2 else 1 - exp(-x) / 2,
        survival = function(x, v) if (x > 0) exp(-x) / 2 else 1 - exp(x) / 2,
        quantile = function(p, v) if (p < 0.5) log(2 * p)
            else -log(2 * (1 - p)))
    first <- function(v) v[[1]]
    second <- function(v) v[[2]]
    reciprocal <- function(v) 1 / v[[2]]
    with("ddexp", list(m, p), moved(laplace, first, reciprocal), LINE,
         mean = first)
    with("laplace", list(m, p), moved(laplace, first, second), LINE)
    logistic <- from_r("logis", function(v) list())
    with("dlogis", list(m, p), moved(logistic, first, reciprocal), LINE,
         mean = first)
    with("logistic", list(m, p), moved(logistic, first, second), LINE)
    with("dt", list(m, p, p), moved(from_r("t", function(v) v[3]), first,
         function(v) v[[2]]^-0.5), LINE,
         more = list(list(0, 1, 1), list(0, 1, 1e6)))
    with("student_t", list(p, m, p), moved(from_r("t", function(v) v[1]),
         function(v) v[[2]], function(v) v[[3]]), LINE)
    with("cauchy", list(m, p), moved(from_r("cauchy", function(v) list()),
         first, second), LINE)

    weibull <- function(arguments) from_r("weibull", arguments)
    with("dweib", list(p, p), weibull(function(v)
        list(v[[1]], v[[2]]^(-1 / v[[1]]))), HALF,
        mean = function(v) v[[2]]^(-1 / v[[1]]) * gamma(1 + 1 / v[[1]]))
    with("weibull", list(p, p), weibull(identity), HALF)
    with("rayleigh", list(p), weibull(function(v) list(2, v[[1]] * sqrt(2))),
         HALF)

    pareto <- function(a, c) list(
        log_density = function(x, v) ifelse(x < c(v), -Inf, log(a(v)) +
            a(v) * log(c(v)) - (a(v) + 1) * log(x)),
        cdf = function(x, v) if (x <= c(v)) 0 else
            -expm1(a(v) * log(c(v) / x)),
        survival = function(x, v) if (x <= c(v)) 1 else (c(v) / x)^a(v),
        quantile = function(p, v) c(v) * (1 - p)^(-1 / a(v)))
    with("dpar", list(p, p), pareto(first, second),
         function(v) c(v[[2]], Inf))
    with("pareto", list(p, p), pareto(second, first),
         function(v) c(v[[1]], Inf))

    half <- function(four, scale) list(
        log_density = function(x, v) ifelse(x < 0, -Inf, log(2) +
            four$log_density(x / scale(v), v) - log(scale(v))),
        cdf = function(x, v) if (x <= 0) 0 else
            1 - 2 * four$survival(x / scale(v), v),
        survival = function(x, v) if (x <= 0) 1 else
            2 * four$survival(x / scale(v), v),
        quantile = function(p, v) scale(v) * four$quantile(0.5 + 0.5 * p, v))
    with("half_normal", list(p), half(from_r("norm", function(v) list()),
         first), HALF)
    with("half_cauchy", list(p), half(from_r("cauchy", function(v) list()),
         first), HALF)
    with("half_t", list(p, p), half(from_r("t", function(v) v[1]), second),
         HALF)

    # About 0, and T(0,): another distribution of the library stands for it.
    zero <- function() 0
    one <- function(v) 1
    with("dt", list(zero, p, p), half(moved(from_r("t", function(v) v[3]), first,
        function(v) v[[2]]^-0.5), one), HALF, truncate = FALSE, folded = TRUE)
    with("ddexp", list(zero, p), half(moved(laplace, first, reciprocal), one),
         HALF, truncate = FALSE, folded = TRUE)

    with("dgev", list(m, p, choice(-0.4, 0, 0.3)),
         from_r("gev"), function(v) {
             end <- v[[1]] - v[[2]] / v[[3]]
             c(if (v[[3]] > 0) end else -Inf, if (v[[3]] < 0) end else Inf)
         }, more = list(list(0, 1, 1e-6)), edges = FALSE)
    with("dgpar", list(m, p, choice(-0.4, 0, 0.3)),
         from_r("gpd"), function(v)
             c(v[[1]], if (v[[3]] < 0) v[[1]] - v[[2]] / v[[3]] else Inf),
         edges = FALSE)
    with("gumbel", list(m, p), from_r("gumbel"), LINE,
         mean = function(v) v[[1]] - digamma(1) * v[[2]])

    # Sum of positive terms, so exact to rounding where R's own is not.
    j <- 0:2000
    nchisq <- list(
        log_density = function(x, v) vapply(x, function(t) {
            l <- dpois(j, v[[2]] / 2, log = TRUE) +
                dchisq(t, v[[1]] + 2 * j, log = TRUE)
            if (max(l) == -Inf || max(l) == Inf) max(l)
            else max(l) + log(sum(exp(l - max(l))))
        }, 0),
        cdf = function(x, v) sum(dpois(j, v[[2]] / 2) *
                                 pchisq(x, v[[1]] + 2 * j)),
        survival = function(x, v) sum(dpois(j, v[[2]] / 2) *
            pchisq(x, v[[1]] + 2 * j, lower.tail = FALSE)))
    scalar("dnchisqr", list(p, p), nchisq$log_density, HALF, nchisq$cdf,
           nchisq$survival, function(p, v) invert(nchisq$cdf, HALF)(p, v),
           mean = function(v) v[[1]] + v[[2]],
           more = list(list(2, 0), list(3, 300)))
    noncentral_t()

    # tau = 1 / sigma^2 with sigma half-t: P(tau <= x) = P(sigma >= x^-1/2)
    root <- function(x, v) x^-0.5 / v[[1]]
    scalar("dscaled.gamma", list(p, p), function(x, v) log(2) +
               dt(root(x, v), v[[2]], log = TRUE) - log(v[[1]]) - log(2) -
               1.5 * log(x), HALF,
           function(x, v) if (x <= 0) 0 else
               2 * pt(root(x, v), v[[2]], lower.tail = FALSE),
           function(x, v) if (x <= 0) 1 else
               2 * pt(root(x, v), v[[2]]) - 1,
           function(p, v) (v[[1]] * qt(p / 2, v[[2]], lower.tail = FALSE))^-2)
    mixture_normal()
    no_cdf()
}

# The density's series in Kummer form (Johnson, Kotz and Balakrishnan 1995,
# 31.15), summed with 300 bits.
noncentral_t <- function() {
    log_f <- function(x, k, d) vapply(x, function(t) {
        j <- 0:400
        u <- mpfr(d, 300) * t * sqrt(mpfr(2, 300)) / sqrt(mpfr(k, 300) + t^2)
        s <- sum(exp(lgamma(mpfr(k + j + 1, 300) / 2) -
                     lgamma(mpfr(j + 1, 300))) * u^j)
        k <- mpfr(k, 300)
        as.numeric(log(s) - mpfr(d, 300)^2 / 2 + k / 2 * log(k) -
                   log(Const("pi", 300)) / 2 - lgamma(k / 2) -
                   (k + 1) / 2 * log(k + t^2))
    }, 0)
    scale <- function(v) sqrt(v[[2]])
    # 2 P(Z sqrt(V) < x) by the gamma variable V: a smooth integral
    F <- function(x, v) {
        k <- v[[3]]
        integrate(function(s) pnorm(x * scale(v) * sqrt(exp(s)) -
                                    v[[1]] * scale(v)) *
                  exp(dgamma(exp(s), k / 2, k / 2, log = TRUE) + s),
                  -700, 12, rel.tol = 1e-12, subdivisions = 5000)$value
    }
    scalar("dnt", list(real(1), positive(), positive(1)), function(x, v)
        log_f(x * scale(v), v[[3]], v[[1]] * scale(v)) + log(scale(v)),
        LINE, F, quantile = function(p, v) invert(F, LINE)(p, v),
        more = list(list(3, 1, 30), list(0, 2, 4)))
}

mixture_normal <- function() {
    part <- function(f) function(x, v) vapply(x, function(t)
        sum(v[[3]] / sum(v[[3]]) * f(t, v[[1]], v[[2]]^-0.5)), 0)
    F <- part(pnorm)
    scalar("dnormmix", list(reals(), weights(), weights()), function(x, v)
        log(part(dnorm)(x, v)), LINE, F, part(function(x, m, s)
            pnorm(x, m, s, lower.tail = FALSE)),
        function(p, v) invert(F, LINE)(p, v))
}

no_cdf <- function() {
    p <- positive()
    scalar("gig", list(real(), p, p), function(x, v) ifelse(x <= 0, -Inf, {
        w <- sqrt(v[[2]] * v[[3]])
        v[[1]] / 2 * log(v[[2]] / v[[3]]) - log(2) -
            log(besselK(w, abs(v[[1]]), TRUE)) + w + (v[[1]] - 1) * log(x) -
            v[[2]] * x / 2 - v[[3]] / x / 2 }), HALF, truncate = FALSE)
    scalar("root_gig", list(real(), p, p), function(x, v) ifelse(x <= 0, -Inf, {
        a <- 2 * v[[2]]
        b <- 2 * v[[3]]
        w <- sqrt(a * b)
        q <- v[[1]] / 2
        log(2 * x) + q / 2 * log(a / b) - log(2) -
            log(besselK(w, abs(q), TRUE)) + w + (q - 1) * log(x^2) -
            a * x^2 / 2 - b / x^2 / 2 }), HALF, truncate = FALSE)
    scalar("von_mises", list(function() round(runif(1, -3, 3), 3), p),
           function(x, v) v[[2]] * cos(x - v[[1]]) - log(2 * pi) -
               log(besselI(v[[2]], 0, TRUE)) - v[[2]],
           function(v) v[[1]] + c(-1, 1) * pi, truncate = FALSE)
    scalar("power_gamma", list(function() round(runif(1, 0.3, 4), 3), p,
                               choice(0.5, 1, 2)),
           function(x, v) {
               c <- v[[1]]; r <- v[[2]]; q <- v[[3]]
               dgamma(x^q, c / q, r, log = TRUE) + log(q) + (q - 1) * log(x)
           }, HALF, function(x, v) pgamma(max(0, x)^v[[3]], v[[1]] / v[[3]],
                                          v[[2]]),
           quantile = function(p, v)
               qgamma(p, v[[1]] / v[[3]], v[[2]])^(1 / v[[3]]))
}

discrete <- function() {
    p <- positive()
    bern <- list(log_density = function(x, v) dbinom(x, 1, v[[1]], TRUE),
                 cdf = function(x, v) pbinom(x, 1, v[[1]]),
                 survival = function(x, v) pbinom(x, 1, v[[1]],
                                                  lower.tail = FALSE),
                 quantile = function(p, v) qbinom(p, 1, v[[1]]))
    BIT <- function(v) c(0, 1)
    for (name in c("dbern", "bernoulli"))
        with(name, list(unit), bern, BIT, TRUE,
             more = list(list(0), list(1)), points = c(0, 1))
    with("bernoulli_logit", list(real()), lapply(bern, function(f)
        function(x, v) f(x, list(plogis(v[[1]])))), BIT, TRUE,
        more = list(list(-40), list(40)), points = c(0, 1))
    swap <- function(v) list(v[[2]], v[[1]])
    n <- whole(3, 30)
    with("dbin", list(unit, n), from_r("binom", swap), function(v)
        c(0, v[[2]]), TRUE, mean = function(v) v[[1]] * v[[2]],
        more = list(list(0, 5), list(1, 5), list(0.3, 0), list(1e-5, 1e6)))
    with("binomial", list(n, unit), from_r("binom"), function(v) c(0, v[[1]]),
         TRUE)
    with("binomial_logit", list(n, real()), from_r("binom", function(v)
        list(v[[1]], plogis(v[[2]]))), function(v) c(0, v[[1]]), TRUE)
    for (name in c("dpois", "poisson"))
        with(name, list(positive(0.3, 4)), from_r("pois"), COUNT, TRUE,
             mean = function(v) v[[1]], more = list(list(0), list(1e6)))
    with("poisson_log", list(real()), from_r("pois", function(v)
        list(exp(v[[1]]))), COUNT, TRUE)
    with("dnegbin", list(unit, p), from_r("nbinom", swap), COUNT, TRUE,
         mean = function(v) v[[2]] * (1 - v[[1]]) / v[[1]],
         more = list(list(1, 2.5), list(0.999, 1e5)))
    with("neg_binomial", list(p, p), from_r("nbinom", function(v)
        list(v[[1]], v[[2]] / (v[[2]] + 1))), COUNT, TRUE)
    with("neg_binomial_2", list(p, p), from_r("nbinom", function(v)
        list(v[[2]], v[[2]] / (v[[2]] + v[[1]]))), COUNT, TRUE)
    with("neg_binomial_2_log", list(real(), p), from_r("nbinom", function(v)
        list(v[[2]], v[[2]] / (v[[2]] + exp(v[[1]])))), COUNT, TRUE)
    with("dgeom", list(unit), from_r("geom", shift = 1),
         function(v) c(1, Inf), TRUE, mean = function(v) 1 / v[[1]])
    for (name in c("dgeom0", "geometric"))
        with(name, list(unit), from_r("geom"), COUNT, TRUE)

    betabin <- function(order) function(x, v) {
        v <- v[order]
        n <- v[[3]]
        lchoose(n, x) + lbeta(x + v[[1]], n - x + v[[2]]) -
            lbeta(v[[1]], v[[2]])
    }
    scalar("dbetabin", list(p, p, n), betabin(1:3), function(v) c(0, v[[3]]),
           discrete = TRUE, more = list(list(0.01, 0.02, 5)))
    scalar("beta_binomial", list(n, p, p), betabin(c(2, 3, 1)),
           function(v) c(0, v[[1]]), discrete = TRUE)

    HYPER <- function(v) c(max(0, v[[3]] - v[[2]]), min(v[[1]], v[[3]]))
    fisher <- function(x, v) {
        all <- HYPER(v)[1]:HYPER(v)[2]
        l <- function(j) dhyper(j, v[[1]], v[[2]], v[[3]], log = TRUE) +
            j * log(v[[4]])
        top <- max(l(all))
        l(x) - top - log(sum(exp(l(all) - top)))
    }
    scalar("dhyper", list(whole(4, 15), whole(4, 15), whole(2, 9), p), fisher,
           HYPER, discrete = TRUE,
           more = list(list(6, 5, 4, 1), list(100, 120, 90, 0.2)))
    with("hypergeometric", list(whole(2, 9), whole(4, 15), whole(4, 15)),
         from_r("hyper", function(v) v[c(2, 3, 1)]), function(v)
         c(max(0, v[[1]] - v[[3]]), min(v[[1]], v[[2]])), TRUE)

    for (name in c("dcat", "categorical"))
        scalar(name, list(weights(4)), function(x, v)
            log(v[[1]][x] / sum(v[[1]])), function(v) c(1, length(v[[1]])),
            discrete = TRUE)
    ordered <- function(P) list(
        log_density = function(x, v) vapply(x, function(j) {
            m <- length(v[[2]])
            if (j > m) P(v[[2]][m] - v[[1]], lower.tail = FALSE, log.p = TRUE)
            else if (j < 2) P(v[[2]][1] - v[[1]], log.p = TRUE)
            else {
                a <- v[[2]][j - 1] - v[[1]]
                b <- v[[2]][j] - v[[1]]
                if (a > 0) log(P(a, lower.tail = FALSE) -
                               P(b, lower.tail = FALSE)) else log(P(b) - P(a))
            }
        }, 0), cdf = function(x, v) if (x < 1) 0 else
            if (x > length(v[[2]])) 1 else P(v[[2]][floor(x)] - v[[1]]))
    for (name in c("dordered.logit", "ordered_logistic", "dordered.probit",
                   "ordered_probit")) {
        f <- ordered(if (grepl("logi", name)) plogis else pnorm)
        scalar(name, list(real(), cutpoints()), f$log_density, function(v)
            c(1, length(v[[2]]) + 1), f$cdf, discrete = TRUE,
            more = list(list(-9, c(-1, 0.4, 2)), list(9, c(-1, 0.4, 2)),
                        list(30, c(-1, 0.4, 2)),
                        list(-50, c(-1, 0.4, 2))))
    }
}

states <- function() {
    intensities <- function() {
        q <- matrix(round(0.1 + rgamma(9, 1), 3), 3)
        diag(q) <- 0
        diag(q) <- -round(rowSums(q), 3)
        q
    }
    probability <- function(v) pmax((expm::expm(v[[2]] * v[[3]]))[v[[1]], ], 0)
    scalar("dmstate", list(whole(1, 3), positive(0.1, 1), intensities),
           function(x, v) log(probability(v)[x]), function(v) c(1, 3),
           discrete = TRUE)
}

# ---- vectors and matrices: log densities only; draws: check_samplers.py ----

multivariate <- function(name, parameters, log_density, value, impossible =
                         list(), more = list()) {
    cases <- lapply(seq_len(CASES), function(i)
        lapply(parameters, function(f) f()))
    for (v in c(cases, more)) {
        x <- lapply(1:3, function(i) value(v))
        put(list(name = name, parameters = unname(v), multivariate = 1,
                 x = x, log_density = plain(vapply(x, log_density, 0, v)),
                 beyond = impossible))
    }
}
ignore_case <- function(f) function(x, v) as.numeric(f(x, v))

vectors <- function() {
    K <- 3
    p <- positive()
    anywhere <- function(v) round(rnorm(K), 3)
    simplex <- function(v) {
        x <- round(rgamma(K, 1.5) + 0.1, 3)
        x / sum(x)
    }
    mvn <- function(S) function(x, v)
        mvtnorm::dmvnorm(x, v[[1]], S(v[[2]]), log = TRUE)
    multivariate("dmnorm", list(reals(), spd()), mvn(solve), anywhere)
    multivariate("multi_normal_precision", list(reals(), spd()), mvn(solve),
                 anywhere)
    multivariate("dmnorm.vcov", list(reals(), spd()), mvn(identity), anywhere)
    multivariate("multi_normal", list(reals(), spd()), mvn(identity), anywhere)
    mvt <- function(x, m, S, k) mvtnorm::dmvt(x, m, S, k, log = TRUE)
    multivariate("dmt", list(reals(), spd(), p), function(x, v)
        mvt(x, v[[1]], solve(v[[2]]), v[[3]]), anywhere)
    multivariate("multi_student_t", list(p, reals(), spd()), function(x, v)
        mvt(x, v[[2]], v[[3]], v[[1]]), anywhere)
    dirichlet <- function(x, v) lgamma(sum(v[[1]])) - sum(lgamma(v[[1]])) +
        sum((v[[1]] - 1) * log(x))
    for (name in c("ddirch", "dirichlet"))
        multivariate(name, list(weights()), dirichlet, simplex,
                     list(plain(c(0.5, 0.6, -0.1))))
    # structural zeros: the density of the others
    multivariate("ddirch", list(function() c(0, weights(2)())), function(x, v)
        dirichlet(x[2:3], list(v[[1]][2:3])), function(v) {
            x <- simplex(v)
            c(1e-30, x[2:3] / sum(x[2:3]))
        })
    multinomial <- function(i, j) function(x, v)
        dmultinom(x, v[[i]], v[[j]], log = TRUE)
    n <- whole(2, 9)
    multivariate("dmulti", list(weights(), n), multinomial(2, 1), function(v)
        as.numeric(rmultinom(1, v[[2]], rep(1, K))),
        list(plain(c(100, 0, 0)), plain(c(-1, 1, 2))))
    multivariate("multinomial", list(n, weights()), multinomial(1, 2),
                 function(v) as.numeric(rmultinom(1, v[[1]], rep(1, K))))
    multivariate("dsample", list(weights(), whole(1, 2)), function(x, v) {
        sets <- combn(K, v[[2]])
        log(prod(v[[1]][x == 1])) -
            log(sum(apply(sets, 2, function(s) prod(v[[1]][s]))))
    }, function(v) as.numeric(sample(K) <= v[[2]]),
    list(plain(c(0, 0, 0)), plain(c(2, 0, 0))))
    matrices()
    areas()
}

matrices <- function() {
    k <- positive(2.3)
    value <- function(v) spd()()
    log_gamma3 <- function(a) 3 / 2 * log(pi) + sum(lgamma(a - (0:2) / 2))
    det_log <- function(S) as.numeric(determinant(S)$modulus)
    wishart <- function(x, R, k) # R the inverse scale
        k / 2 * det_log(R) - 3 * k / 2 * log(2) - log_gamma3(k / 2) +
            (k - 4) / 2 * det_log(x) - sum(diag(R %*% x)) / 2
    stopifnot(abs(wishart(diag(3), 2 * diag(3), 5) -
                  log(dwish(diag(3), 5, diag(3) / 2))) < 1e-12)
    inverse <- function(x, S, k) k / 2 * det_log(S) - 3 * k / 2 * log(2) -
        log_gamma3(k / 2) - (k + 4) / 2 * det_log(x) -
        sum(diag(S %*% solve(x))) / 2
    multivariate("dwish", list(spd(), k), function(x, v)
        wishart(x, v[[1]], v[[2]]), value, list(matrix(c(1, 2, 0, 2, 1, 0, 0,
        0, 1), 3)))
    multivariate("wishart", list(k, spd()), function(x, v)
        wishart(x, solve(v[[2]]), v[[1]]), value)
    multivariate("dinvwish", list(spd(), k), function(x, v)
        inverse(x, v[[1]], v[[2]]), value)
    multivariate("inv_wishart", list(k, spd()), function(x, v)
        inverse(x, v[[2]], v[[1]]), value)
    # Huang and Wand (2013): the scales integrated out, one by one: a gamma
    # integral each.
    multivariate("dscaled.wishart", list(weights(), positive()),
        function(x, v) {
            s <- v[[1]]; df <- v[[2]]; k <- df + 2
            # a ~ gamma(1/2, 1/s^2), x | a ~ wishart(2 df diag(a), k):
            # exponent of a: k / 2 + 1 / 2, rate: df x_jj + 1 / s^2
            -3 * k / 2 * log(2) - log_gamma3(k / 2) +
                (k - 4) / 2 * det_log(x) + 3 * k / 2 * log(2 * df) +
                sum(-log(s) - lgamma(0.5) + lgamma((k + 1) / 2) -
                    (k + 1) / 2 * log(df * diag(x) + 1 / s^2))
        }, value)
    # Upper triangular factor U of the correlation matrix R = U'U: density of R
    # (Lewandowski, Kurowicka and Joe 2009, eqs. 16, 17) times |dR / dU|.
    multivariate("dlkj_corr_cholesky", list(positive(), function() 3),
        function(x, v) {
            eta <- v[[1]]
            b <- c(eta + 0.5, eta) # K - k, k = 1, 2: beta exponents
            constant <- (2 * eta - 2 + 2) * 2 * log(2) +
                (2 * eta - 2 + 1) * 1 * log(2) +
                2 * lbeta(eta + 0.5, eta + 0.5) + lbeta(eta, eta)
            log_r <- (eta - 1) * 2 * sum(log(diag(x)))
            log_r - constant + sum((3 - 1:3) * log(diag(x)))
        }, function(v) chol(round(cov2cor(spd()()), 3)))
}

areas <- function() { # a path of four areas
    record("log_total", function(x) {
        x <- unclass(x)
        max(x) + log(sum(exp(x - max(x))))
    }, list(list(plain(c(-1000, -1001, -999.5))), list(plain(c(0.5, 2)))))
    num <- c(1, 2, 2, 1)
    adj <- c(2, 1, 3, 2, 4, 3)
    C <- 1 / rep(num, num)
    M <- 1 / num
    lists <- function(x) function() x
    W <- matrix(0, 4, 4)
    W[cbind(rep(1:4, num), adj)] <- C
    multivariate("dcar_proper", list(reals(4), lists(C), lists(adj),
        lists(num), lists(M), positive(), function() round(runif(1, -0.9, 0.9),
                                                           3)),
        function(x, v) mvtnorm::dmvnorm(x, v[[1]], {
            Q <- solve(v[[6]] * diag(num) %*% (diag(4) - v[[7]] * W))
            (Q + t(Q)) / 2
        }, log = TRUE), function(v) round(rnorm(4), 3))
    edges <- c(0.5, 0.5, 2, 2, 1.5, 1.5)
    multivariate("dcar_normal", list(lists(adj), lists(edges), lists(num),
                                     positive()), function(x, v)
        1.5 * log(v[[4]]) - v[[4]] / 2 * sum(c(0.5, 2, 1.5) * diff(x)^2),
        function(v) round(rnorm(4), 3))
}

# ---- functions ----

# name, R function of the arguments, list of argument lists
record <- function(name, f, arguments) {
    for (a in arguments)
        put(list(name = name, arguments = unname(a), value = do.call(f, a)))
}
each <- function(...) lapply(mapply(list, ..., SIMPLIFY = FALSE), unname)

functions <- function() {
    any_real <- c(round(rnorm(8, 0, 2), 3), 0, 1, -1, 30, -30)
    around <- c(round(runif(8, -0.99, 0.99), 3), 0, 1, -1, 1e-9)
    positive <- c(round(rgamma(8, 1), 3) + 0.001, 1, 2, 1e-12, 1e10, 50.5)
    open <- c(round(runif(8), 3), 1e-12, 1 - 1e-12, 0.5)
    huge <- c(any_real, 700, -700, 800, -800, 1e-10)
    none <- function(f, x, ...) for (n in c(...)) record(n, f, each(x))
    round_away <- function(x) sign(x) * floor(abs(x) + 0.5)
    none(abs, huge, "abs")
    none(acos, c(around, 1.5), "arccos")
    none(asin, c(around, -2), "arcsin")
    none(atan, huge, "arctan")
    none(acosh, c(1, 1 + positive, 0.5), "arccosh")
    none(asinh, c(any_real, 1e10, -1e10, 1e-9), "arcsinh")
    none(atanh, c(around, 2), "arctanh")
    none(cos, any_real, "cos"); none(sin, any_real, "sin")
    none(tan, any_real, "tan"); none(tanh, huge, "tanh")
    none(cosh, c(any_real, 800), "cosh")
    none(sinh, c(any_real, 800, 1e-9), "sinh")
    none(ceiling, c(any_real, 2.5, -2.5), "ceiling")
    none(floor, c(any_real, 2.5, -2.5), "floor")
    none(round_away, c(any_real, 2.5, -2.5, 0.5, 0.49999999999999994),
         "round")
    none(trunc, c(any_real, 2.5, -2.5), "trunc")
    none(function(x) x^3, any_real, "cube")
    none(exp, huge, "exp"); none(expm1, huge, "expm1")
    none(log, c(positive, 0, -1), "log")
    none(log1p, c(positive, around, -2), "log1p")
    none(sqrt, c(positive, 0, -1), "sqrt")
    none(digamma, positive, "digamma"); none(trigamma, positive, "trigamma")
    none(lgamma, positive, "loggam")
    none(function(x) lgamma(x + 1), c(0:6, 170, 1e6, 2.5), "logfact")
    none(plogis, huge, "ilogit")
    none(qlogis, c(open, 0, 1, -0.1, 1.1), "logit")
    none(pnorm, c(any_real, 8, -8, -38), "phi")
    none(function(x) pnorm(x, log.p = TRUE), c(any_real, 8, -8, -38, -1e4),
         "log_phi")
    none(qnorm, c(open, 0, 1, -0.1, 1e-300), "probit")
    none(function(x) log(-log1p(-x)), c(open, 0, 1, -0.1), "cloglog")
    none(function(x) -expm1(-exp(x)), huge, "icloglog")
    none(function(x) ifelse(x > 0, x + log1p(exp(-x)), log1p(exp(x))), huge,
         "log1pexp")
    none(function(x) ifelse(x > 0.7, log1p(-exp(-x)), log(-expm1(-x))),
         c(positive, 0), "log1mexp")
    none(function(x) as.numeric(x >= 0), c(any_real, 1e-300, -1e-300), "step")
    none(function(x) log(besselI(x, 0, TRUE)) + x, positive, "log_bessel_i0")

    two <- function(f, x, y, ...) for (n in c(...)) record(n, f, each(x, y))
    two(function(x, y) as.numeric(x == y), c(1, 2, -0.5), c(1, 3, -0.5),
        "equals")
    two(`^`, c(positive, -2, -8, 0, 0, 2, -2), c(round(rnorm(13), 3), 3, 1,
        0, 2, 1e3, 0.5), "pow")
    a <- round(rgamma(12, 2) + 0.05, 3)
    x <- round(rgamma(12, 2) + 0.05, 3)
    u <- round(runif(12), 3)
    A <- c(a, 1e-3, 200, 1e5, 3, 3); X <- c(x, 0.2, 190, 1e5, 0, 40)
    two(function(a, x) pgamma(x, a), A, X, "gamma_p")
    two(function(a, x) pgamma(x, a, lower.tail = FALSE), A, X, "gamma_upper")
    P <- c(u, 0.7, 0.3, 0.5, 0, 1e-9)
    two(function(a, p) qgamma(p, a), A, P, "gamma_quantile")
    for (i in seq_along(A)) {
        b <- c(x, 2, 300, 50, 1, 1)[i]
        record("beta_i", function(a, b, x) pbeta(x, a, b),
               list(list(A[i], b, c(u, 0.1, 0.4, 0.999, 0, 1)[i])))
        record("beta_quantile", function(a, b, p) qbeta(p, a, b),
               list(list(A[i], b, c(u, 0.6, 0.4, 0.9, 0, 1)[i])))
    }
    two(function(k, x) pt(x, k), c(a, 1, 30, 1e6, 2), c(round(rnorm(12, 0,
        2), 3), 0, -9, 1, -1e4), "t_p")
    two(function(k, p) qt(p, k), c(a, 1, 30, 1e6, 2), c(u, 0.5, 1e-6, 0.9,
        1 - 1e-6), "t_quantile")
    two(function(x, nu) besselK(x, nu), c(x, 0.01, 20), c(a, 3, 0),
        "besselK")
    two(function(nu, x) log(besselK(x, nu, TRUE)) - x, c(a, 3, 0, 20, 0.5),
        c(x, 0.01, 20, 700, 1000), "log_bessel_k")
    two(lbeta, c(a, 1e-3, 1e6), c(x, 1e3, 3), "log_beta")
    two(lchoose, c(5, 10, 100, 1e6, 7, 7), c(2, 10, 50, 3, 0, 7),
        "log_choose")
    two(Vectorize(function(a, n) sign(n) * sum(log(min(a, a + n) +
        seq_len(abs(n)) - 1))), c(0.5, 3, 8, 100, 1e6, 1e12, 1e15,
        103, 1e12 + 12),
        c(4, 0, 7, 50, 3, 12, 30, -3, -12), "log_rising")
    two(Vectorize(function(p, turn) min(max(p - turn, 0), 1)),
        c(3.25, 3.25, 3.25, 0.5, -1), c(3, 1, 4, 0, -1.75), "entered")
    log_between <- function(a, b) if (a > 0) log_between(-b, -a) else {
        u <- pnorm(b, log.p = TRUE)
        l <- pnorm(a, log.p = TRUE)
        u + log1p(-exp(l - u))
    }
    two(log_between, c(-1, 0.2, -Inf, 8, -39, 2, 30), c(1, 0.5, 1, 9, -38,
        Inf, Inf), "log_phi_between")
    j <- 0:3000
    nchisq <- function(x, k, d) {
        l <- dpois(j, d / 2, log = TRUE) + dchisq(x, k + 2 * j, log = TRUE)
        max(l) + log(sum(exp(l - max(l))))
    }
    triple <- each(x, a, rev(x))
    record("log_nchisqr_density", nchisq, triple)
    record("nchisqr_p", function(x, k, d)
        sum(dpois(j, d / 2) * pchisq(x, k + 2 * j)), triple)
    z <- round(rnorm(12), 3)
    # by the chi variable: smooth, and positive
    nt <- function(f) function(x, k, d) integrate(function(s)
        f(x, exp(s / 2), d) * exp(dgamma(exp(s), k / 2, k / 2, log = TRUE) + s),
        -700, 8, rel.tol = 1e-12, subdivisions = 5000)$value
    record("log_nt_density", function(x, k, d)
        log(nt(function(x, r, d) dnorm(x * r, d) * r)(x, k, d)),
        each(z, a, rev(z)))
    record("nt_p", nt(function(x, r, d) pnorm(x * r, d)), each(z, a, rev(z)))
    inverse <- function(F, low) function(p, ...) uniroot(function(x)
        F(x, ...) - p, c(low, 50), tol = 1e-13, extendInt = "upX")$root
    few <- each(c(0.1, 0.5, 0.97), c(2, 3.5, 7), c(0.5, 1, 4))
    record("nchisqr_quantile", inverse(function(x, k, d)
        sum(dpois(j, d / 2) * pchisq(x, k + 2 * j)), 0), few)
    record("nt_quantile", inverse(nt(function(x, r, d) pnorm(x * r, d)), -50),
           few)
    record("hyper_quantile", function(p, n1, n2, m1, psi) {
        x <- max(0, m1 - n2):min(n1, m1)
        f <- dhyper(x, n1, n2, m1) * psi^x
        x[which(cumsum(f) / sum(f) >= p)[1]]
    }, list(list(0.5, 10, 12, 9, 2), list(0.01, 10, 12, 9, 0.3),
            list(0.99, 10, 4, 9, 1)))
    record("log_hyper_total", function(n1, n2, m1, psi) {
        x <- max(0, m1 - n2):min(n1, m1)
        log(sum(choose(n1, x) * choose(n2, m1 - x) * psi^x))
    }, list(list(10, 12, 9, 2), list(10, 4, 9, 0.3), list(40, 300, 60, 5.5)))
    record("ifelse", function(c, a, b) if (c != 0) a else b,
           list(list(0, 2, 3), list(1, 2, 3), list(-0.5, 2, 3)))
    of_vectors()
    of_matrices()
}

of_vectors <- function() {
    lists <- lapply(c(3, 3, 5, 1), function(k) list(plain(round(rnorm(k), 3))))
    ties <- c(lists, list(list(plain(c(2, 1, 2, 3, 1)))))
    unclassed <- function(f) function(x) f(unclass(x))
    vector_of <- function(f) function(x) plain(f(unclass(x)))
    for (n in c("max", "min", "mean", "prod", "sum"))
        record(n, unclassed(get(n)), lists)
    record("sd", unclassed(sd), lists[1:3])
    record("length", unclassed(length), lists)
    record("sort", vector_of(sort), ties)
    record("order", vector_of(function(x) order(x)), ties)
    record("rank", vector_of(function(x) rank(x, ties.method = "first")), ties)
    places <- lapply(c(1, 2, 4), function(k) list(plain(c(2, 1, 2, 3, 1)), k))
    record("rank_of", function(x, k) sum(unclass(x) <= unclass(x)[k]), places)
    record("ranked", function(x, k) sort(unclass(x))[k], places)
    record("c", vector_of(identity), lists)
    record("rep", function(x, n) plain(rep(unclass(x), n)),
           list(list(lists[[1]][[1]], 3)))
    pairs <- lapply(1:3, function(i) list(plain(round(rnorm(4), 3)),
                                          plain(round(rnorm(4), 3))))
    record("inprod", function(x, y) sum(unclass(x) * unclass(y)), pairs)
    grid <- plain(c(-1.5, 0.2, 0.9, 4))
    record("interp.lin", function(e, x, y) approx(unclass(x), unclass(y), e,
        rule = 2)$y, lapply(c(-3, -1.5, 0, 0.2, 2.7, 4, 9), function(e)
            list(e, grid, plain(c(2, -1, 0.5, 7)))))
    record("log_subset_sum", function(w, k) log(sum(apply(combn(unclass(w), k),
        2, prod))), list(list(plain(c(0.5, 2, 1.3, 0.7)), 1),
        list(plain(c(0.5, 2, 1.3, 0.7)), 2),
        list(plain(c(0.5, 2, 1.3, 0.7)), 4)))
    num <- c(1, 2, 2, 1)
    W <- matrix(0, 4, 4)
    W[cbind(rep(1:4, num), c(2, 1, 3, 2, 4, 3))] <- 1 / rep(num, num)
    record("car_logdet", function(C, adj, num, gamma)
        log(det(diag(4) - gamma * W)), lapply(c(-0.7, 0, 0.5, 0.95),
        function(g) list(plain(1 / rep(num, num)), plain(c(2, 1, 3, 2, 4, 3)),
                         plain(num), g)))
}

of_matrices <- function() {
    one <- lapply(1:3, function(i) list(spd()()))
    record("inverse", solve, one)
    record("logdet", function(A) log(det(A)), one)
    record("t", t, list(list(matrix(round(rnorm(6), 3), 2))))
    record("dim", function(A) plain(dim(A)),
           list(list(matrix(round(rnorm(6), 3), 2))))
    record("mexp", function(A) expm::expm(A),
           c(one, list(list(matrix(c(-3, 1, 0, 2, -2, 0.5, 1, 1, -0.5), 3)))))
    Q <- matrix(c(-3, 1, 0, 2, -2, 0.5, 1, 1, -0.5), 3)
    record("log_transition", function(A, from, to, time)
        log(expm::expm(time * A)[from, to]),
        list(list(Q, 1, 2, 0.7), list(Q, 3, 1, 2.5), list(Q, 2, 2, 0.01)))
    record("linear_solve", function(A, b) plain(solve(A, unclass(b))),
           lapply(one, function(a) list(a[[1]], plain(round(rnorm(3), 3)))))
    record("trace_solve", function(A, B) sum(diag(A %*% solve(B))),
           lapply(one, function(a) list(spd()(), a[[1]])))
    record("%*%", function(A, B) A %*% B, lapply(1:2, function(i)
        list(matrix(round(rnorm(6), 3), 2), matrix(round(rnorm(12), 3), 3))))
}

# Log of the integral of y^(c-1) exp(b y - a y^2), in log y.
log_total <- function(c, b, a) {
    f <- function(u) c * u + b * exp(u) - a * exp(2 * u)
    top <- optimize(f, c(-40, 10), maximum = TRUE, tol = 1e-10)
    part <- function(from, to) integrate(function(u) exp(f(u) -
        top$objective), from, to, rel.tol = 1e-12)$value
    top$objective + log(part(min(-40 / c, top$maximum - 6), top$maximum - 1) +
        part(top$maximum - 1, top$maximum) +
        part(top$maximum, top$maximum + 6))
}

# Behind all else, with a seed of their own: what stands before keeps its random
# numbers.
later <- function() {
    set.seed(20261124)
    p <- positive()
    for (power in c(1, -1, 0.5))
        scalar("modified_half_normal", list(function()
            round(sign(power) * (0.5 + rgamma(1, 2)), 3), real(), p,
            function() power), function(x, v) ifelse(x <= 0, -Inf,
                log(abs(v[[4]])) + (v[[1]] - 1) * log(x) + v[[2]] * x^v[[4]] -
                v[[3]] * x^(2 * v[[4]]) - log_total(v[[1]] / v[[4]], v[[2]],
                    v[[3]])), HALF, truncate = FALSE)
}

# A gamma's or an inverse gamma's where a or b is 0.
log_gig_total <- function(p, a, b) {
    if (b == 0) return(lgamma(p) - p * log(a / 2))
    if (a == 0) return(lgamma(-p) + p * log(b / 2))
    log(2 * besselK(sqrt(a * b), abs(p), TRUE)) - sqrt(a * b) +
        p / 2 * (log(b) - log(a))
}

later_functions <- function() {
    record("log_modified_half_normal_total", log_total, each(
        c(1, 0.5, 0.1, 5, 20, 0.7, 3), c(0, 3, 4, -3, 5, 1.5, -20),
        c(1, 1, 1, 2, 1, 0.01, 2)))
    record("log_gig_total", log_gig_total, each(
        c(0, 1.5, -2.5, 20, 3, 0.4, -5, -0.4), c(1, 2, 0.3, 7, 5, 2, 0, 0),
        c(2, 0.1, 40, 3, 0, 0, 3, 1e-6)))
}

# In the spellings of Stan.
correlations <- function() {
    set.seed(20261125)
    # eqs. 16, 17 of Lewandowski, Kurowicka and Joe (2009) for three variables
    log_r <- function(R, eta) (eta - 1) * log(det(R)) -
        (4 * eta * log(2) + (2 * eta - 1) * log(2) +
            2 * lbeta(eta + 0.5, eta + 0.5) + lbeta(eta, eta))
    correlation <- function() round(cov2cor(spd()()), 3)
    multivariate("lkj_corr", list(positive()), function(x, v)
        log_r(x, v[[1]]), function(v) correlation())
    multivariate("lkj_corr_cholesky", list(positive()), function(x, v)
        log_r(x %*% t(x), v[[1]]) + sum((3 - 1:3) * log(diag(x))),
        function(v) t(chol(correlation())))
    multivariate("multi_normal_cholesky", list(reals(), function()
        t(chol(spd()()))), function(x, v) {
            S <- v[[2]] %*% t(v[[2]])
            d <- x - v[[1]]
            -(3 * log(2 * pi) + log(det(S)) + sum(d * solve(S, d))) / 2
        }, function(v) round(rnorm(3), 3))
}

matrices_and_vectors <- function() {
    set.seed(20261125)
    A <- matrix(round(rnorm(6), 3), 2)
    v <- function(n) plain(round(rnorm(n), 3))
    record("diag_pre_multiply", function(v, A) diag(unclass(v)) %*% A,
           list(list(v(2), A)))
    record("diag_post_multiply", function(A, v) A %*% diag(unclass(v)),
           list(list(A, v(3))))
    record("quad_form_diag", function(A, v)
        diag(unclass(v)) %*% A %*% diag(unclass(v)), list(list(spd()(), v(3))))
    record("crossprod", crossprod, list(list(A)))
    record("tcrossprod", tcrossprod, list(list(A)))
    record("chol", chol, list(list(spd()()), list(spd()())))
    pairs <- each(c(5.5, -5.5, 5.5, -5.5, 7, 0, 1e-9, 1e6 + 0.25),
                  c(2, 2, -2, -2, 3.5, 3, 2, 0.75))
    record("modulo", `%%`, pairs)
    record("pmin", pmin, pairs)
    record("pmax", pmax, pairs)
}

begin("distributions.json")
continuous()
discrete()
vectors()
states()
later()
correlations()
finish()
begin("functions.json")
functions()
later_functions()
matrices_and_vectors()
finish()
