#!/usr/bin/env python3
"""Writes special_values.h, what test_special compares with: values of the
special functions from mpmath with 40 digits. Run by hand; needs mpmath.

    tests/unit/special_values.py | clang-format >tests/unit/special_values.h
"""
import random
from mpmath import *

mp.dps = 40
chance = random.Random(7)
rows = []


def spread(low, high):
    return float('%.4g' % exp(chance.uniform(float(log(low)), float(log(high)))))


def around(centre, sd):
    return float('%.6g' % (centre + chance.gauss(0, 1) * sd))


def record(name, value, *arguments):
    value = mpf(value)
    if 0 < abs(value) < mpf(10) ** -300:
        return
    rows.append('    {"%s", {%s}, %s},' % (
        name, ', '.join(repr(float(a)) for a in arguments), nstr(value, 19)))


def exact(*arguments):
    return [mpf(float(a)) for a in arguments]


def gamma_p(a, x):
    return gammainc(a, 0, x, regularized=True)


def gamma_q(a, x):
    return gammainc(a, x, inf, regularized=True)


def beta_i(a, b, x):
    return betainc(a, b, 0, x, regularized=True)


def beta_upper(a, b, x):
    return betainc(b, a, 0, 1 - x, regularized=True)


def t_p(k, t):
    tail = betainc(k / 2, mpf(1) / 2, 0, k / (k + t * t), regularized=True) / 2
    return tail if t < 0 else 1 - tail


def log_phi(x):
    return log(erfc(-x / sqrt(2)) / 2) if x < 0 else log1p(-erfc(x / sqrt(2)) / 2)


def solve(cdf, p, start):
    """The x > 0 with cdf(x) = p, by Newton in log x."""
    u = log(mpf(start))
    return exp(findroot(lambda v: log(cdf(exp(v))) - log(p), (u, u + mpf('1e-3')),
                        solver='secant', tol=mpf(10) ** -60))


for x in (1e-300, 1e-8, 0.1, 0.5, 0.999999, 1, 1.0000001, 1.4616, 1.99999, 2,
          2.5, 3, 7.99, 8, 8.01, 33.3, 1e5, 1e15, -0.5, -1.5, -2.4999, -33.25):
    record('lgamma', log(abs(gamma(mpf(x)))) if x < 1e4 else loggamma(mpf(x)), x)
for x in (1e-5, 0.3, 1, 1.4, 2, 5.5, 9.99, 10, 1e6, -0.5, -3.7):
    record('digamma', digamma(mpf(x)), x)
    record('trigamma', psi(1, mpf(x)), x)
for a, b in ((1e-4, 2), (0.5, 0.5), (3, 4), (7.5, 9), (1e5, 2), (1e6, 1e6),
             (1e-3, 1e7)):
    a, b = exact(a, b)
    record('log_beta', loggamma(a) + loggamma(b) - loggamma(a + b), a, b)
for n, k in ((5, 2), (100, 50), (1e6, 3), (1e9, 5e8), (7.5, 2.25)):
    n, k = exact(n, k)
    record('log_choose', loggamma(n + 1) - loggamma(k + 1) - loggamma(n - k + 1), n, k)
for x in (-37, -20, -8.5, -3, -1, -0.1, 0, 0.7, 3, 8):
    record('phi', ncdf(mpf(x)), x)
for x in (-1e5, -40, -13, -12.5, -11.9, -6.1, -5.9, -1, 0, 1, 5, 20):
    record('log_phi', log_phi(mpf(x)), x)
for p in (1e-300, 1e-100, 1e-20, 1e-5, 0.05, 0.074, 0.076, 0.3, 0.4999, 0.6, 0.93,
          0.99999):
    p = mpf(p)
    root = findroot(lambda z: log(erfc(-z / sqrt(2)) / 2) - log(p),
                    mpf(-30) if p < mpf(10) ** -50 else sqrt(2) * erfinv(2 * p - 1) if p > mpf(10) ** -20 else mpf(-9))
    record('probit', root, p)
