"""Draws of a whole model forward, one by one: what a distribution's own function is
at a draw, given the draw of its parents, is uniform (Rosenblatt 1952). All
elements of a statement, or all of a distribution, and all draws are one sample, so
that it sees what each number alone does not tell: a way to draw that is a little
off, and parents that are not those of the draw."""

import math
import time
from dataclasses import replace

import numpy as np
import scipy.special as special
import scipy.stats as stats

import syntax
from density import COLUMN, settle
from simulate import Impossible, NotReady, World

LEAST_MASS = 1e-3  # of an interval, where less leaves few digits

POINTS = 1501  # of a table


def by_table(log_density, ends):
    """The distribution function of a positive number, by a table over its logarithm u:
    log_density(u, arguments...) up to a constant, within ends(arguments...)."""
    def one(x, *args):
        try:
            u = np.linspace(*ends(*args), POINTS)
        except (ValueError, ZeroDivisionError):  # not of this law
            return np.full(np.shape(x), math.nan)
        f = log_density(u, *args)
        f = np.exp(f - f.max())
        mass = np.cumsum(f) - 0.5 * f
        return np.interp(np.log(x), u, mass / mass[-1])

    def of_arrays(x, *args):
        if all(np.all(a == np.ravel(a)[0]) for a in args):
            return one(x, *(float(np.ravel(a)[0]) for a in args))
        return np.array([one(*row) for row in np.broadcast(x, *args)])
    return of_arrays


mhn = by_table(lambda u, c, b, a: c * u + b * np.exp(u) - a * np.exp(2 * u),
               lambda c, b, a: (-25 / c, math.log(
                   (abs(b) + math.sqrt(b * b + 2800 * a)) / (2 * a))))
gig = by_table(lambda u, p, a, b: p * u - (a * np.exp(u) + b * np.exp(-u)) / 2,
               lambda p, a, b: (math.log(b / 1400), math.log(1400 / a)))

# name -> distribution function(x, arguments...), of arrays
CONTINUOUS = {
    "dnorm": lambda x, m, t: special.ndtr((x - m) * t ** 0.5),
    "dlnorm": lambda x, m, t: special.ndtr((np.log(x) - m) * t ** 0.5),
    "dt": lambda x, m, t, k: special.stdtr(k, (x - m) * t ** 0.5),
    "dgamma": lambda x, r, l: special.gammainc(r, l * x),
    "dinvgamma": lambda x, r, b: special.gammaincc(r, b / x),
    "dexp": lambda x, l: -np.expm1(-l * x),
    "dchisqr": lambda x, k: special.gammainc(k / 2, x / 2),
    "dunif": lambda x, a, b: (x - a) / (b - a),
    "dbeta": lambda x, a, b: special.betainc(a, b, x),
    "dweib": lambda x, v, l: -np.expm1(-l * x ** v),
    "dweib of a scale": lambda x, v, s: -np.expm1(-(x / s) ** v),
    "ddexp": lambda x, m, t: stats.laplace.cdf(x, m, 1 / t),
    "dlogis": lambda x, m, t: special.expit(t * (x - m)),
    "dpar": lambda x, a, c: 1 - (c / x) ** a,
    "dgen.gamma": lambda x, r, l, b: special.gammainc(r, (l * x) ** b),
    "df": lambda x, n, m: special.fdtr(n, m, x),
    "half_normal": lambda x, s: special.erf(x / s / math.sqrt(2)),
    "half_t": lambda x, k, s: 2 * special.stdtr(k, x / s) - 1,
    "half_cauchy": lambda x, s: 2 / math.pi * np.arctan(x / s),
    "rayleigh": lambda x, s: -np.expm1(-0.5 * (x / s) ** 2),
    "gumbel": lambda x, m, b: np.exp(-np.exp(-(x - m) / b)),
    "von_mises": lambda x, m, k: stats.vonmises.cdf(x - m, k),
    "modified_half_normal": lambda x, c, b, a, p: mhn(x ** p, c / p, b, a),
    "gig": gig,
    "root_gig": lambda x, c, a, b: gig(x * x, c / 2, 2 * a, 2 * b),
}
DISCRETE = {
    "dbern": lambda x, p: stats.binom.cdf(x, 1, p),
    "dbin": lambda x, p, n: stats.binom.cdf(x, n, p),
    "dpois": lambda x, m: stats.poisson.cdf(x, m),
    "dnegbin": lambda x, p, r: np.where(
        x < 0, 0.0, special.betainc(r, np.maximum(x, 0) + 1, p)),
}


