#!/usr/bin/env python3
"""Every distribution and function that `gbmc --list` shows, as compiled for
the CPU in double precision, against what R says (recorded/*.json, by record.R;
far.json, where R loses too many digits itself, by mpmath and record_far.py):
log densities, also truncated and at and beyond the ends of the support, the
functions logdensity.foo, pfoo and qfoo, and draws, also truncated, by
chi-square. What has no recorded values fails by name.

check_recorded.py [NAME...]"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
BUILD = os.path.join(ROOT, os.environ.get("GBM_BUILD", "build"))
GBMC = os.environ.get("GBMC", os.path.join(BUILD, "gbmc"))
DRAWS = 2500      # of each element; a case has one for every point
RELATIVE = 1e-8   # log density, cdf, quantile, function values
ABSOLUTE = 1e-13
LOG_MASS = 1e-9   # of the log of a small difference of cdfs, in R too
WORST_Z = 4.5     # of some 1500 chi-square tests

# Not compared with R, and why.
NOT_RECORDED = {
    "dflat": "its density is 1 everywhere: check_densities.py",
    "dhalfflat": "its density is 1 everywhere: check_densities.py",
    "dinterval": "an indicator: check_densities.py",
    "dround": "an indicator: check_densities.py",
    "dsum": "an indicator: check_densities.py",
    "dcar_zero_mean": "check_densities.py",
    "car.normal": "check_densities.py",
    "dconstraint": "an indicator: check_densities.py",
    "dloglik": "its argument is the log density",
    "dpick": "takes two values, both arguments: check_densities.py",
    "power_law": "improper; never written in a model: check_densities.py",
}
# Their cdf would be an integral that no function of ours has.
NO_CDF = {"gig", "root_gig", "modified_half_normal", "von_mises"}
# No quantile function; JAGS has none of these either.
NO_QUANTILE = {"dnormmix", "dgeom", "dgeom0", "dbetabin", "dcat",
               "dordered.logit", "dordered.probit", "dmstate"}
# No logdensity. function: it would hold the inverse of a matrix.
NO_LOGDENSITY = {"dmnorm.vcov"}
# Named after Stan's: no logdensity.irichlet.
OTHERS_NAMED_D = {"dirichlet"}


class Failures:
    def __init__(self):
        self.checks, self.failed = 0, 0

    def check(self, good, message):
        self.checks += 1
        if not good:
            self.failed += 1
            print("FAILED", message)

    # Off the support of a vector the log density may be NaN too: -inf + inf.
    def near(self, ours, theirs, message, absolute=ABSOLUTE):
        good = ours == theirs or (math.isnan(ours) and math.isnan(theirs)) or \
            (math.isnan(ours) and theirs == -math.inf and "[" in message) or \
            abs(ours - theirs) <= RELATIVE * abs(theirs) + absolute
        self.check(good, f"{message}: {ours!r}, R: {theirs!r}")


FAILURES = Failures()


class Program:
    """A model, its data, and what is to be compared with its output."""

    def __init__(self):
        self.lines, self.data = ["model {"], {}
        self.expected = {}  # (kind, name) -> [(value, message, absolute)]
        self.draws = {}     # name -> [(elements, cuts, mass, message)]

    def parameters(self, key, values):
        """Data arrays of parameter lists, one list per element j; returns the
        arguments' text."""
        out = []
        for i in range(len(values[0])):
            name = f"{key}.p{i + 1}"
            self.data[name] = [v[i] for v in values]
            out.append(name + subscripts(values[0][i], "j"))
        return ", ".join(out)

    def statement(self, key, count, text):
        self.lines.append(f"  for (j in 1:{count}) {{ {key}{text} }}")

    def expect(self, kind, name, items):
        self.expected[kind, name] = items


def subscripts(value, first=None):
    """[j,1:3] for a vector of three, and so on; '' for a scalar."""
    inner = [f"1:{n}" for n in np.shape(value)]
    inner = ([first] if first else []) + inner
    return f"[{','.join(inner)}]" if inner else ""


