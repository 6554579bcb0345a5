"""What pieces of models of few states are written with: a Builder keeps their
statements, data and what each count may be at most."""

from dataclasses import dataclass, field

import numpy as np

MOST_POISSON = 14


class Retry(Exception):
    """This attempt came to nothing."""


@dataclass
class Builder:
    g: np.random.Generator
    lines: list = field(default_factory=list)
    data: dict = field(default_factory=dict)
    observed: set = field(default_factory=set)
    hold: set = field(default_factory=set)  # conditions: mostly 1
    features: set = field(default_factory=set)
    most: dict = field(default_factory=dict)  # name -> its largest value
    jumps: dict = field(default_factory=dict)  # cell -> where a density may jump
    own: dict = field(default_factory=dict)  # statement -> what exact.py reads of it
    exactly: bool = False  # polynomials in what is continuous
    parameters: int = 0
    count: int = 0

    def chance(self, p):
        return self.g.random() < p

    def pick(self, some):
        return some[self.g.integers(len(some))]

    def between(self, low, high):
        return int(self.g.integers(low, high + 1))

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def add(self, *lines):
        self.lines += lines

    def exact_lines(self):
        """The statements as exact.py reads them."""
        return [own for line in self.lines for own in self.own.get(line, [line])]

    def given(self, values, stem="c"):
        name = self.name(stem)
        self.data[name] = np.asarray(values, float)
        return name

    def constant(self, low, high):
        x = f"{self.g.uniform(low, high):.2f}"
        return x if self.chance(0.7) else self.given(float(x))

    def free(self, chance):
        """Whether one more continuous parameter may be."""
        self.parameters += (yes := self.parameters < 2 and self.chance(chance))
        return yes

    def share(self, chance=0.35):
        """A probability: a number, or a parameter."""
        if not self.free(chance):
            return self.constant(0.15, 0.85)
        p = self.name("p")
        self.add(f"{p} ~ " + self.pick(["dunif(0, 1)", "dbeta(2, 2)", "dbeta(1, 3)"]))
        return p

    def mean(self, chance=0.35):
        if not self.free(chance):
            return self.constant(0.5, 3)
        m = self.name("m")
        self.add(f"{m} ~ " + self.pick(["dunif(0, 4)", "dgamma(2, 1)", "dexp(1)"]))
        return m

    def real(self, chance=0.35):
        if not self.free(chance):
            return self.constant(-2, 2)
        m = self.name("mu")
        self.add(f"{m} ~ dnorm(0, 1)")
        return m

    def shares(self, k, zeros=False):
        """The name of k probabilities."""
        p = self.g.dirichlet(np.full(k, 1.5))
        if zeros and k > 2 and self.chance(0.5):
            p[self.g.integers(k)] = 0
        return self.given(np.round(p / p.sum(), 3), "w")

    def rows(self, k, n, zeros):
        """The name of k rows of n probabilities, of which many may be 0."""
        p = self.g.dirichlet(np.full(n, 1.0), size=k)
        if zeros:
            for row in p:
                row[self.g.permutation(n)[:self.between(1, n - 1)]] = 0
        p = np.maximum(np.round(p, 3), p > 0)
        return self.given(p / p.sum(axis=1)[:, None], "P")

    def outcome(self, y, at, of, n="1"):
        """An observed statement whose law is settled by the text `of`, which is 0
        or 1."""
        kind = self.pick(["dbern", "dbern", "dpois", "dnorm", "dbin"])
        self.observed.add(y)
        if kind == "dnorm":
            self.add(f"{y}{at} ~ dnorm({of} * {self.real()}, 1)")
        elif kind == "dpois":
            self.add(f"{y}{at} ~ dpois({of} * {self.mean()} + {self.pick(['0', '0.5'])})")
            self.most[y] = MOST_POISSON
        elif kind == "dbin":
            self.add(f"{y}{at} ~ dbin({of} * {self.share()} + 0.1, 3)")
            self.fix_share(3)
        else:
            self.add(f"{y}{at} ~ dbern({of} * {self.share()})")

    def fix_share(self, n):
        """The last statement's probability stays below 1."""
        self.lines[-1] = self.lines[-1].replace(" + 0.1, ", " * 0.9 + 0.1, ")

    def condition(self, text):
        """Data say that it holds, or hardly."""
        one = self.name("one")
        self.observed.add(one)
        if self.chance(0.75):
            self.hold.add(one)
        self.add(f"{one} ~ dbern({text})")


def loop(i, low, high, *body):
    return [f"for ({i} in {low}:{high}) {{", *body, "}"]
