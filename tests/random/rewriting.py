"""Edits that leave the posterior as it is: the same model, said in another way.
Each takes a State and a generator of random numbers, and gives another State, or
None where it does not apply."""

from dataclasses import replace

import numpy as np

import syntax
from edits import (SCALAR, at_site, call, index, name, num, op, order, pick,
                   rename, replaced, sites)
from syntax import Loop, Relation

ONE, TWO = num(1), num(2)


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

def value_sites(s, wanted):
    """(path of a relation, relation, loops, path within its value)."""
    for path, r, loops in s.each():
        for site in sites(r.value, lambda e: wanted(e, loops)):
            if r.random and not site:
                continue
            if inside_place(r.value, site):
                continue
            yield path, r, loops, site


def inside_place(e, site):
    """Whether a site is within a subscript."""
    for k in site:
        if e[0] in ("index", "range"):
            return True
        e = syntax.parts(e)[k]
    return e[0] in ("range", "all", "named")


def node_of_its_own(s, g):
    """A part of an expression becomes a computed node."""
    found = pick(g, value_sites(s, lambda e, loops: e[0] in (
        "op", "call", "neg", "index") and s.is_scalar(e, loops)))
    if not found:
        return None
    path, r, loops, site = found
    found = s.node(path, loops, at_site(r.value, site), "part")
    if not found:
        return None
    s, reference = found
    return s.in_place(path, replace(r, value=replaced(r.value, site,
                                                      reference)))


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


def algebra(e, g):
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
    found = pick(g, [x for x in value_sites(
        s, lambda e, loops: bool(algebra(e, g)) and s.is_scalar(e, loops))])
    if not found:
        return None
    path, r, _, site = found
    new = pick(g, algebra(at_site(r.value, site), g))
    return s.in_place(path, replace(r, value=replaced(r.value, site, new)))


def one_and_zero(s, g):
    """Something times 1, or plus 0, which are data."""
    found = pick(g, value_sites(s, lambda e, loops: e[0] in (
        "op", "call", "index", "name") and s.is_scalar(e, loops)))
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
    return s.in_place(path, replace(r, value=replaced(r.value, site, e)))


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
            new = terms[0]
            for t in terms[1:]:
                new = op("+", new, t)
        return s.in_place(path, replace(r, value=replaced(r.value, site, new)))
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
    new = terms[0]
    for t in terms[1:]:
        new = op("+", new, t)
    return s.in_place(path, replace(r, value=replaced(r.value, site, new)))


# --------------------------------------------------------------------- loops

def with_loop_value(s, value):
    return tuple(syntax.map_statement(
        t, lambda e: syntax.substitute(e, s.name, value)) for t in s.body)


def cut_loop(s, g):
    """A loop in two, with its first or last turn apart, or unrolled."""
    found = [(p, t, s.ends(t)) for p, t in s.loops()]
    found = pick(g, [x for x in found if x[2] and x[2][0] < x[2][1]])
    if not found:
        return None
    path, t, (low, high) = found
    how = pick(g, ("two", "first", "last", "unroll", "two"))
    if how == "unroll" and high - low < 6:
        new = [u for k in range(low, high + 1)
               for u in with_loop_value(t, num(k))]
    elif how == "first":
        new = [*with_loop_value(t, num(low)),
               replace(t, low=num(low + 1))]
    elif how == "last":
        new = [replace(t, high=num(high - 1)), *with_loop_value(t, t.high)]
    else:
        at = int(g.integers(low, high))
        new = [replace(t, high=num(at)), replace(t, low=num(at + 1))]
    return s.with_statements(path, tuple(new))


def backwards(s, g):
    """A plate's elements are named from its last to its first, or by a
    permutation that is data."""
    found = [(p, t, s.ends(t)) for p, t in s.loops()]
    found = pick(g, [x for x in found if x[2] and x[2][0] < x[2][1]])
    if not found:
        return None
    path, t, (low, high) = found
    value = op("-", num(low + high), name(t.name))
    if low == 1 and g.random() < 0.5:
        new = s.fresh("turn")
        s = s.with_data(**{new: 1 + g.permutation(high)})
        value = index(new, name(t.name))
    return s.with_statements(path, (replace(
        t, body=with_loop_value(t, value)),))


