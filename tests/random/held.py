"""Effects that are read in sums with nodes that could move against them, the
sums held; nodes whose coefficient in a predictor is a sum itself."""

import numpy as np

from filling import each
from regressions import families


def scale_prior(b):
    """Of a standard deviation, without auxiliaries of its own."""
    options = [(3, f"dunif({b.number(0.05, 0.3)}, {b.number(1, 3)})"),
               (2, f"dnorm(0, {b.number(0.7, 3)})T(0,)"), (1, "dexp(1.5)"),
               (1, f"dgamma({b.number(2, 4)}, 3)")]
    if b.modern:
        options += [(3, f"half_normal({b.number(0.5, 1.2)})")]
    return b.weighted(options)


def scaled(b, loop=None):
    """A function that gives a normal of some mean, whose scale is a node, or one
    for each turn of the loop."""
    name = b.name("sigma")
    at = f"{name}[{loop.name}]" if loop else name
    precision = b.chance(0.25)
    prior = f"{at} ~ " + (f"dgamma({b.number(2, 4)}, {b.number(1, 3)})"
                          if precision else scale_prior(b))
    if loop:
        b.write(f"for ({loop.name} in 1:{loop.high}) {{ {prior} }}")
    else:
        b.write(prior)
    return lambda mean: f"dnorm({mean}, {at if precision else f'1 / {at}^2'})"


def mean_of(b, hint, loop=None):
    """A number, a node of others, or an own one; one for each turn of the loop."""
    known = b.weighted([(3, lambda: b.number(-1, 1)), (7, lambda: None),
                        (1, lambda: b.of("real", []))])()
    if known:
        return known
    name = b.name(hint)
    prior = f"dnorm({b.number(-1, 1)}, {b.number(0.5, 3)})"
    if not loop:
        b.write(f"{name} ~ {prior}")
        return name
    b.write(f"for ({loop.name} in 1:{loop.high}) {{ {name}[{loop.name}] ~ "
            f"{prior} }}")
    return f"{name}[{loop.name}]"


def different_loops(b, *highs):
    out = []
    for high in highs:
        loop = b.loop(1, high)
        while loop.name in [other.name for other in out]:
            loop = b.loop(1, high)
        out.append(loop)
    return out


def slopes(b, g, i, k):
    """A regression of each group, whose coefficients have spreads by column; the
    sum's text and the statement for each group."""
    v = b.name("beta")
    normal, mean = scaled(b, k), mean_of(b, "theta", k)
    x = b.given(np.round(b.g.normal(size=(i.high, k.high)) * 0.8, 2), "X")
    inside = f"for ({k.name} in 1:{k.high}) {{ {v}[{g.name},{k.name}] ~ " \
        f"{normal(mean)} }}"
    by_cells = " + ".join(f"{v}[{g.name},{c}] * {x}[{i.name},{c}]"
                          for c in range(1, k.high + 1))
    return b.pick([f"inprod({x}[{i.name},], {v}[{g.name},])",
                   f"inprod({v}[{g.name},1:{k.high}], "
                   f"{x}[{i.name},1:{k.high}])", by_cells]), inside


def levels(b, g):
    a = b.name("alpha")
    normal, mean = scaled(b), mean_of(b, "mu")
    return f"{a}[{g.name}]", f"{a}[{g.name}] ~ {normal(mean)}"


def read(b, total, i):
    """What is seen of a predictor."""
    return b.weighted([
        (4, lambda: f"dpois(exp(0.7 * ({total})))"),
        (2, lambda: f"dpois(exp({total}))"),
        (2, lambda: f"dbern(icloglog(0.5 * ({total})))"),
        (1, lambda: f"dgamma(2, 2 * exp(0.5 * ({total})))"),
        (1, lambda: f"dt(sin({total}), {b.number(1, 3)}, 5)"),
        (2, lambda: b.weighted(families(b, i, total)))])()


