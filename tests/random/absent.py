"""Outcomes of which there are none where an indicator, or data of 0, says so: means
and sizes that are products with what may be 0."""

import numpy as np

from filling import each
from limits import rows_of
from pool import Thing


def presence(b, n):
    """Of each, 0 where there is none: an element's text by its row."""
    z, i = b.name("z"), b.loop(1, n)
    style = b.pick(["drawn"] * 4 + ["exposure", "condition", "count"])
    b.feature("absent: " + style)
    if style == "exposure":
        some = b.g.permutation([0.0, 1.0, 2.0] + [0.5] * (n - 3))
        z = b.given(some, "t")
        return lambda at: f"{z}[{at}]"
    if style == "condition":
        cut = b.of("real", [])
        x = b.given(np.round(b.g.normal(size=n), 2), "x")
        return lambda at: f"step({x}[{at}] - {cut})"
    each(b, i, f"{z}[{i.name}] ~ " + (
        f"dpois({b.number(0.5, 1.5)})" if style == "count" else
        f"dbern({b.probability([])})"))
    b.latent_always.add(z)
    b.add(Thing(z, "count", (n,)))
    return lambda at: f"{z}[{at}]"


def absent(b):
    n, y = b.between(4, 8), b.name("y")
    there = presence(b, n)
    i, at = rows_of(b, n)
    size, mean = b.of("positive", []), b.pick(
        [lambda: b.of("positive", []), lambda: f"exp({b.small([i])})"])()
    some = there(at) if b.chance(0.7) else f"(1 - equals({there(at)}, 0))"
    product = b.pick([f"{some} * {mean}", f"{mean} * {some}"])
    if b.chance(0.4):
        mu = b.name("mu")
        each(b, i, f"{mu}[{i.name}] <- {product}")
        product = f"{mu}[{i.name}]"
    each(b, i, f"{y}[{i.name}] ~ " + b.pick([
        f"dnegbin({size} / ({size} + {product}), {size})",
        f"dnegbin({size} / ({size} + {product}), {size})",
        f"dnegbin({b.of('probability', [])}, {some} * {size})",
        f"dpois({product})",
        f"dbin({b.of('probability', [])} * (1 - equals({some}, 0)), 4)"]))
    b.observed_always.add(y)
