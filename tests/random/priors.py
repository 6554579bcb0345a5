"""Parameters of a kind, with their priors: scalars, plates over groups, weights,
covariates."""

import numpy as np

from filling import fill, two
from pool import Thing


def real_prior(b, context, spread=1.0):
    """A distribution on the real line, about 1 wide."""
    mu = b.weighted([(5, lambda: b.number(-1, 1)), (2, lambda: "0"),
                     (1.5, lambda: b.of("real", context, 0.1))])()
    tau = b.weighted([(3, lambda: b.number(0.5, 3)),
                      (1.5, lambda: b.precision(context))])()
    if b.modern and b.chance(0.7):
        s = b.weighted([(2, lambda: b.number(0.5, 1.5)),
                        (2, lambda: b.of("positive", context))])()
        return b.pick([f"normal({mu}, {s})"] * 5 +
                      [f"student_t({b.between(4, 8)}, {mu}, {s})",
                       f"laplace({mu}, {s})", f"logistic({mu}, 0.5)",
                       f"gumbel({mu}, {s})", "uniform(-2, 2)",
                       f"von_mises({mu}, {concentration(b)})"])
    return b.weighted([
        (10, lambda: f"dnorm({mu}, {tau})"),
        (1, lambda: f"dt({mu}, {tau}, {b.between(4, 8)})"),
        (0.7, lambda: f"ddexp({mu}, {b.number(0.7, 2)})"),
        (0.7, lambda: f"dlogis({mu}, {b.number(1, 3)})"),
        (1, lambda: f"dunif({b.number(-3, -1)}, {b.number(1, 3)})"),
        (0.4, lambda: "dunif({0} - {1}, {0} + {1} + 0.5)".format(
            mu, b.of("positive", context))),
        (0.4, lambda: f"dnt({mu}, {b.number(1, 3)}, {b.between(6, 9)})"),
        (0.4, lambda: f"dgev({mu}, {b.number(0.5, 1)}, "
         f"{b.pick([b.number(-0.3, -0.1), '0'])})"),
        (1.5, lambda: truncated(b, f"dnorm({mu}, {tau})", context)),
        (0.4, lambda: truncated(b, f"dt({mu}, {tau}, 5)", context)),
        (0.4, lambda: truncated(b, f"dlogis({mu}, 2)", context)),
    ])()


def concentration(b):
    """Of an angle: anywhere, or all in one direction."""
    return b.pick([b.number(1, 3), b.number(5, 30)])


def truncated(b, text, context, latent=True):
    """Bounds of which one at least is in reach of a draw."""
    b.feature("truncation")
    low, high = b.number(-2.5, -0.5), b.number(0.5, 2.5)
    if latent and b.chance(0.3):
        b.feature("random bounds")
        s = b.of("positive", context, 0.2)
        low, high = f"-{s}", f"{s} + {b.number(0.1, 1)}"
    return text + b.pick([f" T({low}, {high})", f" T({low},)",
                          f" T(,{high})"])


def narrow(b, text):
    """Between bounds of which one is less than twice the other."""
    b.feature("truncation")
    low = b.g.uniform(0.3, 1.5)
    return f"{text} T({low:.2g}, {low * b.g.uniform(1.3, 1.9):.2g})"


