"""Forms that people write beside plain loops: lists put into an array, arrays that
are ragged by their offsets, conditions, order statistics of latent ranges."""

import numpy as np

from filling import each, fill, nest, two
from pool import Index, Thing
from priors import PRIORS, real_prior


def latent_plate(b, least, most):
    """The name of a plate of real parameters, and its length."""
    old = [q for q in b.have(["real"]) if len(q.dims) == 1 and
           least <= q.dims[0] <= most]
    if old and b.chance(0.5):
        q = b.pick(old)
        return q.name, q.dims[0]
    name, n = b.name("u"), b.between(least, most)
    fill(b, name, n, lambda c: real_prior(b, c))
    b.add(Thing(name, "real", (n,)))
    return name, n


def seen(b, y, i, mean):
    """Rows of which the mean, or the log of half of it, is given."""
    each(b, i, f"{y}[{i.name}] ~ " + b.pick([
        f"dnorm({mean}, {b.precision([])})", f"dnorm({mean}, {b.precision([])})",
        f"dpois(exp(0.5 * ({mean})))", f"dbern(ilogit({mean}))"]))
    b.observed_always.add(y)


def lists(b):
    """x[1:3] <- c(a, b + 1, 2 * c), all of an array or a part of it, or a row of a
    table."""
    k, rows = b.between(2, 4), b.chance(0.3)
    name = b.name("x")
    b.feature("list")
    if rows:
        n = b.between(3, 5)
        i = b.loop(1, n)
        parts = ", ".join(b.term([i]) for _ in range(k))
        each(b, i, f"{name}[{i.name},1:{k}] <- c({parts})")
        b.add(Thing(name, "real", (n, k)))
        return
    more = b.between(0, 3)
    parts = ", ".join(b.term([]) for _ in range(k))
    low = more + 1 if more and b.chance(0.5) else 1
    b.write(f"{name}[{low}:{low + k - 1}] <- c({parts})")
    if more:
        first = 1 if low > 1 else k + 1
        i = b.loop(first, first + more - 1)
        kind = b.pick(["random", "computed"])
        each(b, i, f"{name}[{i.name}] " + (
            f"~ {PRIORS['real'](b, [])}" if kind == "random" else
            f"<- {b.term([])}"), str(i.high))
    b.add(Thing(name, "real", (k + more,)))


def ragged(b):
    """Groups that lie behind each other in one array, by their offsets."""
    groups = b.between(2, 4)
    size = b.g.integers(1, 4, groups)
    offset = np.concatenate([[0], np.cumsum(size)[:-1]])
    n = int(size.sum())
    many, off = b.given(size * 1.0, "n"), b.given(offset * 1.0, "off")
    g, j = two(b, groups, int(size.max()))
    mu, y = b.name("mu"), b.name("y")
    b.feature("ragged by offsets", "data subscript")
    at = f"{off}[{g.name}] + {j.name}"
    level = b.of("real", [g])
    random = b.chance(0.5)
    text = f"~ dnorm({level}, {b.precision([g])})" if random else \
        f"<- {level} + {b.of('real', [])} * " + b.given(
            np.round(b.g.normal(size=n), 2), "x") + f"[{at}]"
    b.write(f"for ({g.name} in 1:{groups}) {{ for ({j.name} in "
            f"1:{many}[{g.name}]) {{ {mu}[{at}] {text} }} }}")
    if random:
        b.latent_always.add(mu)
    style = b.pick(["rows", "sums", "last", "nested"])
    if style == "rows":
        i = b.loop(1, n)
        seen(b, y, i, f"{mu}[{i.name}]")
        b.add(Thing(mu, "real", (n,)))
        return
    i = Index(g.name, 1, groups)
    end = f"{off}[{i.name}] + {many}[{i.name}]"
    low = f"({off}[{i.name}] + 1)"
    mean = {"sums": f"{b.pick(['sum', 'mean', 'max', 'min'])}"
                    f"({mu}[{low}:({end})])",
            "last": f"{mu}[{end}] - {mu}[{off}[{i.name}] + 1]",
            "nested": None}[style]
    if style == "nested":
        first = b.given(b.g.integers(1, n + 1, 5) * 1.0, "row")
        second = b.given(b.g.integers(1, 6, 6) * 1.0, "h")
        i = b.loop(1, 6)
        mean = f"{mu}[{first}[{second}[{i.name}]]]"
        b.feature("nested subscript")
    seen(b, y, i, mean)
    b.add(Thing(mu, "real", (n,)))


