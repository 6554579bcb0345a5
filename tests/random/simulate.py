"""Plain arithmetic on models: computes what is computed, simulates what is
random, adds up the log density, element by element as JAGS would.  It shares
nothing with gbmc."""

import math

import numpy as np

import distributions as d
from syntax import Loop

TRIES = 2000  # draws until one lies within bounds


# parameters of distributions that are called by names
NAMED = {"my_normal": ("mean", "sd")}


class NotReady(Exception):
    """An element is read that has no value yet."""


class Impossible(Exception):
    """No finite value can be had."""


def ilogit(x):
    return 1 / (1 + math.exp(-x)) if x >= 0 else \
        math.exp(x) / (1 + math.exp(x))


def icloglog(x):
    return -math.expm1(-math.exp(min(x, 700)))  # 1 long before that


def flat(args):
    return np.concatenate([np.ravel(a) for a in args])


def interp_lin(e, x, y):
    return float(np.interp(e, x, y))


def each(f):
    """f of a number, or of each element of an array."""
    return lambda x: np.reshape([f(v) for v in np.ravel(x)], np.shape(x)) \
        if np.ndim(x) else f(x)


FUNCTIONS = {
    "exp": math.exp, "log": each(d.log), "sqrt": math.sqrt, "abs": abs,
    "pow": lambda x, y: x ** y, "ilogit": ilogit, "expit": ilogit,
    "logit": lambda p: math.log(p / (1 - p)), "phi": d.phi,
    "cloglog": lambda p: math.log(-math.log(1 - p)),
    "icloglog": icloglog,
    "sin": math.sin, "cos": math.cos, "tanh": math.tanh,
    "arctan": math.atan, "log1p": each(math.log1p), "expm1": math.expm1,
    "loggam": math.lgamma, "logfact": lambda x: math.lgamma(x + 1),
    "step": lambda x: float(x >= 0), "equals": lambda x, y: float(x == y),
    "ifelse": lambda c, a, b: a if c else b, "cube": lambda x: x ** 3,
    "round": lambda x: math.floor(abs(x) + 0.5) * (1 if x >= 0 else -1),
    "trunc": math.trunc, "floor": math.floor, "ceiling": math.ceil,
    "log1pexp": lambda x: math.log1p(math.exp(-abs(x))) + max(x, 0),
    "inverse": np.linalg.inv, "t": np.transpose,
    "crossprod": lambda a: a.T @ a, "tcrossprod": lambda a: a @ a.T,
    "multiply_lower_tri_self_transpose": lambda a: a @ a.T,
    "diag_pre_multiply": lambda v, a: np.ravel(v)[:, None] * a,
    "diag_post_multiply": lambda a, v: a * np.ravel(v),
    "uppertri_mult_diag": lambda a, v: a * np.ravel(v),
    "quad_form_diag": lambda a, v: np.ravel(v)[:, None] * a * np.ravel(v),
    "logdet": lambda a: np.linalg.slogdet(a)[1],
    "inprod": lambda x, y: float(np.dot(np.ravel(x), np.ravel(y))),
    "mean": lambda x: float(np.mean(x)),
    "sd": lambda x: float(np.std(x, ddof=1)),
    "length": lambda x: float(np.size(x)),
    "sort": lambda x: np.sort(x), "interp.lin": interp_lin,
    "rank": lambda x: 1.0 + np.argsort(np.argsort(x, kind="stable")),
    "order": lambda x: 1.0 + np.argsort(x, kind="stable"),
    "rep": lambda x, n: np.tile(np.ravel(x), int(n)),
    "sum": lambda *a: float(np.sum(flat(a))),
    "prod": lambda *a: float(np.prod(flat(a))),
    "max": lambda *a: float(np.max(flat(a))),
    "min": lambda *a: float(np.min(flat(a))),
    "c": lambda *a: flat(a),
}
LINKS = {"log": math.exp, "logit": ilogit, "probit": d.phi,
         "cloglog": icloglog}
OPS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b,
    "*": lambda a, b: a * b, "/": lambda a, b: a / b,
    "^": lambda a, b: a ** b, "<": lambda a, b: float(a < b),
    ">": lambda a, b: float(a > b), "<=": lambda a, b: float(a <= b),
    ">=": lambda a, b: float(a >= b), "==": lambda a, b: float(a == b),
    "!=": lambda a, b: float(a != b), "%*%": lambda a, b: np.dot(a, b),
    "&&": lambda a, b: float(bool(a) and bool(b)),
    "||": lambda a, b: float(bool(a) or bool(b)),
}


