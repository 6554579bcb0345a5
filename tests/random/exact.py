"""The posterior of a small model, added up over all states of its discrete nodes
and, by quadrature, over its continuous ones; and a run beside it.

Statements are evaluated of all states and all points at once: each value is an
array [states, points], or broadcasts to one."""

import itertools
import json
import math
import re

import numpy as np

import syntax
from harness import Failure, broke, message, plain_kind, read_draws

STATES, CELLS = 20000, 2e6  # states at once; of them, times points
LIMIT = 5.0  # standard errors, in two runs
PAIRS = 40  # of nodes, whose equality is asked, too
APART = 1.05  # R-hat of a run that says it
FACTORIALS = np.append(0, np.cumsum(np.log(np.arange(1, 400))))


class Impossible(Exception):
    """Data that no state allows."""


# -------------------------------------------------------------------- densities

def xlogy(x, y):
    return np.where(x == 0, 0.0, x * np.log(y))


def factorial_log(x):
    return FACTORIALS[np.clip(np.asarray(x), 0, 399).astype(int)]


def within(ok, v):
    return np.where(ok, v, -np.inf)


def whole(x):
    return (x >= 0) & (x == np.floor(x))


def is_share(p):
    return (p >= 0) & (p <= 1)


def dbern(x, p):
    return dbin(x, p, 1)


def dbin(x, p, n):
    choose = factorial_log(n) - factorial_log(x) - factorial_log(n - x)
    return within(whole(x) & (x <= n) & is_share(p),
                  choose + xlogy(x, p) + xlogy(n - x, 1 - p))


def dpois(x, mean):
    return within(whole(x) & (mean >= 0),
                  xlogy(x, mean) - mean - factorial_log(x))


def dcat(x, p):
    total = sum(p)
    return within((x >= 1) & (x <= len(p)) & np.all([q >= 0 for q in p], axis=0),
                  np.log(among(p, x - 1)) - np.log(total))


def dnegbin(x, p, r):  # of a whole r
    choose = factorial_log(x + r - 1) - factorial_log(x) - factorial_log(r - 1)
    return within(whole(x) & is_share(p), choose + r * np.log(p) + xlogy(x, 1 - p))


def dnorm(x, mean, precision):
    return (np.log(precision / (2 * math.pi)) - precision * (x - mean) ** 2) / 2


def dexp(x, rate):
    return within(x >= 0, np.log(rate) - rate * x)


def dgamma(x, shape, rate):
    return within(x >= 0, shape * np.log(rate) + xlogy(shape - 1, x) - rate * x -
                  math.lgamma(shape))


def dbeta(x, a, b):
    return within(is_share(x), xlogy(a - 1, x) + xlogy(b - 1, 1 - x) +
                  math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b))


def dunif(x, low, high):
    return within((x >= low) & (x <= high), -np.log(high - low + 0 * x))


def dpar(x, a, least):
    return within(x >= least, np.log(a) + a * np.log(least) - (a + 1) * np.log(x))


def dinterval(x, t, cuts):
    cuts = cuts if isinstance(cuts, list) else [cuts]
    return within(x == sum(1.0 * (t > c) for c in cuts), 0.0)


def dsum(x, *parts):
    return within(x == sum(parts), 0.0)


DENSITIES = {f.__name__: f for f in (
    dbern, dbin, dpois, dcat, dnegbin, dnorm, dexp, dgamma, dbeta, dunif,
    dpar, dinterval, dsum)}


def draw(g, name, a):
    """Of one draw, of numbers."""
    if name == "dcat":
        p = np.array(a[0], float)
        return 1.0 + g.choice(len(p), p=p / p.sum())
    if name == "dinterval":
        cuts = a[1] if isinstance(a[1], list) else [a[1]]
        return float(sum(a[0] > c for c in cuts))
    if name == "dsum":
        return float(sum(a))
    return float({
        "dbern": lambda p: g.random() < p, "dbin": lambda p, n: g.binomial(n, p),
        "dpois": g.poisson, "dnegbin": lambda p, r: g.negative_binomial(r, p),
        "dnorm": lambda m, t: g.normal(m, t ** -0.5),
        "dexp": lambda r: g.exponential(1 / r),
        "dgamma": lambda s, r: g.gamma(s, 1 / r), "dbeta": g.beta,
        "dunif": g.uniform}[name](*a))


# ------------------------------------------------------------------- expressions

def among(values, k):
    """values[k], where k may be of the state."""
    if np.ndim(k) == 0:
        return values[int(k)] if 0 <= k < len(values) else np.nan
    out = np.full_like(k, np.nan, dtype=float)
    for j, v in enumerate(values):
        if np.any(k == j):
            out = np.where(k == j, v, out)
    return out


