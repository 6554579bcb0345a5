"""What is asked of a random model.  Each oracle gives None, or a Failure whose
`kind` names the fault without names and numbers of the model, so that one fault
is told once."""

import json
import math
import os
import random
import re
import shutil
import sys
from dataclasses import replace

import numpy as np

import bridges
import cost
import density
import earlier
import forward
import stays
import syntax
import transform
from harness import (ROOT, Failure, Settings, bench_of, broke,  # noqa: F401
                     c_compiler, message, plain_kind, read_draws,
                     starting_values)
from simulate import Impossible
from syntax import to_json

LIMIT = 5.0  # |z| that is looked at again, and that fails if met again
FORWARD = 2.7  # likewise, of Kolmogorov and Smirnov: met by chance once in 1e6
ESS = 100  # fewer effective draws say nothing
RHAT = 1.03
APART = 1.2  # R-hat of chains that do not say what the posterior is
ENDS = ("signal", "no end", "sanitizer")  # kinds of failures that end all
STILL = 1e6  # R-hat of chains that stand still: rounding over rounding
FAR = 1e8  # means beyond say nothing: the tail is too heavy for one
MANY = 20000  # bytes of data


# -------------------------------------------------------------------- compile

def compile_model(bench, sampler="sampler", **variables):
    words = [bench.settings.gbmc, "-O", bench.settings.level, "model.gbm",
             "-o", sampler]
    if bench.data_at_compile:
        words += ["--data", "data.json"]
    status, out, err = bench.run(words, 120, **variables)
    failed = broke("gbmc", status, out, err)
    if failed:
        return failed
    if status:
        if "C compiler failed" in err:
            lines = [l for l in err.splitlines() if " error: " in l]
            return Failure("cc", plain_kind(lines[0].split("error: ")[1]
                                            if lines else err), err[:1500])
        what = message(err)
        return Failure("refused", plain_kind(what.split("error: ")[-1],
                                             bench.names()), err[:1500])
    return None


def warnings_of_c(bench):
    """What the C compiler has to say of the text, without -w."""
    words = [bench.settings.gbmc, "--emit=c", "model.gbm"]
    if bench.data_at_compile:
        words += ["--data", "data.json"]
    status, out, err = bench.run(words)
    if status:
        return Failure("cc", "--emit=c fails", err[:500])
    with open(bench.at("model.c"), "w") as f:
        f.write(out)
    stdlib = os.path.join(ROOT, "stdlib/kernels")
    runtime = os.path.join(ROOT, "runtime")
    status, out, err = bench.run(
        ["cc", "-std=gnu11", "-fsyntax-only", "-Wall", "-Wextra",
         "-Wno-unused-but-set-variable",
         "-I", runtime, "-I", stdlib, "model.c"])
    lines = [l for l in err.splitlines()
             if re.search(r"model\.c:.*(warning|error):", l)]
    if lines:
        return Failure("cc", plain_kind(re.split(r"(?:warning|error): ",
                                                 lines[0])[1]), err[:1500])
    return None


def nvrtc(bench):
    """The CUDA text compiles."""
    status, out, err = bench.run(
        [bench.settings.gbmc, "--emit=cuda", "model.gbm"])
    if status:
        return Failure("nvrtc", "--emit=cuda fails", err[:500])
    with open(bench.at("model.cu"), "w") as f:
        f.write(out)
    check = os.path.join(ROOT, "build", "tests", "gpu", "nvrtc_check")
    status, out, err = bench.run(
        [check, "model.cu", "sm_90", "--std=c++17",
         "-I" + os.path.join(ROOT, "stdlib/kernels")], 200)
    if status:
        lines = [l for l in (out + err).splitlines() if "error" in l]
        return Failure("nvrtc", plain_kind(re.sub(
            r"^.*error: ", "", lines[0]) if lines else "fails"),
            (out + err)[:1500])
    return None


# ------------------------------------------------------------- self-checks

# Conditions that data say hold (whole.py): not at any start; and given its
# outcome no sweep leaves a side of one, so that the joint distribution test says
# nothing.
HELD = re.compile(r"dconstraint\(|dbern\(1 \* ")


