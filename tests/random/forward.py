"""Draws of a whole model forward, parents first, in plain Python from the
model's text: what `./sampler simulate` should draw, too."""

import math
import time

import numpy as np

import distributions as d
import own as _  # adds the distributions that models define themselves
import syntax
from density import COLUMN, Unknown, settle
from simulate import NotReady, World

SAME = 1e-8  # numbers that are no farther apart, relatively, are one


class Forward:
    def __init__(self, text, data):
        self.model = syntax.parse(text)
        self.data = {n: np.asarray(v, float) for n, v in data.items()}
        self.names = {syntax.column_name(n): n
                      for n in syntax.all_names(self.model)}
        relations = list(syntax.relations(self.model.body))
        used = {r.value[1] for r in relations if r.random}
        if any(r.random for r in syntax.relations(self.model.data)):
            raise Unknown("data that are drawn")
        if any(n not in d.ALL and n not in d.MODERN for n in used) or \
                len(self.names) < len(syntax.all_names(self.model)):
            raise Unknown("a distribution, or a name")
        self.empty = self.without_draws()
        world = World(self.empty)
        self.order = [(r, at) for s in self.model.body
                      for r, at in world.each(s, {})]

    def without_draws(self):
        """Arrays of their full size; what the model draws or computes has no
        value."""
        world = World({n: v.copy() for n, v in self.data.items()})
        for r in syntax.relations(self.model.data):
            world.values.pop(r.left[1], None)
        settle(world, self.model.data, None)
        for s in self.model.body:
            for r, at in world.each(s, {}):
                world.put(r.left, at, math.nan)
        return world.values

    def draw(self, generator):
        """A World with a value for everything."""
        world = World({n: v.copy() for n, v in self.empty.items()}, generator)
        left, done = self.order, []
        while left:
            later = []
            for r, at in left:
                try:
                    v = world.draw(r, at) if r.random else \
                        world.computed_value(r, at)
                except NotReady:
                    later.append((r, at))
                    continue
                world.put(r.left, at, v)
                done.append((r, at))
            if len(later) == len(left):
                raise Unknown(f"{later[0][0].left[1]} has no value")
            left = later
        self.order = done  # mostly the order of the next draw, too
        return world

    def columns(self, names, n, generator, seconds):
        """n values of each of the sampler's columns, or as many as there is
        time for."""
        places = {}
        for column in names:
            m = COLUMN.match(column)
            if m and m.group(1) in self.names:
                places[column] = (self.names[m.group(1)], tuple(
                    int(k) - 1 for k in m.group(2).split(".")[1:]))
        out = {column: [] for column in places}
        end = time.monotonic() + seconds
        while n > 0 and time.monotonic() < end:
            values = self.draw(generator).values
            for column, (name, cell) in places.items():
                out[column].append(values[name][cell])
            n -= 1
        return {column: np.array(x) for column, x in out.items()}


def distance(a, b):
    """The Kolmogorov-Smirnov statistic of two samples, whose square root of
    size is multiplied in; numbers that rounding parts are one."""
    both = np.concatenate([a, b])
    order = np.argsort(both, kind="stable")
    sorted_ = both[order]
    step = np.where(order < len(a), 1 / len(a), -1 / len(b))
    ends = np.diff(sorted_) > SAME * np.maximum(1, np.abs(sorted_[:-1]))
    apart = np.abs(np.cumsum(step))[:-1][ends]
    return math.sqrt(len(a) * len(b) / len(both)) * \
        (float(np.max(apart)) if apart.size else 0.0)