class World:
    """Values of all elements; NaN where there is none yet."""

    def __init__(self, values=None, generator=None):
        self.values = values if values is not None else {}
        self.generator = generator
        self.places = {}  # name of a random array -> its cells, in order
        self.computed = {}
        self.vectors = set()  # names that have vector or matrix nodes

    # ------------------------------------------------------------ expressions

    def value(self, e, loops):
        kind = e[0]
        if kind == "num":
            return float(e[1])
        if kind == "name":
            if e[1] in loops:
                return float(loops[e[1]])
            return self.checked(self.get(e[1]))
        if kind == "index":
            return self.checked(self.get(e[1])[self.cells(e, loops)])
        if kind == "neg":
            return -self.value(e[1], loops)
        if kind == "range":
            return np.arange(self.value(e[1], loops),
                             self.value(e[2], loops) + 1)
        args = [self.value(a, loops) for a in e[2:]] if kind == "op" else \
            [self.value(a[2] if a[0] == "named" else a, loops)
             for a in e[2]]
        try:
            if kind == "op":
                return OPS[e[1]](*args)
            return FUNCTIONS[e[1]](*args)
        except (ValueError, OverflowError, ZeroDivisionError,
                np.linalg.LinAlgError) as bad:
            raise Impossible(f"{e[1]}: {bad}")

    def get(self, name):
        if name not in self.values:
            raise NotReady(name)
        return self.values[name]

    @staticmethod
    def checked(v):
        if np.any(np.isnan(v)):
            raise NotReady()
        return float(v) if np.ndim(v) == 0 else v

    def cells(self, e, loops):
        """Subscripts of numpy for those of the model."""
        out, extents = [], self.values[e[1]].shape \
            if e[1] in self.values else ()
        vectors = 0
        for k, p in enumerate(e[2]):
            if p[0] == "all":
                out.append(slice(0, extents[k]))
            elif p[0] == "range":
                low = int(self.value(p[1], loops)) - 1
                out.append(slice(low, int(self.value(p[2], loops))))
            else:
                at = self.value(p, loops)
                if np.ndim(at):
                    out.append(np.asarray(at, dtype=int) - 1)
                    vectors += 1
                    continue
                out.append(int(at) - 1)
            low = out[-1].start if isinstance(out[-1], slice) else out[-1]
            high = out[-1].stop - 1 if isinstance(out[-1], slice) else low
            if low < 0 or (k < len(extents) and high >= extents[k] and
                           e[1] in self.values and not self.growing):
                raise Impossible(f"{e[1]}: subscript {low + 1}:{high + 1}")
        return tuple(out)

    growing = False

    # ------------------------------------------------------------- statements

    def put(self, left, loops, v):
        name = left[1]
        if left[0] == "name":
            self.values[name] = np.asarray(v, dtype=float)
            return
        self.growing = True
        try:
            where = self.cells(left, loops)
        finally:
            self.growing = False
        need = [int(w.stop if isinstance(w, slice) else np.max(w) + 1)
                for w in where]
        old = self.values.get(name)
        if old is None:
            old = np.full(need, math.nan)
        elif any(n > o for n, o in zip(need, old.shape)):
            bigger = np.full([max(n, o) for n, o in zip(need, old.shape)],
                             math.nan)
            bigger[tuple(slice(0, o) for o in old.shape)] = old
            old = bigger
        old[where] = v
        self.values[name] = old

    def each(self, s, loops):
        """The relations of a statement, with their loops' values."""
        if not isinstance(s, Loop):
            yield s, loops
            return
        low, high = (int(self.value(e, loops)) for e in (s.low, s.high))
        for i in range(low, high + 1):
            for t in s.body:
                yield from self.each(t, {**loops, s.name: i})

    def arguments(self, s, loops):
        args = s.value[2]
        if args and args[0][0] == "named":
            by_name = {a[1]: a[2] for a in args}
            args = [by_name[n] for n in NAMED[s.value[1]]]
        args = [self.value(a, loops) for a in args]
        if s.value[1] in d.SIZED:
            args.append(self.extents(s, loops)[0])
        return d.bugs(s.value[1], args)

    def limits(self, s, loops):
        if not s.bounds:
            return -math.inf, math.inf
        return tuple(e_or if e is None else self.value(e, loops)
                     for e, e_or in zip(s.bounds[1:], (-math.inf, math.inf)))

    def extents(self, s, loops):
        """Of a left-hand side that is a vector or a matrix."""
        self.growing = True
        try:
            where = self.cells(s.left, loops)
        finally:
            self.growing = False
        return [w.stop - w.start if isinstance(w, slice) else len(w)
                for w in where if isinstance(w, slice) or np.ndim(w)]

    def draw(self, s, loops):
        name, args = self.arguments(s, loops)
        low, high = self.limits(s, loops)
        if s.left[0] == "index" and name in d.VECTOR:
            args = [float(a) if np.ndim(a) == 0 else np.asarray(a, float)
                    for a in args]
        try:
            for _ in range(TRIES):
                x = d.ALL[name][0](self.generator, *args)
                if not np.all(np.isfinite(x)):
                    break
                if np.ndim(x) or low <= x <= high:
                    return x
        except (ValueError, OverflowError, ZeroDivisionError, TypeError,
                np.linalg.LinAlgError) as bad:
            raise Impossible(f"{name}: {bad}")
        raise Impossible(f"{name}: nothing between the bounds")

    def computed_value(self, r, at):
        v = self.value(r.value, at)
        try:
            return LINKS[r.link](v) if r.link else v
        except OverflowError as bad:
            raise Impossible(f"{r.link}: {bad}")

    def run(self, s, loops=None):
        """Computes and simulates a statement's elements, in order."""
        for r, at in self.each(s, loops or {}):
            if r.random:
                v = self.draw(r, at)
            else:
                v = self.computed_value(r, at)
            if not np.all(np.isfinite(v)):
                raise Impossible(f"{r.left[1]} is not finite")
            self.put(r.left, at, v)
            self.note(r, at, v)

    def note(self, r, loops, v):
        """Which cells are random, which computed."""
        if r.left[0] == "name":
            where = [()]
        else:
            size = self.values[r.left[1]].shape
            grid = np.zeros(size, bool)
            grid[self.cells(r.left, loops)] = True
            where = [tuple(int(k) for k in w) for w in np.argwhere(grid)]
        to = self.places if r.random else self.computed
        to.setdefault(r.left[1], []).extend(where)
        if r.random and np.ndim(v):
            self.vectors.add(r.left[1])