def far_out(text, truth):
    """Starting values far from the bulk, for what has no bounds."""
    model, far = syntax.parse(text), {}
    if HELD.search(text):
        return far
    bounded = {r.left[1] for r in syntax.relations(model.body) if r.bounds or
               not r.random or r.value[1] not in FREE}
    read = set()
    for r in syntax.relations(model.body):
        if r.value[0] == "call" and r.value[1] in ("dinterval", "dsum"):
            read |= syntax.reads(r)
    for r in syntax.relations(model.body):
        name = r.left[1]
        if name in bounded or name in read or name not in truth:
            continue
        far[name] = truth[name] * FREE[r.value[1]]
    return far


# how much farther a value of these may be
FREE = {"dnorm": 12, "normal": 12, "dt": 12, "ddexp": 12, "dlogis": 12,
        "dgamma": 9, "gamma": 9, "dlnorm": 0.1, "lognormal": 0.1,
        "dmnorm": 12, "dexp": 9, "laplace": 12, "dweib": 3}


def check(bench, text, truth):
    """At the sampler's own starts, then at points far out."""
    failed = check_from(bench, ())
    far = far_out(text, truth) if failed is None else {}
    if not far:
        return failed
    with open(bench.at("far.json"), "w") as f:
        json.dump(to_json(far), f)
    failed = check_from(bench, ("--init", "far.json"))
    if failed and failed.kind.startswith("error: no starting point"):
        bench.notes.append("check: the data are impossible far out")
        return None
    if failed:
        failed.kind += ", far out"
    return failed


def check_from(bench, more):
    status, out, err = bench.sampler("check", "--seed", str(bench.seed), *more)
    failed = broke("check", status, out, err)
    if failed:
        return failed
    if status == 0:
        return None
    rows = [l for l in out.splitlines() if "FAIL" in l]
    if rows:
        kind = rows[0][28:60].strip() if len(rows[0]) > 60 else rows[0]
        m = re.match(r"^.*?\s{2,}(.*?)\s+\d+\s+\S+\s+FAIL", rows[0])
        kind = m.group(1) if m else kind
        what = "inf or NaN" if re.search(r"\b(inf|nan)\b", rows[0]) else \
            "another density"
        return Failure("check", f"{kind}: {what}", "\n".join(rows))
    return Failure("check", plain_kind(message(err)), err[:1000])


def geweke(bench):
    status, out, err = bench.sampler(
        "geweke", "--seed", str(bench.seed), "--draws",
        str(bench.settings.replicates))
    failed = broke("geweke", status, out, err)
    if failed:
        if failed.kind == "no end":  # prior draws may be far out: it is slow
            bench.notes.append("geweke: no end")
            return None
        return failed
    if status == 0 or "too vague" in err or "cannot be simulated" in err:
        return None
    rows = [l for l in out.splitlines() if "FAIL" in l and " z of " in l]
    if not rows:
        return Failure("geweke", plain_kind(message(err)), err[:1000])
    # once more, with more replicates: a limit is passed by chance, too
    status, again, err = bench.sampler(
        "geweke", "--seed", str(bench.seed + 7919), "--draws",
        str(4 * bench.settings.replicates),
        seconds=4 * bench.settings.seconds)
    names = {l.split("  ")[0] for l in rows}
    more = [l for l in again.splitlines() if "FAIL" in l and
            l.split("  ")[0] in names]
    if status in (0, 124) or not more:
        bench.notes.append("geweke: only once")
        return None
    return Failure("geweke", "joint distribution", "\n".join(more))


