"""Functions of whole arrays where they decide what is possible: conditions that
data say hold, cut points and places that choose subscripts, arguments and bounds of
distributions; and stored values of a recursion that a latent index reads later."""

import numpy as np

import syntax
from filling import each, fill
from limits import all_are
from pool import Thing
from priors import PRIORS
from users import latent_plate, seen


def now(b, text):
    """The value that an expression without loops has."""
    statement = syntax.parse_statement(f"x <- {text}")
    return float(b.world.value(statement.value, {}))


def whole(b, u, n):
    """A number from all of a real array."""
    part = b.pick([f"{u}[]", f"{u}[1:{n}]"])
    w = lambda: b.given(np.round(b.g.normal(size=n), 2), "w")
    return b.weighted([
        (2, lambda: f"min({part})"), (2, lambda: f"max({part})"),
        (1, lambda: f"sum({part})"), (1, lambda: f"prod({part})"),
        (0.7, lambda: f"mean({part})"), (0.7, lambda: f"sd({part})"),
        (1, lambda: f"inprod({part}, {w()}[])"),
        (0.7, lambda: f"(max({part}) - min({part}))"),
        (0.5, lambda: f"min({part}, {b.number(-1, 1)})"),
        (0.5, lambda: f"max({u}[1], {u}[{n}], {b.number(-1, 0)})"),
        (0.5, lambda: f"(min({part}) * max({part}))"),
        (0.5, lambda: f"abs(sum({part}) - {u}[1])")])()


def condition(b, u, n):
    """What holds where the arrays stand, as a number that is 0 or 1."""
    one = whole(b, u, n)
    at, apart = now(b, one), b.g.uniform(0.05, 0.6)
    low, high = f"{at - apart:.3g}", f"{at + apart:.3g}"
    if at > 0.02 and b.chance(0.5):  # the bound that people write
        low = "0"
    return b.pick([
        f"step({one} - ({low}))", f"step({high} - {one})",
        f"({one} >= {low})", f"({one} < {high})",
        f"step({one} - ({low})) * step({high} - {one})",
        f"equals(step({one} - ({low})), 1)",
        f"ifelse({one} > {low}, 1, 0)", f"({one} > {low} && {one} < {high})",
        f"(1 - step({one} - ({high})))"])


def constraint(b):
    """Data that say that a condition of a whole array holds, or likely does."""
    u, n = latent_plate(b, 2, 5)
    text = condition(b, u, n)
    if now(b, text) != 1:
        return
    if b.chance(0.3):
        held = b.name("ok")
        b.write(f"{held} <- {text}")
        text = held
    y = b.name("one")
    b.feature("condition of an array")
    if b.modern and b.chance(0.3):
        b.write(f"{y} ~ dconstraint({text})")
        b.feature("condition that must hold")
    elif b.chance(0.3):
        b.write(f"{y} ~ dbern(1 * {text})")
        b.feature("condition that must hold")
    elif b.chance(0.5):
        b.write(f"{y} ~ dbern({b.number(0.05, 0.2)} + 0.75 * {text})")
    else:
        b.write(f"{y} ~ dpois(exp(1 - 2 * {text}))")
    if "dpois" not in syntax.show_relation(b.body[-1]):
        all_are(b, y, 1)
    b.observed_always.add(y)
    b.latent_always.add(u)
    if b.chance(0.6):
        i = b.loop(1, n)
        seen(b, b.name("y"), i, f"{u}[{i.name}]")


