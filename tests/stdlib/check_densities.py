#!/usr/bin/env python3
"""Every distribution of stdlib: the log density has total mass 1 and agrees
with scipy to 1e-10; `statistics` are the log density's; `solve` inverts them;
`cdf`, `quantile`, `mean` and `mode` are the density's; `draw` and
`draw_between` follow it (Kolmogorov-Smirnov or chi-square, fixed seeds)."""
import sys
import warnings

import library as L
from library import math, np, scipy, sp, st

FAILURES = L.Failures()
POINTS = 5     # random parameter values per distribution
DRAWS = 4000   # draws per parameter value, for the first two of these
P_VALUE = 1e-5  # some 200 tests: a right file fails one in 500 seeds
IMPROPER = {"dflat", "dhalfflat", "power_law", "dcar_normal",
            "dcar_zero_mean", "car.normal", "dloglik"}
OBSERVABLE = {"dround", "dinterval", "dsum", "dconstraint", "dpick"}


def spd(rng, k=3):
    a = rng.normal(size=(k, k + 3))
    return a @ a.T / k


def cutpoints(rng):
    return np.sort(rng.normal(0, 2, size=4))


def intensities(rng):
    q = rng.gamma(1.0, size=(3, 3))
    np.fill_diagonal(q, 0)
    return q - np.diag(q.sum(1))


# Parameters that need more than a positive random number, by entry and name.
WHOLE = lambda low, high: lambda rng: float(rng.integers(low, high + 1))
PARAMETERS = {
    "mu": lambda rng: rng.normal(0, 1.5), "p": lambda rng: rng.beta(2, 2),
    "eta": lambda rng: rng.normal(0, 1), "n": WHOLE(1, 12),
    "pi": lambda rng: rng.gamma(2.0, size=4),
    "alpha[]": lambda rng: 0.3 + rng.gamma(2.0, size=4),
    "mu[]": lambda rng: rng.normal(size=3), "c[]": cutpoints,
    "tau[]": lambda rng: 0.2 + rng.gamma(2.0, size=3),
    "s[]": lambda rng: 0.2 + rng.gamma(2.0, size=3),
    "[,]": spd,
}
SPECIAL = {
    "dhyper": {"n1": WHOLE(2, 12), "n2": WHOLE(2, 12), "m1": WHOLE(1, 9)},
    "hypergeometric": {"n": WHOLE(1, 9), "a": WHOLE(2, 12), "b": WHOLE(2, 12)},
    "dwish": {"k": lambda rng: 2.5 + rng.gamma(3.0)},
    "dinvwish": {"k": lambda rng: 2.5 + rng.gamma(3.0)},
    "wishart": {"nu": lambda rng: 2.5 + rng.gamma(3.0)},
    "inv_wishart": {"nu": lambda rng: 2.5 + rng.gamma(3.0)},
    "dunif": {"a": lambda rng: rng.normal(), "b": lambda rng: 3 + rng.gamma(1)},
    "uniform": {"a": lambda rng: rng.normal(),
                "b": lambda rng: 3 + rng.gamma(1)},
    "power_gamma": {"p": lambda rng: rng.choice([-2.0, -1.0, 0.5, 2.0]),
                    "c": lambda rng: rng.choice([-1, 1]) * (0.3 +
                                                            rng.gamma(2.0))},
    "gig": {"p": lambda rng: rng.normal(0, 2)},
    "modified_half_normal": {
        "p": lambda rng: rng.choice([-2.0, -1.0, 0.5, 1.0, 2.0]),
        "c": lambda rng: rng.choice([-1, 1]) * (0.3 + rng.gamma(2.0)),
        "b": lambda rng: rng.normal(0, 2)},
    "df": {"n": lambda rng: 1 + rng.gamma(3.0)},
    "dnormmix": {"pi": lambda rng: rng.gamma(2.0, size=3)},
    "dsample": {"k": WHOLE(1, 3)},
    "dmstate": {"initial": WHOLE(1, 3), "Lambda": intensities},
    "dmulti": {"n": WHOLE(1, 6)}, "multinomial": {"n": WHOLE(1, 6)},
    "dlkj_corr_cholesky": {"p": lambda rng: 2.0,
                           "eta": lambda rng: 0.6 + rng.gamma(2.0)},
    "dgev": {"eta": lambda rng: rng.choice([-0.4, 0.0, 0.3])},
    "dgpar": {"eta": lambda rng: rng.choice([-0.4, 0.0, 0.3])},
    "von_mises": {"mu": lambda rng: rng.uniform(-3, 3)},
    "dnt": {"mu": lambda rng: rng.normal()},
    "dcar_proper": {}, "poisson_log": {"eta": lambda rng: rng.normal()},
}