def held(bench):
    """What a sampler holds is what follows from the nodes behind each step, from
    its own starts and from a checkpoint, with moves along lines and with powers
    that methods set: GBM_HELD asks."""
    short = ("run", "--quiet", "--device", "cpu", "--chains", "2", "--seed",
             str(bench.seed), "--out", "held.csv", "--draws", "24")
    runs = [("--warmup", "40", "--checkpoint", "held.ck"),
            ("--resume", "held.ck"), ("--warmup", "16")]
    for words, lines in zip(runs, ("off", "off", "always")):
        status, out, err = bench.sampler(
            *short, *words, GBM_HELD="1", GBM_LINES=lines)
        failed = broke("held", status, out, err)
        if failed or "behind" in err:
            return failed or Failure("held", left_behind(err), err[:1000])
    if bench.seed % 5 == 3:  # chains whose data are drawn anew
        _, _, err = bench.sampler("geweke", "--seed", str(bench.seed),
                                  "--draws", "100", GBM_HELD="1")
        if "behind: " in err or "leaves behind" in err:
            return Failure("held", "geweke", err[:1000])
    return bridges.held(bench) if bench.seed % 5 == 2 else None


def left_behind(err):
    """Without names: by what kind of step, and what."""
    return plain_kind(re.sub(r"Step \d+, \S+ \(.*?\),", "A step", message(err)))


# ------------------------------------------------------------- forward draws

def leaves_doubles(text):
    """Whether much of a prior is below the smallest double, as of a gamma with a
    shape of 0.001: what follows from such a draw has no digits to compare."""
    return re.search(r"\bdgamma\(0\.0\d*,", text) is not None


def forward_agrees(bench, text, data):
    """What `simulate` draws beside what plain Python draws from the text; and what
    the distribution functions are there, given each draw's own parents."""
    suspects = None
    if leaves_doubles(text):
        bench.notes.append("forward: a prior that leaves the doubles")
        return None
    try:
        own = forward.Forward(text, data)
    except (Impossible, density.Unknown) as why:
        bench.notes.append(f"forward: {plain_kind(str(why))}")
        return None
    for times, seed in ((1, bench.seed), (4, bench.seed + 104729)):
        n = times * bench.settings.replicates
        status, out, err = bench.sampler(
            "simulate", "--quiet", "--chains", "1", "--draws", str(5 * n),
            "--seed", str(seed), "--digits", "12", "--out", "forward.csv")
        failed = broke("forward", status, out, err)
        if failed:
            return failed
        if status:
            bench.notes.append(f"forward: {plain_kind(message(err))}")
            return None
        drawn = columns(bench.at("forward_1.csv"))
        try:
            rows = far_from_own(own, drawn, n, seed, bench.settings.seconds)
        except (Impossible, density.Unknown) as why:
            bench.notes.append(f"forward: {plain_kind(str(why))}")
            return None
        suspects = {c for c in rows if suspects is None or c in suspects}
        if not suspects:
            return None
    return Failure("forward", "other draws", "\n".join(
        rows[c] for c in sorted(suspects)[:8]))


def far_from_own(own, drawn, n, seed, seconds):
    """What each statement, or each number, that is not as it should be is like."""
    with np.errstate(all="ignore"):
        uniform = transform.Transform(own.model, own.names, own.empty) \
            .uniforms(drawn, seconds / 2)
        far = {s: transform.distance(u) for s, u in uniform.items()}
        rows = {s: f"{s}: {len(uniform[s])} draws, distance {x:.1f}"
                for s, x in far.items() if x > FORWARD}
        if rows:
            return rows
        mine = own.columns(drawn, n, np.random.default_rng(seed), seconds / 2)
    far = {c: forward.distance(x, drawn[c]) for c, x in mine.items()}
    return {c: f"{c} mean {np.mean(drawn[c]):.5g} own {np.mean(mine[c]):.5g}, "
            f"distance {x:.1f}" for c, x in far.items() if x > FORWARD}


def columns(path):
    """Of a CSV file of draws, by name."""
    rows = read_draws(path)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


# --------------------------------------------------- the density, on its own

def few_draws(bench, chains, *words):
    """(failure, draws of all chains) of a run with lp__."""
    status, out, err = bench.sampler(
        "run", "--quiet", "--chains", str(chains), "--seed", str(bench.seed),
        "--lp", "--out", "few.csv", "--digits", "17", "--device", "cpu", *words)
    failed = broke("run", status, out, err)
    if failed or status:
        return failed or Failure("run", plain_kind(message(err)),
                                 err[:1000]), []
    return None, [row for chain in range(1, chains + 1)
                  for row in read_draws(bench.at(f"few_{chain}.csv"))]


