"""Pieces of models of few states whose arrays and ends are not all of one kind:
counts beside real numbers, cells that are known or computed beside those that are
drawn, ends of counts between whole numbers, populations that may die out, and
labels whose weights have unequal priors."""

import numpy as np

from states import MOST_POISSON, Retry, loop


def only_one(b):
    """The piece has continuous nodes of its own."""
    if b.parameters:
        raise Retry
    b.parameters = 2


def ends_between(b):
    """Ends of what counts lie between whole numbers, drawn or known."""
    x, y, n = b.name("x"), b.name("y"), b.between(1, 3)
    kind = b.pick(["of data", "of label", "drawn", "drawn", "known", "each"])
    b.most[x] = MOST_POISSON
    if kind == "of data":
        law = b.pick([f"dpois({b.mean()})", f"dbin({b.share()}, 6)"])
        b.add(*loop("i", 1, n, f"{x}[i] ~ {law}", f"{y}[i] ~ " + b.pick([
            f"dunif(0, {x}[i] + 0.{b.between(1, 9)})",
            f"dunif({x}[i] - 6.{b.between(1, 9)}, 7)",
            f"dunif(0, 0.3 * {x}[i] + 0.1)"])))
    elif kind == "of label":
        b.add(*loop("i", 1, n, f"{x}[i] ~ dcat({b.shares(3)}[])",
                    f"{y}[i] ~ " + b.pick([f"dunif(-0.1, 3.3 - {x}[i])",
                                           f"dunif(0, {x}[i] - 0.6)"])))
    elif kind in ("drawn", "each"):
        only_one(b)
        q, m = b.name("q"), b.name("m")
        cell = f"{q}[i]" if kind == "each" else q
        n = min(n, 2)
        law = b.pick([f"dpois({m})", f"dpois({m})", "dbin(0.4, 6)"])
        bounds = b.pick([f"T({cell},)", f"T({cell},)", f"T(,{cell})",
                         f"T({cell}, {cell} + 2.5)"])
        rows = loop("i", 1, n, f"{x}[i] ~ {law} {bounds}",
                    f"{y}[i] ~ dnorm({x}[i], 1)")
        prior = f"{cell} ~ dunif(0, {b.pick(['2.6', '3'])})"
        b.add(*(loop("i", 1, n, prior) if kind == "each" else [prior]), *rows)
        if m in law:
            if kind == "each" and n > 1:
                raise Retry
            b.add(f"{m} ~ dgamma(2, 1)")
        for i in range(1, n + 1):
            b.jumps[q, (i,) if kind == "each" else ()] = (0.5, 1.0, 1.5, 2.0, 2.5)
    else:
        low, width = b.constant(0.2, 2.4), b.pick(["", "5.6", "4.3"])
        b.add(*loop("i", 1, n, f"{x}[i] ~ dpois({b.mean(0.8)}) T({low}, {width})",
                    f"{y}[i] ~ dbin({b.share()}, {x}[i])"))
        b.most[y] = MOST_POISSON
    b.observed.add(y)


def beside_reals(b):
    """Counts and 0s and 1s in an array of which one element is real."""
    x, y, n = b.name("x"), b.name("y"), b.between(2, 3)
    first = b.pick(["dunif(0, 5)", "dgamma(2, 1)", "dunif(0.5, 4)"])
    kind = b.pick(["grows", "grows", "indicators", "pairs", "counts", "label"])
    b.parameters += 1
    if b.parameters > 2:
        raise Retry
    b.most[x] = 9
    if kind == "grows":
        law = b.pick([f"dpois({b.share()} * {x}[t-1])", f"dpois({x}[t-1])",
                      f"dpois({b.share()} * {x}[t-1] + 0.4)"])
        b.most[x] = 24
        b.add(f"{x}[1] ~ {first}", *loop("t", 2, n, f"{x}[t] ~ {law}",
              f"{y}[t] ~ " + b.pick([f"dnorm({x}[t], 0.5)", f"dpois({x}[t] + 0.1)",
                                     f"dbin(0.4, {x}[t])"])))
        b.most[y] = 60
    elif kind == "indicators":
        n = b.between(3, 6)
        law = b.pick([f"dbern({b.share(0.8)})", f"dbin({b.share(0.8)}, 2)"])
        b.most[x] = 2
        b.add(f"{x}[1] ~ dnorm(0, 1)", *loop("i", 2, n, f"{x}[i] ~ {law}",
              f"{y}[i] ~ dnorm({x}[1] + {b.constant(0.5, 2)} * {x}[i], 1)"))
    elif kind == "pairs":
        n = 1
        b.most[x] = 1
        b.add(*loop("i", 1, n, f"{x}[i,1] ~ dbern({b.share(0.8)})",
                    f"{x}[i,2] ~ dbeta(2, 1)",
                    f"{y}[i] ~ dbin({x}[i,1] * {x}[i,2] * 0.999, 5)"))
        b.most[y] = 5
    elif kind == "counts":
        s, n = b.name("s"), b.between(3, 4)
        of = ", ".join(f"{x}[{i}]" for i in range(2, n + 1))
        b.most[x] = 7
        b.add(f"{x}[1] ~ dnorm(1, 1)",
              *loop("i", 2, n, f"{x}[i] ~ " + b.pick(["dpois(2)", "dbin(0.4, 5)"])),
              f"{s} ~ dsum({of})", f"{y} ~ dnorm({x}[1] + {x}[2], 1)")
        b.observed.add(s)
    else:
        level = b.given([1, 2, 4], "level")
        b.add(f"{x}[1] ~ dcat({b.shares(3)}[])", f"{x}[2] ~ {first}",
              f"{y} ~ dnorm({level}[{x}[1]] + {x}[2], 1)")
    b.observed.add(y)