def of_dirichlet(x, a):
    """Each share of what those before it leave."""
    left = 1 - np.concatenate([[0.0], np.cumsum(x)[:-1]])
    rest = np.cumsum(a[::-1])[::-1]
    return special.betainc(a[:-1], rest[1:], (x / left)[:-1])


def of_normal(x, mean, precision):
    """Components in turn, the last first."""
    return special.ndtr(np.linalg.cholesky(precision).T @ (x - mean))


def of_correlations(x, eta):
    """The columns of a factor, an upper triangle, above the diagonal: their
    lengths, and their last coordinates given these."""
    n, out = len(x), []
    for j in range(1, n):
        square = 1 - x[j, j] ** 2
        out.append(special.betainc(j / 2, eta + (n - 1 - j) / 2, square))
        if j > 1:  # of a direction in j dimensions
            c = x[j - 1, j] / math.sqrt(square)
            out.append(special.betainc((j - 1) / 2, (j - 1) / 2, (1 + c) / 2))
    return out


VECTOR = {  # name -> uniform values of (a draw, arguments...)
    "ddirch": of_dirichlet,
    "dmnorm": of_normal,
    "dmnorm.vcov": lambda x, m, s: of_normal(x, m, np.linalg.inv(s)),
    "dlkj_corr_cholesky": lambda x, eta, p: of_correlations(x, eta),
    "lkj_corr_cholesky of extent": lambda x, eta, p: of_correlations(x.T, eta),
    "lkj_corr of extent": lambda x, eta, p: of_correlations(
        np.linalg.cholesky(x).T, eta),
}


class Transform:
    """`empty` are the arrays of a model without what it draws and computes (of
    forward.Forward)."""

    def __init__(self, model, names, empty):
        self.model, self.names, self.empty = model, names, empty
        moves = {r.left[1] for r in syntax.relations(model.body)}
        self.fixed, self.moving = [], []
        world = World(empty)
        for s in model.body:
            for r, at in world.each(s, {}):
                if r.random:
                    to = self.moving if arguments_read(r) & moves else \
                        self.fixed
                    to.append((r, at))

    def uniforms(self, drawn, seconds):
        """Statement, and distribution, -> values that are uniform where draws are
        right; `drawn`: columns of draws. Where arguments move, as many draws as
        there is time for."""
        columns = []
        for column, x in drawn.items():
            m = COLUMN.match(column)
            if m and m.group(1) in self.names:
                columns.append((self.names[m.group(1)], tuple(
                    int(k) - 1 for k in m.group(2).split(".")[1:]), x))
        found = self.with_fixed_arguments(columns)
        rows = self.with_moving_arguments(columns, seconds)
        generator = np.random.default_rng(len(columns))
        for (text, name), x in rows.items():
            u = np.array(x) if name in VECTOR else \
                transformed(generator, name, *np.array(x).T)
            found.append((text, name, u))
        out = {}
        for text, name, u in found:
            for key in (text, f"all of {name}"):
                out.setdefault(key, []).append(u)
        return {key: np.concatenate(u) for key, u in out.items()}

    def with_fixed_arguments(self, columns):
        """[(statement, distribution, uniform values)]"""
        generator = np.random.default_rng(len(columns) + 1)
        columns = {(name, cell): x for name, cell, x in columns}
        world, out = World(self.empty), []
        for r, at in self.fixed:
            x = drawn_values(world, r, at, columns)
            if x is None:
                continue
            known = known_arguments(world, r, at)
            if known and x.ndim == 1:
                name, args = known
                u = transformed(generator, name, x, *args)
            else:
                found = [uniform_of_vector(world, r, at, v) for v in x]
                if not all(found):
                    continue
                name = found[0][0]
                u = finite([v for _, values in found for v in values])
            out.append((syntax.show_relation(r), name, u))
        return out

    def with_moving_arguments(self, columns, seconds):
        """(statement, distribution) -> [(draw, bounds, arguments)]"""
        end = time.monotonic() + seconds
        world = World({k: v.copy() for k, v in self.empty.items()})
        computed, left, found = None, self.moving, {}
        for k in range(len(columns[0][2]) if columns else 0):
            for name, cell, x in columns:
                world.values[name][cell] = x[k]
            if computed is None:
                computed = not self.is_whole(world)
            if computed:
                settle(world, self.model.body, None)
            left = [(r, at) for r, at in left
                    if note(world, r, at, found)]
            if time.monotonic() > end or not left:
                break
        return found

    def is_whole(self, world):
        """Whether what is computed is among the draws."""
        for s in self.model.body:
            for r, at in world.each(s, {}):
                try:
                    world.value(r.left, at)
                except (NotReady, IndexError):
                    if not r.random:
                        return False
        return True


