"""Hierarchies of normal effects with one or two scales, and their posteriors: given
the scales all else is normal and is integrated out in closed form, the scales are by
quadrature. Priors of scales may be so wide, and effects so far from all data, that
a sampler meets scales of any size."""

import math

import numpy as np

import exact
import syntax
from states import Builder, Retry

NODES, PANELS = 5, {1: 300, 2: 36}  # in each, by how many scales there are
FAR = 99  # digits do not matter


class Scale:
    """`text` is the precision that it is, `lines` its statements; its posterior is
    looked for between `ends` of its logarithm, or of itself where that is one.
    What it scales may have so many digits (in powers of e)."""

    def __init__(self, b, digits, style=None):
        self.name, self.logs = b.name("s"), True
        style = style or b.pick(["sd", "log", "log", "precision"])
        self.text = {"sd": self.of_sd, "log": self.of_log,
                     "precision": self.of_precision}[style](b, digits)

    def of_sd(self, b, digits):
        top = b.pick([2, 10, 100])
        self.lines = [f"{self.name} ~ dunif(0, {top})"]
        self.ends = -min(18, digits), math.log(top)
        return self.computed(b, b.pick([
            f"pow({self.name}, -2)", f"1 / ({self.name} * {self.name})",
            f"1 / {self.name}^2"]))

    def of_log(self, b, digits):
        precision, of = b.pick([("0.003", ""), ("0.003", ""), ("0.01", ""),
                                ("0.02", "-2 * "), ("0.1", "-2 * ")]) \
            if digits == FAR else ("0.1", "")
        self.lines = [f"{self.name} ~ dnorm(0, {precision})"]
        far = 6 / math.sqrt(float(precision))
        self.logs, self.ends = False, (-far, far)
        return self.computed(b, f"exp({of}{self.name})")

    def of_precision(self, b, digits):
        law, low, high = b.pick([
            ("dgamma(0.001, 0.001)", -40, 10), ("dgamma(0.01, 0.01)", -40, 7.5),
            ("dgamma(1, 0.1)", -25, 6), ("dpar(0.02, 0.1)", math.log(0.1), 690),
            ("dpar(0.5, 0.1)", math.log(0.1), 60)]) \
            if digits == FAR else ("dgamma(1, 0.1)", -20, 6)
        drawn = f"{self.name} ~ {law}"
        self.lines, self.ends = [drawn], (low, high)
        if high == 690:
            self.lines = [f"{drawn} T(, 1.0E300)"]
            b.own[self.lines[0]] = [drawn]
        return self.name

    def computed(self, b, text):
        """By way of a node of its own, or not."""
        if b.chance(0.5):
            return text
        tau = b.name("tau")
        self.lines.append(f"{tau} <- {text}")
        return tau

    def edges(self, panels):
        """Close to one another near 0."""
        return 4 * np.sinh(np.linspace(*np.arcsinh(np.array(self.ends) / 4),
                                       panels + 1))

    def points(self, panels):
        """Of itself, with the logs of their weights."""
        x, w = np.polynomial.legendre.leggauss(NODES)
        edges = self.edges(panels)
        half = (edges[1:] - edges[:-1])[:, None] / 2
        at = (edges[:-1, None] + half * (1 + x)).ravel()
        logs = np.log(half * w).ravel()
        return (np.exp(at), logs + at) if self.logs else (at, logs)


def observed(b, y, rows, mean, precision):
    """An outcome of rows, of which some may be missing."""
    spread = b.pick([0.05, 0.5, 1, 3])
    a = np.round(b.g.normal(b.g.uniform(-1, 1), spread, rows), 2)
    a[b.g.random(rows) < b.pick([0, 0, 0.2])] = np.nan
    if np.all(np.isnan(a)):
        raise Retry
    b.data[y] = a
    b.add(f"for (i in 1:{rows}) {{ {y}[i] ~ dnorm({mean}, {precision}) }}")


def outcome_precision(b, scales):
    """Known, or a scale of its own."""
    if b.chance(0.6):
        return b.constant(0.3, 3)
    scales.append(Scale(b, 15))
    return scales[-1].text


def groups(b, n, rows):
    """Which group a row is of; the last may be none's."""
    seen = n - b.between(0, 1)
    return b.given(np.append(np.arange(seen), b.g.integers(0, seen, rows - seen)) + 1,
                   "g")