def density_agrees(bench, text, data, truth):
    """lp__ of some draws beside the log density that plain Python adds up;
    only differences, as constants are the compiler's own. The last begins at
    what the data were made with: what no step can move lies elsewhere there."""
    failed, rows = few_draws(bench, 2, "--warmup", "4", "--draws", "4")
    if failed:
        return failed
    model = density.Density(text, data)
    if not model.possible:
        return None
    if truth:
        with open(bench.at("truth.json"), "w") as f:
            json.dump(to_json(truth), f)
        failed, more = few_draws(bench, 1, "--warmup", "0", "--draws", "1",
                                 "--init", "truth.json")
        if failed and failed.kind.startswith(ENDS):
            return failed
        if failed and density.is_possible(model, truth):
            return Failure("density", "no start at what the data were made "
                           "with", failed.detail)
        if failed:
            bench.notes.append("density: no start at what the data were made "
                               "with")
        rows += more
    pairs = []
    for row in rows:
        if not all(math.isfinite(v) for v in row.values()):
            try:
                if model.has_no_draw(row):
                    bench.notes.append("density: parameters that allow no draw")
                    return None
            except density.Unknown:
                pass
            bad = [n for n, v in row.items() if not math.isfinite(v)]
            return Failure("run", "a draw is not finite", str(bad[:8]))
        try:
            own = model.log_density(row)
        except density.Unknown as why:
            bench.notes.append(f"density: {plain_kind(str(why))}")
            return None
        if model.differs:
            return Failure("density", "a computed value",
                           "\n".join(model.differs[:8]))
        pairs.append((row["lp__"], own))
    impossible = [p for p in pairs if not math.isfinite(p[1])]
    if impossible:
        return Failure("density", "a draw is impossible",
                       f"lp__, own: {pairs}\n{model.why}")
    offset = pairs[0][0] - pairs[0][1]
    if any(abs(a - b - offset) > 1e-5 * max(1, abs(b)) and
           abs(a - b - offset) > rounding(model, row) + rounding(model, rows[0])
           for (a, b), row in zip(pairs, rows)):
        return Failure("density", "lp__ moves otherwise",
                       "\n".join(f"{a:.10g} {b:.10g} {a - b:.6g}"
                                 for a, b in pairs))
    return None


def rounding(model, row):
    """What rounding may do to a log density: ten times what some nudges in the
    last digit of each number do."""
    at, worst = model.log_density(row), 0.0
    for k in range(4):
        signs = random.Random(k)
        near = {n: v if v == round(v) else
                v * (1 + signs.choice((-4e-16, 4e-16))) for n, v in row.items()}
        worst = max(worst, abs(model.log_density(near) - at))
    return 10 * worst


# ------------------------------------------------------------ two posteriors

