#!/usr/bin/env python3
"""Compiles a model whose nodes are one of each distribution, scalar ones whole
and truncated, runs its sampler, and compares the draws with the densities by
Kolmogorov-Smirnov or chi-square; vectors and matrices with draws by numpy."""
import csv
import os
import subprocess
import sys
import tempfile

import library as L
from library import math, np, st

FAILURES = L.Failures()
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
GBMC = os.environ.get("GBMC", os.path.join(ROOT, "build", "gbmc"))
DRAWS = 20000
P_VALUE = 1e-5
VECTORS = {"w": [0.5, 1.2, 0.3, 2.0], "m": [-1.0, 0.5, 3.0],
           "t": [1.0, 2.0, 0.5], "v": [1.0, 3.0, 2.0],
           "c": [-1.2, 0.4, 1.9]}
MATRIX = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.4], [0.1, -0.4, 0.9]])

# (distribution, arguments, truncation)
NODES = [
    ("dnorm", "0.5, 2", None), ("dnorm", "0.5, 2", (1, None)),
    ("dnorm", "0.5, 2", (None, -3)), ("dnorm", "0.5, 2", (0, 1)),
    ("dgamma", "2.5, 1.5", None), ("dgamma", "0.4, 1.5", None),
    ("dgamma", "2.5, 1.5", (1, 3)), ("dgamma", "2.5, 1.5", (-1, 1)),
    ("dexp", "2", None), ("dexp", "2", (1, None)), ("dexp", "2", (0.2, 0.9)),
    ("dbeta", "2, 0.7", None), ("dbeta", "2, 3", (0.2, 0.5)),
    ("dbern", "0.3", None), ("dbin", "0.3, 9", None),
    ("dbin", "0.3, 9", (2, 5)), ("dpois", "4.2", None),
    ("dpois", "4.2", (1, None)), ("dpois", "4.2", (3, 6)), ("dcat", "w", None),
    ("dunif", "-1, 2.5", None), ("dunif", "-1, 2.5", (0, None)),
    ("dlnorm", "0.3, 2", None), ("dlnorm", "0.3, 2", (1, 2)),
    ("dt", "0.5, 2, 3.5", None), ("dt", "0, 2, 1", (0, None)),
    ("ddexp", "0.5, 2", None), ("ddexp", "0.5, 2", (0, 1)),
    ("dchisqr", "3", None), ("dnegbin", "0.4, 2.5", None),
    ("dnegbin", "0.4, 2.5", (1, None)), ("dinvgamma", "3, 2", None),
    ("dinvgamma", "3, 2", (0.5, 1)), ("half_normal", "1.5", None),
    ("half_normal", "1.5", (1, 2)), ("half_cauchy", "1.5", None),
    ("half_cauchy", "1.5", (None, 3)), ("half_t", "3, 1.5", None),
    ("half_t", "3, 1.5", (1, None)), ("gig", "0.7, 2, 3", None),
    ("power_gamma", "2, 1.5, 2", None), ("power_gamma", "-3, 1.5, -2", None),
    ("power_gamma", "-3, 1.5, -2", (0.5, 1)), ("root_gig", "2, 1.5, 1", None),
    ("modified_half_normal", "2, 1.5, 2, 1", None),
    ("modified_half_normal", "-3, -1.5, 1, -1", None),
    ("df", "3, 5", None), ("df", "3, 5", (1, 2)),
    ("dgen.gamma", "1.5, 0.7, 2", None), ("dgen.gamma", "1.5, 0.7, 2", (1, 2)),
    ("dhyper", "5, 6, 4, 2.4", None), ("dlogis", "0.3, 2", None),
    ("dlogis", "0.3, 2", (1, None)), ("dnchisqr", "3, 1.5", None),
    ("dnt", "0.6, 1.3, 5", None), ("dpar", "2.5, 1.2", None),
    ("dpar", "2.5, 1.2", (2, 3)), ("dweib", "1.6, 0.8", None),
    ("dweib", "1.6, 0.8", (1, 2)), ("dgeom", "0.3", None),
    ("dgeom0", "0.3", None), ("dscaled.gamma", "1.3, 2.5", None),
    ("dnormmix", "m, t, v", None), ("dbetabin", "2, 3.5, 7", None),
    ("dordered.logit", "0.3, c", None), ("dordered.probit", "0.3, c", None),
    ("dgev", "0.5, 1.5, 0.2", None), ("dgev", "0.5, 1.5, 0", None),
    ("dgpar", "0.5, 1.5, -0.3", None), ("dgpar", "0.5, 1.5, 0.3", (1, 2)),
    ("von_mises", "0.7, 2", None), ("gumbel", "0.5, 2", None),
    ("normal", "0.5, 2", None), ("student_t", "4, 0.5, 2", None),
    ("neg_binomial_2", "3, 1.5", None), ("weibull", "1.5, 2", None),
    ("binomial", "9, 0.3", None), ("laplace", "0.5, 2", None),
    ("cauchy", "0.5, 2", None), ("rayleigh", "1.5", None),
]