def conditions(b):
    """Means that a condition chooses, on data or on parameters; powers of what may
    be negative."""
    n = b.between(4, 9)
    y, i = b.name("y"), b.loop(1, n)
    b.feature("conditions")
    x, u, v = b.covariate([i]), b.of("real", [i]), b.of("real", [i])
    cut, three = b.of("real", []), b.given(b.g.integers(1, 4, n) * 1.0, "k")
    k = f"{three}[{i.name}]"
    mean = b.pick([
        f"ifelse({x} > {b.number(-0.5, 0.5)}, {u}, {v} * 2)",
        f"ifelse({x} > {cut}, {u}, {v} - 1)",
        f"equals({k}, 1) * {u} + equals({k}, 2) * {v} - equals({k}, 3)",
        f"{u} * step({x} - {cut}) + {v} * step({cut} - {x})",
        f"{u} + {v} * ({x} - {cut}) * step({x} - {cut})",
        f"({x} > {cut}) * {u} + ({x} <= {cut} || {u} > 1) * {v}",
        f"{u} + pow({x} - {cut}, 2) / 4",
        f"pow({u} - {v}, 3) / 9 + {cut}",
        f"{u} - ({x} - {v})^2 / 5",
        f"pow(-{u}, 2) / 3 - pow(-1, {k}) * {v}",
        f"ifelse({k} == 2, pow(-2, {k}), {u})",
        f"max({u}, {cut}) - min({v}, {x})",
        f"abs({u} - {cut}) * equals(step({u}), 1)"])
    seen(b, y, i, mean)


def order_statistics(b):
    """What stands where when a latent range is sorted."""
    u, n = latent_plate(b, 3, 5)
    y, b_seen = b.name("y"), b.loop(1, b.between(3, 6))
    part = b.pick([f"{u}[1:{n}]", f"{u}[]"])
    style = b.pick(["sort", "rank", "order", "summaries", "summaries"])
    b.feature("order statistics: " + style)
    s = b.name("s")
    if style == "summaries":
        terms = b.g.choice(["mean", "sd", "max", "min", "sum"], 2,
                           replace=False)
        mean = " + ".join(f"{f}({part})" for f in terms)
        if b.chance(0.5):
            b.write(f"{s} <- {mean}")
            mean = s
        if b.chance(0.3):
            mean = f"({b.covariate([b_seen])} - mean({part})) / (0.5 + sd({part}))"
        seen(b, y, b_seen, mean)
        return
    b.write(f"{s}[1:{n}] <- {style}({part})")
    k = b.between(1, n)
    group = b.given(b.g.integers(1, n + 1, b_seen.high) * 1.0, "g")
    at = f"{group}[{b_seen.name}]"
    seen(b, y, b_seen, {
        "sort": b.pick([f"{s}[{k}] + {b.covariate([b_seen])}", f"{s}[{at}]",
                        f"{s}[{n}] - {s}[1]"]),
        "rank": f"0.3 * {s}[{at}] + {u}[{at}]",
        "order": f"{u}[{s}[{k}]] + {b.covariate([b_seen])}"}[style])


def matrix_products(b):
    """Products of matrices whose cells are parameters."""
    n, k, m = b.between(2, 4), b.between(2, 3), b.between(2, 3)
    x = b.given(np.round(b.g.normal(size=(n, k)), 2), "X")
    beta, mu, y = b.name("B"), b.name("mu"), b.name("Y")
    i, j = two(b, k, m)
    nest(b, [i, j], f"{beta}[{i.name},{j.name}] ~ {real_prior(b, [i, j])}")
    b.feature("product of matrices")
    style = b.pick(["product", "crossproduct", "inprod", "twice"])
    if style == "product":
        b.write(f"{mu}[1:{n},1:{m}] <- {x}[,] %*% {beta}[,]")
    elif style == "crossproduct":
        b.write(f"{mu}[1:{n},1:{m}] <- {x}[,] %*% t(t({beta}[1:{k},1:{m}]))")
    elif style == "twice":
        z = b.given(np.round(b.g.normal(size=(m, m)) / 2, 2), "Z")
        b.write(f"{mu}[1:{n},1:{m}] <- {x}[,] %*% {beta}[,] %*% {z}[,]")
    else:
        r, c = two(b, n, m)
        nest(b, [r, c], f"{mu}[{r.name},{c.name}] <- inprod({x}[{r.name},], "
             f"{beta}[,{c.name}])")
    r, c = two(b, n, m)
    nest(b, [r, c], f"{y}[{r.name},{c.name}] ~ dnorm({mu}[{r.name},{c.name}], "
         f"{b.precision([])})")
    b.observed_always.add(y)
    b.add(Thing(beta, "real", (k, m)))
    b.add(Thing(mu, "real", (n, m)))


def declared(b):
    """`var` with the extents of some arrays, before all else."""
    arrays = sorted(n for n, v in b.world.values.items()
                    if n in b.world.places or n in b.world.computed)
    if not arrays:
        return ""
    some = [n for n in arrays if b.chance(0.6)] or arrays[:1]
    b.feature("var")
    return "var " + ", ".join(
        n + (f"[{','.join(map(str, b.world.values[n].shape))}]"
             if b.world.values[n].ndim else "") for n in some) + ";"
