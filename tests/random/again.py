"""Parameters that stand in several places at once: as mean and as scale, in products,
in exponents, in sums so far, in the cells of a matrix, in a condition."""

import numpy as np

from filling import each, fill, nest, two
from pool import Index, Thing
from priors import PRIORS, parameter, real_prior
from users import seen


def roles(b):
    """Outcomes in which the same few parameters play many parts."""
    m, s, p = (b.at(parameter(b, k), []) for k in
               ("real", "positive", "probability"))
    b.feature("many roles")
    forms = b.g.permutation([
        f"dnorm({s}, pow({s}, -2))", f"dnorm({s}, {s})", f"dgamma({s}, {s})",
        f"dnorm({m}, exp({m}))", f"dnorm({m} * {s}, {s})", f"dpois({s} * {s})",
        f"dnorm({m}, 1 / ({m} * {m} + 0.5))", f"dbeta({s} + 0.5, {s} + 0.5)",
        f"dlnorm({m}, exp(-{m}))", f"dnegbin({s} / ({s} + 1), {s})",
        f"dnorm({p}, 1 / ({p} * (1 - {p}) + 0.05))", f"dt({m}, {s}, {s} + 2)",
        f"dunif(-{s}, {s} + 1)", f"dbin({p}^2, 5)", f"dbin({p} * {p}, 4)",
        f"dpois(exp(0.3 * {m} * {s}))", f"dnorm({m} * {s} + {m}, {s})",
        f"dbern(ilogit({m} * {s} - {m}))", f"dgamma({s} + 1, {s} / {p})",
        f"dnegbin({p}, {s} + 0.2)", f"dexp({s} * {p})",
        f"dnorm({m} * {p}, {s} / {p})", f"dweib({s} + 0.5, {s} * {p})",
        f"dbin({p} * ilogit({m}), 6)"])
    for text in forms[:b.between(2, 3)]:
        y, i = b.name("y"), b.loop(1, b.between(2, 5))
        each(b, i, f"{y}[{i.name}] ~ {text}")
        b.observed_always.add(y)


def curves(b):
    """Responses to a dose with parameters as exponents and rates."""
    n, y = b.between(5, 8), b.name("y")
    i = b.loop(1, n)
    d = b.given(np.round(b.g.uniform(0.2, 3, n), 1), "dose") + f"[{i.name}]"
    whole = b.given(b.g.integers(0, 4, n) * 1.0, "k") + f"[{i.name}]"
    a, h, s, p = b.of("real", []), b.of("positive", []), \
        b.of("positive", []), b.of("probability", [])
    b.feature("nonlinear term")
    mean = b.pick([
        f"{a} * pow({d}, {h}) / (pow({s}, {h}) + pow({d}, {h}))",
        f"{a} * pow({d}, {h} / 2)", f"{a} * exp(-{h} * {d})",
        f"{a} * (1 - exp(-{h} * {d}^{s}))", f"{a} + {p}^{d}",
        f"{a} * pow(1 - {p}, {whole})", f"{a} * {d}^(-{h} / 3)",
        f"{h} / (1 + exp(-{s} * ({d} - {a})))", f"{a} - pow({s}, {p}) * {d}",
        f"{h} * {s} / ({s} - 1.01 * {h}) * (exp(-{h} * {d}) - exp(-{s} * {d}))"])
    seen(b, y, i, mean)


def so_far(b):
    """Sums, products and extremes of what stands up to a row, or from it on."""
    n, y = b.between(3, 6), b.name("y")
    kind = b.pick(["real", "probability"])
    u, i = b.name("u"), b.loop(1, n)
    fill(b, u, n, lambda c: PRIORS[kind](b, c), kind)
    part, rest = f"{u}[1:{i.name}]", f"{u}[{i.name}:{n}]"
    b.feature("so far")
    if b.chance(0.4):
        total, t = b.name("total"), b.loop(2, n)
        b.write(f"{total}[1] <- " + (f"{u}[1]" if kind == "real" else
                                     f"1 - {u}[1]"))
        each(b, t, f"{total}[{t.name}] <- {total}[{t.name}-1] " + (
            f"+ {u}[{t.name}]" if kind == "real" else
            f"* (1 - {u}[{t.name}])"), str(n))
        value = f"{total}[{i.name}]"
        b.feature("recursion that is computed")
    elif kind == "real":
        value = b.pick([f"sum({part})", f"sum({rest})", f"mean({part})",
                        f"max({part})", f"min({rest})"])
    else:
        value = b.pick([f"prod({part})", f"prod(1 - {part})",
                        f"(1 - prod(1 - {rest}))", f"exp(sum(log({part})))",
                        f"(1 - prod({part}))"])
    if kind == "real":
        seen(b, y, i, value)
        return
    each(b, i, f"{y}[{i.name}] ~ " + b.pick([
        f"dbin({value}, {b.between(1, 6)})", f"dbern({value})",
        f"dpois(3 * {value})", f"dnorm({value}, {b.precision([])})"]))
    b.observed_always.add(y)