def multi_t(rng, mu, omega, k, n):
    z = rng.multivariate_normal(np.zeros(3), np.linalg.inv(omega), n)
    return mu + z / np.sqrt(rng.chisquare(k, n) / k)[:, None]


def scaled_wishart(rng, s, df, n):
    b = rng.gamma(0.5, s ** 2, (n, 3))
    return np.array([st.wishart(df + 2, np.linalg.inv(2 * df * np.diag(a))).rvs(
        random_state=rng) for a in b])


def sample_subsets(rng, w, n):
    sets = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]], float)
    p = np.array([np.prod(w[x > 0]) for x in sets])
    return sets[rng.choice(3, n, p=p / p.sum())]


def lkj(rng, eta, n):
    """By rejection from the cube of correlations."""
    out = []
    while len(out) < n:
        r = np.eye(3)
        r[np.triu_indices(3, 1)] = rng.uniform(-1, 1, 3)
        r = r + np.triu(r, 1).T
        d = np.linalg.det(r)
        if d > 0 and np.linalg.eigvalsh(r)[0] > 0 and (
                rng.random() < d ** (eta - 1)):
            out.append(np.linalg.cholesky(r).T)
    return np.array(out)


# name: arguments, [K] or [K,K], n draws by numpy
MULTIVARIATE = {
    "ddirch": ("v", 1, lambda g, n: g.dirichlet(VECTORS["v"], n)),
    "dmulti": ("v, 6", 1, lambda g, n: g.multinomial(
        6, np.array(VECTORS["v"]) / 6, n)),
    "dmnorm": ("m, V", 1, lambda g, n: g.multivariate_normal(
        VECTORS["m"], np.linalg.inv(MATRIX), n)),
    "dmnorm.vcov": ("m, V", 1, lambda g, n: g.multivariate_normal(
        VECTORS["m"], MATRIX, n)),
    "dmt": ("m, V, 4.5", 1, lambda g, n: multi_t(g, VECTORS["m"], MATRIX, 4.5,
                                                 n)),
    "dsample": ("v, 2", 1, lambda g, n: sample_subsets(
        g, np.array(VECTORS["v"]), n)),
    "dwish": ("V, 5", 2, lambda g, n: st.wishart(5, np.linalg.inv(MATRIX)).rvs(
        n, random_state=g)),
    "dinvwish": ("V, 5", 2, lambda g, n: st.invwishart(5, MATRIX).rvs(
        n, random_state=g)),
    "dscaled.wishart": ("t, 2", 2, lambda g, n: scaled_wishart(
        g, np.array(VECTORS["t"]), 2, n)),
    "dlkj_corr_cholesky": ("1.7, 3", 2, lambda g, n: lkj(g, 1.7, n)),
    "lkj_corr_cholesky": ("1.7", 2, lambda g, n: np.swapaxes(
        lkj(g, 1.7, n), 1, 2)),
    "lkj_corr": ("1.7", 2, lambda g, n: np.swapaxes(
        (u := lkj(g, 1.7, n)), 1, 2) @ u),
}


def argument(text):
    text = text.strip()
    return np.array(VECTORS[text]) if text in VECTORS else float(text)


def model_text(nodes, vectors):
    lines = ["model {"]
    for i, (name, args, between) in enumerate(nodes):
        args = bracketed(args)
        lower, upper = between or (None, None)
        tail = "" if between is None else (
            f" T({'' if lower is None else lower},"
            f"{'' if upper is None else ' ' + str(upper)})")
        lines.append(f"  x{i} ~ {name}({args}){tail}")
    for i, name in enumerate(vectors):
        args, ndim, _ = MULTIVARIATE[name]
        where = "[1:3]" if ndim == 1 else "[1:3, 1:3]"
        lines.append(f"  y{i}{where} ~ {name}({bracketed(args)})")
    return "\n".join(lines + ["}", ""])


def bracketed(args):
    """Names of vectors with the brackets that BUGS wants."""
    out = [a.strip() for a in args.split(",")]
    return ", ".join(a + "[,]" if a == "V" else a + "[]" if a in VECTORS else a
                     for a in out)