def random_parameters(entry, rng):
    """Values that satisfy `require`, of the entry and of what it stands for."""
    for _ in range(1000):
        v = []
        for name, extents in entry.parameters:
            suffix = {0: "", 1: "[]", 2: "[,]"}[len(extents)]
            make = (SPECIAL.get(entry.name, {}).get(name)
                    or PARAMETERS.get(name + suffix)
                    or PARAMETERS.get(name if len(extents) < 2 else suffix)
                    or PARAMETERS.get(suffix)
                    or (lambda rng: 0.3 + rng.gamma(2.0)))
            v.append(make(rng))
        canonical, w = L.canonical(entry, v)
        if L.allowed(entry, v) and L.allowed(canonical, w):
            return v
    raise ValueError(f"no parameters found for {entry.name}")


def t(mu, tau, k):
    return st.t(k, mu, tau ** -0.5)


# Frozen scipy distributions of the canonical entries.
SCIPY = {
    "dnorm": lambda mu, tau: st.norm(mu, tau ** -0.5),
    "dgamma": lambda r, l: st.gamma(r, scale=1 / l),
    "gig": lambda p, a, b: st.geninvgauss(p, math.sqrt(a * b),
                                          scale=math.sqrt(b / a)),
    "dexp": lambda l: st.expon(scale=1 / l), "dbeta": st.beta,
    "dbern": st.bernoulli, "dbin": lambda p, n: st.binom(n, p),
    "dpois": st.poisson, "dunif": lambda a, b: st.uniform(a, b - a),
    "dcat": lambda p: st.rv_discrete(values=(1 + np.arange(len(p)),
                                             p / p.sum())),
    "dlnorm": lambda mu, tau: st.lognorm(tau ** -0.5, scale=math.exp(mu)),
    "dt": t, "ddexp": lambda mu, tau: st.laplace(mu, 1 / tau),
    "dnegbin": lambda p, r: st.nbinom(r, p),
    "dinvgamma": lambda r, b: st.invgamma(r, scale=b),
    "half_normal": lambda s: st.halfnorm(scale=s),
    "half_cauchy": lambda s: st.halfcauchy(scale=s),
    "df": st.f,
    "dgen.gamma": lambda r, l, b: st.gengamma(r, b, scale=1 / l),
    "dlogis": lambda mu, tau: st.logistic(mu, 1 / tau),
    "dnchisqr": st.ncx2, "dpar": lambda a, c: st.pareto(a, scale=c),
    "dnt": lambda mu, tau, k: st.nct(k, mu * math.sqrt(tau),
                                     scale=tau ** -0.5),
    "dweib": lambda v, l: st.weibull_min(v, scale=l ** (-1 / v)),
    "dgeom": st.geom, "dgeom0": lambda p: st.geom(p, loc=-1),
    "dbetabin": lambda a, b, n: st.betabinom(n, a, b),
    "dhyper": lambda n1, n2, m1, psi: st.nchypergeom_fisher(
        int(n1 + n2), int(n1), int(m1), psi),
    "dmstate": lambda i, t, q: st.rv_discrete(values=(
        np.arange(1, 4), scipy.linalg.expm(t * q)[int(i) - 1])),
    "gumbel": st.gumbel_r, "von_mises": lambda mu, k: st.vonmises(k, mu),
    "dgev": lambda mu, s, eta: st.genextreme(-eta, mu, s),
    "dgpar": lambda mu, s, eta: st.genpareto(eta, mu, s),
    "ddirch": st.dirichlet,
    "dmulti": lambda p, n: st.multinomial(int(n), p / p.sum()),
    "dmnorm": lambda mu, o: st.multivariate_normal(mu, np.linalg.inv(o)),
    "dmt": lambda mu, o, k: st.multivariate_t(mu, np.linalg.inv(o), k),
    "dwish": lambda r, k: st.wishart(k, np.linalg.inv(r)),
    "dinvwish": lambda s, k: st.invwishart(k, s),
}
# Written forms whose parameters another program documents.
WRITTEN = {
    "normal": st.norm, "dchisqr": st.chi2, "chi_square": st.chi2,
    "gamma": lambda a, b: st.gamma(a, scale=1 / b),
    "inverse_gamma": lambda a, b: st.invgamma(a, scale=b),
    "student_t": lambda nu, mu, s: st.t(nu, mu, s), "cauchy": st.cauchy,
    "laplace": st.laplace, "binomial": st.binom,
    "lognormal": lambda mu, s: st.lognorm(s, scale=math.exp(mu)),
    "neg_binomial_2": lambda mu, phi: st.nbinom(phi, phi / (mu + phi)),
    "neg_binomial": lambda a, b: st.nbinom(a, b / (1 + b)),
    "weibull": lambda a, s: st.weibull_min(a, scale=s),
    "pareto": lambda m, a: st.pareto(a, scale=m), "logistic": st.logistic,
    "rayleigh": lambda s: st.rayleigh(scale=s),
    "inv_chi_square": lambda nu: st.invgamma(nu / 2, scale=0.5),
    "multi_normal": st.multivariate_normal,
    "wishart": st.wishart, "inv_wishart": st.invwishart,
    "hypergeometric": lambda n, a, b: st.hypergeom(int(a + b), int(a), int(n)),
    "beta_binomial": st.betabinom, "geometric": lambda p: st.geom(p, loc=-1),
    "multi_student_t": lambda nu, mu, s: st.multivariate_t(mu, s, nu),
}


