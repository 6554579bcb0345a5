"""Real models, those of tests/ and examples/, changed at random: the model of a
seed with one to four edits. Edits that only say the same in another way leave the
posterior as it was, which needs no other judge; the rest make another problem of
it, for all oracles that need no recorded answers."""

import functools
import glob
import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np

import altering
import augmenting
import density
import labels
import oracles
import rearranging
import rewriting
import syntax
from edits import NO, REAL, State
from harness import ROOT, Failure, bench_of, plain_kind
from simulate import World
from syntax import to_json

sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))
import oraclelib  # noqa: E402

REWRITINGS = rewriting.EDITS + rearranging.EDITS + augmenting.EDITS + labels.EDITS
ALTERATIONS = altering.EDITS + labels.CHANGES
MOST, TRIES = 4, 30  # edits of a model, and tries until one applies


@dataclass
class Original:
    name: str
    path: str
    text: str
    data: dict

    def state(self, point):
        return State(syntax.parse(self.text), dict(self.data), point)


@dataclass
class Varied:
    """The original and what it became; `steps` are the edits, each with its own
    seed, so that some of them can be done without the others."""
    original: Original
    state: State
    steps: list

    @property
    def text(self):
        return syntax.show_model(self.state.model)

    @property
    def data(self):
        used = syntax.all_names(self.state.model)
        return {n: v for n, v in self.state.data.items() if n in used}

    @property
    def told(self):
        """What of_told makes this of, whatever edits there will be."""
        return self.original.name + ":" + ",".join(
            f"{edit.__name__}={seed}.{k}" for edit, (seed, k) in self.steps)

    @property
    def features(self):
        return [*dict.fromkeys(edit.__name__ for edit, _ in self.steps),
                "of " + self.original.name]

    def truth(self):
        """Means on record of what has no whole numbers, and is where it was."""
        model = syntax.parse(self.original.text)
        real = {r.left[1] for r in syntax.relations(model.body)
                if r.random and r.value[1] in REAL}
        return {n: x for n, x in self.state.point.items() if n in real and
                np.all(np.isfinite(x)) and n in self.state.defined() and
                not self.state.moved}


@functools.lru_cache(maxsize=None)
def originals():
    done = subprocess.run([os.path.join(ROOT, "tests/statistical/models")],
                          capture_output=True, text=True, check=True)
    out = []
    for line in done.stdout.splitlines():
        _, name, model, *data = line.split()
        with open(os.path.join(ROOT, model)) as f:
            text = f.read()
        try:
            syntax.parse(text)
        except SyntaxError:  # loops over vectors, which are not read here
            continue
        values = {}
        for path in data:
            values.update(oraclelib.read_data(os.path.join(ROOT, path)))
        out.append(Original(name, model, text, {
            n: np.asarray(v, float) for n, v in values.items()}))
    return out


def original_of(seed):
    every = originals()
    return every[seed % len(every)]


# -------------------------------------------------------------------- points

@functools.lru_cache(maxsize=None)
def recorded():
    """Posterior means on record, of each model file."""
    out = {}
    for path in sorted(glob.glob(f"{ROOT}/tests/reference/*.json")
                       + glob.glob(f"{ROOT}/tests/models/*/reference.json")):
        with open(path) as f:
            reference = json.load(f)
        settings = reference.get("settings")
        if settings and "nodes" in reference:
            model = os.path.relpath(os.path.join(
                os.path.dirname(path), settings["model"]), ROOT)
            out.setdefault(model, {}).update(reference["nodes"])
    return out


def point_of(original):
    """Arrays of all that the original defines, as large as its statements make
    them: with the means that are on record, else NaN."""
    model = syntax.parse(original.text)
    world = World({n: v.copy() for n, v in original.data.items()})
    try:
        density.settle(world, model.data, None)
    except NO:
        pass
    size = {}
    for s in model.body:
        try:
            for r, at in world.each(s, {}):
                world.growing = True
                ends = [p.stop if isinstance(p, slice) else np.max(p) + 1
                        for p in world.cells(r.left, at)] \
                    if r.left[0] == "index" else []
                size.setdefault(r.left[1], []).append(tuple(map(int, ends)))
        except NO:
            size.setdefault("", []).append(())
    out = {n: np.full(np.max(ends, axis=0) if ends[0] else (), np.nan)
           for n, ends in size.items() if n and n not in original.data and
           len(set(map(len, ends))) == 1}
    for node, p in recorded().get(original.path, {}).items():
        name, at = quantity(node)
        x = out.get(name)
        if x is not None and x.ndim == len(at) and all(
                i <= n for i, n in zip(at, x.shape)) and p.get("mean") is not None:
            x[tuple(i - 1 for i in at)] = p["mean"]
    return out


