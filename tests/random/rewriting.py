"""Edits that leave the posterior as it is: distributions and expressions, said in
another way. Each takes a State and a generator of random numbers, and gives another
State, or None where it does not apply."""

from dataclasses import replace

import numpy as np

import syntax
from edits import (ONE, SCALAR, TWO, at_site, call, index, name, num, op, order,
                   pick, rename, total, value_sites, with_part)

# ------------------------------------------------------------- distributions

def inverse_square(t):
    return op("/", ONE, call("sqrt", t))


OTHER_NAMES = {
    "dnorm": [lambda m, t: ("normal", m, inverse_square(t)),
              lambda m, t: ("normal", m, call("pow", t, num(-0.5)))],
    "dlnorm": [lambda m, t: ("lognormal", m, inverse_square(t))],
    "dt": [lambda m, t, k: ("student_t", k, m, inverse_square(t))],
    "dgamma": [lambda a, b: ("gamma", a, b)],
    "dexp": [lambda a: ("exponential", a), lambda a: ("dgamma", ONE, a)],
    "dchisqr": [lambda k: ("dgamma", op("/", k, TWO), num(0.5)),
                lambda k: ("chi_square", k)],
    "dunif": [lambda a, b: ("uniform", a, b)],
    "dbeta": [lambda a, b: ("beta", a, b)],
    "dweib": [lambda v, r: ("weibull", v, call("pow", r, op(
        "/", num(-1), v)))],
    "ddexp": [lambda m, r: ("laplace", m, op("/", ONE, r))],
    "dlogis": [lambda m, r: ("logistic", m, op("/", ONE, r))],
    "dbern": [lambda p: ("bernoulli", p), lambda p: ("dbin", p, ONE)],
    "dbin": [lambda p, n: ("binomial", n, p)],
    "dpois": [lambda m: ("poisson", m),
              lambda m: ("poisson_log", call("log", m))],
    "dcat": [lambda p: ("categorical", p)],
    "ddirch": [lambda a: ("dirichlet", a)],
    "normal": [lambda m, s: ("dnorm", m, op("/", ONE, op("*", s, s))),
               lambda m, s: ("dnorm", m, call("pow", s, num(-2)))],
    "gamma": [lambda a, b: ("dgamma", a, b)],
    "poisson": [lambda m: ("dpois", m)],
    "bernoulli": [lambda p: ("dbern", p)],
    "binomial": [lambda n, p: ("dbin", p, n)],
}


def others(s):
    """The distribution of a relation, spelled by other names."""
    if not s.random or s.value[0] != "call":
        return []
    if any(a[0] == "named" for a in s.value[2]):
        return []
    out = OTHER_NAMES.get(s.value[1], [])
    try:
        out = [f(*s.value[2]) for f in out]
    except TypeError:
        return []
    if s.value == call("dunif", num(0), ONE):
        out.append(("dbeta", ONE, ONE))
    if s.value == call("dbeta", ONE, ONE):
        out.append(("dunif", num(0), ONE))
    return [call(*v) for v in out]


def other_name(s, g):
    """A distribution by another name of the library."""
    found = [(p, r, v) for p, r, _ in s.each() for v in others(r)]
    found = pick(g, found)
    if not found:
        return None
    path, r, value = found
    return s.in_place(path, replace(r, value=value))


def precision_by_sd(s, g):
    """A precision through a node that is a standard deviation."""
    for path, r, loops in order(g, s.each()):
        if not r.random or r.value[1] not in ("dnorm", "dlnorm"):
            continue
        tau = r.value[2][1]
        if not s.is_scalar(tau, loops):
            continue
        found = s.node(path, loops, inverse_square(tau), "spread")
        if found:
            s, sd = found
            new = pick(g, [call("pow", sd, num(-2)),
                           op("/", ONE, op("*", sd, sd)),
                           op("/", ONE, op("^", sd, TWO))])
            value = call(r.value[1], r.value[2][0], new)
            return s.in_place(path, replace(r, value=value))
    return None


BOUNDS = {"dnorm": ((None, None), (-1e9, 1e9)),
          "dgamma": ((0, None), (None, None), (-5, 1e12)),
          "dexp": ((0, None), (-1, None)), "dbeta": ((0, 1), (-1, 2), (0, None)),
          "dlnorm": ((0, None), (None, None)), "dweib": ((0, None),),
          "dpois": ((0, None), (None, None)), "dt": ((None, None),)}


