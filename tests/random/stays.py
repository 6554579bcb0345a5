"""Whether a sampler leaves the posterior as it lies, however slowly it mixes: where
two posteriors are compared, chains that creep say nothing; here they begin in it.

Each of many chains begins where one of the plain sampler ended, and moves a few
sweeps. Where the plain ones have arrived, what the chains are then is distributed
as before (Gandy and Scott 2020, Unit testing for MCMC and other Monte Carlo
methods). Nothing is tuned: there is no warm-up. Plain chains that still know
halfway what they end as have not arrived, and say nothing.

`lines`: the sweeps end with moves along lines that all chains learn together in
a short warm-up, whether they pay or not. It begins in the posterior, too; so
many chains learn much the same wherever each of them is."""

import json
import math

import numpy as np

from harness import Failure, broke, message, plain_kind, read_draws, \
    starting_values
from syntax import to_json

CHAINS, SWEEPS, ARRIVE = 64, 24, 120
LEARN = 16  # of these SWEEPS, where lines are learnt
LIMIT = 5.5  # |z| that is looked at again, and that fails if met again
MOVES = 3.0  # |z| at which the plain sampler has not arrived
FORGOT = 0.5  # the most that a chain's rank halfway tells of its rank at the end


def leaves(bench, like, lines=False):
    """None, or the Failure; `like` has arrays of the model, by name."""
    oracle = "lines" if lines else "stays"
    suspects = None
    for times, seed in ((1, bench.seed + 3), (4, bench.seed + 104773)):
        states, failed = three_times(bench, like, times, seed, lines)
        if failed or states is None:
            return failed
        far = {name: z for name, z in scores(*states) if z > LIMIT}
        suspects = far if suspects is None else \
            {n: z for n, z in far.items() if n in suspects}
        if not suspects:
            if times > 1:
                bench.notes.append(f"{oracle}: only once")
            return None
    return Failure(oracle, "another posterior is drawn towards", "\n".join(
        f"{n} z {z:.1f}" for n, z in sorted(
            suspects.items(), key=lambda item: -item[1])[:8]))


def three_times(bench, like, times, seed, lines):
    """What each chain is halfway to where the plain sampler ends, at that end, and
    where it and the derived one come to from there; None where that cannot be
    had."""
    chains, found, begin = times * CHAINS, [], []
    for k, (name, sweeps, more) in enumerate((
            ("ended", times * ARRIVE, ["--plain"]),
            ("plain", SWEEPS, ["--plain", "--start", "typical"]),
            ("derived", SWEEPS, ["--start", "typical"]))):
        learn = LEARN if lines and name == "derived" else 0
        left = sweeps - learn
        status, out, err = bench.sampler(
            "run", "--quiet", "--device", "cpu", "--chains", str(chains),
            "--warmup", str(learn), "--draws", str(left), "--thin",
            str(left // 2), "--digits", "17", "--seed", str(seed + k), "--out",
            f"{name}.csv", *begin, *more,
            seconds=2 * times * bench.settings.seconds,
            GBM_LINES="always" if learn else "off")
        if status == 124 or status and name == "ended":
            bench.notes.append("stays: the plain sampler does not arrive")
            return None, None
        failed = broke("run", status, out, err)
        if failed or status:
            return None, failed or Failure("stays", plain_kind(message(err)),
                                           err[:1000])
        draws = [read_draws(bench.at(f"{name}_{k}.csv"))
                 for k in range(1, chains + 1)]
        if not begin:
            found.append([halfway for halfway, _ in draws])
        found.append([end for _, end in draws])
        for k, row in enumerate(found[-1] if not begin else (), 1):
            with open(bench.at(f"begin_{k}.json"), "w") as f:
                json.dump(to_json(starting_values(row, like)), f)
        begin = [word for k in range(1, chains + 1)
                 for word in ("--init", f"begin_{k}.json")]
    return [columns(rows) for rows in found], None


def columns(rows):
    return {name: np.array([row[name] for row in rows]) for name in rows[0]
            if not name.endswith("__")}


def scores(halfway, ended, plain, derived):
    """(name, |z|) of what had arrived: means of paired differences, of ranks, as
    tails may be heavy, and of their distance from the middle.  Elements that only
    their sum holds, as of an intrinsic autoregression, creep all together by steps
    that are small beside their own: their mean must have arrived, too."""
    means = [of_arrays(s) for s in (halfway, ended, plain)]
    creeping = {name for name in means[2] if all(name in m for m in means) and
                not all(arrived(*turned(*(m[name] for m in means)))
                        for turned in (ranks, spread))}
    for name, x in plain.items():
        states = [s.get(name) for s in (halfway, ended)] + [x, derived.get(name)]
        if any(s is None or not np.all(np.isfinite(s)) for s in states) or \
                name.split(".")[0] in creeping:
            continue
        for turned in (ranks, spread):
            half, at, to, by = turned(*states)
            if arrived(half, at, to):
                yield name, paired(to, by)


def arrived(half, at, to):
    return paired(at, to) < MOVES and correlation(half, at) < FORGOT


def of_arrays(columns):
    """The mean over the elements of each array."""
    arrays = {}
    for name, x in columns.items():
        array, *at = name.split(".")
        if at and np.all(np.isfinite(x)):
            arrays.setdefault(array, []).append(x)
    return {array: np.mean(xs, axis=0) for array, xs in arrays.items()}


def ranks(*samples):
    every = np.sort(np.concatenate(samples))
    return [(np.searchsorted(every, s, "left") +
             np.searchsorted(every, s, "right")) / (2 * len(every))
            for s in samples]


def spread(*samples):
    return [np.abs(r - 0.5) for r in ranks(*samples)]


def paired(a, b):
    d = b - a
    error = math.sqrt(np.var(d, ddof=1) / len(d))
    return abs(np.mean(d)) / error if error > 0 else 0.0


def correlation(a, b):
    moved = np.std(a) > 0 and np.std(b) > 0
    return np.corrcoef(a, b)[0, 1] if moved else 0.0
