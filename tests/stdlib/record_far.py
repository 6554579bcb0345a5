#!/usr/bin/env python3
"""Records, with mpmath, what double precision loses by differences of
distribution functions: densities and draws between bounds far out in either
tail or close to each other, and the functions that the library takes their
masses from. Run by hand: record_far.py >recorded/far.json; needs mpmath."""
import json
from mpmath import (atan, besseli, betainc, binomial, erfc, exp, expm1,
                    gammainc, inf, isinf, log, log1p, loggamma, mp, mpf, pi,
                    sqrt, workdps)

mp.dps = 60
BINS = 8
BISECTIONS = 220


# ---- tails: (P(X <= x), P(X > x)), each to full relative precision ----

def normal(z):
    return erfc(-z / sqrt(2)) / 2, erfc(z / sqrt(2)) / 2


def gammas(a, x):
    if x <= 0 or isinf(x):
        return (mpf(0), mpf(1)) if x <= 0 else (mpf(1), mpf(0))
    return (gammainc(a, 0, x, regularized=True),
            gammainc(a, x, inf, regularized=True))


def betas(a, b, x, y):
    return (betainc(a, b, 0, x, regularized=True),
            betainc(b, a, 0, y, regularized=True))


def students(k, t):
    tail = betainc(k / 2, mpf(1) / 2, 0, k / (k + t * t), regularized=True) / 2
    return (tail, 1 - tail) if t < 0 else (1 - tail, tail)


def swapped(pair):
    return pair[1], pair[0]


def survival(s):
    return -expm1(log(s)) if s > 0 else mpf(1), s


def gev(m, s, e, x):
    z = (x - m) / s
    t = exp(-z) if e == 0 else (1 + e * z) ** (-1 / e)
    return exp(-t), -expm1(-t)


def gpar(m, s, e, x):
    z = (x - m) / s
    return survival(exp(-z) if e == 0 else max(0, 1 + e * z) ** (-1 / e))


def laplace(z):
    half = exp(-abs(z)) / 2
    return (half, 1 - half) if z < 0 else (1 - half, half)


TAILS = {
    "dnorm": lambda x, m, t: normal((x - m) * sqrt(t)),
    "dlnorm": lambda x, m, t: normal((log(x) - m) * sqrt(t)) if x > 0 else
    (mpf(0), mpf(1)),
    "half_normal": lambda x, s: (1 - erfc(x / s / sqrt(2)),
                                 erfc(x / s / sqrt(2))),
    "dexp": lambda x, r: survival(exp(-r * x)),
    "dweib": lambda x, v, r: survival(exp(-r * x ** v)),
    "dpar": lambda x, a, c: survival((c / max(c, x)) ** a),
    "dunif": lambda x, a, b: ((x - a) / (b - a), (b - x) / (b - a)),
    "dlogis": lambda x, m, t: (1 / (1 + exp(-t * (x - m))),
                               1 / (1 + exp(t * (x - m)))),
    "ddexp": lambda x, m, t: laplace(t * (x - m)),
    "gumbel": lambda x, m, b: gev(m, b, mpf(0), x),
    "dgev": lambda x, m, s, e: gev(m, s, e, x),
    "dgpar": lambda x, m, s, e: gpar(m, s, e, x),
    "half_cauchy": lambda x, s: (2 / pi * atan(x / s), 2 / pi * atan(s / x)),
    "dt": lambda x, m, t, k: students(k, (x - m) * sqrt(t)),
    "half_t": lambda x, k, s: (1 - 2 * students(k, -x / s)[0],
                               2 * students(k, -x / s)[0]),
    "dgamma": lambda x, r, l: gammas(r, l * x),
    "dgen.gamma": lambda x, r, l, b: gammas(r, (l * x) ** b),
    "dinvgamma": lambda x, r, b: swapped(gammas(r, b / x)),
    "dbeta": lambda x, a, b: betas(a, b, x, 1 - x),
    "df": lambda x, n, m: betas(n / 2, m / 2, n * x / (n * x + m),
                                m / (n * x + m)),
    "dscaled.gamma": lambda x, s, k: betas(
        k / 2, mpf(1) / 2, 1 - 1 / (1 + x * k * s * s), 1 / (1 + x * k * s * s)),
    "dpois": lambda x, l: swapped(gammas(x + 1, l)) if x >= 0 else
    (mpf(0), mpf(1)),
    "dbin": lambda x, p, n: betas(n - x, x + 1, 1 - p, p) if 0 <= x < n else
    ((mpf(0), mpf(1)) if x < 0 else (mpf(1), mpf(0))),
    "dnegbin": lambda x, p, r: betas(r, x + 1, p, 1 - p) if x >= 0 else
    (mpf(0), mpf(1)),
    "dgeom": lambda x, p: survival((1 - p) ** max(0, x)),
}
INTEGERS = {"dpois", "dbin", "dnegbin", "dgeom"}


