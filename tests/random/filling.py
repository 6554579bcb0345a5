"""Arrays and tables, filled in many ways: statements for name[1:n] or
name[1:n,1:m], of which `dist` gives the distributions."""

import math

import numpy as np


def fill(b, name, n, dist, kind="real", context=(), before=""):
    """Statements that fill name[1:n]; dist(context) is a distribution for the
    elements of a loop (or of none)."""
    style = b.weighted([(8, plain), (1, first_apart), (1, last_apart),
                        (1.2, pieces),
                        (0.8 if kind != "count" else 0, computed_piece),
                        (0.8, by_data_index), (0.8, reversed_loop),
                        (0.8, shifted), (0.8, interleaved),
                        (0.6 if kind != "count" else 0, partly_given),
                        (0.6 if kind == "real" else 0, sums_to_zero)])
    if n < 3:
        style = plain
    if style is not plain:
        b.feature("filled: " + style.__name__.replace("_", " "))
    style(b, name, n, dist, kind)


def each(b, i, text, end=None):
    end = end or (b.size(i.high) if i.low == 1 else str(i.high))
    b.write(f"for ({i.name} in {i.low}:{end}) {{ {text} }}")


def plain(b, name, n, dist, kind):
    i = b.loop(1, n)
    each(b, i, f"{name}[{i.name}] ~ {dist([i])}")


def first_apart(b, name, n, dist, kind):
    b.write(f"{name}[1] ~ {dist([])}")
    i = b.loop(2, n)
    each(b, i, f"{name}[{i.name}] ~ {dist([i])}")


def last_apart(b, name, n, dist, kind):
    i = b.loop(1, n - 1)
    each(b, i, f"{name}[{i.name}] ~ {dist([i])}", f"({n} - 1)")
    b.write(f"{name}[{n}] ~ {dist([])}")


def pieces(b, name, n, dist, kind):
    cut = b.between(1, n - 1)
    for k in range(1, cut + 1):
        b.write(f"{name}[{k}] ~ {dist([])}")
        if k >= 3:
            cut = k
            break
    if cut < n:
        i = b.loop(cut + 1, n)
        each(b, i, f"{name}[{i.name}] ~ {dist([i])}")


def computed_piece(b, name, n, dist, kind):
    """Some elements computed, the others random."""
    e = {"real": lambda: b.real([]), "positive": lambda: b.positive([]),
         "probability": lambda: b.probability([])}[kind]
    at = b.pick([1, n])
    b.write(f"{name}[{at}] <- "
            f"{'0' if kind == 'real' and b.chance(0.4) else e()}")
    i = b.loop(2, n) if at == 1 else b.loop(1, n - 1)
    each(b, i, f"{name}[{i.name}] ~ {dist([i])}", str(i.high))


def by_data_index(b, name, n, dist, kind):
    order = b.given(b.g.permutation(n) + 1.0, "row")
    i = b.loop(1, n)
    cut = b.between(1, n)
    inside = type(i)(i.name, 1, n)
    each(b, type(i)(i.name, 1, cut),
         f"{name}[{order}[{i.name}]] ~ {dist([inside])}", str(cut))
    if cut < n:
        each(b, type(i)(i.name, cut + 1, n),
             f"{name}[{order}[{i.name}]] ~ {dist([inside])}", str(n))


def reversed_loop(b, name, n, dist, kind):
    i = b.loop(1, n)
    b.feature("affine subscript")
    end = b.size(n)
    each(b, i, f"{name}[{end} - {i.name} + 1] ~ {dist([i])}", end)


def shifted(b, name, n, dist, kind):
    k = b.pick([1, 2])
    i = b.loop(1 + k, n + k)
    b.feature("affine subscript")
    each(b, i, f"{name}[{i.name} - {k}] ~ {dist([i])}", str(n + k))


