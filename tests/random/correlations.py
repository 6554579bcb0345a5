"""Effects that are correlated: an LKJ prior in each of its spellings, scales, and
vectors with that covariance or with its factor."""

import numpy as np

from filling import each, fill, nest, two
from pool import Index, Thing
from priors import positive_prior
from vectors import mean_vector


def prior_of(b, k, style):
    """The name of the matrix that has the prior."""
    name = b.name({"upper": "U", "lower": "L", "matrix": "R"}[style])
    eta = b.number(1, 3)
    b.write(f"{name}[1:{k},1:{k}] ~ " + {
        "upper": f"dlkj_corr_cholesky({eta}, {k})",
        "lower": f"lkj_corr_cholesky({eta})",
        "matrix": b.pick([f"lkj_corr({eta})", f"dlkj_corr({eta})"])}[style])
    return name


def covariance(b, k, style, r, s):
    """The text of the covariance matrix."""
    if style == "upper":
        f = b.pick(["diag_post_multiply", "uppertri_mult_diag"])
        return f"crossprod({f}({r}[,], {s}[]))"
    if style == "lower":
        f = b.pick(["tcrossprod", "multiply_lower_tri_self_transpose"])
        return f"{f}(diag_pre_multiply({s}[], {r}[,]))"
    return f"quad_form_diag({r}[,], {s}[])"


def named(b, k, text):
    """A matrix computed by a statement of its own, or where it is read."""
    if b.chance(0.5):
        return text
    name = b.name("Sigma")
    b.write(f"{name}[1:{k},1:{k}] <- {text}")
    return f"{name}[,]"


def whitened(b, v, k, n, factor):
    """Effects that are the factor times independent normals."""
    b.feature("effects by a factor")
    z, i = b.name("z"), b.loop(1, n)
    j = b.loop(1, k)
    while j.name == i.name:
        j = b.loop(1, k)
    nest(b, [i, j], f"{z}[{i.name},{j.name}] ~ dnorm(0, 1)")
    factor = named(b, k, factor)
    each(b, i, f"{v}[{i.name},1:{k}] <- {factor} %*% {z}[{i.name},]")
    return Thing(v, "real", (n, k))


def correlated(b):
    """A plate of vectors with a covariance by scales and correlations, and what
    is observed of them."""
    k, n = b.between(2, 3), b.between(3, 6)
    style = b.pick(["upper", "lower", "lower", "matrix"])
    r, s = prior_of(b, k, style), b.name("s")
    fill(b, s, k, lambda c: positive_prior(b, c), "positive")
    v, i = b.name("v"), b.loop(1, n)
    how = b.weighted([(3, "covariance"), (2, "factor"), (2, "whitened")])
    factor = f"diag_pre_multiply({s}[], {r}[,])"
    if style == "lower" and how == "whitened":
        thing = whitened(b, v, k, n, factor)
    else:
        if style == "lower" and how == "factor":
            dist = f"multi_normal_cholesky({{}}, {named(b, k, factor)})"
        else:
            dist = b.pick(["dmnorm.vcov", "multi_normal"]) + \
                f"({{}}, {named(b, k, covariance(b, k, style, r, s))})"
        each(b, i, f"{v}[{i.name},1:{k}] ~ " + dist.format(mean_vector(b, k)))
        thing = Thing(v, "vector", (n, k))
    b.beyond_jags = True
    b.feature("matrix node", "correlations")
    b.latent_always.update((r, s, v))
    b.add(Thing(s, "positive", (k,)))
    b.add(thing)
    y, t = b.name("y"), b.loop(1, b.between(2, 4))
    while t.name == i.name:
        t = b.loop(1, t.high)
    x = b.given(np.round(b.g.normal(size=t.high) * 0.7, 2), "x")
    eta = f"{v}[{i.name},1] + {v}[{i.name},2] * {x}[{t.name}]"
    nest(b, [i, t], f"{y}[{i.name},{t.name}] ~ " + b.pick([
        f"dnorm({eta}, {b.precision([])})", f"dbern(ilogit({eta}))",
        f"dpois(exp(0.3 * ({eta})))"]))
    b.observed_always.add(y)


