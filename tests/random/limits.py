"""What bounds what: each of a chain between the last and an end, orders that are
held from both sides; outcomes of which all are 0, trials that are certain."""

import numpy as np

from filling import each, fill
from pool import Index, Thing
from priors import positive_prior


def all_are(b, name, value):
    """What was drawn is this instead."""
    b.world.values[name] = np.where(np.isnan(b.world.values[name]), np.nan,
                                    float(value))


def rows_of(b, n):
    """The loop of rows that see n elements, and the subscript of one's element."""
    if b.chance(0.6):
        i = b.loop(1, n)
        return i, i.name
    i = b.loop(1, b.between(n, n + 4))
    return i, b.by_data(n, i)


def links(b, kind, last):
    """Distributions of an element, given the last one."""
    more = b.positive([])
    return b.pick({
        "probability": [
            f"dunif(0, {last})", f"dunif(0, {last})", f"dunif({last}, 1)",
            f"dbeta({more}, {b.number(0.7, 2)}) T(, {last})",
            f"dbeta({more}, {b.number(0.7, 2)}) T({last},)",
            f"dunif({last} / 2, (1 + {last}) / 2)"],
        "positive": [
            f"dunif(0, {last})", f"dunif({last}, 2 * {last})",
            f"dgamma({b.number(1, 3)}, {more}) T(, {last})",
            f"dgamma({b.number(1, 3)}, {more}) T({last},)",
            f"dpar({b.number(2, 4)}, {last})", f"dexp({more} / {last})",
            f"dlnorm(log({last}), {b.number(2, 6)})"],
        "real": [
            f"dunif({last}, {last} + {b.of('positive', [])})",
            f"dnorm({b.number(-1, 1)}, {b.precision([])}) T({last},)",
            f"dt({b.number(-1, 1)}, 1, 5) T(, {last})",
            f"dlogis({last}, 2) T({last}, {last} + 3)"]}[kind])


OUTCOMES = {
    "probability": ["dbin({x}, {n})", "dbin({x}, {n})", "dbern({x})",
                    "dpois({n} * {x})", "dnegbin(1 - {x} / 2, 3)"],
    "positive": ["dpois({x})", "dpois({x})", "dnegbin(1 / (1 + {x}), 2)",
                 "dexp({x})", "dnorm(0, pow({x}, -2))", "dgamma(2, {x})"],
    "real": ["dpois(exp({x} / 2))", "dbern(ilogit({x}))", "dnorm({x}, {s})",
             "dt({x}, {s}, 5)"]}
BESIDE = {  # in models that are not for JAGS, too
    "probability": ["dgeom(1 - {x} * 0.9)", "dnorm({x}, {s})"],
    "positive": ["dunif(0, {x})", "dpar(2, {x})"], "real": []}
MAY_BE_0 = ("dbin", "dbern", "dpois", "dnegbin")


def outcomes(b, kind, x, n):
    """What is seen of x[1:n], in half of the models nothing but 0."""
    y, (i, at) = b.name("y"), rows_of(b, n)
    text = b.pick(OUTCOMES[kind] + (BESIDE[kind] if b.modern else []))
    size = b.given(b.g.integers(1, 14, i.high), "n") + f"[{i.name}]"
    each(b, i, f"{y}[{i.name}] ~ " + text.format(
        x=f"{x}[{at}]", n=size, s=b.precision([])))
    if text.startswith(MAY_BE_0) and b.chance(0.5):
        b.feature("nothing but 0")
        all_are(b, y, 0)
    b.observed_always.add(y)


def nested(b):
    """A chain of which each element is bounded by the last."""
    n = b.between(2, 5)
    kind = b.pick(["probability", "probability", "positive", "real"])
    x, r = b.name({"probability": "p", "positive": "s", "real": "mu"}[kind]), \
        b.loop(2, n)
    b.write(f"{x}[1] ~ " + b.pick({
        "probability": ["dunif(0, 1)", "dbeta(1, 1)", "dbeta(2, 2)"],
        "positive": ["dunif(0, 3)", positive_prior(b, [])],
        "real": ["dnorm(0, 1)", "dunif(-2, 2)"]}[kind]))
    each(b, r, f"{x}[{r.name}] ~ " + links(b, kind, f"{x}[{r.name}-1]"),
         str(n))
    b.latent_always.add(x)
    outcomes(b, kind, x, n)
    b.add(Thing(x, kind, (n,)))


