"""Latent classes, and choices among categories."""

from filling import each, nest, two
from pool import Thing
from priors import positive_prior


def categories(b):
    """Latent classes."""
    n, k = b.between(4, 10), b.between(2, 4)
    name = b.name("z")
    i = b.loop(1, n)
    dist = "categorical" if b.modern else "dcat"
    each(b, i, f"{name}[{i.name}] ~ {dist}({b.simplex([i], k)})")
    b.add(Thing(name, "category", (n,), k))


def mixture(b):
    """Normals of which a latent class picks one."""
    n, k = b.between(5, 12), b.between(2, 3)
    z, mu = b.name("z"), b.name("mu")
    i = b.loop(1, n)
    weights, increments = b.simplex([], k), b.chance(0.3)
    if b.chance(0.7 if increments else 0.4):
        weights = b.name("p")
        b.write(f"{weights}[1:{k}] ~ ddirch({b.given([1.5, 1, 2][:k], 'a')}[])")
        weights += "[]"
    each(b, i, f"{z}[{i.name}] ~ dcat({weights})")
    for j in range(k):
        if j and increments:
            b.feature("means by increments")
            d = b.name("d")
            b.write(f"{d} ~ {b.pick(['dnorm(1, 0.5) T(0,)', 'dgamma(3, 1)'])}")
            b.write(f"{mu}[{j + 1}] <- {mu}[{j}] + {d}")
        else:
            b.write(f"{mu}[{j + 1}] ~ dnorm({3 * j - 2}, {b.number(1, 3)})")
    b.add(Thing(z, "category", (n,), k))
    b.add(Thing(mu, "real", (k,)))
    y = b.name("y")
    tau = b.precision([i]) if b.chance(0.5) else b.precision([])
    b.write(f"for ({i.name} in 1:{n}) {{ {y}[{i.name}] ~ "
            f"dnorm({mu}[{z}[{i.name}]], {tau}) }}")
    b.feature("latent subscript")
    if b.chance(0.85):
        b.observed_always.add(y)


def topics(b):
    """Rows of groups, each of a class by the proportions of its group: the
    words of documents and their topics."""
    n, m, k = b.between(2, 4), b.between(3, 6), b.between(2, 3)
    p, z, y = b.name("p"), b.name("z"), b.name("y")
    i, j = two(b, n, m)
    shared = b.chance(0.2)
    row = "" if shared else f"{i.name},"
    alpha = b.given([1.5, 1, 2][:k], "a")
    if shared:
        b.write(f"{p}[1:{k}] ~ ddirch({alpha}[])")
    else:
        each(b, i, f"{p}[{i.name},1:{k}] ~ ddirch({alpha}[])")
    text = f"{z}[{i.name},{j.name}] ~ dcat({p}[{row}{b.pick(['', f'1:{k}'])}])"
    at = f"{z}[{i.name},{j.name}]"
    kind = b.pick(["words", "normal", "counts"])
    if kind == "words":
        v = b.between(2, 4)
        phi, beta = b.name("phi"), b.given([1, 1.5, 2, 1][:v], "a")
        c = b.loop(1, k)
        each(b, c, f"{phi}[{c.name},1:{v}] ~ ddirch({beta}[])")
        seen = f"{y}[{i.name},{j.name}] ~ dcat({phi}[{at},])"
    else:
        mu = b.name("mu")
        columns = b.chance(0.4)
        first = columns and b.chance(0.5)
        for c in range(1, k + 1):
            prior = f"dnorm({3 * c}, 1)" if kind == "normal" else \
                f"dgamma({4 * c}, 2)"
            if columns:
                b.feature("classes by column")
                cell = f"{j.name},{c}" if first else f"{c},{j.name}"
                each(b, j, f"{mu}[{cell}] ~ {prior}")
            else:
                b.write(f"{mu}[{c}] ~ {prior}")
        cell = at if not columns else \
            f"{j.name},{at}" if first else f"{at},{j.name}"
        tau = f"{i.name}" if b.chance(0.3) else "2"
        seen = f"{y}[{i.name},{j.name}] ~ " + (
            f"dnorm({mu}[{cell}], {tau})" if kind == "normal"
            else f"dpois({mu}[{cell}])")
    if b.chance(0.5):
        ends = b.given([float(b.between(1, m)) for _ in range(n - 1)] + [m],
                       "last")
        b.feature("ragged")
        end = f"{ends}[{i.name}]"
    else:
        end = str(m)
    parts = [text + " " + seen] if b.chance(0.5) else [text, seen]
    for part in parts:
        each(b, i, f"for ({j.name} in 1:{end}) {{ {part} }}")
    b.feature("classes by group")
    b.feature("latent subscript")
    b.latent_always.add(z)
    if b.chance(0.8):
        b.observed_always.add(y)