def integrate(f, lower, upper, middle):
    """Integral of f from lower to upper, split about `middle`."""
    total = 0.0
    cuts = [lower]
    for d in (-30, -8, -2, -0.5, -0.05, 0, 0.05, 0.5, 2, 8, 30):
        if lower < middle + d < upper:
            cuts.append(middle + d)
    cuts.append(upper)
    for a, b in zip(cuts, cuts[1:]):
        if math.isfinite(b) and math.isfinite(a):
            # x = a + (b - a) u^2 (3 - 2u) tames powers at either end
            g = lambda u, a=a, h=b - a: f(a + h * u * u * (3 - 2 * u)) * (
                6 * h * u * (1 - u))
            total += L.scipy.integrate.quad(g, 0, 1, limit=300, epsabs=1e-12,
                                            epsrel=1e-10)[0]
        else:
            total += L.scipy.integrate.quad(f, a, b, limit=300, epsabs=1e-12,
                                            epsrel=1e-10)[0]
    return total


class Scalar:
    """One scalar distribution at one parameter value."""

    def __init__(self, entry, v):
        self.entry, self.v = entry, v
        self.canonical, self.w = L.canonical(entry, v)
        self.kind, self.lower, self.upper = L.support(entry, v)
        make = SCIPY.get(self.canonical.name)
        self.scipy = make(*self.w) if make else None

    def density(self, x):
        d = L.log_density(self.entry, self.v, x)
        return math.exp(d) if d < 700 else math.inf

    def atoms(self):
        top = self.upper if math.isfinite(self.upper) else self.lower + 3000
        return np.arange(self.lower, top + 1)

    def expect(self, f, lower=None, upper=None):
        lower = self.lower if lower is None else lower
        upper = self.upper if upper is None else upper
        if self.kind == "integer":
            return sum(f(x) * self.density(x) for x in self.atoms()
                       if lower <= x <= upper)
        return integrate(lambda x: f(x) * self.density(x), lower, upper,
                         self.middle())

    def middle(self):
        m = self.at("quantile", p=0.5)
        if m is None or not math.isfinite(m):
            m = self.at("mean")
        if m is None or not self.lower < m < self.upper:
            m = 0.0 if self.lower == -math.inf else self.lower + 1
        return m

    def at(self, keyword, **more):
        return L.at(self.entry, keyword, self.v, **more)

    def points(self, rng, n):
        """Points where there is mass."""
        if self.kind == "integer":
            p = np.array([self.density(x) for x in self.atoms()])
            return [float(x) for x in rng.choice(self.atoms(), n,
                                                 p=p / p.sum())]
        out = []
        for u in rng.uniform(0.02, 0.98, n):
            x = self.at("quantile", p=float(u))
            if x is None and math.isfinite(self.lower + self.upper):
                x = self.lower + u * (self.upper - self.lower)
            elif x is None:
                x = self.middle() * math.exp(rng.normal(0, 0.7)) \
                    if self.lower == 0 else self.middle() + rng.normal()
            out.append(float(x))
        return out