def summary(bench, name, seed, draws, warmup, *more, chains=4, seconds=None):
    """What a run finds of all, and of the deviance: numbers that only together
    are off may be so by little beside their own spread (Modrák et al. 2023)."""
    path = f"{name}.json"
    status, out, err = bench.sampler(
        "run", "--quiet", "--device", "cpu", "--chains", str(chains), "--warmup",
        str(warmup), "--draws", str(draws), "--seed", str(seed),
        "--thin", str(max(1, draws // 4000)), "--summary", path,
        *with_deviance(bench), *more, seconds=seconds)
    if status:
        return status, out, err
    with open(bench.at(path)) as f:
        return 0, json.load(f), err


def with_deviance(bench):
    """Words of a run that keeps it, too, if no variable has its name; where there
    are many data there may be many arrays, of which only the small are kept."""
    many = os.path.getsize(bench.at("data.json")) > MANY
    return () if many or "deviance" in bench.names() else \
        ("--monitor", "all,deviance")


def skewness(p):
    """The standard deviation of the log of a lognormal whose median lies as far
    from the ends of the 90 % interval."""
    wide = p["q95"] - p["q5"]
    near = min(p["q50"] - p["q5"], p["q95"] - p["q50"])
    return math.log(wide / near) / 1.645 if near > 0 else 99


def stands_still(p):
    """Each of its chains has one value for ever, and not of a few."""
    whole = all(p.get(q) == round(p.get(q) or 0) for q in ("q5", "q50", "q95"))
    return (p.get("rhat") or 0) > STILL and not whole


def in_modes(parameters):
    """Whether some node's chains are apart, as in modes between which they do not
    move."""
    return any(APART < (p.get("rhat") or 0) < STILL
               for p in parameters.values())


def z_scores(a, b):
    """[(|z|, name, text)], largest first; spreads are compared, too, where
    both have many draws."""
    rows = []
    for name, p in a.items():
        q = b.get(name)
        if q is None or p.get("mean") is None or q.get("mean") is None:
            continue
        if max(abs(p["mean"]), abs(q["mean"])) > FAR:
            continue
        ea, eb = p.get("mcse") or 0.0, q.get("mcse") or 0.0
        na, nb = p.get("ess_bulk") or 0.0, q.get("ess_bulk") or 0.0
        spread = max(p.get("sd") or 0.0, q.get("sd") or 0.0)
        if spread == 0:
            # six digits are what JAGS writes
            z = 0.0 if abs(p["mean"] - q["mean"]) <= \
                1e-5 * max(1, abs(p["mean"])) else math.inf
            rows.append((z, name, f"{name} {p['mean']:.6g} "
                         f"{q['mean']:.6g}, constant"))
            continue
        if stands_still(p) != stands_still(q) and \
                min(p.get("rhat") or 9, q.get("rhat") or 9) < RHAT:
            rows.append((math.inf, name, f"{name} constant in each chain of "
                         "one side"))
            continue
        if min(na, nb) < ESS or \
                max(p.get("rhat") or 9, q.get("rhat") or 9) > RHAT:
            continue
        # what a summary's error is too sure of: rounding of six digits
        error = math.hypot(ea, eb) + 1e-5 * abs(p["mean"])
        z = abs(p["mean"] - q["mean"]) / error
        rows.append((z, name, f"{name} mean {p['mean']:.5g} {q['mean']:.5g} "
                     f"sd {p['sd']:.4g} {q['sd']:.4g} ess {na:.0f} {nb:.0f}"))
        # widths of the 90 % interval: robust, where tails are heavy
        if min(na, nb) >= 4 * ESS and None not in (
                p.get("q5"), p.get("q95"), q.get("q5"), q.get("q95")):
            wide = p["q95"] - p["q5"], q["q95"] - q["q5"]
            tail = min(p.get("ess_tail") or 0, q.get("ess_tail") or 0)
            whole = all(v == round(v) for v in
                        (p["q5"], p["q95"], q["q5"], q["q95"]))
            if tail >= ESS and min(wide) > 0 and not whole:
                # of an interval's log width, for all but odd shapes
                z = abs(math.log(wide[0] / wide[1])) * math.sqrt(tail) / max(
                    3, 2.5 * skewness(p), 2.5 * skewness(q))
                rows.append((z, name, f"{name} width {wide[0]:.4g} "
                             f"{wide[1]:.4g} ess {tail:.0f}"))
    return sorted(rows, reverse=True)


def from_some(bench, text, truth, like):
    """The posterior is the same where starting values of some elements are
    given."""
    given = earlier.some_values(bench, text, truth)
    return beside_run(bench, "init", ("--init", given), like)


def beside_run(bench, oracle, words, like):
    """The derived sampler beside one whose run has these words, too."""
    def other(seed, draws, seconds=None):
        return summary(bench, oracle, seed + 1, draws, draws // 2, *words,
                       seconds=seconds)
    return compare_runs(bench, oracle, other, words, like)


def compare_runs(bench, oracle, other, words=(), like={}):
    """The derived sampler beside `other(seed, draws)`; with words, that is a run
    that has them."""
    n = bench.settings.draws
    got = {}

    def derived(seed, draws, seconds=None):
        return summary(bench, "derived", seed, draws, draws // 2,
                       seconds=seconds)
    for times, seed in ((1, bench.seed), (8, bench.seed + 104729)):
        sides = []
        for side in (derived, other):
            status, out, err = side(seed, times * n,
                                    seconds=bench.settings.seconds * times)
            if status == 77:
                return None
            failed = broke(oracle if side is other else "run", status, str(out),
                           err)
            if failed and failed.kind == "no end" and (times > 1 or
                                                       side is other):
                bench.notes.append(f"{oracle}: no end")
                return None
            if failed:
                return failed
            if status:
                return Failure("run" if side is derived else oracle,
                               plain_kind(message(err)), err[:1000])
            sides.append(out["parameters"])
        if oracle == "plain" and held_back(*sides):
            bench.notes.append("plain: held where all nodes have a draw")
            return None
        if oracle == "plain" and held_fast(*sides):
            bench.notes.append("plain: stays where the derived sampler moves")
            return None
        rows = z_scores(*sides)
        suspects = {r[1] for r in rows if r[0] > LIMIT}
        if times == 1:
            got = suspects
            if not rows:
                bench.notes.append(f"{oracle}: too few effective draws")
            if not suspects:
                return None
    met = [r for r in rows if r[0] > LIMIT and r[1] in got]
    if not met:
        bench.notes.append(f"{oracle}: only once")
        return None
    still = any("constant" in r[2] for r in met)
    if words and not still and any(map(in_modes, sides)):
        # what looks mixed may be other in each mode: whether the posterior is
        # left as it lies says more
        bench.notes.append(f"{oracle}: chains do not agree, asked stays")
        return stays.leaves(bench, like)
    if words and not still and met_in_one_mode(
            bench, words, like, {r[1] for r in met}):
        bench.notes.append(f"{oracle}: chains stay in the mode they start in")
        return None
    kind = "one side never moves" if still else "another posterior"
    return Failure(oracle, kind, "\n".join(r[2] + f" z {r[0]:.1f}"
                                           for r in met[:8]))


def held_back(derived, plain):
    """Whether a node that is drawn forward has parameters now and then that allow
    no draw, as a Poisson mean beyond the integers: what it depends on moves on;
    but the plain sampler stays where the node, one of its own, has a value."""
    return any(p["mean"] is None and plain[name]["mean"] is not None
               for name, p in derived.items() if name in plain)


def held_fast(derived, plain):
    """Whether the plain sampler's chains never leave where they began, in some
    node of which the derived one's agree: as of k of n that are 1 no node can
    move by itself."""
    return any((plain.get(name, {}).get("rhat") or 0) > STILL and
               0 < (p.get("rhat") or 0) < RHAT for name, p in derived.items())


def met_in_one_mode(bench, words, like, names):
    """Whether none of the names differs between the derived sampler and the
    plain one, chain by chain, where both begin at the states in which a run with
    these words ended: two right samplers may each stay in modes of their own, but
    not from there."""
    n, seconds = bench.settings.draws, 4 * bench.settings.seconds
    status, _, _ = summary(bench, "ended", bench.seed + 7, n, n // 2, *words,
                           "--out", "ended.csv", seconds=seconds)
    for chain in range(1, 5) if status == 0 else ():
        with open(bench.at("start.json"), "w") as f:
            json.dump(to_json(starting_values(
                read_draws(bench.at(f"ended_{chain}.csv"))[-1], like)), f)
        sides = []
        for name, more in (("derived", []), ("plain", ["--plain"])):
            status, out, _ = summary(
                bench, name, bench.seed + 11, 4 * n, 2 * n, "--init",
                "start.json", *more, chains=1, seconds=seconds)
            if status:
                return False
            sides.append(out["parameters"])
        if names & {r[1] for r in z_scores(*sides) if r[0] > LIMIT}:
            return False
    return status == 0


def plain(bench, like):
    """Every node by itself on the joint density."""
    return beside_run(bench, "plain", ("--plain",), like)


# ------------------------------------------------------------------------ JAGS

# what a script for JAGS cannot name: its own words
JAGS_WORDS = set("""model data in compile initialize adapt update monitor clear
thin exit parameters inits to type nchains chain load unload coda stem set
samplers seed list run factory dir cd pwd by""".split())


def jags(bench, names, data):
    sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))
    import oraclelib as o

    def other(seed, draws, seconds=None):
        o.write_rdump(data, bench.at("data.R"))
        # JAGS's glm mistakes the precision of an observed dlogis
        with open(bench.at("model.gbm")) as f:
            lines = [] if "dlogis(" in f.read() else ["load glm"]
        lines += ['model in "model.gbm"']
        lines += ['data in "data.R"'] if data else []
        lines += ["compile, nchains(2)"]
        for k in (1, 2):
            with open(bench.at(f"init{k}.R"), "w") as f:
                f.write('".RNG.name" <- "base::Mersenne-Twister"\n'
                        f'".RNG.seed" <- {seed * 2 + k}\n')
            lines.append(f'parameters in "init{k}.R", chain({k})')
        lines += ["initialize", "adapt 1000", f"update {draws}"]
        lines += [f"monitor {n}" for n in names if n not in JAGS_WORDS]
        lines += [f"update {2 * draws}", 'coda *, stem("jags_")', "exit"]
        with open(bench.at("script.cmd"), "w") as f:
            f.write("\n".join(lines) + "\n")
        status, out, err = bench.run(["jags", "script.cmd"], seconds)
        if status == 124:
            return 124, out, err
        if not os.path.exists(bench.at("jags_chain1.txt")):
            bench.jags_said = out + err
            return 78, out, err
        draws_of = o.read_coda(bench.at("jags_"), 2)
        for k in (1, 2):
            os.unlink(bench.at(f"jags_chain{k}.txt"))
        return 0, {"parameters": {n: with_tails(o.describe(x))
                                  for n, x in draws_of.items()}}, ""

    def with_tails(p):
        return {**p, "ess_bulk": p["ess"], "ess_tail": p["ess"] / 2}
    failed = compare_runs(bench, "jags", other)
    if failed and failed.oracle == "jags" and hasattr(bench, "jags_said"):
        said = [l for l in bench.jags_said.splitlines()
                if re.search("(?i)error|invalid|cannot|failed", l)]
        bench.notes.append("jags refuses: " + plain_kind(" ".join(
            re.split("(?i)error", bench.jags_said)[-1].split())[:120]
            if said else "?"))
        return None
    return failed