# --------------------------------------------------------------------- edits

def applied(edit, state, seed):
    """The state after an edit, or None where it does not apply or does
    nothing."""
    try:
        new = edit(state, np.random.default_rng(seed))
        if new is None or key(new) == key(state):
            return None
        if new.model.after and len(new.moved) > len(state.moved):
            # samplers that are asked for name what is renamed
            new = replace(new, model=replace(new.model, after=""))
        syntax.parse(syntax.show_model(new.model))
        return new
    except NO:
        return None


def key(state):
    return syntax.show_model(state.model), json.dumps(to_json(state.data))


def families(only):
    """(rewritings, alterations), or those of some names."""
    return [[e for e in family if not only or e.__name__ in only]
            for family in (REWRITINGS, ALTERATIONS)]


def vary(seed, only=()):
    """The model of a seed; by edits of the names in `only` alone, if any."""
    original = original_of(seed)
    g = np.random.default_rng([seed, 0])
    state = original.state(point_of(original))
    rewritings, alterations = families(only)
    steps = []
    alter = g.random() < 0.5
    wanted = int(g.integers(1, MOST + 1))
    for k in range(TRIES * MOST):
        if len(steps) == wanted:
            break
        family = alterations if alter and (not steps or g.random() < 0.6) \
            else rewritings
        family = family or rewritings or alterations
        edit = family[int(g.integers(len(family)))]
        new = applied(edit, state, [seed, k + 1])
        if new:
            state = new
            steps.append((edit, [seed, k + 1]))
    return Varied(original, state, steps)


def again(varied, steps):
    """The original with some of the edits; None where they do not apply."""
    state = varied.original.state(varied.state.point)
    for edit, seed in steps:
        state = applied(edit, state, seed)
        if state is None:
            return None
    return Varied(varied.original, state, list(steps))


def of_told(told):
    """NAME:EDIT=SEED.K,...: the original of that name with these edits."""
    name, _, edits = told.partition(":")
    original = next(o for o in originals() if o.name == name)
    steps = []
    for edit in filter(None, edits.split(",")):
        edit, _, seed = edit.partition("=")
        steps.append((next(e for e in REWRITINGS + ALTERATIONS
                           if e.__name__ == edit),
                      [int(k) for k in seed.split(".")]))
    first = Varied(original, original.state(point_of(original)), [])
    made = again(first, steps)
    if made is None:
        raise ValueError(f"{told}: an edit does not apply")
    return made


# ------------------------------------------------------------------- oracles

def column(name, at):
    return ".".join([syntax.column_name(name), *map(str, at)])


def quantity(name):
    """A name of a summary, x[1,2], as a name and its subscripts."""
    name, _, at = name.partition("[")
    return name, tuple(int(k) for k in at.rstrip("]").split(",") if k)


def shown(name, at):
    return f"{name}[{','.join(map(str, at))}]" if at else name


