"""What edits of a model share: a model with its data while edits go on, where
its statements are, what is known of its names, new names and nodes."""

import functools
import math
import re
from dataclasses import dataclass, replace

import numpy as np

import density
import reducing
import syntax
from distributions import MODERN, SCALAR as SCALAR_NODES
from simulate import Impossible, NotReady, World
from syntax import Loop, Model

NO = (NotReady, Impossible, IndexError, ValueError, TypeError, KeyError,
      density.Unknown, OverflowError, ZeroDivisionError, SyntaxError)


@dataclass
class State:
    """A model while it is edited. `cell` says of a quantity of the original, a
    name and its subscripts, what it is here."""
    model: Model
    data: dict
    point: dict  # values of the original's quantities, somewhere in its bulk
    moved: tuple = ()  # of each edit that renames, (name, subscripts) to those
    same: bool = True  # whether the posterior is that of the original
    added: bool = False  # whether the joint density has terms of its own
    made: tuple = ()  # names that edits made

    def cell(self, name, at):
        for f in self.moved:
            name, at = f(name, at)
        return name, at

    # ------------------------------------------------------------ statements

    def each(self, body=None, path=(), loops=()):
        """(path, relation, the loops around it) of all relations."""
        for k, s in enumerate(self.model.body if body is None else body):
            if isinstance(s, Loop):
                yield from self.each(s.body, path + (k,), loops + (s,))
            else:
                yield path + (k,), s, loops

    def loops(self):
        return [(p, s) for p, s in reducing.places(self.model.body)
                if isinstance(s, Loop)]

    def relations(self):
        return list(syntax.relations(self.model.body))

    def with_statements(self, path, new, **other):
        """`new` stand in the place of one statement."""
        body = reducing.changed(self.model.body, path, new)
        return self.with_body(body, **other)

    def with_body(self, body, **other):
        return replace(self, model=reducing.with_body(self.model, body), **other)

    def in_place(self, path, relation, **other):
        return self.with_statements(path, (relation,), **other)

    def mapped(self, f, **other):
        """f done to every expression of the model {} block."""
        return self.with_body(tuple(syntax.map_statement(s, f)
                                    for s in self.model.body), **other)

    def with_data(self, **arrays):
        data = {**self.data, **{n: np.asarray(v, float)
                                for n, v in arrays.items()}}
        return replace(self, data=data,
                       made=self.made + tuple(arrays))

    # ----------------------------------------------------------------- names

    def fresh(self, base):
        taken = {syntax.column_name(n)
                 for n in syntax.all_names(self.model) | set(self.data)}
        taken |= {s.name for _, s in self.loops()}
        k = 1
        while f"{base}{k}" in taken:
            k += 1
        return f"{base}{k}"

    def defined(self):
        return {r.left[1] for r in self.relations()}

    def constants(self):
        """Names that are wholly data."""
        block = {r.left[1] for r in syntax.relations(self.model.data)}
        return {n for n, v in self.data.items() if not np.any(np.isnan(v))} \
            - self.defined() - block

    def world(self):
        """What can be computed from data alone."""
        world = World({n: v.copy() for n, v in self.data.items()})
        try:
            density.settle(world, self.model.data, None)
        except NO:
            pass
        return world

    def number(self, e, loops=None):
        """The value of an expression that only data decide, or None."""
        try:
            v = self.world().value(e, loops or {})
        except NO:
            return None
        return float(v) if np.ndim(v) == 0 and math.isfinite(float(v)) else None

    def whole(self, e):
        v = self.number(e)
        return int(v) if v is not None and v == int(v) else None

    def ends(self, loop):
        """(first, last) of a loop whose ends only data decide, or None."""
        low, high = self.whole(loop.low), self.whole(loop.high)
        return None if low is None or high is None else (low, high)

    def extents(self, name):
        """Of an array of data or of the model, or None."""
        if name in self.data:
            return np.shape(self.data[name])
        if name in self.point and name not in self.made:
            return np.shape(self.point[name])
        return None

    # ------------------------------------------------------------ expressions

    def expressions(self):
        """Every expression of the model {} block."""
        def of(body):
            for s in body:
                if isinstance(s, Loop):
                    yield s.low
                    yield s.high
                    yield from of(s.body)
                else:
                    yield s.left
                    yield s.value
                    yield from (b for b in s.bounds[1:] if b)
        return of(self.model.body)

    def uses(self, name):
        """Every place where a name stands, as an expression."""
        out = []

        def walk(e):
            if e[0] in ("name", "index") and e[1] == name:
                out.append(e)
            for p in syntax.parts(e):
                walk(p)
        for e in self.expressions():
            walk(e)
        return out

    def in_data_block(self, name):
        """Whether an array is of the data {} block, or declared as given."""
        return name in re.findall(r"[\w.]+", self.model.before) or any(
            name in syntax.reads(r) | {r.left[1]}
            for r in syntax.relations(self.model.data))

    def is_scalar(self, e, loops):
        """Whether an expression is certainly one number."""
        kind = e[0]
        if kind == "num":
            return True
        if kind == "name":
            return e[1] in {s.name for s in loops} or \
                np.shape(self.data.get(e[1], [0])) == () or any(
                    r.left == e and self.is_one_number(r)
                    for r in self.relations())
        if kind == "index":
            return all(self.is_scalar(p, loops) for p in e[2])
        if kind in ("op", "neg"):
            return e[1] != "%*%" and all(
                self.is_scalar(p, loops) for p in syntax.parts(e))
        if kind == "call":
            return e[1] in WHOLE or e[1] in SCALAR and all(
                self.is_scalar(p, loops) for p in e[2])
        return False

    def is_one_number(self, r):
        """Whether a name that stands alone on the left is no vector."""
        if r.random:
            name, _ = MODERN.get(r.value[1], (r.value[1], None))
            return name in SCALAR_NODES
        return self.is_scalar(r.value, ())

    def node(self, path, loops, value, base):
        """(state, reference) where a computed node of its own, beside the
        relation at `path`, has the value; or None where no loops allow it."""
        used = syntax.names_in(value)
        depth = max([k + 1 for k, s in enumerate(loops) if s.name in used],
                    default=0)
        around = loops[:depth]
        if any((self.whole(s.low) or 0) < 1 and
               self.number(s.low) is not None for s in around):
            return None
        name = self.fresh(base)
        left = cell(name, [("name", s.name) for s in around])
        new = syntax.Relation(left, False, value)
        at = path[:depth + 1]
        here = next(s for p, s in reducing.places(self.model.body) if p == at)
        state = self.with_statements(at, (here, new),
                                     made=self.made + (name,))
        return state, left


