"""Arrays that are not all of one kind, and priors that say next to nothing: counts
and 0s and 1s beside real numbers, cells that are known or computed beside drawn ones,
ends of counts between whole numbers, weights with unequal priors, logs of scales
without ends, gammas that are hardly proper."""

import numpy as np

from filling import each
from limits import rows_of
from pool import Index, Thing


def fractional_ends(b):
    """Counts between ends that are no whole numbers."""
    x, y, (i, at) = b.name("x"), b.name("y"), rows_of(b, b.between(2, 5))
    end = b.pick([b.of("positive", []), b.of("positive", [i]),
                  b.number(0.2, 2.7)])
    law = b.pick([f"dpois({b.positive([])} + 0.5)", f"dpois({b.positive([i])} + 0.5)",
                  f"dbin({b.of('probability', [])}, 6)"])
    if b.chance(0.3):  # what is seen says it
        b.feature("ends of data between whole numbers")
        each(b, i, f"{x}[{i.name}] ~ {law}")
        each(b, i, f"{y}[{i.name}] ~ " + b.pick([
            f"dunif(0, {x}[{at}] + 0.{b.between(1, 9)})",
            f"dnorm(0, 1) T(, {x}[{at}] + 0.{b.between(1, 9)})",
            f"dunif(0.3 * {x}[{at}], 0.3 * {x}[{at}] + 1)"]))
    else:
        b.feature("truncation", "ends between whole numbers")
        each(b, i, f"{x}[{i.name}] ~ {law} " + b.pick([
            f"T({end},)", f"T({end},)", f"T(, {end} + 1)", f"T({end}, {end} + 3.5)"]))
        each(b, i, f"{y}[{i.name}] ~ " + b.pick([
            f"dnorm({x}[{at}], {b.precision([])})", f"dbin(0.6, {x}[{at}])",
            f"dpois({x}[{at}] + 0.2)"]))
    b.latent_always.add(x)
    b.observed_always.add(y)
    b.add(Thing(x, "count", (i.high,)))


def beside_real(b):
    """Counts, or 0s and 1s, after a first cell that is real."""
    n, x, y = b.between(3, 6), b.name("N"), b.name("y")
    t, every = b.loop(2, n), b.pick([1, 2])
    kind = b.pick(["grows", "grows", "sexes", "indicators", "rates"])
    b.feature("beside real cells: " + kind)
    last = f"{x}[{t.name}-1]"
    b.write(f"{x}[1] ~ " + b.pick(["dunif(1, 9)", "dunif(0, 5)", "dgamma(4, 1)",
                                   "dnorm(4, 2) T(0,)"]))
    if kind == "indicators":
        law = f"dbern({b.probability([])})"
    elif kind == "rates":
        law = f"dbin({b.of('probability', [])}, {b.between(2, 5)})"
    else:
        rate = b.pick([b.of("probability", []), b.of("positive", [], 0.2)])
        law = f"dpois({rate} * {last}" + b.pick([")", ")", " + 0.3)"])
    if kind == "sexes":
        other = b.name("M")
        b.write(f"{other}[1] ~ dunif(0, 5)")
        each(b, t, f"{x}[{t.name}] ~ dpois({b.of('probability', [])} * ({last} + "
             f"{other}[{t.name}-1])) {other}[{t.name}] ~ dbin(0.4, "
             f"round({last} + {other}[{t.name}-1]))", str(n))
        b.latent_always.add(other)
    else:
        each(b, t, f"{x}[{t.name}] ~ {law}", str(n))
    seen = Index(t.name, every, n)
    each(b, seen, f"{y}[{t.name}] ~ " + b.pick([
        f"dnorm({x}[{t.name}], {b.precision([])})",
        f"dnorm({x}[{t.name}] * {b.of('real', [])}, {b.precision([])})",
        f"dpois({x}[{t.name}] + 0.1)"]), str(n))
    if kind in ("rates", "grows") and b.chance(0.25):
        total = b.name("total")
        b.write(f"{total} ~ dsum({x}[{n - 1}], {x}[{n}])")
        b.observed_always.add(total)
    b.latent_always.add(x)
    b.observed_always.add(y)
    b.add(Thing(x, "real", (n,)))


def mixed_cells(b):
    """One cell that is known, one computed of a drawn one, others drawn."""
    n, x, y = b.between(4, 6), b.name("x"), b.name("y")
    places = [int(k) + 1 for k in b.g.permutation(n)]
    known, computed, drawn = places[0], places[1], sorted(places[2:])
    law = b.pick([f"dnorm(0, {b.precision([])})", f"dpois({b.positive([])})",
                  f"dbern({b.of('probability', [])})",
                  f"dgamma(2, {b.of('positive', [])})"])
    if b.chance(0.5):
        b.write(f"{x}[{known}] <- {b.between(0, 1)}")
    else:
        b.world.values[x] = np.where(np.arange(1, n + 1) == known, b.between(0, 1),
                                     np.nan)
        b.fixed_cells[x] = [(known - 1,)]
    for k in drawn:
        mean = f"{x}[{k - 1}]" if k - 1 in drawn and "dnorm" in law else None
        b.write(f"{x}[{k}] ~ " + (law.replace("(0,", f"({mean},") if mean else law))
    of = f"{x}[{b.pick(drawn)}]"
    b.write(f"{x}[{computed}] <- " + b.pick([
        f"{of} * {b.of('probability', [])}", f"{of} + {x}[{known}]", f"1 - {of}",
        f"max({of}, {x}[{known}])"]))
    b.latent_always.add(x)
    b.feature("known, computed and drawn cells")
    i = b.loop(1, n)
    each(b, i, f"{y}[{i.name}] ~ dnorm({x}[{i.name}], {b.precision([])})")
    b.observed_always.add(y)
    b.add(Thing(x, "real", (n,)))