def log_beta(a, b):
    return loggamma(a) + loggamma(b) - loggamma(a + b)


def log_t(z, k):
    return -log_beta(k / 2, mpf(1) / 2) - log(k) / 2 \
        - (k + 1) / 2 * log1p(z * z / k)


def log_gev(m, s, e, x):
    z = (x - m) / s
    t = exp(-z) if e == 0 else (1 + e * z) ** (-1 / e)
    return (1 + e) * log(t) - t - log(s)


DENSITIES = {
    "dnorm": lambda x, m, t: log(t / 2 / pi) / 2 - t * (x - m) ** 2 / 2,
    "dlnorm": lambda x, m, t: log(t / 2 / pi) / 2 - t * (log(x) - m) ** 2 / 2
    - log(x),
    "half_normal": lambda x, s: log(2 / pi) / 2 - log(s) - (x / s) ** 2 / 2,
    "dexp": lambda x, r: log(r) - r * x,
    "dweib": lambda x, v, r: log(v * r) + (v - 1) * log(x) - r * x ** v,
    "dpar": lambda x, a, c: log(a) + a * log(c) - (a + 1) * log(x),
    "dunif": lambda x, a, b: -log(b - a),
    "dlogis": lambda x, m, t: log(t) + t * (x - m)
    - 2 * log1p(exp(t * (x - m))),
    "ddexp": lambda x, m, t: log(t / 2) - t * abs(x - m),
    "gumbel": lambda x, m, b: log_gev(m, b, mpf(0), x),
    "dgev": lambda x, m, s, e: log_gev(m, s, e, x),
    "dgpar": lambda x, m, s, e: -log(s) - (
        (x - m) / s if e == 0 else (1 + 1 / e) * log1p(e * (x - m) / s)),
    "half_cauchy": lambda x, s: log(2 / pi / s) - log1p((x / s) ** 2),
    "dt": lambda x, m, t, k: log(t) / 2 + log_t((x - m) * sqrt(t), k),
    "half_t": lambda x, k, s: log(2 / s) + log_t(x / s, k),
    "dgamma": lambda x, r, l: r * log(l) - loggamma(r) + (r - 1) * log(x)
    - l * x,
    "dgen.gamma": lambda x, r, l, b: log(b) + b * r * log(l) - loggamma(r)
    + (b * r - 1) * log(x) - (l * x) ** b,
    "dinvgamma": lambda x, r, b: r * log(b) - loggamma(r) - (r + 1) * log(x)
    - b / x,
    "dbeta": lambda x, a, b: -log_beta(a, b) + (a - 1) * log(x)
    + (b - 1) * log1p(-x),
    "df": lambda x, n, m: -log_beta(n / 2, m / 2) + n / 2 * log(n / m)
    + (n / 2 - 1) * log(x) - (n + m) / 2 * log1p(n * x / m),
    "dscaled.gamma": lambda x, s, k: -log_beta(k / 2, mpf(1) / 2) - log(k) / 2
    - log(s) - 3 * log(x) / 2 - (k + 1) / 2 * log1p(1 / (x * k * s * s)),
    "dpois": lambda x, l: x * log(l) - l - loggamma(x + 1),
    "dbin": lambda x, p, n: log(binomial(n, x)) + x * log(p)
    + (n - x) * log1p(-p),
    "dnegbin": lambda x, p, r: loggamma(x + r) - loggamma(r) - loggamma(x + 1)
    + r * log(p) + x * log1p(-p),
    "dgeom": lambda x, p: log(p) + (x - 1) * log1p(-p),
}

