"""Effects and tables of parameters; computed arrays."""

import numpy as np

import syntax
from filling import (
    each, fill, table_cells, table_columns, table_corner, table_diagonal,
    table_flat, table_plain, table_rows, table_triangles)
from pool import Thing
from priors import PRIORS, parameter, real_prior
from vectors import normal_vector


def random_effects(b):
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


def computed_plate(b):
    """A computed array: a predictor with its own name, or a link."""
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


def product_of_matrices(b):
    """A vector that a product of matrices computes."""
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


def data_block(b):
    """A covariate that a data block computes."""
    n = b.between(4, 9)
    x = b.given(np.round(b.g.uniform(0.5, 4, n), 2), "x")
    name = b.name("lx")
    i = b.loop(1, n)
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
    b.add(Thing(slope, "real"))
    b.add(Thing(mu, "real", (n,)))


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
