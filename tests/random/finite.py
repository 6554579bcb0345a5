"""Small models whose discrete nodes have few states in all: what holds labels,
presences, counts and paths together, so that a sampler may fail to get from one
state to another and not notice.  `exact.py` adds up their posteriors.

    python3 tests/random/finite.py SEED               # what the model of a seed is"""

import json
import math
import sys
from dataclasses import dataclass

import numpy as np

import exact
import normal_blocks
import syntax
from states import MOST_POISSON, Builder, Retry, loop
from syntax import to_json
from uneven import UNEVEN

MOST_STATES, MOST_CELLS = 60000, 4e6
LEFT_OUT = 0.002  # of a posterior, beyond what is summed over
EXACTLY = {2: 40, 3: 32, 4: 14}  # as exact.POINTS, of polynomials
PRIORS = ("dunif", "dbeta", "dgamma", "dexp", "dnorm")


# ------------------------------------------------------------------------ pieces

def inflated(b):
    """Structural zeros."""
    n, z, y = b.between(3, 7), b.name("z"), b.name("y")
    q, t = b.share(), b.between(1, 2)
    kind = b.pick(["dpois", "dnegbin", "dbin", "dnorm", "dnegbin"])
    m = b.mean() if kind != "dbin" else b.share()
    law = {"dpois": f"dpois(MU)", "dnegbin": "dnegbin(2 / (2 + MU), 2)",
           "dbin": "dbin(MU, 3)", "dnorm": "dnorm(MU, 1)"}[kind]
    product_ = b.pick([f"{z}[i] * {m}", f"{m} * {z}[i]",
                       f"(1 - equals({z}[i], 0)) * {m}"])
    at = "i" if t == 1 else "i,t"
    rows = [f"{z}[i] ~ dbern({q})"]
    if b.chance(0.5) and t == 1:
        mu = b.name("e")
        rows.append(f"{mu}[i] <- {product_}")
        product_ = f"{mu}[i]"
    inner = [f"{y}[{at}] ~ {law.replace('MU', product_)}"]
    rows += inner if t == 1 else loop("t", 1, t, *inner)
    b.add(*loop("i", 1, n, *rows))
    b.observed.add(y)
    b.most[y] = MOST_POISSON


def counted(b):
    """Counts of which some are seen."""
    n, N, y = b.between(1, 3), b.name("N"), b.name("y")
    m, p, t = b.mean(0.5), b.share(), b.between(1, 3)
    law = b.pick([f"dpois({m})", f"dbin({b.constant(0.2, 0.8)}, 5)",
                  f"dpois({m}) T(1, 6)", f"dpois({m})"])
    b.most[N] = 6 if "T(" in law else 5 if "dbin" in law else MOST_POISSON
    b.add(*loop("i", 1, n, f"{N}[i] ~ {law}",
                *loop("t", 1, t, f"{y}[i,t] ~ dbin({p}, {N}[i])")))
    b.observed.add(y)
    b.most[y] = b.most[N]


def captures(b):
    """Alive, and seen; the first state is latent, or not."""
    n, T, z, y = b.between(1, 3), b.between(3, 4), b.name("z"), b.name("y")
    phi, p = b.share(0.5), b.share(0.5)
    first = f"{z}[i,1] ~ dbern({b.share()})" if b.chance(0.6) else \
        f"{z}[i,1] <- 1"
    alive = f"{phi} * {z}[i,t-1]"
    if b.chance(0.4):  # those that are not there yet may come
        alive += f" + prod(1 - {z}[i,1:(t-1)]) * {b.constant(0.2, 0.6)}" \
            if b.chance(0.5) else f" + (1 - {z}[i,t-1]) * {b.constant(0.1, 0.5)}"
    b.add(*loop("i", 1, n, first,
                *loop("t", 2, T, f"{z}[i,t] ~ dbern({alive})"),
                *loop("t", 1, T, f"{y}[i,t] ~ dbern({p} * {z}[i,t])")))
    b.observed.add(y)


def path(b):
    """Chains of states with transitions that may not be."""
    n, T, k, z, y = b.between(1, 2), b.between(3, 5), b.between(2, 3), \
        b.name("z"), b.name("y")
    go = b.rows(k, k, True)
    seen = b.rows(k, 2, b.chance(0.4))
    head = f"{z}[i,1] ~ dcat({b.shares(k)}[])"
    read = b.pick([f"{y}[i,t] ~ dcat({seen}[{z}[i,t],])"] * 2 +
                  [f"{y}[i,t] ~ dbern(0.1 + 0.8 * equals({z}[i,t], {z}[i,1]))"])
    b.add(*loop("i", 1, n, head,
                *loop("t", 2, T, f"{z}[i,t] ~ dcat({go}[{z}[i,t-1],])"),
                *loop("t", 1, T, read)))
    b.observed.add(y)