def loop_in_parts(s, g):
    """Each statement of a loop's body in a loop of its own."""
    found = pick(g, [(p, t) for p, t in s.loops() if len(t.body) > 1])
    if not found:
        return None
    path, t = found
    return s.with_statements(path, tuple(replace(t, body=(u,))
                                         for u in t.body))


def loops_joined(s, g):
    """Two loops with the same ends become one."""
    bodies = [((), s.model.body)] + [(p, t.body) for p, t in s.loops()]
    for path, body in order(g, bodies):
        loops = [(k, t) for k, t in enumerate(body) if isinstance(t, Loop)]
        for k, t in loops:
            for l, u in loops:
                if k < l and (t.low, t.high) == (u.low, u.high) and (
                        t.name == u.name or t.name not in names_of(u)):
                    one = replace(t, body=t.body + with_loop_value(
                        u, name(t.name)))
                    new = body[:k] + (one,) + body[k + 1:l] + body[l + 1:]
                    if not path:
                        return s.with_body(new)
                    outer = dict(s.loops())[path]
                    return s.with_statements(path, (replace(outer, body=new),))
    return None


def names_of(loop):
    out = {loop.name}
    for s in loop.body:
        if isinstance(s, Loop):
            out |= names_of(s) | syntax.names_in(s.low) | \
                syntax.names_in(s.high)
        else:
            out |= syntax.reads(s) | {s.left[1]}
    return out


def loops_exchanged(s, g):
    """The inner of two loops becomes the outer one."""
    found = [(p, t) for p, t in s.loops() if len(t.body) == 1 and
             isinstance(t.body[0], Loop) and not syntax.names_in(
                 op("+", t.body[0].low, t.body[0].high)) & {t.name}]
    found = pick(g, found)
    if not found:
        return None
    path, t = found
    inner = t.body[0]
    return s.with_statements(path, (replace(
        inner, body=(replace(t, body=inner.body),)),))


def shuffled(s, g):
    """Statements in another order."""
    def mixed(body):
        return tuple(replace(t, body=mixed(t.body)) if isinstance(t, Loop)
                     else t for t in order(g, body))
    return s.with_body(mixed(s.model.body))


# ---------------------------------------------------------------------- data

def literal(s, g):
    """A number that is data is written out, or computed in data {}."""
    found = pick(g, [n for n in sorted(s.constants()) if s.data[n].ndim == 0 and
                     s.uses(n)])
    if not found:
        return None
    value = num(s.data[found])
    if g.random() < 0.5:
        return s.mapped(lambda e: syntax.substitute(e, found, value))
    new = s.fresh("given")
    s = s.mapped(lambda e: syntax.substitute(e, found, name(new)))
    return in_data_block(s, (Relation(name(new), False, op(
        "/", op("*", name(found), TWO), TWO)),), new)


def in_data_block(s, statements, *made):
    return replace(s, model=replace(s.model, data=s.model.data + statements),
                   made=s.made + made)


def constant_arrays(s, g):
    return order(g, [n for n in sorted(s.constants()) if s.data[n].ndim in (1, 2)
                     and s.data[n].size and s.uses(n) and
                     not s.in_data_block(n)])


def copied_array(s, g):
    """An array of data is read through a copy, made in data {} or in the
    model."""
    for array in constant_arrays(s, g)[:1]:
        new = s.fresh("copy")
        loops = [s.fresh(f"at{k}_") for k in range(s.data[array].ndim)]
        at = [name(k) for k in loops]
        copy = Relation(index(new, *at), False, index(array, *at))
        for k, n in reversed(list(zip(loops, s.data[array].shape))):
            copy = Loop(k, ONE, num(n), (copy,))
        places = [e for e in s.uses(array) if e[0] == "name"]
        s = s.mapped(lambda e: rename(e, array, lambda p: index(new, *p) if p
                                      else name(new)))
        if places or g.random() < 0.5:
            return in_data_block(s, (copy,), new)
        return s.with_body(s.model.body + (copy,), made=s.made + (new,))
    return None


