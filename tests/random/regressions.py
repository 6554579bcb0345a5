"""Generalised linear models: coefficients and effects with normal priors, whose
spread has a prior, behind a link.  What augmentations and blocks are made for."""

import numpy as np

from filling import (
    each, fill, nest, table_cells, table_columns, table_plain, two)
from pool import Index, Thing
from priors import real_prior


def spread_prior(b):
    """Of a standard deviation."""
    options = [
        (2, f"dunif({b.number(0.05, 0.3)}, {b.number(1, 3)})"),
        (1.5, f"dnorm(0, {b.number(0.7, 3)})T(0,)"),
        (1.5, f"dt(0, {b.number(1, 4)}, {b.between(3, 6)})T(0,)"),
        (0.7, f"dt(0, {b.number(2, 9)}, 1)T(0,)"),
        (1, "dexp(1.5)")]
    if b.modern:
        options += [(2, f"half_normal({b.number(0.5, 1.2)})"),
                    (2, f"half_cauchy({b.number(0.2, 0.6)})"),
                    (2, f"half_t({b.between(3, 6)}, {b.number(0.4, 0.9)})"),
                    (1, f"exponential({b.number(1, 2)})")]
    return b.weighted(options)


def spread(b, hint="sigma"):
    """A function that gives a normal distribution of some mean; its spread is
    a parameter.  `local`: a text that multiplies the standard deviation."""
    kind = b.weighted([(3, "precision"), (4, "deviation"), (1, "variance"),
                       (1, "pool")])
    if kind == "pool":
        name = b.of("positive", [])
        kind = "deviation"
    else:
        name = b.name(hint if kind == "deviation" else "tau")
        b.write(f"{name} ~ " + {
            "precision": f"dgamma({b.number(2, 4)}, {b.number(1, 3)})",
            "variance": f"dinvgamma({b.number(3, 5)}, {b.number(1, 3)})",
            "deviation": spread_prior(b)}[kind])
        b.add(Thing(name, "positive"))

    def normal(mean, local=""):
        if kind == "precision":
            return f"dnorm({mean}, {name}" + (f" / {local}^2)" if local
                                              else ")")
        s = f"sqrt({name})" if kind == "variance" else name
        s = f"({s} * {local})" if local else s
        if b.modern:
            return f"normal({mean}, {s})"
        return f"dnorm({mean}, {b.pick([f'pow({s}, -2)', f'1 / {s}^2'])})"
    return normal


def coefficients(b, k, scale):
    """k coefficients in an array: apart, or by a common spread."""
    name = b.name("beta")
    style = b.weighted([(4, "apart"), (2, "common"), (1.5, "local"),
                        (1, "heavy")])
    if style == "apart":
        fill(b, name, k, lambda c: f"dnorm(0, {b.number(1, 4)})")
    elif style == "heavy":
        fill(b, name, k, lambda c: b.pick([
            f"ddexp(0, {b.number(2, 5)})", f"dt(0, {b.number(2, 6)}, 5)",
            f"dlogis(0, {b.number(3, 6)})"]))
    elif style == "common":
        normal = spread(b)
        fill(b, name, k, lambda c: normal("0"))
    else:
        b.feature("local scales")
        local, prior = b.name("lambda"), spread_prior(b)
        j = b.loop(1, k)
        normal = spread(b)
        each(b, j, f"{local}[{j.name}] ~ {prior} {name}[{j.name}] ~ "
             + normal("0", f"{local}[{j.name}]"))
    b.add(Thing(name, "real", (k,)))
    return name


def linear(b, i):
    """A linear predictor of rows i; about 1 in size."""
    terms = []
    if b.chance(0.8):
        level = b.name("alpha")
        b.write(f"{level} ~ dnorm(0, {b.number(0.7, 3)})")
        b.add(Thing(level, "real"))
        terms.append(level)
    k = b.between(1, 3)
    if b.chance(0.6):
        x = b.given(np.round(b.g.normal(size=(i.high, k)) * 0.7, 2), "X")
        beta = coefficients(b, k, 1)
        terms.append(b.pick([
            f"inprod({x}[{i.name},], {beta}[])",
            f"inprod({beta}[1:{k}], {x}[{i.name},1:{k}])",
            f"sum({x}[{i.name},] * {beta}[] + {b.row([i], k)})",
            " + ".join(f"{beta}[{c}] * {x}[{i.name},{c}]"
                       for c in range(1, k + 1))]))
    if b.chance(0.5):
        b.feature("effects of groups")
        m = b.between(2, 5)
        group = b.given(b.g.integers(1, m + 1, i.high), "g")
        b.ranges[group] = m
        u, normal = b.name("u"), spread(b)
        mean = b.weighted([(4, lambda: "0"), (1, lambda: b.of("real", []))])()
        fill(b, u, m, lambda c: normal(mean))
        b.add(Thing(u, "real", (m,)))
        terms.append(f"{u}[{group}[{i.name}]]")
    if not terms or b.chance(0.35):
        terms.append(b.term([i]))
    return " + ".join(terms)


