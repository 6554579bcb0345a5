"""The distributions that random models use: how to draw from one, and its log
density, written from the textbooks and not from the library, so that the two
can disagree.  Parameters as in BUGS; modern names are put in terms of these."""

import math

import numpy as np
import scipy.stats as stats

lgamma = math.lgamma
INF = math.inf


def log(x):
    return math.log(x) if x > 0 else (-INF if x == 0 else math.nan)


def gamma_log(x, r, rate):
    return r * log(rate) - lgamma(r) + (r - 1) * log(x) - rate * x \
        if x > 0 else -INF


def normal_log(x, mu, tau):
    return 0.5 * log(tau / (2 * math.pi)) - 0.5 * tau * (x - mu) ** 2


def t_log(x, mu, tau, k):
    return lgamma((k + 1) / 2) - lgamma(k / 2) \
        + 0.5 * log(tau / (k * math.pi)) \
        - (k + 1) / 2 * math.log1p(tau * (x - mu) ** 2 / k)


def choose(n, k):
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def xlogy(x, y):
    return 0.0 if x == 0 else x * log(y)


def binomial_log(x, p, n):
    return choose(n, x) + xlogy(x, p) + xlogy(n - x, 1 - p) \
        if 0 <= x <= n else -INF


def binomial_logit_log(x, e, n):
    """Of a probability ilogit(e), which may round to 0 or 1."""
    return choose(n, x) - x * np.logaddexp(0, -e) \
        - (n - x) * np.logaddexp(0, e) if 0 <= x <= n else -INF


def nct_log(x, k, shift):
    """The noncentral t, over the logarithm of the scale in its mixture, the
    square root of a chi square over k, about the mode (SciPy's is wrong, or
    nothing, far out)."""
    square, cross = x * x + k, shift * x
    mode = (cross + math.sqrt(cross ** 2 + 4 * k * square)) / (2 * square)
    sd = (2 * square * mode ** 2 - cross * mode) ** -0.5
    steps = sd * np.linspace(-40, 40, 8001)
    s = mode * np.exp(steps)
    terms = stats.norm.logpdf(x * s - shift) + stats.chi.logpdf(
        s * k ** 0.5, k) + 0.5 * math.log(k) + 2 * np.log(s)
    return float(np.logaddexp.reduce(terms)) + math.log(steps[1] - steps[0])


def poisson_log(x, m):
    return xlogy(x, m) - m - lgamma(x + 1) if x >= 0 else -INF


def negbin_log(x, p, r):
    if r == 0:
        return 0.0 if x == 0 else -INF
    return lgamma(x + r) - lgamma(x + 1) - lgamma(r) + r * log(p) \
        + xlogy(x, 1 - p) if x >= 0 else -INF


def weib_log(x, v, rate):
    return log(v * rate) + (v - 1) * log(x) - rate * x ** v \
        if x > 0 else -INF


def beta_log(x, a, b):
    return lgamma(a + b) - lgamma(a) - lgamma(b) + (a - 1) * log(x) \
        + (b - 1) * log(1 - x) if 0 < x < 1 else -INF


def cat_log(x, p):
    x = int(x)
    return log(p[x - 1] / np.sum(p)) if 1 <= x <= len(p) else -INF


def logis_log(x, mu, tau):
    z = abs(tau * (x - mu))
    return log(tau) - z - 2 * math.log1p(math.exp(-z))


def mnorm_log(x, mu, omega):
    d = np.asarray(x) - mu
    return 0.5 * np.linalg.slogdet(omega)[1] \
        - 0.5 * len(d) * math.log(2 * math.pi) - 0.5 * float(d @ omega @ d)


def mt_log(x, mu, omega, k):
    d = np.asarray(x) - mu
    n = len(d)
    return lgamma((k + n) / 2) - lgamma(k / 2) \
        + 0.5 * np.linalg.slogdet(omega)[1] \
        - 0.5 * n * math.log(k * math.pi) \
        - (k + n) / 2 * math.log1p(float(d @ omega @ d) / k)


