"""States between which others are impossible, and numbers far from 1: 0s and 1s of
which there is one, or k of n; powers of quotients, and powers that are large;
lives of 10^5; sums of cells that subscripts compute."""

import numpy as np

from filling import each
from limits import all_are, rows_of
from pool import Thing


def entered(b):
    """Who comes once, at the latest at the end, and does not come again."""
    n, a = b.between(4, 6), b.name("a")
    t = b.loop(2, n)
    come = b.given(np.append(np.round(b.g.uniform(0.2, 0.5, n - 1), 2), 1.0),
                   "come")
    b.write(f"{a}[1] ~ dbern({come}[1])")
    stays = b.pick([b.number(0.4, 0.8), b.of("probability", [])])
    if b.chance(0.5):
        away = b.name("not")
        b.write(f"for ({t.name} in 2:{n}) {{ {away}[{t.name}-1] <- 1 - "
                f"{a}[{t.name}-1] {a}[{t.name}] ~ dbern({stays} * "
                f"{a}[{t.name}-1] + {come}[{t.name}] * "
                f"prod({away}[1:({t.name}-1)])) }}")
    else:
        each(b, t, f"{a}[{t.name}] ~ dbern({stays} * {a}[{t.name}-1] + "
             f"{come}[{t.name}] * (1 - max({a}[1:({t.name}-1)])))", str(n))
    b.latent_always.add(a)
    b.feature("recursion")
    seen_of(b, a, n)
    b.add(Thing(a, "count", (n,)))


def seen_of(b, a, n):
    """What is seen of 0s and 1s, each or all together."""
    y, (i, at) = b.name("y"), rows_of(b, n)
    each(b, i, f"{y}[{i.name}] ~ " + b.pick([
        f"dnorm({a}[{at}], {b.number(0.3, 3)})",
        f"dbern({b.number(0.5, 0.9)} * {a}[{at}] + 0.05)",
        f"dpois({b.of('positive', [])} * {a}[{at}] + 0.2)",
        f"dnorm(inprod({a}[], {b.data_row([i], n)}), {b.number(0.3, 3)})"]))
    b.observed_always.add(y)


def k_of_n(b):
    """0s and 1s of which there are so many, which an outcome says."""
    groups, n, k = b.between(1, 2), b.between(3, 5), b.between(1, 2)
    s, only = b.name("s"), b.name("only")
    g, j = b.loop(1, groups), b.loop(1, n)
    while j.name == g.name:
        j = b.loop(1, n)
    cell = f"{s}[{g.name},{j.name}]"
    b.write(f"for ({g.name} in 1:{groups}) {{ for ({j.name} in 1:{n}) {{ {cell} "
            f"~ dbern({b.probability([])}) }} }}")
    count = f"sum({s}[{g.name},{b.pick(['', f'1:{n}'])}])"
    each(b, g, f"{only}[{g.name}] ~ dbern(" + b.pick([
        f"equals({count}, {k})", f"({count} == {k})",
        f"step({count} - {k}) * step({k} - {count})"]) + ")")
    states = np.zeros((groups, n))
    for row in states:
        row[b.g.choice(n, k, replace=False)] = 1
    b.world.values[s] = states
    all_are(b, only, 1)
    y = b.name("y")
    each(b, g, f"{y}[{g.name}] ~ dnorm(inprod({s}[{g.name},], "
         f"{b.data_row([g], n)}), {b.number(0.3, 3)})")
    b.latent_always.add(s)
    b.observed_always |= {only, y}