# Parameters and intervals: far out above, below, narrow in the middle, narrow
# far out, one end only. An end of None is left out.
CASES = {
    "dnorm": [((0, 1), (50, 60)), ((0, 1), (-90, -80)), ((0, 1), (45, None)),
              ((0, 1), (None, -45)), ((2, 0.25), (2.5, 2.50000001)),
              ((0, 1), (60, 60.0001)), ((0, 0.000001), (1, 1.5))],
    "dlnorm": [((-60, 1), (1, 100)), ((80, 1), (1, 100)), ((0, 4), (1, 1.00001)),
               ((-50, 1), (1, None)), ((50, 1), (None, 1)),
               ((0, 0.0001), (1, 100)), ((-9, 100), (1, 100))],
    "half_normal": [((1,), (41, 50)), ((1,), (2, 2.00001)), ((1,), (45, None)),
                    ((1,), (None, 0.00001))],
    "dexp": [((5,), (200, 201)), ((1,), (3, 3.000001)),
             ((0.001,), (None, 0.00001)), ((3,), (800, None))],
    "dweib": [((2, 5), (20, 21)), ((0.5, 1), (1e7, 2e7)),
              ((3, 1), (1, 1.0000001)), ((2, 1), (40, None)),
              ((2, 1), (None, 0.00001))],
    "dpar": [((30, 1), (1e6, 2e6)), ((2, 1), (3, 3.000001)),
             ((40, 1), (1e10, None)), ((2, 1), (None, 1.0000001))],
    "dunif": [((0, 1), (0.3, 0.3000001)), ((0, 1000), (999.999, None))],
    "dlogis": [((0, 1), (800, 810)), ((0, 1), (-900, -800)),
               ((0, 2), (0.5, 0.5000001)), ((0, 1), (60, 60.00001)),
               ((0, 1), (750, None)), ((0, 1), (None, -750))],
    "ddexp": [((0, 1), (800, 810)), ((0, 1), (-900, -800)),
              ((0, 2), (-0.000001, 0.000001)), ((0, 1), (40, 40.000001)),
              ((0, 1), (750, None)), ((0, 1), (None, -750))],
    "gumbel": [((0, 1), (50, 51)), ((0, 1), (-8, -7)), ((0, 1), (1, 1.0000001)),
               ((0, 1), (60, None)), ((0, 1), (None, -7))],
    "dgev": [((0, 1, 0.25), (1e6, 2e6)), ((0, 1, -0.25), (-20, -18)),
             ((0, 1, 0.25), (1e6, None)), ((0, 1, 0.25), (1, 1.00001))],
    "dgpar": [((0, 1, 0.25), (1e6, 2e6)), ((0, 1, 0), (100, 101)),
              ((0, 1, -0.25), (3.999, 3.9995)), ((0, 1, 0.25), (1, 1.000001)),
              ((0, 1, 0.25), (1e6, None)), ((0, 1, 0.25), (None, 1e-6))],
    "half_cauchy": [((1,), (1e12, 2e12)), ((1,), (2, 2.0000001)),
                    ((1,), (1e12, None)), ((1,), (None, 1e-8))],
    "dt": [((0, 1, 4), (1e6, 2e6)), ((0, 1, 40), (-2e9, -1e9)),
           ((0, 1, 4), (1, 1.0000001)), ((0, 1, 4), (-1e-8, 2e-8)),
           ((0, 1, 4), (50, 50.00001)), ((0, 1, 30), (1e12, None)),
           ((0, 1, 30), (None, -1e12)), ((0, 1, 300), (90, 91))],
    "half_t": [((4, 1), (1e6, 2e6)), ((4, 1), (2, 2.0000001)),
               ((30, 1), (1e12, None)), ((4, 1), (None, 1e-7))],
    "dgamma": [((2, 1), (800, 810)), ((300, 1), (1, 2)), ((2, 3), (1, 1.0000001)),
               ((0.01, 1), (1e-9, 2e-9)), ((5000, 1), (3200, 3300)),
               ((5000, 1), (6900, 7000)), ((40000, 1), (31000, 31010)),
               ((2, 1), (900, None)), ((400, 1), (None, 2)),
               ((40000, 1), (50000, None)), ((0.01, 0.001), (1, 100))],
    "dgen.gamma": [((2, 1, 2), (30, 31)), ((300, 1, 2), (1, 1.1)),
                   ((2, 1, 0.5), (1, 1.000001))],
    "dinvgamma": [((2, 900), (1, 1.1)), ((40, 1), (1e9, 2e9)),
                  ((3, 2), (1, 1.000001)), ((2, 1), (None, 0.001))],
    "dbeta": [((400, 2), (0.1, 0.11)), ((2, 400), (0.9, 0.91)),
              ((2, 3), (0.4, 0.4000001)), ((900, 900), (0.1, 0.11)),
              ((0.01, 1), (1e-9, 2e-9)), ((2, 600), (0.9, None)),
              ((600, 2), (None, 0.1))],
    "df": [((4, 60), (1e12, 2e12)), ((60, 4), (1e-12, 2e-12)),
           ((3, 5), (1, 1.000001)), ((4, 60), (1e12, None)),
           ((60, 4), (None, 1e-12))],
    "dscaled.gamma": [((1, 3), (60, 70)), ((1, 3), (1e-9, 2e-9)),
                      ((2, 4), (1, 1.000001)), ((1, 3), (None, 1e-9))],
    "dpois": [((2,), (200, 210)), ((900,), (1, 4)), ((1e6,), (1000010, 1000012)),
              ((2,), (250, None)), ((900,), (None, 3))],
    "dbin": [((0.001, 300), (280, 290)), ((0.999, 300), (2, 4)),
             ((0.0001, 90), (85, None)), ((0.999, 200), (None, 4))],
    "dnegbin": [((0.9, 3), (400, 405)), ((0.001, 300), (2, 5)),
                ((0.9, 3), (400, None))],
    "dgeom": [((0.9,), (400, 402)), ((0.001,), (3, 4)), ((0.9,), (400, None))],
}


