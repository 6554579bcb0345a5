"""What begins with values that are there already, as oracles: draws of new outcomes
given an earlier run, and runs from starting values of some elements."""

import json
import math
import os

import numpy as np

import density
import forward
import syntax
from harness import Failure, broke, message, plain_kind, read_draws
from simulate import Impossible, NotReady
from syntax import to_json

FAR = 2.7  # of Kolmogorov and Smirnov, as forward draws: that is looked at again
NO_OUTCOMES = ("dinterval", "dsum", "dround")  # they hold what they read


def outcomes(text, data):
    """Names of observed arrays that nothing reads."""
    relations = list(syntax.relations(syntax.parse(text).body))
    read = set()
    for r in relations:
        read |= syntax.reads(r)
    return {r.left[1] for r in relations if r.random and r.left[1] in data} - \
        read - {r.left[1] for r in relations
                if not r.random or r.value[1] in NO_OUTCOMES}


def predicted(bench, text, data):
    """`simulate --from` of a run: outcomes are drawn again, given each draw, as
    plain Python draws them given the same."""
    names = outcomes(text, data)
    model = density.Density(text, {n: v for n, v in data.items()
                                   if n not in names})
    if not names or not model.possible:
        return None
    with open(bench.at("rest.json"), "w") as f:
        json.dump(to_json(model.data), f)
    suspects = None
    for times, seed in ((1, bench.seed + 5), (4, bench.seed + 104801)):
        fit, drawn, failed = fit_and_predict(bench, sorted(names), times,
                                             seed)
        if failed or fit is None:
            return failed
        try:
            own = own_draws(model, names, fit, drawn[0], seed)
        except (density.Unknown, Impossible, NotReady) as why:
            bench.notes.append(f"from: {plain_kind(str(why))}")
            return None
        far = {c: forward.distance(np.array(x), np.array([r[c] for r in drawn]))
               for c, x in own.items()}
        suspects = {c for c, d in far.items() if d > FAR and
                    (suspects is None or c in suspects)}
        if not suspects:
            return None
    return Failure("from", "other outcomes", "\n".join(
        f"{c}: distance {far[c]:.1f}" for c in sorted(suspects)[:8]))


def fit_and_predict(bench, names, times, seed):
    """Draws of a run, and of outcomes given them; None where there are none."""
    n = str(times * bench.settings.replicates)
    words = ["--quiet", "--chains", "1", "--digits", "17"]
    for out in ("fit.nc", "fit.csv"):  # the same draws, for gbm and for here
        status, told, err = bench.sampler(
            "run", *words, "--device", "cpu", "--warmup", n, "--draws", n,
            "--thin", "4", "--seed", str(seed), "--out", out)
        failed = broke("from", status, told, err)
        if failed or status:
            return None, None, failed or Failure(
                "run", plain_kind(message(err)), err[:1000])
    status, out, err = bench.run(
        [bench.at("sampler"), "simulate", *words, "--data", "rest.json",
         "--threads", "1", "--seed", str(seed), "--from", "fit.nc", "--anew",
         ",".join(names), "--out", "outcome.csv"])
    failed = broke("from", status, out, err)
    if failed:
        return None, None, failed
    path = bench.at("outcome_1.csv")
    if status or not os.path.exists(path):
        bench.notes.append(f"from: {plain_kind(message(err))}")
        return None, None, None
    return read_draws(bench.at("fit_1.csv")), read_draws(path), None


def own_draws(model, names, fit, like, seed):
    """{column: values} of the outcomes, drawn given each row of the fit."""
    generator, own = np.random.default_rng(seed), {}
    for row in fit:
        world = model.world_of(row)
        world.generator = generator
        density.computed_by_sampler(world, model.model.body)
        density.settle(world, model.model.body, None)
        for s in model.model.body:
            for r, at in world.each(s, {}):
                if not r.random or r.left[1] not in names:
                    continue
                world.put(r.left, at, world.draw(r, at))
        for column in like:
            m = density.COLUMN.match(column)
            name = m and model.names.get(m.group(1))
            if name not in names or column in row:
                continue
            at = tuple(int(k) - 1 for k in m.group(2).split(".")[1:])
            own.setdefault(column, []).append(float(world.values[name][at]))
    return {c: x for c, x in own.items() if np.all(np.isfinite(x))}


def some_values(bench, text, truth):
    """The file that gives starting values of some elements of some nodes."""
    generator = np.random.default_rng(bench.seed)
    whole = {r.left[1] for r in syntax.relations(syntax.parse(text).body)
             if r.left[0] == "index" and
             any(p[0] in ("range", "all") for p in r.left[2])}
    given = {}
    for name, v in sorted(truth.items()):
        if generator.random() < 0.5:
            continue
        given[name] = np.array(v, float)
        if name not in whole and np.ndim(v):
            given[name][generator.random(np.shape(v)) < 0.5] = math.nan
    with open(bench.at("some.json"), "w") as f:
        json.dump(to_json(given), f)
    return "some.json"