def held_between(b):
    """Every second element between its two neighbours, which are in order."""
    m = b.between(2, 3)
    n, mu = 2 * m - 1, b.name("mu")
    k = b.loop(2, m)
    b.write(f"{mu}[1] ~ dnorm({b.number(-2, 0)}, 1)")
    each(b, k, f"{mu}[2 * {k.name} - 1] ~ dnorm({b.number(0, 1)}, "
         f"{b.precision([])}) T({mu}[2 * {k.name} - 3],)", str(m))
    even = Index(k.name, 1, m - 1)
    ends = f"{mu}[2 * {k.name} - 1], {mu}[2 * {k.name} + 1]"
    each(b, even, f"{mu}[2 * {k.name}] ~ " + b.pick([
        f"dnorm({b.of('real', [])}, {b.precision([])}) T({ends})",
        f"dlogis(0, 1) T({ends})", f"dunif({ends})"]), str(m - 1))
    b.feature("affine subscript", "truncation")
    b.latent_always.add(mu)
    if b.chance(0.3):
        y, i = b.name("y"), b.loop(1, b.between(4, 8))
        each(b, i, f"{y}[{i.name}] ~ dordered.logit({b.real([i])}, "
             f"{mu}[1:{n}])")
        b.observed_always.add(y)
    else:
        outcomes(b, "real", mu, n)
    b.add(Thing(mu, "real", (n,)))


def zero_counts(b):
    """Counts of 0 alone, of rates of groups whose law is learnt."""
    n, y = b.between(3, 6), b.name("y")
    rate, i = b.name("lambda"), b.loop(1, n)
    style = b.pick(["drawn", "log", "logit", "shared"])
    if style == "drawn":
        fill(b, rate, n, lambda c: f"dgamma({b.number(0.5, 2)}, "
             f"{b.of('positive', [])})", "positive")
        text = f"dpois({rate}[{i.name}]" + \
            b.pick([")", f" * {b.weight([i])})"])
    elif style == "shared":
        b.write(f"{rate} ~ {positive_prior(b, [])}")
        text = b.pick([f"dpois({rate})", f"dbin(1 - exp(-{rate}), 4)",
                       f"dnegbin(2 / (2 + {rate}), 2)"])
    else:
        tau, level = b.of("positive", []), b.of("real", [])
        fill(b, rate, n, lambda c: f"dnorm({level}, {tau})")
        text = b.pick([f"dpois(exp({rate}[{i.name}]))"] if style == "log" else
                      [f"dbin(ilogit({rate}[{i.name}]), {b.between(1, 6)})",
                       f"dbern(phi({rate}[{i.name}]))"])
    each(b, i, f"{y}[{i.name}] ~ {text}")
    all_are(b, y, 0)
    b.latent_always.add(rate)
    b.observed_always.add(y)


def certain_trials(b):
    """How many of some trials succeed, all of them or none where an indicator says
    so; some of those are seen."""
    n, w, number, y = b.between(3, 5), b.name("w"), b.name("N"), b.name("y")
    i = b.loop(1, n)
    at = f"{w}[{i.name}]"
    share = b.number(0.3, 0.6)
    each(b, i, f"{at} ~ dbern({b.number(0.3, 0.7)})")
    each(b, i, f"{number}[{i.name}] ~ dbin(" + b.pick([
        f"max({at}, {share})", f"min({at}, {share})", f"1 - {at} * {share}",
        f"{at} * {share}"]) + f", {b.between(2, 5)})")
    each(b, i, f"{y}[{i.name}] ~ dbin({b.of('probability', [])}, "
         f"{number}[{i.name}])")
    b.latent_always |= {w, number}
    b.observed_always.add(y)


def bounded_mixture(b):
    """A mixture of normals as one distribution, between bounds, of which some
    elements are not seen."""
    n, y, size = b.between(4, 7), b.name("y"), b.between(2, 3)
    mu, tau, p = b.name("mu"), b.name("tau"), b.name("pi")
    fill(b, mu, size, lambda c: f"dnorm({b.real([])}, 1)")
    fill(b, tau, size, lambda c: f"dgamma({b.number(3, 6)}, 3)", "positive")
    b.write(f"{p}[1:{size}] ~ ddirch(rep({b.number(1, 3)}, {size}))"
            if b.modern else
            f"{p}[1:{size}] ~ ddirch(c({', '.join(['2'] * size)}))")
    i, low = b.loop(1, n), b.pick([-1, -0.5, 0])
    each(b, i, f"{y}[{i.name}] ~ dnormmix({mu}[1:{size}], {tau}[1:{size}], "
         f"{p}[1:{size}])" + b.pick([f" T({low},)", f" T({low}, {low + 2})",
                                     f" T(, {low + 1})"]))
    b.feature("truncation")
    b.latent_always |= {mu, tau, p}
