"""Edits of a whole plate: the rows of all that goes along with it, wherever they
are. Places of arrays that the same loops run through, and data that index them,
are one class; where no place says more of the label than which one it is, labels
are free."""

from dataclasses import replace

import numpy as np

import syntax
from edits import num, pick
from syntax import Loop


class Classes:
    """Which places of arrays and loops go together."""

    def __init__(self, s):
        self.s, self.root, self.fixed = s, {}, set()
        self.values = set()  # ("array", values) of data whose values are labels
        self.loops = {}  # a loop, by identity
        self.read(s.model.body, {})

    def find(self, a):
        while self.root.setdefault(a, a) != a:
            a = self.root[a]
        return a

    def join(self, a, b):
        a, b = self.find(a), self.find(b)
        self.root[a] = b
        if a in self.fixed:
            self.fixed.add(b)

    def fix(self, a):
        self.fixed.add(self.find(a))

    def read(self, body, around):
        for t in body:
            if isinstance(t, Loop):
                key = ("loop", id(t))
                self.loops[key] = t
                ends = self.s.ends(t)
                if not ends or ends[0] != 1:
                    self.fix(key)
                self.expression(t.low, around)
                self.expression(t.high, around)
                self.read(t.body, {**around, t.name: key})
                continue
            for e in (t.left, t.value, *[b for b in t.bounds[1:] if b]):
                self.expression(e, around)

    def expression(self, e, around):
        if e[0] == "name":
            if e[1] in around:  # its value is used
                self.fix(around[e[1]])
            elif len(self.s.extents(e[1]) or ()) > 0:
                for k in range(len(self.s.extents(e[1]))):
                    self.fix((e[1], k))
            return
        if e[0] != "index":
            for p in syntax.parts(e):
                self.expression(p, around)
            return
        for k, p in enumerate(e[2]):
            here = (e[1], k)
            if p[0] == "name" and p[1] in around:
                self.join(here, around[p[1]])
            elif p[0] == "index" and p[1] in self.s.constants():
                self.values.add(p[1])
                self.join(here, (p[1], "values"))
                self.expression(p, around)
            else:
                self.fix(here)
                self.expression(p, around)

    def free(self):
        """Lists of what goes together, of classes without a fixed label."""
        out = {}
        for a in list(self.root):
            out.setdefault(self.find(a), []).append(a)
        fixed = {self.find(a) for a in self.fixed}
        return [sorted(of, key=str) for root, of in out.items()
                if root not in fixed and any(a[0] == "loop" for a in of)]


def whole_class(s, of):
    """The number of labels, if all that is of a class has as many; arrays of data
    whose values are labels read by others, too, keep theirs."""
    sizes = {s.ends(t)[1] for t in loops_of(s, of)}
    for a, k in of:
        if a == "loop":
            continue
        if s.in_data_block(a):
            return None
        size = s.extents(a)
        if size is None:
            if a in s.made:
                continue
            return None
        if a in s.data and k != "values":
            sizes.add(size[k] if k < len(size) else -1)
    return sizes.pop() if len(sizes) == 1 else None


def loops_of(s, of):
    ids = {k for a, k in of if a == "loop"}
    return [t for _, t in s.loops() if id(t) in ids]


def read_as_values(s, array):
    """Whether an array of data is read as numbers somewhere, not as an index."""
    def walk(e, inside):
        found = e[0] in ("name", "index") and e[1] == array and not inside
        return found or any(walk(p, e[0] == "index")
                            for p in syntax.parts(e))
    return any(walk(e, False) for e in s.expressions())


def classes_for(s, g):
    found = []
    for of in Classes(s).free():
        n = whole_class(s, of)
        if n and n > 1 and not any(k == "values" and read_as_values(s, a)
                                   for a, k in of):
            found.append((of, n))
    return pick(g, found)


def relabelled(s, g):
    """A plate in another order, with its data and all that index it."""
    found = classes_for(s, g)
    if not found:
        return None
    of, n = found
    turn = g.permutation(n)  # new place k has what was at turn[k]
    back = np.argsort(turn)
    data = dict(s.data)
    for a, k in of:
        if a in data:
            data[a] = 1 + back[data[a].astype(int) - 1].astype(float) \
                if k == "values" else np.take(data[a], turn, axis=k)

    def moved(name, at, of=frozenset(of)):
        return name, tuple(int(back[i - 1]) + 1 if (name, k) in of else i
                           for k, i in enumerate(at))
    return replace(s, data=data, moved=s.moved + (moved,))


def repeated(s, g, times=None):
    """A plate some times as large, by copies of its rows."""
    found = classes_for(s, g)
    if not found:
        return None
    of, n = found
    times = times or pick(g, (2, 3, 10))
    if n * times > 600:
        return None
    data = dict(s.data)
    for a, k in of:
        if a in data and k != "values":
            data[a] = np.concatenate([data[a]] * times, axis=k)
    return larger(replace(s, data=data), of, n * times)


def larger(s, of, n):
    """The loops of a class end at n."""
    ids = {k for a, k in of if a == "loop"}

    def walk(body):
        return tuple(replace(t, body=walk(t.body), high=num(n) if id(t) in ids
                             else t.high) if isinstance(t, Loop) else t
                     for t in body)
    return s.with_body(walk(s.model.body), same=False)


def first_rows(s, g):
    """A plate of fewer rows: one, or all but some."""
    found = classes_for(s, g)
    if not found:
        return None
    of, n = found
    keep = sorted(g.permutation(n)[:pick(g, (1, 2, max(1, n // 2), n - 1))])
    if any(k == "values" for _, k in of):  # groups stay, if without a row
        return None
    data = dict(s.data)
    for a, k in of:
        if a in data:
            data[a] = np.take(data[a], keep, axis=k)
    return larger(replace(s, data=data), of, len(keep))


def emptied_group(s, g):
    """No row is of some group any more."""
    found = sorted({a for of in Classes(s).free() for a, k in of
                    if k == "values"})
    array = pick(g, found)
    if not array or len(np.unique(s.data[array])) < 2:
        return None
    x = s.data[array].copy()
    gone, instead = g.permutation(np.unique(x))[:2]
    x[x == gone] = instead
    return replace(s.with_data(**{array: x}), same=False)


EDITS = [relabelled, relabelled]
CHANGES = [repeated, first_rows, emptied_group]
