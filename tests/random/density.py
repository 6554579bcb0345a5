"""The log density of a model at a draw, added up in plain Python from the
model's text: an opinion about what the text means that shares nothing with
gbmc."""

import math
import re

import numpy as np

import distributions as d
import own as _  # adds the distributions that models define themselves
import syntax
from simulate import FUNCTIONS, Impossible, NotReady, World

COLUMN = re.compile(r"([A-Za-z]\w*?)((?:\.\d+)*)$")  # of a CmdStan file


class Unknown(Exception):
    """Something that is not written here."""


class Density:
    def __init__(self, text, data):
        self.model = syntax.parse(text)
        self.data = {n: np.asarray(v, float) for n, v in data.items()}
        self.why = ""
        used = {r.value[1] for r in syntax.relations(self.model.body)
                if r.random}
        self.names, self.differs = {}, []
        for n in syntax.all_names(self.model):
            short = syntax.column_name(n)
            if short in self.names:
                used.add("two names that are one column")
            self.names[short] = n
        self.possible = not any(
            n not in d.ALL and n not in d.MODERN for n in used) and \
            functions(self.model) <= set(FUNCTIONS)

    def log_density(self, row):
        """Of the values in a row of draws, by column names."""
        world = self.world_of(row)
        self.computed = computed_by_sampler(world, self.model.body)
        total = []
        settle(world, self.model.body, total)
        self.differs = [
            f"{syntax.show(left)} at {at}: {v!r}, own {world.value(left, at)}"
            for left, at, v in self.computed
            if not np.allclose(v, world.value(left, at), 1e-6, 1e-6)]
        for what, v in total:
            if not math.isfinite(v):
                self.why = what
        return math.fsum(v for _, v in total)

    def has_no_draw(self, row):
        """Whether all draws of a row that are no numbers, of which there are
        some, are of distributions that have no draw: parameters are no numbers,
        as they overflow, or break a rule."""
        world = self.world_of(row)
        computed_by_sampler(world, self.model.body)
        settle(world, self.model.body, None)
        found = False
        for s in self.model.body:
            for r, at in world.each(s, {}):
                if not r.random or is_number(world, r.left, at):
                    continue
                try:
                    name, args = world.arguments(r, at)
                    if np.all(np.isfinite(np.hstack(
                            [np.ravel(a) for a in args]))) and \
                            d.has_draws(name, args, *world.limits(r, at)):
                        return False
                    found = True
                except (Impossible, ValueError, OverflowError,
                        ZeroDivisionError):
                    found = True
                except NotReady:  # of another draw that is no number
                    continue
        return found

    def world_of(self, row):
        world = World({n: v.copy() for n, v in self.data.items()})
        for r in syntax.relations(self.model.data):
            world.values.pop(r.left[1], None)
        settle(world, self.model.data, None)
        own = {}
        for column, v in row.items():
            m = COLUMN.match(column)
            if column.endswith("__") or not m:
                continue
            own.setdefault(self.names.get(m.group(1), m.group(1)), []).append(
                (tuple(int(k) - 1 for k in m.group(2).split(".")[1:]), v))
        for name, cells in own.items():
            put_cells(world, name, cells)
        return world


def is_possible(model, truth):
    """Whether the density of these values of all that is not data is a number."""
    row = {".".join([syntax.column_name(n), *(str(k + 1) for k in at)]): v[at]
           for n, v in truth.items() for at in np.ndindex(v.shape)
           if not math.isnan(v[at])}
    try:
        return math.isfinite(model.log_density(row))
    except Unknown:
        return False


def functions(model):
    """Of all that is computed, or an argument."""
    out = set()

    def walk(e, law=False):
        if e[0] == "call" and not law:
            out.add(e[1])
        for p in syntax.parts(e):
            walk(p)
    for r in syntax.relations(model.data + model.body):
        walk(r.value, r.random)
    return out


def is_number(world, left, at):
    try:
        return bool(np.all(np.isfinite(world.value(left, at))))
    except NotReady:
        return False


def computed_by_sampler(world, body):
    """[(left, loops, value)] of what is computed and among the draws, which
    has no value after this."""
    out = []
    for s in body:
        for r, at in world.each(s, {}):
            if r.random:
                continue
            try:
                out.append((r.left, at, np.copy(world.value(r.left, at))))
            except (NotReady, Impossible, IndexError):
                continue
            world.put(r.left, at, math.nan)
    return out


def put_cells(world, name, cells):
    size = [max(c[0][k] for c in cells) + 1 for k in range(len(cells[0][0]))]
    old = world.values.get(name)
    if old is None:
        old = np.full(size, math.nan)
    elif any(n > o for n, o in zip(size, old.shape)):
        new = np.full([max(n, o) for n, o in zip(size, old.shape)], math.nan)
        new[tuple(slice(0, o) for o in old.shape)] = old
        old = new
    for at, v in cells:
        old[at] = v
    world.values[name] = old


