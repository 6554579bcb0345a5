"""Log densities written by hand, which a Poisson 0 or a Bernoulli 1 makes part of
the model; weights that do not add up to 1."""

import numpy as np

from filling import each, fill
from limits import all_are
from pool import Thing
from priors import positive_prior


def log_densities(b, i):
    """Of a row of data, at most about 9 whatever the parameters."""
    x = b.given(np.round(b.g.normal(size=i.high), 2), "x") + f"[{i.name}]"
    k = b.given(b.g.integers(0, 4, i.high) * 1.0, "k") + f"[{i.name}]"
    s, w = b.of("positive", []) + " + 0.1", b.of("probability", [])
    one, two = b.real([i]), b.of("real", [])
    return b.pick([
        f"-log({s}) - 0.5 * pow(({x} - ({one})) / ({s}), 2)",
        f"-log({s}) - abs({x} - ({one})) / ({s})",
        f"log({w} * exp(-0.5 * pow({x} - ({one}), 2)) + (1 - {w}) * "
        f"exp(-0.5 * pow(({x} - {two}) / ({s}), 2)) / ({s}))",
        f"{k} * log({s}) - ({s}) - logfact({k})",
        f"log(equals({k}, 0) * {w} + (1 - {w}) * exp({k} * log({s}) - ({s}) "
        f"- logfact({k})))",
        f"step({k} - 1) * ({one}) - log1p(exp({one}))",
        f"-({x} - {two})^2 / 2 - pow({x} - {two}, 4) / 9"])


def told(b, i, log_density):
    """Statements that make it part of the model."""
    y, most = b.name(b.pick(["zeros", "ones"])), 10
    if b.chance(0.6):
        mean = f"{most} - ({log_density})"
        if b.chance(0.5):
            phi = b.name("phi")
            each(b, i, f"{phi}[{i.name}] <- {mean}")
            mean = f"{phi}[{i.name}]"
        each(b, i, f"{y}[{i.name}] ~ dpois({mean})")
        all_are(b, y, 0)
        b.feature("trick: zeros")
    else:
        each(b, i, f"{y}[{i.name}] ~ dbern(exp({log_density} - {most}))")
        all_are(b, y, 1)
        b.feature("trick: ones")
    b.observed_always.add(y)


def by_hand(b):
    i = b.loop(1, b.between(3, 7))
    told(b, i, log_densities(b, i))


def log_sum_of_terms(b):
    """A mixture whose terms are added up in logs, beside the largest."""
    i, w = b.loop(1, b.between(3, 6)), b.of("probability", [])
    x = b.given(np.round(b.g.normal(size=i.high), 2), "x") + f"[{i.name}]"
    s = b.of("positive", [])
    terms = [f"log({w}) - 0.5 * pow({x} - {b.of('real', [])}, 2)",
             f"log(1 - {w}) - log({s} + 0.1) - 0.5 * pow(({x} - "
             f"{b.of('real', [])}) / ({s} + 0.1), 2)"]
    if b.chance(0.5):
        term = b.name("term")
        each(b, i, " ".join(f"{term}[{i.name},{k}] <- {t}"
                            for k, t in enumerate(terms, 1)))
        b.feature("pieces by literal subscripts")
        terms = [f"{term}[{i.name},{k}]" for k in (1, 2)]
        top = b.pick([f"max({term}[{i.name},1:2])", f"max({terms[0]}, {terms[1]})"])
    else:
        top = f"max({terms[0]}, {terms[1]})"
    most = b.name("top")
    each(b, i, f"{most}[{i.name}] <- {top}")
    told(b, i, f"{most}[{i.name}] + log(" + " + ".join(
        f"exp({t} - {most}[{i.name}])" for t in terms) + ")")


def unnormalised(b):
    """Categories whose weights have any sum."""
    n, k = b.between(4, 8), b.between(2, 4)
    z, q, i = b.name("z"), b.name("q"), b.loop(1, n)
    fill(b, q, k, lambda c: positive_prior(b, c), "positive")
    weights = f"{q}[{b.pick(['', f'1:{k}'])}]"
    if b.chance(0.4):
        j, own = b.loop(1, k), b.name("w")
        while j.name == i.name:
            j = b.loop(1, k)
        by = b.given(np.round(b.g.uniform(0.5, 3, (n, k)), 1), "by")
        b.write(f"for ({i.name} in 1:{n}) {{ for ({j.name} in 1:{k}) {{ "
                f"{own}[{i.name},{j.name}] <- {q}[{j.name}] * "
                f"{by}[{i.name},{j.name}] }} }}")
        weights = f"{own}[{i.name},]"
    each(b, i, f"{z}[{i.name}] ~ dcat({weights})")
    b.latent_always.add(q)
    if b.chance(0.5):
        b.observed_always.add(z)
        return
    mu, y = b.name("mu"), b.name("y")
    fill(b, mu, k, lambda c: f"dnorm({b.number(-2, 2)}, 1)")
    each(b, i, f"{y}[{i.name}] ~ dnorm({mu}[{z}[{i.name}]], {b.precision([])})")
    b.latent_always.add(z)
    b.observed_always.add(y)
    b.feature("latent subscript")
    b.add(Thing(z, "category", (n,), k))