def draw(nodes, vectors, folder):
    """{name: draws}; ends the test if the model does not compile or run."""
    at = lambda f: os.path.join(folder, f)
    with open(at("m.gbm"), "w", encoding="utf-8") as f:
        f.write(model_text(nodes, vectors))
    with open(at("d.R"), "w", encoding="utf-8") as f:
        for k, v in VECTORS.items():
            f.write(f"{k} <- c({', '.join(map(repr, v))})\n")
        f.write("V <- structure(c(" + ", ".join(map(repr, map(
            float, MATRIX.ravel()))) + "), .Dim = c(3L, 3L))\n")
    for command in ([GBMC, at("m.gbm"), "-o", at("m")],
                    [at("m"), "--data", at("d.R"), "--device", "cpu",
                     "--chains", "1", "--warmup", "10", "--draws", str(DRAWS),
                     "--seed", "11", "--threads", "1", "--format", "csv",
                     "--out", at("out.csv"), "--quiet"]):
        done = subprocess.run(command, capture_output=True, text=True,
                              check=False)
        if done.returncode:
            print(" ".join(command[:2]), "failed:", done.stdout, done.stderr)
            return None
    files = [f for f in sorted(os.listdir(folder)) if f.endswith(".csv")]
    with open(at(files[0]), encoding="utf-8") as f:
        rows = list(csv.reader(r for r in f if not r.startswith("#")))
    return {n: np.array([float(r[j]) for r in rows[1:]])
            for j, n in enumerate(rows[0])}


def integrate(f, a, b):
    g = lambda u: f(a + (b - a) * u * u * (3 - 2 * u)) * 6 * u * (1 - u) * (
        b - a)
    return L.scipy.integrate.quad(g, 0, 1, limit=200, epsabs=1e-9)[0]


def test_integer(density, sample, lower, upper):
    values = np.arange(lower, min(upper, lower + 400) + 1)
    p = np.array([density(float(x)) for x in values])
    p /= p.sum()
    keep = p * len(sample) > 8
    seen = np.array([np.sum(sample == x) for x in values[keep]], float)
    expected = p[keep] * len(sample)
    rest = len(sample) - expected.sum()
    if rest > 8:
        seen = np.append(seen, len(sample) - seen.sum())
        expected = np.append(expected, rest)
    elif np.any(~np.isin(sample, values)):
        return 0.0
    expected *= seen.sum() / expected.sum()
    return st.chisquare(seen, expected).pvalue


def test_real(density, sample, lower, upper):
    """Against the integral of the density between quantiles of the draws."""
    if sample.min() < lower or sample.max() > upper:
        return 0.0
    cuts = np.quantile(sample, np.linspace(0, 1, 81))
    mass = np.array([integrate(density, a, b) for a, b in zip(cuts, cuts[1:])])
    F = np.cumsum(mass) / mass.sum()  # given that it lies between the ends
    seen = np.linspace(0, 1, 81)[1:]
    return st.kstwobign.sf(np.max(np.abs(F - seen)) * math.sqrt(len(sample)))


def check(node, sample):
    name, args, between = node
    entry = L.LIBRARY["distribution"][name]
    v = [argument(a) for a in args.split(",")]
    kind, lower, upper = L.support(entry, v)
    low, high = between or (None, None)
    lower = lower if low is None else max(lower, low)
    upper = upper if high is None else min(upper, high)
    density = lambda x: math.exp(L.log_density(entry, v, x))
    test = test_integer if kind == "integer" else test_real
    p = test(density, sample, lower, upper)
    FAILURES.check(p > P_VALUE, f"{name}({args}) in {between}: p = {p:.2g}, "
                   f"draws {sample[:4]}")


def check_vector(name, i, draws):
    """Each coordinate and each product of two, against numpy's draws."""
    _, ndim, make = MULTIVARIATE[name]
    cells = [f"{j}" if ndim == 1 else f"{j}.{k}" for j in range(1, 4)
             for k in (range(1, 4) if ndim == 2 else [0])]
    ours = np.array([draws[f"y{i}.{c}"] for c in cells]).T
    theirs = np.reshape(make(np.random.default_rng(17), DRAWS), ours.shape)
    for a in range(len(cells)):
        for b in range(a, len(cells)):
            f = (lambda x: x[:, a]) if a == b else (lambda x: x[:, a] * x[:, b])
            u, w = f(ours), f(theirs)
            noise = 1e-9 * np.random.default_rng(a).normal(size=len(u))
            p = st.ks_2samp(np.round(u, 9) + noise,
                            np.round(w, 9) + noise[::-1]).pvalue
            FAILURES.check(p > P_VALUE / 10,
                           f"{name}: cells {cells[a]}, {cells[b]}: p = {p:.2g}")


def main():
    if not os.path.exists(GBMC):
        print("skipped: gbmc is not built")
        sys.exit(77)
    nodes = [n for n in NODES if len(sys.argv) < 2 or n[0] in sys.argv[1:]]
    vectors = [n for n in MULTIVARIATE if len(sys.argv) < 2
               or n in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        draws = draw(nodes, vectors, folder)
    if draws is None:
        sys.exit(1)
    for i, node in enumerate(nodes):
        check(node, draws[f"x{i}"])
    for i, name in enumerate(vectors):
        check_vector(name, i, draws)
    FAILURES.finish()


main()