def interleaved(b, name, n, dist, kind):
    i = b.loop(1, (n + 1) // 2)
    j = b.loop(1, n // 2)
    b.feature("affine subscript")
    each(b, i, f"{name}[2 * {i.name} - 1] ~ {dist([i])}", str(i.high))
    each(b, j, f"{name}[2 * {j.name}] ~ {dist([j])}", str(j.high))


def partly_given(b, name, n, dist, kind):
    """Some cells are data without a statement."""
    chosen = sorted(int(k) for k in b.g.choice(n, b.between(1, n - 1),
                                               replace=False))
    fixed = [k for k in range(n) if k not in chosen]
    draw = {"real": lambda: b.g.normal(), "positive": lambda:
            b.g.uniform(0.5, 2), "probability": lambda: b.g.uniform(0.2, 0.8)}
    start = np.full(n, math.nan)
    for k in fixed:
        start[k] = round(float(draw[kind]()), 2)
    b.world.values[name] = start
    row = b.given(np.array(chosen) + 1.0, "row")
    i = b.loop(1, len(chosen))
    each(b, i, f"{name}[{row}[{i.name}]] ~ {dist([i])}", str(i.high))
    b.fixed_cells[name] = [(k,) for k in fixed]


def sums_to_zero(b, name, n, dist, kind):
    i = b.loop(1, n - 1)
    each(b, i, f"{name}[{i.name}] ~ {dist([i])}", f"({n} - 1)")
    b.write(f"{name}[{n}] <- -sum({name}[1:({n} - 1)])")


def nest(b, loops, text):
    for i in reversed(loops):
        end = b.size(i.high) if i.low == 1 else str(i.high)
        text = f"for ({i.name} in {i.low}:{end}) {{ {text} }}"
    b.write(text)


def two(b, n, m):
    i = b.loop(1, n)
    while True:
        j = b.loop(1, m)
        if j.name != i.name:
            return i, j


def table_plain(b, name, n, m, dist, kind):
    i, j = two(b, n, m)
    nest(b, b.pick([[i, j], [j, i]]),
         f"{name}[{i.name},{j.name}] ~ {dist([i, j])}")


def table_diagonal(b, name, n, m, dist, kind):
    i, j = two(b, n, n)
    if b.chance(0.3):
        each(b, i, f"{name}[{i.name},{i.name}] <- "
             + {"real": "1", "positive": "1.5", "probability": "0.5"}[kind])
    else:
        each(b, i, f"{name}[{i.name},{i.name}] ~ {dist([i])}")
    inner = [type(i)(i.name, 1, n), type(i)(j.name, 1, n)]
    text = f"{name}[{i.name},{j.name}] ~ {dist(inner)}"
    b.write(f"for ({i.name} in 2:{n}) {{ for ({j.name} in 1:({i.name}-1)) "
            f"{{ {text} }} }}")
    text = f"{name}[{i.name},{j.name}] ~ {dist(inner)}"
    b.write(f"for ({i.name} in 1:({n}-1)) {{ for ({j.name} in ({i.name}+1):"
            f"{n}) {{ {text} }} }}")


def table_triangles(b, name, n, m, dist, kind):
    """The upper triangle is that of the lower."""
    i, j = two(b, n, n)
    inner = [type(i)(i.name, 1, n), type(i)(j.name, 1, n)]
    b.write(f"for ({i.name} in 1:{n}) {{ for ({j.name} in 1:{i.name}) {{ "
            f"{name}[{i.name},{j.name}] ~ {dist(inner)} }} }}")
    sign = "-" if kind == "real" and b.chance(0.5) else ""
    b.write(f"for ({i.name} in 1:({n}-1)) {{ for ({j.name} in ({i.name}+1):"
            f"{n}) {{ {name}[{i.name},{j.name}] <- "
            f"{sign}{name}[{j.name},{i.name}] }} }}")


def table_columns(b, name, n, m, dist, kind):
    i = b.loop(1, n)
    text = " ".join(f"{name}[{i.name},{k}] ~ {dist([i])}"
                    for k in range(1, m + 1))
    each(b, i, text)


def table_rows(b, name, n, m, dist, kind):
    j = b.loop(1, m)
    if b.chance(0.5):
        b.write(f"for ({j.name} in 1:{m}) {{ {name}[1,{j.name}] ~ "
                f"{dist([j])} }}")
    else:
        b.write(f"for ({j.name} in 1:{m}) {{ {name}[1,{j.name}] <- "
                + {"real": "0", "positive": "1",
                   "probability": "0.5"}[kind] + " }")
    i, j = two(b, n, m)
    step = kind == "real" and b.chance(0.6)
    mean = f"{name}[{i.name}-1,{j.name}]"
    text = f"dnorm({mean}, {b.precision([])})" if step else dist([i, j])
    if step:
        b.feature("recursion")
    b.write(f"for ({i.name} in 2:{n}) {{ for ({j.name} in 1:{m}) {{ "
            f"{name}[{i.name},{j.name}] ~ {text} }} }}")


def table_cells(b, name, n, m, dist, kind):
    """Cells named by data, the others observed."""
    cells = [(i, j) for i in range(n) for j in range(m)]
    chosen = [cells[int(k)] for k in
              sorted(b.g.choice(len(cells), b.between(2, len(cells) - 1),
                                replace=False))]
    draw = {"real": lambda: b.g.normal(), "positive": lambda:
            b.g.uniform(0.5, 2), "probability": lambda: b.g.uniform(0.2, 0.8)}
    start = np.full((n, m), math.nan)
    fixed = [c for c in cells if c not in chosen]
    for c in fixed:
        start[c] = round(float(draw[kind]()), 2)
    b.world.values[name] = start
    row = b.given([c[0] + 1.0 for c in chosen], "row")
    col = b.given([c[1] + 1.0 for c in chosen], "col")
    k = b.loop(1, len(chosen))
    each(b, k, f"{name}[{row}[{k.name}],{col}[{k.name}]] ~ {dist([k])}",
         str(k.high))
    b.fixed_cells[name] = fixed


def table_corner(b, name, n, m, dist, kind):
    """The first row and column are constants."""
    c = {"real": "0", "positive": "1", "probability": "0.5"}[kind]
    i, j = two(b, n, m)
    b.write(f"for ({i.name} in 1:{n}) {{ {name}[{i.name},1] <- {c} }}")
    b.write(f"for ({j.name} in 2:{m}) {{ {name}[1,{j.name}] <- {c} }}")
    inner = [type(i)(i.name, 2, n), type(i)(j.name, 2, m)]
    b.write(f"for ({i.name} in 2:{n}) {{ for ({j.name} in 2:{m}) {{ "
            f"{name}[{i.name},{j.name}] ~ {dist(inner)} }} }}")


def table_flat(b, name, n, m, dist, kind):
    """A matrix computed from a vector by offsets."""
    flat = b.name("flat")
    fill(b, flat, n * m, dist, kind)
    i, j = two(b, n, m)
    nest(b, [i, j], f"{name}[{i.name},{j.name}] <- "
         f"{flat}[({i.name} - 1) * {m} + {j.name}]")
