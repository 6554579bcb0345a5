"""Vector nodes and matrices."""

import numpy as np

from filling import each, fill, nest, two
from pool import Thing
from priors import positive_prior, real_prior


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
        scale = b.pick(["", "", f"{b.of('positive', [])} * "])
        return f"{scale}{b.pick(old).name}[,]"
    style = b.weighted([(2, "given"), (3, "wishart"), (1.5, "diagonal"),
                        (1, "inverse"), (1, "scaled")])
    if style == "given":
        return b.given(spd(b, k), "Q") + "[,]"
    name = b.name("Omega")
    if style == "wishart":
        r = b.given(spd(b, k) * 2, "R")
        b.write(f"{name}[1:{k},1:{k}] ~ dwish({r}[,], {k + b.between(2, 4)})")
        b.feature("matrix node")
    elif style == "scaled":
        s = b.given(np.round(b.g.uniform(0.5, 2, k), 1), "S")
        b.write(f"{name}[1:{k},1:{k}] ~ dscaled.wishart({s}[], "
                f"{b.between(2, 4)})")
        b.feature("matrix node")
    elif style == "inverse":
        if b.bugs_only or b.chance(0.4):
            s = b.given(spd(b, k), "S") + "[,]"
        else:
            s = covariance_matrix(b, k)
            b.beyond_jags = True
        b.write(f"{name}[1:{k},1:{k}] <- inverse({s})")
    else:
        b.feature("matrix cell by cell")
        i, j = two(b, k, k)
        tau = b.of("positive", [])
        b.write(f"for ({i.name} in 1:{k}) {{ for ({j.name} in 1:{k}) {{ "
                f"{name}[{i.name},{j.name}] <- equals({i.name}, {j.name}) * "
                f"{tau} + 0.2 }} }}")
    b.add(Thing(name, "matrix", (k, k)))
    return f"{name}[,]" if b.chance(0.5) else f"{name}[1:{k},1:{k}]"


def covariance_matrix(b, k):
    old = [q for q in b.pool if q.kind == "covariance" and q.dims == (k, k)]
    if old and b.chance(0.6):
        scale = b.pick(["", "", f" / {b.of('positive', [])}"])
        return f"{b.pick(old).name}[,]{scale}"
    style = b.weighted([(1, "given"), (2, "inverse Wishart"), (2, "LKJ")])
    name = b.name("Sigma")
    if style == "given":
        return b.given(spd(b, k), "S") + "[,]"
    if style == "inverse Wishart":
        s = b.given(spd(b, k), "S")
        b.write(f"{name}[1:{k},1:{k}] ~ dinvwish({s}[,], "
                f"{k + b.between(4, 6)})")
        b.feature("matrix node")
        b.add(Thing(name, "covariance", (k, k)))
        return f"{name}[,]"
    b.feature("matrix node", "matrix cell by cell")
    u, s = b.name("U"), b.name("s")
    b.write(f"{u}[1:{k},1:{k}] ~ dlkj_corr_cholesky({b.number(1, 3)}, {k})")
    fill(b, s, k, lambda c: positive_prior(b, c), "positive")
    b.add(Thing(s, "positive", (k,)))
    i, j = two(b, k, k)
    nest(b, [i, j], f"{name}[{i.name},{j.name}] <- {s}[{i.name}] * "
         f"{s}[{j.name}] * inprod({u}[,{i.name}], {u}[,{j.name}])")
    return f"{name}[,]"


def normal_tail(b, k, df):
    """A distribution of k numbers with a place for the mean."""
    if not b.bugs_only and b.chance(0.3):
        b.beyond_jags = True
        b.feature("covariance matrix")
        s = covariance_matrix(b, k)
        tails = [(4, f"dmnorm.vcov({{}}, {s})")]
        if b.modern:
            tails += [(4, f"multi_normal({{}}, {s})"),
                      (2, f"multi_student_t({df}, {{}}, {s})")]
        return b.weighted(tails)
    q = precision_matrix(b, k)
    tails = [(6, f"dmnorm({{}}, {q})"), (1.5, f"dmt({{}}, {q}, {df})")]
    if b.modern:
        tails.append((2, f"multi_normal_precision({{}}, {q})"))
    return b.weighted(tails)


def may_miss(b, name, tail):
    if "dmt(" not in tail and "student" not in tail:
        b.may_miss.add(name)


def small_groups(b):
    """Two effects in each of many groups, with a few counts in each: what an
    update does to one of them, if only a little, it does to all."""
    name, y = b.name("B"), b.name("y")
    i, t = two(b, b.between(7, 12), b.between(2, 4))
    q, mean = b.given(spd(b, 2) * 2, "Q"), mean_vector(b, 2)
    x = b.given(np.round(b.g.normal(size=t.high) * 0.6, 2), "x")
    each(b, i, f"{name}[{i.name},1:2] ~ dmnorm({mean}, {q}[,])")
    nest(b, [i, t], f"{y}[{i.name},{t.name}] ~ dpois(exp({name}[{i.name},1] + "
         f"{name}[{i.name},2] * {x}[{t.name}]))")
    b.latent_always.add(name)
    b.observed_always.add(y)
    b.asked[name] = b.pick(["", "ess", "ess", "pcn"])


