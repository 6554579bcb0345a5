"""Edits that make another problem of a model: other data, priors, likelihoods.
Each takes a State and a generator of random numbers, and gives another State, or
None where it does not apply."""

from dataclasses import replace

import numpy as np

import syntax
from edits import (ONE, REAL, ZERO, at_site, call, in_loops, index, name, num, op,
                   order, pick, value_sites, with_part)
from syntax import Loop, Relation

def changed(s, **other):
    return replace(s, same=False, **other)


def observed(s):
    """(path, relation, loops) of what has data."""
    return [(p, r, loops) for p, r, loops in s.each()
            if r.random and r.left[1] in s.data and
            not np.all(np.isnan(s.data[r.left[1]]))]


def unknown(s):
    """(path, relation, loops) of numbers without data."""
    return [(p, r, loops) for p, r, loops in s.each()
            if r.random and r.left[1] not in s.data and
            r.value[1] in REAL and s.is_scalar(r.left, loops)]


# ---------------------------------------------------------------------- data

def missing(s, g):
    """Cells of what is observed become unknown."""
    found = pick(g, [t for t in observed(s) if t[1].value[1] not in (
        "dinterval", "dsum", "dconstraint", "dround", "dloglik")])
    if not found:
        return None
    array = found[1].left[1]
    return hole(s, g, array)


def hole(s, g, array):
    x = s.data[array].copy()
    if x.ndim == 0:
        return changed(replace(s, data={n: v for n, v in s.data.items()
                                        if n != array}))
    how = pick(g, ("one", "some", "first", "last", "row", "column"))
    if how == "one":
        x[tuple(int(g.integers(n)) for n in x.shape)] = np.nan
    elif how == "some":
        x[g.random(x.shape) < 0.2] = np.nan
    elif how in ("first", "last"):
        x[..., 0 if how == "first" else -1] = np.nan
    else:
        axis = 0 if how == "row" else x.ndim - 1
        k = int(g.integers(x.shape[axis]))
        x[(slice(None),) * axis + (k,)] = np.nan
    return changed(s.with_data(**{array: x}))


def covariates(s):
    """Arrays of numbers that are read as such, and nowhere as an index, an end of
    a loop or a part of a vector."""
    within = set()
    for e in s.expressions():
        collect(e, within)
    for _, t in s.loops():
        within |= syntax.names_in(t.low) | syntax.names_in(t.high)
    return [a for a in sorted(s.constants() - within)
            if s.data[a].ndim in (1, 2) and s.data[a].size > 1 and s.uses(a)
            and not s.in_data_block(a) and all(
                e[0] == "index" and all(p[0] not in ("range", "all")
                                        for p in e[2]) for e in s.uses(a))]


def collect(e, within):
    if e[0] == "index":
        for p in e[2]:
            within |= syntax.names_in(p)
    for p in syntax.parts(e):
        collect(p, within)


def missing_covariate(s, g):
    """Some values of a covariate are unknown, with a prior for all."""
    found = pick(g, covariates(s))
    if not found:
        return None
    x = s.data[found]
    loops = [s.fresh(f"at{k}_") for k in range(x.ndim)]
    whole = np.all(x == np.round(x))
    if set(np.unique(x)) <= {0.0, 1.0}:
        value = call("dbern", num(0.4))
    elif whole and np.all(x >= 0):
        value = call("dpois", num(round(float(np.mean(x)) + 0.5, 2)))
    elif np.all(x > 0):
        rate = round(2 / float(np.mean(x)), 4)
        value = call("dgamma", num(2), num(rate or 0.001))
    else:
        tau = round(1 / (float(np.var(x)) + 1e-6), 4)
        value = call("dnorm", num(round(float(np.mean(x)), 3)), num(tau or 0.01))
    prior = Relation(index(found, *map(name, loops)), True, value)
    s = s.with_body(s.model.body + (in_loops(prior, loops, x.shape),))
    return hole(s, g, found)


def latent_index(s, g):
    """Which group some rows are of is unknown."""
    found = {a for e in s.expressions() for a in index_arrays(e)}
    found -= {a for r in s.relations() for p in syntax.parts(r.left)
              for a in syntax.names_in(p)}
    found = [a for a in sorted(found & s.constants()) if s.data[a].ndim == 1 and
             np.max(s.data[a]) <= 12 and not s.in_data_block(a)]
    array = pick(g, found)
    if not array or any(e[0] != "index" for e in s.uses(array)):
        return None
    n, most = len(s.data[array]), int(np.max(s.data[array]))
    weights, ones, at = s.fresh("share"), s.fresh("ones"), s.fresh("at")
    s = s.with_data(**{ones: np.ones(most)})
    s = s.with_body(s.model.body + (
        Loop(at, ONE, num(n), (Relation(index(array, name(at)), True, call(
            "dcat", index(weights, ("range", ONE, num(most))))),)),
        Relation(index(weights, ("range", ONE, num(most))), True, call(
            "ddirch", index(ones, ("range", ONE, num(most)))))))
    x = s.data[array].copy()
    x[g.random(n) < pick(g, (0.1, 0.5))] = np.nan
    return changed(s.with_data(**{array: x}))