class Interval:
    def __init__(self, name, v, ends):
        self.tails = lambda x: TAILS[name](x, *v)
        self.integer = name in INTEGERS
        low, high = (e if e is None else mpf(e) for e in ends)
        if low is not None and self.integer:
            low -= 1
        self.low, self.high = low, high
        none = mpf(0), mpf(1)
        self.a = none if low is None else self.tails(low)
        self.b = none[::-1] if high is None else self.tails(high)
        self.left = self.b[0] < self.a[1]  # it lies in the lower tail

    def share(self, x):
        """Of the mass, below x."""
        t = self.tails(x)
        inner = t[0] - self.a[0] if self.left else self.a[1] - t[1]
        return inner / self.mass()

    def mass(self):
        return self.b[0] - self.a[0] if self.left else self.a[1] - self.b[1]


def bottom(name, v):
    """The lower end of the support; None: there is none."""
    if name in ("dnorm", "dlogis", "ddexp", "gumbel", "dt"):
        return None
    if name == "dpar":
        return mpf(v[1])
    if name in ("dunif", "dgpar"):
        return mpf(v[0])
    return mpf(-1) if name in INTEGERS else mpf(0)


def quantile(i, p, name, v):
    low, high = i.low, i.high
    if low is None:
        low, step = bottom(name, v), mpf(1) / 1024
        while low is None or (bottom(name, v) is None and i.share(low) > p):
            low, step = high - step, step * 2
    if high is None:
        high, step = low + mpf(1) / 1024, mpf(1) / 1024
        while i.share(high) < p:
            high, step = high + step, step * 2
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if i.share(middle) < p:
            low = middle
        else:
            high = middle
    return high