def positive_prior(b, context):
    """A distribution on the positive half line, about 1."""
    shape, rate = b.number(2, 5), b.number(1.5, 4)
    if b.modern and b.chance(0.6):
        return b.pick([f"gamma({shape}, {rate})", "exponential(1)",
                       f"half_normal({b.number(0.5, 1.5)})",
                       f"half_t({b.between(4, 7)}, {b.number(0.5, 1)})",
                       "lognormal(0, 0.5)", "uniform(0.2, 2.5)",
                       f"inverse_gamma({b.between(4, 6)}, 3)",
                       f"rayleigh({b.number(0.5, 1.2)})",
                       f"inv_chi_square({b.between(6, 9)})",
                       f"scaled_inv_chi_square({b.between(6, 9)}, 0.8)",
                       f"chi_square({b.between(2, 4)})",
                       f"gig({b.number(0.5, 2)}, 2, {b.number(0.5, 2)})",
                       f"half_cauchy({b.number(0.3, 0.9)}) T(, 4)",
                       f"weibull(2, {b.number(0.8, 1.5)})"])
    return b.weighted([
        (4, lambda: f"dgamma({shape}, {rate})"),
        (0.8, lambda: f"dgamma({shape}, {b.of('positive', context, 0.1)})"),
        (2, lambda: f"dunif({b.number(0.1, 0.5)}, {b.number(1.5, 3)})"),
        (1, lambda: f"dlnorm({b.number(-0.3, 0.3)}, {b.number(2, 6)})"),
        (0.7, lambda: "dexp(1)"),
        (1.2, lambda: b.pick(["dexp(1)", f"dgamma({shape}, {rate})",
                              "dlnorm(0, 2)", "dweib(1.5, 1)"])
         + b.pick([" T({0},)", " T({0}, 4)", " T(, 3)"]).format(
             b.number(0.1, 0.6))),
        (0.8, lambda: narrow(b, f"dgamma({shape}, {rate})")),
        (1, lambda: f"dt(0, {b.number(1, 3)}, {b.between(4, 7)})T(0,)"),
        (1, lambda: f"dnorm({b.pick(['0', '0.5'])}, {b.number(1, 2)})T(0,)"),
        (0.5, lambda: f"dweib({b.number(1.5, 3)}, 1)"),
        (0.4, lambda: f"dchisqr({b.between(3, 5)})"),
        (0.3, lambda: f"dgen.gamma(2, 1.5, {b.number(1, 1.5)})"),
        (0.3, lambda: f"dinvgamma({b.between(5, 7)}, {shape})"),
        (0.3, lambda: f"dnchisqr({b.between(2, 4)}, {b.number(0.5, 1.5)})"),
        (0.3, lambda: f"dscaled.gamma({b.number(0.5, 1.5)}, 4) T(, 6)"),
    ])()


def probability_prior(b, context):
    if b.chance(0.2):
        return f"dbeta({b.positive(context)} + 1, {b.number(1, 4)})"
    return b.pick([f"dbeta({b.number(1, 5)}, {b.number(1, 5)})",
                   "dunif(0.05, 0.95)", "dunif(0, 1)",
                   "beta(2, 3)" if b.modern else "dbeta(2, 3)"])


PRIORS = {"real": real_prior, "positive": positive_prior,
          "probability": probability_prior}


LEAVES = {"real": "dnorm(0, 1)", "positive": "dgamma(3, 2)",
          "probability": "dbeta(2, 3)"}  # where nothing more is nested


DEEPEST = 4


def parameter(b, kind, context=()):
    """A new scalar, or a plate over groups, with a prior."""
    b.depth += 1
    try:
        return new_parameter(b, kind, context)
    finally:
        b.depth -= 1


def new_parameter(b, kind, context):
    if b.depth > DEEPEST:
        name = b.name()
        b.write(f"{name} ~ {LEAVES[kind]}")
        return b.add(Thing(name, kind))
    if context and b.chance(0.3):
        n = b.between(2, 5)
        name = b.name({"real": "u", "positive": "tau"}.get(kind, "p"))
        fill(b, name, n, lambda c: PRIORS[kind](b, c), kind)
        return b.add(Thing(name, kind, (n,)))
    name = b.name({"real": "b", "positive": "s"}.get(kind, "p"))
    if kind == "probability" and b.chance(0.3):
        b.feature("link on the left")
        link = b.pick(["logit", "probit", "cloglog"])
        b.write(f"{link}({name}) <- {b.predictor([], 2)}")
    elif kind == "positive" and b.chance(0.15):
        b.feature("link on the left")
        b.write(f"log({name}) <- 0.5 * ({b.predictor([], 2)})")
    else:
        b.write(f"{name} ~ {PRIORS[kind](b, [])}")
    return b.add(Thing(name, kind))