def empty_bounds(s, g):
    """Truncation where nothing is."""
    found = [(p, r) for p, r, _ in s.each()
             if r.random and r.value[1] in BOUNDS and not r.bounds]
    found = pick(g, found)
    if not found:
        return None
    path, r = found
    low, high = pick(g, BOUNDS[r.value[1]])
    bounds = ("T", None if low is None else num(low),
              None if high is None else num(high))
    return s.in_place(path, replace(r, bounds=bounds))


# --------------------------------------------------------------- expressions

def scalar_part(s, g, kinds):
    """Somewhere in a value: as value_sites() tells."""
    return pick(g, value_sites(s, lambda e, loops: e[0] in kinds and
                               s.is_scalar(e, loops)))


def node_of_its_own(s, g):
    """A part of an expression becomes a computed node."""
    found = scalar_part(s, g, ("op", "call", "neg", "index"))
    if not found:
        return None
    path, r, loops, site = found
    found = s.node(path, loops, at_site(r.value, site), "part")
    if not found:
        return None
    s, reference = found
    return with_part(s, path, r, site, reference)


def written_in(s, g):
    """A computed node is written out where it is read."""
    for path, r, loops in order(g, s.each()):
        if r.random or sum(t.left[1] == r.left[1]
                           for t in s.relations()) != 1:
            continue
        target = r.left[1]
        if r.left[0] == "index":
            places = [p[1] if p[0] == "name" else None for p in r.left[2]]
            if None in places or len(set(places)) < len(places) or \
                    set(places) != {l.name for l in loops}:
                continue
        else:
            places = []
        uses = [e for e in s.uses(target) if e != r.left]
        if not uses or any(e[0] == "index" and any(
                p[0] in ("all", "range") for p in e[2]) or
                len(e[2] if e[0] == "index" else ()) != len(places)
                for e in uses) or target in s.data:
            continue
        value = call(INVERSE[r.link], r.value) if r.link else r.value
        if not s.is_scalar(value, loops):
            continue

        def put(at, value=value, places=places):
            out = value
            keep = [f"__{k}" for k in range(len(places))]
            for p, k in zip(places, keep):
                out = syntax.substitute(out, p, name(k))
            for k, e in zip(keep, at):
                out = syntax.substitute(out, k, e)
            return out
        out = s.mapped(lambda e: rename(e, target, put))
        return out.in_place(path, r)
    return None


INVERSE = {"log": "exp", "logit": "ilogit", "probit": "phi",
           "cloglog": "icloglog"}
LINK = {f: l for l, f in INVERSE.items()}


def link_to_other_side(s, g):
    """log(m) <- e, or m <- exp(e)."""
    found = []
    for path, r, _ in s.each():
        if r.random:
            continue
        if r.link in INVERSE:
            found.append((path, replace(
                r, link="", value=call(INVERSE[r.link], r.value))))
        elif not r.link and r.value[0] == "call" and r.value[1] in LINK:
            found.append((path, replace(r, link=LINK[r.value[1]],
                                        value=r.value[2][0])))
    found = pick(g, found)
    return found and s.in_place(*found)


def algebra(e):
    """Ways to write the same number."""
    out = []
    if e[0] == "op":
        o, a, b = e[1:]
        if o in "+*":
            out.append(op(o, b, a))
        if o == "-":
            out += [op("+", a, ("neg", b)), op("+", a, op("*", num(-1), b))]
        if o == "/":
            out += [op("*", a, call("pow", b, num(-1))),
                    op("*", op("/", ONE, b), a)]
        if o == "*" and b[0] == "op" and b[1] in "+-":
            out.append(op(b[1], op("*", a, b[2]), op("*", a, b[3])))
        if o == "*" and a[0] == "op" and a[1] in "+-":
            out.append(op(a[1], op("*", a[2], b), op("*", a[3], b)))
        if o == "+" and b[0] == "op" and b[1] == "+":
            out.append(op("+", op("+", a, b[2]), b[3]))
        if o == "+" and a[0] == "op" and a[1] == "+":
            out += [op("+", a[2], op("+", a[3], b)),
                    op("+", op("+", a[2], b), a[3])]
        if o == "^":
            out.append(call("pow", a, b))
    if e[0] == "neg":
        out += [op("*", num(-1), e[1]), op("-", num(0), e[1])]
    if e[0] == "call" and e[1] in SCALAR:
        f, args = e[1], e[2]
        if f == "exp" and args[0][0] == "op" and args[0][1] in "+-":
            out.append(op({"+": "*", "-": "/"}[args[0][1]],
                          call("exp", args[0][2]), call("exp", args[0][3])))
        if f == "sqrt":
            out += [call("pow", args[0], num(0.5)), op("^", args[0], num(0.5))]
        if f == "pow" and args[1] == TWO:
            out.append(op("*", args[0], args[0]))
        if f == "pow" and args[1] == num(-2):
            out.append(op("/", ONE, call("pow", args[0], TWO)))
        if f in ("ilogit", "expit"):
            out += [op("/", ONE, op("+", ONE, call("exp", ("neg", args[0])))),
                    op("-", ONE, call("ilogit", ("neg", args[0])))]
        if f == "exp":
            out.append(op("/", ONE, call("exp", ("neg", args[0]))))
        if f == "equals":
            out.append(call("equals", args[1], args[0]))
        if f == "phi":
            out.append(op("-", ONE, call("phi", ("neg", args[0]))))
    return out