def index_arrays(e):
    if e[0] == "index":
        for p in e[2]:
            if p[0] == "index":
                yield p[1]
    for p in syntax.parts(e):
        yield from index_arrays(p)


def censored(s, g):
    """Large values of a response are known to be large, no more."""
    found = pick(g, [t for t in observed(s) if t[1].value[1] in REAL +
                     ("dweib", "dpois") and t[1].left[0] == "index" and
                     s.is_scalar(t[1].left, t[2]) and not t[1].bounds])
    if not found:
        return None
    path, r, _ = found
    x = s.data[r.left[1]]
    if np.any(np.isnan(x)):  # the plain sampler keeps what is told of these
        return None
    cut = float(np.quantile(x, 0.8))
    over, at = s.fresh("over"), s.fresh("limit")
    s = s.with_data(**{r.left[1]: np.where(x > cut, np.nan, x), over: x > cut,
                       at: cut})
    return changed(s.with_statements(path, (r, Relation(
        index(over, *r.left[2]), True, call("dinterval", r.left, name(at))))))


def truncated(s, g):
    """A response or an unknown within bounds."""
    some = pick(g, (observed, unknown))(s)
    found = pick(g, [t for t in some if t[1].value[1] in REAL + ("dpois", "dweib")
                     and not t[1].bounds and s.is_scalar(t[1].left, t[2])])
    if not found:
        return None
    path, r, _ = found
    x = s.data.get(r.left[1], s.point.get(r.left[1]))
    if x is None or np.all(np.isnan(x)):
        return None
    low, high, wide = np.nanmin(x), np.nanmax(x), np.nanmax(np.abs(x)) + 0.1
    whole = r.value[1] == "dpois"
    low = round(float(low - 0.3 * wide), 0 if whole else 2)
    high = round(float(high + 0.3 * wide), 0 if whole else 2) + whole
    if r.value[1] == "dunif":
        return None
    bounds = pick(g, ((num(low), None), (None, num(high)), (num(low), num(high))))
    return changed(s.in_place(path, replace(r, bounds=("T",) + bounds)))


# -------------------------------------------------------------------- priors

def known(s, g):
    """An unknown becomes data."""
    found = pick(g, sorted({r.left[1] for _, r, _ in unknown(s)
                            if r.left[1] in s.point and
                            not np.any(np.isnan(s.point[r.left[1]]))}))
    if not found or any(r.left[1] == found and not r.random
                        for r in s.relations()):
        return None
    x = s.point[found]
    x = x if np.all(x == np.round(x)) else np.round(x, 3)
    if found in s.made or not np.all(np.isfinite(x)) or np.any(x == 0):
        return None
    if np.ndim(x) and g.random() < 0.5:
        x = np.where(g.random(np.shape(x)) < 0.5, np.nan, x)
    return changed(s.with_data(**{found: x}))


FEW = ("dnorm", "dgamma", "dt", "dlnorm", "dexp", "ddexp", "dlogis", "dweib",
       "normal", "gamma", "dbeta")


def random_argument(s, g):
    """A number in a prior becomes unknown."""
    found = []
    for path, r, loops in s.each():
        if not r.random or r.value[1] not in FEW or r.bounds:
            continue
        for k, e in enumerate(r.value[2]):
            v = s.number(e)
            if v is not None and (k == 1 or r.value[1] in (
                    "dgamma", "dexp", "dnorm", "gamma", "normal", "dlnorm")):
                found.append((path, r, k, v))
    found = pick(g, found)
    if not found:
        return None
    path, r, k, v = found
    new = s.fresh("above")
    place = k == 0 and r.value[1] in ("dnorm", "normal", "dlnorm")
    if not place and v <= 0:
        return None
    prior = call("dnorm", num(v), num(1)) if place else \
        call("dgamma", num(3), num(float(f"{3 / v:.4g}")))
    args = list(r.value[2])
    args[k] = name(new)
    s = s.in_place(path, replace(r, value=call(r.value[1], *args)))
    return changed(s.with_body(s.model.body + (
        Relation(name(new), True, prior),), made=s.made + (new,)))