def wish_log(x, r, k):
    n = len(r)
    return 0.5 * k * np.linalg.slogdet(r)[1] \
        + 0.5 * (k - n - 1) * np.linalg.slogdet(x)[1] \
        - 0.5 * float(np.trace(r @ x)) - 0.5 * k * n * math.log(2) \
        - n * (n - 1) / 4 * math.log(math.pi) \
        - sum(lgamma((k - j) / 2) for j in range(n))


def wish_draw(g, r, k):
    n = len(r)
    a = np.zeros((n, n))
    for i in range(n):
        a[i, i] = math.sqrt(g.chisquare(k - i))
        a[i, :i] = g.normal(size=i)
    factor = np.linalg.cholesky(np.linalg.inv(r)) @ a
    x = factor @ factor.T
    return (x + x.T) / 2


def dirch_log(x, a):
    return lgamma(np.sum(a)) + sum((a[j] - 1) * log(x[j]) - lgamma(a[j])
                                   for j in range(len(a)))


def multi_log(x, p, n):
    if np.sum(x) != n:
        return -INF
    return lgamma(n + 1) + sum(xlogy(x[j], p[j] / np.sum(p))
                               - lgamma(x[j] + 1) for j in range(len(p)))


def ordered(cdf):
    def mass(x, mu, c):
        x = int(x)
        if not 1 <= x <= len(c) + 1:
            return -INF
        high = cdf(c[x - 1] - mu) if x <= len(c) else 1.0
        low = cdf(c[x - 2] - mu) if x > 1 else 0.0
        return log(high - low)
    return mass