def settle(world, body, total):
    """Computes what is computed, in whatever order it stands; then adds
    up."""
    left = [(r, at) for s in body for r, at in world.each(s, {})]
    computed = [(r, at) for r, at in left if not r.random]
    while computed:
        later = []
        for r, at in computed:
            try:
                v = world.computed_value(r, at)
            except (NotReady, Impossible):  # of an array that grows yet, too
                later.append((r, at))
                continue
            world.put(r.left, at, v)
        if len(later) == len(computed):
            raise Unknown(f"{later[0][0].left[1]} has no value")
        computed = later
    if total is None:
        return
    for r, at in left:
        if r.random:
            total.append(relation_density(world, r, at))


def relation_density(world, r, at):
    what = syntax.show_relation(r) + f" at {at}"
    try:
        x = world.value(r.left, at)
        name, args = world.arguments(r, at)
        v = float(d.ALL[name][1](x, *args))
        if r.bounds:
            low, high = world.limits(r, at)
            if not low <= x <= high:
                return what + ": outside of its bounds", -math.inf
            if r.bounds[0] == "T":  # I and C censor
                v -= log_mass(name, args, low, high)
    except NotReady:
        raise Unknown(f"{syntax.show(r.left)} has no value")
    except TypeError as bad:
        raise Unknown(f"{syntax.show_relation(r)}: {bad}")
    except (Impossible, ValueError, OverflowError, ZeroDivisionError) as bad:
        return f"{what}: {bad}", -math.inf
    return what, v


NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
HALVES = 0.5 ** np.arange(1, 52)  # of an interval, down to a rounding error
NEAR_0 = 0.5 ** np.arange(58, 1000, 8)
HALF_LINE = ("dgamma", "dexp", "dweib", "dweib of a scale", "dlnorm",
             "dchisqr")


def support(name, args):
    """Where a density begins and ends, which may be with a jump, or infinite."""
    if name == "dunif":
        return args[0], args[1]
    if name == "dpar":
        return args[1], math.inf
    return (0.0, 1.0) if name == "dbeta" else \
        (0.0 if name in HALF_LINE else -math.inf, math.inf)


def log_mass(name, args, low, high):
    """The log of the probability of an interval, by quadrature or by a sum, in
    logs: far in a tail each density is 0."""
    def f(x):
        return d.ALL[name][1](x, *args)
    if name in d.DISCRETE:
        return log_sum_from(f, math.ceil(max(0, low)), high)
    first, last = support(name, args)
    low, high = max(low, first), min(high, last)
    if math.isinf(low) and math.isinf(high):
        return 0.0

    def at(t):
        """x at a place in (0, 1), and the log of dx / dt."""
        if not math.isinf(low) and not math.isinf(high):
            return low + (high - low) * t, math.log(high - low)
        t = min(t, 1 - 2.0 ** -53)
        far = t / (1 - t)
        return high - far if math.isinf(low) else low + far, \
            -2 * math.log1p(-t)

    def value(t):
        x, slope = at(t)
        try:
            v = f(x)
        except (OverflowError, ValueError, ZeroDivisionError):  # too far out
            return -math.inf
        return -math.inf if math.isnan(v) else v + slope
    terms = []
    edges = edges_of(value)
    for p, q in zip(edges[:-1], edges[1:]):
        half = (q - p) / 2
        terms += [math.log(half * w) + value(p + half * (1 + node))
                  for node, w in zip(NODES, WEIGHTS)]
    return float(np.logaddexp.reduce(terms))


def edges_of(value):
    """Where to cut (0, 1) so that each piece of a density with one top is
    smooth: ever narrower towards the ends and the top."""
    even = np.linspace(0, 1, 41)
    places = (even[:-1] + even[1:]) / 2
    best = max(places, key=value)
    below, above = best - 0.025, best + 0.025
    for _ in range(80):
        p, q = below + (above - below) / 3, above - (above - below) / 3
        if value(max(p, 1e-300)) < value(min(q, 1 - 1e-16)):
            below = p
        else:
            above = q
    top = (below + above) / 2
    every = np.concatenate(
        [even, NEAR_0, HALVES, 1 - HALVES, top + HALVES, top - HALVES])
    every = np.unique(every[(every >= 0) & (every <= 1)])
    return every[np.append(True, np.diff(every) > 1e-16 * every[1:])]


def log_sum_from(f, first, high):
    if math.isinf(high) and first < 100:  # one minus the rest
        below = math.fsum(math.exp(f(k)) for k in range(first))
        if below < 0.5:
            return math.log1p(-below)
    last = int(min(high, first + 2000))
    return float(np.logaddexp.reduce(
        [f(k) for k in range(first, last + 1)]))