def where(entry, v):
    return f"{entry.name} at {[np.round(x, 3).tolist() for x in v]}"


def check_mass(d, name):
    if d.entry.name not in IMPROPER:
        FAILURES.near(d.expect(lambda x: 1.0), 1, 2e-7, f"{name}: total mass")


def check_scipy(d, name, rng):
    frozen = [f for f in (d.scipy, WRITTEN[d.entry.name](*d.v)
                          if d.entry.name in WRITTEN else None) if f]
    for f in frozen:
        for x in d.points(rng, 4):
            log = f.logpmf(x) if d.kind == "integer" else f.logpdf(x)
            # scipy's own noncentral and rv_discrete densities are less exact
            FAILURES.near(L.log_density(d.entry, d.v, x), log, 1e-10,
                          f"{name}: log density at {x}")


def check_statistics(d, name, rng):
    items = d.canonical.clauses.get("statistics")
    if not items or d.canonical is not d.entry:
        return
    env = L.bind(d.canonical, d.w)
    s = {f"s{i + 1}": L.evaluate(value, env)
         for i, (_, value) in enumerate(items)}
    rest = []
    for x in d.points(rng, 8):
        inner = dict(env, x=x)
        linear = sum(s[f"s{i + 1}"] * L.evaluate(label, inner)
                     for i, (label, _) in enumerate(items))
        rest.append(L.evaluate(d.canonical.value("logdensity"), inner)
                    - linear)
    for r in rest:
        FAILURES.near(r, rest[0], 1e-9, f"{name}: statistics leave {rest[:3]}")
    exponent = {k: v for k, v in env.items() if k == "p"
                and d.canonical.name == "power_gamma"}
    for label, value in d.canonical.clauses["solve"]:
        FAILURES.near(L.evaluate(value, {**s, **exponent}), env[label[1]], 1e-9,
                      f"{name}: solve {label[1]}")


def check_cdf(d, name, rng):
    if d.at("cdf", x=d.points(rng, 1)[0]) is None:
        return
    xs = sorted(d.points(rng, 3))
    if d.lower > -math.inf:
        FAILURES.near(d.at("cdf", x=d.lower - 1), 0, 0, f"{name}: cdf below")
    if d.upper < math.inf:
        FAILURES.near(d.at("cdf", x=d.upper + 1), 1, 0, f"{name}: cdf above")
    if d.kind == "integer":
        for x in xs:
            FAILURES.near(d.at("cdf", x=x), d.expect(lambda y: 1.0, upper=x),
                          1e-9, f"{name}: cdf at {x}")
            inside = 0.5 * (d.at("cdf", x=x) + d.at("cdf", x=x - 1))
            q = d.at("quantile", p=inside)
            FAILURES.check(q is None or q == x, f"{name}: quantile({inside})")
        return
    for a, b in zip(xs, xs[1:]):
        FAILURES.near(d.at("cdf", x=b) - d.at("cdf", x=a),
                      integrate(d.density, a, b, 0.5 * (a + b)), 1e-8,
                      f"{name}: cdf over ({a}, {b})")
    FAILURES.near(d.at("cdf", x=xs[0]), d.expect(lambda y: 1.0, upper=xs[0]),
                  3e-7, f"{name}: cdf up to {xs[0]}")
    for x in xs:
        p = d.at("cdf", x=x)
        q = d.at("quantile", p=p)
        if q is not None:
            FAILURES.near(q, x, 1e-7, f"{name}: quantile({p})")


def check_mean(d, name):
    stated = d.at("mean")
    if stated is None or d.entry.name in IMPROPER:
        return
    if d.scipy is not None:
        mean = float(d.scipy.mean())
        if not math.isfinite(mean):
            return  # then it is only a starting value
    else:
        mean = d.expect(lambda x: x)
    FAILURES.near(stated, mean, 1e-6, f"{name}: mean")


def check_mode(d, name):
    mode = d.at("mode")
    if mode is None:
        return
    best = d.density(mode) if mode > d.lower else d.density(mode + 1e-9)
    for step in (0.01, 0.1, 0.5):
        for x in (mode - step, mode + step):
            if d.lower < x < d.upper:
                FAILURES.check(d.density(x) <= best * (1 + 1e-12),
                               f"{name}: mode {mode}, denser at {x}")