for x in (-800, -40, -1, 0, 1e-9, 3, 40, 800):
    record('ilogit', 1 / (1 + exp(-mpf(x))), x)
    record('log1pexp', log1p(exp(mpf(x))), x)
    record('icloglog', -expm1(-exp(mpf(x))) if x < 100 else 1, x)
for x in (1e-10, 0.1, 0.69, 0.7, 5, 50):
    record('log1mexp', log(-expm1(-mpf(x))), x)

points = [(spread(1e-3, 300), spread(1e-4, 400)) for _ in range(40)]
for _ in range(40):
    a = spread(1, 1e5)
    points.append((a, max(1e-3, around(a, 4 * a ** 0.5))))
for a, x in points:
    record('gamma_p', gamma_p(*exact(a, x)), a, x)
    record('gamma_q', gamma_q(*exact(a, x)), a, x)
for _ in range(30):
    a, p = spread(0.05, 1e4), chance.choice([chance.random(), spread(1e-60, 1)])
    start = a if a > 1 else mpf(p) ** (1 / mpf(a))
    try:
        if p < 0.5:
            x = solve(lambda x: gamma_p(mpf(a), x), mpf(p), start)
        else:
            x = solve(lambda x: gamma_q(mpf(a), x), 1 - mpf(p), a + 1)
    except Exception:
        continue
    if x < mpf(10) ** 300 and abs(gamma_p(mpf(a), x) - p) < mpf(10) ** -25:
        record('gamma_quantile', x, a, p)

points = [(spread(0.01, 100), spread(0.01, 100), chance.random()) for _ in range(30)]
for _ in range(40):
    a, b = spread(1, 3000), spread(1, 3000)
    m = a / (a + b)
    points.append((a, b, around(m, 4 * (m * (1 - m) / (a + b)) ** 0.5)))
for a, b, x in points:
    if 0 < x < 1:
        a, b, x = exact(a, b, x)
        record('beta_i', beta_i(a, b, x), a, b, x)
for _ in range(25):
    a, b, x = exact(spread(0.1, 500), spread(0.1, 500), chance.random())
    p = beta_i(a, b, x)
    if mpf(10) ** -200 < p < mpf('0.9'):
        # p as a double, and x to match it, to first order
        rounded = mpf(float(p))
        density = x ** (a - 1) * (1 - x) ** (b - 1) / beta(a, b)
        record('beta_quantile', x + (rounded - p) / density, a, b, rounded)
for _ in range(30):
    k, t = exact(spread(0.1, 1e4), chance.gauss(0, 1) * spread(1e-2, 100))
    record('t_p', t_p(k, t), k, t)
    p = t_p(k, t)
    if mpf(10) ** -200 < p < mpf('0.9') and t != 0:
        rounded = mpf(float(p))
        density = 1 / (sqrt(k) * beta(mpf(1) / 2, k / 2)) * (1 + t * t / k) ** (-(k + 1) / 2)
        record('t_quantile', t + (rounded - p) / density, k, rounded)

for _ in range(30):
    n, x = exact(chance.choice([spread(1e-3, 300), 0, 0.5, 2]), spread(1e-6, 3000))
    record('log_bessel_k', log(besselk(n, x)), n, x)
    record('log_bessel_i', log(besseli(n, x)), n, x)
for _ in range(24):
    n, x = exact(chance.choice([spread(1e-3, 60), 0, 0.5, 1, 7]), spread(1e-2, 200))
    record('bessel_i', besseli(n, x), n, x)
    record('bessel_k', besselk(n, x), n, x)
    record('bessel_j', besselj(n, x), n, x)
    record('bessel_y', bessely(n, x), n, x)


def normal_pdf(z):
    return npdf(z)


