"""The pieces that random models are made of.  Each maker writes statements that
take from the Builder's pool and adds to it what they define."""

import math

import numpy as np

import distributions as d


# ------------------------------------------------------------------- priors

def real_prior(b, context, spread=1.0):
    """A distribution on the real line, about 1 wide."""
    mu = b.weighted([(5, lambda: b.number(-1, 1)), (2, lambda: "0"),
                     (1.5, lambda: b.of("real", context, 0.1))])()
    tau = b.weighted([(3, lambda: b.number(0.5, 3)),
                      (1.5, lambda: b.precision(context))])()
    if b.modern and b.chance(0.7):
        s = b.weighted([(2, lambda: b.number(0.5, 1.5)),
                        (2, lambda: b.of("positive", context))])()
        return b.pick([f"normal({mu}, {s})"] * 5 +
                      [f"student_t({b.between(4, 8)}, {mu}, {s})",
                       f"laplace({mu}, {s})", f"logistic({mu}, 0.5)",
                       f"gumbel({mu}, {s})", "uniform(-2, 2)",
                       f"von_mises({mu}, {b.number(1, 3)})"])
    return b.weighted([
        (10, lambda: f"dnorm({mu}, {tau})"),
        (1, lambda: f"dt({mu}, {tau}, {b.between(4, 8)})"),
        (0.7, lambda: f"ddexp({mu}, {b.number(0.7, 2)})"),
        (0.7, lambda: f"dlogis({mu}, {b.number(1, 3)})"),
        (1, lambda: f"dunif({b.number(-3, -1)}, {b.number(1, 3)})"),
        (0.4, lambda: f"dnt({mu}, {b.number(1, 3)}, {b.between(6, 9)})"),
        (0.4, lambda: f"dgev({mu}, {b.number(0.5, 1)}, "
         f"{b.number(-0.3, -0.1)})"),
        (0.8, lambda: truncated(b, f"dnorm({mu}, {tau})", context)),
    ])()


def truncated(b, text, context, latent=True):
    """Bounds of which one at least is in reach of a draw."""
    b.feature("truncation")
    low, high = b.number(-2.5, -0.5), b.number(0.5, 2.5)
    if latent and b.chance(0.3):
        b.feature("random bounds")
        s = b.of("positive", context, 0.2)
        low, high = f"-{s}", f"{s} + {b.number(0.1, 1)}"
    return text + b.pick([f" T({low}, {high})", f" T({low},)",
                          f" T(,{high})"])


def positive_prior(b, context):
    """A distribution on the positive half line, about 1."""
    shape, rate = b.number(2, 5), b.number(1.5, 4)
    if b.modern and b.chance(0.6):
        return b.pick([f"gamma({shape}, {rate})", "exponential(1)",
                       f"half_normal({b.number(0.5, 1.5)})",
                       f"half_t({b.between(4, 7)}, {b.number(0.5, 1)})",
                       "lognormal(0, 0.5)", "uniform(0.2, 2.5)",
                       f"inverse_gamma({b.between(4, 6)}, 3)",
                       f"rayleigh({b.number(0.5, 1.2)})",
                       f"inv_chi_square({b.between(6, 9)})",
                       f"scaled_inv_chi_square({b.between(6, 9)}, 0.8)",
                       f"chi_square({b.between(2, 4)})",
                       f"gig({b.number(0.5, 2)}, 2, {b.number(0.5, 2)})",
                       f"half_cauchy({b.number(0.3, 0.9)}) T(, 4)",
                       f"weibull(2, {b.number(0.8, 1.5)})"])
    return b.weighted([
        (4, lambda: f"dgamma({shape}, {rate})"),
        (0.8, lambda: f"dgamma({shape}, {b.of('positive', context, 0.1)})"),
        (2, lambda: f"dunif({b.number(0.1, 0.5)}, {b.number(1.5, 3)})"),
        (1, lambda: f"dlnorm({b.number(-0.3, 0.3)}, {b.number(2, 6)})"),
        (0.7, lambda: "dexp(1) T(0.1,)" if b.chance(0.4) else "dexp(1)"),
        (1, lambda: f"dt(0, {b.number(1, 3)}, {b.between(4, 7)})T(0,)"),
        (1, lambda: f"dnorm({b.pick(['0', '0.5'])}, {b.number(1, 2)})T(0,)"),
        (0.5, lambda: f"dweib({b.number(1.5, 3)}, 1)"),
        (0.4, lambda: f"dchisqr({b.between(3, 5)})"),
        (0.3, lambda: f"dgen.gamma(2, 1.5, {b.number(1, 1.5)})"),
        (0.3, lambda: f"dinvgamma({b.between(5, 7)}, {shape})"),
        (0.3, lambda: f"dnchisqr({b.between(2, 4)}, {b.number(0.5, 1.5)})"),
        (0.3, lambda: f"dscaled.gamma({b.number(0.5, 1.5)}, 4) T(, 6)"),
    ])()


def probability_prior(b, context):
    if b.chance(0.2):
        return f"dbeta({b.positive(context)} + 1, {b.number(1, 4)})"
    return b.pick([f"dbeta({b.number(1, 5)}, {b.number(1, 5)})",
                   "dunif(0.05, 0.95)", "dunif(0, 1)",
                   "beta(2, 3)" if b.modern else "dbeta(2, 3)"])


PRIORS = {"real": real_prior, "positive": positive_prior,
          "probability": probability_prior}
LEAVES = {"real": "dnorm(0, 1)", "positive": "dgamma(3, 2)",
          "probability": "dbeta(2, 3)"}  # where nothing more is nested
DEEPEST = 4


def parameter(b, kind, context=()):
    """A new scalar, or a plate over groups, with a prior."""
    b.depth += 1
    try:
        return new_parameter(b, kind, context)
    finally:
        b.depth -= 1


def new_parameter(b, kind, context):
    from generate import Thing
    if b.depth > DEEPEST:
        name = b.name()
        b.write(f"{name} ~ {LEAVES[kind]}")
        return b.add(Thing(name, kind))
    if context and b.chance(0.3):
        n = b.between(2, 5)
        name = b.name({"real": "u", "positive": "tau"}.get(kind, "p"))
        fill(b, name, n, lambda c: PRIORS[kind](b, c), kind)
        return b.add(Thing(name, kind, (n,)))
    name = b.name({"real": "b", "positive": "s"}.get(kind, "p"))
    if kind == "probability" and b.chance(0.3):
        b.feature("link on the left")
        link = b.pick(["logit", "probit", "cloglog"])
        b.write(f"{link}({name}) <- {b.predictor([], 2)}")
    elif kind == "positive" and b.chance(0.15):
        b.feature("link on the left")
        b.write(f"log({name}) <- 0.5 * ({b.predictor([], 2)})")
    else:
        b.write(f"{name} ~ {PRIORS[kind](b, [])}")
    return b.add(Thing(name, kind))