def steps(b):
    """A walk that goes up or down by one, at a wall or not."""
    T, z, y, k = b.between(3, 5), b.name("z"), b.name("y"), b.between(3, 4)
    p = np.zeros((k, k))
    for j in range(k):
        for to in (j - 1, j + 1):
            if 0 <= to < k:
                p[j, to] = b.g.uniform(0.3, 1)
    go = b.given(p / p.sum(axis=1)[:, None], "P")
    if b.chance(0.5):
        b.add(f"{z}[1] ~ dcat({b.shares(k)}[])",
              *loop("t", 2, T, f"{z}[t] ~ dcat({go}[{z}[t-1],])"))
    else:  # one and one, no path
        names = [b.name("s") for _ in range(T)]
        b.add(f"{names[0]} ~ dcat({b.shares(k)}[])",
              *(f"{to} ~ dcat({go}[{of},])" for of, to in zip(names, names[1:])),
              *(f"{z}[{t + 1}] <- {x}" for t, x in enumerate(names)))
    b.add(*loop("t", 1, T, f"{y}[t] ~ dnorm({z}[t], {b.constant(0.3, 2)})"))
    b.observed.add(y)


def mixture(b):
    n, k, z, y, mu = b.between(3, 6), b.between(2, 3), b.name("z"), b.name("y"), \
        b.name("mu")
    w = b.shares(k)
    b.add(*loop("i", 1, n, f"{z}[i] ~ dcat({w}[])",
                f"{y}[i] ~ dnorm({mu}[{z}[i]], {b.pick(['1', '4', '0.5'])})"))
    if k == 2 and b.parameters == 0:
        b.parameters = 2
        b.add(f"{mu}[1] ~ dnorm(-1, 1)", f"{mu}[2] ~ dnorm(1, 1)")
    else:
        b.data[mu] = np.round(b.g.normal(size=k) * 2, 1)
    b.observed.add(y)


def tied(b):
    """Labels that settle labels, with what cannot be."""
    k, a, z, y = b.between(2, 3), b.name("a"), b.name("z"), b.name("y")
    n, m = b.between(1, 3), b.between(1, 3)
    P = b.rows(k, 3, True)
    b.add(f"{a} ~ dcat({b.shares(k)}[])" if n == 1 else "")
    label = a if n == 1 else f"{a}[j]"
    inner = loop("i", 1, m, f"{z}[{'j,' if n > 1 else ''}i] ~ dcat({P}[{label},])")
    b.add(*(inner if n == 1 else
            loop("j", 1, n, f"{a}[j] ~ dcat({b.shares(k)}[])", *inner)))
    b.lines = [l for l in b.lines if l]
    Q = b.rows(3, 2, b.chance(0.3))
    at = "i" if n == 1 else "j,i"
    inner = loop("i", 1, m, f"{y}[{at}] ~ dcat({Q}[{z}[{at}],])")
    b.add(*(inner if n == 1 else loop("j", 1, n, *inner)))
    b.observed.add(y)


def copied(b):
    """A 0 or 1 that another is sure to follow."""
    n, a, z, y = b.between(1, 3), b.name("a"), b.name("z"), b.name("y")
    sure = b.pick([f"{a}[i]", f"1 - {a}[i]", f"equals({a}[i], 1)",
                   f"{a}[i] * {b.constant(0.3, 0.9)}",
                   f"0.999999 * {a}[i]"])
    b.add(*loop("i", 1, n, f"{a}[i] ~ dbern({b.share()})"),
          *loop("i", 1, n, f"{z}[i] ~ dbern({sure})"),
          *loop("i", 1, n, f"{y}[i] ~ dbern({b.constant(0.1, 0.4)} + "
                f"{b.constant(0.2, 0.5)} * {z}[i])"))
    b.observed.add(y)