def families(s, r):
    """Other distributions on the same side of 0, or bounds, for a prior."""
    f, args = r.value[1], r.value[2]
    of = [s.number(a) for a in args]
    out = []
    if f in ("dgamma", "gamma", "dexp"):
        half = ("T", ZERO, None)
        out = [(call("dlnorm", ZERO, ONE), ()), (call("dexp", ONE), ()),
               (call("dgamma", num(2), num(1.5)), ()),
               (call("dt", ZERO, ONE, num(3)), half),
               (call("dnorm", ONE, ONE), half), (call("dunif", ZERO, num(20)), ()),
               (call("dweib", num(1.5), ONE), ()),
               (call("dchisqr", num(3)), ()), (call("half_cauchy", ONE), ())]
    elif f == "dnorm" and not r.bounds:
        m, t = args
        out = [(call("dt", m, t, num(4)), ()),
               (call("ddexp", m, call("sqrt", t)), ()),
               (call("dlogis", m, call("sqrt", t)), ())]
        if None not in of and of[1] > 0:
            wide = 3 / of[1] ** 0.5
            out.append((call("dunif", num(round(of[0] - wide, 4)),
                             num(round(of[0] + wide, 4))), ()))
    elif f == "dbeta":
        out = [(call("dunif", ZERO, ONE), ()),
               (call("dnorm", num(0.5), num(6)), ("T", ZERO, ONE)),
               (call("dbeta", num(2.5), num(1.5)), ())]
    elif f == "dunif" and None not in of:
        wide = of[1] - of[0]
        out = [(call("dnorm", num((of[0] + of[1]) / 2),
                     num(float(f"{16 / wide ** 2:.4g}"))), ("T",) + args)]
        if of[0] == 0:
            out += [(call("dexp", num(float(f"{4 / of[1]:.4g}"))),
                     ("T", ZERO, args[1])),
                    (call("dt", ZERO, num(float(f"{9 / wide ** 2:.4g}")), num(3)),
                     ("T", ZERO, args[1]))]
    return out


def family(s, g):
    """A prior of another family."""
    found = pick(g, [(p, r, new) for p, r, _ in unknown(s)
                     for new in families(s, r)])
    if not found:
        return None
    path, r, (value, bounds) = found
    return changed(s.in_place(path, replace(r, value=value, bounds=bounds)))


def likelihood(s, g):
    """A response of another family with the same mean."""
    found = []
    for path, r, _ in observed(s):
        if r.bounds:
            continue
        f, args = r.value[1], r.value[2]
        if f == "dnorm":
            found += [(path, r, call("dt", *args, num(4))),
                      (path, r, call("ddexp", args[0], call("sqrt", args[1]))),
                      (path, r, call("dlogis", args[0],
                                     call("sqrt", args[1])))]
        if f == "dpois":
            found.append((path, r, call("dnegbin", op(
                "/", num(3), op("+", num(3), args[0])), num(3))))
        if f == "dbin":
            found.append((path, r, call(
                "dbetabin", op("*", num(4), args[0]),
                op("*", num(4), op("-", ONE, args[0])), args[1])))
    found = pick(g, found)
    if not found:
        return None
    path, r, value = found
    return changed(s.in_place(path, replace(r, value=value)))


def roots(s):
    """Names of single unknowns whose prior only data decide."""
    return [(p, r) for p, r, _ in unknown(s) if r.left[0] == "name" and
            all(s.number(a) is not None for a in r.value[2])]


def prior_of_another(s, g):
    """A prior that depends on another unknown."""
    below = pick(g, roots(s))
    if not below:
        return None
    other = below[1].left
    found = pick(g, [(p, r) for p, r in roots(s) if r.left != other])
    if not found:
        return None
    path, r = found
    args = list(r.value[2])
    if r.value[1] in ("dnorm", "dt", "ddexp", "dlogis", "dlnorm"):
        k = pick(g, (0, 1))
        args[k] = op("+", args[k], op("*", num(0.3), other)) if k == 0 else \
            op("*", args[k], call("exp", op("*", num(0.1), call(
                "sin", other))))
    elif r.value[1] in ("dgamma", "dbeta", "dexp"):
        args[0] = op("*", args[0], op("+", ONE, call("ilogit", other)))
    else:
        return None
    return changed(s.in_place(path, replace(r, value=call(r.value[1], *args))))


# --------------------------------------------------------------- more of it

def held(s, g):
    """A condition or a factor that data add."""
    found = [t for t in unknown(s) if t[1].left[0] == "name"]
    found = order(g, found)[:2]
    if not found:
        return None
    theta = found[0][1].left
    new = s.fresh("held")
    if len(found) == 2 and g.random() < 0.5:
        value = call("dbern", call("ilogit", op("-", theta, found[1][1].left)))
    else:
        value = call("dbern", call("exp", ("neg", call("abs", op(
            "*", num(0.1), theta)))))
    s = s.with_data(**{new: 1.0})
    return changed(s.with_body(s.model.body + (
        Relation(name(new), True, value),)))


