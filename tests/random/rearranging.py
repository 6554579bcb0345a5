"""Edits that leave the posterior as it is: loops, data and names in another order
or place. Each takes a State and a generator of random numbers, and gives another
State, or None where it does not apply."""

from dataclasses import replace
from itertools import combinations

import numpy as np

import syntax
from edits import (ONE, TWO, cell, in_loops, index, name, num, op, order, pick,
                   rename)
from syntax import Loop, Relation


# --------------------------------------------------------------------- loops

def with_loop_value(s, value):
    return tuple(syntax.map_statement(
        t, lambda e: syntax.substitute(e, s.name, value)) for t in s.body)


def loop_of_turns(s, g):
    """(path, loop, ends) of one with more than one turn."""
    found = [(p, t, s.ends(t)) for p, t in s.loops()]
    return pick(g, [x for x in found if x[2] and x[2][0] < x[2][1]])


def cut_loop(s, g):
    """A loop in two, with its first or last turn apart, or unrolled."""
    found = loop_of_turns(s, g)
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
    found = loop_of_turns(s, g)
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
        for (k, t), (l, u) in combinations(loops, 2):
            if (t.low, t.high) != (u.low, u.high) or (
                    t.name != u.name and t.name in names_of(u)):
                continue
            one = replace(t, body=t.body + with_loop_value(u, name(t.name)))
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
        copy = in_loops(Relation(index(new, *at), False, index(array, *at)),
                        loops, s.data[array].shape)
        places = [e for e in s.uses(array) if e[0] == "name"]
        s = s.mapped(lambda e: rename(e, array, lambda p: cell(new, p)))
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
    return s.mapped(lambda e: rename(e, found, lambda p: cell(new, p)),
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
            out += [replace(u, body=self.statements(
                u.body, {**above, t.name: side})) for u, side in self.sides(t)]
        return tuple(out)

    def sides(self, loop):
        """The loop, or its parts, and what `above` says of each."""
        ends = self.s.ends(loop)
        if ends and ends[1] <= self.at:
            return [(loop, False)]
        if ends and ends[0] > self.at:
            return [(loop, True)]
        if ends and self.is_place(loop):
            return [(replace(loop, high=num(self.at)), False),
                    (replace(loop, low=num(self.at + 1)), True)]
        return [(loop, None)]

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
        side = k > self.at if k is not None else \
            above.get(place[1]) if place[0] == "name" else None
        if side is None:
            raise ValueError("which of the two is not told")
        if not side:
            return index(self.lower, place)
        return index(self.upper, op("-", place, num(self.at)) if k is None else
                     num(k - self.at))


EDITS = [cut_loop, backwards, loop_in_parts, loops_joined, loops_exchanged, shuffled,
         literal, copied_array, nested_values, scalar_in_array, scalars_joined,
         array_in_matrix, transposed, renamed, split_array]