def occupancy(b):
    """Sites that are occupied or not, and what is seen there."""
    n, m = b.between(4, 8), b.between(1, 3)
    z, y = b.name("z"), b.name("y")
    i, j = two(b, n, m)
    each(b, i, f"{z}[{i.name}] ~ dbern({b.probability([i])})")
    seen = b.pick([f"dbern({z}[{i.name}] * {b.of('probability', [i])})",
                   f"dpois({z}[{i.name}] * {b.of('positive', [i])} + 0.01)",
                   f"dnorm({z}[{i.name}] * {b.of('real', [i])}, "
                   f"{b.precision([i])})",
                   f"dbin({z}[{i.name}] * {b.of('probability', [j])}, 3)",
                   f"dbin({z}[{i.name}] * {b.of('probability', [j])} + "
                   f"(1 - {z}[{i.name}]) * {b.of('probability', [])}, 3)",
                   f"dpois({z}[{i.name}] * {b.of('positive', [j])} + "
                   f"(1 - {z}[{i.name}]) * {b.of('positive', [])})",
                   f"dnorm(0, equals({z}[{i.name}], 1) * "
                   f"{b.of('positive', [])} + equals({z}[{i.name}], 0) * "
                   f"{b.of('positive', [j])})"])
    nest(b, [i, j], f"{y}[{i.name},{j.name}] ~ {seen}")
    b.latent_always.add(z)
    if b.chance(0.85):
        b.observed_always.add(y)
    b.add(Thing(z, "real", (n,)))


def softmax(b):
    """Choices by logits, one of them 0."""
    n, k = b.between(4, 7), b.between(2, 4)
    e, y = b.name("e"), b.name("y")
    i, j = two(b, n, k)
    first = b.chance(0.6)
    if first:
        each(b, i, f"{e}[{i.name},1] <- 1")
    low = 2 if first else 1
    inner = type(j)(j.name, low, k)
    b.write(f"for ({i.name} in 1:{n}) {{ for ({j.name} in {low}:{k}) {{ "
            f"{e}[{i.name},{j.name}] <- exp({b.small([i, inner])}) }} }}")
    if b.chance(0.5):
        p = b.name("p")
        nest(b, [i, j], f"{p}[{i.name},{j.name}] <- {e}[{i.name},{j.name}] / "
             f"sum({e}[{i.name},1:{k}])")
        e = p
    each(b, i, f"{y}[{i.name}] ~ dcat({e}[{i.name},{b.pick(['', f'1:{k}'])}])")
    if b.chance(0.8):
        b.observed_always.add(y)


