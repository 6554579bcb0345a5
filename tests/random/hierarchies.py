"""Effects with a scale that moves with them: in products with a node, with a
spread for each column, in series whose first state shares the scale."""

import numpy as np

from filling import each
from regressions import families, spread, spread_prior


def prior_of_scale(b):
    """Of a node that multiplies effects: its sign may be open."""
    return b.weighted([(4, lambda: spread_prior(b)),
                       (1, lambda: f"dgamma({b.number(2, 4)}, 3)"),
                       (1, lambda: f"dnorm({b.number(0, 1)}, 2)")])()


def prior_of_effects(b):
    return b.weighted([
        (5, lambda: "dnorm(0, 1)"),
        (2, lambda: f"dnorm({b.number(-1, 1)}, {b.of('positive', [])})"),
        (1, lambda: "dnorm(0, 1)T(0,)")])()


def groups(b, i, m):
    group = b.given(b.g.integers(1, m + 1, i.high), "g")
    b.ranges[group] = m
    return f"{group}[{i.name}]"


def by_one_number(b, i):
    """sigma * e[g[i]], in place or in an array of its own."""
    m, e, s = b.between(2, 6), b.name("e"), b.name("sigma")
    b.write(f"{s} ~ {prior_of_scale(b)}")
    j, at = b.loop(1, m), groups(b, i, m)
    style = b.weighted([(3, "plate"), (1, "chain"), (1, "vector")])
    if style == "vector":
        q = b.given(np.round(np.eye(m) * 2 - 0.4 * np.eye(m, k=1)
                             - 0.4 * np.eye(m, k=-1), 2), "Q")
        zero = b.given(np.zeros(m), "zero")
        b.write(f"{e}[1:{m}] ~ dmnorm({zero}[], {q}[,])")
    elif style == "chain":
        b.write(f"{e}[1] ~ dnorm(0, 1)")
        t = b.loop(2, m)
        each(b, t, f"{e}[{t.name}] ~ dnorm({b.number(0.3, 1)} * "
             f"{e}[{t.name} - 1], 1)")
    else:
        each(b, j, f"{e}[{j.name}] ~ {prior_of_effects(b)}")
    if style != "plate" or b.chance(0.5):
        return f"{s} * {e}[{at}]"
    u = b.name("u")
    each(b, j, f"{u}[{j.name}] <- {b.number(-1, 1)} + {s} * {e}[{j.name}]")
    return f"{u}[{at}]"


def columns(b, i, fill):
    """inprod(B[g[i],], X[i,]), where fill(j, k) has statements on B's cells."""
    m, n = b.between(4, 6), b.between(2, 3)
    x = b.given(np.round(b.g.normal(size=(i.high, n)) * 0.7, 2), "X")
    j, k, name = b.loop(1, m), b.loop(1, n), b.name("B")
    inner = fill(f"{name}[{j.name},{k.name}]", j, k)
    b.write(f"for ({j.name} in 1:{m}) {{ for ({k.name} in 1:{n}) {{ {inner} "
            "} }")
    at = groups(b, i, m)
    return b.pick([f"inprod({name}[{at},], {x}[{i.name},])",
                   f"inprod({x}[{i.name},1:{n}], {name}[{at},1:{n}])"])


def standardised_columns(b, i):
    def fill(cell, j, k):
        e, s, mu = b.name("e"), b.name("sigma"), b.name("mu")
        each(b, k, f"{s}[{k.name}] ~ {prior_of_scale(b)} "
             f"{mu}[{k.name}] ~ dnorm(0, 2)")
        turned = b.chance(0.5)
        at = f"{e}[{k.name},{j.name}]" if turned else \
            f"{e}[{j.name},{k.name}]"
        return f"{at} ~ dnorm(0, 1) " \
            f"{cell} <- {mu}[{k.name}] + {s}[{k.name}] * {at}"
    return columns(b, i, fill)


def spread_columns(b, i):
    def fill(cell, j, k):
        s, mu = b.name("sigma"), b.name("mu")
        each(b, k, f"{s}[{k.name}] ~ {spread_prior(b)} "
             f"{mu}[{k.name}] ~ dnorm(0, 2)")
        return f"{cell} ~ dnorm({mu}[{k.name}], " + b.pick(
            [f"pow({s}[{k.name}], -2))", f"1 / {s}[{k.name}]^2)"])
    return columns(b, i, fill)