def truncated(name, v, ends):
    v = [mpf(x) for x in v]
    i = Interval(name, v, ends)
    log_mass = log(i.mass())
    if i.integer:
        low = i.low + 1 if i.low is not None else mpf(0)
        top = i.high if i.high is not None else low + 40
        points = [int(low + k) for k in range(int(min(top - low + 1, 12)))]
        if i.high is not None and i.low is None:
            points = [int(top - k) for k in range(int(min(top + 1, 12)))][::-1]
        each = [exp(DENSITIES[name](mpf(k), *v) - log_mass) for k in points]
        # bins: up to each point; what is beyond them
        cuts = points[:-1]
        mass = each[:-1] + [1 - sum(each[:-1])]
        if points[0] > low:
            cuts = [points[0] - 1] + cuts
            mass = [1 - sum(each)] + each[:-1] + [each[-1]]
        shown = points[:3]
    else:
        cuts = [quantile(i, mpf(k) / BINS, name, v) for k in range(1, BINS)]
        cuts = [mpf(float(c)) for c in cuts]
        shares = [mpf(0)] + [i.share(c) for c in cuts] + [mpf(1)]
        mass = [b - a for a, b in zip(shares, shares[1:])]
        shown = [float(cuts[0]), float(cuts[3]), float(cuts[6])]
    return {
        "lower": float("-inf") if ends[0] is None else ends[0],
        "upper": float("inf") if ends[1] is None else ends[1],
        "x": shown,
        "log_density": [float(DENSITIES[name](mpf(x), *v) - log_mass)
                        for x in shown],
        "draws": {"cuts": [float(c) for c in cuts],
                  "mass": [float(m) for m in mass]}}


# ---- functions ----

def log_interval(low, high):
    """log of the mass between two places given by their tails."""
    left = high[0] < low[1]
    return log(high[0] - low[0] if left else low[1] - high[1])


def log_moment(k, m):
    """log of the integral over y > 0 of y^k exp(-(y - m)^2 / 2), by the
    trapezoidal rule in log y."""
    root = sqrt(m * m + 4 * (k + 1))
    mode = (m + root) / 2 if m > 0 else 2 * (k + 1) / (root - m)
    step = min(1 / sqrt(mode * (2 * mode - m)) / 8, mpf(1) / 50)
    top, total = (k + 1) * log(mode) - (mode - m) ** 2 / 2, mpf(1)
    for side in (-step, step):
        u = log(mode) + side
        term = mpf(1)
        while term > mpf(10) ** -40:
            term = exp((k + 1) * u - (exp(u) - m) ** 2 / 2 - top)
            total += term
            u += side
    return top + log(step * total)


def log_nt(x, k, c):
    """Johnson, Kotz and Balakrishnan (1995), section 31.5."""
    return k / 2 * log(k) - k * c * c / (2 * (x * x + k)) - log(pi) / 2 \
        - loggamma(k / 2) - (k - 1) / 2 * log(2) \
        - (k + 1) / 2 * log(x * x + k) + log_moment(k, c * x / sqrt(x * x + k))


def log_nchisqr(x, k, d):
    """Section 29.4 of the same; exponents as large as x cancel."""
    with workdps(400 if max(x, d) > 1e50 else 100):
        return log_nchisqr_density(x, k, d)


def log_nchisqr_density(x, k, d):
    return (k / 4 - mpf(1) / 2) * log(x / d) - (x + d) / 2 - log(2) \
        + log(besseli(k / 2 - 1, sqrt(x) * sqrt(d)))


def log_mixture(x, mu, tau, p):
    terms = [w * sqrt(t) * exp(-t * (x - m) ** 2 / 2)
             for m, t, w in zip(mu, tau, p)]
    return log(sum(terms)) - log(sum(p))


