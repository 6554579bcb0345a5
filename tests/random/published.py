"""Pieces that published models share: one of several models chosen by an
indicator, trials whose arms depend on earlier ones, latent values between cut
points that are parameters."""

import numpy as np

from filling import each, two
from pool import Thing
from priors import positive_prior


def chosen_model(b):
    """An indicator chooses among predictors, and among the priors of what the
    others do not use (Carlin and Chib 1995)."""
    n, k = b.between(4, 9), b.between(2, 3)
    mu, m, beta, tau, y = (b.name(h) for h in ("mu", "m", "beta", "tau", "y"))
    weights = b.simplex([], k)
    b.write(f"{m} ~ dcat({weights})")
    at = b.loop(1, k)
    mean = b.given(np.round(b.g.normal(size=(k, k)), 1), "prior.mean")
    width = b.given(np.round(b.g.uniform(0.5, 4, (k, k)), 1), "prior.prec")
    each(b, at, f"{beta}[{at.name}] ~ dnorm({mean}[{at.name},{m}], "
         f"{width}[{at.name},{m}])")
    each(b, at, f"{tau}[{at.name}] ~ {positive_prior(b, [])}")
    i = b.loop(1, n)
    while i.name == at.name:
        i = b.loop(1, n)
    each(b, i, " ".join(
        f"{mu}[{i.name},{c}] <- {beta}[{c}] * {b.covariate([i])}"
        + (f" + {b.term([i])}" if b.chance(0.3) else "")
        for c in range(1, k + 1)))
    spread = b.pick([f"{tau}[{m}]", f"{tau}[1]", "1.5"])
    each(b, i, f"{y}[{i.name}] ~ " + b.pick([
        f"dnorm({mu}[{i.name},{m}], {spread})",
        f"dnorm({mu}[{i.name},{m}], {spread})",
        f"dbern(ilogit({mu}[{i.name},{m}]))",
        f"dpois(exp(0.5 * {mu}[{i.name},{m}]))"]))
    b.latent_always.update((m, beta, tau))
    b.observed_always.add(y)


def arms(b):
    """Trials of two or three treatments each: effects of later arms given those
    of the earlier ones."""
    n, top = b.between(2, 4), b.between(3, 4)
    arm = [sorted(b.g.choice(top, b.between(2, 3), replace=False) + 1.0)
           for _ in range(n)]
    most = max(map(len, arm))
    t = b.given([list(a) + [1.0] * (most - len(a)) for a in arm], "t")
    na = b.given([float(len(a)) for a in arm], "na")
    size = b.given(b.g.integers(3, 20, (n, most)), "n")
    d, mu, delta, w, sw, r = (b.name(h) for h in
                              ("d", "mu", "delta", "w", "sw", "r"))
    tau = b.of("positive", [])
    b.write(f"{d}[1] <- 0")
    k = b.loop(2, top)
    each(b, k, f"{d}[{k.name}] ~ dnorm(0, {b.number(0.4, 2)})")
    i, k = two(b, n, most)
    i, k = i.name, k.name
    last = f"{na}[{i}]"
    here = f"{i},{t}[{i},{k}]"
    contrast = f"{d}[{t}[{i},{k}]] - {d}[{t}[{i},1]]"
    each_arm = b.pick([
        f"dbin(ilogit({mu}[{i}] + {delta}[{here}]), {size}[{i},{k}])",
        f"dnorm({mu}[{i}] + {delta}[{here}], {size}[{i},{k}])",
        f"dpois(exp(0.5 * ({mu}[{i}] + {delta}[{here}])))"])
    b.write(f"for ({i} in 1:{n}) {{ {mu}[{i}] ~ dnorm(0, 1) "
            f"{w}[{i},1] <- 0 {delta}[{i},{t}[{i},1]] <- 0 }}")
    b.write(f"for ({i} in 1:{n}) {{ for ({k} in 2:{last}) {{ "
            f"{sw}[{i},{k}] <- sum({w}[{i},1:({k}-1)]) / ({k} - 1) "
            f"{delta}[{here}] ~ dnorm({contrast} + {sw}[{i},{k}], "
            f"{tau} * 2 * ({k} - 1) / {k}) "
            f"{w}[{i},{k}] <- {delta}[{here}] - ({contrast}) }} }}")
    b.write(f"for ({i} in 1:{n}) {{ for ({k} in 1:{last}) {{ "
            f"{r}[{i},{k}] ~ {each_arm} }} }}")
    b.latent_always.update((delta, d))
    b.observed_always.add(r)


def between_cuts(b):
    """Latent values, of which is known between which cut points they lie; these
    are parameters that ascend."""
    n, k = b.between(4, 9), b.between(2, 3)
    z, y, cut = b.name("z"), b.name("y"), b.name("cut")
    b.write(f"{cut}[1] ~ dnorm({b.number(-1, 0)}, 1)")
    at = b.loop(2, k)
    if b.chance(0.5):
        step = b.name("step")
        each(b, at, f"{step}[{at.name}] ~ {positive_prior(b, [])} "
             f"{cut}[{at.name}] <- {cut}[{at.name}-1] + {step}[{at.name}]")
        b.latent_always.add(step)
    else:
        each(b, at, f"{cut}[{at.name}] ~ dnorm(0, 1) T({cut}[{at.name}-1],)")
    i = b.loop(1, n)
    each(b, i, f"{z}[{i.name}] ~ " + b.pick([
        f"dnorm({b.predictor([i])}, 1)", f"dlogis({b.predictor([i])}, 1)"]))
    each(b, i, f"{y}[{i.name}] ~ dinterval({z}[{i.name}], {cut}[1:{k}])")
    b.latent_always.update((z, cut))
    b.observed_always.add(y)
    b.add(Thing(z, "real", (n,)))
