"""What a sweep recomputes, beside what JAGS would: for each element its own
density, those of its random children and what is computed on the way to them,
each once.  Rows are counted, not time: the sampler says how many each phase of
a step goes through (run --profile), and a walk through the model's text at a
draw which nodes depend on which."""

import re

import numpy as np

import density
import syntax
from harness import Failure, broke, message, plain_kind, read_draws
from simulate import Impossible, NotReady, World

TIMES = 2.0  # so many rows of one phase for each of JAGS's are as many
FEW = 8.0  # rows more that say nothing


class Watch(World):
    """Notes the cells that are read.  What a random subscript may choose among
    is all of the array, as for JAGS."""

    def __init__(self, world, moving):
        super().__init__(world.values)
        self.moving = moving  # names that data do not settle
        self.read = set()

    def value(self, e, loops):
        if e[0] == "name" and e[1] not in loops:
            self.note_cells(e[1], ())
        if e[0] == "index":
            random = any(syntax.names_in(p) & self.moving for p in e[2])
            self.note_cells(e[1], () if random else self.cells(e, loops))
        return super().value(e, loops)

    def note_cells(self, name, where):
        self.read.update((name, k) for k in self.numbers(name, where))

    def numbers(self, name, where):
        shape = np.shape(self.values[name]) if name in self.values else ()
        return np.ravel(np.arange(int(np.prod(shape))).reshape(shape)[where])


class Graph:
    """Nodes are the instances of statements."""

    def __init__(self, text, data, row):
        d = density.Density(text, data)
        world = d.world_of(row)
        density.settle(world, d.model.body, None)
        moving = {r.left[1] for r in syntax.relations(d.model.body)}
        self.random, self.observed, self.names = [], [], []
        parents, makes = [], {}
        for s in d.model.body:
            for r, at in world.each(s, {}):
                watch = Watch(world, moving)
                for e in (r.value, *filter(None, r.bounds[1:])):
                    for a in e[2] if r.random and e is r.value else (e,):
                        watch.value(a[2] if a[0] == "named" else a, at)
                cells = [(r.left[1], k) for k in watch.numbers(
                    r.left[1], () if r.left[0] == "name"
                    else world.cells(r.left, at))]
                makes.update((c, len(parents)) for c in cells)
                parents.append(watch.read)
                self.random.append(r.random)
                self.names.append(r.left[1])
                given = np.ravel(d.data.get(r.left[1], np.nan))
                self.observed.append(r.random and all(
                    k < given.size and not np.isnan(given[k])
                    for _, k in cells))
        self.children = [set() for _ in parents]
        for n, read in enumerate(parents):
            for c in read:
                if c in makes:
                    self.children[makes[c]].add(n)

    def cost(self, n):
        """Nodes that an update of n computes."""
        met, next_ones = {n}, [n]
        while next_ones:
            at = next_ones.pop()
            if at != n and self.random[at]:
                continue
            for k in self.children[at] - met:
                met.add(k)
                next_ones.append(k)
        return len(met)

    def costs(self):
        """Of all latent elements of a name together."""
        total = {}
        for n, name in enumerate(self.names):
            if self.random[n] and not self.observed[n]:
                total[name] = total.get(name, 0) + self.cost(n)
        return total


UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}
NUMBER = r"\s+([\d.e+-]+)(?: ([kMG]))?"
STEP = re.compile(r" *(\d+)  (\S.*?)  +\S")
PHASE = re.compile(r" {8}(\w+: \S.*?)" + NUMBER + NUMBER + NUMBER +
                   r"\s+[\d.e+-]+$")


def phases(out):
    """[(variables of the step, phase, rows)]"""
    if "Where the time goes" not in out:
        return []
    steps, counts = out.split("Where the time goes")[1].split("What a sweep")
    variable = {m[1]: m[2] for m in map(STEP.match, steps.splitlines()) if m}
    rows, at = [], None
    for line in counts.splitlines():
        m = PHASE.match(line)
        if m and at:
            rows.append((variable[at], m[1].strip(),
                         float(m[2]) * UNITS[m[3] or ""]))
            continue
        m = STEP.match(line)
        at = m[1] if m and m[1] in variable else at
    return rows


def names_of(variables, known):
    """Names of the model in a step's column, b[k], line[j,1]."""
    found = set(re.findall(r"[A-Za-z][\w.]*", re.sub(r"\[[^]]*\]", "",
                                                     variables)))
    return found if found <= set(known) else None


def agrees(bench, text, data):
    status, out, err = bench.sampler(
        "run", "--chains", "1", "--warmup", "3", "--draws", "3", "--seed",
        str(bench.seed), "--profile", "--out", "cost.csv", "--digits", "17",
        "--device", "cpu")
    failed = broke("run", status, out, err)
    if failed:
        return failed
    if status:
        return Failure("run", plain_kind(message(err)), err[:1000])
    try:
        graph = Graph(text, data, read_draws(bench.at("cost_1.csv"))[-1])
    except (density.Unknown, Impossible, NotReady, IndexError) as why:
        bench.notes.append(f"cost: {plain_kind(str(why))}")
        return None
    costs = graph.costs()
    whole = len(graph.names) + sum(costs.values())
    over = []
    for variables, phase, rows in phases(out + err):
        names = names_of(variables, costs)
        most = sum(costs[n] for n in names) if names else whole
        if rows > TIMES * most + FEW:
            over.append(f"{variables}: {rows:g} rows of {phase}, JAGS {most}")
    return Failure("cost", "more than its children", "\n".join(over)) \
        if over else None