FUNCTIONS = {
    "log_gamma_p": (lambda a, x: log(gammas(a, x)[0]),
                    [(2, 3), (300, 1), (0.01, 1e-9), (40000, 30000), (5, 90)]),
    "log_gamma_upper": (lambda a, x: log(gammas(a, x)[1]),
                        [(2, 3), (2, 900), (0.01, 2), (40000, 52000), (90, 5)]),
    "log_beta_i": (lambda a, b, x: log(betas(a, b, x, 1 - x)[0]),
                   [(2, 3, 0.4), (400, 2, 0.1), (2, 400, 0.9),
                    (900, 900, 0.1)]),
    "log_t_p": (lambda k, x: log(students(k, x)[0]),
                [(4, 1), (4, -1), (30, -1e12), (3, 50), (1e11, -50)]),
    "log_gamma_between": (
        lambda a, l, h: log_interval(gammas(a, l), gammas(a, h)),
        [(2, 1, 3), (2, 800, 801), (300, 1, 1.1), (5, 5, 5.0000001),
         (3, 0, 1), (3, 20, 20.000001), (5000, 4999.999, 5000.001),
         (0.001, 1e-9, 3e-9)]),
    "log_beta_between": (
        lambda a, b, l, h: log_interval(betas(a, b, l, 1 - l),
                                        betas(a, b, h, 1 - h)),
        [(2, 3, 0.2, 0.5), (400, 2, 0.1, 0.2), (2, 3, 0.4, 0.4000001),
         (900, 900, 0.1, 0.10001), (2, 3, 0, 0.5), (2, 3, 0.5, 1)]),
    "log_odds_between": (
        lambda a, b, l, h: log_interval(
            betas(a, b, l / (1 + l), 1 / (1 + l)),
            betas(a, b, h / (1 + h), 1 / (1 + h))),
        [(2, 3, 0.2, 0.5), (2, 60, 1e6, 2e6), (60, 2, 1e-9, 2e-9),
         (2, 3, 1, 1.0000001)]),
    "log_t_between": (
        lambda k, l, h: log_interval(students(k, l), students(k, h)),
        [(4, -1, 2), (4, 1e6, 2e6), (40, -2e9, -1e9), (3, 1, 1.0000001),
         (3, -1e-9, 1e-9), (1e11, 50, 51)]),
    "log_laplace_between": (
        lambda l, h: log_interval(laplace(l), laplace(h)),
        [(-1, 2), (800, 801), (-900, -899), (1, 1.0000001), (-1e-9, 1e-9)]),
    "log_between": (
        lambda a, b, c, d: log_interval((exp(a), exp(b)), (exp(c), exp(d))),
        [(-2, -0.145413, -1, -0.458675), (-900, 0, -890, 0),
         (0, -890, 0, -900)]),
    "log_nchisqr_density": (
        log_nchisqr,
        [(1e58, 3, 2), (2, 3, 1e58), (1e12, 5, 1e12), (1e12, 5, 1.000002e12),
         (1e5, 1, 2), (1e-300, 1, 1e300), (1e300, 2, 1e300), (1e-200, 7, 1),
         (5000, 0.3, 1e5), (40, 4, 30), (900, 900, 4), (1e5, 2e4, 900)]),
    "log_nt_density": (
        log_nt,
        [(1e58, 3, 2), (-1e58, 3, 2), (1e200, 3, -2), (5, 4, -100),
         (0, 5, 1e5), (-3, 0.01, 4), (100, 1000, -50), (60, 9, 40),
         (1e10, 5, 1e10), (1e30, 0.5, 1e28), (0.3, 2, 0)]),
    "log_normal_mixture": (
        log_mixture,
        [(1e58, [0, 1], [1, 2], [0.3, 0.7]), (-90, [0, 1], [1, 2], [0.3, 0.7]),
         (60, [0, 1], [1e-3, 2], [1e-9, 1]), (500, [0, 1], [1, 1], [1, 0]),
         (0.5, [0, 1, 1e9], [1, 2, 1e9], [0.3, 0.7, 4]),
         (3, [1e8, -1e8], [4, 4], [1e-300, 2])]),
}


def exactly(x):
    return [mpf(y) for y in x] if isinstance(x, list) else mpf(x)


def main():
    rows = []
    for name, cases in CASES.items():
        for v, ends in cases:
            rows.append({"name": name, "parameters": list(v),
                         "discrete": int(name in INTEGERS),
                         "truncated": [truncated(name, v, ends)]})
    for name, (value, cases) in FUNCTIONS.items():
        for v in cases:
            rows.append({"name": name, "arguments": list(v),
                         "value": float(value(*map(exactly, v)))})
    print("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]")


main()
