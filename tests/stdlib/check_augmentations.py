#!/usr/bin/env python3
"""Every augmentation: its factor, integrated over the added node, is the
density that it replaces, to the power that `raised` names. Where the factor leaves out the density of the new
node given nothing else, `mixing` states it. Nodes that are added for each cell
are independent given the matched one."""
import warnings

import library as L
from library import math, np

# what quad doubts is compared with the exact density below
warnings.simplefilter("ignore", L.scipy.integrate.IntegrationWarning)

FAILURES = L.Failures()
POINTS = 6  # random parameter values per augmentation


def vector_bindings(entry, node, rng):
    """The same of a vector node, whose names are those of the distribution."""
    extent = entry.over[1][0]
    K = int(rng.integers(1, 4))
    make = [lambda: rng.gamma(3.0, 0.5) + 0.1, lambda: rng.normal(0, 1.5, K),
            lambda: np.cov(rng.normal(size=(K, 3 * K + 3))).reshape(K, K)]
    if len(entry.over[1]) == 2:  # of matrices vectors are scales
        make[1] = lambda: rng.gamma(3.0, 0.5, K) + 0.1
    env = {name: make[len(dims)]() for name, dims in entry.parameters}
    v = [env[name] for name, _ in entry.parameters]
    env[node] = make[2]() if len(entry.over[1]) == 2 else rng.normal(0, 2, K)
    env[extent] = float(K)
    return entry, v, node, env


def bindings(match, rng):
    """Random values of the names that a match binds, and its node's name."""
    node, distribution = match[2]
    names = L.free_names(distribution, {node[1]}, [])
    entry = L.LIBRARY["distribution"][distribution[1]]
    if entry.over:
        return vector_bindings(entry, node[1], rng)
    while True:
        env = {}
        for name in names:
            if name == "n":
                env[name] = float(rng.integers(1, 6))
            elif name in ("eta", "mu"):
                env[name] = rng.normal(0, 1.5)
            else:
                env[name] = rng.gamma(3.0, 0.5) + 0.1
        v = [L.evaluate(a, env) for a in distribution[2]]
        if L.allowed(entry, v):
            break
    kind, lower, upper = L.support(entry, v)
    if kind == "integer":
        env[node[1]] = float(rng.integers(lower, min(upper, 6) + 1))
    else:
        env[node[1]] = lower + rng.gamma(2.0, 0.7) \
            if math.isfinite(lower) else rng.normal(0, 2)
    return entry, v, node[1], env


def integral(f, lower, upper):
    """Of a positive f; on (0, inf) by the substitution w = exp(t)."""
    if lower == 0 and upper == math.inf:
        g = lambda t: f(math.exp(t)) * math.exp(t)
        grid = np.linspace(-40, 25, 1301)
        peak = grid[int(np.argmax([g(t) for t in grid]))]
        total = 0.0
        for a, b in ((-60, -4), (-4, -1), (-1, 1), (1, 4), (4, 30)):
            total += L.scipy.integrate.quad(g, peak + a, peak + b, limit=200,
                                            epsabs=0, epsrel=1e-11)[0]
        return total
    return L.scipy.integrate.quad(f, lower, upper, limit=400, epsabs=1e-13,
                                  epsrel=1e-11)[0]


def integral_of_cells(joint, K, lower, upper, rng, name):
    """Of a joint density that is a product over K cells."""
    at = rng.gamma(3.0, 0.5, (2, K)) + 0.1
    put = lambda k, w: np.where(np.arange(K) == k, w, at[0])
    one = joint(at[0])
    FAILURES.near(joint(at[1]) / one,
                  math.prod(joint(put(k, at[1, k])) / one for k in range(K)),
                  1e-9, f"{name}: no product over cells")
    return one * math.prod(
        integral(lambda w: joint(put(k, w)) / one, lower, upper)
        for k in range(K))


def check(name, a, rng):
    entry, v, node, env = bindings(a.value("match"), rng)
    label, support = a.clauses["add"][0]
    lower, upper = (float(L.evaluate(b, env)) for b in support[2])
    power = 1.0
    if a.value("raised"):
        power = env[a.value("raised")[1]] = rng.uniform(0.1, 1.5)
    factor, mixing = a.value("factor"), a.value("mixing")

    def joint(w):
        inner = dict(env)
        inner[label[1]] = w
        density = math.exp(L.evaluate(factor, inner))
        return density * (L.evaluate(mixing, inner) if mixing else 1)

    old = math.exp(power * L.log_density(entry, v, env[node]))
    if len(label) > 2 and label[2]:
        new = integral_of_cells(joint, int(env[label[2][0][1]]), lower, upper,
                                rng, name)
    else:
        new = integral(joint, lower, upper)
    where = {k: np.round(x, 3).tolist() for k, x in env.items()}
    FAILURES.near(new / old, 1, 1e-7, f"{name}: integral over density at {where}")


def main():
    rng = np.random.default_rng(1)
    for name, a in L.LIBRARY["augmentation"].items():
        for _ in range(POINTS):
            check(name, a, rng)
    FAILURES.finish()


main()