def unequal_weights(b):
    """Labels that their weights' unequal priors alone tell apart."""
    n, k, z, y = b.between(5, 9), b.pick([2, 2, 3]), b.name("z"), b.name("y")
    w, mu = b.name("w"), b.name("mu")
    alpha = b.given(b.g.permutation(np.arange(1.0, k + 1)) * b.pick([1, 2]), "alpha")
    b.write(f"{w}[1:{k}] ~ ddirch({alpha}[])")
    i, j = b.loop(1, n), b.loop(1, k)
    each(b, i, f"{z}[{i.name}] ~ dcat({w}[])")
    style = b.pick(["means", "counts", "network"])
    b.feature("latent subscript", "vector node", "unequal weights: " + style)
    if style == "network":
        other = b.loop(1, n)
        while other.name == i.name:
            other = b.loop(1, n)
        b.write(f"for (g in 1:{k}) {{ for (h in 1:{k}) {{ {mu}[g,h] ~ dbeta(1, 1) }} }}")
        b.write(f"for ({i.name} in 1:({n}-1)) {{ for ({other.name} in "
                f"({i.name}+1):{n}) {{ {y}[{i.name},{other.name}] ~ dbern("
                f"{mu}[{z}[{i.name}],{z}[{other.name}]]) }} }}")
    elif style == "means":
        each(b, j, f"{mu}[{j.name}] ~ dnorm(0, {b.number(0.2, 1)})")
        each(b, i, f"{y}[{i.name}] ~ dnorm({mu}[{z}[{i.name}]], {b.number(0.5, 3)})")
    else:
        each(b, j, f"{mu}[{j.name}] ~ dgamma(2, 0.5)")
        each(b, i, f"{y}[{i.name}] ~ dpois({mu}[{z}[{i.name}]])")
    b.latent_always |= {z, mu, w}
    b.observed_always.add(y)


def settled(b, name, statement, value):
    """A statement whose draws may lie anywhere: the data are made with a value that
    is like others."""
    b.write(statement)
    b.world.values[name] = np.asarray(float(f"{value:.3g}"))
    b.latent_always.add(name)


def wide_scales(b):
    """A plate, perhaps with a group of which nothing is seen, and a walk or rows
    around it, by scales whose priors are wide."""
    n, rows, y, u = b.between(3, 5), b.between(5, 9), b.name("y"), b.name("u")
    taus = []
    for _ in range(b.between(1, 2)):
        s, tau = b.name("l"), b.name("tau")
        style = b.pick(["log", "log", "gamma", "sd"])
        b.feature("wide scales: " + style)
        if style == "log":
            settled(b, s, f"{s} ~ dnorm(0, {b.pick(['0.003', '0.01', '0.1'])})",
                    b.g.normal())
            b.write(f"{tau} <- exp({s})")
        elif style == "gamma":
            tau = s
            settled(b, s, f"{s} ~ dgamma({b.pick(['0.001, 0.001', '0.01, 0.01'])})",
                    b.g.uniform(0.3, 3))
        else:
            settled(b, s, f"{s} ~ dunif(0, {b.pick([10, 100])})", b.g.uniform(0.3, 2))
            b.write(f"{tau} <- pow({s}, -2)")
        taus.append(tau)
    if b.chance(0.3):
        t = b.loop(2, n)
        b.write(f"{u}[1] ~ dnorm(0, 1)")
        each(b, t, f"{u}[{t.name}] ~ dnorm({u}[{t.name}-1], {taus[0]})", str(n))
    else:
        j = b.loop(1, n)
        each(b, j, f"{u}[{j.name}] ~ dnorm({b.pick(['0', b.of('real', [])])}, "
             f"{taus[0]})")
    i = b.loop(1, rows)
    seen = n - b.between(0, 1)
    of = b.given(1 + np.arange(rows) % seen, "g")
    precision = taus[1] if len(taus) > 1 else b.number(0.5, 2)
    each(b, i, f"{y}[{i.name}] ~ dnorm({u}[{of}[{i.name}]]" +
         b.pick(["", f" + {b.of('real', [])}"]) + f", {precision})")
    b.latent_always.add(u)
    b.observed_always.add(y)


MINGLED = [(1.2, fractional_ends), (1.5, beside_real), (1, mixed_cells),
           (0.8, unequal_weights), (1.5, wide_scales)]