# functions of numbers, and those that make a number of arrays
SCALAR = set("""exp log sqrt abs pow ilogit expit logit phi probit cloglog icloglog sin
cos tanh arctan log1p expm1 loggam lgamma logfact step equals ifelse cube round
trunc floor ceiling log1pexp max min""".split())
WHOLE = set("inprod sum mean sd prod".split())


# distributions of numbers that are not whole
REAL = ("dnorm", "normal", "dt", "dgamma", "dbeta", "dunif", "dexp", "dlnorm",
        "ddexp", "dlogis")


def pick(g, options):
    options = list(options)
    return options[int(g.integers(len(options)))] if options else None


def order(g, options):
    options = list(options)
    return [options[int(k)] for k in g.permutation(len(options))]


def num(x):
    """An expression that is a number."""
    x = float(x)
    text = str(int(x)) if x == int(x) and abs(x) < 1e15 else repr(abs(x))
    if x < 0:
        return ("neg", ("num", text.lstrip("-")))
    return ("num", text)


def call(f, *args):
    return ("call", f, tuple(args))


def op(o, a, b):
    return ("op", o, a, b)


def index(name, *places):
    return ("index", name, tuple(places))


def name(x):
    return ("name", x)


ZERO, ONE, TWO = num(0), num(1), num(2)


def cell(array, places):
    """An element, or a number's name where there are no places."""
    return index(array, *places) if places else name(array)


def places_of(e):
    return e[2] if e[0] == "index" else ()


def total(terms):
    return functools.reduce(lambda a, b: op("+", a, b), terms)


def in_loops(relation, indices, extents):
    """A relation for all elements of an array."""
    for k, n in reversed(list(zip(indices, extents))):
        relation = Loop(k, ONE, num(n), (relation,))
    return relation


def sites(e, wanted, path=()):
    """Paths of the expressions within one that are wanted."""
    if wanted(e):
        yield path
    for k, p in enumerate(syntax.parts(e)):
        yield from sites(p, wanted, path + (k,))


def at_site(e, path):
    for k in path:
        e = syntax.parts(e)[k]
    return e


def replaced(e, path, new):
    if not path:
        return new
    ps = list(syntax.parts(e))
    ps[path[0]] = replaced(ps[path[0]], path[1:], new)
    return syntax.with_parts(e, ps)


def rename(e, old, new):
    """Every use of an array: new(places) of those that it has."""
    e = syntax.with_parts(e, [rename(p, old, new) for p in syntax.parts(e)])
    if e[0] == "index" and e[1] == old:
        return new(e[2])
    if e == ("name", old):
        return new(())
    return e


def value_sites(s, wanted):
    """(path of a relation, relation, loops, path within its value)."""
    for path, r, loops in s.each():
        for site in sites(r.value, lambda e: wanted(e, loops)):
            if (site or not r.random) and not inside_place(r.value, site):
                yield path, r, loops, site


def with_part(s, path, r, site, e):
    """e stands in the place of a part of the relation's value."""
    return s.in_place(path, replace(r, value=replaced(r.value, site, e)))


def inside_place(e, site):
    """Whether a site is within a subscript."""
    for k in site:
        if e[0] in ("index", "range"):
            return True
        e = syntax.parts(e)[k]
    return e[0] in ("range", "all", "named")