def nested_values(s, g):
    """A vector of data through an index into its values."""
    for array in constant_arrays(s, g):
        x = s.data[array]
        if x.ndim != 1 or any(e[0] != "index" or e[2][0][0] in ("range", "all")
                              for e in s.uses(array)):
            continue
        values, which = np.unique(x, return_inverse=True)
        if len(values) > 1:
            kept = g.permutation(len(values))
            back = np.argsort(kept)
            level, of = s.fresh("level"), s.fresh("which")
            s = s.with_data(**{level: values[kept], of: 1 + back[which]})
            return s.mapped(lambda e: rename(
                e, array, lambda p: index(level, index(of, *p))))
    return None


# --------------------------------------------------------------------- names

def scalar_in_array(s, g):
    """A number becomes a cell of an array, alone or not the first."""
    found = pick(g, sorted({r.left[1] for r in s.relations()
                            if r.left[0] == "name" and s.is_one_number(r)}
                           - set(s.data)))
    if not found:
        return None
    new = s.fresh("box")
    at = pick(g, (1, 1, 2))

    def moved(n, places):
        return (new, (at,)) if n == found else (n, places)
    s = s.mapped(lambda e: syntax.substitute(e, found, index(new, num(at))),
                 moved=s.moved + (moved,), made=s.made + (new,))
    if at == 2:
        s = s.with_body(s.model.body + (
            Relation(index(new, ONE), False, num(0)),))
    return s


def scalars_joined(s, g):
    """Two numbers become the cells of one vector."""
    found = order(g, sorted({r.left[1] for r in s.relations() if r.random and
                             r.left[0] == "name" and s.is_one_number(r)}
                            - set(s.data)))[:2]
    if len(found) < 2:
        return None
    new = s.fresh("both")

    def moved(n, places):
        return (new, (found.index(n) + 1,)) if n in found else (n, places)
    s = replace(s, moved=s.moved + (moved,), made=s.made + (new,))
    for k, old in enumerate(found):
        s = s.mapped(lambda e: syntax.substitute(e, old, index(
            new, num(k + 1))))
    return s


def plain_places(s, array):
    return all(e[0] == "index" and all(p[0] not in ("range", "all")
                                       for p in e[2]) for e in s.uses(array))


def array_in_matrix(s, g):
    """A vector of unknowns is a row or a column of a matrix, or shifted by
    one."""
    arrays = sorted(n for n in s.defined() - set(s.data)
                    if len(s.extents(n) or ()) == 1 and plain_places(s, n) and
                    not s.in_data_block(n))
    found = pick(g, arrays)
    if not found:
        return None
    new, k = s.fresh("wide"), int(g.integers(1, 3))
    how = pick(g, ("row", "column", "shift"))

    def put(p):
        return {"row": index(new, num(k), *p), "column": index(new, *p, num(k)),
                "shift": index(new, *[op("+", p[0], num(k))])}[how]

    def moved(n, at):
        if n != found:
            return n, at
        return new, {"row": (k, *at), "column": (*at, k),
                     "shift": (at[0] + k,) if at else ()}[how]
    return s.mapped(lambda e: rename(e, found, put),
                    moved=s.moved + (moved,), made=s.made + (new,))


def transposed(s, g):
    """A matrix the other way round, data too."""
    arrays = sorted(n for n in s.defined() | s.constants()
                    if len(s.extents(n) or ()) == 2 and plain_places(s, n) and
                    not s.in_data_block(n))
    found = pick(g, arrays)
    if not found:
        return None
    new = s.fresh("turned")

    def moved(n, at):
        return (new, at[::-1]) if n == found else (n, at)
    out = s.mapped(lambda e: rename(e, found, lambda p: index(new, *p[::-1])),
                   moved=s.moved + (moved,), made=s.made + (new,))
    if found in s.data:
        out = out.with_data(**{new: s.data[found].T})
        del out.data[found]
    return out


CLASHES = "real rng state sweep chain sum_ lp seed n1 total x1 theta_ T1".split()