def describe(case):
    return f"{case['name']}({', '.join(map(str, case['parameters']))})"


# ---- distributions ----

def add_distribution(p, name, cases):
    if "multivariate" in cases[0]:
        return add_vector(p, name, cases)
    folded = [c for c in cases if "folded" in c]
    cases = [c for c in cases if "folded" not in c]
    if folded:
        add_densities(p, name, folded, "folded")
    add_densities(p, name, cases)
    if name not in NO_CDF:
        add_truncated(p, name, cases)
    if name[0] == "d":
        add_functions(p, name, cases)


def add_densities(p, name, cases, kind="x"):
    """kind "folded": the first parameter is 0, and so is the lower bound."""
    key, points, expected, tests = f"{kind}.{name}", [], [], []
    for case in cases:
        first = len(points)
        for x, value in zip(case["x"], case["log_density"]):
            points.append((case["parameters"], x))
            expected.append((value, f"{describe(case)} at {x}: log density"))
        if "draws" in case:
            tests.append((range(first, len(points)), case["draws"],
                          describe(case)))
    p.data[key] = [x for _, x in points]
    args = p.parameters(key, [v for v, _ in points])
    if kind == "folded":
        args = "0," + args.split(",", 1)[1]
    p.statement(key, len(points), f"[j] ~ {name}({args})" +
                ("T(0,)" if kind == "folded" else ""))
    p.expect("density", key, expected)
    p.draws[key] = tests


def add_truncated(p, name, cases, prefix=""):
    for kind in ("lower", "upper", "both"):
        key, points, expected, tests = f"{prefix}{kind}.{name}", [], [], []
        for case in cases:
            for t in case.get("truncated", []):
                ends = ("both" if math.isfinite(t["lower"] + t["upper"]) else
                        "upper" if math.isfinite(t["upper"]) else "lower")
                if ends != kind:
                    continue
                where = f"{describe(case)} T({t['lower']},{t['upper']})"
                first = len(points)
                for x, value in zip(t["x"], t["log_density"]):
                    points.append((case["parameters"], x, t["lower"],
                                   t["upper"]))
                    expected.append((value, f"{where} at {x}: log density",
                                     LOG_MASS))
                tests.append((range(first, len(points)), t["draws"], where))
        if not points:
            continue
        p.data[key] = [q[1] for q in points]
        lower, upper = "", ""
        if kind != "upper":
            p.data[key + ".l"] = [q[2] for q in points]
            lower = f"{key}.l[j]"
        if kind != "lower":
            p.data[key + ".u"] = [q[3] for q in points]
            upper = f"{key}.u[j]"
        args = p.parameters(key, [q[0] for q in points])
        p.statement(key, len(points), f"[j] ~ {name}({args})T({lower},{upper})")
        p.expect("density", key, expected)
        p.draws[key] = tests


def add_functions(p, name, cases):
    stem = name[1:]
    density, cdf, quantile = [], [], []
    for case in cases:
        v, where = case["parameters"], describe(case)
        # where x is a subscript, data that cannot be one are an error
        subscript = case["discrete"] and any(np.ndim(a) for a in v)
        halves = case["discrete"] and not subscript
        for x, value in zip(case["x"], case["log_density"]):
            density.append((v, x, value, where))
        for x in case["beyond"] if not subscript else []:
            density.append((v, x, -math.inf, where))
            if name not in NO_CDF:
                cdf.append((v, x, float(x > case["x"][0]), where))
        for x, value in zip(case["edge"], case["edge_log_density"]):
            density.append((v, x, value, where))
        if halves:
            density.append((v, case["x"][0] + 0.5, -math.inf, where))
        for x, value in zip(case["x"], case["cdf"]):
            cdf.append((v, x, value, where))
            if halves:
                cdf.append((v, x + 0.25, value, where))
        for u, value in zip(case.get("p", []), case.get("quantile", [])):
            quantile.append((v, u, value, where))
    for kind, call, items in (("e", f"logdensity.{stem}", density),
                              ("c", f"p{stem}", cdf),
                              ("q", f"q{stem}", quantile)):
        if not items or (kind != "e" and name in NO_CDF) or (
                kind == "q" and name in NO_QUANTILE):
            continue
        key = f"{kind}.{name}"
        p.data[key + ".x"] = [i[1] for i in items]
        args = p.parameters(key, [i[0] for i in items])
        p.statement(key, len(items), f"[j] <- {call}({key}.x[j], {args})")
        p.expect("value", key, [(i[2], f"{call} of {i[1]}, {i[3]}")
                                for i in items])


