"""Random models with data: a seed gives a model's text, its data, and the names
of the features that it has.

A Builder keeps a pool of what is defined so far (numbers, plates, vectors of
some kind: real, positive, probability, category, count) and a World in which
every statement is simulated as soon as it is written, so that subscripts,
bounds and sums are in range by construction and what is observed is in
support.  `makers.py` adds to the pool, piece by piece; expressions here take
from it, so that the features meet."""

import json
import math
from dataclasses import dataclass

import numpy as np

import choices
import likelihoods
import makers
import priors
import syntax
import users
from pool import Index
from simulate import Impossible, NotReady, World
from syntax import to_json

PLAIN = """alpha beta gamma delta mu theta lambda sigma tau eta phi psi rho
kappa omega xi zeta a b m s u v w y z r q level slope effect rate scale mean.x
log.rate site.effect pop occ surv obs true_state a0 b1 B2 Y X Z total nu""".split()
CLASHES = """double int float char long const static exp log sqrt pow state n i
j k d x rng chain element main switch case default return if.else signed
struct union void real gbm sum t T_ e p f g l NULL stdin errno y0 y1 jn
in_ NAN M_PI_ cells step count seed sweep value size offset index
mu.x tau.c a.b.c register auto goto while do break short extern inline bool
true false instance family row col lower upper new class template this
restrict_ asm typeof linux unix abs floor time signal bind""".split()
PLAIN_LOOPS = "i j k t s g h l r c".split()
CLASH_LOOPS = "d n e x p int.i double_ state ii j1 element chain".split()
MODERN_CHANCE = 0.4
CHOICE_CHANCE = 0.18  # that samplers are asked for
DECLARED_CHANCE = 0.12  # that `var` has extents of arrays


class Retry(Exception):
    """This seed's attempt came to nothing."""