def another_spelling(s, g):
    """Arithmetic written in another way."""
    found = pick(g, value_sites(
        s, lambda e, loops: algebra(e) and s.is_scalar(e, loops)))
    if not found:
        return None
    path, r, _, site = found
    new = pick(g, algebra(at_site(r.value, site)))
    return with_part(s, path, r, site, new)


def one_and_zero(s, g):
    """Something times 1, or plus 0, which are data."""
    found = scalar_part(s, g, ("op", "call", "index", "name"))
    if not found:
        return None
    path, r, loops, site = found
    times, what = pick(g, ((True, "one"), (False, "zero")))
    new = s.fresh(what)
    inner = loops[-1] if loops else None
    ends = s.ends(inner) if inner else None
    value = 1.0 if times else 0.0
    if ends and 1 <= ends[0] <= ends[1] and g.random() < 0.6:
        s = s.with_data(**{new: np.full(ends[1], value)})
        by = index(new, name(inner.name))
    else:
        s = s.with_data(**{new: value})
        by = name(new)
    e = at_site(r.value, site)
    e = op("*" if times else "+", *(pick(g, ((e, by), (by, e)))))
    return with_part(s, path, r, site, e)


def single_range(e):
    """The place, within an index, that is a range or all; None where there is
    not one."""
    if e[0] != "index":
        return None
    found = [k for k, p in enumerate(e[2]) if p[0] in ("range", "all")]
    return found[0] if len(found) == 1 else None


def product_as_sum(s, g):
    """inprod(a[], x[i,]) as a written sum, or as a[] %*% x[i,]."""
    for path, r, loops, site in order(g, value_sites(
            s, lambda e, _: e[0] == "call" and e[1] == "inprod")):
        a, b = at_site(r.value, site)[2]
        ends = [range_of(s, x) for x in (a, b)]
        how = pick(g, ("sum", "matrix", "vector"))
        if None in ends or len({h - l for l, h in ends}) > 1:
            continue
        n = ends[0][1] - ends[0][0] + 1
        if how == "matrix":
            new = op("%*%", a, b)
        elif how == "vector" or n > 12:
            new = call("sum", op("*", a, b))
        else:
            terms = [op("*", element(a, ends[0][0] + k),
                        element(b, ends[1][0] + k)) for k in range(n)]
            new = total(terms)
        return with_part(s, path, r, site, new)
    return None


def range_of(s, e):
    k = single_range(e)
    if k is None:
        return None
    p = e[2][k]
    if p[0] == "range":
        low, high = s.whole(p[1]), s.whole(p[2])
        return None if low is None or high is None else (low, high)
    size = s.extents(e[1])
    return (1, size[k]) if size and k < len(size) else None


def element(e, k):
    at = single_range(e)
    return index(e[1], *e[2][:at], num(k), *e[2][at + 1:])


def index_as_cases(s, g):
    """b[g[i]] as the sum of equals(g[i], k) * b[k]."""
    def wanted(e, loops):
        size = s.extents(e[1]) if e[0] == "index" and len(e[2]) == 1 else None
        return bool(size) and len(size) == 1 and size[0] <= 4 and \
            e[2][0][0] == "index" and e[1] in s.defined() and \
            s.is_scalar(e, loops)
    found = pick(g, value_sites(s, wanted))
    if not found:
        return None
    path, r, _, site = found
    e = at_site(r.value, site)
    if any(x != x for x in np.ravel(s.point.get(e[1], [np.nan]))):
        return None
    terms = [op("*", call("equals", e[2][0], num(k + 1)), index(e[1], num(k + 1)))
             for k in range(s.extents(e[1])[0])]
    return with_part(s, path, r, site, total(terms))


EDITS = [other_name, precision_by_sd, empty_bounds, node_of_its_own, written_in,
         link_to_other_side, another_spelling, another_spelling, one_and_zero,
         product_as_sum, index_as_cases]