def known_beside(b):
    """An array of which one element is known, one computed, others drawn."""
    x, y, n = b.name("x"), b.name("y"), b.between(4, 5)
    places = b.g.permutation(n) + 1
    known, computed = int(places[0]), int(places[1])
    drawn, start = sorted(int(k) for k in places[2:]), len(b.lines)
    law = b.pick([f"dpois({b.mean()})", f"dbin({b.share()}, 4)",
                  f"dbern({b.share()})"])
    b.most[x] = 8 if "dpois" in law else 4 if "dbin" in law else 1
    of = f"{x}[{b.pick(drawn)}]"
    b.add(f"{x}[{computed}] <- " + b.pick([
        f"1 - equals({of}, 0)", f"{of} + 1", f"max({of}, {x}[{known}])",
        f"{of} * {x}[{known}]", f"{of} * (1 - {b.share(0.9)})",
        f"{of} * {b.share(0.9)}"]))
    for k in drawn:
        b.add(f"{x}[{k}] ~ {law}")
    if b.chance(0.5):
        b.add(f"{x}[{known}] <- {b.between(0, 1)}")
    else:
        b.data[x] = np.where(np.arange(1, n + 1) == known, b.between(0, 1), np.nan)
    # in any order: some are computed of what is said later
    b.lines[start:] = [b.lines[start + k] for k in
                       b.g.permutation(len(b.lines) - start)]
    b.add(*loop("i", 1, n, f"{y}[i] ~ " + b.pick([
        f"dnorm({x}[i], 1)", f"dpois(0.4 + {x}[i])",
        f"dbern(0.1 + 0.8 * equals({x}[i], 1))"])))
    b.observed.add(y)
    b.most[y] = 60


def dying(b):
    """A population, or two sexes of one, that may have died out."""
    T, x, y = 3, b.name("N"), b.name("y")
    f = b.mean(0.7)
    b.most[x] = 20
    rows = [f"{x}[t] ~ " + b.pick([
        f"dpois({f} * {x}[t-1] * 0.5)", f"dbin({b.share()}, {x}[t-1])",
        f"dpois({f} * step({x}[t-1] - 2))"])]
    if b.chance(0.3):
        mean = b.name("mean")
        law = f"{x}[t-1] * {b.share()}"
        rows = [f"{mean}[t] <- {law}", f"{x}[t] ~ dpois({mean}[t])"]
    b.add(f"{x}[1] ~ dbin({b.constant(0.3, 0.7)}, {b.between(2, 5)})",
          *loop("t", 2, T, *rows),
          *loop("t", 1, T, f"{y}[t] ~ " + b.pick([
              f"dbin({b.share()}, {x}[t])", f"dnorm({x}[t], 1)",
              f"dpois({x}[t] * {b.mean()})"])))
    b.observed.add(y)
    b.most[y] = 60


def told_apart(b):
    """Labels of two kinds whose weights have unequal priors: a mode for each order
    of their names, of which the weights alone tell. Posteriors are polynomials."""
    only_one(b)
    z, y, w, p = b.name("z"), b.name("y"), b.name("w"), b.name("p")
    alpha = b.g.permutation([1, b.between(2, 5)])
    name = b.given(alpha, "alpha")
    drawn = f"{w}[1:2] ~ ddirch({name}[])"
    b.own[drawn] = [f"{w}[1] ~ dbeta({alpha[0]}, {alpha[1]})",
                    f"{w}[2] <- 1 - {w}[1]"]
    prior = b.pick(["dbeta(1, 1)", "dunif(0, 1)", "dbeta(2, 2)", "dbeta(1, 3)"])
    kind = b.pick(["rows", "rows", "network", "sides"])
    b.exactly = True
    b.add(drawn)
    own = b.chance(0.4)  # data of the model's own, which may not tell groups apart
    n, t = b.pick([(4, 4), (5, 2)]) if kind == "network" else \
        (b.between(3, 6), b.pick([2, 4])) if own else (6, 9)
    of = b.g.permutation(np.arange(n) % 2)
    if kind == "network":
        b.add(f"{p}[1,1] ~ {prior}", f"{p}[2,2] ~ {prior}", f"{p}[1,2] ~ {prior}",
              f"{p}[2,1] <- {p}[1,2]",
              *loop("i", 1, n, f"{z}[i] ~ dcat({w}[])"),
              *loop("i", 1, n - 1, *loop("j", "(i + 1)", n,
                    f"{y}[i,j] ~ dbin({p}[{z}[i],{z}[j]], {t})")))
        seen = np.where(of[:, None] == of, 0.9, 0.1)
        known = np.triu(np.ones((n, n)), 1)[:-1] == 1
        seen = np.where(known, b.g.binomial(t, seen[:-1]), np.nan)
    else:
        cell = f"{p}[{z}[i]]" if kind == "rows" else \
            f"{p} * equals({z}[i], 1) + (1 - {p}) * equals({z}[i], 2)"
        b.add(*(loop("k", 1, 2, f"{p}[k] ~ {prior}") if kind == "rows" else
                [f"{p} ~ {prior}"]),
              *loop("i", 1, n, f"{z}[i] ~ dcat({w}[])", f"{y}[i] ~ dbin({cell}, {t})"))
        seen = b.g.binomial(t, np.where(of, 0.92, 0.08))
    if own:
        b.observed.add(y)
    else:
        b.data[y] = np.asarray(seen, float)
    b.most[y] = t


UNEVEN = [ends_between, beside_reals, known_beside, dying, told_apart]