def ordered(b):
    """Cutpoints in order: sorted, by increments or their logarithms, as sums, or each
    above the last."""
    raw, cut, y = b.name("raw"), b.name("cut"), b.name("y")
    k, n = b.between(2, 3), b.between(5, 9)
    style = b.weighted([(3, "sort"), (2, "increments"), (1.5, "logs"),
                        (1.5, "sums"), (1.5, "chain")])
    b.feature("ordered: " + style)
    if style == "chain":
        first, i = f"{cut}[1] ~ dnorm(-0.5, 1)", b.loop(2, k)
        b.write(first)
        each(b, i, f"{cut}[{i.name}] ~ dnorm(0, 1) T({cut}[{i.name}-1],)")
    elif style == "logs":
        i = b.loop(2, k)
        b.write(f"{cut}[1] ~ dnorm(-0.5, 2)")
        each(b, i, f"{raw}[{i.name}] ~ dnorm(0, 1) {cut}[{i.name}] <- "
             f"{cut}[{i.name}-1] + exp({raw}[{i.name}])")
    elif style == "sums":
        i = b.loop(1, k)
        each(b, i, f"{raw}[{i.name}] ~ {positive_prior(b, [])}")
        low = b.number(-2, -1)
        each(b, i, f"{cut}[{i.name}] <- {low} + sum({raw}[1:{i.name}])")
    elif style == "sort":
        i = b.loop(1, k)
        each(b, i, f"{raw}[{i.name}] ~ dnorm(0, 1)")
        b.write(f"{cut}[1:{k}] <- sort({raw}[1:{k}])")
    else:
        b.write(f"{cut}[1] ~ dnorm(-0.5, 2)")
        for c in range(2, k + 1):
            b.write(f"{raw}[{c}] ~ dgamma(3, 3)")
            b.write(f"{cut}[{c}] <- {cut}[{c - 1}] + {raw}[{c}]")
    i = b.loop(1, n)
    mean = b.predictor([i])
    if b.chance(0.5):
        link = b.pick(["logit", "probit"])
        each(b, i, f"{y}[{i.name}] ~ dordered.{link}({mean}, {cut}[1:{k}])")
    else:
        mu, p = b.name("mu"), b.name("p")
        last = k + 1
        link = b.pick(["ilogit", "phi"])
        each(b, i, f"{mu}[{i.name}] <- {mean} {p}[{i.name},1] <- "
             f"{link}({cut}[1] - {mu}[{i.name}]) " + " ".join(
                 f"{p}[{i.name},{c}] <- {link}({cut}[{c}] - {mu}[{i.name}]) - "
                 f"{link}({cut}[{c - 1}] - {mu}[{i.name}])"
                 for c in range(2, last))
             + f" {p}[{i.name},{last}] <- 1 - {link}({cut}[{k}] - "
             f"{mu}[{i.name}]) {y}[{i.name}] ~ dcat({p}[{i.name},1:{last}])")
        b.feature("pieces by literal subscripts")
    b.observed_always.add(y)
    b.add(Thing(cut, "real", (k,)))


def classes_in_groups(b):
    """Levels of a class in a group, which data tell; the class is the second
    subscript."""
    n, groups = b.between(5, 8), b.between(2, 3)
    i = b.loop(1, n)
    z, m, y = b.name("z"), b.name("m"), b.name("y")
    each(b, i, f"{z}[{i.name}] ~ dbern({b.number(0.3, 0.7)})")
    b.write(f"for (g in 1:{groups}) {{ for (c in 1:2) {{ "
            f"{m}[g,c] ~ dnorm({b.number(-1, 1)}, {b.number(0.3, 1)}) }} }}")
    each(b, i, f"{y}[{i.name}] ~ dnorm({m}[{b.by_data(groups, i)}, "
         f"{z}[{i.name}] + 1], {b.number(1, 4)})")
    b.latent_always |= {z, m}
    b.observed_always.add(y)


def hidden_clusters(b):
    """What is measured with error comes of clusters, whose scale is their own: a
    block of all of it may move with the scales, on which the classes depend."""
    n, m = b.between(6, 10), b.between(1, 2)
    z, x, y = b.name("z"), b.name("x"), b.name("y")
    mu, tau, shift = b.name("mu"), b.name("tau"), b.name("b")
    i, j = two(b, n, m)
    each(b, i, f"{z}[{i.name}] ~ dcat({b.simplex([], 2)})")
    b.write(f"for (c in 1:2) {{ {mu}[c] ~ dnorm({b.number(-1, 1)}, 1)"
            f" {tau}[c] ~ dgamma({b.number(2, 4)}, 2) }}")
    scale = f"{tau}[{z}[{i.name}]]"
    each(b, i, f"{x}[{i.name}] ~ dnorm({mu}[{z}[{i.name}]], "
         + b.pick([scale, f"1 / {scale}^2"]) + ")")
    b.write(f"for (s in 1:{m}) {{ {shift}[s] ~ dnorm(0, {b.number(0.3, 1)}) }}")
    nest(b, [i, j], f"{y}[{i.name},{j.name}] ~ dnorm({x}[{i.name}] + "
         f"{shift}[{j.name}], {b.number(1, 4)})")
    b.latent_always |= {z, x, mu, tau, shift}
    b.observed_always.add(y)