H = mpf(1) / 2
for x, mu, tau in ((1.5, 1, 4), (-3, 0, 0.25), (40, 1, 1), (0.3, 0.2, 1e-4)):
    x, mu, tau = exact(x, mu, tau)
    z = (x - mu) * sqrt(tau)
    record('d_norm', sqrt(tau) * normal_pdf(z), x, mu, tau)
    record('p_norm', ncdf(z), x, mu, tau)
    record('d_logis', tau * exp(-tau * (x - mu)) / (1 + exp(-tau * (x - mu))) ** 2, x, mu, tau)
    record('p_logis', 1 / (1 + exp(-tau * (x - mu))), x, mu, tau)
    record('d_dexp', tau / 2 * exp(-tau * abs(x - mu)), x, mu, tau)
    w = tau * (x - mu)
    record('p_dexp', exp(w) / 2 if w < 0 else 1 - exp(-w) / 2, x, mu, tau)
    if x > 0:
        z = (log(x) - mu) * sqrt(tau)
        record('d_lnorm', sqrt(tau) * normal_pdf(z) / x, x, mu, tau)
        record('p_lnorm', ncdf(z), x, mu, tau)
    for k in (0.7, 4, 1e3):
        k = mpf(k)
        z = (x - mu) * sqrt(tau)
        record('d_t', sqrt(tau / k) / beta(H, k / 2) * (1 + z * z / k) ** (-(k + 1) / 2), x, mu, tau, k)
        record('p_t', t_p(k, z), x, mu, tau, k)
for p, mu, tau in ((0.2, 1, 4), (0.9, -2, 0.01)):
    p, mu, tau = exact(p, mu, tau)
    record('q_norm', mu + sqrt(2) * erfinv(2 * p - 1) / sqrt(tau), p, mu, tau)
    record('q_lnorm', exp(mu + sqrt(2) * erfinv(2 * p - 1) / sqrt(tau)), p, mu, tau)
    record('q_logis', mu + log(p / (1 - p)) / tau, p, mu, tau)
    record('q_dexp', mu + (log(2 * p) if p < H else -log(2 * (1 - p))) / tau, p, mu, tau)
for x, a, b in ((0.2, 0.5, 3), (0.999, 20, 1), (0.5, 400, 410), (1e-6, 0.01, 2)):
    x, a, b = exact(x, a, b)
    record('d_beta', x ** (a - 1) * (1 - x) ** (b - 1) / beta(a, b), x, a, b)
    record('p_beta', beta_i(a, b, x), x, a, b)
for x, r, l in ((0.2, 0.5, 3), (7, 20, 2), (1e4, 1e4, 1.01), (1e-6, 0.01, 2)):
    x, r, l = exact(x, r, l)
    record('d_gamma', exp(r * log(l) + (r - 1) * log(x) - l * x - loggamma(r)), x, r, l)
    record('p_gamma', gamma_p(r, l * x), x, r, l)
    b = mpf('1.7')
    b = mpf(float(b))
    y = (l * x) ** b
    record('d_gen_gamma', b * l ** (b * r) * x ** (b * r - 1) * exp(-y) / gamma(r) if r < 1e3
           else exp(log(b) + b * r * log(l) + (b * r - 1) * log(x) - y - loggamma(r)), x, r, l, b)
    record('p_gen_gamma', gamma_p(r, y), x, r, l, b)
    record('d_chisqr', exp((r / 2 - 1) * log(x) - x / 2 - r / 2 * log(2) - loggamma(r / 2)), x, r)
    record('p_chisqr', gamma_p(r / 2, x / 2), x, r)
    record('d_weib', r * l * x ** (r - 1) * exp(-l * x ** r) if x < 100 else 0, x, r, l)
    record('p_weib', -expm1(-l * x ** r) if x < 100 else 1, x, r, l)
    record('d_exp', l * exp(-l * x) if x < 100 else 0, x, l)
    record('p_exp', -expm1(-l * x), x, l)
    u = r * x / l
    record('d_f', (u / (1 + u)) ** (r / 2) * (1 / (1 + u)) ** (l / 2) / beta(r / 2, l / 2) / x, x, r, l)
    record('p_f', betainc(r / 2, l / 2, 0, u / (1 + u), regularized=True), x, r, l)
for x, a, c in ((3, 2, 1), (1.0001, 50, 1), (0.5, 2, 1)):
    x, a, c = exact(x, a, c)
    record('d_par', a * c ** a * x ** (-a - 1) if x >= c else 0, x, a, c)
    record('p_par', 1 - (c / x) ** a if x >= c else 0, x, a, c)
