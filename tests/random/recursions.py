"""What depends on its own past."""

import numpy as np

from filling import (
    each, table_cells, table_columns, table_corner, table_diagonal,
    table_plain, two)
from pool import Thing
from priors import real_prior


def walk(b):
    """A recursion in time of a real state."""
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


def vector_regression(b):
    """y[t,] on y[t-1,] by a matrix of coefficients."""
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
