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


def in_turns(b):
    """Two arrays that feed each other: from one time to the next, with a first cell
    of its own, or by cells that are written out."""
    n, noisy = b.between(3, 6), b.chance(0.5)
    x, y, z = b.name("a"), b.name("p"), b.name("z")
    t = b.loop(2, n)
    decay, seen = b.number(0.3, 0.9), b.precision([])
    from_other = b.pick(["{}", "sin(2 * {})", "1.5 * {} + " + b.number(-1, 1),
                         "{} * " + b.of("real", [])])
    if b.chance(0.6):
        b.feature("in turns: cells")
        computed, noise = b.chance(0.6), b.name("v")
        if computed:
            i = b.loop(1, n)
            each(b, i, f"{noise}[{i.name}] ~ {real_prior(b, [])}")
            b.latent_always.add(noise)
        states = [(x if k % 2 else y, k, from_other.format(
            f"{y if k % 2 else x}[{k - 1}]") if k > 1 else b.real([]))
            for k in range(1, n + 1)]
        for own, k, mean in states:
            if computed:
                b.write(f"{own}[{k}] <- {mean} + {noise}[{k}]" if k > 1 else
                        f"{own}[{k}] <- {noise}[{k}]")
            else:
                b.write(f"{own}[{k}] ~ dnorm({mean}, {b.number(2, 9)})"
                        if k == 1 or b.chance(0.5) else
                        f"{own}[{k}] <- {mean}")
        for j, (own, k, _) in enumerate(states[-2:], 1):
            b.write(f"{z}[{j}] ~ dnorm({own}[{k}], {seen})")
    else:
        last = f"{t.name} - 1"
        b.write(f"{x}[1] ~ {real_prior(b, [])}")
        b.write(f"{y}[1] <- {from_other.format(f'{x}[1]')}"
                if b.chance(0.6) else f"{y}[1] ~ {real_prior(b, [])}")
        mean = f"{decay} * {x}[{last}] + {from_other.format(f'{y}[{last}]')}"
        own = f"~ dnorm({mean}, {b.precision([])})" if noisy else f"<- {mean}"
        b.write(f"for ({t.name} in 2:{n}) {{ {x}[{t.name}] {own} "
                f"{y}[{t.name}] <- {decay} * {y}[{last}] - "
                f"{from_other.format(b.pick([f'{x}[{last}]', f'{x}[{t.name}]']))} "
                "}")
        i = b.loop(1, n)
        each(b, i, f"{z}[{i.name}] ~ dnorm({b.pick([x, y])}[{i.name}], {seen})")
    b.latent_always.update((x, y))
    b.observed_always.add(z)
    b.feature("recursion")


def sure(b):
    """Counts whose probabilities are, or come close to, 1: sizes of sizes, of which
    all may be left."""
    n = b.between(3, 5)
    size, y, z = b.name("N"), b.name("y"), b.name("z")

    def rate(sure):
        e, p = b.name("b"), b.name("q")
        link, far = b.pick([("cloglog", 6), ("probit", 10), ("logit", 40)])
        b.write(f"{e} ~ dnorm({far}, {b.number(0.05, 0.5)})" if b.chance(sure)
                else f"{e} ~ dnorm({b.number(-1, 2)}, {b.number(0.3, 1)})")
        b.write(f"{link}({p}) <- {e}")
        b.latent_always.add(e)
        return b.pick([p, f"{p} * {p}", f"{p}^2"])
    p, q, i = rate(0.4), rate(0.8), b.loop(1, n)
    style = b.pick(["chain", "plate", "one"])
    b.feature("sure: " + style)
    first = b.pick([f"dpois({b.between(3, 6)})", f"dbin({q}, {b.between(3, 6)})",
                    f"dnegbin({q}, {b.between(2, 4)})"])
    if style == "chain":
        b.write(f"{size}[1] ~ {first}")
        t = b.loop(2, n)
        each(b, t, f"{size}[{t.name}] ~ dbin({q}, {size}[{t.name} - 1])",
             str(n))
    elif style == "plate":
        each(b, i, f"{size}[{i.name}] ~ {first}")
    else:
        b.write(f"{size} ~ {first}")
    at = size if style == "one" else f"{size}[{i.name}]"
    each(b, i, f"{y}[{i.name}] ~ dbin({b.pick([p, p, p, q])}, {at})")
    if b.chance(0.7):
        each(b, i, f"{z}[{i.name}] ~ " + b.pick([
            f"dpois({b.number(0.4, 1)} * {at} + 0.1)",
            f"dbin({p}, {at})", f"dnorm({at}, 1)"]))
        b.observed_always.add(z)
    b.latent_always.add(size)
    b.observed_always.add(y)