def plate(b, scales):
    """Effects of groups beside a level."""
    n, rows, y = b.between(3, 5), b.between(6, 12), b.name("y")
    u, m = b.name("u"), b.name("b")
    of = groups(b, n, rows)
    centred = b.chance(0.4)
    scale = Scale(b, 15 if centred else FAR)
    scales.append(scale)
    b.add(f"{m} ~ dnorm(0, {b.pick(['1', '0.01', '0.1'])})",
          f"for (j in 1:{n}) {{ {u}[j] ~ dnorm({m if centred else 0}, {scale.text}) }}")
    mean = f"{u}[{of}[i]]" + ("" if centred else f" + {m}")
    if b.chance(0.3):
        slope = b.name("a")
        x = b.given(np.round(b.g.normal(size=rows), 2), "x")
        b.add(f"{slope} ~ dnorm(0, 0.1)")
        mean += f" + {slope} * {x}[i]"
    observed(b, y, rows, mean, outcome_precision(b, scales))


def crossed(b, scales):
    """Two plates, each with a scale."""
    n, m, rows, y = b.between(2, 4), b.between(2, 3), b.between(6, 10), b.name("y")
    u, v = b.name("u"), b.name("v")
    for name, k in (u, n), (v, m):
        scales.append(Scale(b, FAR))
        b.add(f"for (j in 1:{k}) {{ {name}[j] ~ dnorm(0, {scales[-1].text}) }}")
    observed(b, y, rows, f"{u}[{groups(b, n, rows)}[i]] + {v}[{groups(b, m, rows)}[i]]",
             b.constant(0.3, 3))


def walk(b, scales):
    """A path of normal steps, of which the last may be beyond the data."""
    n, x, y = b.between(4, 7), b.name("x"), b.name("y")
    scales.append(Scale(b, 15))
    b.add(f"{x}[1] ~ dnorm(0, {b.pick(['1', '0.1'])})",
          f"for (t in 2:{n}) {{ {x}[t] ~ dnorm({b.pick(['', '0.8 * '])}{x}[t-1], "
          f"{scales[-1].text}) }}")
    observed(b, y, n - b.between(0, 2), f"{x}[i]", outcome_precision(b, scales))


def standardised(b, scales):
    """Effects that a scale multiplies."""
    n, rows, y = b.between(3, 5), b.between(6, 10), b.name("y")
    e, m = b.name("e"), b.name("b")
    scales.append(Scale(b, 18, "sd"))
    s = scales[-1].name
    b.add(f"{m} ~ dnorm(0, 0.1)", f"for (j in 1:{n}) {{ {e}[j] ~ dnorm(0, 1) }}")
    observed(b, y, rows, f"{m} + {s} * {e}[{groups(b, n, rows)}[i]]",
             outcome_precision(b, scales))


def ridge(b, scales):
    """Coefficients with one prior."""
    n, rows, y, k = b.between(2, 4), b.between(5, 9), b.name("y"), b.name("beta")
    scales.append(Scale(b, FAR))
    x = b.given(np.round(b.g.normal(size=(rows, n)), 2), "X")
    b.add(f"for (j in 1:{n}) {{ {k}[j] ~ dnorm(0, {scales[-1].text}) }}")
    observed(b, y, rows, f"inprod({x}[i,], {k}[])", outcome_precision(b, scales))


KINDS = [plate, plate, crossed, walk, standardised, ridge]


def residuals(e, values):
    """Of each random statement: the log of its density, or of what is normal how far
    it is from its mean, and its precision."""
    e.log_density(values)
    out = []
    for r, at in e.each:
        if not r.random:
            continue
        name, args = e.arguments(r, at)
        cell = e.cell(r.left, at)
        if name == "dnorm" and cell in e.effects:
            out.append((0.0, e.values[cell] - args[0], args[1]))
        else:
            out.append((exact.DENSITIES[name](e.values[cell], *args), None, None))
    return out


