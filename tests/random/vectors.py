"""Vector nodes and matrices."""

import numpy as np

from filling import each, fill, nest, two
from pool import Thing
from priors import real_prior


def spd(b, k):
    a = b.g.normal(size=(k, k + 2))
    return np.round(a @ a.T / (k + 2) + np.eye(k) * 0.5, 2)


def mean_vector(b, k):
    """The text of a vector of k means."""
    old = [q for q in b.pool if q.kind == "vector" and q.dims == (k,)]
    if old and b.chance(0.5):
        return f"{b.pick(old).name}[]"
    if b.chance(0.4):
        return b.given(np.round(b.g.normal(size=k), 1), "m") + "[]"
    name = b.name("m")
    fill(b, name, k, lambda c: real_prior(b, c), "real")
    b.add(Thing(name, "real", (k,)))
    return f"{name}[1:{k}]"


def precision_matrix(b, k):
    old = [q for q in b.pool if q.kind == "matrix" and q.dims == (k, k)]
    if old and b.chance(0.5):
        return f"{b.pick(old).name}[,]"
    style = b.weighted([(2, "given"), (3, "wishart"), (1.5, "diagonal"),
                        (1, "inverse")])
    if style == "given":
        return b.given(spd(b, k), "Q") + "[,]"
    name = b.name("Omega")
    if style == "wishart":
        r = b.given(spd(b, k) * 2, "R")
        b.write(f"{name}[1:{k},1:{k}] ~ dwish({r}[,], {k + b.between(2, 4)})")
        b.feature("matrix node")
    elif style == "inverse":
        s = b.given(spd(b, k), "S")
        b.write(f"{name}[1:{k},1:{k}] <- inverse({s}[,])")
    else:
        b.feature("matrix cell by cell")
        i, j = two(b, k, k)
        tau = b.of("positive", [])
        b.write(f"for ({i.name} in 1:{k}) {{ for ({j.name} in 1:{k}) {{ "
                f"{name}[{i.name},{j.name}] <- equals({i.name}, {j.name}) * "
                f"{tau} + 0.2 }} }}")
    b.add(Thing(name, "matrix", (k, k)))
    return f"{name}[,]" if b.chance(0.5) else f"{name}[1:{k},1:{k}]"


def normal_vector(b, k=0):
    """A vector with a multivariate normal distribution, or a plate of them."""
    k = k or b.between(2, 3)
    name = b.name("B")
    style = b.weighted([(2, "one"), (3, "plate"), (2, "chain"),
                        (1, "columns")])
    mean, tau = mean_vector(b, k), precision_matrix(b, k)
    dist = b.weighted([(6, "dmnorm({}, {})"), (1, "dmt({}, {}, 6)")])
    b.feature("vector node")
    if style == "one":
        b.write(f"{name}[1:{k}] ~ " + dist.format(mean, tau))
        thing = Thing(name, "vector", (k,))
    elif style == "columns":
        n = b.between(2, 4)
        j = b.loop(1, n)
        each(b, j, f"{name}[1:{k},{j.name}] ~ " + dist.format(mean, tau))
        thing = Thing(name, "real", (k, n))
        b.feature("vectors in columns")
    else:
        n = b.between(2, 5)
        i = b.loop(1, n)
        if style == "chain":
            b.feature("chain of vectors", "recursion")
            b.write(f"{name}[1,1:{k}] ~ " + dist.format(mean, tau))
            scale = b.pick(["", "0.7 * "])
            before = f"{name}[{i.name}-1,{b.pick(['', f'1:{k}'])}]"
            if scale:
                m2 = b.name("mean.B")
                b.write(f"for ({i.name} in 2:{n}) {{ "
                        + " ".join(f"{m2}[{i.name},{c}] <- 0.7 * "
                                   f"{name}[{i.name}-1,{c}]"
                                   for c in range(1, k + 1))
                        + f" {name}[{i.name},1:{k}] ~ " + dist.format(
                            f"{m2}[{i.name},1:{k}]", tau) + " }")
            else:
                b.write(f"for ({i.name} in 2:{n}) {{ "
                        f"{name}[{i.name},1:{k}] ~ "
                        + dist.format(before, tau) + " }")
        else:
            each(b, i, f"{name}[{i.name},1:{k}] ~ " + dist.format(mean, tau))
        thing = Thing(name, "vector", (n, k))
    if dist.startswith("dmnorm"):
        b.may_miss.add(name)
    b.add(thing)