class Builder:
    def __init__(self, generator, bugs_only=False):
        self.g = generator
        self.world = World({}, generator)
        self.body, self.data_body, self.before = [], [], []
        self.data, self.pool, self.features = {}, [], set()
        self.names = set()
        self.latent_always, self.observed_always = set(), set()
        self.fixed_cells = {}  # name -> cells that are data without statement
        self.asked = {}  # name -> the sampler that it should have, or ""
        self.far = set()  # names of what is large, as it is meant to be
        self.loops = self.depth = 0
        self.ranges, self.reserved, self.may_miss = {}, set(), set()
        self.bugs_only, self.beyond_jags = bugs_only, False
        self.clash = self.chance(0.25)
        self.modern = not bugs_only and self.chance(MODERN_CHANCE)
        if self.clash:
            self.features.add("clashing names")
        if self.modern:
            self.features.add("modern names")

    # -------------------------------------------------------------- chance

    def chance(self, p):
        return self.g.random() < p

    def pick(self, options):
        return options[int(self.g.integers(len(options)))]

    def weighted(self, pairs):
        """pairs: (weight, what)."""
        w = np.array([p[0] for p in pairs], float)
        return pairs[int(self.g.choice(len(pairs), p=w / w.sum()))][1]

    def between(self, low, high):
        return int(self.g.integers(low, high + 1))

    def number(self, low, high, digits=2):
        return f"{self.g.uniform(low, high):.{digits}g}"

    def feature(self, *names):
        self.features.update(names)

    # ---------------------------------------------------------------- names

    def name(self, hint=""):
        bases = CLASHES if self.clash and self.chance(0.6) else PLAIN
        base = hint if hint and self.chance(0.5) else self.pick(bases)
        name, k = base, 1
        while name in self.names or name in self.reserved:
            k += 1
            name = f"{base}{k}" if not base.endswith("_") else f"{base}{k}"
        self.names.add(name)
        return name

    def loop(self, low, high):
        bases = CLASH_LOOPS if self.clash else PLAIN_LOOPS
        for base in list(self.g.permutation(bases)) + ["index1", "index2"]:
            if base not in self.names:
                break
        else:
            base = f"loop{self.loops}"
        self.loops += 1
        # a loop variable may be used again by another loop, but not by names
        self.reserved.add(str(base))
        return Index(str(base), low, high)

    # ---------------------------------------------------------------- data

    def given(self, values, hint=""):
        name = self.name(hint)
        self.data[name] = np.asarray(values, float)
        self.world.values[name] = self.data[name].copy()
        return name

    def size(self, n):
        """A loop's end: a number, or a name that is data."""
        if self.chance(0.6):
            return str(n)
        for name, v in self.data.items():
            if v.ndim == 0 and v == n:
                return name
        return self.given(float(n), "N")

    # ---------------------------------------------------------- statements

    def write(self, text):
        s = syntax.parse_statement(text)
        self.world.run(s)
        self.body.append(s)

    def add(self, thing):
        self.pool.append(thing)
        return thing

    def value(self, thing):
        return self.world.values[thing.name]

    # ----------------------------------------------------------- subscripts

    def subscript(self, extent, context, latent=True):
        """A subscript in 1..extent."""
        options = [(0.5, lambda: str(self.between(1, extent)))]
        for v in context:
            if v.low < 1:
                continue
            options.append((1.2, lambda v=v: self.by_data(extent, v)))
            if v.high <= extent:
                options.append((6, lambda v=v: v.name))
                options.append((0.7, lambda v=v: self.affine(
                    f"{extent} - {v.name} + 1")))
            if v.low >= 2 and v.high - 1 <= extent:
                options.append((0.8, lambda v=v: self.affine(f"{v.name}-1")))
            if v.high + 1 <= extent:
                options.append((0.8, lambda v=v: self.affine(f"{v.name}+1")))
        if latent:
            for q in self.pool:
                if q.kind == "category" and q.top == extent:
                    options.append((1, lambda q=q: self.by_latent(q, context)))
        return self.weighted(options)()

    def affine(self, text):
        self.feature("affine subscript")
        return text

    def by_data(self, extent, v):
        self.feature("data subscript")
        old = [n for n, a in self.data.items() if a.ndim == 1 and
               len(a) >= v.high and self.ranges.get(n) ==
               extent]
        if old and self.chance(0.6):
            name = self.pick(old)
        else:
            values = self.g.integers(1, extent + 1, v.high)
            name = self.given(values, "g")
            self.ranges[name] = extent
        if self.chance(0.15):
            self.feature("nested subscript")
            outer = self.given(self.g.integers(1, v.high + 1, v.high), "h")
            return f"{name}[{outer}[{v.name}]]"
        return f"{name}[{v.name}]"

    def by_latent(self, q, context):
        self.feature("latent subscript")
        return self.at(q, context, latent=False)

    def at(self, q, context, latent=True):
        """A reference to one element of a thing."""
        if not q.dims:
            return q.name
        inner = {"vector": 1, "simplex": 1, "matrix": 2}.get(q.kind, 0)
        outer = q.dims[:len(q.dims) - inner]
        places = [self.subscript(n, context, latent) for n in outer]
        for n in q.dims[len(outer):]:
            places.append("" if self.chance(0.5) else f"1:{n}")
        return f"{q.name}[{','.join(places)}]"

    def cell(self, q, context):
        """One number out of a thing, vectors' cells too."""
        if not q.dims:
            return q.name
        return f"{q.name}[" + ",".join(self.subscript(n, context)
                                       for n in q.dims) + "]"

    # ---------------------------------------------------------- expressions

    def have(self, kinds, top=None):
        return [q for q in self.pool if q.kind in kinds and
                (top is None or q.top == top)]

    def of(self, kind, context, fresh=0.3):
        """A parameter of a kind, from the pool or new."""
        old = self.have([kind])
        if old and not self.chance(fresh):
            return self.at(self.pick(old), context)
        return self.at(priors.parameter(self, kind, context), context)

    def covariate(self, context):
        """x[i] of data; sometimes of data with a distribution."""
        if not context:
            return self.number(-2, 2)
        v = self.pick(context)
        old = [n for n, a in self.data.items() if a.ndim == 1 and
               len(a) >= v.high and not np.all(a == np.round(a))]
        if old and self.chance(0.6):
            name = self.pick(old)
        elif self.chance(0.2):
            return self.at(priors.modelled_covariate(self, v.high), [v])
        elif len(context) > 1 and self.chance(0.3):
            high = [w.high for w in context]
            name = self.given(np.round(self.g.normal(size=high), 2), "x")
            return f"{name}[{','.join(w.name for w in context)}]"
        else:
            name = self.given(np.round(self.g.normal(size=v.high), 2), "x")
        return f"{name}[{v.name}]"

    def term(self, context):
        """A summand of a predictor; about 1 in size."""
        vectors = [q for q in self.pool if q.kind == "vector"]
        rows = vectors + [q for q in self.pool if q.kind == "real" and
                          q.dims and q.dims[-1] <= 4]
        options = [
            (3, lambda: self.of("real", context)),
            (3, lambda: f"{self.of('real', context)} * "
                        f"{self.covariate(context)}"),
            (0.6, lambda: f"{self.of('real', context)} * "
                          f"{self.of('real', context, 0.1)}"),
            (0.4, lambda: self.curve(context)),
            (0.3, lambda: f"{self.of('positive', context, 0.2)} * "
                          f"{self.covariate(context)}"),
            (0.4, lambda: self.number(-1, 1)),
        ]
        reals = [q for q in self.have(["real"]) if len(q.dims) == 1]
        if reals:
            options.append((0.4, lambda: self.summary(self.pick(reals))))
        if vectors:
            options.append((2, lambda: self.cell(self.pick(vectors), context)))
        if rows:
            options.append((1.5, lambda: self.inner(self.pick(rows),
                                                    context)))
        if self.have(["category"]):
            options.append((0.4, lambda: self.of("real", context, 0.1) +
                            f" * ({self.at(self.pick(self.have(['category'])), context)} == 1)"))
        return self.weighted(options)()

    def curve(self, context):
        self.feature("nonlinear term")
        b = self.of("real", context, 0.2)
        return self.pick([f"sin({b})", f"exp(-{self.of('positive', context)})",
                          f"max({b}, 0)", f"step({b})", f"abs({b})",
                          f"tanh({b} * {self.covariate(context)})",
                          f"ilogit({b})", f"phi({b})",
                          f"log1p({self.of('positive', context)})",
                          f"min({b}, {self.number(0, 1)})",
                          f"ifelse({b} > 0, {self.number(0, 1)}, {b})",
                          f"pow({b}, 2) / 4", f"sqrt(1 + ({b})^2)"])

    def summary(self, q):
        self.feature("summary of an array")
        n = q.dims[0]
        part = self.pick([f"{q.name}[]", f"{q.name}[1:{n}]"])
        return self.pick([f"mean({part})", f"sum({part}) / {n}",
                          f"max({part})"])

    def row(self, context, n):
        """A vector of n numbers: data, a vector node, a row of a table, a
        plate."""
        options = [(1, lambda: self.data_row(context, n))]
        for q in self.pool:
            if q.kind == "vector" and q.dims[-1] == n:
                options.append((3, lambda q=q: self.at(q, context)))
            if q.kind != "real" or not q.dims or q.dims[-1] != n:
                continue
            if len(q.dims) == 1:
                options.append((2, lambda q=q: q.name + self.pick(
                    ["[]", f"[1:{n}]"])))
            elif len(q.dims) == 2:
                options.append((3, lambda q=q: f"{q.name}[" + self.subscript(
                    q.dims[0], context, False) + "," + self.pick(
                    ["", f"1:{n}"]) + "]"))
        return self.weighted(options)()

    def data_row(self, context, n):
        if not context:
            return self.given(np.round(self.g.normal(size=n), 2)) + "[]"
        v = self.pick(context)
        x = self.given(np.round(self.g.normal(size=(v.high, n)), 2), "X")
        return f"{x}[{v.name},{self.pick(['', f'1:{n}'])}]"

    def inner(self, q, context):
        """inprod of a thing's row with another."""
        self.feature("inprod")
        n = q.dims[-1]
        a, b, c = (self.row(context, n) for _ in range(3))
        form = self.weighted([(6, "inprod({}, {})"), (1, "sum({} * {})"),
                              (2, "sum({} * {} + {})")])
        return form.format(a, b, c)

    def predictor(self, context, most=3):
        """A linear predictor, sometimes by way of a computed array."""
        text = " + ".join(self.term(context)
                          for _ in range(self.between(1, most)))
        if self.chance(0.1):
            text = f"({text}) / 2"
        return text

    def real(self, context):
        return self.weighted([
            (1, lambda: self.number(-1, 1)),
            (3, lambda: self.of("real", context)),
            (4, lambda: self.predictor(context))])()

    def positive(self, context, low=0.05, high=50):
        """A positive expression; shapes and rates."""
        return self.weighted([
            (1.5, lambda: self.number(0.5, 4)),
            (4, lambda: self.of("positive", context)),
            (1.2, lambda: f"exp({self.small(context)})"),
            (0.6, lambda: f"{self.of('positive', context, 0.2)} * "
                          f"{self.of('positive', context, 0.2)}"),
            (0.4, lambda: f"{self.of('positive', context, 0.2)} / "
                          f"{self.number(0.5, 2)}"),
            (0.3, lambda: f"max({self.of('positive', context)}, 0.05)"),
            (0.3, lambda: f"{self.of('positive', context)} + "
                          f"{self.number(0.1, 1)}")])()

    def small(self, context):
        """A predictor that is halved, for exponents."""
        return f"{self.number(0.2, 0.7)} * ({self.predictor(context, 2)})"

    def precision(self, context):
        s = lambda: self.of("positive", context)
        return self.weighted([
            (1.5, lambda: self.number(0.5, 4)),
            (4, s),
            (2, lambda: f"pow({s()}, -2)"),
            (1, lambda: "1 / (({0}) * ({0}))".format(s())),
            (1, lambda: f"{s()}^-2"),
            (0.5, lambda: f"1 / {s()}^2"),
            (0.7, lambda: f"exp({self.small(context)})"),
            (0.7, lambda: f"{s()} * {self.weight(context)}"),
            (0.4, lambda: f"1 / ({s()} + {self.number(0.1, 1)})")])()

    def weight(self, context):
        if not context:
            return self.number(0.5, 2)
        v = self.pick(context)
        name = self.given(np.round(self.g.uniform(0.5, 2, v.high), 2), "w")
        return f"{name}[{v.name}]"

    def probability(self, context):
        return self.weighted([
            (0.7, lambda: self.number(0.2, 0.8)),
            (3, lambda: self.of("probability", context)),
            (2, lambda: f"ilogit({self.predictor(context)})"),
            (1, lambda: f"phi({self.predictor(context, 2)})"),
            (0.5, lambda: f"icloglog({self.small(context)})"),
            (0.5, lambda: f"1 / (1 + exp(-({self.predictor(context)})))"),
            (0.4, lambda: f"max(0.001, min(0.999, "
                          f"ilogit({self.predictor(context)})))"),
            (0.4, lambda: f"{self.of('probability', context)} * "
                          f"{self.of('probability', context)}"),
            (0.3, lambda: f"1 - {self.of('probability', context)}")])()

    def simplex(self, context, n):
        """Weights of n categories."""
        old = [q for q in self.pool if q.kind == "simplex" and
               q.dims[-1] == n]
        if old and self.chance(0.7):
            return self.at(self.pick(old), context)
        return self.at(priors.simplex(self, n, context), context)