class Normals:
    """Expectations under the posterior, as exact.Posterior has them; its nodes are
    the scales, then the normal ones."""

    cells = []
    slow = True  # chains may need long to tell how far off they are

    def __init__(self, text, data, scales):
        e = exact.Evaluator(text, data)
        self.of, self.scales = scales, [(s.name, ()) for s in scales]
        random = [e.cell(r.left, at) for r, at in e.each if r.random]
        e.effects = set(random) - set(self.scales)
        self.normal = [c for c in random if c in e.effects and c not in e.given]
        self.continuous = self.scales + self.normal
        self.panels = PANELS[len(scales)]
        grids = [s.points(self.panels) for s in scales]
        values = [np.ravel(x) for x in np.meshgrid(
            *(x for x, _ in grids), indexing="ij")]
        logs = sum(np.meshgrid(*(w for _, w in grids), indexing="ij")).ravel()
        with np.errstate(all="ignore"):
            base = dict(zip(self.scales, values))
            self.integrate(e, base, *self.squares(e, base, logs))

    def squares(self, e, base, logs):
        """The quadratic form of the normal nodes at each place of the scales, its
        slope at 0, and of the log density what does not hang on them."""
        size, k = len(logs), len(self.normal)
        zero = {**base, **{c: 0.0 for c in self.normal}}
        rows = residuals(e, zero)
        slopes = [[s if r is None else r - s for (_, s, _), (_, r, _) in
                   zip(rows, residuals(e, {**zero, c: 1.0}))] for c in self.normal]
        a, b = np.zeros((size, k, k)), np.zeros((size, k))
        for i, (log, r, p) in enumerate(rows):
            logs = logs + log
            if r is None:
                continue
            logs = logs + np.log(p) / 2
            met = [j for j in range(k) if np.any(slopes[j][i])]
            for j in met:
                b[:, j] -= np.where(r == 0, 0, p * r) * slopes[j][i]
                for m in met:
                    a[:, j, m] += p * slopes[j][i] * slopes[m][i]
        return a, b, logs

    def integrate(self, e, base, a, b, logs):
        """The density at the mean is added up from its residuals: at 0 less what is
        gained from there both may be of 10^9, whose digits do not suffice."""
        d = 1 / np.sqrt(np.einsum("ijj->ij", a))
        scaled = a * d[:, :, None] * d[:, None, :]
        apart = np.full(d.shape, 1e-300)
        sound = np.all(np.isfinite(scaled), axis=(1, 2))
        apart[sound] = np.linalg.eigvalsh(scaled[sound])
        sound &= apart[:, 0] > 1e-11
        inverse = np.zeros_like(a)
        inverse[sound] = np.linalg.inv(scaled[sound])
        self.mean = np.einsum("ijk,ik->ij", inverse, b * d) * d
        self.sd = np.sqrt(np.einsum("ijj->ij", inverse)) * d
        logs = logs + np.log(d).sum(axis=1) - \
            np.log(np.maximum(apart, 1e-300)).sum(axis=1) / 2
        for _, r, p in residuals(e, {**base, **dict(zip(self.normal, self.mean.T))}):
            if r is not None:
                logs = logs - np.where(r == 0, 0, p * r * r) / 2
        logs = np.where(np.isnan(logs), -np.inf, logs)
        mass = np.exp(logs - logs.max())
        self.mass = mass / mass.sum()
        if self.mass[~sound].sum() > 1e-4:
            raise Retry  # no digits are left

    def quantities(self, g):
        """As exact.Posterior's."""
        grid = self.mass.reshape((self.panels, NODES) * len(self.scales))
        for k, (c, s) in enumerate(zip(self.scales, self.of)):
            own = grid.sum(axis=tuple(d for d in range(grid.ndim) if d != 2 * k))
            below, cuts = np.cumsum(own)[:-1], s.edges(self.panels)[1:-1]
            for share in (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99):
                j = np.argmin(abs(below - share))
                if 0.002 < below[j] < 0.998:
                    yield probability(c, np.exp(cuts[j]) if s.logs else cuts[j],
                                      below[j])
        some = (self.mass > 0) & np.all(self.sd > 0, axis=1)
        for j, c in enumerate(self.normal):
            for cut in (-3.0, -0.5, 0.0, 0.5, 3.0):
                far = (cut - self.mean[some, j]) / self.sd[some, j]
                p = float(self.mass[some] @ [math.erfc(-x / math.sqrt(2)) / 2
                                             for x in far])
                if 0.002 < p < 0.998:
                    yield probability(c, cut, p)


def probability(c, cut, p):
    return (f"P({exact.column(c)} < {cut:.4g})", p, math.sqrt(p * (1 - p)),
            lambda d: 1.0 * (d[c] < cut))


def attempt(g):
    """(the builder, its text, its data, its posterior)"""
    b, scales = Builder(g), []
    make = b.pick(KINDS)
    make(b, scales)
    b.features.add("normals: " + make.__name__)
    if len(scales) not in PANELS:
        raise Retry
    b.lines = [line for s in scales for line in s.lines] + b.lines
    text, own = (syntax.show_model(syntax.parse("model {\n" + "\n".join(some) +
                                                "\n}\n"))
                 for some in (b.lines, b.exact_lines()))
    return b, text, b.data, Normals(own, b.data, scales)
