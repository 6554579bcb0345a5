"""Distributions that the model file defines."""

import math

import distributions as d
from filling import each
from pool import Thing


OWN = {
    # name -> (entry, draw, log density, kind)
    "my_normal": ("distribution my_normal(mean, sd) "
                  "{\n  as dnorm(mean, 1 / sd^2)\n}",
                  lambda g, m, s: g.normal(m, s),
                  lambda x, m, s: d.normal_log(x, m, s ** -2), "real"),
    "my_triangle": ("distribution my_triangle(w) {\n  require w > 0\n"
                    "  support real(-w, w)\n"
                    "  logdensity log(w - abs(x)) - 2 * log(w)\n  mean 0\n}",
                    lambda g, w: g.triangular(-w, 0, w),
                    lambda x, w: d.log(w - abs(x)) - 2 * d.log(w)
                    if abs(x) < w else -math.inf, "real"),
    "my_power": ("distribution my_power(a) {\n  require a > 0\n"
                 "  support real(0, 1)\n"
                 "  logdensity log(a) + (a - 1) * log(x)\n"
                 "  statistics log(x): a - 1\n  solve a = 1 + s1\n"
                 "  mean a / (a + 1)\n  cdf x^a\n  quantile p^(1 / a)\n}",
                 lambda g, a: g.random() ** (1 / a),
                 lambda x, a: d.log(a) + (a - 1) * d.log(x)
                 if 0 < x <= 1 else -math.inf, "probability"),
}


d.ALL.update({name: (draw, log) for name, (_, draw, log, _) in OWN.items()})


def own_distribution(b):
    """A distribution that the model file defines."""
    which = b.pick(["my_normal", "my_normal", "my_triangle", "my_power"])
    entry = OWN[which][0]
    if entry not in b.before:
        b.before.append(entry)
    n = b.between(3, 6)
    name = b.name("v")
    i = b.loop(1, n)
    if which == "my_normal":
        mean, sd = b.real([i]), b.of("positive", [i])
        args = b.pick([f"{mean}, {sd}", f"sd = {sd}, mean = {mean}"])
    elif which == "my_triangle":
        args = b.of("positive", [i])
    else:
        args = b.positive([i])
    if "=" in args:
        b.feature("named arguments")
    each(b, i, f"{name}[{i.name}] ~ {which}({args})")
    b.add(Thing(name, OWN[which][3], (n,)))
