#!/usr/bin/env python3
"""Log densities, distribution functions and quantiles of JAGS's distributions
and values of its functions: as the files define them, as a compiled model
computes them (GBMC), and as JAGS does (six digits, as it prints)."""
import os
import shutil
import subprocess
import sys
import tempfile

import library as L
from library import math, np

FAILURES = L.Failures()
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
GBMC = os.environ.get("GBMC", os.path.join(ROOT, "build", "gbmc"))

# name: parameters, points; p and q too where True
DISTRIBUTIONS = {
    "dbeta": ([[2.5, 1.3], [0.7, 4]], [0.1, 0.5, 0.93], True),
    "dchisqr": ([[3.5], [1]], [0.3, 2, 7], True),
    "ddexp": ([[0.4, 2.1]], [-1, 0.4, 3], False),
    "dexp": ([[1.7]], [0.2, 2], True),
    "df": ([[3, 5.5]], [0.3, 1, 4], True),
    "dgamma": ([[2.2, 0.7], [0.4, 3]], [0.05, 1, 6], True),
    "dgen.gamma": ([[1.4, 0.6, 2.3]], [0.3, 1, 2.5], True),
    "dlogis": ([[0.3, 2]], [-2, 0.4, 3], True),
    "dlnorm": ([[0.2, 3]], [0.3, 1, 2], True),
    "dnchisqr": ([[3, 1.5]], [0.4, 3, 9], True),
    "dnorm": ([[1, 0.3]], [-3, 1, 5], True),
    "dpar": ([[2.5, 1.2]], [1.3, 4], True),
    "dt": ([[0.5, 2, 3.3]], [-2, 0.5, 4], True),
    "dunif": ([[-1, 2.5]], [-0.3, 2], False),
    "dweib": ([[1.6, 0.8]], [0.2, 1, 3], True),
    "dnt": ([[0.6, 1.3, 5]], [-1, 0.5, 3], False),
    "dbern": ([[0.3]], [0, 1], False),
    "dbin": ([[0.3, 8]], [0, 3, 8], True),
    "dhyper": ([[5, 6, 4, 1], [5, 6, 4, 2.4]], [0, 2, 4], True),
    "dnegbin": ([[0.4, 3], [0.7, 2.5]], [0, 2, 7], True),
    "dpois": ([[3.3]], [0, 2, 9], True),
    "dbetabin": ([[2, 3.5, 7]], [0, 3, 7], False),
    "dscaled.gamma": ([[1.3, 2.5]], [0.2, 1, 5], False),
}
ARRAYS = {
    "dcat": [("2", ["a"]), ("3", ["a"])],
    "ddirch": [("simplex", ["a"])],
    "dmulti": [("counts", ["a", "6"])],
    "dmnorm": [("b", ["a", "V"])],
    "dmnorm.vcov": [("b", ["a", "V"])],
    "dmt": [("b", ["a", "V", "4.5"])],
    "dwish": [("W", ["V", "5"])],
    "dnormmix": [("0.7", ["b", "a", "simplex"])],
    "dordered.logit": [("1", ["0.3", "c"]), ("3", ["0.3", "c"]),
                       ("4", ["0.3", "c"])],
    "dordered.probit": [("2", ["0.3", "c"])],
    "dsample": [("picked", ["simplex", "2"])],
}
# Stands for dmnorm of an inverse; and a constant subscript outside c.
NOT_IN_GBMC = ("logdensity.mnorm.vcov", "logdensity.ordered.logit(4")
FUNCTIONS = {
    "abs": ["-1.3"], "arccos": ["0.3"], "arccosh": ["1.7"], "arcsin": ["0.3"],
    "arcsinh": ["-0.8"], "arctan": ["2.0"], "arctanh": ["0.4"], "cos": ["1.1"],
    "cosh": ["0.7"], "cloglog": ["0.3"], "exp": ["0.4"], "icloglog": ["-0.6"],
    "ilogit": ["0.9"], "log": ["2.2"], "logfact": ["6"], "loggam": ["2.7"],
    "logit": ["0.2"], "phi": ["-1.4"], "pow": ["1.7", "2.3"],
    "probit": ["0.13"], "round": ["2.5"], "sin": ["0.7"], "sinh": ["0.7"],
    "sqrt": ["3.0"], "step": ["0.0"], "tan": ["0.6"], "tanh": ["0.6"],
    "trunc": ["-2.7"], "equals": ["2", "2"], "ifelse": ["0", "3.1", "4.2"],
    "inprod": ["a", "b"], "interp.lin": ["1.2", "c", "a"], "logdet": ["V"],
    "max": ["b"], "mean": ["b"], "min": ["b"], "prod": ["a"], "sd": ["b"],
    "sum": ["b"],
}
VALUES = {
    "a": np.array([0.8, 1.9, 3.1]), "b": np.array([-0.4, 1.5, 0.2]),
    "c": np.array([-1.2, 0.4, 1.9]),
    "V": np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.4], [0.1, -0.4, 0.9]]),
    "W": np.array([[1.1, 0.2, 0.0], [0.2, 0.8, 0.1], [0.0, 0.1, 0.6]]),
    "simplex": np.array([0.2, 0.5, 0.3]), "counts": np.array([1.0, 3, 2]),
    "picked": np.array([1.0, 0, 1]),
}