def seen_through_noise(s, g):
    """A computed number or an unknown is observed once more, with noise."""
    found = [r.left for _, r, _ in unknown(s)] + [
        r.left for _, r, loops in s.each() if not r.random and
        s.is_scalar(r.left, loops)]
    found = [e for e in found if e[0] == "name" and e[1] in s.point and
             np.isfinite(s.point[e[1]])]
    e = pick(g, found)
    if not e:
        return None
    x = float(s.point[e[1]])
    new = s.fresh("noisy")
    s = s.with_data(**{new: float(f"{x:.3g}")})
    tau = float(f"{4 / max(x * x, 1e-4):.3g}")
    return changed(s.with_body(s.model.body + (
        Relation(name(new), True, call("dnorm", e, num(tau))),)))


def second_likelihood(s, g):
    """What is observed is observed once more, with other values."""
    found = pick(g, [t for t in observed(s) if t[1].left[0] == "index" and
                     t[1].value[1] in REAL + ("dpois", "dbern", "dbin", "dcat")
                     and s.is_scalar(t[1].left, t[2])])
    if not found:
        return None
    path, r, _ = found
    new = s.fresh("second")
    x = s.data[r.left[1]]
    s = s.with_data(**{new: np.roll(x, 1, axis=0)
                       if r.value[1] != "dbin" else x})
    return changed(s.with_statements(path, (r, replace(
        r, left=index(new, *r.left[2])))))


def mixture(s, g):
    """Each observation may be of another component."""
    found = pick(g, [t for t in observed(s) if t[1].left[0] == "index" and
                     t[1].value[1] in ("dnorm", "dpois") and
                     s.is_scalar(t[1].left, t[2])])
    if not found:
        return None
    path, r, _ = found
    new = s.fresh("which")
    which = index(new, *r.left[2])
    args = list(r.value[2])
    k = pick(g, (0, 1)) if r.value[1] == "dnorm" else 0
    wide = float(f"{np.nanstd(s.data[r.left[1]]) + 0.1:.2g}")
    if r.value[1] == "dpois":
        args[0] = op("*", args[0], op("+", ONE, which))
    elif k == 0:
        args[0] = op("+", args[0], op("*", num(wide), which))
    else:
        args[1] = op("/", args[1], op("+", ONE, op("*", num(8), which)))
    return changed(s.with_statements(path, (
        replace(r, value=call(r.value[1], *args)),
        Relation(which, True, call("dbern", num(0.2))))))


def overdispersion(s, g):
    """An effect of each row in a predictor."""
    found = []
    for path, r, loops in s.each():
        if r.left[0] == "index" and s.is_scalar(r.left, loops):
            if not r.random and r.link:
                found.append((path, r, loops))
            if r.random and r.value[1] == "dnorm" and r.left[1] in s.data:
                found.append((path, r, loops))
    found = pick(g, found)
    if not found:
        return None
    path, r, _ = found
    effect, tau = s.fresh("more"), s.fresh("precision")
    e = index(effect, *r.left[2])
    if r.random:
        new = replace(r, value=call("dnorm", op("+", r.value[2][0], e),
                                    r.value[2][1]))
    else:
        new = replace(r, value=op("+", r.value, e))
    s = s.with_statements(path, (new, Relation(e, True, call(
        "dnorm", ZERO, name(tau)))))
    return changed(s.with_body(s.model.body + (Relation(name(tau), True, call(
        "dgamma", num(4), ONE)),)))


def in_predictor(s, g):
    """An unknown more, times something, in a computed number."""
    found = pick(g, value_sites(s, lambda e, loops: e[0] == "op" and
                                e[1] == "+" and s.is_scalar(e, loops)))
    if not found:
        return None
    path, r, loops, site = found
    new = s.fresh("slope")
    x = pick(g, [e for e in (index(a, name(t.name)) for a in sorted(
        s.constants()) for t in loops if s.data[a].ndim == 1 and s.ends(t) and
        s.ends(t)[1] <= len(s.data[a]) and s.ends(t)[0] >= 1)] + [ONE])
    e = op("+", at_site(r.value, site), op("*", name(new), x))
    s = with_part(s, path, r, site, e)
    return changed(s.with_body(s.model.body + (Relation(name(new), True, call(
        "dnorm", ZERO, num(4))),)))


EDITS = [missing, missing, missing_covariate, missing_covariate, latent_index,
         latent_index, censored, truncated, known, random_argument, family,
         family, likelihood, prior_of_another, held, seen_through_noise,
         second_likelihood, mixture, overdispersion, in_predictor]