def phi(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def ilogit(x):
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def count_below(t, c):
    return float(np.sum(np.atleast_1d(c) < t))


def normmix_log(x, mu, tau, p):
    return log(sum(p[k] / np.sum(p) * math.exp(normal_log(x, mu[k], tau[k]))
                   for k in range(len(p))))


def normmix_draw(g, mu, tau, p):
    k = g.choice(len(p), p=p / np.sum(p))
    return g.normal(mu[k], tau[k] ** -0.5)


def inverse_wish_draw(g, s, k):
    return np.linalg.inv(wish_draw(g, s, k))


def inverse_wish_log(x, s, k):
    n = len(s)
    return wish_log(np.linalg.inv(x), s, k) \
        - (n + 1) * np.linalg.slogdet(x)[1]


def hyper_mass(n1, n2, m, psi):
    low, high = int(max(0, m - n2)), int(min(n1, m))
    xs = np.arange(low, high + 1)
    w = np.array([choose(n1, x) + choose(n2, m - x) + x * log(psi)
                  for x in xs])
    w = np.exp(w - w.max())
    return xs, w / w.sum()


def hyper_log(x, n1, n2, m, psi):
    xs, p = hyper_mass(n1, n2, m, psi)
    return log(dict(zip(xs.tolist(), p)).get(int(x), 0.0))


def scaled_wish_draw(g, s, k):
    n = len(s)
    r = [2 * k * g.gamma(0.5) * v * v for v in s]
    return wish_draw(g, np.diag(r), k + n - 1)


def scaled_wish_log(x, s, k):
    """For s that are data."""
    n = len(s)
    return 0.5 * (k - 2) * np.linalg.slogdet(x)[1] - 0.5 * (k + n) * sum(
        log(k * x[j][j] + s[j] ** -2) for j in range(n))


def lkj_draw(g, eta, p):
    """Columns of an upper triangle of unit length, by the onion."""
    n = int(p)
    x = np.zeros((n, n))
    x[0, 0] = 1
    for j in range(1, n):
        square = g.beta(j / 2, eta + (n - 1 - j) / 2)
        way = g.normal(size=j)
        x[:j, j] = way / np.linalg.norm(way) * math.sqrt(square)
        x[j, j] = math.sqrt(1 - square)
    return x


def lkj_log(x, eta, p):
    n = int(p)
    return sum((n - k + 2 * eta - 2) * log(x[k - 1][k - 1])
               for k in range(2, n + 1))


def lkj_matrix_draw(g, eta, p):
    u = lkj_draw(g, eta, p)
    return u.T @ u


def lkj_matrix_log(x, eta, p):
    return (eta - 1) * np.linalg.slogdet(x)[1]


def car_precision(adj, weights, num, tau):
    """Of an intrinsic autoregression in space."""
    n, q, at = len(num), np.zeros((len(num), len(num))), 0
    for i in range(n):
        for _ in range(int(num[i])):
            j = int(adj[at]) - 1
            q[i, i] += tau * weights[at]
            q[i, j] -= tau * weights[at]
            at += 1
    return q


def car_draw(g, adj, weights, num, tau):
    """About 0; what is constant is not drawn."""
    size, way = np.linalg.eigh(car_precision(adj, weights, num, tau))
    z = np.where(size > 1e-9, g.normal(size=len(num))
                 / np.sqrt(np.maximum(size, 1e-9)), 0.0)
    return way @ z


def car_log(x, adj, weights, num, tau):
    q = car_precision(adj, weights, num, tau)
    return 0.5 * (len(num) - 1) * log(tau) - 0.5 * float(x @ q @ x)


def gpar_log(x, m, s, e):
    inside = 1 + e * (x - m) / s
    return -log(s) - (1 + 1 / e) * log(inside) if x > m and inside > 0 \
        else -INF


def mhn_table(c, b, a, n):
    """Of y with density y^(c-1) exp(b y - a y^2), unnormalised: log y; the
    density there times y, cumulated; the log of its total."""
    u = np.linspace(-45 / c, 8, n)
    density = c * u + b * np.exp(u) - a * np.exp(2 * u)
    top = density.max()
    mass = np.cumsum(np.exp(density - top)) * (u[1] - u[0])
    return u, mass, top + math.log(mass[-1])


def mhn_draw(g, c, b, a, p):
    u, mass, _ = mhn_table(c / p, b, a, 20001)
    return math.exp(u[np.searchsorted(mass, g.random() * mass[-1])] / p)


def mhn_log(x, c, b, a, p):
    if x <= 0:
        return -INF
    _, _, total = mhn_table(c / p, b, a, 20001)
    return log(abs(p)) + (c - 1) * log(x) + b * x ** p - a * x ** (2 * p) \
        - total


def betabin_log(x, a, b, n):
    return choose(n, x) + lgamma(x + a) + lgamma(n - x + b) \
        - lgamma(n + a + b) + lgamma(a + b) - lgamma(a) - lgamma(b) \
        if 0 <= x <= n else -INF


# name -> (draw(generator, arguments...), log density(x, arguments...))
SCALAR = {
    "dnorm": (lambda g, m, t: g.normal(m, t ** -0.5), normal_log),
    "dlnorm": (lambda g, m, t: math.exp(g.normal(m, t ** -0.5)),
               lambda x, m, t: normal_log(log(x), m, t) - log(x)
               if x > 0 else -INF),
    "dt": (lambda g, m, t, k: m + g.standard_t(k) * t ** -0.5, t_log),
    "dgamma": (lambda g, r, l: g.gamma(r) / l, gamma_log),
    "dinvgamma": (lambda g, r, b: b / g.gamma(r),
                  lambda x, r, b: gamma_log(1 / x, r, b) - 2 * log(x)
                  if x > 0 else -INF),
    "dexp": (lambda g, l: g.exponential(1 / l),
             lambda x, l: log(l) - l * x if x >= 0 else -INF),
    "dchisqr": (lambda g, k: g.chisquare(k),
                lambda x, k: gamma_log(x, k / 2, 0.5)),
    "dunif": (lambda g, a, b: g.uniform(a, b),
              lambda x, a, b: -log(b - a) if a <= x <= b else -INF),
    "dbeta": (lambda g, a, b: g.beta(a, b), beta_log),
    "dweib": (lambda g, v, l: (g.exponential() / l) ** (1 / v), weib_log),
    "dweib of a scale": (lambda g, v, s: s * g.exponential() ** (1 / v),
                         lambda x, v, s: log(v / x) + v * log(x / s)
                         - (x / s) ** v if x > 0 else -INF),
    "ddexp": (lambda g, m, t: g.laplace(m, 1 / t),
              lambda x, m, t: log(t / 2) - t * abs(x - m)),
    "dlogis": (lambda g, m, t: g.logistic(m, 1 / t), logis_log),
    "dpar": (lambda g, a, c: c * (1 + g.pareto(a)),
             lambda x, a, c: log(a) + a * log(c) - (a + 1) * log(x)
             if x >= c else -INF),
    "dgen.gamma": (lambda g, r, l, b: g.gamma(r) ** (1 / b) / l,
                   lambda x, r, l, b: log(b) + b * r * log(l)
                   + (b * r - 1) * log(x) - (l * x) ** b - lgamma(r)
                   if x > 0 else -INF),
    "df": (lambda g, n, m: g.f(n, m),
           lambda x, n, m: lgamma((n + m) / 2) - lgamma(n / 2)
           - lgamma(m / 2) + n / 2 * log(n / m) + (n / 2 - 1) * log(x)
           - (n + m) / 2 * math.log1p(n * x / m) if x > 0 else -INF),
    "half_normal": (lambda g, s: abs(g.normal(0, s)),
                    lambda x, s: log(2) + normal_log(x, 0, s ** -2)
                    if x > 0 else -INF),
    "half_t": (lambda g, k, s: abs(g.standard_t(k)) * s,
               lambda x, k, s: log(2) + t_log(x, 0, s ** -2, k)
               if x > 0 else -INF),
    "half_cauchy": (lambda g, s: abs(g.standard_cauchy()) * s,
                    lambda x, s: log(2) + t_log(x, 0, s ** -2, 1)
                    if x > 0 else -INF),
    "rayleigh": (lambda g, s: s * math.sqrt(2 * g.exponential()),
                 lambda x, s: log(x) - 2 * log(s) - x * x / (2 * s * s)
                 if x > 0 else -INF),
    "gumbel": (lambda g, m, b: g.gumbel(m, b),
               lambda x, m, b: -log(b) - (x - m) / b
               - math.exp(-(x - m) / b)),
    "von_mises": (lambda g, m, k: m + g.vonmises(0, k),
                  lambda x, m, k: k * math.cos(x - m)
                  - log(2 * math.pi * float(np.i0(k)))
                  if abs(x - m) <= math.pi else -INF),
    "dnormmix": (normmix_draw, normmix_log),
    "dnchisqr": (lambda g, k, d: g.noncentral_chisquare(k, d),
                 lambda x, k, d: float(stats.ncx2.logpdf(x, k, d))
                 if x > 0 else -INF),
    "dnt": (lambda g, m, t, k: (m + g.normal() * t ** -0.5)
            / math.sqrt(g.chisquare(k) / k),
            lambda x, m, t, k: nct_log(x * t ** 0.5, k, m * t ** 0.5)
            + 0.5 * log(t)),
    "dgev": (lambda g, m, s, e: float(stats.genextreme.rvs(
        -e, m, s, random_state=g)),
        lambda x, m, s, e: float(stats.genextreme.logpdf(x, -e, m, s))),
    "dscaled.gamma": (
        lambda g, s, k: float(g.gamma(k / 2) / g.gamma(0.5) / (k * s * s)),
        lambda x, s, k: log(2) + t_log(x ** -0.5, 0, s ** -2, k)
        - log(2) - 1.5 * log(x) if x > 0 else -INF),
    "gig": (lambda g, p, a, b: float(stats.geninvgauss.rvs(
        p, math.sqrt(a * b), scale=math.sqrt(b / a), random_state=g)),
        lambda x, p, a, b: float(stats.geninvgauss.logpdf(
            x, p, math.sqrt(a * b), scale=math.sqrt(b / a)))),
    "root_gig": (lambda g, c, a, b: math.sqrt(SCALAR["gig"][0](
        g, c / 2, 2 * a, 2 * b)),
        lambda x, c, a, b: SCALAR["gig"][1](x * x, c / 2, 2 * a, 2 * b)
        + log(2 * x) if x > 0 else -INF),
    "modified_half_normal": (mhn_draw, mhn_log),
    "dbern": (lambda g, p: float(g.random() < p),
              lambda x, p: binomial_log(x, p, 1)),
    "dbin": (lambda g, p, n: float(g.binomial(int(n), p)), binomial_log),
    "dbin of a logit": (lambda g, e, n: float(g.binomial(int(n), ilogit(e))),
                        binomial_logit_log),
    "dpois": (lambda g, m: float(g.poisson(m)), poisson_log),
    "dnegbin": (lambda g, p, r: float(g.poisson(g.gamma(r) * (1 - p) / p)),
                negbin_log),
    "dgeom": (lambda g, p: float(g.geometric(p)),
              lambda x, p: log(p) + xlogy(x - 1, 1 - p)
              if x >= 1 else -INF),
    "dgeom0": (lambda g, p: float(g.geometric(p)) - 1,
               lambda x, p: log(p) + xlogy(x, 1 - p) if x >= 0 else -INF),
    "dgpar": (lambda g, m, s, e: m + s * (g.random() ** -e - 1) / e,
              gpar_log),
    "dcat": (lambda g, p: 1.0 + g.choice(len(p), p=p / np.sum(p)), cat_log),
    "dbetabin": (lambda g, a, b, n: float(g.binomial(int(n), g.beta(a, b))),
                 betabin_log),
    "dhyper": (lambda g, n1, n2, m, psi:
               float(g.choice(hyper_mass(n1, n2, m, psi)[0],
                              p=hyper_mass(n1, n2, m, psi)[1])), hyper_log),
    "dordered.logit": (lambda g, mu, c: 1 + count_below(g.logistic(mu), c),
                       ordered(ilogit)),
    "dordered.probit": (lambda g, mu, c: 1 + count_below(g.normal(mu), c),
                        ordered(phi)),
    "dinterval": (lambda g, t, c: count_below(t, c),
                  lambda x, t, c: 0.0 if count_below(t, c) == x and
                  all(np.diff(np.atleast_1d(c)) > 0) else -INF),
    "dconstraint": (lambda g, c: float(c != 0),
                    lambda x, c: 0.0 if (x > 0.5) == (c != 0) else -INF),
    "dsum": (lambda g, *a: float(sum(np.sum(v) for v in a)),
             lambda x, *a: 0.0 if abs(sum(np.sum(v) for v in a) - x) < 1e-6
             else -INF),
    "dround": (lambda g, t, d: round(t * 10 ** d) / 10 ** d,
               lambda x, t, d: 0.0 if abs(x - t) <= 0.5 * 10 ** -d * 1.0001
               else -INF),
}

VECTOR = {
    "dmnorm": (lambda g, m, o: g.multivariate_normal(m, np.linalg.inv(o)),
               mnorm_log),
    "dmnorm.vcov": (lambda g, m, s: g.multivariate_normal(m, s),
                    lambda x, m, s: mnorm_log(x, m, np.linalg.inv(s))),
    "dmt": (lambda g, m, o, k: m + g.multivariate_normal(
        np.zeros(len(m)), np.linalg.inv(o)) / math.sqrt(g.chisquare(k) / k),
        mt_log),
    "ddirch": (lambda g, a: g.dirichlet(a), dirch_log),
    "dmulti": (lambda g, p, n: g.multinomial(int(n), p / np.sum(p)) * 1.0,
               multi_log),
    "dwish": (wish_draw, wish_log),
    "dinvwish": (inverse_wish_draw, inverse_wish_log),
    "dscaled.wishart": (scaled_wish_draw, scaled_wish_log),
    "dlkj_corr_cholesky": (lkj_draw, lkj_log),
    "lkj_corr_cholesky of extent": (lambda g, eta, p: lkj_draw(g, eta, p).T,
                                    lambda x, eta, p:
                                    lkj_log(np.asarray(x).T, eta, p)),
    "lkj_corr of extent": (lkj_matrix_draw, lkj_matrix_log),
    "dcar_normal": (car_draw, car_log),
}

def scale(s):
    """A scale that is one, as squares forget the sign."""
    return s if s > 0 else math.nan


# modern name -> (BUGS name, its arguments)
MODERN = {
    "normal": ("dnorm", lambda m, s: (m, scale(s) ** -2)),
    "lognormal": ("dlnorm", lambda m, s: (m, scale(s) ** -2)),
    "student_t": ("dt", lambda k, m, s: (m, scale(s) ** -2, k)),
    "cauchy": ("dt", lambda m, s: (m, scale(s) ** -2, 1.0)),
    "gamma": ("dgamma", lambda a, b: (a, b)),
    "inverse_gamma": ("dinvgamma", lambda a, b: (a, b)),
    "exponential": ("dexp", lambda a: (a,)),
    "chi_square": ("dchisqr", lambda k: (k,)),
    "inv_chi_square": ("dinvgamma", lambda k: (k / 2, 0.5)),
    "scaled_inv_chi_square": ("dinvgamma",
                              lambda k, s: (k / 2, k * scale(s) ** 2 / 2)),
    "uniform": ("dunif", lambda a, b: (a, b)),
    "beta": ("dbeta", lambda a, b: (a, b)),
    "weibull": ("dweib of a scale", lambda a, s: (a, scale(s))),
    "laplace": ("ddexp", lambda m, s: (m, 1 / scale(s))),
    "logistic": ("dlogis", lambda m, s: (m, 1 / scale(s))),
    "pareto": ("dpar", lambda c, a: (a, c)),
    "bernoulli": ("dbern", lambda p: (p,)),
    "bernoulli_logit": ("dbin of a logit", lambda e: (e, 1)),
    "binomial": ("dbin", lambda n, p: (p, n)),
    "binomial_logit": ("dbin of a logit", lambda n, e: (e, n)),
    "poisson": ("dpois", lambda m: (m,)),
    "poisson_log": ("dpois", lambda e: (math.exp(e),)),
    "neg_binomial": ("dnegbin", lambda a, b: (b / (1 + b), a)),
    "neg_binomial_2": ("dnegbin", lambda m, k: (k / (k + m), k)),
    "neg_binomial_2_log": ("dnegbin", lambda e, k:
                           (k / (k + math.exp(e)), k)),
    "categorical": ("dcat", lambda p: (p,)),
    "ordered_logistic": ("dordered.logit", lambda e, c: (e, c)),
    "ordered_probit": ("dordered.probit", lambda e, c: (e, c)),
    "beta_binomial": ("dbetabin", lambda n, a, b: (a, b, n)),
    "multi_normal": ("dmnorm.vcov", lambda m, s: (m, s)),
    "multi_normal_cholesky": ("dmnorm.vcov", lambda m, f: (m, f @ f.T)),
    "lkj_corr": ("lkj_corr of extent", lambda eta, k: (eta, k)),
    "dlkj_corr": ("lkj_corr of extent", lambda eta, k: (eta, k)),
    "lkj_corr_cholesky": ("lkj_corr_cholesky of extent",
                          lambda eta, k: (eta, k)),
    "multi_normal_precision": ("dmnorm", lambda m, o: (m, o)),
    "multi_student_t": ("dmt", lambda k, m, s: (m, np.linalg.inv(s), k)),
    "dirichlet": ("ddirch", lambda a: (a,)),
    "multinomial": ("dmulti", lambda n, p: (p, n)),
    "wishart": ("dwish", lambda k, s: (np.linalg.inv(s), k)),
    "inv_wishart": ("dinvwish", lambda k, s: (s, k)),
}
ALL = {**SCALAR, **VECTOR}
DISCRETE = {"dbern", "dbin", "dbin of a logit", "dpois", "dnegbin", "dgeom",
            "dgeom0", "dcat", "dbetabin", "dhyper", "dordered.logit",
            "dordered.probit", "dinterval", "dconstraint"}


# the extent of the node is their last argument here
SIZED = {"lkj_corr", "dlkj_corr", "lkj_corr_cholesky"}


def bugs(name, args):
    """(BUGS name, arguments) of a distribution of either family of names."""
    if name in MODERN:
        other, put = MODERN[name]
        return other, put(*args)
    return name, args


def has_draws(name, args, low, high):
    """Whether a distribution with these parameters has any draw, between the
    bounds."""
    try:
        x = ALL[name][0](np.random.default_rng(1), *args)
        return low <= high and math.isfinite(float(ALL[name][1](x, *args)))
    except (ValueError, OverflowError, ZeroDivisionError, TypeError,
            np.linalg.LinAlgError):
        return False