def vector_data(b):
    """Observed vectors."""
    k, n = b.between(2, 3), b.between(3, 6)
    y = b.name("Y")
    i = b.loop(1, n)
    style = b.weighted([(3, "normal"), (2, "multinomial"), (1, "t")])
    if style == "multinomial":
        k = b.between(2, 4)
        if b.chance(0.4):
            p = b.simplex([i], k)
        else:
            q = b.name("q")
            j = b.loop(1, k)
            while j.name == i.name:
                j = b.loop(1, k)
            b.write(f"for ({i.name} in 1:{n}) {{ for ({j.name} in 1:{k}) {{ "
                    f"{q}[{i.name},{j.name}] <- exp({b.small([i, j])}) }} }}")
            p = f"{q}[{i.name},]"
            if b.chance(0.6):
                w = b.name("prob")
                b.write(f"for ({i.name} in 1:{n}) {{ for ({j.name} in 1:{k}) "
                        f"{{ {w}[{i.name},{j.name}] <- {q}[{i.name},"
                        f"{j.name}] / sum({q}[{i.name},]) }} }}")
                p = f"{w}[{i.name},1:{k}]"
        m = b.given(b.g.integers(3, 12, n), "n")
        each(b, i, f"{y}[{i.name},1:{k}] ~ dmulti({p}, {m}[{i.name}])")
    else:
        tau = precision_matrix(b, k)
        if b.chance(0.5):
            mean = mean_vector(b, k)
        else:
            mu = b.name("mu")
            j = b.loop(1, k)
            while j.name == i.name:
                j = b.loop(1, k)
            b.write(f"for ({i.name} in 1:{n}) {{ for ({j.name} in 1:{k}) {{ "
                    f"{mu}[{i.name},{j.name}] <- {b.predictor([i, j])} }} }}")
            mean = f"{mu}[{i.name},]"
        tail = "dmnorm({}, {})" if style == "normal" else "dmt({}, {}, 5)"
        each(b, i, f"{y}[{i.name},1:{k}] ~ " + tail.format(mean, tau))
        if style == "normal":
            b.may_miss.add(y)
    b.feature("vector node")
    if b.chance(0.9) and y not in b.may_miss:
        b.observed_always.add(y)


def covariance_by_cells(b):
    """A 2 x 2 covariance matrix from standard deviations and a
    correlation."""
    s, omega, rho = b.name("Sigma"), b.name("Omega"), b.name("rho")
    one, two_ = b.of("positive", []), b.of("positive", [])
    b.write(f"{rho} ~ dunif(-0.8, 0.8)")
    b.write(f"{s}[1,1] <- {one} * {one} + 0.1")
    b.write(f"{s}[2,2] <- pow({two_}, 2) + 0.1")
    b.write(f"{s}[1,2] <- {rho} * {one} * {two_}")
    b.write(f"{s}[2,1] <- {s}[1,2]")
    b.write(f"{omega}[1:2,1:2] <- inverse({s}[,])")
    b.feature("pieces by literal subscripts")
    b.add(Thing(omega, "matrix", (2, 2)))
    if b.chance(0.7):
        normal_vector(b, 2)


def spatial(b):
    """A normal vector whose precision is that of neighbours in a row."""
    n = b.between(3, 6)
    w, q, phi = np.zeros((n, n)), b.name("Q"), b.name("phi")
    for k in range(n - 1):
        w[k, k + 1] = w[k + 1, k] = 1
    adjacent, tau = b.given(w, "W"), b.of("positive", [])
    r = b.pick(["0.9", b.of("probability", [])])
    i, j = two(b, n, n)
    nest(b, [i, j], f"{q}[{i.name},{j.name}] <- {tau} * (equals({i.name}, "
         f"{j.name}) * 2.1 - {r} * {adjacent}[{i.name},{j.name}])")
    zero = b.given(np.zeros(n), "zero")
    b.write(f"{phi}[1:{n}] ~ dmnorm({zero}[], {q}[,])")
    b.add(Thing(phi, "real", (n,)))
    b.may_miss.add(phi)
    b.feature("vector node", "matrix cell by cell")