def jags_accepts(bench, data):
    """Whether JAGS starts the model (for what gbmc refuses)."""
    sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))
    import oraclelib as o
    o.write_rdump(data, bench.at("data.R"))
    with open(bench.at("script.cmd"), "w") as f:
        f.write('load glm\nmodel in "model.gbm"\ndata in "data.R"\n'
                "compile, nchains(1)\ninitialize\nupdate 5\nexit\n")
    status, out, err = bench.run(["jags", "script.cmd"])
    text = out + err
    return status == 0 and not re.search(
        r"(?i)error|syntax|failure|cannot|invalid", text)


# ------------------------------------------------------- draw by draw

def gpu(bench):
    """The first sweep of the host and of a GPU."""
    return same_draws("gpu", bench, bench, "cpu", "cuda")


def singly(bench):
    """The first sweep where random numbers are made one after another, as on a
    GPU, and not many at once."""
    other = replace(bench, program="singly")
    failed = compile_model(bench, "singly",
                           CC=c_compiler() + " -DGBM_ONE_BY_ONE")
    return failed or same_draws("singly", bench, other, "cpu", "cpu")


def same_draws(oracle, first, second, *devices):
    """The first sweep of two benches of one model, number by number."""
    draws = []
    for bench, device in zip((first, second), devices):
        out = f"{bench.program}_{device}"
        status, text, err = bench.sampler(
            "run", "--quiet", "--device", device, "--chains", "2", "--warmup",
            "0", "--draws", "4", "--seed", "3", "--out", f"{out}.csv",
            seconds=300, GBM_AWAY="1")  # dear moves must gain the same
        failed = broke(oracle, status, text, err)
        if failed:
            return failed
        if status:
            return Failure(oracle, f"{device}: " + plain_kind(message(err)),
                           err[:1000])
        draws.append([read_draws(bench.at(f"{out}_{k}.csv"))
                      for k in (1, 2)])
    for a, b in zip(*draws):
        for name, x in a[0].items():
            y = b[0].get(name, math.nan)
            if name.endswith("__") and name != "lp__":
                continue
            # equal infinities differ by what is no number
            if x != y and not abs(x - y) <= 1e-6 * max(1, abs(x)) and not (
                    math.isnan(x) and math.isnan(y)):
                return Failure(oracle, "the first sweep differs",
                               f"{name}: {x!r} {y!r}")
    return None