def simplex(b, n, context=()):
    """Weights: drawn, computed or given."""
    from generate import Thing
    name = b.name("w")
    rows = b.between(2, 3) if context and b.chance(0.3) else 0
    if b.chance(0.15):
        size = (rows, n) if rows else n
        w = b.g.dirichlet(np.full(n, 3.0), rows or None)
        name = b.given(np.round(w, 2) + 0.01, "w")
        return b.add(Thing(name, "simplex", (rows, n) if rows else (n,)))
    alpha = b.given(np.round(b.g.uniform(1, 4, n), 1), "a") + "[]"
    dist = "dirichlet" if b.modern else "ddirch"
    if rows:
        i = b.loop(1, rows)
        b.write(f"for ({i.name} in 1:{b.size(rows)}) {{ "
                f"{name}[{i.name},1:{n}] ~ {dist}({alpha}) }}")
        b.feature("vector node")
        return b.add(Thing(name, "simplex", (rows, n)))
    if b.chance(0.25):
        b.feature("normalised weights")
        raw = b.name("raw")
        fill(b, raw, n, lambda c: positive_prior(b, c), "positive")
        k = b.loop(1, n)
        b.write(f"for ({k.name} in 1:{n}) {{ {name}[{k.name}] <- "
                f"{raw}[{k.name}] / sum({raw}[1:{n}]) }}")
    else:
        b.feature("vector node")
        b.write(f"{name}[1:{n}] ~ {dist}({alpha})")
    return b.add(Thing(name, "simplex", (n,)))


def modelled_covariate(b, n):
    """A covariate with a distribution, observed but for some."""
    from generate import Thing
    b.feature("modelled covariate")
    name = b.name("x")
    fill(b, name, n, lambda c: real_prior(b, c), "real")
    if b.chance(0.7):
        cells = b.world.places.get(name, [])
        out = {c for c in cells if b.chance(0.7)}
        b.fixed_cells[name] = sorted(out | set(b.fixed_cells.get(name, [])))
        b.latent_always.add(name)
        b.feature("missing values")
    return b.add(Thing(name, "real", (n,)))


# ----------------------------------------------- arrays, filled in many ways

def fill(b, name, n, dist, kind="real", context=(), before=""):
    """Statements that fill name[1:n]; dist(context) is a distribution for the
    elements of a loop (or of none)."""
    style = b.weighted([(8, plain), (1, first_apart), (1, last_apart),
                        (1.2, pieces), (0.8, computed_piece),
                        (0.8, by_data_index), (0.8, reversed_loop),
                        (0.8, shifted), (0.8, interleaved),
                        (0.6, partly_given),
                        (0.6 if kind == "real" else 0, sums_to_zero)])
    if n < 3:
        style = plain
    if style is not plain:
        b.feature("filled: " + style.__name__.replace("_", " "))
    style(b, name, n, dist, kind)


def each(b, i, text, end=None):
    end = end or (b.size(i.high) if i.low == 1 else str(i.high))
    b.write(f"for ({i.name} in {i.low}:{end}) {{ {text} }}")


def plain(b, name, n, dist, kind):
    i = b.loop(1, n)
    each(b, i, f"{name}[{i.name}] ~ {dist([i])}")


def first_apart(b, name, n, dist, kind):
    b.write(f"{name}[1] ~ {dist([])}")
    i = b.loop(2, n)
    each(b, i, f"{name}[{i.name}] ~ {dist([i])}")


def last_apart(b, name, n, dist, kind):
    i = b.loop(1, n - 1)
    each(b, i, f"{name}[{i.name}] ~ {dist([i])}", f"({n} - 1)")
    b.write(f"{name}[{n}] ~ {dist([])}")


def pieces(b, name, n, dist, kind):
    cut = b.between(1, n - 1)
    for k in range(1, cut + 1):
        b.write(f"{name}[{k}] ~ {dist([])}")
        if k >= 3:
            cut = k
            break
    if cut < n:
        i = b.loop(cut + 1, n)
        each(b, i, f"{name}[{i.name}] ~ {dist([i])}")


def computed_piece(b, name, n, dist, kind):
    """Some elements computed, the others random."""
    e = {"real": lambda: b.real([]), "positive": lambda: b.positive([]),
         "probability": lambda: b.probability([])}[kind]
    at = b.pick([1, n])
    b.write(f"{name}[{at}] <- "
            f"{'0' if kind == 'real' and b.chance(0.4) else e()}")
    i = b.loop(2, n) if at == 1 else b.loop(1, n - 1)
    each(b, i, f"{name}[{i.name}] ~ {dist([i])}", str(i.high))


def by_data_index(b, name, n, dist, kind):
    order = b.given(b.g.permutation(n) + 1.0, "row")
    i = b.loop(1, n)
    cut = b.between(1, n)
    inside = type(i)(i.name, 1, n)
    each(b, type(i)(i.name, 1, cut),
         f"{name}[{order}[{i.name}]] ~ {dist([inside])}", str(cut))
    if cut < n:
        each(b, type(i)(i.name, cut + 1, n),
             f"{name}[{order}[{i.name}]] ~ {dist([inside])}", str(n))


def reversed_loop(b, name, n, dist, kind):
    i = b.loop(1, n)
    b.feature("affine subscript")
    end = b.size(n)
    each(b, i, f"{name}[{end} - {i.name} + 1] ~ {dist([i])}", end)


def shifted(b, name, n, dist, kind):
    k = b.pick([1, 2])
    i = b.loop(1 + k, n + k)
    b.feature("affine subscript")
    each(b, i, f"{name}[{i.name} - {k}] ~ {dist([i])}", str(n + k))


