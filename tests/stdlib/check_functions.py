#!/usr/bin/env python3
"""Every function of stdlib: `derivative` against differences, `inverse`,
`range`, `log`, `log_complement`; and every C function that a file names is in
stdlib/kernels/*.h with as many arguments."""
import glob
import re

import library as L
from library import math, np

FAILURES = L.Failures()
# Where functions that do not take any real are defined.
UNIT, POSITIVE = (0.02, 0.98), (0.2, 6.0)
DOMAIN = {
    "log_phi_between": [(-2.5, 0.0), (0.5, 2.5)],
    "log": [POSITIVE], "sqrt": [POSITIVE], "arcsin": [(-0.95, 0.95)],
    "arccos": [(-0.95, 0.95)], "arctanh": [(-0.95, 0.95)],
    "arccosh": [(1.1, 5.0)], "loggam": [POSITIVE], "digamma": [POSITIVE], "trigamma": [POSITIVE],
    "log_choose": [(4.0, 9.0), (0.5, 3.5)], "log_beta": [POSITIVE] * 2,
    "probit": [UNIT], "logit": [UNIT], "cloglog": [UNIT], "log1p": [POSITIVE],
    "log1mexp": [POSITIVE], "pow": [POSITIVE, (-2.0, 2.0)],
    "gamma_p": [POSITIVE] * 2, "gamma_upper": [POSITIVE] * 2,
    "gamma_quantile": [POSITIVE, UNIT], "beta_i": [POSITIVE] * 2 + [UNIT],
    "beta_quantile": [POSITIVE] * 2 + [UNIT], "t_p": [POSITIVE, (-3.0, 3.0)],
    "t_quantile": [POSITIVE, UNIT], "log_bessel_k": [POSITIVE] * 2,
    "log_gig_total": [(-2.0, 2.0)] + [POSITIVE] * 2,
    "log_modified_half_normal_total": [POSITIVE, (-2.0, 2.0), POSITIVE],
    "besselK": [POSITIVE] * 2, "log_nchisqr_density": [POSITIVE] * 3,
    "nchisqr_p": [POSITIVE] * 3, "log_nt_density": [(-2.0, 2.0), POSITIVE,
                                                    (-2.0, 2.0)],
    "nchisqr_quantile": [UNIT] + [POSITIVE] * 2,
    "nt_quantile": [UNIT, POSITIVE, (-2.0, 2.0)],
    "hyper_quantile": [UNIT, (10, 10), (12, 12), (9, 9), POSITIVE],
    "log_hyper_total": [(10, 10), (12, 12), (9, 9), POSITIVE],
    "nt_p": [(-2.0, 2.0), POSITIVE, (-2.0, 2.0)], "log_bessel_i0": [POSITIVE],
    "logfact": [POSITIVE],
    "log_gamma_p": [POSITIVE] * 2, "log_gamma_upper": [POSITIVE] * 2,
    "log_beta_i": [POSITIVE] * 2 + [UNIT], "log_t_p": [POSITIVE, (-3.0, 3.0)],
    "log_gamma_between": [POSITIVE, (0.2, 1.0), (1.1, 2.0)],
    "log_beta_between": [POSITIVE] * 2 + [(0.1, 0.4), (0.5, 0.9)],
    "log_odds_between": [POSITIVE] * 2 + [(0.2, 1.0), (1.1, 2.0)],
    "log_t_between": [POSITIVE, (-2.5, 0.0), (0.5, 2.5)],
    "log_laplace_between": [(-2.5, 0.0), (0.5, 2.5)],
    "log_between": [(-3.0, -2.0), (-0.2, -0.1), (-1.0, -0.5), (-1.0, -0.5)],
}


def value(entry, v):
    return float(L.call_entry(entry, list(v)))


def check_derivative(entry, v):
    for i, (_, tree) in enumerate(entry.clauses.get("derivative", [])):
        h = 1e-5 * (1 + abs(v[i]))
        step = lambda d: value(entry, [x + d * (j == i)
                                       for j, x in enumerate(v)])
        slope = (8 * (step(h) - step(-h)) - step(2 * h) + step(-2 * h)) / (
            12 * h)
        FAILURES.near(L.evaluate(tree, L.bind(entry, v)), slope, 1e-8,
                      f"{entry.name}{v}: derivative {i + 1}")