def degrees(b):
    """A prior of degrees of freedom: bounded, shifted, or of one over them."""
    style = b.pick(["bounded", "shifted", "truncated", "inverse"])
    name = b.name("nu")
    if style == "bounded":
        b.write(f"{name} ~ dunif({b.number(2, 3)}, {b.number(12, 40)})")
    elif style == "shifted":
        more = b.name("more")
        b.write(f"{more} ~ {b.pick(['dexp(0.2)', 'dgamma(2, 0.3)'])}")
        b.write(f"{name} <- {more} + 2")
    elif style == "truncated":
        b.write(f"{name} ~ {b.pick(['dgamma(2, 0.2)', 'dexp(0.1)'])} T(2, 60)")
    else:
        inverse = b.name("inv")
        b.write(f"{inverse} ~ dunif(0.03, 0.45)")
        b.write(f"{name} <- 1 / {inverse}")
    return name


def heavy_tails(b):
    """Errors, or effects, that are t with unknown degrees of freedom."""
    nu = degrees(b)
    b.feature("degrees of freedom")
    if b.chance(0.35):
        k, n = b.between(2, 3), b.between(4, 8)
        y, i = b.name("Y"), b.loop(1, n)
        omega = b.name("Omega")
        d = b.given(np.eye(k) * b.between(2, 4), "D")
        b.write(f"{omega}[1:{k},1:{k}] ~ dwish({d}[,], {k + b.between(2, 4)})")
        b.add(Thing(omega, "matrix", (k, k)))
        mean = mean_vector(b, k)
        each(b, i, f"{y}[{i.name},1:{k}] ~ dmt({mean}, {omega}[,], {nu})")
        b.feature("vector node", "matrix node")
        b.latent_always.add(omega)
        b.observed_always.add(y)
        return
    n, m = b.between(6, 12), 1
    if b.chance(0.3):  # effects of groups have such tails
        m = b.between(3, 5)
        u, y, (j, i) = b.name("u"), b.name("y"), two(b, m, n)
        each(b, j, f"{u}[{j.name}] ~ dt(0, {b.precision([])}, {nu})")
        group = b.given(b.g.integers(1, m + 1, n), "g")
        each(b, i, f"{y}[{i.name}] ~ " + b.pick([
            f"dnorm({u}[{group}[{i.name}]], {b.precision([])})",
            f"dpois(exp(0.4 * {u}[{group}[{i.name}]]))"]))
        b.latent_always.add(u)
        b.add(Thing(u, "real", (m,)))
    else:
        y, i = b.name("y"), Index(b.loop(1, n).name, 1, n)
        mean = b.predictor([i])
        tau = b.precision([])
        dist = f"dt({mean}, {tau}, {nu})"
        if b.modern and b.chance(0.5):
            dist = f"student_t({nu}, {mean}, {b.of('positive', [])})"
        each(b, i, f"{y}[{i.name}] ~ {dist}")
    b.observed_always.add(y)


def class_profile(b):
    """Classes that several answers tell apart, all of whose parameters have
    priors of the family that EM and exact draws know."""
    n, m, k = b.between(6, 12), b.between(2, 4), b.between(2, 3)
    p, z, y, q = b.name("p"), b.name("z"), b.name("y"), b.name("q")
    b.write(f"{p}[1:{k}] ~ ddirch({b.given([2, 1.5, 3][:k], 'a')}[])")
    i, j = two(b, n, m)
    c = Index(b.loop(1, k).name, 1, k)
    while c.name in (i.name, j.name):
        c = Index(b.loop(1, k).name, 1, k)
    each(b, i, f"{z}[{i.name}] ~ dcat({p}[])")
    style = b.pick(["binary", "counts", "normal", "categories"])
    at = f"{q}[{z}[{i.name}],{j.name}]"
    if style == "categories":
        alpha = b.given([1.5, 2, 1], "b")
        nest(b, [c, j], f"{q}[{c.name},{j.name},1:3] ~ ddirch({alpha}[])")
        seen = f"dcat({q}[{z}[{i.name}],{j.name},{b.pick(['', '1:3'])}])"
    else:
        prior, seen = {
            "binary": ("dbeta(1.5, 2)", f"dbern({at})"),
            "counts": (f"dgamma(2 * {c.name}, 1)", f"dpois({at})"),
            "normal": (f"dnorm(2 * {c.name}, 0.7)", None)}[style]
        nest(b, [c, j], f"{q}[{c.name},{j.name}] ~ {prior}")
        if style == "normal":
            h = b.name("h")
            each(b, c, f"{h}[{c.name}] ~ dgamma(3, 2)")
            b.latent_always.add(h)
            seen = f"dnorm({at}, {h}[{z}[{i.name}]])"
    nest(b, [i, j], f"{y}[{i.name},{j.name}] ~ {seen}")
    b.feature("latent subscript", "class profile")
    b.latent_always.update((p, z, q))
    b.observed_always.add(y)
