"""Makes a failing model small: drops and simplifies, one thing at a time, as
long as the same oracle fails in the same way (delta debugging, Zeller and
Hildebrandt 2002; by the syntax, Regehr et al. 2012)."""

import json
import math
import tempfile
import time

import numpy as np

import oracles
import syntax
from simulate import Impossible, NotReady, World
from syntax import Loop, Model, Relation, to_json


def as_arrays(data):
    def put(v):
        if v is None:
            return math.nan
        return [put(x) for x in v] if isinstance(v, list) else v
    return {n: np.asarray(put(v), float) for n, v in data.items()}


class Reducer:
    def __init__(self, seed, failure, settings, seconds, truth):
        self.seed, self.failure, self.truth = seed, failure, truth
        self.settings = settings
        self.end = time.time() + seconds
        self.tried = set()
        settings.seconds = min(settings.seconds, 20)
        self.only = {"density", failure.oracle} if failure.oracle == "run" \
            else {failure.oracle}
        if failure.oracle == "cc":
            self.only = {"warnings"}
        if failure.oracle in ("run",):
            self.only = set(settings.oracles)

    def late(self):
        return time.time() > self.end

    def fails(self, model, data):
        text, body = syntax.show_model(model), json.dumps(to_json(data))
        if self.late() or (text, body) in self.tried:
            return False
        self.tried.add((text, body))
        with tempfile.TemporaryDirectory(prefix="gbm_reduce_") as folder:
            failures, _, _ = oracles.examine(text, body, data, self.seed,
                                             folder, self.settings, True,
                                             self.only, self.truth)
        return any(f.oracle == self.failure.oracle and
                   f.kind == self.failure.kind for f in failures)

    def attempt(self, state, candidate):
        candidate = tidy(*candidate)
        if candidate and not uncovered(*candidate) <= self.open:
            return state, False
        if candidate is None or key(*candidate) == key(*state):
            return state, False
        if self.fails(*candidate):
            return candidate, True
        return state, False

    def run(self, model, data):
        self.open = uncovered(model, data)
        state = tidy(model, data)
        if not self.fails(*state):
            if self.late() or key(*state) == key(model, data):
                return model, data
            state = (model, data)
        changed = True
        while changed and not self.late():
            changed = False
            for change in CHANGES:
                k = 0
                while not self.late():
                    options = change(*state)
                    options = options[k:]
                    if not options:
                        break
                    for candidate in options:
                        k += 1
                        state, better = self.attempt(state, candidate)
                        if better:
                            changed = True
                            k -= 1
                            break
                        if self.late():
                            break
                    else:
                        break
        return state


def uncovered(model, data):
    """Missing cells that no statement fills: to read them is an error."""
    world = World({n: v.copy() for n, v in data.items()})
    for s in model.data + model.body:
        try:
            for r, at in world.each(s, {}):
                if r.left[1] in world.values:
                    world.put(r.left, at, 0.0)
        except (NotReady, Impossible, IndexError, ValueError, TypeError):
            continue
    return {(n, tuple(int(k) for k in at)) for n in data
            for at in np.argwhere(np.isnan(world.values[n]))}


def key(model, data):
    return syntax.show_model(model), json.dumps(to_json(data))


def tidy(model, data):
    """Data that nothing names go; so do empty loops."""
    def without_empty(body):
        out = []
        for s in body:
            if isinstance(s, Loop):
                inner = without_empty(s.body)
                if inner:
                    out.append(Loop(s.name, s.low, s.high, inner))
            else:
                out.append(s)
        return tuple(out)
    model = Model(without_empty(model.body), without_empty(model.data),
                  model.before, model.after)
    if not model.body:
        return None
    used = syntax.all_names(model)
    return model, {n: v for n, v in data.items() if n in used}


# ------------------------------------------------- changes of the statements

def places(body, path=()):
    for k, s in enumerate(body):
        yield path + (k,), s
        if isinstance(s, Loop):
            yield from places(s.body, path + (k,))


def changed(body, path, new):
    """`new` are the statements in the place of one."""
    k = path[0]
    if len(path) == 1:
        return body[:k] + tuple(new) + body[k + 1:]
    s = body[k]
    inner = changed(s.body, path[1:], new)
    return body[:k] + (Loop(s.name, s.low, s.high, inner),) + body[k + 1:]


def with_body(model, body):
    return Model(body, model.data, model.before, model.after)


