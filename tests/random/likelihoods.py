"""Observed data on plates of some shape."""

import numpy as np

from filling import each, fill, nest, two
from pool import Thing
from priors import real_prior, truncated


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
        (2, lambda: f"dt({r(context)}, {b.precision(context)}, "
                    f"{pos(context)} + 2)"),
        (0.8, lambda: f"ddexp({r(context)}, {b.precision(context)})"),
        (0.8, lambda: f"dlogis({r(context)}, {b.precision(context)})"),
        (0.7, lambda: f"dbeta({pos(context)} + 0.5, {pos(context)} + 0.5)"),
        (0.7, lambda: f"dordered.logit({r(context)}, {cutpoints(b)}[])"),
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


def measured(b):
    """True values that are seen with error and read elsewhere."""
    n = b.between(4, 8)
    true, seen = b.name("x.true"), b.name("x.obs")
    fill(b, true, n, lambda c: real_prior(b, c))
    i = b.loop(1, n)
    each(b, i, f"{seen}[{i.name}] ~ dnorm({true}[{i.name}], "
         f"{b.precision([i])})")
    b.latent_always.add(true)
    b.observed_always.add(seen)
    b.add(Thing(true, "real", (n,)))


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


def widths(b):
    """Data as wide as a parameter says: powers of it between bounds, that of -1
    where a group has one row."""
    n, w, y = b.between(1, 4), b.name("w"), b.name("y")
    low = b.number(0.3, 0.9)
    prior = b.weighted([(2, f"dunif({low}, {b.number(1.5, 4)})"),
                        (1, f"dpar({b.number(1.2, 3)}, {low})"),
                        (1, "dgamma(2.5, 1.5)")])
    fill(b, w, n, lambda c: prior, "positive")
    apart = b.chance(0.5)
    i = b.loop(1, n if apart else b.between(n, n + 3))
    of = f"{w}[{i.name if apart else b.by_data(n, i)}]"
    each(b, i, f"{y}[{i.name}] ~ " + b.pick([
        f"dunif(0, {of})", f"dunif(-{of}, {of})",
        f"dpar({b.number(1.5, 3)}, {of})"]))
    b.observed_always.add(y)
    b.add(Thing(w, "positive", (n,)))