def interleaved(b, name, n, dist, kind):
    i = b.loop(1, (n + 1) // 2)
    j = b.loop(1, n // 2)
    b.feature("affine subscript")
    each(b, i, f"{name}[2 * {i.name} - 1] ~ {dist([i])}", str(i.high))
    each(b, j, f"{name}[2 * {j.name}] ~ {dist([j])}", str(j.high))


def partly_given(b, name, n, dist, kind):
    """Some cells are data without a statement."""
    chosen = sorted(int(k) for k in b.g.choice(n, b.between(1, n - 1),
                                               replace=False))
    fixed = [k for k in range(n) if k not in chosen]
    draw = {"real": lambda: b.g.normal(), "positive": lambda:
            b.g.uniform(0.5, 2), "probability": lambda: b.g.uniform(0.2, 0.8)}
    start = np.full(n, math.nan)
    for k in fixed:
        start[k] = round(float(draw[kind]()), 2)
    b.world.values[name] = start
    row = b.given(np.array(chosen) + 1.0, "row")
    i = b.loop(1, len(chosen))
    each(b, i, f"{name}[{row}[{i.name}]] ~ {dist([i])}", str(i.high))
    b.fixed_cells[name] = [(k,) for k in fixed]


def sums_to_zero(b, name, n, dist, kind):
    i = b.loop(1, n - 1)
    each(b, i, f"{name}[{i.name}] ~ {dist([i])}", f"({n} - 1)")
    b.write(f"{name}[{n}] <- -sum({name}[1:({n} - 1)])")


# ------------------------------------------------------------------- makers

def random_effects(b):
    from generate import Thing
    n = b.between(3, 7)
    name = b.name("u")
    kind = b.weighted([(6, "real"), (1, "positive"), (1, "probability")])
    fill(b, name, n, lambda c: PRIORS[kind](b, c), kind)
    b.add(Thing(name, kind, (n,)))


def scalars(b):
    for _ in range(b.between(1, 3)):
        parameter(b, b.pick(["real", "real", "positive", "probability"]))


def table(b):
    """A matrix of numbers, filled in many ways."""
    from generate import Thing
    n, m = b.between(2, 4), b.between(2, 4)
    name = b.name("Phi")
    kind = b.weighted([(6, "real"), (1, "positive"), (1, "probability")])
    dist = lambda c: PRIORS[kind](b, c)
    style = b.weighted([(2, table_plain), (1.5, table_diagonal),
                        (1.5, table_columns), (1.5, table_cells),
                        (1, table_corner), (1, table_triangles),
                        (1, table_flat), (1, table_rows)])
    b.feature("table: " + style.__name__[6:])
    if style in (table_diagonal, table_triangles):
        m = n = max(n, m)
    style(b, name, n, m, dist, kind)
    b.add(Thing(name, kind, (n, m)))


def nest(b, loops, text):
    for i in reversed(loops):
        end = b.size(i.high) if i.low == 1 else str(i.high)
        text = f"for ({i.name} in {i.low}:{end}) {{ {text} }}"
    b.write(text)


def two(b, n, m):
    i = b.loop(1, n)
    while True:
        j = b.loop(1, m)
        if j.name != i.name:
            return i, j


def table_plain(b, name, n, m, dist, kind):
    i, j = two(b, n, m)
    nest(b, b.pick([[i, j], [j, i]]),
         f"{name}[{i.name},{j.name}] ~ {dist([i, j])}")


def table_diagonal(b, name, n, m, dist, kind):
    i, j = two(b, n, n)
    if b.chance(0.3):
        each(b, i, f"{name}[{i.name},{i.name}] <- "
             + {"real": "1", "positive": "1.5", "probability": "0.5"}[kind])
    else:
        each(b, i, f"{name}[{i.name},{i.name}] ~ {dist([i])}")
    inner = [type(i)(i.name, 1, n), type(i)(j.name, 1, n)]
    text = f"{name}[{i.name},{j.name}] ~ {dist(inner)}"
    b.write(f"for ({i.name} in 2:{n}) {{ for ({j.name} in 1:({i.name}-1)) "
            f"{{ {text} }} }}")
    text = f"{name}[{i.name},{j.name}] ~ {dist(inner)}"
    b.write(f"for ({i.name} in 1:({n}-1)) {{ for ({j.name} in ({i.name}+1):"
            f"{n}) {{ {text} }} }}")


def table_triangles(b, name, n, m, dist, kind):
    """The upper triangle is that of the lower."""
    i, j = two(b, n, n)
    inner = [type(i)(i.name, 1, n), type(i)(j.name, 1, n)]
    b.write(f"for ({i.name} in 1:{n}) {{ for ({j.name} in 1:{i.name}) {{ "
            f"{name}[{i.name},{j.name}] ~ {dist(inner)} }} }}")
    sign = "-" if kind == "real" and b.chance(0.5) else ""
    b.write(f"for ({i.name} in 1:({n}-1)) {{ for ({j.name} in ({i.name}+1):"
            f"{n}) {{ {name}[{i.name},{j.name}] <- "
            f"{sign}{name}[{j.name},{i.name}] }} }}")


def table_columns(b, name, n, m, dist, kind):
    i = b.loop(1, n)
    text = " ".join(f"{name}[{i.name},{k}] ~ {dist([i])}"
                    for k in range(1, m + 1))
    each(b, i, text)


def table_rows(b, name, n, m, dist, kind):
    j = b.loop(1, m)
    if b.chance(0.5):
        b.write(f"for ({j.name} in 1:{m}) {{ {name}[1,{j.name}] ~ "
                f"{dist([j])} }}")
    else:
        b.write(f"for ({j.name} in 1:{m}) {{ {name}[1,{j.name}] <- "
                + {"real": "0", "positive": "1",
                   "probability": "0.5"}[kind] + " }")
    i, j = two(b, n, m)
    step = kind == "real" and b.chance(0.6)
    mean = f"{name}[{i.name}-1,{j.name}]"
    text = f"dnorm({mean}, {b.precision([])})" if step else dist([i, j])
    if step:
        b.feature("recursion")
    b.write(f"for ({i.name} in 2:{n}) {{ for ({j.name} in 1:{m}) {{ "
            f"{name}[{i.name},{j.name}] ~ {text} }} }}")


def table_cells(b, name, n, m, dist, kind):
    """Cells named by data, the others observed."""
    cells = [(i, j) for i in range(n) for j in range(m)]
    chosen = [cells[int(k)] for k in
              sorted(b.g.choice(len(cells), b.between(2, len(cells) - 1),
                                replace=False))]
    draw = {"real": lambda: b.g.normal(), "positive": lambda:
            b.g.uniform(0.5, 2), "probability": lambda: b.g.uniform(0.2, 0.8)}
    start = np.full((n, m), math.nan)
    fixed = [c for c in cells if c not in chosen]
    for c in fixed:
        start[c] = round(float(draw[kind]()), 2)
    b.world.values[name] = start
    row = b.given([c[0] + 1.0 for c in chosen], "row")
    col = b.given([c[1] + 1.0 for c in chosen], "col")
    k = b.loop(1, len(chosen))
    each(b, k, f"{name}[{row}[{k.name}],{col}[{k.name}]] ~ {dist([k])}",
         str(k.high))
    b.fixed_cells[name] = fixed


def table_corner(b, name, n, m, dist, kind):
    """The first row and column are constants."""
    c = {"real": "0", "positive": "1", "probability": "0.5"}[kind]
    i, j = two(b, n, m)
    b.write(f"for ({i.name} in 1:{n}) {{ {name}[{i.name},1] <- {c} }}")
    b.write(f"for ({j.name} in 2:{m}) {{ {name}[1,{j.name}] <- {c} }}")
    inner = [type(i)(i.name, 2, n), type(i)(j.name, 2, m)]
    b.write(f"for ({i.name} in 2:{n}) {{ for ({j.name} in 2:{m}) {{ "
            f"{name}[{i.name},{j.name}] ~ {dist(inner)} }} }}")


def table_flat(b, name, n, m, dist, kind):
    """A matrix computed from a vector by offsets."""
    flat = b.name("flat")
    fill(b, flat, n * m, dist, kind)
    i, j = two(b, n, m)
    nest(b, [i, j], f"{name}[{i.name},{j.name}] <- "
         f"{flat}[({i.name} - 1) * {m} + {j.name}]")


def computed_plate(b):
    """A computed array: a predictor with its own name, or a link."""
    from generate import Thing
    n = b.between(4, 9)
    name = b.name("mu")
    kind = b.pick(["real", "real", "positive", "probability"])
    i = b.loop(1, n)
    if kind == "real":
        each(b, i, f"{name}[{i.name}] <- {b.predictor([i])}")
    elif kind == "positive":
        b.feature("link on the left")
        each(b, i, f"log({name}[{i.name}]) <- {b.small([i])}")
    else:
        b.feature("link on the left")
        link = b.pick(["logit", "probit", "cloglog"])
        each(b, i, f"{link}({name}[{i.name}]) <- {b.predictor([i], 2)}")
    b.add(Thing(name, kind, (n,)))


def walk(b):
    """A recursion in time of a real state."""
    from generate import Thing
    n = b.between(4, 10)
    name = b.name("x")
    t = b.loop(2, n)
    last = f"{name}[{t.name}-1]"
    phi = b.of("probability", [])
    mean = b.weighted([
        (3, lambda: last), (2, lambda: f"{phi} * {last}"),
        (1, lambda: f"{b.number(0.5, 0.9)} * {last} + {b.term([t])}"),
        (1, lambda: (lambda a: f"{a} + {phi} * ({last} - {a})")(
            b.of("real", []))),
        (1, lambda: f"{last} + {b.of('real', [])} * {b.covariate([t])}"),
        (0.5, lambda: f"0.8 * sin({last})")])()
    tau = b.precision([])
    if b.chance(0.2):
        b.write(f"{name}[1] <- {b.number(-1, 1)}")
    else:
        b.write(f"{name}[1] ~ {real_prior(b, [])}")
    if b.chance(0.2) and n > 4:
        b.write(f"{name}[2] ~ dnorm({name}[1], 1)")
        each(b, type(t)(t.name, 3, n),
             f"{name}[{t.name}] ~ dnorm({last} + 0.5 * ({last} - "
             f"{name}[{t.name}-2]), {tau})", str(n))
    elif b.chance(0.2):
        b.feature("recursion that is computed")
        noise = b.name("eps")
        i = b.loop(1, n)
        each(b, i, f"{noise}[{i.name}] ~ dnorm(0, {tau})")
        each(b, t, f"{name}[{t.name}] <- {mean} + {noise}[{t.name}]", str(n))
    elif b.chance(0.15):
        b.feature("t innovations")
        each(b, t, f"{name}[{t.name}] ~ dt({mean}, {tau}, 5)", str(n))
    else:
        each(b, t, f"{name}[{t.name}] ~ dnorm({mean}, {tau})", str(n))
    b.feature("recursion")
    b.add(Thing(name, "real", (n,)))


def hidden_chain(b):
    """Categories in time."""
    from generate import Thing
    n, k = b.between(4, 9), b.between(2, 3)
    name = b.name("z")
    t = b.loop(2, n)
    first = b.simplex([], k)
    if b.chance(0.3):
        p = b.given(np.round(b.g.dirichlet(np.full(k, 2.0), k) * 0.9
                             + 0.1 / k, 2), "P")
    else:
        p = b.name("P")
        i = b.loop(1, k)
        alpha = b.given(np.round(b.g.uniform(1, 4, k), 1), "a")
        each(b, i, f"{p}[{i.name},1:{k}] ~ ddirch({alpha}[])")
        b.feature("vector node")
    b.write(f"{name}[1] ~ dcat({first})")
    b.write(f"for ({t.name} in 2:{n}) {{ {name}[{t.name}] ~ "
            f"dcat({p}[{name}[{t.name}-1],]) }}")
    b.feature("recursion", "latent subscript")
    b.add(Thing(name, "category", (n,), k))


def categories(b):
    """Latent classes."""
    from generate import Thing
    n, k = b.between(4, 10), b.between(2, 4)
    name = b.name("z")
    i = b.loop(1, n)
    dist = "categorical" if b.modern else "dcat"
    each(b, i, f"{name}[{i.name}] ~ {dist}({b.simplex([i], k)})")
    b.add(Thing(name, "category", (n,), k))


def mixture(b):
    """Normals of which a latent class picks one."""
    from generate import Thing
    n, k = b.between(5, 12), b.between(2, 3)
    z, mu = b.name("z"), b.name("mu")
    i = b.loop(1, n)
    each(b, i, f"{z}[{i.name}] ~ dcat({b.simplex([], k)})")
    for j in range(k):
        b.write(f"{mu}[{j + 1}] ~ dnorm({3 * j - 2}, {b.number(1, 3)})")
    b.add(Thing(z, "category", (n,), k))
    b.add(Thing(mu, "real", (k,)))
    y = b.name("y")
    tau = b.precision([i]) if b.chance(0.5) else b.precision([])
    b.write(f"for ({i.name} in 1:{n}) {{ {y}[{i.name}] ~ "
            f"dnorm({mu}[{z}[{i.name}]], {tau}) }}")
    b.feature("latent subscript")
    if b.chance(0.85):
        b.observed_always.add(y)


def population(b):
    """Counts in time, and what is seen of them."""
    n = b.between(3, 7)
    name, y = b.name("N"), b.name("y")
    t = b.loop(2, n)
    last = f"{name}[{t.name}-1]"
    b.write(f"{name}[1] ~ dpois({b.between(4, 12)})")
    step = b.weighted([
        (2, lambda: f"dpois({last} * {b.probability([t])} + "
                    f"{b.number(1, 4)})"),
        (2, lambda: f"dbin({b.probability([t])}, {last})"),
        (1, lambda: f"dpois({b.number(1, 6)} * exp({b.small([t])}))")])()
    b.write(f"for ({t.name} in 2:{n}) {{ {name}[{t.name}] ~ {step} }}")
    i = b.loop(1, n)
    seen = b.pick([f"dbin({b.probability([i])}, {name}[{i.name}])",
                   f"dpois({b.number(0.3, 1)} * {name}[{i.name}] + 0.1)",
                   f"dnorm({name}[{i.name}], {b.precision([i])})"])
    b.write(f"for ({i.name} in 1:{n}) {{ {y}[{i.name}] ~ {seen} }}")
    b.latent_always.add(name)
    if b.chance(0.85):
        b.observed_always.add(y)
    b.feature("recursion")


def spd(b, k):
    a = b.g.normal(size=(k, k + 2))
    return np.round(a @ a.T / (k + 2) + np.eye(k) * 0.5, 2)


def mean_vector(b, k):
    """The text of a vector of k means."""
    from generate import Thing
    old = [q for q in b.pool if q.kind == "vector" and q.dims == (k,)]
    if old and b.chance(0.5):
        return f"{b.pick(old).name}[]"
    if b.chance(0.4):
        return b.given(np.round(b.g.normal(size=k), 1), "m") + "[]"
    name = b.name("m")
    fill(b, name, k, lambda c: real_prior(b, c), "real")
    b.add(Thing(name, "real", (k,)))
    return f"{name}[1:{k}]"


def precision_matrix(b, k):
    from generate import Thing
    old = [q for q in b.pool if q.kind == "matrix" and q.dims == (k, k)]
    if old and b.chance(0.5):
        return f"{b.pick(old).name}[,]"
    style = b.weighted([(2, "given"), (3, "wishart"), (1.5, "diagonal"),
                        (1, "inverse")])
    if style == "given":
        return b.given(spd(b, k), "Q") + "[,]"
    name = b.name("Omega")
    if style == "wishart":
        r = b.given(spd(b, k) * 2, "R")
        b.write(f"{name}[1:{k},1:{k}] ~ dwish({r}[,], {k + b.between(2, 4)})")
        b.feature("matrix node")
    elif style == "inverse":
        s = b.given(spd(b, k), "S")
        b.write(f"{name}[1:{k},1:{k}] <- inverse({s}[,])")
    else:
        b.feature("matrix cell by cell")
        i, j = two(b, k, k)
        tau = b.of("positive", [])
        b.write(f"for ({i.name} in 1:{k}) {{ for ({j.name} in 1:{k}) {{ "
                f"{name}[{i.name},{j.name}] <- equals({i.name}, {j.name}) * "
                f"{tau} + 0.2 }} }}")
    b.add(Thing(name, "matrix", (k, k)))
    return f"{name}[,]" if b.chance(0.5) else f"{name}[1:{k},1:{k}]"


def normal_vector(b, k=0):
    """A vector with a multivariate normal distribution, or a plate of them."""
    from generate import Thing
    k = k or b.between(2, 3)
    name = b.name("B")
    style = b.weighted([(2, "one"), (3, "plate"), (2, "chain"),
                        (1, "columns")])
    mean, tau = mean_vector(b, k), precision_matrix(b, k)
    dist = b.weighted([(6, "dmnorm({}, {})"), (1, "dmt({}, {}, 6)")])
    b.feature("vector node")
    if style == "one":
        b.write(f"{name}[1:{k}] ~ " + dist.format(mean, tau))
        thing = Thing(name, "vector", (k,))
    elif style == "columns":
        n = b.between(2, 4)
        j = b.loop(1, n)
        each(b, j, f"{name}[1:{k},{j.name}] ~ " + dist.format(mean, tau))
        thing = Thing(name, "real", (k, n))
        b.feature("vectors in columns")
    else:
        n = b.between(2, 5)
        i = b.loop(1, n)
        if style == "chain":
            b.feature("chain of vectors", "recursion")
            b.write(f"{name}[1,1:{k}] ~ " + dist.format(mean, tau))
            scale = b.pick(["", "0.7 * "])
            before = f"{name}[{i.name}-1,{b.pick(['', f'1:{k}'])}]"
            if scale:
                m2 = b.name("mean.B")
                b.write(f"for ({i.name} in 2:{n}) {{ "
                        + " ".join(f"{m2}[{i.name},{c}] <- 0.7 * "
                                   f"{name}[{i.name}-1,{c}]"
                                   for c in range(1, k + 1))
                        + f" {name}[{i.name},1:{k}] ~ " + dist.format(
                            f"{m2}[{i.name},1:{k}]", tau) + " }")
            else:
                b.write(f"for ({i.name} in 2:{n}) {{ "
                        f"{name}[{i.name},1:{k}] ~ "
                        + dist.format(before, tau) + " }")
        else:
            each(b, i, f"{name}[{i.name},1:{k}] ~ " + dist.format(mean, tau))
        thing = Thing(name, "vector", (n, k))
    if dist.startswith("dmnorm"):
        b.may_miss.add(name)
    b.add(thing)


def vector_data(b):
    """Observed vectors."""
    k, n = b.between(2, 3), b.between(3, 6)
    y = b.name("Y")
    i = b.loop(1, n)
    style = b.weighted([(3, "normal"), (2, "multinomial"), (1, "t")])
    if style == "multinomial":
        k = b.between(2, 4)
        if b.chance(0.4):
            p = b.simplex([i], k)
        else:
            q = b.name("q")
            j = b.loop(1, k)
            while j.name == i.name:
                j = b.loop(1, k)
            b.write(f"for ({i.name} in 1:{n}) {{ for ({j.name} in 1:{k}) {{ "
                    f"{q}[{i.name},{j.name}] <- exp({b.small([i, j])}) }} }}")
            p = f"{q}[{i.name},]"
            if b.chance(0.6):
                w = b.name("prob")
                b.write(f"for ({i.name} in 1:{n}) {{ for ({j.name} in 1:{k}) "
                        f"{{ {w}[{i.name},{j.name}] <- {q}[{i.name},"
                        f"{j.name}] / sum({q}[{i.name},]) }} }}")
                p = f"{w}[{i.name},1:{k}]"
        m = b.given(b.g.integers(3, 12, n), "n")
        each(b, i, f"{y}[{i.name},1:{k}] ~ dmulti({p}, {m}[{i.name}])")
    else:
        tau = precision_matrix(b, k)
        if b.chance(0.5):
            mean = mean_vector(b, k)
        else:
            mu = b.name("mu")
            j = b.loop(1, k)
            while j.name == i.name:
                j = b.loop(1, k)
            b.write(f"for ({i.name} in 1:{n}) {{ for ({j.name} in 1:{k}) {{ "
                    f"{mu}[{i.name},{j.name}] <- {b.predictor([i, j])} }} }}")
            mean = f"{mu}[{i.name},]"
        tail = "dmnorm({}, {})" if style == "normal" else "dmt({}, {}, 5)"
        each(b, i, f"{y}[{i.name},1:{k}] ~ " + tail.format(mean, tau))
        if style == "normal":
            b.may_miss.add(y)
    b.feature("vector node")
    if b.chance(0.9) and y not in b.may_miss:
        b.observed_always.add(y)


def censored(b):
    """Times known up to an interval."""
    n = b.between(4, 9)
    t, c = b.name("time"), b.name("cens")
    i = b.loop(1, n)
    cut = b.given(np.round(b.g.uniform(0.5, 2, n), 1), "cut")
    dist = b.pick([
        f"dnorm({b.predictor([i])}, {b.precision([])})",
        f"dweib({b.number(1, 2)}, exp({b.small([i])}))",
        f"dexp({b.positive([i])})", f"dlnorm({b.real([i])}, "
        f"{b.precision([])})"])
    each(b, i, f"{t}[{i.name}] ~ {dist}")
    each(b, i, f"{c}[{i.name}] ~ dinterval({t}[{i.name}], "
         f"{cut}[{i.name}])")
    b.observed_always.add(c)
    b.latent_always.add(t)
    values, at = b.world.values[t], b.world.values[c]
    b.fixed_cells[t] = [(k,) for k in range(n) if at[k] == 0]


def observed_sum(b):
    n = b.between(1, 4)
    names = [b.name("part") for _ in range(b.between(2, 3))]
    counts = b.chance(0.4)
    y = b.name("total")
    i = b.loop(1, n)
    for name in names:
        if counts:
            each(b, i, f"{name}[{i.name}] ~ dpois({b.positive([i])})")
        else:
            each(b, i, f"{name}[{i.name}] ~ {real_prior(b, [i])}")
        b.latent_always.add(name)
    each(b, i, f"{y}[{i.name}] ~ dsum("
         + ", ".join(f"{x}[{i.name}]" for x in names) + ")")
    b.observed_always.add(y)


def dead_code(b):
    name = b.name("unused")
    i = b.loop(1, 3)
    b.pick([lambda: b.write(f"{name} <- {b.predictor([])}"),
            lambda: each(b, i, f"{name}[{i.name}] <- {b.predictor([i])}"),
            lambda: each(b, i, f"{name}[{i.name}] ~ dnorm("
                         f"{b.predictor([i])}, {b.precision([i])})"),
            lambda: b.write(f"{name} ~ dpois(exp({b.small([])}))")])()
    if name in b.world.places:
        b.latent_always.add(name)


def data_block(b):
    """A covariate that a data block computes."""
    n = b.between(4, 9)
    x = b.given(np.round(b.g.uniform(0.5, 4, n), 2), "x")
    name = b.name("lx")
    i = b.loop(1, n)
    import syntax
    text = b.pick([f"log({x}[{i.name}])", f"{x}[{i.name}] - mean({x}[])",
                   f"({x}[{i.name}] - mean({x}[])) / sd({x}[])"])
    s = syntax.parse_statement(
        f"for ({i.name} in 1:{n}) {{ {name}[{i.name}] <- {text} }}")
    b.world.run(s)
    b.data_body.append(s)
    slope = b.name("b")
    b.write(f"{slope} ~ {real_prior(b, [])}")
    mu = b.name("mu")
    b.write(f"for ({i.name} in 1:{n}) {{ {mu}[{i.name}] <- "
            f"{slope} * {name}[{i.name}] + {b.term([i])} }}")
    from generate import Thing
    b.add(Thing(slope, "real"))
    b.add(Thing(mu, "real", (n,)))


OWN = {
    # name -> (entry, draw, log density, kind)
    "my_normal": ("distribution my_normal(mean, sd) "
                  "{\n  as dnorm(mean, 1 / sd^2)\n}",
                  lambda g, m, s: g.normal(m, s),
                  lambda x, m, s: d.normal_log(x, m, s ** -2), "real"),
    "my_triangle": ("distribution my_triangle(w) {\n  require w > 0\n"
                    "  support real(-w, w)\n"
                    "  logdensity log(w - abs(x)) - 2 * log(w)\n  mean 0\n}",
                    lambda g, w: g.triangular(-w, 0, w),
                    lambda x, w: d.log(w - abs(x)) - 2 * d.log(w)
                    if abs(x) < w else -math.inf, "real"),
    "my_power": ("distribution my_power(a) {\n  require a > 0\n"
                 "  support real(0, 1)\n"
                 "  logdensity log(a) + (a - 1) * log(x)\n"
                 "  statistics log(x): a - 1\n  solve a = 1 + s1\n"
                 "  mean a / (a + 1)\n  cdf x^a\n  quantile p^(1 / a)\n}",
                 lambda g, a: g.random() ** (1 / a),
                 lambda x, a: d.log(a) + (a - 1) * d.log(x)
                 if 0 < x < 1 else -math.inf, "probability"),
}
d.ALL.update({name: (draw, log) for name, (_, draw, log, _) in OWN.items()})


def own_distribution(b):
    """A distribution that the model file defines."""
    from generate import Thing
    which = b.pick(["my_normal", "my_normal", "my_triangle", "my_power"])
    entry = OWN[which][0]
    if entry not in b.before:
        b.before.append(entry)
    n = b.between(3, 6)
    name = b.name("v")
    i = b.loop(1, n)
    if which == "my_normal":
        mean, sd = b.real([i]), b.of("positive", [i])
        args = b.pick([f"{mean}, {sd}", f"sd = {sd}, mean = {mean}"])
    elif which == "my_triangle":
        args = b.of("positive", [i])
    else:
        args = b.positive([i])
    if "=" in args:
        b.feature("named arguments")
    each(b, i, f"{name}[{i.name}] ~ {which}({args})")
    b.add(Thing(name, OWN[which][3], (n,)))


def vector_regression(b):
    """y[t,] on y[t-1,] by a matrix of coefficients."""
    from generate import Thing
    n, k = b.between(4, 6), b.between(2, 3)
    y, phi = b.name("y"), b.name("Phi")
    i, j = two(b, k, k)
    dist = lambda c: f"dnorm({b.number(-0.2, 0.4)}, {b.number(4, 9)})"
    style = b.pick([table_plain, table_diagonal, table_columns, table_corner,
                    table_cells])
    b.feature("table: " + style.__name__[6:])
    style(b, phi, k, k, dist, "probability")
    b.add(Thing(phi, "real", (k, k)))
    t, j = two(b, n, k)
    tau, level = b.precision([j]), b.of("real", [j], 0.2)
    b.write(f"for ({j.name} in 1:{k}) {{ {y}[1,{j.name}] ~ dnorm(0, 1) }}")
    mean = b.pick([f"inprod({phi}[{j.name},], {y}[{t.name}-1,])",
                   f"{phi}[{j.name},] %*% {y}[{t.name}-1,]",
                   f"inprod({y}[{t.name}-1,1:{k}], {phi}[{j.name},1:{k}])"])
    each(b, type(t)(t.name, 2, n), f"for ({j.name} in 1:{k}) {{ "
         f"{y}[{t.name},{j.name}] ~ dnorm({level} + {mean}, {tau}) }}", str(n))
    b.feature("recursion", "inprod")


def factors(b):
    """Items that load on a factor for each unit."""
    n, m = b.between(3, 6), b.between(2, 4)
    load, f, y = b.name("lambda"), b.name("f"), b.name("Y")
    fill(b, load, m, lambda c: f"dnorm({b.number(0.5, 1.5)}, 2)")
    fill(b, f, n, lambda c: f"dnorm({b.real(c)}, {b.precision(c)})")
    i, j = two(b, n, m)
    extra = f" + {b.of('real', [j])}" if b.chance(0.6) else ""
    product = f"{load}[{j.name}] * {f}[{i.name}]{extra}"
    style = b.pick(["loop", "loop", "literal", "binary"])
    if style == "literal":
        b.feature("pieces by literal subscripts")
        mu = b.name("mu")
        each(b, i, " ".join(
            f"{mu}[{i.name},{c}] <- {load}[{c}] * {f}[{i.name}]"
            for c in range(1, m + 1)))
        nest(b, [i, j], f"{y}[{i.name},{j.name}] ~ dnorm({mu}[{i.name},"
             f"{j.name}], {b.precision([j])})")
    elif style == "binary":
        nest(b, [i, j], f"{y}[{i.name},{j.name}] ~ dbern(ilogit({product}))")
    else:
        nest(b, [i, j], f"{y}[{i.name},{j.name}] ~ dnorm({product}, "
             f"{b.precision([j])})")


def occupancy(b):
    """Sites that are occupied or not, and what is seen there."""
    from generate import Thing
    n, m = b.between(4, 8), b.between(1, 3)
    z, y = b.name("z"), b.name("y")
    i, j = two(b, n, m)
    each(b, i, f"{z}[{i.name}] ~ dbern({b.probability([i])})")
    seen = b.pick([f"dbern({z}[{i.name}] * {b.of('probability', [i])})",
                   f"dpois({z}[{i.name}] * {b.of('positive', [i])} + 0.01)",
                   f"dnorm({z}[{i.name}] * {b.of('real', [i])}, "
                   f"{b.precision([i])})",
                   f"dbin({z}[{i.name}] * {b.of('probability', [j])}, 3)"])
    nest(b, [i, j], f"{y}[{i.name},{j.name}] ~ {seen}")
    b.latent_always.add(z)
    if b.chance(0.85):
        b.observed_always.add(y)
    b.add(Thing(z, "real", (n,)))


def softmax(b):
    """Choices by logits, one of them 0."""
    n, k = b.between(4, 7), b.between(2, 4)
    e, y = b.name("e"), b.name("y")
    i, j = two(b, n, k)
    first = b.chance(0.6)
    if first:
        each(b, i, f"{e}[{i.name},1] <- 1")
    low = 2 if first else 1
    inner = type(j)(j.name, low, k)
    b.write(f"for ({i.name} in 1:{n}) {{ for ({j.name} in {low}:{k}) {{ "
            f"{e}[{i.name},{j.name}] <- exp({b.small([i, inner])}) }} }}")
    if b.chance(0.5):
        p = b.name("p")
        nest(b, [i, j], f"{p}[{i.name},{j.name}] <- {e}[{i.name},{j.name}] / "
             f"sum({e}[{i.name},1:{k}])")
        e = p
    each(b, i, f"{y}[{i.name}] ~ dcat({e}[{i.name},{b.pick(['', f'1:{k}'])}])")
    if b.chance(0.8):
        b.observed_always.add(y)


def covariance_by_cells(b):
    """A 2 x 2 covariance matrix from standard deviations and a
    correlation."""
    from generate import Thing
    s, omega, rho = b.name("Sigma"), b.name("Omega"), b.name("rho")
    one, two_ = b.of("positive", []), b.of("positive", [])
    b.write(f"{rho} ~ dunif(-0.8, 0.8)")
    b.write(f"{s}[1,1] <- {one} * {one} + 0.1")
    b.write(f"{s}[2,2] <- pow({two_}, 2) + 0.1")
    b.write(f"{s}[1,2] <- {rho} * {one} * {two_}")
    b.write(f"{s}[2,1] <- {s}[1,2]")
    b.write(f"{omega}[1:2,1:2] <- inverse({s}[,])")
    b.feature("pieces by literal subscripts")
    b.add(Thing(omega, "matrix", (2, 2)))
    if b.chance(0.7):
        normal_vector(b, 2)


def product_of_matrices(b):
    """A vector that a product of matrices computes."""
    from generate import Thing
    vectors = [q for q in b.pool if q.kind in ("vector", "real") and
               len(q.dims) == 1]
    if not vectors:
        normal_vector(b, b.between(2, 3))
        vectors = [q for q in b.pool if q.kind in ("vector", "real") and
                   len(q.dims) == 1]
    if not vectors:
        return
    q = b.pick(vectors)
    n, k = b.between(4, 7), q.dims[0]
    mu = b.name("mu")
    x = b.given(np.round(b.g.normal(size=(n, k)), 2), "X")
    b.write(f"{mu}[1:{n}] <- {x}[,] %*% {q.name}[1:{k}]")
    b.add(Thing(mu, "real", (n,)))


def spatial(b):
    """A normal vector whose precision is that of neighbours in a row."""
    from generate import Thing
    n = b.between(3, 6)
    w, q, phi = np.zeros((n, n)), b.name("Q"), b.name("phi")
    for k in range(n - 1):
        w[k, k + 1] = w[k + 1, k] = 1
    adjacent, tau = b.given(w, "W"), b.of("positive", [])
    r = b.pick(["0.9", b.of("probability", [])])
    i, j = two(b, n, n)
    nest(b, [i, j], f"{q}[{i.name},{j.name}] <- {tau} * (equals({i.name}, "
         f"{j.name}) * 2.1 - {r} * {adjacent}[{i.name},{j.name}])")
    zero = b.given(np.zeros(n), "zero")
    b.write(f"{phi}[1:{n}] ~ dmnorm({zero}[], {q}[,])")
    b.add(Thing(phi, "real", (n,)))
    b.may_miss.add(phi)
    b.feature("vector node", "matrix cell by cell")


def measured(b):
    """True values that are seen with error and read elsewhere."""
    from generate import Thing
    n = b.between(4, 8)
    true, seen = b.name("x.true"), b.name("x.obs")
    fill(b, true, n, lambda c: real_prior(b, c))
    i = b.loop(1, n)
    each(b, i, f"{seen}[{i.name}] ~ dnorm({true}[{i.name}], "
         f"{b.precision([i])})")
    b.latent_always.add(true)
    b.observed_always.add(seen)
    b.add(Thing(true, "real", (n,)))


def ordered(b):
    """Cutpoints in order, sorted or by increments."""
    from generate import Thing
    raw, cut, y = b.name("raw"), b.name("cut"), b.name("y")
    k, n = b.between(2, 3), b.between(5, 9)
    if b.chance(0.5):
        b.feature("sort")
        i = b.loop(1, k)
        each(b, i, f"{raw}[{i.name}] ~ dnorm(0, 1)")
        b.write(f"{cut}[1:{k}] <- sort({raw}[1:{k}])")
    else:
        b.write(f"{cut}[1] ~ dnorm(-0.5, 2)")
        for c in range(2, k + 1):
            b.write(f"{raw}[{c}] ~ dgamma(3, 3)")
            b.write(f"{cut}[{c}] <- {cut}[{c - 1}] + {raw}[{c}]")
    i = b.loop(1, n)
    mean = b.predictor([i])
    if b.chance(0.5):
        link = b.pick(["logit", "probit"])
        each(b, i, f"{y}[{i.name}] ~ dordered.{link}({mean}, {cut}[1:{k}])")
    else:
        mu, p = b.name("mu"), b.name("p")
        last = k + 1
        link = b.pick(["ilogit", "phi"])
        each(b, i, f"{mu}[{i.name}] <- {mean} {p}[{i.name},1] <- "
             f"{link}({cut}[1] - {mu}[{i.name}]) " + " ".join(
                 f"{p}[{i.name},{c}] <- {link}({cut}[{c}] - {mu}[{i.name}]) - "
                 f"{link}({cut}[{c - 1}] - {mu}[{i.name}])"
                 for c in range(2, last))
             + f" {p}[{i.name},{last}] <- 1 - {link}({cut}[{k}] - "
             f"{mu}[{i.name}]) {y}[{i.name}] ~ dcat({p}[{i.name},1:{last}])")
        b.feature("pieces by literal subscripts")
    b.observed_always.add(y)
    b.add(Thing(cut, "real", (k,)))


# --------------------------------------------------------------- likelihood

def response(b, context):
    """A distribution for what is observed, with random arguments."""
    p, r, pos = b.probability, b.real, b.positive
    if b.modern and b.chance(0.6):
        return b.weighted([
            (5, lambda: f"normal({r(context)}, {b.of('positive', context)})"),
            (1, lambda: f"bernoulli_logit({b.predictor(context)})"),
            (1, lambda: f"binomial_logit({b.between(2, 8)}, "
                        f"{b.predictor(context)})"),
            (1, lambda: f"poisson_log({b.small(context)})"),
            (1, lambda: f"neg_binomial_2(exp({b.small(context)}), "
                        f"{pos(context)})"),
            (1, lambda: f"student_t({b.between(3, 7)}, {r(context)}, "
                        f"{b.of('positive', context)})"),
            (0.7, lambda: f"lognormal({r(context)}, "
                          f"{b.of('positive', context)})"),
            (0.7, lambda: f"weibull({b.number(1, 2)}, {pos(context)})"),
            (0.5, lambda: f"laplace({r(context)}, "
                          f"{b.of('positive', context)})"),
            (0.5, lambda: f"beta_binomial(6, {pos(context)}, {pos(context)})"),
            (0.5, lambda: f"gumbel({r(context)}, "
                          f"{b.of('positive', context)})"),
            (0.5, lambda: f"neg_binomial_2_log({b.small(context)}, "
                          f"{pos(context)})"),
            (0.5, lambda: f"exponential({pos(context)})"),
            (0.3, lambda: f"rayleigh({pos(context)})"),
            (0.3, lambda: f"von_mises({r(context)}, {pos(context)})")])()
    return b.weighted([
        (9, lambda: f"dnorm({r(context)}, {b.precision(context)})"),
        (2, lambda: f"dbern({p(context)})"),
        (2.5, lambda: f"dbin({p(context)}, {trials(b, context)})"),
        (3, lambda: f"dpois({b.weighted([(2, lambda: pos(context)), (3, lambda: 'exp(' + b.small(context) + ')')])()})"),
        (1, lambda: f"dnegbin({p(context)}, {b.number(1, 5)})"),
        (1, lambda: f"dcat({b.simplex(context, b.between(2, 4))})"),
        (1, lambda: f"dgamma({pos(context)}, {pos(context)})"),
        (0.8, lambda: f"dlnorm({r(context)}, {b.precision(context)})"),
        (0.8, lambda: f"dweib({b.number(0.8, 2)}, {pos(context)})"),
        (0.7, lambda: f"dexp({pos(context)})"),
        (1, lambda: f"dt({r(context)}, {b.precision(context)}, "
                    f"{b.between(3, 7)})"),
        (0.8, lambda: f"ddexp({r(context)}, {b.precision(context)})"),
        (0.8, lambda: f"dlogis({r(context)}, {b.precision(context)})"),
        (0.7, lambda: f"dbeta({pos(context)} + 0.5, {pos(context)} + 0.5)"),
        (0.5, lambda: f"dordered.logit({r(context)}, {cutpoints(b)}[])"
            if b.modern else f"dnorm({r(context)}, 1)"),
        (0.5, lambda: f"dpar({pos(context)}, 0.5)"),
        (0.3, lambda: f"dgeom({p(context)})"
            if b.modern else f"dpois({pos(context)})"),
        (0.4, lambda: f"dbetabin({pos(context)}, {pos(context)}, 6)"),
        (0.4, lambda: f"df({b.between(3, 6)}, {b.between(5, 9)})"),
        (1, lambda: truncated(
            b, f"dnorm({b.of('real', context)}, {b.precision(context)})",
            context, False)),
        (0.3, lambda: truncated(
            b, f"dt({b.of('real', context)}, {b.precision(context)}, 5)",
            context, False)),
        (0.5, lambda: f"dpois({pos(context)})T(1,)"),
        (0.4, lambda: f"dgamma({pos(context)}, {pos(context)})"
                      f"T({b.number(0.01, 0.1)}, 9)"),
    ])()


def trials(b, context):
    if context and b.chance(0.5):
        v = b.pick(context)
        name = b.given(b.g.integers(1, 10, v.high), "n")
        return f"{name}[{v.name}]"
    return str(b.between(1, 8))


def cutpoints(b):
    return b.given([-1.0, 0.2, 1.1], "cut")


def likelihood(b):
    """Observed data on a plate of some shape."""
    y = b.name("y")
    shape = b.weighted([(5, shape_line), (2, shape_nested), (1.2, shape_ragged),
                        (1, shape_triangle), (1, shape_offset),
                        (0.8, shape_long)])
    b.feature("data: " + shape.__name__[6:])
    shape(b, y)
    if b.chance(0.5):
        b.observed_always.add(y)


def shape_line(b, y):
    n = b.between(4, 12)
    if b.chance(0.35):
        fill(b, y, n, lambda c: f"dnorm({b.real(c)}, {b.precision(c)})")
        return
    i = b.loop(1, n)
    text = response(b, [i])
    if b.chance(0.4) and text.startswith("dnorm("):
        mu = b.name("mu")
        b.feature("mean with a name")
        each(b, i, f"{mu}[{i.name}] <- {b.predictor([i])} "
             f"{y}[{i.name}] ~ dnorm({mu}[{i.name}], {b.precision([i])})")
        return
    each(b, i, f"{y}[{i.name}] ~ {text}")


def shape_nested(b, y):
    i, j = two(b, b.between(2, 5), b.between(2, 4))
    nest(b, b.pick([[i, j], [j, i]]),
         f"{y}[{i.name},{j.name}] ~ {response(b, [i, j])}")


def shape_ragged(b, y):
    n = b.between(3, 5)
    sizes = b.g.integers(0 if b.chance(0.2) else 1, 5, n)
    if sizes.max() == 0:
        sizes[0] = 2
    m = b.given(sizes, "n")
    i, j = two(b, n, int(sizes.max()))
    b.write(f"for ({i.name} in 1:{n}) {{ for ({j.name} in 1:{m}[{i.name}]) "
            f"{{ {y}[{i.name},{j.name}] ~ {response(b, [i, j])} }} }}")


def shape_triangle(b, y):
    n = b.between(3, 5)
    i, j = two(b, n, n)
    low = b.chance(0.5)
    text = response(b, [i, j])
    if low:
        b.write(f"for ({i.name} in 1:{n}) {{ for ({j.name} in 1:{i.name}) "
                f"{{ {y}[{i.name},{j.name}] ~ {text} }} }}")
    else:
        b.write(f"for ({i.name} in 1:({n}-1)) {{ for ({j.name} in "
                f"({i.name}+1):{n}) {{ {y}[{i.name},{j.name}] ~ {text} }} }}")


def shape_offset(b, y):
    """Groups one behind the other, by offsets."""
    n = b.between(2, 4)
    sizes = b.g.integers(1, 5, n)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    off = b.given(ends + 1.0, "off")
    i = b.loop(1, n)
    j = b.loop(1, int(ends[-1]))
    while j.name == i.name:
        j = b.loop(1, int(ends[-1]))
    b.write(f"for ({i.name} in 1:{n}) {{ for ({j.name} in {off}[{i.name}]:"
            f"({off}[{i.name}+1]-1)) {{ {y}[{j.name}] ~ "
            f"{response(b, [i, j])} }} }}")


def shape_long(b, y):
    """Rows that name their group and occasion."""
    n = b.between(5, 10)
    fill(b, y, n, lambda c: f"dnorm({b.predictor(c)}, {b.precision(c)})")


MAKERS = [(2, random_effects), (1, scalars), (2.5, table),
          (1.5, computed_plate), (2, walk), (1, hidden_chain),
          (0.8, categories), (1, mixture), (1, population),
          (2, normal_vector), (1.5, vector_data), (1, censored),
          (0.7, observed_sum), (0.6, dead_code), (0.7, data_block),
          (0.7, own_distribution), (1, vector_regression), (1, factors),
          (0.8, occupancy), (0.6, softmax), (0.6, covariance_by_cells),
          (0.6, product_of_matrices), (0.6, spatial), (0.7, measured),
          (0.5, ordered), (6, likelihood)]