def drop_statements(model, data):
    """Halves first, then one by one; what a dropped statement defined and
    others read becomes data if there are values for it."""
    out = []
    n = len(model.body)
    for size in (n // 2, n // 4):
        if size > 1:
            for at in range(0, n, size):
                out.append((with_body(model, model.body[:at]
                                      + model.body[at + size:]), data))
    for path, _ in places(model.body):
        out.append((with_body(model, changed(model.body, path, ())), data))
    for k in range(len(model.data)):
        out.append((Model(model.body, model.data[:k] + model.data[k + 1:],
                          model.before, model.after), data))
    if model.before:
        out.append((Model(model.body, model.data, "", model.after), data))
    asked = model.after.splitlines()
    for k in range(1, len(asked) - 1):
        rest = asked[:k] + asked[k + 1:]
        out.append((Model(model.body, model.data, model.before, "" if len(
            rest) == 2 else "\n".join(rest)), data))
    return out


def shorten_loops(model, data):
    out = []
    for path, s in places(model.body):
        if not isinstance(s, Loop):
            continue
        for value in (s.low, s.high):
            body = tuple(syntax.map_statement(
                t, lambda e: fold(syntax.substitute(e, s.name, value)))
                for t in s.body)
            out.append((with_body(model, changed(model.body, path, body)),
                        data))
        end = number(s.high, data)
        start = number(s.low, data)
        if end is not None and start is not None and end > start + 1:
            for new in sorted({start + 1, (start + end) // 2, end - 1}):
                loop = Loop(s.name, s.low, ("num", str(new)), s.body)
                out.append((with_body(model, changed(model.body, path,
                                                     (loop,))), data))
    return out


def number(e, data):
    if e[0] == "num":
        return int(float(e[1]))
    if e[0] == "name" and e[1] in data and data[e[1]].ndim == 0:
        return int(data[e[1]])
    e = fold(e)
    return int(float(e[1])) if e[0] == "num" else None


def fold(e):
    """Arithmetic on whole numbers, done."""
    e = syntax.with_parts(e, [fold(p) for p in syntax.parts(e)])
    if e[0] == "op" and e[1] in "+-*" and e[2][0] == e[3][0] == "num":
        a, b = float(e[2][1]), float(e[3][1])
        v = {"+": a + b, "-": a - b, "*": a * b}[e[1]]
        if v == int(v) and v >= 0 and a == int(a) and b == int(b):
            return ("num", str(int(v)))
    return e


# ------------------------------------------------ changes of the expressions

SIMPLE = [("call", "dnorm", (("num", "0"), ("num", "1"))),
          ("call", "dgamma", (("num", "2"), ("num", "2"))),
          ("call", "dbeta", (("num", "2"), ("num", "2")))]


def simpler(e, inside=False):
    """Expressions that may stand for one: its parts, small numbers; then the
    same within it."""
    out = []
    if e[0] in ("op", "neg", "call"):
        out += [p for p in syntax.parts(e) if p[0] not in ("range", "all",
                                                          "named")]
    if e[0] in ("op", "neg", "call", "name", "index"):
        out += [("num", "1"), ("num", "0"), ("num", "2")]
    if e[0] == "num" and e[1] not in ("0", "1", "2"):
        out.append(("num", "1"))
    return [x for x in out if x != e]


def variants(e, top=False):
    """The expression with one place in it made simpler."""
    if not top:
        yield from simpler(e)
    ps = syntax.parts(e)
    for k, p in enumerate(ps):
        if p[0] in ("all",):
            continue
        for new in variants(p, p[0] == "range"):
            yield syntax.with_parts(e, ps[:k] + (new,) + ps[k + 1:])


def simplify_expressions(model, data):
    out = []
    for path, s in places(model.body):
        if isinstance(s, Loop):
            continue
        made = []
        if s.bounds:
            made.append(Relation(s.left, s.random, s.value, s.link))
        if s.link:
            made.append(Relation(s.left, s.random, s.value))
        if s.random:
            made += [Relation(s.left, True, v, "", s.bounds) for v in SIMPLE
                     if s.value != v and s.value[1] not in
                     ("dnorm", "dgamma", "dbeta")]
        made += [Relation(s.left, s.random, v, s.link, s.bounds)
                 for v in variants(s.value, s.random)]
        for which in (1, 2):
            if s.bounds and s.bounds[which]:
                for v in variants(s.bounds[which]):
                    b = list(s.bounds)
                    b[which] = v
                    made.append(Relation(s.left, s.random, s.value, s.link,
                                         tuple(b)))
        out += [(with_body(model, changed(model.body, path, (r,))), data)
                for r in made]
    return out


# ------------------------------------------------------- changes of the data

def inline_scalars(model, data):
    out = []
    for name, v in data.items():
        if v.ndim == 0 and float(v) == int(v) and v >= 0:
            new = ("num", str(int(v)))
            body = tuple(syntax.map_statement(
                s, lambda e: syntax.substitute(e, name, new))
                for s in model.body)
            out.append((with_body(model, body), data))
    return out


def fewer_data(model, data):
    """Arrays without values, cut shorter, rounded, or wholly known."""
    out = []
    random = {r.left[1] for r in syntax.relations(model.body) if r.random}
    for name, v in data.items():
        if name in random:
            out.append((model, {n: w for n, w in data.items() if n != name}))
        if v.ndim == 1 and len(v) > 1:
            out.append((model, {**data, name: v[:-1]}))
        rounded = np.where(np.abs(v) >= 1, np.round(v), np.round(v, 1))
        if not np.array_equal(rounded, v, equal_nan=True):
            out.append((model, {**data, name: rounded}))
    for name, v in data.items():
        if name in random and v.ndim:
            known = np.argwhere(~np.isnan(v))
            for at in known[:12]:
                w = v.copy()
                w[tuple(at)] = math.nan
                out.append((model, {**data, name: w}))
    return out


CHANGES = [drop_statements, shorten_loops, inline_scalars,
           simplify_expressions, fewer_data]


def reduce(text, data, seed, failure, settings, seconds, truth=None):
    reducer = Reducer(seed, failure, settings, seconds, truth)
    model, data = reducer.run(syntax.parse(text), as_arrays(data))
    return syntax.show_model(model), json.dumps(to_json(data))