def renamed(s, g):
    """Another name, which generated C may have as well."""
    found = pick(g, sorted(n for n in s.defined() - set(s.data)
                           if not s.in_data_block(n)))
    new = pick(g, [n for n in CLASHES if n not in syntax.all_names(s.model) and
                   n not in {t.name for _, t in s.loops()}])
    if not found or not new:
        return None

    def moved(n, at):
        return (new, at) if n == found else (n, at)
    return s.mapped(lambda e: rename(e, found, lambda p: index(new, *p) if p
                                     else name(new)),
                    moved=s.moved + (moved,), made=s.made + (new,))


def split_array(s, g):
    """An array becomes two, and loops over both are cut."""
    arrays = sorted(n for n in (s.defined() - set(s.data)) | s.constants()
                    if len(s.extents(n) or ()) == 1 and s.extents(n)[0] > 1 and
                    plain_places(s, n) and not s.in_data_block(n))
    for found in order(g, arrays):
        n = s.extents(found)[0]
        cut = Cut(s, found, int(g.integers(1, n)), s.fresh("lower"),
                  s.fresh("upper"))
        try:
            body = cut.statements(s.model.body, {})
        except ValueError:
            continue
        out = s.with_body(body, moved=s.moved + (cut.moved,),
                          made=s.made + (cut.lower, cut.upper))
        if found in s.data:
            x = s.data[found]
            out = out.with_data(**{cut.lower: x[:cut.at], cut.upper:
                                   x[cut.at:]})
        return out
    return None


class Cut:
    """An array cut behind an element, in all statements."""

    def __init__(self, s, array, at, lower, upper):
        self.s, self.array, self.at = s, array, at
        self.lower, self.upper = lower, upper

    def moved(self, n, at):
        if n != self.array:
            return n, at
        return (self.lower, at) if at[0] <= self.at else \
            (self.upper, (at[0] - self.at,))

    def statements(self, body, above):
        """`above` says of loops whether they are of elements behind the
        cut."""
        out = []
        for t in body:
            if not isinstance(t, Loop):
                out.append(syntax.map_statement(t, lambda e: rename(
                    e, self.array, lambda p: self.element(p[0], above))))
                continue
            ends = self.s.ends(t)
            parts = [(t, None)] if not ends else \
                [(t, False)] if ends[1] <= self.at else \
                [(t, True)] if ends[0] > self.at else \
                [(replace(t, high=num(self.at)), False),
                 (replace(t, low=num(self.at + 1)), True)] \
                if self.is_place(t) else [(t, None)]
            out += [replace(u, body=self.statements(
                u.body, {**above, t.name: side})) for u, side in parts]
        return tuple(out)

    def is_place(self, loop):
        found = []

        def walk(e):
            found.append(e[0] == "index" and e[1] == self.array and
                         e[2][0] == name(loop.name))
            for p in syntax.parts(e):
                walk(p)
        for r in syntax.relations(loop.body):
            for e in (r.left, r.value, *[b for b in r.bounds[1:] if b]):
                walk(e)
        return any(found)

    def element(self, place, above):
        k = self.s.whole(place)
        side = above.get(place[1]) if place[0] == "name" and k is None else \
            k > self.at if k is not None else None
        if side is None:
            raise ValueError("which of the two is not told")
        return index(self.upper, op("-", place, num(self.at)) if k is None else
                     num(k - self.at)) if side else index(self.lower, place)


# ------------------------------------------------------------- augmentations

def apart(left, new):
    return ("index", new, left[2]) if left[0] == "index" else name(new)


def computed_from(r, new):
    """Ways to compute what is drawn from a draw of its own: statements."""
    f, args = r.value[1], r.value[2]
    own = apart(r.left, new)
    ways = {"dnorm": lambda m, t: (call("dnorm", num(0), ONE), op(
                "+", m, op("/", own, call("sqrt", t)))),
            "dgamma": lambda a, b: (call("dgamma", a, ONE), op("/", own, b)),
            "dexp": lambda b: (call("dexp", ONE), op("/", own, b)),
            "dunif": lambda a, b: (call("dbeta", ONE, ONE), op("+", a, op(
                "*", op("-", b, a), own))),
            "dlnorm": lambda m, t: (call("dnorm", m, t), call("exp", own)),
            "dlogis": lambda m, t: (call("dlogis", num(0), ONE), op(
                "+", m, op("/", own, t)))}
    if f not in ways:
        return None
    law, value = ways[f](*args)
    return Relation(own, True, law), Relation(r.left, False, value)