def outwards(b):
    """An array that a middle element begins, to both sides."""
    n = b.between(4, 8)
    at, x, y = b.between(2, n - 1), b.name("x"), b.name("y")
    b.write(f"{x}[{at}] ~ {real_prior(b, [])}")
    computed = b.chance(0.3)
    noise = b.name("e")
    if computed:
        fill(b, noise, n, lambda c: f"dnorm(0, {b.number(1, 4)})")
    for to, step in ((n - at, 1), (at - 1, -1)):
        k = b.loop(1, to)
        sign = "+" if step == 1 else "-"
        here = f"{x}[{at} {sign} {k.name}]"
        last = f"{x}[{at} {sign} {k.name} {'-' if step == 1 else '+'} 1]"
        mean = b.pick([last, f"{b.of('probability', [])} * {last}",
                       f"{last} + {b.of('real', [])}"])
        each(b, k, f"{here} <- {mean} + {noise}[{at} {sign} {k.name}]"
             if computed else f"{here} ~ dnorm({mean}, {b.precision([])})",
             str(to))
    b.feature("recursion", "affine subscript")
    i = b.loop(1, n)
    seen(b, y, i, f"{x}[{i.name}]")
    b.latent_always.update((x, noise))
    b.add(Thing(x, "real", (n,)))


def small_matrices(b):
    """Inverses and determinants of matrices whose cells are computed."""
    n = b.between(2, 3)
    m, s, rho = b.name("S"), b.of("positive", []), b.of("probability", [])
    i, j = two(b, n, n)
    x = b.given(np.round(b.g.normal(size=n), 2), "x")
    far = f"abs({x}[{i.name}] - {x}[{j.name}])"
    same = f"equals({i.name}, {j.name})"
    nest(b, [i, j], f"{m}[{i.name},{j.name}] <- " + b.pick([
        f"{same} * ({s} + 0.2) + 0.5 * {rho}",
        f"{s} * exp(-{far} / ({rho} + 0.2)) + {same} * 0.2",
        f"pow({rho}, abs({i.name} - {j.name})) + {same} * {s}"]))
    style, y = b.pick(["process", "logdet", "solve"]), b.name("y")
    b.feature("small matrix: " + style)
    if style == "logdet":
        k = b.loop(1, b.between(2, 4))
        seen(b, y, k, b.pick([f"logdet({m}[,])", f"logdet({m}[1:{n},1:{n}])"])
             + f" + {b.term([k])}")
        return
    q = b.name("Q")
    b.write(f"{q}[1:{n},1:{n}] <- inverse({m}[,])")
    if style == "process":
        f, zero = b.name("f"), b.given(np.zeros(n), "zero")
        b.write(f"{f}[1:{n}] ~ dmnorm({zero}[], {q}[,])")
        b.latent_always.add(f)
        b.feature("vector node", "matrix cell by cell")
    else:
        v, f = b.name("v"), b.name("f")
        fill(b, v, n, lambda c: real_prior(b, c))
        b.write(f"{f}[1:{n}] <- {q}[,] %*% {v}[1:{n}]")
        b.latent_always.add(v)
    k = Index(i.name, 1, n)
    seen(b, y, k, f"{f}[{k.name}]")


def latent_choice(b):
    """Which of two a latent number chooses: for a mean, a precision, a subscript."""
    n = b.between(4, 7)
    z, y, i = b.name("z"), b.name("y"), b.loop(1, n)
    style = b.pick(["binary", "real", "count"])
    b.feature("latent choice: " + style)
    each(b, i, f"{z}[{i.name}] ~ " + {
        "binary": f"dbern({b.probability([i])})",
        "real": real_prior(b, [i]),
        "count": f"dpois({b.of('positive', [])})"}[style])
    here = f"{z}[{i.name}]"
    cut = b.of("real", []) if style == "real" else "0"
    yes = b.pick([f"({here} > {cut})", f"step({here} - {cut} - 0.5)"])
    one, other, s, t = b.of("real", []), b.of("real", [i]), \
        b.of("positive", []), b.of("positive", [])
    mu = b.name("mu")
    fill(b, mu, 2, lambda c: real_prior(b, c))
    each(b, i, f"{y}[{i.name}] ~ " + b.pick([
        f"dnorm(ifelse({here} > {cut}, {one}, {other}), {s})",
        f"dnorm({one}, ifelse({here} > {cut}, {s}, {t} + 1))",
        f"dnorm({mu}[1 + {yes}], {s})",
        f"dnorm({yes} * {one} + (1 - {yes}) * {other}, {s})",
        f"dpois(ifelse({here} > {cut}, {s}, {t} / 2))",
        f"dbern(ilogit({one} * {yes} + {here} * 0.3))",
        f"dnorm({mu}[1 + {yes}] + {here}, {s})"]))
    b.latent_always.update((z, mu))
    b.observed_always.add(y)