def cases():
    """(JAGS expression, our value)"""
    get = L.LIBRARY["distribution"]
    for name, (parameters, points, more) in DISTRIBUTIONS.items():
        stem = name[1:]
        for v in parameters:
            v = [float(x) for x in v]
            args = ", ".join(repr(x) for x in v)
            for x in points:
                x = float(x)
                yield (f"logdensity.{stem}({x}, {args})",
                       L.log_density(get[name], v, x))
                if not more:
                    continue
                yield f"p{stem}({x}, {args})", L.at(get[name], "cdf", v, x=x)
                q = L.at(get[name], "quantile", v, p=0.37)
                if q is not None:
                    yield f"q{stem}(0.37, {args})", q
    for name, lists in ARRAYS.items():
        for x, args in lists:
            value = L.log_density(get[name], [number(a) for a in args],
                                  number(x))
            yield f"logdensity.{name[1:]}({', '.join([x] + args)})", value
    # JAGS's constant is another one; ours is checked by integration
    scaled = [L.log_density(get["dscaled.wishart"], [VALUES["a"], 2.0],
                            VALUES[x]) for x in "WV"]
    yield ("logdensity.scaled.wishart(W, a, 2)"
           " - logdensity.scaled.wishart(V, a, 2)", scaled[0] - scaled[1])
    for name, args in FUNCTIONS.items():
        tree = ("call", name, [("num", number(a)) for a in args])
        yield f"{name}({', '.join(args)})", float(L.evaluate(tree, {}))


def number(text):
    return VALUES[text] if text in VALUES else float(text)


def dump(name, v):
    flat = ", ".join(repr(float(x)) for x in np.ravel(v, order="F"))
    if v.ndim == 1:
        return f"{name} <- c({flat})\n"
    return (f"{name} <- structure(c({flat}), .Dim = "
            f"c({v.shape[0]}L, {v.shape[1]}L))\n")


def write_model(folder, expressions):
    with open(os.path.join(folder, "m.bug"), "w", encoding="utf-8") as f:
        f.write("model {\n  one ~ dnorm(0, 1)\n")
        for i, e in enumerate(expressions, 1):
            f.write(f"  out[{i}] <- {e} + 1.0E-300 * one\n")
        f.write("}\n")
    with open(os.path.join(folder, "d.R"), "w", encoding="utf-8") as f:
        f.write("".join(dump(k, v) for k, v in VALUES.items()))


def run(command, folder):
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def run_jags(expressions):
    """{index: value}; JAGS leaves out what is not finite."""
    with tempfile.TemporaryDirectory() as folder:
        at = lambda f: os.path.join(folder, f)
        write_model(folder, expressions)
        with open(at("s.cmd"), "w", encoding="utf-8") as f:
            f.write('load mix\nload glm\nmodel in "m.bug"\ndata in "d.R"\n'
                    "compile\ninitialize\nmonitor out\nupdate 1\ncoda *\n")
        _, text = run(["jags", "s.cmd"], folder)
        if not os.path.exists(at("CODAchain1.txt")):
            print(text)
            sys.exit(1)
        values = [float(line.split()[1]) for line in open(at("CODAchain1.txt"))]
        found = {}
        for line in open(at("CODAindex.txt"), encoding="utf-8"):
            name, first, _ = line.split()
            found[int(name[4:-1]) - 1] = values[int(first) - 1]
        return found


def run_gbmc(expressions):
    """{index: value} of the sampler of the same model."""
    with tempfile.TemporaryDirectory() as folder:
        write_model(folder, expressions)
        for command in ([GBMC, "m.bug", "-o", "m"],
                        ["./m", "--data", "d.R", "--device", "cpu", "--chains",
                         "1", "--warmup", "1", "--draws", "1", "--format",
                         "coda", "--out", "out", "--monitor", "out",
                         "--quiet"]):
            status, text = run(command, folder)
            if status:
                print(" ".join(command), "failed:", text)
                FAILURES.check(False, "gbmc")
                return {}
        files = os.listdir(folder)
        index = next(f for f in files if f.endswith("index.txt"))
        chain = next(f for f in files if f.endswith("chain1.txt"))
        values = [float(line.split()[1])
                  for line in open(os.path.join(folder, chain))]
        found = {}
        for line in open(os.path.join(folder, index), encoding="utf-8"):
            name, first, _ = line.split()
            if name.startswith("out["):
                found[int(name[4:-1]) - 1] = values[int(first) - 1]
        return found


def main():
    pairs = list(cases())
    expressions = [e for e, _ in pairs]
    programs = []
    if shutil.which("jags"):
        programs.append(("JAGS", run_jags(expressions)))
    if os.path.exists(GBMC):
        programs.append(("gbmc", run_gbmc(
            ["0" if e.startswith(NOT_IN_GBMC) else e for e in expressions])))
    if not programs:
        print("skipped: neither jags is installed nor gbmc built")
        sys.exit(77)
    for name, found in programs:
        for i, (expression, ours) in enumerate(pairs):
            if name == "gbmc" and expression.startswith(NOT_IN_GBMC):
                continue
            if i in found:
                FAILURES.near(ours, found[i], 5e-6, f"{name}: {expression}")
            else:
                FAILURES.check(not math.isfinite(ours),
                               f"{name}: {expression} missing")
    FAILURES.finish()


main()