def flat(args):
    return [x for a in args for x in (a if isinstance(a, list) else [a])]


def reduced(f):
    def of(*args):
        out = None
        for x in flat(args):
            out = x if out is None else f(out, x)
        return 0.0 if out is None else out
    return of


def product(*args):
    return reduced(np.multiply)(*args) if flat(args) else 1.0


FUNCTIONS = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "abs": np.abs,
    "ilogit": lambda x: 1 / (1 + np.exp(-x)),
    "equals": lambda a, b: 1.0 * (a == b), "step": lambda x: 1.0 * (x >= 0),
    "sum": reduced(np.add), "prod": product, "max": reduced(np.maximum),
    "min": reduced(np.minimum), "pow": lambda a, b: np.power(1.0 * a, b),
    "inprod": lambda a, b: sum(x * y for x, y in zip(a, b)),
    "ifelse": lambda c, a, b: np.where(c, a, b),
}
OPS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide,
       "^": lambda a, b: np.power(1.0 * a, b),
       "<": lambda a, b: 1.0 * (a < b), ">": lambda a, b: 1.0 * (a > b),
       "<=": lambda a, b: 1.0 * (a <= b), ">=": lambda a, b: 1.0 * (a >= b),
       "==": lambda a, b: 1.0 * (a == b), "!=": lambda a, b: 1.0 * (a != b),
       "&&": lambda a, b: 1.0 * ((a != 0) & (b != 0)),
       "||": lambda a, b: 1.0 * ((a != 0) | (b != 0))}


def each_of(f, a, b):
    """Of the elements of vectors."""
    if isinstance(a, list) or isinstance(b, list):
        n = len(a if isinstance(a, list) else b)
        a, b = (x if isinstance(x, list) else [x] * n for x in (a, b))
        return [f(x, y) for x, y in zip(a, b)]
    return f(a, b)


class Evaluator:
    """Values of cells, (name, subscripts), and of loops."""

    def __init__(self, text, data):
        self.body = syntax.parse(text).body
        self.given = {}
        for name, v in data.items():
            for at, x in np.ndenumerate(np.asarray(v, float)):
                if not math.isnan(x):
                    self.given[name, tuple(k + 1 for k in at)] = x
        self.sizes = {}
        self.put_given()
        self.each = [(r, dict(at)) for s in self.body
                     for r, at in self.expand(s, {})]
        for r, at in self.each:
            self.seen(self.cell(r.left, at))
        self.size_of = {n: tuple(s) for n, s in self.sizes.items()}

    def put_given(self):
        self.values = dict(self.given)
        for cell in self.given:
            self.seen(cell)

    def seen(self, cell):
        name, at = cell
        had = self.sizes.setdefault(name, [0] * len(at))
        self.sizes[name] = [max(a, b) for a, b in zip(had, at)]

    def expand(self, s, loops):
        if isinstance(s, syntax.Relation):
            yield s, loops
            return
        for k in range(int(self.value(s.low, loops)),
                       int(self.value(s.high, loops)) + 1):
            for t in s.body:
                yield from self.expand(t, {**loops, s.name: k})

    def cell(self, left, loops):
        return left[1], tuple(int(self.value(p, loops)) for p in left[2]) \
            if left[0] == "index" else ()

    def value(self, e, loops):
        kind = e[0]
        if kind == "num":
            return float(e[1])
        if kind == "name":
            return loops[e[1]] if e[1] in loops else self.values[e[1], ()]
        if kind == "neg":
            return -self.value(e[1], loops)
        if kind == "op":
            return each_of(OPS[e[1]], self.value(e[2], loops),
                           self.value(e[3], loops))
        if kind == "call":
            return FUNCTIONS[e[1]](*(self.value(a, loops) for a in e[2]))
        return self.elements(e[1], [self.place(e[1], d, p, loops)
                                    for d, p in enumerate(e[2])], ())

    def place(self, name, d, p, loops):
        """A list of subscripts, or one, which may be of the state."""
        if p[0] == "all":
            return [float(k + 1) for k in range(self.size_of[name][d])]
        if p[0] == "range":
            return [float(k) for k in
                    range(int(self.value(p[1], loops)),
                          int(self.value(p[2], loops)) + 1)]
        return self.value(p, loops)

    def elements(self, name, places, at):
        if not places:
            return self.values[name, at]
        k, rest = places[0], places[1:]
        if isinstance(k, list):
            return [self.elements(name, rest, at + (int(j),)) for j in k]
        if np.ndim(k) == 0:
            return self.elements(name, rest, at + (int(k),))
        every = [self.elements(name, rest, at + (j + 1,))
                 for j in range(self.size_of[name][len(at)])]
        if every and isinstance(every[0], list):
            return [among([v[i] for v in every], k - 1)
                    for i in range(len(every[0]))]
        return among(every, k - 1)

    def arguments(self, r, loops):
        return r.value[1], [self.value(a, loops) for a in r.value[2]]

    def simulate(self, g):
        """Draws all that is not data, into `values`."""
        self.values = dict(self.given)
        left = self.each
        while left:
            later = []
            for r, loops in left:
                cell = self.cell(r.left, loops)
                try:
                    if not r.random:
                        self.values[cell] = self.value(r.value, loops)
                    elif cell not in self.values:
                        self.values[cell] = self.drawn(g, r, loops)
                except KeyError:
                    later.append((r, loops))
            if len(later) == len(left):
                raise Impossible(f"{left[0][0].left[1]} has no value")
            left = later

    def drawn(self, g, r, loops):
        name, args = self.arguments(r, loops)
        low, high = self.limits(r, loops)
        for _ in range(200):
            try:
                x = draw(g, name, args)
            except ValueError as bad:
                raise Impossible(str(bad))
            if low <= x <= high:
                return x
        raise Impossible("no draw between bounds")

    def limits(self, r, loops):
        ends = r.bounds[1:] or (None, None)
        return [e if b is None else self.value(b, loops)
                for b, e in zip(ends, (-math.inf, math.inf))]

    def log_density(self, values):
        """Of these cells' values, all others computed or data."""
        self.values = {**self.given, **values}
        total, left = 0.0, self.each
        with np.errstate(all="ignore"):
            while left:
                later = []
                for r, loops in left:
                    try:
                        if r.random:
                            total = total + self.term(r, loops)
                        else:
                            self.values[self.cell(r.left, loops)] = \
                                self.value(r.value, loops)
                    except KeyError:
                        later.append((r, loops))
                if len(later) == len(left):
                    raise Impossible(f"{left[0][0].left[1]} has no value")
                left = later
        return np.where(np.isnan(total), -np.inf, total)

    def term(self, r, loops):
        x = self.values[self.cell(r.left, loops)]
        name, args = self.arguments(r, loops)
        v = DENSITIES[name](x, *args)
        if not r.bounds:
            return v
        low, high = self.limits(r, loops)
        mass = 0.0
        for k in range(60):  # of counts
            inside = (k >= low) & (k <= high)
            mass = mass + np.where(inside, np.exp(DENSITIES[name](
                np.float64(k), *args)), 0.0)
        return within((x >= low) & (x <= high), v - np.log(mass))