def held_sums(b):
    """Units with an effect each beside what their group has: a level, slopes, or
    both. Other responses read the same sum, or one that lacks a term."""
    g, i, k = different_loops(b, b.between(2, 3), b.between(2, 3),
                              b.pick([1, 2, 2, 3]))
    e, by_group = b.name("eps"), []
    at = f"{e}[{i.name},{g.name}]" if b.chance(0.4) else \
        f"{e}[{g.name},{i.name}]"
    spread = b.weighted([(2, "group"), (1, "one"), (1, "given")])
    tau = b.number(0.7, 4)
    if spread != "given":
        tau = b.name("tau")
        if spread == "one":
            b.write(f"{tau} ~ dgamma(3, 1)")
        else:
            tau = f"{tau}[{g.name}]"
            by_group.append(f"{tau} ~ dgamma(3, 1)")
    terms = []
    kinds = b.weighted([(4, (slopes,)), (1, (levels,)), (3.5, (slopes, levels))])
    for kind in kinds:
        term, statement = kind(b, g, i, k) if kind is slopes else kind(b, g)
        terms.append(term)
        by_group.append(statement)
    by_group.append(f"for ({i.name} in 1:{i.high}) {{ {at} ~ "
                    f"dnorm({b.number(-1, 1)}, {tau}) }}")
    b.write(f"for ({g.name} in 1:{g.high}) {{ {' '.join(by_group)} }}")
    offset = b.weighted([(2, lambda: []), (1, lambda: [b.number(-1, 1)]),
                         (1, lambda: [b.covariate([i])])])()
    sign = b.weighted([(3, " + "), (1, " - ")])
    whole = " + ".join(terms + offset) + sign + at
    part = " + ".join(terms[1:] + [b.number(-1, 1), at])
    totals = [whole] + [b.weighted([
        (2, whole), (1, f"{b.number(0.4, 2)} * ({whole})"),
        (1, f"-({whole})"), (6, part)])
        for _ in range(b.weighted([(4, 0), (4, 1), (1, 2)]))]
    for total in totals:
        y = b.name("y")
        b.write(f"for ({g.name} in 1:{g.high}) {{ for ({i.name} in "
                f"1:{i.high}) {{ {y}[{g.name},{i.name}] ~ "
                f"{read(b, total, i)} }} }}")
        b.observed_always.add(y)
    if b.chance(0.7):
        b.latent_always.add(e)
    if len(totals) > 1:
        b.feature("held sums: more responses")


def met_twice(b):
    """Rows of a block in which nodes stand more than once: levels under either
    of two treatments, a slope of two covariates, a level among its effects."""
    n, m = b.between(6, 10), b.between(2, 3)
    g, i = different_loops(b, m, n)
    a, d, y = b.name("alpha"), b.name("delta"), b.name("y")
    normal = scaled(b)
    mu = mean_of(b, "mu")
    b.write(f"{d} ~ dnorm({b.number(-1, 1)}, {b.number(0.5, 2)})")
    each(b, g, f"{a}[{g.name}] ~ {normal(mu)}", str(m))
    group = b.given(b.g.integers(1, m + 1, n), "g")
    b.ranges[group] = m
    own = f"{a}[{group}[{i.name}]]"
    z = b.given(b.g.integers(0, 2, n), "z") + f"[{i.name}]"
    x, w = b.covariate([i]), b.covariate([i])
    eta = b.pick([
        f"{own} * (1 - {z}) + ({own} + {d}) * {z}",
        f"{own} + {d} * {x} + {d} * {w}",
        f"{own} * {x} + ({own} - {d}) * {w} + {d}",
        f"({own} + {d}) * {x} - {b.number(0.3, 2)} * ({own} - {d} * {w})",
        f"{d} + {own} + {x} * ({d} - {own})"])
    each(b, i, f"{y}[{i.name}] ~ " + b.weighted(families(b, i, eta)), str(n))
    b.latent_always.update((a, d))
    b.observed_always.add(y)