def add_vector(p, name, cases):
    key = f"x.{name}"
    points = [(case["parameters"], x, value, describe(case)) for case in cases
              for x, value in zip(case["x"], case["log_density"])]
    p.data[key] = [q[1] for q in points]
    args = p.parameters(key, [q[0] for q in points])
    p.statement(key, len(points),
                f"{subscripts(points[0][1], 'j')} ~ {name}({args})")
    p.expect("density", key, [(q[2], f"{q[3]} at {q[1]}: log density")
                              for q in points])
    if name[0] != "d" or name in OTHERS_NAMED_D | NO_LOGDENSITY:
        return
    points += [(case["parameters"], x, -math.inf, describe(case))
               for case in cases for x in case["beyond"]]
    key = f"e.{name}"
    p.data[key + ".x"] = [q[1] for q in points]
    args = p.parameters(key, [q[0] for q in points])
    p.statement(key, len(points), f"[j] <- logdensity.{name[1:]}("
                f"{key}.x{subscripts(points[0][1], 'j')}, {args})")
    p.expect("value", key, [(q[2], f"logdensity.{name[1:]} of {q[1]}, {q[3]}")
                            for q in points])


# ---- functions ----

def add_function(p, name, cases, number):
    scalars = all(np.ndim(a) == 0 for c in cases for a in c["arguments"])
    if scalars and name != "rep":
        key = f"f.{name}"
        args = p.parameters(key, [c["arguments"] for c in cases])
        p.statement(key, len(cases), f"[j] <- {name}({args})")
        p.expect("value", key, [
            (c["value"], f"{name}({', '.join(map(str, c['arguments']))})")
            for c in cases])
        return
    for i, c in enumerate(cases):
        key, args = f"g{number}.{i}", []
        for k, a in enumerate(c["arguments"]):
            p.data[f"{key}.{k}"] = a
            args.append(f"{key}.{k}{subscripts(a)}")
        call = f"{args[0]} %*% {args[1]}" if name == "%*%" else \
            f"{name}({', '.join(args)})"
        p.lines.append(f"  {key}{subscripts(c['value'])} <- {call}")
        p.expect("value", key, [(float(v), f"{name}({c['arguments']})")
                                for v in np.ravel(c["value"])])


# ---- running it ----

def command(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, check=False,
                          **more)
    if done.returncode:
        print(" ".join(words[:3]), "failed:", done.stdout[-3000:],
              done.stderr[:6000])
        sys.exit(1)
    return done.stdout


def run(p, folder):
    """The lines that values.c prints, as {(kind, name): numbers}, and the
    draws."""
    at = lambda f: os.path.join(folder, f)
    with open(at("m.bug"), "w", encoding="utf-8") as f:
        f.write("\n".join(p.lines + ["}", ""]))
    with open(at("d.json"), "w", encoding="utf-8") as f:
        json.dump(p.data, f)
    with open(at("m.c"), "w", encoding="utf-8") as f:
        f.write(command(GBMC, "--emit=c", "--data=" + at("d.json"),
                        at("m.bug")))
    with open(os.path.join(BUILD, "link_flags"), encoding="utf-8") as f:
        flags = f.read().split()
    command(*os.environ.get("CC", "cc").split(), "-std=gnu11", "-O1", "-w",
            "-fno-math-errno", "-fno-trapping-math", "-fopenmp",
            "-I" + os.path.join(ROOT, "stdlib/kernels"),
            "-I" + os.path.join(ROOT, "runtime"), at("m.c"),
            os.path.join(HERE, "values.c"), os.path.join(BUILD, "libgbm.a"),
            *flags, "-o", at("m"))
    text = command(at("m"), "--data", at("d.json"), "--draws", str(DRAWS),
                   "--seed", "5", "--out", at("draws"))
    found, draws = {}, {}
    for line in text.splitlines():
        kind, name, *rest = line.split()
        if kind == "draws":
            draws[name] = np.fromfile(at("draws"), count=int(rest[0]) * DRAWS,
                                      offset=8 * int(rest[1])).reshape(
                                          int(rest[0]), DRAWS)
        else:
            found[kind, name] = [float(v) for v in rest]
    return found, draws