def half(eta):
    return f"0.5 * ({eta})"


def families(b, i, eta):
    """(weight, statement for y[i]) without what the left-hand side is: a
    distribution, or a link with the name of what it computes."""
    few = b.between(2, 8)
    size = f"{b.given(b.g.integers(1, 9, i.high), 'n')}[{i.name}]" \
        if b.chance(0.5) else str(few)
    shape = b.of("positive", []) if b.chance(0.5) else b.number(1, 4)
    cut = b.given([-1.0, 0.1, 1.2][:b.between(1, 3)], "cut")
    normal = spread(b)
    rate = b.of("positive", []) if b.chance(0.5) else b.number(0.7, 2)
    out = [
        (2.5, normal(eta)),
        (1, f"dt({eta}, {rate}, {b.between(3, 7)})"),
        (0.7, f"ddexp({eta}, {rate})"),
        (0.7, f"dlogis({eta}, {rate})"),
        (2, f"dbern(ilogit({eta}))"),
        (2, f"dbern(phi({eta}))"),
        (1.5, f"dbin(ilogit({eta}), {size})"),
        (0.5, f"dbin(phi({eta}), {size})"),
        (0.4, f"dbern(icloglog({half(eta)}))"),
        (2, f"dpois(exp({half(eta)}))"),
        (1, f"dnegbin({shape} / ({shape} + exp({half(eta)})), {shape})"),
        (1, f"dnegbin(ilogit({eta}), {b.pick([shape, b.between(1, 4)])})"),
        (0.8, f"dgamma({shape}, {shape} * exp({half(eta)}))"),
        (0.8, f"dweib({b.number(0.9, 2)}, exp({half(eta)}))"),
        (0.7, f"dlnorm({half(eta)}, {rate})"),
        (1.2, f"dordered.logit({eta}, {cut}[])"),
        (0.8, f"dordered.probit({eta}, {cut}[])")]
    if b.modern:
        out += [(2, f"bernoulli_logit({eta})"),
                (2, f"binomial_logit({size}, {eta})"),
                (2, f"poisson_log({half(eta)})"),
                (2, f"neg_binomial_2_log({half(eta)}, {shape})"),
                (1, f"student_t({b.between(3, 7)}, {eta}, {rate})"),
                (1, f"ordered_logistic({eta}, {cut}[])")]
    return out


LINKS = [("logit", "dbern({})"), ("probit", "dbern({})"),
         ("logit", "dbin({}, 5)"), ("cloglog", "dbern({})"),
         ("logit", "dnegbin({}, 3)"), ("log", "dpois({})"), ("log", "dexp({})")]


def weighted_sum(b):
    """A state in time beside a sum of weights and effects: the effects are in a
    block with the state, and each summand has something beside the block."""
    n, k = b.between(5, 9), b.between(3, 4)
    xi, w, theta, y = b.name("xi"), b.name("w"), b.name("theta"), b.name("y")
    b.write(f"{xi}[1] ~ dnorm(0, 1)")
    j, t, i = b.loop(2, k), b.loop(2, n), b.loop(1, n)
    each(b, j, f"{xi}[{j.name}] ~ dnorm(0, {b.number(1, 3)})")
    fill(b, w, k, lambda c: f"dnorm(0, {b.number(1, 3)})")
    tau = b.of("positive", [])
    b.write(f"{theta}[1] ~ dnorm(0, 1)")
    each(b, t, f"{theta}[{t.name}] ~ dnorm({theta}[{t.name} - 1], {tau})")
    beside = b.pick([f"{w}[1:{k}] * {xi}[] + {w}[]",
                     f"{w}[1:{k}] * ({xi}[] + {b.data_row([i], k)})"])
    each(b, i, f"{y}[{i.name}] ~ " + b.weighted(families(
        b, i, f"{theta}[{i.name}] * {b.covariate([i])} + sum({beside})")))
    b.latent_always.update((xi, theta))
    b.observed_always.add(y)