def by_label(b):
    """A label says what law a count has, or how large it may be."""
    m, x, y, k = b.name("m"), b.name("x"), b.name("y"), b.between(2, 3)
    n = b.between(1, 3)
    sizes = b.given(b.g.permutation([2, 4, 6])[:k], "K")
    rates = b.given(np.round(b.g.uniform(0, 4, k), 1) * (b.g.random(k) > 0.25), "l")
    law = b.pick([f"dbin({b.share()}, {sizes}[{m}])", f"dpois({rates}[{m}])",
                  f"dpois({b.mean()} * equals({m}, 1))"])
    b.most[x] = 6 if "dbin" in law else MOST_POISSON
    b.add(f"{m} ~ dcat({b.shares(k)}[])", *loop("i", 1, n, f"{x}[i] ~ {law}"))
    if b.chance(0.7):
        b.add(*loop("i", 1, n, f"{y}[i] ~ dbin({b.share()}, {x}[i])"))
        b.observed.add(y)
        b.most[y] = b.most[x]
    else:
        b.observed.add(x)


def selected(b):
    """Conditions on 0s and 1s."""
    n, z, y = b.between(3, 6), b.name("z"), b.name("y")
    total, k = f"sum({z}[])", b.between(1, 3)
    b.add(*loop("i", 1, n, f"{z}[i] ~ dbern({b.given(np.round(b.g.uniform(0.1, 0.9, n), 2))}[i])"))
    b.condition(b.pick([
        f"equals({total}, {k})", f"step({k} - {total})", f"step({total} - {k})",
        f"step({total} - 1) * step({k} - {total})",
        f"equals({z}[1], {z}[2])", f"1 - equals({z}[1], {z}[2])",
        f"equals({z}[1] + {z}[2], 2 * {z}[3])", f"max({z}[])",
        f"equals({total}, 0) + equals({total}, {n})",
        f"equals({z}[1] + {z}[2] + {z}[3], 1) + equals({z}[1] + {z}[2] + {z}[3], 3)"]))
    if b.chance(0.7):
        b.add(*loop("i", 1, n, f"{y}[i] ~ dnorm({z}[i] * {b.constant(0.5, 2)}, 1)"))
        b.observed.add(y)


def summed(b):
    """Counts of which the sum is seen."""
    n, x, s = b.between(2, 4), b.name("x"), b.name("s")
    law = b.pick([f"dpois({b.mean()})", f"dbin({b.share()}, 3)", f"dbern({b.share()})",
                  f"dbin({b.share()}, 5)"])
    b.most[x] = 5 if n > 3 and "dpois" in law else 8 if "dpois" in law else 5 \
        if "5)" in law else 3 if "dbin" in law else 1
    b.add(*loop("i", 1, n, f"{x}[i] ~ {law}"))
    b.observed.add(s)
    b.add(f"{s} ~ dsum({', '.join(f'{x}[{i}]' for i in range(1, n + 1))})")
    if b.chance(0.7):
        y = b.name("y")
        b.add(*loop("i", 1, n, f"{y}[i] ~ dpois(0.3 + {x}[i])"))
        b.observed.add(y)
        b.most[y] = 60


def cut(b):
    """Which interval a count or a label lies in."""
    n, x, c = b.between(1, 3), b.name("x"), b.name("c")
    law, most = b.pick([(f"dpois({b.mean()})", MOST_POISSON),
                        (f"dbin({b.share()}, 6)", 6),
                        (f"dcat({b.shares(5)}[])", 5)])
    b.most[x] = most
    cuts = b.pick(["1.5", b.given([0.5, 2.5], "cut") + "[]"])
    b.add(*loop("i", 1, n, f"{x}[i] ~ {law}", f"{c}[i] ~ dinterval({x}[i], {cuts})"))
    b.observed.add(c)
    if b.chance(0.6):
        y = b.name("y")
        b.add(*loop("i", 1, n, f"{y}[i] ~ dnorm({x}[i], 0.5)"))
        b.observed.add(y)


def ordered(b):
    """Counts that data hold in order, or apart."""
    n, x, y = b.between(2, 3), b.name("x"), b.name("y")
    law, most = b.pick([(f"dbin({b.share()}, 4)", 4), (f"dcat({b.shares(4)}[])", 4),
                        (f"dpois({b.mean()})", 8)])
    b.most[x] = most
    b.add(*loop("i", 1, n, f"{x}[i] ~ {law}"))
    b.condition(b.pick([f"step({x}[2] - {x}[1])", f"equals({x}[1], {x}[2])",
                        f"step({x}[1] - {x}[2] - 1)", f"equals({x}[1] + {x}[2], 4)",
                        f"step(1 - abs({x}[1] - {x}[2]))",
                        f"1 - equals({x}[1], {x}[2])",
                        f"equals({x}[1], 2 * {x}[2])"]))
    b.add(*loop("i", 1, n, f"{y}[i] ~ dnorm({x}[i], 0.7)"))
    b.observed.add(y)