def check_draws(d, name, rng):
    if d.canonical.value("draw") is None or d.canonical.clauses.get(
            "observable") is not None:
        return
    L.DRAWS = L.draws(rng)
    try:
        sample = np.array([d.at("draw") for _ in range(DRAWS)], dtype=float)
    except NameError:
        return  # a C function that numpy has no counterpart of
    compare_sample(d, sample, d.lower, d.upper, name + ": draw")
    if d.canonical.value("draw_between") is None:
        return
    a, b = np.quantile(sample, [0.3, 0.9])
    sample = np.array([d.at("draw_between", lower=float(a), upper=float(b))
                       for _ in range(DRAWS)], dtype=float)
    FAILURES.check(bool(np.all((sample >= a) & (sample <= b))),
                   f"{name}: draw_between leaves ({a}, {b})")
    compare_sample(d, sample, float(a), float(b), name + ": draw_between")


def compare_sample(d, sample, lower, upper, message):
    if d.kind == "integer":
        values = d.atoms()
        p = np.array([d.density(x) for x in values])
        order = np.argsort(-p)
        keep = order[p[order] * len(sample) > 8]
        seen = np.array([np.sum(sample == values[k]) for k in keep], float)
        rest = 1 - p[keep].sum()
        seen = np.append(seen, len(sample) - seen.sum())
        expected = np.append(p[keep], max(rest, 1e-300)) * len(sample)
        if expected[-1] < 8:
            seen, expected = seen[:-1], expected[:-1]
            expected *= seen.sum() / expected.sum()
        value = st.chisquare(seen, expected).pvalue if len(seen) > 1 else 1.0
    else:
        x = np.sort(sample)
        inner = np.quantile(x, np.linspace(0.01, 0.99, 60))
        if d.at("cdf", x=float(inner[0])) is not None:
            low = d.at("cdf", x=lower) if lower > d.lower else 0.0
            high = d.at("cdf", x=upper) if upper < d.upper else 1.0
            F = [(d.at("cdf", x=float(q)) - low) / (high - low) for q in inner]
        else:
            total = integrate(d.density, lower, upper, d.middle())
            F = np.cumsum([integrate(d.density, a, b, 0.5 * (a + b))
                           for a, b in zip([lower, *inner], inner)]) / total
        seen = np.searchsorted(x, inner, side="right") / len(x)
        distance = np.max(np.abs(seen - np.array(F)))
        value = st.kstwobign.sf(distance * math.sqrt(len(x)))
    FAILURES.check(value > P_VALUE, f"{message}: p = {value:.2g}")


def check_scalar(entry, v, rng, with_draws):
    d, name = Scalar(entry, v), where(entry, v)
    check_mass(d, name)
    check_scipy(d, name, rng)
    check_statistics(d, name, rng)
    if entry.name in IMPROPER:
        return
    check_cdf(d, name, rng)
    check_mean(d, name)
    check_mode(d, name)
    if with_draws:
        check_draws(d, name, rng)


def random_value(entry, v, rng):
    """A point of a multivariate distribution's support."""
    word = L.support(entry, v)[0]
    canonical, w = L.canonical(entry, v)
    if word.startswith("correlation"):
        S = spd(rng, 2)
        sd = np.sqrt(np.diag(S))
        R = S / np.outer(sd, sd)
        if word == "correlation":
            return R
        L_ = np.linalg.cholesky(R)
        return L_ if word == "correlation_cholesky_lower" else L_.T
    K = next(np.shape(x)[0] for x in w if np.ndim(x))
    if word == "simplex":
        return rng.dirichlet(np.ones(K))
    if word == "counts":
        n = int(w[-1])
        if canonical.name == "dsample":
            return (rng.permutation(K) < n).astype(float)
        return rng.multinomial(n, np.ones(K) / K).astype(float)
    if word == "positive_definite":
        return spd(rng, K)
    return rng.normal(size=K)


def check_vector(entry, v, rng):
    name = where(entry, v)
    canonical, w = L.canonical(entry, v)
    xs = [random_value(entry, v, rng) for _ in range(5)]
    for table, key, values in ((SCIPY, canonical.name, w),
                               (WRITTEN, entry.name, v)):
        if key in table:
            f = table[key](*values)
            for x in xs:
                log = f.logpmf(x) if hasattr(f, "logpmf") else f.logpdf(x)
                FAILURES.near(L.log_density(entry, v, x), log, 1e-10,
                              f"{name}: log density at {x}")
    items = canonical.clauses.get("statistics")
    if items and canonical is entry:
        check_vector_statistics(entry, w, xs, name)