def subscripts(b):
    """Levels that cut points, a rank or an order choose."""
    u, n = latent_plate(b, 2, 4)
    levels, y, i = b.name("mu"), b.name("y"), b.loop(1, b.between(4, 8))
    fill(b, levels, n + 1, lambda c: PRIORS["real"](b, c))
    x = b.given(np.round(b.g.normal(size=i.high), 2), "x") + f"[{i.name}]"
    b.feature("latent subscript", "subscript of an array")
    cuts = " + ".join(f"step({x} - {u}[{k}])" for k in range(1, n + 1))
    place = b.name("place")
    style = b.pick(["cuts", "extreme", "inprod", "rank", "order"])
    if style in ("rank", "order"):
        b.write(f"{place}[1:{n}] <- {style}({u}[1:{n}])")
        at = f"{place}[{b.by_data(n, i)}]"
    else:
        at = {"cuts": f"1 + {cuts}",
              "extreme": f"1 + step({x} - max({u}[])) + "
                         f"step({x} - min({u}[]))",
              "inprod": f"1 + step(inprod({u}[], {u}[1:{n}]) - 1 - {x})"}[style]
        if b.chance(0.4):
            each(b, i, f"{place}[{i.name}] <- {at}")
            at = f"{place}[{i.name}]"
    b.latent_always.update([u, levels])
    seen(b, y, i, f"{levels}[{at}]")


def arguments(b):
    """Parameters and bounds that are functions of whole arrays."""
    u, n = latent_plate(b, 2, 5)
    y, i = b.name("y"), b.loop(1, b.between(2, 6))
    part, p = f"{u}[1:{n}]", b.precision([])
    b.feature("argument from an array")
    b.latent_always.add(u)
    each(b, i, f"{y}[{i.name}] ~ " + b.pick([
        f"dnorm(max({part}) - min({part}), {p})",
        f"dunif(min({part}) - 1, max({part}) + 1)",
        f"dnorm(0, {p}) T(min({part}), max({part}) + 0.5)",
        f"dnorm({u}[1], 1) T(max({part}),)",
        f"dgamma(1 + abs(sum({part})), 0.3 + sd({part}))",
        f"dexp(0.2 + inprod({part}, {part}))",
        f"dbern(0.1 + 0.8 * step(min({part}) + 0.5))",
        f"dpois(0.5 + max({part}) * step(max({part})))",
        f"dbin(ilogit(prod({part})), {b.between(1, 6)})",
        f"dnorm(mean({part}) * equals({u}[1], max({part})), {p})",
        f"dnorm(ifelse(min({part}) > -0.5, {u}[1], sum({part})), {p})",
        f"dnorm({u}[{n}], 0.2 + pow(sd({part}), 2))"]))
    b.observed_always.add(y)


def read_later(b):
    """x[t] from x[t - 1], of which a latent category reads a function."""
    n, z, y = b.between(3, 5), b.name("z"), b.name("y")
    x, f, t = b.name("x"), b.name("f"), b.loop(2, n)
    s, a = b.of("real", []), b.of("probability", [])
    b.feature("recursion that is computed", "latent subscript",
              "recursion read by a latent index")
    b.write(f"{x}[1] " + b.pick(["<- " + s, f"~ dnorm(0, {b.number(0.5, 2)})"]))
    last = f"{x}[{t.name}-1]"
    each(b, t, f"{x}[{t.name}] <- " + b.pick([
        f"{a} * {last} + {s}", f"{last} - {a} * {last}^3 / (1 + {last}^4)",
        f"max({last}, {s}) * {a}", f"ifelse({last} > 0, {a}, 1) * {last} + 0.3",
        f"tanh({last} + {s})"]), str(n))
    i = b.loop(1, b.between(3, 6))
    if b.chance(0.6):
        k = b.loop(1, n)
        each(b, k, f"{f}[{k.name}] <- " + b.pick([
            f"exp({x}[{k.name}] / 2)", f"{x}[{k.name}]^2 / 2",
            f"step({x}[{k.name}] - {s})", f"{x}[{n + 1} - {k.name}] + {s}"]))
    else:
        f = x
    weights = b.given(np.full(n, 1.0 / n), "q")
    each(b, i, f"{z}[{i.name}] ~ dcat({weights}[])")
    b.latent_always.add(z)
    b.add(Thing(z, "category", (i.high,), n))
    seen(b, y, i, f"{f}[{z}[{i.name}]]")