# --------------------------------------------------------------------- posterior

POINTS = {0: 1, 1: 160, 2: 72}  # of each continuous node, by how many there are


def pieces(edges, count):
    """Points between edges, and the logs of their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(
        max(1, math.ceil(count / (len(edges) - 1))))
    half = np.diff(edges)[:, None] / 2
    return (np.array(edges[:-1])[:, None] + half * (nodes + 1)).ravel(), \
        np.log(half * weights).ravel()


class Posterior:
    """Expectations under it.  supports: cell -> values; ranges: cell -> (low,
    high), of continuous nodes, with what is between where a density may jump."""

    slow = False

    def __init__(self, evaluator, supports, ranges, count=None):
        self.cells, self.continuous = list(supports), list(ranges)
        count = count or POINTS[len(ranges)]
        grid = self.points(ranges, count)
        states, logs = [], []
        for some in self.blocks([supports[c] for c in self.cells]):
            few = {c: some[:, [k]] for k, c in enumerate(self.cells)}
            lp = evaluator.log_density({**few, **self.at(grid, slice(None, None, 7))})
            lp = np.broadcast_to(lp, (len(some), np.shape(lp)[-1] if
                                      np.ndim(lp) else 1))
            some = some[np.max(lp, axis=1) > -np.inf]
            if not len(some):
                continue
            few = {c: some[:, [k]] for k, c in enumerate(self.cells)}
            lp = evaluator.log_density({**few, **self.at(grid, slice(None))})
            states.append(some)
            logs.append(np.broadcast_to(
                lp + self.weights, (len(some), len(self.weights))))
        if not states:
            raise Impossible("no state is possible")
        self.states, logs = np.vstack(states), np.vstack(logs)
        if np.max(logs) == -np.inf:
            raise Impossible("no state is possible")
        mass = np.exp(logs - np.max(logs))
        mass /= mass.sum()
        self.mass, self.of_points = mass.sum(axis=1), mass.sum(axis=0)
        self.grid = grid

    def points(self, ranges, count):
        own = [pieces(edges, count) for edges in ranges.values()]
        self.weights = np.zeros(1)
        for _, w in own:
            self.weights = (self.weights[:, None] + w[None, :]).ravel()
        return [np.ravel(x) for x in np.meshgrid(
            *(x for x, _ in own), indexing="ij")] if own else []

    def at(self, grid, some):
        return {c: x[some][None, :] for c, x in zip(self.continuous, grid)}

    def blocks(self, supports):
        every = itertools.product(*supports)
        while True:
            some = list(itertools.islice(every, STATES))
            if not some:
                return
            yield np.array(some, float).reshape(len(some), len(supports))

    def quantities(self, g):
        """[(name, its exact expectation, spread, function of draws)]; draws: cell
        -> array."""
        for k, c in enumerate(self.cells):
            for v in np.unique(self.states[:, k]):
                p = self.mass[self.states[:, k] == v].sum()
                yield (f"P({column(c)} = {v:.0f})", p, math.sqrt(max(0, p * (1 - p))),
                       lambda d, c=c, v=v: 1.0 * (d[c] == v))
        pairs = list(itertools.combinations(range(len(self.cells)), 2))
        for k in g.permutation(len(pairs))[:PAIRS]:
            i, j = pairs[k]
            a, b = self.cells[i], self.cells[j]
            p = self.mass[self.states[:, i] == self.states[:, j]].sum()
            yield (f"P({column(a)} = {column(b)})", p, math.sqrt(max(0, p * (1 - p))),
                   lambda d, a=a, b=b: 1.0 * (d[a] == d[b]))
        for c, x in zip(self.continuous, self.grid):
            m = float((self.of_points * x).sum())
            s = math.sqrt(max(0, float((self.of_points * (x - m) ** 2).sum())))
            yield f"E({column(c)})", m, s, lambda d, c=c: d[c]


def column(cell):
    return ".".join([syntax.column_name(cell[0]), *map(str, cell[1])])


# ------------------------------------------------------------------ a run beside it

def error_of(chains, batches):
    """The standard error of a mean, from batches: [chains, draws]."""
    n = chains.shape[1] // batches
    means = chains[:, :batches * n].reshape(len(chains) * batches, n).mean(axis=1)
    return means.std(ddof=1) / math.sqrt(len(means))


def far_off(posterior, draws, g):
    """[(|z|, name, text)] of what is off, largest first."""
    rows = []
    for name, right, spread, f in posterior.quantities(g):
        x = np.array([f(d) for d in draws])
        # met so seldom that batches do not tell: some ten draws say what one does
        least = spread * math.sqrt(10 / x.size)
        error = max(error_of(x, n) for n in ((20, 4) if posterior.slow else (20,)))
        z = abs(x.mean() - right) / max(error, least, 1e-9)
        rows.append((z, name, f"{name} {x.mean():.4f}, is {right:.4f}, z {z:.1f}"))
    return sorted(rows, reverse=True)


def run(bench, posterior, seed, times):
    """(failure, rows, what the run says against itself)"""
    status, out, err = bench.sampler(
        "run", "--device", "cpu", "--chains", "4", "--warmup", "500", "--draws",
        str(times * 2000), "--seed", str(seed), "--summary", "exact.json",
        "--monitor", "all", "--out", "exact.csv",
        seconds=times * bench.settings.seconds)
    failed = broke("run", status, out, err)
    if failed or status:
        return failed or Failure("run", plain_kind(message(err)), err[:1000]), [], ""
    draws = []
    for chain in range(1, 5):
        rows = read_draws(bench.at(f"exact_{chain}.csv"))
        draws.append({c: np.array([r[column(c)] for r in rows])
                      for c in posterior.cells + posterior.continuous})
    with open(bench.at("exact.json")) as f:
        hats = {n: p.get("rhat") or 0
                for n, p in json.load(f)["parameters"].items()}
    said = [l for l in err.splitlines() if re.search("never changed|R-hat", l)]
    said += [f"{n} has R-hat {r:.3g}" for n, r in hats.items() if r > APART]
    return None, far_off(posterior, draws, np.random.default_rng(seed)), \
        "; ".join(said[:3])


def agrees(bench, posterior):
    """A run beside the posterior."""
    failed, rows, said = run(bench, posterior, bench.seed, 1)
    if failed or rows[0][0] < LIMIT:
        return failed
    suspects = {r[1] for r in rows if r[0] > LIMIT}
    failed, rows, said = run(bench, posterior, bench.seed + 104729, 4)
    if failed:
        return failed
    met = [r for r in rows if r[0] > LIMIT and r[1] in suspects]
    if not met:
        bench.notes.append("exact: only once")
        return None
    kind = "another posterior, and the run says it" if said else \
        "another posterior"
    return Failure("exact", kind, "\n".join([r[2] for r in met[:6]] + [said]))