def rounded(b):
    """Continuous values with four digits: shorter data, still in support."""
    exact = set()  # of vectors, and of what an observed sum ties
    for s in b.body:
        for r in syntax.relations([s]):
            if r.random and r.value[1] in ("dsum", "dround"):
                exact |= syntax.reads(r) | {r.left[1]}
    for name in b.world.places:
        if name in exact or name in b.world.vectors - b.may_miss:
            continue
        v = b.world.values[name]
        with np.errstate(all="ignore"):
            scale = 10.0 ** (3 - np.floor(np.log10(np.abs(v))))
            b.world.values[name] = np.where(v == 0, v,
                                            np.round(v * scale) / scale)


def settle(b):
    """Chooses what is observed; gives the data and says how many elements are
    drawn."""
    read = set()
    for s in b.body:
        for r in syntax.relations([s]):
            read |= syntax.reads(r) - ({r.left[1]} if r.left[0] == "index"
                                       else set())
    data = dict(b.data)
    latent = 0
    for name, cells in sorted(b.world.places.items()):
        values = b.world.values[name]
        leaf = name not in read
        seen = name in b.observed_always or (
            name not in b.latent_always and
            b.chance(0.85 if leaf else 0.17))
        fixed = b.fixed_cells.get(name, [])
        if not seen and not fixed:
            latent += len(cells)
            if leaf:
                b.feature("barren")
            continue
        out = np.full(values.shape, math.nan)
        for cell in fixed:
            out[cell] = values[cell]
        if seen:
            latent += fill_seen(b, name, cells, values, out, leaf)
        else:
            latent += len(cells)
        data[name] = out
        if np.all(np.isnan(out)):
            del data[name]
    return data, latent