def powers_of_quotients(b):
    """Chances of nothing in a negative binomial of any size."""
    n, phi, y = b.between(4, 8), b.name("phi"), b.name("y")
    i = b.loop(1, n)
    b.write(f"{phi} ~ dunif(0, {b.pick([100, 400, 1000, 1000])})")
    mu = b.pick([f"exp({b.small([i])})", b.of("positive", [])])
    none = b.pick([f"pow({phi} / ({phi} + {mu}), {phi})"] * 3 +
                  [f"pow(1 + {mu} / {phi}, -{phi})",
                   f"exp({phi} * log({phi} / ({phi} + {mu})))"])
    b.latent_always.add(phi)
    b.observed_always.add(y)
    if b.chance(0.5):
        each(b, i, f"{y}[{i.name}] ~ dbern(1 - {none})")
        return
    counts = b.given(np.maximum(1.0, b.g.poisson(1.5, n)), "k")
    k, zero = f"{counts}[{i.name}]", b.name("none")
    each(b, i, f"{zero}[{i.name}] <- {none} {y}[{i.name}] ~ dpois(90 - "
         f"(loggam({k} + {phi}) - loggam({phi}) - logfact({k}) + {k} * log({mu} "
         f"/ ({mu} + {phi})) + {phi} * log({phi} / ({mu} + {phi})) - "
         f"log(1 - {zero}[{i.name}])))")
    all_are(b, y, 0)
    b.feature("trick: zeros")


def long_lives(b):
    """Lives of 10^5, of any shape where the law is by the scale: the rate of other
    laws is no number of this computer beyond a shape of 60."""
    n, t, shape = b.between(5, 9), b.name("t"), b.name("shape")
    i, scale = b.loop(1, n), b.name("scale")
    style = b.pick(["scale", "log", "logs"])
    mean = {"scale": scale, "log": f"exp({scale})",
            "logs": f"{scale}[{i.name}]"}[style]
    if not b.bugs_only and b.chance(0.6):
        b.beyond_jags = True
        b.write(f"{shape} ~ dunif(60, {b.pick([200, 300, 500])})")
        law = b.pick([f"weibull({shape}, {mean})"] * 2 +
                     [f"dgen.gamma(1.5, 1 / {mean}, {shape})"])
    else:
        b.write(f"{shape} ~ dunif(0.5, {b.pick([20, 50])})")
        law = b.pick([f"dweib({shape}, pow({mean}, -{shape}))",
                      f"dweib({shape}, pow(1 / {mean}, {shape}))",
                      f"dgamma(3 * {shape}, {shape} / {mean})",
                      f"dweib({shape}, exp(-{shape} * log({mean})))"])
    if style == "scale":
        b.write(f"{scale} ~ dunif(5.0E4, 3.0E5)")
    elif style == "log":
        b.write(f"{scale} ~ dnorm({b.number(11, 12)}, 4)")
    else:
        a, slope = b.name("a"), b.name("slope")
        b.write(f"{a} ~ dnorm({b.number(11, 12)}, 4)")
        b.write(f"{slope} ~ dnorm(0, 4)")
        each(b, i, f"log({scale}[{i.name}]) <- {a} + {slope} * "
             f"{b.covariate([i])}")
    each(b, i, f"{t}[{i.name}] ~ {law}")
    b.latent_always |= {shape, scale}
    b.observed_always.add(t)
    b.far |= {t, scale}


def sums_of_computed_cells(b):
    """Sums that are known, of cells at computed and data subscripts."""
    n, x, total = b.between(2, 4), b.name("x"), b.name("total")
    i, j = b.loop(1, n), b.loop(1, 2 * n)
    each(b, j, f"{x}[{j.name}] ~ " + b.pick([
        f"dpois({b.positive([j])})", f"dbin({b.probability([j])}, 4)",
        f"dnorm({b.real([j])}, {b.number(0.5, 2)})"]))
    style = b.pick(["pairs", "ends", "rows", "rows"])
    b.feature("sums of cells: " + style)
    k = i.name
    if style == "rows":
        order = b.given(b.g.permutation(2 * n) + 1.0, "at")
        cells = b.pick([f"{x}[{order}[2 * {k} - 1]], {x}[{order}[2 * {k}]]",
                        f"{x}[{order}[{k}]], {x}[{order}[{k} + {n}]]"])
    else:
        cells = f"{x}[2 * {k} - 1], {x}[2 * {k}]" if style == "pairs" else \
            f"{x}[{k}], {x}[{2 * n} + 1 - {k}]"
    each(b, i, f"{total}[{k}] ~ dsum({cells})")
    b.feature("affine subscript")
    b.latent_always.add(x)
    b.observed_always.add(total)


EDGES = [(1, entered), (0.8, k_of_n), (1.2, powers_of_quotients),
         (1.5, long_lives), (1, sums_of_computed_cells)]