def matched(b):
    """Which of the things each one is: no two the same."""
    k = b.between(2, 3)
    n, a, y = b.between(2, k), b.name("a"), b.name("y")
    mu = b.given(np.round(b.g.normal(size=k) * 1.5, 1), "mu")
    b.add(*loop("i", 1, n, f"{a}[i] ~ dcat({b.shares(k)}[])",
                f"{y}[i] ~ dnorm({mu}[{a}[i]], 1)"))
    b.observed.add(y)
    for i in range(1, n + 1):
        for j in range(1, i):
            one = b.name("one")
            b.observed.add(one)
            b.hold.add(one)
            b.add(f"{one} ~ dbern(1 - equals({a}[{i}], {a}[{j}]))")


def chosen(b):
    """A model's indicator, with parameters of its own."""
    g, y, n = b.name("g"), b.name("y"), b.between(3, 6)
    m, mu = b.real(0.9), b.real(0.4)
    b.add(f"{g} ~ dbern({b.share(0.2)})",
          *loop("i", 1, n, f"{y}[i] ~ dnorm({g} * {m} + (1 - {g}) * {mu}, 1)"))
    b.observed.add(y)


def changed(b):
    """When a rate changed."""
    T, tau, y, l = b.between(4, 7), b.name("tau"), b.name("y"), b.name("l")
    if b.parameters == 0 and b.chance(0.6):
        b.parameters = 2
        b.add(f"{l}[1] ~ dgamma(2, 1)", f"{l}[2] ~ dexp(0.5)")
    else:
        b.data[l] = np.round(b.g.uniform(0, 4, 2), 1) * [1, b.g.random() > 0.3]
    b.add(f"{tau} ~ dcat({b.shares(T)}[])",
          *loop("i", 1, T, f"{y}[i] ~ dpois({l}[1 + step(i - {tau})])"))
    b.observed.add(y)
    b.most[y] = MOST_POISSON


def nested(b):
    """Counts of counts."""
    N, x, y, n = b.name("N"), b.name("x"), b.name("y"), b.between(1, 2)
    b.most[N] = b.most[x] = 6
    b.add(f"{N} ~ dbin({b.share()}, 6)",
          *loop("i", 1, n, f"{x}[i] ~ dbin({b.share()}, {N})",
                f"{y}[i] ~ dbin({b.share()}, {x}[i])"))
    b.observed.add(y)
    b.most[y] = 6


def members(b):
    """Groups of kinds: a kind may leave its members no choice."""
    J, n, g, z, y = b.between(1, 3), b.between(1, 3), b.name("g"), b.name("z"), \
        b.name("y")
    pi = b.given(b.pick([[0, 0.7], [0.6, 1], [0, 1], [0, 0.5], [0.3, 0.8]]), "pi")
    b.add(*loop("j", 1, J, f"{g}[j] ~ dbern({b.share()})",
                *loop("i", 1, n, f"{z}[j,i] ~ dbern({pi}[{g}[j] + 1])",
                      f"{y}[j,i] ~ dbern({b.constant(0.05, 0.3)} + "
                      f"{b.constant(0.3, 0.6)} * {z}[j,i])")))
    b.observed.add(y)


def missing(b):
    """A covariate that is not there, of a class."""
    n, z, x, y = b.between(2, 4), b.name("z"), b.name("x"), b.name("y")
    p = b.given(np.round(b.g.uniform(0, 1, 2), 2) * [b.g.random() > 0.4, 1], "p")
    b.add(*loop("i", 1, n, f"{z}[i] ~ dbern({b.share()})",
                f"{x}[i] ~ dbern({p}[{z}[i] + 1])",
                f"{y}[i] ~ dnorm({z}[i] + {b.constant(-1, 1)} * {x}[i], 1)"))
    b.observed.add(y)
    if b.chance(0.5):
        b.observed.add(x)


def bounded(b):
    """A count between bounds of which one is a count."""
    low, x, y = b.name("low"), b.name("x"), b.name("y")
    n = b.between(1, 2)
    b.most[low], b.most[x] = 3, MOST_POISSON
    b.add(f"{low} ~ dbin({b.share()}, 3)",
          *loop("i", 1, n, f"{x}[i] ~ dpois({b.mean()}) T({low}, )",
                f"{y}[i] ~ dbin({b.share()}, {x}[i])"))
    b.observed.add(y)
    b.most[y] = MOST_POISSON