def not_centred(s, g):
    """An unknown is computed from a draw that does not depend on its
    parameters."""
    found = [(p, r) for p, r, loops in s.each() if r.random and
             r.left[1] not in s.data and not r.bounds and
             s.is_scalar(r.left, loops) and not s.model.after]
    new = s.fresh("raw")
    found = pick(g, [(p, x) for p, r in found
                     for x in [computed_from(r, new)] if x])
    if not found:
        return None
    return s.with_statements(*found, added=True, made=s.made + (new,))


def mixed_over(r, new):
    """Laws that are mixtures, as such: statements."""
    f, args = r.value[1], r.value[2]
    own = apart(r.left, new)
    ways = {"dt": lambda m, t, k: (
                call("dgamma", op("/", k, TWO), op("/", k, TWO)),
                call("dnorm", m, op("*", t, own))),
            "ddexp": lambda m, t: (
                call("dexp", num(0.5)),
                call("dnorm", m, op("/", op("*", t, t), own))),
            "dnegbin": lambda p, k: (
                call("dgamma", k, op("/", p, op("-", ONE, p))),
                call("dpois", own)),
            "dbetabin": lambda a, b, n: (call("dbeta", a, b),
                                         call("dbin", own, n))}
    if f not in ways:
        return None
    law, value = ways[f](*args)
    return Relation(own, True, law), replace(r, value=value)


def as_mixture(s, g):
    """A t as a scale mixture, a negative binomial as Poisson over gamma, and so
    on."""
    new = s.fresh("over")
    found = pick(g, [(p, x) for p, r, loops in s.each() if r.random and
                     not r.bounds and s.is_scalar(r.left, loops)
                     for x in [mixed_over(r, new)] if x])
    if not found:
        return None
    return s.with_statements(*found, added=True, made=s.made + (new,))


# ----------------------------------------------------------------- dead ends

def prediction(s, g):
    """What is observed is predicted anew."""
    found = pick(g, [(p, r) for p, r, _ in s.each()
                     if r.random and r.left[1] in s.data and
                     r.value[1] not in ("dinterval", "dsum", "dconstraint",
                                        "dround", "dsample", "dloglik")])
    if not found:
        return None
    path, r = found
    new = s.fresh("again")
    left = ("index", new, r.left[2]) if r.left[0] == "index" else name(new)
    return s.with_statements(path, (r, replace(r, left=left)), added=True,
                             made=s.made + (new,))


def dead_node(s, g):
    """A node that nothing reads."""
    found = pick(g, [(p, r, loops) for p, r, loops in s.each()
                     if r.random and r.value[1] in REAL and
                     s.is_scalar(r.left, loops)])
    if not found:
        return None
    path, r, _ = found
    new = s.fresh("idle")
    left = ("index", new, r.left[2]) if r.left[0] == "index" else name(new)
    value = pick(g, (call("dnorm", r.left, num(1)),
                     call("dexp", op("+", ONE, op("*", r.left, r.left)))))
    return s.with_statements(path, (r, Relation(left, True, value)), added=True,
                             made=s.made + (new,))


REAL = ("dnorm", "normal", "dt", "dgamma", "dbeta", "dunif", "dexp", "dlnorm",
        "ddexp", "dlogis")

EDITS = [other_name, precision_by_sd, empty_bounds, node_of_its_own, written_in,
         link_to_other_side, another_spelling, another_spelling, one_and_zero,
         product_as_sum, index_as_cases, cut_loop, backwards, loop_in_parts,
         loops_joined, loops_exchanged, shuffled, literal, copied_array,
         nested_values, scalar_in_array, scalars_joined, array_in_matrix,
         transposed, renamed, split_array, not_centred, not_centred, as_mixture,
         prediction, dead_node]
