"""The log density of a model at a draw, added up in plain Python from the
model's text: an opinion about what the text means that shares nothing with
gbmc."""

import math
import re

import numpy as np

import distributions as d
import own as _  # adds the distributions that models define themselves
import syntax
from simulate import Impossible, NotReady, World

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
            short = re.sub(r"\W", "_", n)
            if short in self.names:
                used.add("two names that are one column")
            self.names[short] = n
        self.possible = not any(
            n not in d.ALL and n not in d.MODERN for n in used)

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
            v -= log_mass(name, args, low, high)
    except NotReady:
        raise Unknown(f"{syntax.show(r.left)} has no value")
    except TypeError as bad:
        raise Unknown(f"{syntax.show_relation(r)}: {bad}")
    except (Impossible, ValueError, OverflowError, ZeroDivisionError) as bad:
        return f"{what}: {bad}", -math.inf
    return what, v


NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


def log_mass(name, args, low, high):
    """The probability of an interval, by quadrature or by a sum."""
    f = d.ALL[name][1]
    if name in d.DISCRETE:
        first = max(0, math.ceil(low))
        last = min(high, first + 2000)
        if math.isinf(high) and first < 100:  # one minus the rest
            below = sum(math.exp(f(k, *args)) for k in range(first))
            return math.log1p(-below)
        return math.log(sum(math.exp(f(k, *args))
                            for k in range(first, int(last) + 1)))
    # x = t / (1 - t^2) takes (-1, 1) to the line
    def back(x):
        if math.isinf(x):
            return math.copysign(1.0, x)
        return 0.0 if x == 0 else (math.sqrt(1 + 4 * x * x) - 1) / (2 * x)
    if name in ("dgamma", "dexp", "dweib", "dlnorm", "dchisqr"):
        low = max(low, 0.0)
    a, b, total = back(low), back(high), 0.0
    edges = np.linspace(a, b, 101)
    for p, q in zip(edges[:-1], edges[1:]):
        t = (q - p) / 2 * NODES + (p + q) / 2
        x = t / (1 - t * t)
        scale = (1 + t * t) / (1 - t * t) ** 2
        total += (q - p) / 2 * sum(
            w * math.exp(f(v, *args)) * s
            for w, v, s in zip(WEIGHTS, x, scale))
    return math.log(total)