def drawn_values(world, r, at, columns):
    """The draws of a node, one after the other; None if not all are there."""
    name, cells = r.left[1], np.zeros((), int)
    if r.left[0] == "index":
        size = world.values[name].shape
        cells = np.arange(np.prod(size)).reshape(size)[world.cells(r.left, at)]
    else:
        size = ()
    found = [columns.get((name, tuple(map(int, np.unravel_index(k, size)))
                          if size else ())) for k in np.ravel(cells)]
    if any(x is None for x in found):
        return None
    return np.array(found).T.reshape(-1, *np.shape(cells))


def finite(u):
    u = np.asarray(u)
    return u[np.isfinite(u)]


def arguments_read(r):
    """Names that a relation's distribution and bounds read."""
    return syntax.reads(replace(r, left=("name", "")))


def known_arguments(world, r, at):
    """(name, (bounds, arguments)) of what has a distribution function here and
    arguments that are numbers; None of others."""
    try:
        name, args = world.arguments(r, at)
        bounds = world.limits(r, at)
    except (NotReady, Impossible, IndexError):
        return None
    if name not in CONTINUOUS and (name not in DISCRETE or r.bounds) or \
            any(np.ndim(a) for a in args):
        return None
    return name, (*bounds, *args)


def uniform_of_vector(world, r, at, x=None):
    """(name, values) of a vector or matrix node, which is x; None of others."""
    try:
        name, args = world.arguments(r, at)
        if name not in VECTOR:
            return None
        return name, VECTOR[name](world.value(r.left, at) if x is None else x,
                                  *args)
    except (NotReady, Impossible, IndexError, np.linalg.LinAlgError):
        return None


def note(world, r, at, found):
    """A draw with its bounds and arguments; False if none of it is known."""
    known = known_arguments(world, r, at)
    vector = None if known else uniform_of_vector(world, r, at)
    if vector:
        name, u = vector
        found.setdefault((syntax.show_relation(r), name), []).extend(
            finite(u))
        return True
    try:
        x = world.value(r.left, at)
    except (NotReady, IndexError):
        return False
    if not known or np.ndim(x):
        return False
    name, args = known
    found.setdefault((syntax.show_relation(r), name), []).append((x, *args))
    return True


def transformed(generator, name, x, low, high, *args):
    """Of draws, bounds and arguments, each a number or an array."""
    with np.errstate(all="ignore"):
        if name in DISCRETE:
            f = DISCRETE[name]
            above, below = f(x, *args), f(x - 1, *args)
            u = below + (above - below) * generator.random(len(x))
            return u[np.isfinite(u)]
        f = CONTINUOUS[name]
        ends = [np.where(np.isinf(e), other,
                         f(np.where(np.isinf(e), x, e), *args))
                for e, other in ((low, 0.0), (high, 1.0))]
        # below the support there is nothing
        ends = [np.where(np.isnan(e), 0.0, e) for e in ends]
        mass = ends[1] - ends[0]
        u = (f(x, *args) - ends[0]) / mass
    return u[np.isfinite(u) & (mass > LEAST_MASS)]


def distance(u):
    """Of Kolmogorov and Smirnov, with the square root of the size."""
    if len(u) < 20:
        return 0.0
    u, steps = np.sort(u), np.arange(len(u) + 1) / len(u)
    return math.sqrt(len(u)) * float(
        max(np.max(steps[1:] - u), np.max(u - steps[:-1])))