def fill_seen(b, name, cells, values, out, leaf):
    """Observed cells, sometimes not all; how many are left."""
    missing = set()
    if not leaf:
        b.feature("observed inner node")
    whole = name in b.world.vectors and name not in b.may_miss
    if b.chance(0.35 if leaf else 0.6) and len(cells) > 1 and not whole and \
            name not in b.observed_always:
        b.feature("missing values")
        share = b.pick([0.1, 0.3, 0.6])
        missing = {c for c in cells if b.chance(share)}
    for cell in cells:
        if cell not in missing:
            out[cell] = values[cell]
    return len(missing)


NEVER_ZERO = ("dgamma", "gamma", "dbeta", "beta", "dlnorm", "lognormal",
              "dweib", "weibull", "dexp", "exponential", "dchisqr", "df",
              "dgen.gamma", "inverse_gamma")
LARGEST_LATENT, LARGEST = 45, 120


def attempt(generator, bugs_only, later=None):
    b = Builder(generator, bugs_only)
    pieces = [makers.MAKERS] * (b.between(1, 4) if later else b.between(3, 7))
    if later:
        pieces.insert(b.between(0, len(pieces)), later)
    for piece in pieces:
        maker = b.weighted(piece)
        b.feature(maker.__name__.replace("_", " "))
        maker(b)
    if not any(n in b.world.places for n in b.observed_always) and \
            b.chance(0.8):
        likelihoods.likelihood(b)
    used = {n for s in b.body for n in syntax.all_names(
        syntax.Model((s,)))}
    if b.reserved & (set(b.data) | set(b.world.values)):
        raise Retry("a loop variable has the name of an array")
    rounded(b)
    data, latent = settle(b)
    used |= {n for s in b.data_body for n in syntax.all_names(
        syntax.Model((s,)))}
    data = {n: v for n, v in data.items() if n in used}
    total = sum(v.size for v in b.world.values.values())
    worst = max(np.max(np.abs(v)) if v.size and not np.all(np.isnan(v)) else 0
                for n, v in b.world.values.items())
    if latent == 0 or latent > LARGEST_LATENT or total > 6 * LARGEST:
        raise Retry("size")
    for name, v in b.world.values.items():
        v = np.abs(v[~np.isnan(v)])
        if v.size and v.max() > (1e8 if name in b.far else 1e4):
            raise Retry("far out")
    for s in b.body:
        for r in syntax.relations([s]):
            if r.random and r.value[1] in NEVER_ZERO and np.any(
                    np.abs(b.world.values[r.left[1]]) < 1e-6):
                raise Retry("a draw that is rounded to 0")
            if r.random and r.value[1] in ("dbeta", "beta") and np.any(
                    b.world.values[r.left[1]] == 1):
                raise Retry("a draw that is rounded to 1")
    body = list(b.body)
    if b.chance(0.5):
        b.feature("shuffled")
        body = [body[k] for k in b.g.permutation(len(body))]
    after = choices.choose(b, data) \
        if not bugs_only and (any(b.asked.values()) or
                              b.chance(CHOICE_CHANCE)) else ""
    var = [users.declared(b)] if b.chance(DECLARED_CHANCE) else []
    model = syntax.Model(tuple(body), tuple(b.data_body),
                         "\n".join(var + b.before), after)
    return model, data, sorted(b.features), b


@dataclass
class Case:
    seed: int
    text: str
    data: dict
    features: list
    bugs: bool  # JAGS may know all that is in it
    truth: dict  # what was drawn and is not data

    def data_text(self):
        return json.dumps(to_json(self.data))


def truth(b, data):
    """The drawn values of what is not observed at all."""
    return {n: v for n, v in b.world.values.items()
            if n in b.world.places and n not in data}


def generate(seed, bugs_only=False):
    for k in range(1000):
        generator = np.random.Generator(np.random.PCG64([seed, k]))
        try:
            with np.errstate(all="ignore"):
                model, data, features, b = attempt(
                    generator, bugs_only, makers.later(seed))
        except (Retry, Impossible, NotReady):
            continue
        bugs = not b.modern and not b.before and not b.beyond_jags
        return Case(seed, syntax.show_model(model), data, features, bugs,
                    truth(b, data))
    raise RuntimeError(f"seed {seed}: no model")


if __name__ == "__main__":
    import sys
    for word in sys.argv[1:]:
        case = generate(int(word))
        print("# " + ", ".join(case.features))
        print(case.text)
        print(case.data_text())
