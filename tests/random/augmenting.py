"""Edits that leave the posterior as it is: draws more, from which others are
computed, over which they are mixtures, or which nothing reads. Each takes a State
and a generator of random numbers, and gives another State, or None where it does
not apply."""

from dataclasses import replace

from edits import ONE, REAL, TWO, call, cell, num, op, pick, places_of
from syntax import Relation

# ------------------------------------------------------------- augmentations

def apart(left, new):
    """Of another name, where `left` stands."""
    return cell(new, places_of(left))


def computed_from(r, new):
    """Ways to compute what is drawn from a draw of its own: statements."""
    f, args = r.value[1], r.value[2]
    own = apart(r.left, new)
    ways = {"dnorm": lambda m, t: (call("dnorm", num(0), ONE), op(
                "+", m, op("/", own, call("sqrt", t)))),
            "dgamma": lambda a, b: (call("dgamma", a, ONE), op("/", own, b)),
            "dexp": lambda b: (call("dexp", ONE), op("/", own, b)),
            "dunif": lambda a, b: (call("dbeta", ONE, ONE), op("+", a, op(
                "*", op("-", b, a), own))),
            "dlnorm": lambda m, t: (call("dnorm", m, t), call("exp", own)),
            "dlogis": lambda m, t: (call("dlogis", num(0), ONE), op(
                "+", m, op("/", own, t)))}
    if f not in ways:
        return None
    law, value = ways[f](*args)
    return Relation(own, True, law), Relation(r.left, False, value)


def not_centred(s, g):
    """An unknown is computed from a draw that does not depend on its
    parameters."""
    found = [(p, r) for p, r, loops in s.each() if r.random and
             r.left[1] not in s.data and not r.bounds and
             s.is_scalar(r.left, loops) and not s.model.after]
    new = s.fresh("raw")
    found = pick(g, [(p, x) for p, r in found
                     for x in [computed_from(r, new)] if x])
    if not found:
        return None
    return s.with_statements(*found, added=True, made=s.made + (new,))


def mixed_over(r, new):
    """Laws that are mixtures, as such: statements."""
    f, args = r.value[1], r.value[2]
    own = apart(r.left, new)
    ways = {"dt": lambda m, t, k: (
                call("dgamma", op("/", k, TWO), op("/", k, TWO)),
                call("dnorm", m, op("*", t, own))),
            "ddexp": lambda m, t: (
                call("dexp", num(0.5)),
                call("dnorm", m, op("/", op("*", t, t), own))),
            "dnegbin": lambda p, k: (
                call("dgamma", k, op("/", p, op("-", ONE, p))),
                call("dpois", own)),
            "dbetabin": lambda a, b, n: (call("dbeta", a, b),
                                         call("dbin", own, n))}
    if f not in ways:
        return None
    law, value = ways[f](*args)
    return Relation(own, True, law), replace(r, value=value)


def as_mixture(s, g):
    """A t as a scale mixture, a negative binomial as Poisson over gamma, and so
    on."""
    new = s.fresh("over")
    found = pick(g, [(p, x) for p, r, loops in s.each() if r.random and
                     not r.bounds and s.is_scalar(r.left, loops)
                     for x in [mixed_over(r, new)] if x])
    if not found:
        return None
    return s.with_statements(*found, added=True, made=s.made + (new,))


# ----------------------------------------------------------------- dead ends

def prediction(s, g):
    """What is observed is predicted anew."""
    found = pick(g, [(p, r) for p, r, _ in s.each()
                     if r.random and r.left[1] in s.data and
                     r.value[1] not in ("dinterval", "dsum", "dconstraint",
                                        "dround", "dsample", "dloglik")])
    if not found:
        return None
    path, r = found
    new = s.fresh("again")
    again = replace(r, left=apart(r.left, new))
    return s.with_statements(path, (r, again), added=True, made=s.made + (new,))


def dead_node(s, g):
    """A node that nothing reads."""
    found = pick(g, [(p, r, loops) for p, r, loops in s.each()
                     if r.random and r.value[1] in REAL and
                     s.is_scalar(r.left, loops)])
    if not found:
        return None
    path, r, _ = found
    new = s.fresh("idle")
    value = pick(g, (call("dnorm", r.left, num(1)),
                     call("dexp", op("+", ONE, op("*", r.left, r.left)))))
    return s.with_statements(path, (r, Relation(apart(r.left, new), True, value)),
                             added=True, made=s.made + (new,))


EDITS = [not_centred, not_centred, as_mixture, prediction, dead_node]
