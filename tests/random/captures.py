"""Who is there, of whom not all are seen: capture histories with rows of nobody,
sums of counts, classes of classes."""

import numpy as np

from filling import each, fill, nest, two
from pool import Index, Thing
from priors import real_prior


def captured(b):
    """Histories of animals, of which rows of zeros may be none."""
    m, times = b.between(4, 8), b.between(2, 4)
    w, y, n = b.name("w"), b.name("y"), b.name("N")
    i, t = two(b, m, times)
    psi, style = b.of("probability", []), b.pick(["closed", "counts", "open",
                                                  "entry"])
    b.feature("captured: " + style)
    p = b.pick([b.of("probability", []), b.of("probability", [t]),
                b.probability([i])]) if style != "counts" else \
        b.pick([b.of("probability", []), b.probability([i])])
    if style in ("closed", "counts"):
        each(b, i, f"{w}[{i.name}] ~ dbern({psi})")
        alive, there = f"{w}[{i.name}]", f"{w}[]"
    else:
        later = Index(t.name, 2, times)
        before = f"{w}[{i.name},{t.name}-1]"
        stays = f"{b.of('probability', [])} * {before}"
        if style == "entry":
            stays += f" + {b.number(0.1, 0.5)} * " + b.pick([
                f"(1 - max({w}[{i.name},1:({t.name}-1)]))",
                f"prod(1 - {w}[{i.name},1:({t.name}-1)])"])
        b.write(f"for ({i.name} in 1:{m}) {{ {w}[{i.name},1] ~ dbern({psi}) "
                f"for ({t.name} in 2:{later.high}) {{ {w}[{i.name},{t.name}] ~ "
                f"dbern({stays}) }} }}")
        alive, there = f"{w}[{i.name},{t.name}]", f"{w}[,{b.between(1, times)}]"
        b.feature("recursion")
    if style == "counts":
        each(b, i, f"{y}[{i.name}] ~ dbin({alive} * {p}, {times})")
    else:
        nest(b, [i, t], f"{y}[{i.name},{t.name}] ~ dbern({alive} * {p})")
    b.latent_always.add(w)
    b.observed_always.add(y)
    if style in ("closed", "counts") and b.chance(0.6):
        seen = np.nansum(b.world.values[y].reshape(m, -1), 1) > 0
        b.fixed_cells[w] = [(k,) for k in range(m) if seen[k]]
    if b.chance(0.6):
        b.write(f"{n} <- sum({there})")
        if b.chance(0.5):
            total = b.name("total")
            b.write(f"{total} ~ " + b.pick([
                f"dpois({n} + 0.5)", f"dnorm({n}, {b.precision([])})",
                f"dnorm({n} * {b.of('real', [])}, 1)"]))
            b.observed_always.add(total)


def latent_totals(b):
    """Sums of counts that nobody saw."""
    n, k = b.between(2, 3), b.between(2, 3)
    count, y = b.name("N"), b.name("y")
    i, j = two(b, n, k)
    law = b.pick([f"dpois({b.positive([i])})", f"dpois(exp({b.small([j])}) * 2)",
                  f"dbin({b.of('probability', [])}, {b.between(3, 6)})",
                  f"dnegbin(0.4, {b.between(1, 3)})"])
    nest(b, [i, j], f"{count}[{i.name},{j.name}] ~ {law}")
    rows = f"{count}[{i.name},{b.pick(['', f'1:{k}'])}]"
    total = f"sum({rows})"
    if b.chance(0.4):
        name = b.name("total")
        each(b, i, f"{name}[{i.name}] <- {total}")
        total = f"{name}[{i.name}]"
    each(b, i, f"{y}[{i.name}] ~ " + b.pick([
        f"dbin({b.probability([])}, {total})",
        f"dpois({b.number(0.3, 1)} * {total} + 0.1)",
        f"dnorm({total}, {b.precision([])})",
        f"dnorm({total} * {b.of('real', [])}, {b.precision([])})"]))
    if b.chance(0.5):
        z, h = b.name("z"), Index(j.name, 1, k)
        each(b, h, f"{z}[{h.name}] ~ " + b.pick([
            f"dbin({b.of('probability', [])}, sum({count}[,{h.name}]))",
            f"dpois(mean({count}[1:{n},{h.name}]) + 0.2)",
            f"dbin(0.6, {count}[1,{h.name}] + {count}[{n},{h.name}])"]))
        b.observed_always.add(z)
    b.latent_always.add(count)
    b.observed_always.add(y)


def classes_of(b):
    """Classes that say which class, or which class of a class, a row is of."""
    k, m, n = b.between(2, 3), b.between(2, 3), b.between(4, 7)
    z, z2, mu, y = (b.name(h) for h in ("z", "z2", "mu", "y"))
    j, i = two(b, m, n)
    each(b, j, f"{z}[{j.name}] ~ dcat({b.simplex([], k)})")
    each(b, i, f"{z2}[{i.name}] ~ dcat({b.simplex([], m)})")
    levels = k + 1
    fill(b, mu, levels, lambda c: real_prior(b, c))
    table, (r, c) = b.name("B"), two(b, k, m)
    nest(b, [r, c], f"{table}[{r.name},{c.name}] ~ {real_prior(b, [])}")
    kind = b.given(b.g.integers(1, levels + 1, k) * 1.0, "kind")
    of = b.given(b.g.integers(1, m + 1, n) * 1.0, "of")
    here = f"{z2}[{i.name}]"
    mean = b.pick([
        f"{mu}[{z}[{here}]]", f"{mu}[{z}[{here}] + 1]",
        f"{mu}[{kind}[{z}[{here}]]]", f"{mu}[{kind}[{z}[{of}[{i.name}]]]]",
        f"{table}[{z}[{here}],{here}]", f"{table}[{z}[{of}[{i.name}]],{here}]",
        f"{mu}[{levels + 1} - {z}[{here}]] * {b.covariate([i])}"])
    each(b, i, f"{y}[{i.name}] ~ " + b.pick([
        f"dnorm({mean}, {b.precision([])})", f"dpois(exp(0.5 * {mean}))",
        f"dbern(ilogit({mean}))"]))
    b.latent_always.update((z, z2, mu, table))
    b.observed_always.add(y)
    b.feature("latent subscript")
    b.add(Thing(z, "category", (m,), k))