def totals(b):
    """Sums through each column, or each row, of a table that statements fill
    column by column: its elements meet in them."""
    n, m = b.between(2, 4), b.between(2, 3)
    name, y = b.name("Phi"), b.name("y")
    style = b.weighted([(3, table_columns), (1, table_cells), (1, table_plain)])
    b.feature("table: " + style.__name__[6:])
    style(b, name, n, m, lambda c: real_prior(b, c), "real")
    i = b.loop(1, m)
    through = f"{name}[1:{n},{i.name}]"
    if b.chance(0.3):
        i = b.loop(1, n)
        through = f"{name}[{i.name},]"
    each(b, i, f"{y}[{i.name}] ~ " + b.weighted(families(
        b, i, f"{b.covariate([i])} + sum({through})")))
    b.add(Thing(name, "real", (n, m)))
    b.observed_always.add(y)


def layers(b):
    """Tables for each unit, of which a statement of its own fills the first row
    or column; all cells of a unit meet in a sum, those of the first too."""
    n, m, k = b.between(2, 4), b.between(2, 3), b.between(2, 3)
    name, y = b.name("X"), b.name("y")
    i, (j, h) = b.loop(1, n), two(b, m, k)
    while i.name in (j.name, h.name):
        i = b.loop(1, n)
    first = b.pick([(h, f"1,{h.name}"), (j, f"{j.name},1")])
    rest = [i, j, Index(h.name, 2, k)] if first[0] is j else \
        [i, Index(j.name, 2, m), h]
    nest(b, [i, first[0]], f"{name}[{i.name},{first[1]}] ~ "
         + real_prior(b, [i, first[0]]))
    nest(b, rest, f"{name}[{i.name},{j.name},{h.name}] ~ "
         + real_prior(b, rest))
    cells = b.pick([f"{name}[{i.name},,]", f"{name}[{i.name},1:{m},1:{k}]"])
    through = b.weighted([(3, f"sum({cells})"), (1, f"mean({cells}) * 3"),
                          (1, f"sin(sum({cells}) / 2)")])
    each(b, i, f"{y}[{i.name}] ~ " + b.weighted(families(
        b, i, f"{b.covariate([i])} + {through}")))
    b.latent_always.add(name)
    b.observed_always.add(y)


def regression(b):
    """Rows with a linear predictor behind a link."""
    n = b.between(5, 14)
    i = b.loop(1, n)
    y, eta = b.name("y"), linear(b, i)
    if b.chance(0.3):
        b.feature("link on the left")
        link, family = b.pick(LINKS)
        mu = b.name("p")
        eta = half(eta) if link in ("log", "cloglog") else eta
        each(b, i, f"{link}({mu}[{i.name}]) <- {eta} {y}[{i.name}] ~ "
             + family.format(f"{mu}[{i.name}]"))
    elif b.chance(0.3):
        b.feature("mean with a name")
        mu = b.name("mu")
        each(b, i, f"{mu}[{i.name}] <- {eta}")
        b.add(Thing(mu, "real", (n,)))
        each(b, i, f"{y}[{i.name}] ~ "
             + b.weighted(families(b, i, f"{mu}[{i.name}]")))
    else:
        each(b, i, f"{y}[{i.name}] ~ " + b.weighted(families(b, i, eta)))
    if b.chance(0.8):
        b.observed_always.add(y)


def apart(b):
    """Coefficients of which the first, or the last, is of another law, given or
    computed, in a sum of all."""
    k, n = b.between(3, 5), b.between(6, 12)
    beta, y = b.name("beta"), b.name("y")
    i, j = two(b, n, k)
    first = b.chance(0.7)
    own = "1" if first else str(k)
    b.write(f"{beta}[{own}] " + b.weighted([
        (2, lambda: "~ dunif(-3, 3)"),
        (1, lambda: f"~ dt({b.number(-1, 1)}, 1, 5)"),
        (1, lambda: f"<- {b.number(1, 3)}"),
        (1, lambda: f"<- {b.of('real', [])} + {b.number(0.5, 2)}")])())
    others = Index(j.name, 2, k) if first else Index(j.name, 1, k - 1)
    normal = spread(b)
    each(b, others, f"{beta}[{j.name}] ~ "
         + b.pick([normal("0"), f"dnorm({b.number(-1, 1)}, {b.number(0.5, 2)})"]),
         str(others.high))
    x = b.given(np.round(b.g.normal(size=(n, k)), 2), "X")
    eta = b.pick([f"inprod({x}[{i.name},], {beta}[])",
                  f"inprod({beta}[1:{k}], {x}[{i.name},1:{k}])",
                  f"sum({x}[{i.name},1:{k}] * {beta}[1:{k}])"])
    each(b, i, f"{y}[{i.name}] ~ " + b.weighted(families(b, i, eta)))
    b.latent_always.add(beta)
    b.observed_always.add(y)
    b.feature("inprod")