def alike(bench, varied):
    """The posterior of the original, by its own sampler."""
    original = varied.original
    first = bench_of(original.text, json.dumps(to_json(original.data)),
                     bench.seed, bench.at("original"), bench.settings)
    if oracles.compile_model(first):
        bench.notes.append("alike: the original is refused")
        return None

    def other(seed, draws, seconds=None):
        status, out, err = oracles.summary(first, "original", seed + 1, draws,
                                           draws // 2, seconds=seconds)
        if status:
            return status, out, err
        return 0, {"parameters": {
            shown(*varied.state.cell(*quantity(n))): p
            for n, p in out["parameters"].items()}}, err
    return oracles.compare_runs(bench, "alike", other)


def columns_before(varied):
    """Which column of a draw each quantity of the original is."""
    original = syntax.parse(varied.original.text)
    size = {n: x.shape for n, x in {**varied.state.point,
                                    **varied.original.data}.items()}
    defined = {r.left[1] for r in syntax.relations(original.body)}
    cells = ((n, tuple(k + 1 for k in at)) for n in sorted(defined & set(size))
             for at in np.ndindex(size[n]))
    return {column(n, at): column(*varied.state.cell(n, at)) for n, at in cells}


def same_density(bench, varied):
    """The joint density of the original at some draws, but for a constant, as
    plain Python adds it up."""
    failed, rows = oracles.few_draws(bench, 2, "--warmup", "4", "--draws", "4")
    original = varied.original
    model = density.Density(original.text, original.data)
    if failed or not model.possible or varied.state.added:
        return failed
    before = columns_before(varied).items()
    pairs = []
    for row in rows:
        try:
            pairs.append((row["lp__"], model.log_density(
                {c: row[d] for c, d in before if d in row})))
        except density.Unknown as why:
            bench.notes.append(f"same: {plain_kind(str(why))}")
            return None
    offset = pairs[0][0] - pairs[0][1]
    if not all(np.isfinite(p).all() for p in pairs):
        return Failure("same", "no density at a draw", str(pairs[:4]))
    if any(abs(a - b - offset) > 1e-4 + 1e-6 * max(abs(a), abs(b))
           for a, b in pairs):
        return Failure("same", "lp__ moves otherwise than the original's",
                       "\n".join(f"{a:.10g} {b:.10g} {a - b:.6g}"
                                 for a, b in pairs))
    return None


# what is asked beside the original, and of other problems alone
AS_BEFORE = {"same": same_density, "alike": alike}
ALTERED = ("plain", "jags")


def examine(varied, seed, folder, settings, only=None):
    """(failures, notes, oracles that ran)."""
    same = varied.state.same
    asked = replace(settings, oracles=tuple(
        n for n in settings.oracles if n not in AS_BEFORE and
        not (same and n in ALTERED)))
    data = json.dumps(to_json(varied.data))
    bench = bench_of(varied.text, data, seed, folder, asked)
    failures, notes, ran = oracles.examine(
        varied.text, data, varied.data, seed, folder, asked, True, only,
        truth=varied.truth() if same else None)
    for name, f in AS_BEFORE.items() if same else ():
        if not failures and name in settings.oracles and \
                (only is None or name in only):
            ran.append(name)
            failed = f(bench, varied)
            failures = [failed] if failed else []
    return judged(varied, bench, failures, notes + bench.notes) + (ran,)


def judged(varied, bench, failures, notes):
    """What JAGS does not take either is no failure of a problem that was
    altered."""
    out = []
    for f in failures:
        vain = f.oracle in ("refused", "run", "check") and (
            f.oracle == "refused" or f.kind.startswith("error"))
        if vain and not varied.state.same:
            if f.oracle == "refused" or not oracles.jags_accepts(
                    bench, varied.data):
                notes.append(f"not taken, nor by JAGS: {f.kind[:60]}")
                continue
        out.append(f)
    return out, notes


def smaller(varied, seed, settings, failure, tmp):
    """The fewest of the edits that fail in the same way."""
    def fails(candidate, k):
        failures, _, _ = examine(candidate, seed, os.path.join(tmp, str(k)),
                                 settings, {failure.oracle})
        return any((f.oracle, f.kind) == (failure.oracle, failure.kind)
                   for f in failures)
    at, tried = 0, 0
    while at < len(varied.steps) and len(varied.steps) > 1:
        candidate = again(varied, varied.steps[:at] + varied.steps[at + 1:])
        tried += 1
        if candidate and fails(candidate, tried):
            varied = candidate
        else:
            at += 1
    return varied


if __name__ == "__main__":
    for word in sys.argv[1:]:
        made = vary(int(word)) if word.isdigit() else of_told(word)
        print(f"# {made.told}", "same" if made.state.same else "altered")
        print(made.text)
        print(json.dumps(to_json(made.data)))