def levels(b):
    """The greatest or least of 0s and 1s, or of counts, is what is seen."""
    n, z, y = b.between(2, 5), b.name("z"), b.name("y")
    law, most = b.pick([(f"dbern({b.share()})", 1), (f"dbin({b.share()}, 3)", 3)])
    b.most[z] = most
    t = b.between(1, 3)
    f = b.pick(["max", "min", "sum", "prod"])
    b.add(*loop("i", 1, n, f"{z}[i] ~ {law}"),
          *loop("t", 1, t, f"{y}[t] ~ " + b.pick([
              f"dpois({f}({z}[]))", f"dnorm({f}({z}[]), 2)",
              f"dbern(equals({f}({z}[]), {b.between(0, 1)}))"])))
    b.observed.add(y)
    b.most[y] = 200


def pairs(b):
    """Who is of whose kind: 0s and 1s of a matrix that is read both ways."""
    n, z, y = b.between(2, 4), b.name("z"), b.name("y")
    both = b.pick([f"equals({z}[i], {z}[j])", f"{z}[i] * {z}[j]",
                   f"abs({z}[i] - {z}[j])", f"1 - {z}[i] * (1 - {z}[j])"])
    b.add(*loop("i", 1, n, f"{z}[i] ~ dbern({b.share()})"),
          *loop("i", 1, n - 1, *loop("j", "(i + 1)", n, f"{y}[i,j] ~ dbern("
                + b.pick([f"{b.constant(0.3, 1)} * {both}", f"0.05 + 0.9 * {both}",
                          both]) + ")")))
    b.observed.add(y)


def named(b):
    """Two kinds that nothing but their priors tells apart: a mode for each order
    of their names."""
    n, z, y = b.between(3, 6), b.name("z"), b.name("y")
    if b.parameters:
        raise Retry
    b.parameters = 2
    two = [b.name("m") for _ in range(2)]
    share = b.constant(0.2, 0.8)
    kind = b.pick(["means", "categories", "tests", "sides", "shift", "blocks"])
    label, law = f"dbern({share})", f"dnorm({two[0]}[{z}[i] + 1], 2)"
    prior = ["dnorm(0, 0.5)", "dnorm(0.5, 0.4)"]
    names = [f"{two[0]}[1]", f"{two[0]}[2]"]
    if kind == "categories":
        label, law = f"dcat({b.shares(2)}[])", f"dnorm({two[0]}[{z}[i]], 2)"
    elif kind == "tests":
        names, prior = two, ["dbeta(2, 1)", "dbeta(1, 1)"]
        law = f"dbern({z}[i] * {two[0]} + (1 - {z}[i]) * (1 - {two[1]}))"
    elif kind == "sides":
        names, prior = two, ["dbeta(3, 2)", "dnorm(0.2, 0.5)"]
        label, law = f"dbern({two[0]})", f"dnorm({two[1]} * (2 * {z}[i] - 1), 3)"
    elif kind == "shift":
        names, law = two, f"dnorm({two[0]} + {two[1]} * {z}[i], 3)"
    elif kind == "blocks":
        prior = ["dbeta(1, 1)", "dbeta(2, 2)"]
        law = f"dbern({two[0]}[{z}[i] + 1])"
    inner = [f"{y}[i] ~ {law}"]
    if kind in ("tests", "blocks"):
        inner = loop("t", 1, 3, f"{y}[i,t] ~ {law}")
    b.add(*loop("i", 1, n, f"{z}[i] ~ {label}", *inner),
          *(f"{name} ~ {p}" for name, p in zip(names, prior)))
    b.observed.add(y)


PIECES = [inflated, counted, captures, path, steps, mixture, tied, copied, by_label,
          selected, summed, cut, ordered, matched, chosen, changed, nested, members,
          missing, bounded, levels, pairs]
LATER = [named]


# ------------------------------------------------------------------------- models

@dataclass
class Case:
    text: str
    data: dict
    features: list
    posterior: exact.Posterior

    def data_text(self):
        return json.dumps(to_json(self.data))