def check_vector_statistics(entry, w, xs, name):
    """The statistics are sums over the free indices of their labels."""
    env = L.bind(entry, w)
    variable = entry.over[0]
    indices = [L.free_names(label, {**env, variable: 0}, [])
               for label, _ in items_of(entry)]
    s = {}
    for i, (_, value) in enumerate(items_of(entry)):
        K = int(env["K"])
        s[f"s{i + 1}"] = L.evaluate(value, env) if not indices[i] else np.array(
            [L.evaluate(value, e) for e in L.every_index(value, env,
                                                         indices[i])]
        ).reshape([K] * len(indices[i]))
    rest = []
    for x in xs:
        total = L.evaluate(entry.value("logdensity"), {**env, variable: x})
        for i, (label, _) in enumerate(items_of(entry)):
            values = [L.evaluate(label, e) for e in L.every_index(
                label, {**env, variable: x}, indices[i])]
            total -= float(np.sum(np.ravel(s[f"s{i + 1}"]) * values))
        rest.append(total)
    for r in rest:
        FAILURES.near(r, rest[0], 1e-9, f"{name}: statistics leave {rest}")
    check_vector_solve(entry, env, s, name)


def items_of(entry):
    return entry.clauses["statistics"]


def check_vector_solve(entry, env, s, name):
    solved = {"K": env["K"], **s}
    waiting = list(entry.clauses["solve"])
    while waiting:  # an item may use another's result
        label, value = waiting.pop(0)
        needs = [n for n in L.free_names(value, solved, [])
                 if n in dict(entry.parameters)]
        if needs:
            waiting.append((label, value))
            continue
        names = [i[1] for i in label[2]]
        found = np.array([L.evaluate(value, e) for e in L.every_index(
            value, solved, names)]).reshape([int(env["K"])] * len(names)) \
            if names else L.evaluate(value, solved)
        solved[label[1]] = found
        FAILURES.check(bool(np.allclose(found, env[label[1]], rtol=1e-8,
                                        atol=1e-10)),
                       f"{name}: solve {label[1]}: {found}")


def check_subsets():
    """dsample sums to 1 over all subsets; LKJ for two variables integrates
    to 1; dscaled.wishart of extent 1 is dscaled.gamma, and its mixture over
    the scales is right; dcar_proper is the normal that it says."""
    rng = np.random.default_rng(5)
    get = L.LIBRARY["distribution"]
    pi = rng.gamma(2.0, size=5)
    total = sum(math.exp(L.log_density(get["dsample"], [pi, 2.0], np.array(
        [float(i in (a, b)) for i in range(5)])))
        for a in range(5) for b in range(a))
    FAILURES.near(total, 1, 1e-10, "dsample: total mass")

    for eta in (0.7, 1.0, 3.2):
        f = lambda u: math.exp(L.log_density(
            get["dlkj_corr_cholesky"], [eta, 2.0],
            np.array([[1, u], [0, math.sqrt(1 - u * u)]])))
        FAILURES.near(integrate(f, -1, 1, 0), 1, 1e-7,
                      f"dlkj_corr_cholesky({eta}, 2): total mass")
        lower = lambda u: math.exp(L.log_density(
            get["lkj_corr_cholesky"], [eta],
            np.array([[1, 0], [u, math.sqrt(1 - u * u)]])))
        FAILURES.near(integrate(lower, -1, 1, 0), 1, 1e-7,
                      f"lkj_corr_cholesky({eta}): total mass")
        whole = lambda u: math.exp(L.log_density(
            get["lkj_corr"], [eta], np.array([[1, u], [u, 1]])))
        FAILURES.near(integrate(whole, -1, 1, 0), 1, 1e-7,
                      f"lkj_corr({eta}): total mass")

    for x in (0.3, 2.0):
        FAILURES.near(
            L.log_density(get["dscaled.wishart"], [np.array([1.7]), 2.5],
                          np.array([[x]])),
            L.log_density(get["dscaled.gamma"], [1.7, 2.5], x), 1e-12,
            "dscaled.wishart of extent 1")
    check_scaled_wishart(get, rng)
    check_car(get, rng)