# ------------------------------------------------------------------ all of it

def ask(name, bench, text, data, bugs=True, truth=None):
    """One oracle's failure, or None, of a model that is compiled."""
    like = {**data, **(truth or {})}
    steps = {
        "warnings": lambda: warnings_of_c(bench),
        "nvrtc": lambda: nvrtc(bench),
        "check": lambda: check(bench, text, truth or {}),
        "density": lambda: density_agrees(
            bench, text, data, truth),
        "held": lambda: held(bench),
        "cost": lambda: cost.agrees(bench, text, data),
        "plain": lambda: plain(bench, like),
        "powers": lambda: bridges.conditionals(bench),
        "tempering": lambda: compare_runs(
            bench, "tempering", bridges.draws(bench, "tempering")),
        "smc": lambda: compare_runs(bench, "smc", bridges.draws(bench, "smc")),
        "forward": lambda: forward_agrees(bench, text, data),
        "stays": lambda: stays.leaves(bench, like),
        "lines": lambda: stays.leaves(bench, like, lines=True),
        "from": lambda: earlier.predicted(bench, text, data),
        "init": lambda: from_some(bench, text, truth or {}, like),
        "geweke": lambda: None if HELD.search(text) else geweke(bench),
        "jags": lambda: jags(bench, monitors(bench), data) if bugs else None,
        "gpu": lambda: gpu(bench),
        "singly": lambda: singly(bench),
    }
    return steps[name]()