def compare(p, found, draws):
    for key, items in p.expected.items():
        values = found.get(key, [])
        FAILURES.check(len(values) == len(items),
                       f"{key[1]}: {len(values)} values, not {len(items)}")
        for ours, (theirs, message, *absolute) in zip(values, items):
            FAILURES.near(ours, theirs, message, *absolute)
    for name, tests in p.draws.items():
        FAILURES.check(name in draws, f"{name}: no draws")
        for elements, bins, message in tests:
            if name in draws and len(elements):
                compare_draws(draws[name][list(elements)].ravel(), bins,
                              message)


def compare_draws(sample, bins, message):
    """Chi-square of the counts between cutpoints; its normal approximation by
    Wilson and Hilferty (1931)."""
    seen = np.bincount(np.searchsorted(bins["cuts"], sample, side="left"),
                       minlength=len(bins["mass"])).astype(float)
    expected = np.array(bins["mass"]) * len(sample)
    FAILURES.check(not np.any(np.isnan(sample)) and
                   not np.any(seen[expected < 1e-9]),
                   f"{message}: draws of mass 0: {sample[:4]}")
    keep = expected > 8
    k = keep.sum() - 1
    if k < 1:
        return
    total = np.sum((seen - expected)[keep] ** 2 / expected[keep])
    z = ((total / k) ** (1 / 3) - 1 + 2 / (9 * k)) / math.sqrt(2 / (9 * k))
    FAILURES.check(z < WORST_Z, f"{message}: draws, z = {z:.1f}, "
                   f"counts {seen.tolist()}, not {expected.round(1).tolist()}")


def listed():
    """{'Distributions': names, 'Functions': names} of gbmc --list."""
    out, kind = {}, None
    for line in command(GBMC, "--list").splitlines():
        if line and not line.startswith(" "):
            kind = out.setdefault(line.strip(), [])
        elif line.strip() and kind is not None:
            kind.append(re.split(r"[( ]", line.strip())[0])
    return out


def recorded(name):
    out = {}
    with open(os.path.join(HERE, "recorded", name), encoding="utf-8") as f:
        for item in json.load(f):
            out.setdefault(item["name"], []).append(item)
    return out


def main():
    if not os.path.exists(GBMC):
        print("skipped: gbmc is not built")
        sys.exit(77)
    only = sys.argv[1:]
    names = listed()
    distributions = recorded("distributions.json")
    functions = recorded("functions.json")
    far = {}
    for name, cases in recorded("far.json").items():
        table = functions if "arguments" in cases[0] else far
        table.setdefault(name, []).extend(cases)
    for kind, table in (("Distributions", distributions),
                        ("Functions", functions)):
        for name in names[kind]:
            FAILURES.check(name in table or name in NOT_RECORDED,
                           f"{kind}: {name} has no recorded values; see "
                           "record.R")
    p = Program()
    for name, cases in distributions.items():
        if not only or name in only:
            add_distribution(p, name, cases)
            add_truncated(p, name, far.get(name, []), "far.")
    for i, (name, cases) in enumerate(functions.items()):
        if not only or name in only:
            add_function(p, name, cases, i)
    with tempfile.TemporaryDirectory() as folder:
        compare(p, *run(p, folder))
    print(f"{FAILURES.checks} checks, {FAILURES.failed} failed")
    sys.exit(1 if FAILURES.failed else 0)


main()