def check_scaled_wishart(get, rng):
    """Mean of Wishart densities over a_j ~ gamma(1/2, 1/s_j^2)."""
    s, df, x = np.array([0.8, 1.5]), 2.0, np.array([[1.0, 0.3], [0.3, 0.7]])
    def inner(b1, b2):
        R = 2 * df * np.diag([b1, b2])
        return math.exp(L.log_density(get["dwish"], [R, df + 1], x)) * \
            st.gamma(0.5, scale=s[0] ** 2).pdf(b1) * \
            st.gamma(0.5, scale=s[1] ** 2).pdf(b2)
    total = L.scipy.integrate.dblquad(
        lambda u, v: inner(u * u, v * v) * 4 * u * v, 0, 5, 0, 5,
        epsabs=1e-10)[0]
    FAILURES.near(math.log(total),
                  L.log_density(get["dscaled.wishart"], [s, df], x), 1e-7,
                  "dscaled.wishart as a mixture")


def check_car(get, rng):
    """On a path of four areas, with equal weights."""
    neighbours = [[2], [1, 3], [2, 4], [3]]
    adj = np.array([float(j) for n in neighbours for j in n])
    num = np.array([float(len(n)) for n in neighbours])
    C = np.array([1 / len(n) for n in neighbours for _ in n])
    M, mu, x = 1 / num, rng.normal(size=4), rng.normal(size=4)
    W = np.zeros((4, 4))
    for i, n in enumerate(neighbours):
        for j in n:
            W[i, j - 1] = 1 / len(n)
    Q = 1.7 * np.diag(num) @ (np.eye(4) - 0.6 * W)
    FAILURES.near(
        L.log_density(get["dcar_proper"], [mu, C, adj, num, M, 1.7, 0.6], x),
        st.multivariate_normal(mu, np.linalg.inv(Q)).logpdf(x), 1e-10,
        "dcar_proper")
    squares = sum((x[i] - x[j - 1]) ** 2 for i, n in enumerate(neighbours)
                  for j in n if j - 1 > i)
    FAILURES.near(
        L.log_density(get["dcar_normal"], [adj, adj * 0 + 1, num, 1.7], x),
        1.5 * math.log(1.7) - 0.5 * 1.7 * squares, 1e-12, "dcar_normal")
    FAILURES.near(
        L.log_density(get["dcar_zero_mean"],
                      [adj, adj * 0 + 1, num, 1.7, 2.0, 1.0], x),
        math.log(1.7) - 0.5 * 1.7 * squares - 5e5 * x.mean() ** 2, 1e-12,
        "dcar_zero_mean")
    FAILURES.near(
        L.log_density(get["car.normal"], [adj, adj * 0 + 1, num, 1.7], x),
        1.5 * math.log(1.7) - 0.5 * 1.7 * squares - 5e5 * x.mean() ** 2, 1e-12,
        "car.normal")


def check_observables():
    """What confines a parent is where the density is 1."""
    get = L.LIBRARY["distribution"]
    c = np.array([-1.0, 0.5, 2.0])
    for x in range(4):
        v = [0.0, c]
        env = {**L.bind(get["dinterval"], v), "x": float(x)}
        bounds = get["dinterval"].clauses["confine"][0][1][2]
        lower, upper = (L.evaluate(b, env) for b in bounds)
        for t in (-3.0, -0.2, 1.0, 2.5):
            inside = L.log_density(get["dinterval"], [t, c], float(x)) == 0
            FAILURES.check(inside == (lower < t <= upper),
                           f"dinterval: x = {x}, t = {t}")
    for t, x, possible in ((1.234, 1.2, True), (1.27, 1.2, False)):
        FAILURES.check((L.log_density(get["dround"], [t, 1.0], x) == 0)
                       == possible, f"dround: {t} to {x}")
    FAILURES.check(L.log_density(get["dsum"], [np.array([1.0, 2.5])], 3.5) == 0,
                   "dsum: 1 + 2.5")


# The other names of arguments: NIMBLE's parametrisations, as its manual
# defines them, at one value of each name. Means and standard deviations are
# their own check.
AT = {"mean": 0.4, "sd": 0.2, "tau": 1.7, "var": 0.6, "prob": 0.3, "size": 6.0,
      "shape": 2.2, "rate": 0.8, "scale": 1.3, "shape1": 1.5, "shape2": 2.5,
      "df": 5.0, "location": 0.5, "min": -1.0, "max": 2.5, "meanlog": 0.3,
      "taulog": 1.6, "sdlog": 0.7, "varlog": 0.5, "lambda": 1.9, "mu": 0.2,
      "sigma": 1.4, "sigma2": 0.9}