record('q_par', mpf(2) * mpf(0.25) ** (mpf(-1) / 3), 0.75, 3, 2)
record('q_exp', -log(mpf(0.25)) / 3, 0.75, 3)
record('q_weib', (-log(mpf(0.25)) / 3) ** (mpf(1) / 2), 0.75, 2, 3)
for x, l in ((0, 3), (5, 3), (5, 0.1), (1000, 1100), (10**6, 10**6 + 3000), (2.5, 3)):
    x, l = exact(x, l)
    whole = x == floor(x)
    record('d_pois', exp(x * log(l) - l - loggamma(x + 1)) if whole else 0, x, l)
    record('p_pois', gamma_q(floor(x) + 1, l) if x < 1e5 else
           ncdf(0) * 0 + nsum(lambda k: exp((x - k) * log(l) - l - loggamma(x - k + 1)), [0, 40000], method='d'), x, l)
for x, p, n in ((0, 0.3, 5), (5, 0.3, 5), (2, 0.01, 30), (480, 0.5, 1000), (900, 0.91, 1000)):
    x, p, n = exact(x, p, n)
    record('d_bin', binomial(n, x) * p ** x * (1 - p) ** (n - x), x, p, n)
    record('p_bin', beta_upper(x + 1, n - x, p) if x < n else 1, x, p, n)
for x, p, r in ((0, 0.3, 5), (12, 0.3, 0.5), (200, 0.05, 12), (3, 0.99, 2)):
    x, p, r = exact(x, p, r)
    record('d_negbin', gamma(x + r) / gamma(r) / factorial(x) * p ** r * (1 - p) ** x, x, p, r)
    record('p_negbin', beta_i(r, x + 1, p), x, p, r)
for x, n1, n2, m1, psi in ((2, 5, 7, 6, 1), (3, 5, 7, 6, 2.5), (40, 100, 90, 60, 1),
                           (25, 100, 90, 60, 0.5), (9, 10, 3, 11, 0.1)):
    def weight(k):
        return binomial(n1, k) * binomial(n2, m1 - k) * mpf(psi) ** k
    low, high = max(0, m1 - n2), min(n1, m1)
    total = fsum(weight(k) for k in range(low, high + 1))
    record('d_hyper', weight(x) / total, x, n1, n2, m1, psi)
    record('p_hyper', fsum(weight(k) for k in range(low, x + 1)) / total, x, n1, n2, m1, psi)
for x, k, d in ((3, 2, 1), (0.1, 5, 3), (200, 4, 90), (12, 7.5, 0.01)):
    x, k, d = exact(x, k, d)
    def mixed(f):
        return nsum(lambda j: exp(-d / 2 + j * log(d / 2) - loggamma(j + 1)) * f(k + 2 * j), [0, 400], method='d')
    record('d_nchisqr', mixed(lambda n: exp((n / 2 - 1) * log(x) - x / 2 - n / 2 * log(2) - loggamma(n / 2))), x, k, d)
    record('p_nchisqr', mixed(lambda n: gamma_p(n / 2, x / 2)), x, k, d)
# far below the mean the largest terms are far from that of the largest weight
for x, k, d in ((1.971486524478184, 7, 300), (2501.883498, 1, 3000), (1e-9, 0.3, 30), (20, 2000, 4),
                (39000, 3, 41000), (390000, 3, 410000), (1001000, 3, 1000000)):
    x, k, d = exact(x, k, d)
    last = int(d / 2 + 30 * sqrt(d) + 60)
    p = gamma_p(k / 2 + last, x / 2)
    term = exp((k / 2 + last) * log(x / 2) - x / 2 - loggamma(k / 2 + last + 1))
    weight = exp(last * log(d / 2) - d / 2 - loggamma(last + 1))
    total = weight * p
    for j in range(last, 0, -1):
        term *= (k / 2 + j) / (x / 2)
        weight *= j / (d / 2)
        p += term
        total += weight * p
    record('p_nchisqr', total, x, k, d)

print('/* Written by special_values.py. */')
print('static const struct special_value special_values[] = {')
print('\n'.join(rows))
print('};')
