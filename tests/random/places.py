"""Places of elements that are computed of latent nodes, by every function that
gives whole numbers, one inside another: what a sampler holds by them must follow
whatever moves them. Rows, bounds, sums, priors and a second response read the
same places."""

import numpy as np

from filling import each
from pool import Thing
from priors import PRIORS, real_prior
from users import seen


def plate(b, n):
    """A plate of reals that tell places apart often enough."""
    u, k = b.name("u"), b.loop(1, n)
    each(b, k, f"{u}[{k.name}] ~ {real_prior(b, [k])}", str(n))
    b.latent_always.add(u)
    b.add(Thing(u, "real", (n,)))
    return u


def ranks(b, n):
    u, r = plate(b, n), b.name("r")
    part = b.pick([f"{u}[]", f"{u}[1:{n}]"])
    b.write(f"{r}[1:{n}] <- {b.pick(['rank', 'order'])}({part})")
    return r


def ranks_of_computed(b, n):
    """Of values that are computed, and kept, themselves."""
    u, v, r, k = plate(b, n), b.name("v"), b.name("r"), b.loop(1, n)
    if b.chance(0.3):
        b.write(f"{v}[1:{n}] <- sort({u}[1:{n}])")
        t, v = v, b.name("v")
        each(b, k, f"{v}[{k.name}] <- {t}[{k.name}] * {u}[{k.name}]", str(n))
    else:
        each(b, k, f"{v}[{k.name}] <- " + b.pick([
            f"{u}[{k.name}] * {b.of('real', [])}",
            f"{u}[{k.name}] - mean({u}[])", f"{u}[{n} + 1 - {k.name}]",
            f"{u}[{k.name}]^2"]), str(n))
    b.write(f"{r}[1:{n}] <- {b.pick(['rank', 'order'])}({v}[1:{n}])")
    return r


def counted(b, n):
    """How many of the others are smaller, and itself."""
    u, r, k = plate(b, n), b.name("r"), b.loop(1, n)
    parts = " + ".join(f"step({u}[{k.name}] - {u}[{j}])"
                       for j in range(1, n + 1))
    each(b, k, f"{r}[{k.name}] <- max(1, {parts})", str(n))
    return r


def rounded(b, n):
    """A real, cut into so many."""
    u, r, k = plate(b, n), b.name("r"), b.loop(1, n)
    whole = b.pick(["round", "trunc"])
    each(b, k, f"{r}[{k.name}] <- max(1, min({n}, {whole}("
         f"{b.number(1, n)} + {u}[{k.name}] * {b.number(0.7, 2)})))", str(n))
    return r


def sums_of_indicators(b, n):
    z, r, k = b.name("z"), b.name("r"), b.loop(1, n)
    each(b, k, f"{z}[{k.name}] ~ dbern({b.probability([])})", str(n))
    b.latent_always.add(z)
    each(b, k, f"{r}[{k.name}] <- " + b.pick([
        f"max(1, sum({z}[1:{k.name}]))", f"1 + {z}[{k.name}]",
        f"1 + {z}[{k.name}] * {z}[{n + 1} - {k.name}]",
        f"ifelse({z}[{k.name}] == 1, {n}, max(1, sum({z}[])))"]), str(n))
    return r


def classes(b, n):
    """Nodes; some of them observed."""
    z, k = b.name("z"), b.loop(1, n)
    each(b, k, f"{z}[{k.name}] ~ dcat({b.simplex([], n)})", str(n))
    if b.chance(0.6):
        b.latent_always.add(z)
    return z


KINDS = [(3, ranks), (2, ranks_of_computed), (1.5, counted), (1.5, rounded),
         (2, sums_of_indicators), (1.5, classes)]


def place(b, n, i):
    """The text of a place from 1 to n in row i: places of places, one to three
    deep, some of them kept in an array of their own."""
    at = b.by_data(n, i)
    for depth in range(b.weighted([(3, 1), (4, 2), (2, 3)])):
        kind = b.weighted(KINDS)
        b.feature("place: " + kind.__name__.replace("_", " "))
        at = f"{kind(b, n)}[{at}]"
        if depth and b.chance(0.3):
            kept = b.name("at")
            each(b, i, f"{kept}[{i.name}] <- {at}")
            at = f"{kept}[{i.name}]"
    b.feature("latent subscript")
    return at


def response(b, i, level, at):
    """A response by the level at a place."""
    y, m = b.name("y"), f"{level}[{at}]"
    p = b.precision([])
    each(b, i, f"{y}[{i.name}] ~ " + b.weighted([
        (5, f"dnorm({m}, {p})"), (2, f"dpois(exp(0.5 * ({m})))"),
        (1.5, f"dbern(ilogit({m}))"), (1, f"dnorm({b.covariate([i])} * {m}, {p})"),
        (1, f"dnorm(0, {p}) T({m},)"), (0.7, f"dt({m}, {p}, 5)"),
        (0.7, f"dnorm(0, exp({m}))")]))
    b.observed_always.add(y)


def read(b, n, level, at, i):
    """Another use of the places."""
    y, j = b.name("y"), b.loop(1, b.between(2, 4))
    style = b.pick(["again", "again", "sums", "prior", "rate", "bound"])
    b.feature("place read: " + style)
    if style == "again":
        response(b, i, level, at)
    elif style == "sums":  # over all rows
        total = b.name("total")
        b.write(f"for ({i.name} in 1:{i.high}) "
                f"{{ {total}[{i.name}] <- {level}[{at}] }}")
        seen(b, y, j, f"sum({total}[]) / {i.high}")
    elif style == "prior":  # of a node of each row
        w = b.name("w")
        b.write(f"for ({i.name} in 1:{i.high}) "
                f"{{ {w}[{i.name}] ~ dnorm({level}[{at}], {b.number(1, 3)}) }}")
        b.latent_always.add(w)
        seen(b, y, i, f"{w}[{i.name}]")
    elif style == "rate":
        s, k = b.name("s"), b.loop(1, n)
        each(b, k, f"{s}[{k.name}] ~ dgamma({b.number(2, 4)}, 2)", str(n))
        b.latent_always.add(s)
        each(b, i, f"{y}[{i.name}] ~ " + b.pick([
            f"dexp({s}[{at}])", f"dpois({s}[{at}])",
            f"dnorm(0.3, {s}[{at}])"]))
        b.observed_always.add(y)
    else:
        each(b, i, f"{y}[{i.name}] ~ dunif({level}[{at}] - 3, "
             f"max({level}[]) + 1)")
        b.observed_always.add(y)


def places(b):
    """Levels by places that are computed of latent nodes."""
    n, i = b.between(2, 4), b.loop(1, b.between(4, 9))
    level, k = b.name("mu"), b.loop(1, n)
    at = place(b, n, i)
    each(b, k, f"{level}[{k.name}] ~ {PRIORS['real'](b, [k])}", str(n))
    b.latent_always.add(level)
    response(b, i, level, at)
    for _ in range(b.weighted([(4, 0), (4, 1), (2, 2)])):
        read(b, n, level, at, i)
    b.add(Thing(level, "real", (n,)))
