"""Statistics by groups of rows whose means and scales move, tables read across
the loops that fill them, chains of flat priors."""

import numpy as np

from filling import each, nest, two
from pool import Thing


def rows_of_groups(b):
    """Rows in groups, in one or two ways: each group has a parameter of a
    conjugate prior whose own parameters are latent, and what else the rows'
    distributions read moves, too, a number or one of other groups."""
    n, m = b.between(5, 12), b.between(2, 4)
    z, y = b.name("z"), b.name("y")
    a, rate = b.of("positive", []), b.of("positive", [])
    group = b.given(b.g.integers(1, m + 1, n), "g")
    b.ranges[group] = m
    j = b.loop(1, m)
    i = b.loop(1, n)
    while i.name == j.name:
        i = b.loop(1, n)
    at = f"{z}[{group}[{i.name}]]"
    kind = b.pick(["precision", "precision", "rate", "exponential", "share"])
    prior = f"dbeta({a} + 0.5, {rate} + 0.5)" if kind == "share" else \
        f"dgamma({a}, {rate})"
    each(b, j, f"{z}[{j.name}] ~ {prior}")
    if kind == "precision":
        mean = b.weighted([(2, lambda: b.of("real", [])),
                           (2, lambda: other_group(b, i)),
                           (1, lambda: b.predictor([i]))])()
        row = f"dnorm({mean}, {at})"
    elif kind == "share":
        size = b.given(b.g.integers(2, 9, n), "size")
        row = b.pick([f"dbin({at}, {size}[{i.name}])", f"dbern({at})"])
    else:
        times = b.pick([f" * {b.of('positive', [])}", "",
                        f" * {b.given(np.round(b.g.uniform(0.5, 3, n), 1), 'e')}"
                        f"[{i.name}]"])
        row = f"dpois({at}{times})" if kind == "rate" else f"dexp({at}{times})"
    each(b, i, f"{y}[{i.name}] ~ {row}")
    b.feature("rows of groups: " + kind)
    b.latent_always.add(z)
    b.observed_always.add(y)
    b.add(Thing(z, "probability" if kind == "share" else "positive", (m,)))


def other_group(b, i):
    """The mean of a group of another grouping."""
    m, mu = b.between(2, 3), b.name("mu")
    group = b.given(b.g.integers(1, m + 1, i.high), "h")
    b.ranges[group] = m
    k = b.loop(1, m)
    each(b, k, f"{mu}[{k.name}] ~ dnorm({b.of('real', [])}, "
         f"{b.of('positive', [])})")
    b.latent_always.add(mu)
    return f"{mu}[{group}[{i.name}]]"


def across(b):
    """A square table whose rows' distributions read the cell across the
    diagonal, one of an own effect and the other's."""
    n = b.between(2, 4)
    x, y, s = b.name("x"), b.name("y"), b.of("positive", [])
    i, j = two(b, n, n)
    mean = b.pick([b.of("real", []), b.number(-1, 1)])
    nest(b, [i, j], f"{x}[{i.name},{j.name}] ~ dnorm({mean}, {s})")
    own, other = f"{x}[{i.name},{j.name}]", f"{x}[{j.name},{i.name}]"
    total = b.pick([f"{own} + {b.number(-1, 1)} * {other}",
                    f"{other} - {b.of('real', [])}",
                    f"{own} * {other}", f"{x}[{j.name},1] + {other}"])
    if b.chance(0.5):
        e = b.name("e")
        nest(b, [i, j], f"{e}[{i.name},{j.name}] <- {total}")
        total = b.pick([f"{e}[{i.name},{j.name}]", f"{e}[{j.name},{i.name}]"])
    nest(b, [i, j], f"{y}[{i.name},{j.name}] ~ " + b.pick([
        f"dnorm({total}, {b.of('positive', [])})",
        f"dbern(ilogit({total}))", f"dpois(exp(0.3 * ({total})))"]))
    b.feature("read across the diagonal")
    b.latent_always.add(x)
    b.observed_always.add(y)


def flat_chain(b):
    """Each uniform from the one before to an end."""
    n, p, y = b.between(3, 6), b.name("p"), b.name("y")
    rising = b.chance(0.5)
    b.write(f"{p}[1] ~ " + b.pick(["dunif(0, 1)", "dbeta(2, 2)"]))
    k = b.loop(2, n)
    each(b, k, f"{p}[{k.name}] ~ " + (
        f"dunif({p}[{k.name}-1], 1)" if rising else
        b.pick([f"dunif(0, {p}[{k.name}-1])",
                f"dunif(0, {p}[{k.name} - 1])"])))
    k = b.loop(1, n)
    size = b.given(b.g.integers(2, 15, n), "size")
    at = f"{p}[{k.name}]"
    each(b, k, f"{y}[{k.name}] ~ " + b.pick([
        f"dbin({at}, {size}[{k.name}])", f"dpois({at} * {size}[{k.name}])",
        f"dnorm({at}, {b.number(2, 9)})",
        f"dnorm({at} * {b.of('real', [])}, {b.of('positive', [])})"]))
    b.feature("chain of flat priors")
    b.latent_always.add(p)
    b.observed_always.add(y)
    b.add(Thing(p, "probability", (n,)))