def asks_in_vain(failed):
    """Of nodes that cancel in what reads them (exp(b) / sum(exp(b))), which
    the generator does not see, or that only predictions read."""
    return failed.oracle == "refused" and "drawn forward" in failed.kind


def examine(text, data_text, data, seed, folder, settings, bugs=True,
            only=None, truth=None, more=None):
    """(failures, notes, oracles that ran) of a model; `only` one oracle's. `more`:
    oracles of its own, name -> function of a bench."""
    bench = bench_of(text, data_text, seed, folder, settings)
    ran, failures = ["gbmc"], []
    failed = compile_model(bench)
    if failed and asks_in_vain(failed):
        # rightly refused; what is left is a model all the same
        bench.notes.append("asks to move what is drawn forward")
        text = text[:text.rindex("\nsamplers {") + 1]
        bench.write(text, data_text)
        failed = compile_model(bench)
    if failed:
        if failed.oracle == "refused":
            if "jags" in settings.oracles and bugs:
                ran.append("jags")
                if jags_accepts(bench, data):
                    failed.oracle = "refused, but JAGS accepts it"
        return [failed], bench.notes, ran
    for name in settings.oracles:
        if only is not None and name not in only:
            continue
        ran.append(name)
        failed = more[name](bench) if name in (more or {}) else \
            ask(name, bench, text, data, bugs, truth)
        if failed:
            failures.append(failed)
            if failed.kind.startswith(ENDS) or failed.oracle == "run":
                break
    return failures, bench.notes, ran


def monitors(bench):
    """Names of what the sampler reports."""
    path = bench.at("few_1.csv")
    if not os.path.exists(path):
        bench.sampler("run", "--quiet", "--chains", "2", "--warmup", "1",
                      "--draws", "1", "--out", "few.csv", "--device", "cpu")
    if not os.path.exists(path):
        return []
    columns = {n.split(".")[0] for n in read_draws(path)[0]
               if not n.endswith("__")}
    return sorted(n for n in bench.names() if syntax.column_name(n) in columns)


def clean(folder):
    shutil.rmtree(folder, ignore_errors=True)