def supports_of(b, e, data):
    """What the cells that are no data may be."""
    discrete, continuous = {}, {}
    for r, loops in e.each:
        cell = e.cell(r.left, loops)
        if not r.random or cell in data:
            continue
        law = r.value[1]
        if law == "dcat":
            discrete[cell] = range(1, e.size_of[r.value[2][0][1]][-1] + 1)
        elif law in ("dbern", "dbin", "dpois", "dnegbin"):
            discrete[cell] = range(0, 1 + (1 if law == "dbern" else
                                           b.most.get(cell[0], MOST_POISSON)))
        elif law == "dunif":
            continuous[cell] = tuple(e.value(a, loops) for a in r.value[2])
        else:
            continuous[cell] = {"dbeta": (0.0, 1.0), "dnorm": (-6.0, 7.0)}.get(
                law, (0.0, 25.0))
        if cell in b.jumps:
            low, high = continuous[cell]
            continuous[cell] = (low, *b.jumps[cell], high)
    return discrete, continuous


def left_out(e, discrete, posterior):
    """How much of the posterior lies at the last value that is summed over of a count
    without an end: as much again may lie beyond."""
    most = 0.0
    for r, loops in e.each:
        cell = e.cell(r.left, loops)
        if r.random and r.value[1] in ("dpois", "dnegbin") and cell in discrete \
                and not (r.bounds and r.bounds[2]):
            values = posterior.states[:, posterior.cells.index(cell)]
            most = max(most, posterior.mass[values == discrete[cell][-1]].sum())
    return most


def without_unread(lines, observed):
    """The text without parameters that were not taken in the end."""
    model = syntax.parse("model {\n" + "\n".join(lines) + "\n}\n")
    read = set().union(*(syntax.reads(r) for r in syntax.relations(model.body)))
    body = tuple(s for s in model.body if isinstance(s, syntax.Loop) or
                 s.left[0] == "index" or s.left[1] in read | observed or
                 s.value[1] not in PRIORS)
    return syntax.show_model(syntax.Model(body))


def simulated(b, text):
    """The data of a draw in which conditions that should hold do."""
    e = exact.Evaluator(text, b.data)
    for _ in range(300):
        try:
            e.simulate(b.g)
        except (exact.Impossible, ValueError):
            continue
        if all(e.values[name, ()] == 1 for name in b.hold):
            break
    else:
        raise Retry
    data = dict(b.data)
    for name in b.observed:
        size = e.size_of[name]
        a = np.full(size, np.nan)
        for at in np.ndindex(*size):
            cell = name, tuple(k + 1 for k in at)
            a[at] = round(e.values[cell], 2) if cell in e.values else np.nan
        data[name] = a
    return data


def attempt(g, pieces):
    b = Builder(g)
    for make in g.choice(len(pieces), 1 + (g.random() < 0.15), replace=False):
        pieces[make](b)
        b.features.add(pieces[make].__name__)
    text, own = (without_unread(some, b.observed)
                 for some in (b.lines, b.exact_lines()))
    data = simulated(b, own)
    e = exact.Evaluator(own, data)
    discrete, continuous = supports_of(b, e, e.given)
    states = math.prod(len(v) for v in discrete.values())
    points = EXACTLY if b.exactly else exact.POINTS
    if not discrete or states > MOST_STATES or len(continuous) not in points or \
            states * points[len(continuous)] ** len(continuous) > MOST_CELLS:
        raise Retry
    posterior = exact.Posterior(e, discrete, continuous, points[len(continuous)])
    if left_out(e, discrete, posterior) > LEFT_OUT:
        raise Retry
    return Case(text, data, sorted(b.features), posterior)


def normals(g):
    b, text, data, posterior = normal_blocks.attempt(g)
    return Case(text, data, sorted(b.features), posterior)


def made(seed, g):
    """Of seeds from 4000 and 6000 on with what was added then: earlier ones keep
    their models."""
    if seed < 6000 or seed % 4 == 3:
        return attempt(g, PIECES + 3 * LATER * (seed >= 4000))
    return normals(g) if seed % 4 == 2 else attempt(g, UNEVEN)


def generate(seed):
    g = np.random.default_rng([seed, 20251128])
    for _ in range(50):
        try:
            return made(seed, g)
        except (Retry, exact.Impossible):
            continue
    raise RuntimeError(f"no model of seed {seed}")


if __name__ == "__main__":
    case = generate(int(sys.argv[1]))
    print(case.text + "data: " + case.data_text())
    for name, p, s, _ in case.posterior.quantities(np.random.default_rng(1)):
        print(f"{name}: {p:.5f}, sd {s:.4f}")