def broken_stick(b, name, n, rows):
    """Weights name[1:n], or in each row, by breaking a stick."""
    b.feature("broken stick", "recursion")
    k, j = two(b, rows or 1, n - 1)
    row = k.name + "," if rows else ""
    v, rest = b.name("v"), b.name("rest")
    more = b.of("positive", [])
    pieces = b.pick([f"dbeta(1, {more})", f"dbeta({more}, 1)", "dbeta(2, 3)"])

    def each_row(text):
        b.write(f"for ({k.name} in 1:{rows}) {{ {text} }}" if rows else text)

    def each_piece(first, text, last=n - 1):
        each_row(f"for ({j.name} in {first}:{last}) {{ {text} }}")

    here = f"{row}{j.name}"
    each_piece(1, f"{v}[{here}] ~ {pieces}")
    how = b.pick(["rest", "ratio", "prod", "sum", "so far", "logs", "log1p",
                  "log rest"])
    last = b.pick(["one", "sum", "rest"] if how == "rest" else ["one", "sum"])
    if last == "one":
        each_row(f"{v}[{row}{n}] <- 1")
    to = n if last == "one" else n - 1
    if how == "rest":
        each_row(f"{rest}[{row}1] <- 1")
        each_piece(1, f"{rest}[{here}+1] <- {rest}[{here}] * "
                   f"(1 - {v}[{here}])")
        each_piece(1, f"{name}[{here}] <- {v}[{here}] * {rest}[{here}]", to)
    elif how == "log rest":
        each_row(f"{rest}[{row}1] <- 0")
        each_piece(1, f"{rest}[{here}+1] <- {rest}[{here}] + "
                   f"log1p(-{v}[{here}])")
        each_piece(1, f"{name}[{here}] <- {v}[{here}] * exp({rest}[{here}])",
                   to)
    elif how == "so far":
        each_row(f"{name}[{row}1] <- {v}[{row}1]")
        each_row(f"{rest}[{row}1] <- {v}[{row}1]")
        if to >= 2:
            each_piece(2, f"{name}[{here}] <- {v}[{here}] * "
                       f"(1 - {rest}[{here}-1])", to)
            each_piece(2, f"{rest}[{here}] <- {rest}[{here}-1] + {name}[{here}]",
                       to)
    else:
        each_row(f"{name}[{row}1] <- {v}[{row}1]")
        if to >= 2:
            before = f"{v}[{here}-1]"
            each_piece(2, f"{name}[{here}] <- {v}[{here}] * " + (
                f"(1 - {before}) * {name}[{here}-1] / {before}"
                if how == "ratio" else
                f"(1 - sum({name}[{row}1:({j.name}-1)]))"
                if how == "sum" else
                f"exp(sum(log(1 - {v}[{row}1:({j.name}-1)])))"
                if how == "logs" else
                f"exp(sum(log1p(-{v}[{row}1:({j.name}-1)])))"
                if how == "log1p" else
                f"prod(1 - {v}[{row}1:({j.name}-1)])"), to)
    if last == "sum":
        each_row(f"{name}[{row}{n}] <- 1 - sum({name}[{row}1:{n - 1}])")
    elif last == "rest":
        each_row(f"{name}[{row}{n}] <- {rest}[{row}{n}]")


def simplex(b, n, context=()):
    """Weights: drawn, computed or given."""
    name = b.name("w")
    rows = b.between(2, 3) if context and b.chance(0.3) else 0
    if b.chance(0.15):
        size = (rows, n) if rows else n
        w = b.g.dirichlet(np.full(n, 3.0), rows or None)
        name = b.given(np.round(w, 2) + 0.01, "w")
        return b.add(Thing(name, "simplex", (rows, n) if rows else (n,)))
    if b.chance(0.25):
        broken_stick(b, name, n, rows)
        return b.add(Thing(name, "simplex", (rows, n) if rows else (n,)))
    alpha = b.given(np.round(b.g.uniform(1, 4, n), 1), "a") + "[]"
    dist = "dirichlet" if b.modern else "ddirch"
    if rows:
        i = b.loop(1, rows)
        b.write(f"for ({i.name} in 1:{b.size(rows)}) {{ "
                f"{name}[{i.name},1:{n}] ~ {dist}({alpha}) }}")
        b.feature("vector node")
        return b.add(Thing(name, "simplex", (rows, n)))
    if b.chance(0.25):
        b.feature("normalised weights")
        raw = b.name("raw")
        fill(b, raw, n, lambda c: positive_prior(b, c), "positive")
        k = b.loop(1, n)
        b.write(f"for ({k.name} in 1:{n}) {{ {name}[{k.name}] <- "
                f"{raw}[{k.name}] / sum({raw}[1:{n}]) }}")
    else:
        b.feature("vector node")
        b.write(f"{name}[1:{n}] ~ {dist}({alpha})")
    return b.add(Thing(name, "simplex", (n,)))


def modelled_covariate(b, n):
    """A covariate with a distribution, observed but for some."""
    b.feature("modelled covariate")
    name = b.name("x")
    fill(b, name, n, lambda c: real_prior(b, c), "real")
    if b.chance(0.7):
        cells = b.world.places.get(name, [])
        out = {c for c in cells if b.chance(0.7)}
        b.fixed_cells[name] = sorted(out | set(b.fixed_cells.get(name, [])))
        b.latent_always.add(name)
        b.feature("missing values")
    return b.add(Thing(name, "real", (n,)))