def grouped_vectors(b):
    """Rows of a few numbers in groups, of which cells are missing; the groups' means
    are vectors, too."""
    k, groups, n = b.between(2, 3), b.between(2, 3), b.between(4, 6)
    mu, y, i = b.name("mu"), b.name("Y"), b.loop(1, n)
    g, tail = b.loop(1, groups), normal_tail(b, k, 5)
    each(b, g, f"{mu}[{g.name},1:{k}] ~ "
         + normal_tail(b, k, 6).format(mean_vector(b, k)))
    row = f"{mu}[{b.by_data(groups, i)},{b.pick(['', f'1:{k}'])}]"
    each(b, i, f"{y}[{i.name},1:{k}] ~ " + tail.format(row))
    may_miss(b, y, tail)
    b.latent_always.add(mu)
    if y not in b.may_miss:
        b.observed_always.add(y)
    else:
        b.fixed_cells[y] = [(r, c) for r in range(n) for c in range(k)
                            if b.chance(0.7)]
        b.latent_always.add(y)
        b.feature("missing values")
    b.feature("vector node", "data subscript")
    b.add(Thing(mu, "vector", (groups, k)))


def normal_vector(b, k=0):
    """A vector with a multivariate normal distribution, or a plate of them."""
    k = k or b.between(2, 3)
    name = b.name("B")
    style = b.weighted([(2, "one"), (3, "plate"), (2, "chain"),
                        (1, "columns")])
    mean, dist = mean_vector(b, k), normal_tail(b, k, 6)
    b.feature("vector node")
    if style == "one":
        b.write(f"{name}[1:{k}] ~ " + dist.format(mean))
        thing = Thing(name, "vector", (k,))
    elif style == "columns":
        n = b.between(2, 4)
        j = b.loop(1, n)
        each(b, j, f"{name}[1:{k},{j.name}] ~ " + dist.format(mean))
        thing = Thing(name, "real", (k, n))
        b.feature("vectors in columns")
    else:
        n = b.between(2, 5)
        i = b.loop(1, n)
        if style == "chain":
            b.feature("chain of vectors", "recursion")
            b.write(f"{name}[1,1:{k}] ~ " + dist.format(mean))
            scale = b.pick(["", "0.7 * "])
            before = f"{name}[{i.name}-1,{b.pick(['', f'1:{k}'])}]"
            if scale:
                m2 = b.name("mean.B")
                b.write(f"for ({i.name} in 2:{n}) {{ "
                        + " ".join(f"{m2}[{i.name},{c}] <- 0.7 * "
                                   f"{name}[{i.name}-1,{c}]"
                                   for c in range(1, k + 1))
                        + f" {name}[{i.name},1:{k}] ~ " + dist.format(
                            f"{m2}[{i.name},1:{k}]") + " }")
            else:
                b.write(f"for ({i.name} in 2:{n}) {{ "
                        f"{name}[{i.name},1:{k}] ~ "
                        + dist.format(before) + " }")
        else:
            each(b, i, f"{name}[{i.name},1:{k}] ~ " + dist.format(mean))
        thing = Thing(name, "vector", (n, k))
    may_miss(b, name, dist)
    b.add(thing)


def vector_data(b):
    """Observed vectors."""
    k, n = b.between(2, 3), b.between(3, 6)
    y = b.name("Y")
    i = b.loop(1, n)
    style = b.weighted([(4, "normal"), (2, "multinomial")])
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
        tail = normal_tail(b, k, 5)
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
        each(b, i, f"{y}[{i.name},1:{k}] ~ " + tail.format(mean))
        may_miss(b, y, tail)
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


def intrinsic(b):
    """Areas whose effects are known up to a level, which data tell."""
    n = b.between(4, 8)
    near = [{i - 1, i + 1} & set(range(n)) for i in range(n)]
    if b.chance(0.5):
        near[0].add(n - 1)
        near[n - 1].add(0)
    adj = b.given([j + 1.0 for i in range(n) for j in sorted(near[i])], "adj")
    num = b.given([float(len(s)) for s in near], "num")
    weights = b.given(np.ones(int(sum(map(len, near)))), "weights")
    phi, tau = b.name("phi"), b.of("positive", [])
    b.write(f"{phi}[1:{n}] ~ dcar_normal({adj}[], {weights}[], {num}[], {tau})")
    y, i = b.name("y"), b.loop(1, n)
    family = b.pick(["dnorm({}, {})", "dt({}, {}, 5)", "dlogis({}, {})"])
    each(b, i, f"{y}[{i.name}] ~ " + family.format(
        f"{phi}[{i.name}]" + (f" + {b.term([i])}" if b.chance(0.7) else ""),
        b.precision([])))
    b.add(Thing(phi, "real", (n,)))
    b.latent_always.add(phi)
    b.observed_always.add(y)
    b.beyond_jags = True
    b.feature("vector node", "intrinsic autoregression")


def spatial(b):
    """A normal vector whose precision is that of neighbours in a row."""
    if not b.bugs_only and b.chance(0.5):
        intrinsic(b)
        return
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