def series(b, i):
    """States of one scale, the first too; or of each of some series."""
    phi, e = b.number(0.3, 1), b.name("e")
    if b.chance(0.5):
        normal = spread(b)
        t = b.loop(2, i.high)
        b.write(f"{e}[1] ~ {normal('0')}")
        each(b, t, f"{e}[{t.name}] ~ "
             + normal(f"{phi} * {e}[{t.name} - 1]"))
        return f"{e}[{i.name}]"
    m, n, tau = 3, b.between(4, 5), b.name("tau")
    j, t = b.loop(1, m), b.loop(2, n)
    b.write(f"for ({j.name} in 1:{m}) {{ {tau}[{j.name}] ~ dgamma(3, 2) "
            f"{e}[{j.name},1] ~ dnorm(0, {tau}[{j.name}]) "
            f"for ({t.name} in 2:{n}) {{ {e}[{j.name},{t.name}] ~ dnorm({phi} "
            f"* {e}[{j.name},{t.name} - 1], {tau}[{j.name}]) }} }}")
    return f"{e}[{groups(b, i, m)},{groups(b, i, n)}]"


def overdispersion(b):
    """Counts with a normal effect each beside a regression by unit, in one sum
    or two, with an offset, a node that more units share, or none."""
    m, n, p = b.between(2, 4), b.between(2, 4), b.between(1, 3)
    g, i, k = b.loop(1, m), b.loop(1, n), b.loop(1, p)
    y, e, v, tau, s, mu = (b.name(x) for x in
                           ("y", "eps", "beta", "tau", "sigma", "mu"))
    x = b.given(np.round(b.g.normal(size=(n, p)) * 0.6, 2), "X")
    turned = b.chance(0.4)
    at = f"{e}[{i.name},{g.name}]" if turned else f"{e}[{g.name},{i.name}]"
    sign = b.pick(["+", "-"])
    eta = b.pick([f"{at} {sign} inprod({x}[{i.name},], {v}[{g.name},])",
                  f"inprod({v}[{g.name},], {x}[{i.name},]) + {b.number(0, 1)} "
                  f"- {at}"])
    alone = b.chance(0.5)
    if alone:
        a = b.name("alpha")
        each(b, g, f"{a}[{g.name}] ~ dnorm({b.number(-1, 1)}, 2)")
        eta += f" + {a}[{g.name}]"
    each(b, k, f"{s}[{k.name}] ~ {spread_prior(b)} "
         f"{mu}[{k.name}] ~ dnorm(0, 2)")
    b.write(f"for ({g.name} in 1:{m}) {{ {tau}[{g.name}] ~ dgamma(3, 1) "
            f"for ({k.name} in 1:{p}) {{ {v}[{g.name},{k.name}] ~ "
            f"dnorm({mu}[{k.name}], 1 / {s}[{k.name}]^2) }} "
            f"for ({i.name} in 1:{n}) {{ "
            f"{at} ~ dnorm({b.number(-1, 1)}, {tau}[{g.name}]) }} }}")
    b.write(f"for ({g.name} in 1:{m}) {{ for ({i.name} in 1:{n}) {{ "
            f"{y}[{g.name},{i.name}] ~ dpois(exp({eta})) }} }}")
    b.feature("hierarchy: overdispersion")
    b.observed_always.add(y)


KINDS = [(3, by_one_number), (2, standardised_columns), (2, spread_columns),
         (2, series)]


def hierarchy(b):
    """Rows with one or two such effects in their predictor."""
    n = b.between(6, 16)
    i, y, terms = b.loop(1, n), b.name("y"), []
    if b.chance(0.7):
        level = b.name("alpha")
        b.write(f"{level} ~ dnorm(0, {b.number(0.7, 3)})")
        terms.append(level)
    for _ in range(b.between(1, 2)):
        kind = b.weighted(KINDS)
        b.feature("hierarchy: " + kind.__name__.replace("_", " "))
        terms.append(kind(b, i))
    each(b, i, f"{y}[{i.name}] ~ "
         + b.weighted(families(b, i, " + ".join(terms))))
    b.observed_always.add(y)


def shared_effects(b):
    """Responses with the same effects beside levels, which may be one and the same,
    others, the negative, or part of a sum that stands in only one of them."""
    m, n = b.between(2, 5), b.between(5, 10)
    u, a, c = b.name("u"), b.name("alpha"), b.name("beta")
    g, normal = b.loop(1, m), spread(b)
    each(b, g, f"{u}[{g.name}] ~ {normal(b.number(-1, 1))}")
    for level in (a, c):
        b.write(f"{level} ~ dnorm({b.number(-1, 1)}, {b.number(0.5, 2)})")
    for k in range(b.between(1, 3)):
        i, y = b.loop(1, n), b.name("y")
        effect = f"{u}[{groups(b, i, m)}]"
        levels = b.weighted([(3, f"{a}"), (2, f"{c}"), (2, f"{a} + {c}"),
                             (1, b.number(-1, 1)), (1, f"{a} - {c}")])
        sign = b.weighted([(4, "+"), (1, "-")])
        eta = f"{levels} {sign} {effect}"
        if b.chance(0.4):
            eta += f" + {b.of('real', [])} * {b.covariate([i])}"
        each(b, i, f"{y}[{i.name}] ~ " + b.weighted(families(b, i, eta)))
        b.observed_always.add(y)
    b.latent_always.update((u, a, c))