NAMED = {
    "dbern prob": lambda p: st.bernoulli(p),
    "dbin prob size": lambda p, n: st.binom(n, p),
    "dnegbin prob size": lambda p, n: st.nbinom(n, p),
    "dbeta shape1 shape2": st.beta, "dchisqr df": st.chi2,
    "ddexp location rate": lambda m, r: st.laplace(m, 1 / r),
    "ddexp location scale": st.laplace,
    "ddexp location var": lambda m, v: st.laplace(m, math.sqrt(v / 2)),
    "dexp rate": lambda r: st.expon(scale=1 / r),
    "dexp scale": lambda s: st.expon(scale=s),
    "dgamma shape rate": lambda a, r: st.gamma(a, scale=1 / r),
    "dgamma shape scale": lambda a, s: st.gamma(a, scale=s),
    "dinvgamma shape scale": lambda a, s: st.invgamma(a, scale=s),
    "dinvgamma shape rate": lambda a, r: st.invgamma(a, scale=1 / r),
    "dlnorm meanlog taulog": lambda m, t: st.lognorm(t ** -0.5, 0, np.exp(m)),
    "dlnorm meanlog sdlog": lambda m, s: st.lognorm(s, 0, np.exp(m)),
    "dlnorm meanlog varlog": lambda m, v: st.lognorm(v ** 0.5, 0, np.exp(m)),
    "dlogis location rate": lambda m, r: st.logistic(m, 1 / r),
    "dlogis location scale": st.logistic,
    "dnorm mean tau": lambda m, t: st.norm(m, t ** -0.5),
    "dnorm mean var": lambda m, v: st.norm(m, v ** 0.5),
    "dt mu tau df": t, "dt mu sigma df": lambda m, s, k: st.t(k, m, s),
    "dt mu sigma2 df": lambda m, v, k: st.t(k, m, v ** 0.5),
    "dunif min max": lambda a, b: st.uniform(a, b - a),
    "dweib shape lambda": lambda v, l: st.weibull_min(v, scale=l ** (-1 / v)),
    "dweib shape scale": lambda v, s: st.weibull_min(v, scale=s),
    "dweib shape rate": lambda v, r: st.weibull_min(v, scale=1 / r),
}


def check_form(entry, label, value):
    names = [a[1] for a in label[2]]
    form = " ".join([label[1]] + names)
    v = [L.evaluate(a, AT) for a in value[2]]
    ours = (st.chi2 if entry.name == "dchisqr" else SCIPY[value[1]])(*v)
    if names == ["mean", "sd"]:
        FAILURES.near(ours.mean(), AT["mean"], 1e-10, form)
        FAILURES.near(ours.std(), AT["sd"], 1e-10, form)
        return
    theirs = NAMED[form](*[AT[n] for n in names])
    for p in (0.1, 0.5, 0.9):
        FAILURES.near(ours.ppf(p), theirs.ppf(p), 1e-9,
                      f"{form}, quantile {p}")


def check_forms():
    for name, entry in L.LIBRARY["distribution"].items():
        for label, value in entry.clauses.get("named", []):
            if name == entry.name and not entry.over and name != "dcat":
                check_form(entry, label, value)


def main():
    warnings.simplefilter("ignore")  # quad's doubts: results are compared
    only = sys.argv[1:]
    for name, entry in L.LIBRARY["distribution"].items():
        if name != entry.name or (only and name not in only):
            continue
        rng = np.random.default_rng(sum(map(ord, name)))
        for i in range(POINTS):
            if name in OBSERVABLE or name in ("dcar_normal", "dcar_proper",
                                              "dcar_zero_mean", "car.normal",
                                              "dloglik"):
                break
            v = random_parameters(entry, rng)
            if L.canonical(entry, v)[0].over:
                if L.support(entry, v)[0] != "set":
                    check_vector(entry, v, rng)
            else:
                check_scalar(entry, v, rng, i < 2)
    if not only:
        check_subsets()
        check_observables()
    if not only or only == ["named"]:
        check_forms()
    FAILURES.finish()


main()