def check_logs(entry, v):
    f = value(entry, v)
    for keyword, truth in (("log", lambda: math.log(f)),
                           ("log_complement", lambda: math.log(1 - f))):
        tree = entry.value(keyword)
        if tree is not None:
            FAILURES.near(L.evaluate(tree, L.bind(entry, v)), truth(), 1e-9,
                          f"{entry.name}{v}: {keyword}")


def check_scalar(entry, rng):
    domain = DOMAIN.get(entry.name, [(-2.5, 2.5)] * len(entry.parameters))
    for _ in range(20):
        v = [float(rng.uniform(*d)) for d in domain]
        f = value(entry, v)
        FAILURES.check(math.isfinite(f), f"{entry.name}{v} is {f}")
        check_derivative(entry, v)
        check_logs(entry, v)
        if "range" in entry.clauses:
            low, high = (L.evaluate(t, {}) for _, t in entry.clauses["range"])
            FAILURES.check(low <= f <= high, f"{entry.name}{v}: range, {f}")
        inverse = entry.value("inverse")
        if inverse is not None:
            FAILURES.near(value(L.LIBRARY["function"][inverse[1]], [f]), v[0],
                          1e-9, f"{entry.name}{v}: inverse")


def arguments(text):
    """Number of arguments of a C parameter list."""
    return 0 if text.strip() in ("", "void") else text.count(",") + 1


def c_functions():
    """{name: number of arguments} of stdlib/kernels/*.h; macros of real.h have 0."""
    found = {}
    for path in glob.glob(L.os.path.join(L.STDLIB, "kernels", "*.h")):
        text = open(path, encoding="utf-8").read()
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        for m in re.finditer(r"^GBM_(?:FN(?:_BIG|_ROWS|_SHARED)?|INLINE)\s+[\w ]+?[ *]"
                             r"(\w+)\(([^)]*)\)", text, re.M):
            found[m.group(1)] = arguments(m.group(2))
        for m in re.finditer(r"#define (real_\w+|gbm_\w+)\b", text):
            found.setdefault(m.group(1), None)
    return found


def calls(tree, out):
    """Draw functions in a tree, with their number of arguments."""
    if tree[0] == "call":
        if tree[1].startswith("draw_"):
            out.append((tree[1], tree[2]))
        for a in tree[2]:
            calls(a, out)
    elif tree[0] == "sum":
        for a in tree[2:]:
            calls(a, out)
    return out


def expect(found, name, n, where):
    FAILURES.check(name in found, f"{where}: {name} is not in stdlib/kernels/*.h")
    if found.get(name) is not None:
        FAILURES.check(found[name] == n, f"{where}: {name} takes {found[name]}"
                       f" arguments, not {n}")


def check_draw_names(entry, found):
    """A vector's draw also takes the extents of its arguments, each once, and
    the result; a scalar's draw with vector arguments their extents."""
    parameters = dict(entry.parameters)
    for keyword in ("draw", "draw_between"):
        tree = entry.value(keyword)
        for name, args in calls(tree, []) if tree else []:
            extents = []
            for a in args:
                for d in parameters.get(a[1], []) if a[0] == "name" else []:
                    if d not in extents:
                        extents.append(d)
            if entry.over and not extents:
                extents = [entry.over[1][0]]
            n = 1 + len(extents) + len(args) + (1 if entry.over else 0)
            expect(found, "gbm_" + name, n, f"{entry.name}.gbm {keyword}")


def check_code_name(entry, found):
    code = entry.value("code")
    if code is None:
        return
    extents = {d for _, dims in entry.parameters for d in dims}
    n = len(entry.parameters) + len(extents) + (1 if entry.returns else 0)
    expect(found, code[1], n, f"{entry.name}.gbm")


def main():
    rng = np.random.default_rng(3)
    found = c_functions()
    for name, entry in L.LIBRARY["function"].items():
        if name != entry.name:
            continue
        check_code_name(entry, found)
        if "builtin" not in entry.clauses and not any(
                dims for _, dims in entry.parameters):
            check_scalar(entry, rng)
    for kind in ("distribution", "augmentation"):
        for name, entry in L.LIBRARY[kind].items():
            if name == entry.name:
                check_draw_names(entry, found)
    FAILURES.finish()


main()
