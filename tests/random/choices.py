"""Samplers that a model file asks for."""

import distributions as d
import syntax

KINDS = [(2, "slice"), (3, "rw"), (2, "rw_block"), (3, "am"), (3, "diam"),
         (4, "pcn"),
         (8, "ess")]
ELLIPTIC = {"ess", "pcn"}  # need a normal prior
NORMAL = {"dnorm", "normal"}
NORMAL_VECTORS = {"dmnorm", "dmnorm.vcov", "multi_normal",
                  "multi_normal_precision"}
TIED = {"dsum", "dround", "dinterval"}  # what they read cannot move alone


def spoken_for(relations, data):
    """Names that something observed depends on."""
    found = set()
    while True:
        more = {n for r in relations
                if r.left[1] in found or r.random and r.left[1] in data
                for n in syntax.reads(r)} - found
        if not more:
            return found
        found |= more


def candidates(b, data):
    """Random nodes with one statement and data below them that are not data
    themselves: name -> relation."""
    relations = list(syntax.relations(b.body))
    of, tied, below = {}, set(), spoken_for(relations, data)
    for r in relations:
        of.setdefault(r.left[1], []).append(r)
        if r.random and r.value[1] in TIED:
            tied |= syntax.reads(r) | {r.left[1]}
    return {name: rs[0] for name, rs in of.items()
            if len(rs) == 1 and rs[0].random and name in below
            and name not in data and name not in tied}


def kinds(r):
    """What may draw a node."""
    name = r.value[1]
    bugs = d.MODERN[name][0] if name in d.MODERN else name
    if name in NORMAL_VECTORS:
        return [(1, "am"), (1, "diam"), (1, "rw_block"), (2, "pcn"), (3, "ess")]
    if bugs in d.VECTOR or bugs == "dcat":
        return []
    if bugs in d.DISCRETE:
        return [(1, "rw")]
    free = name in NORMAL and not r.bounds and \
        r.left[1] not in syntax.reads(r)
    # between bounds a random walk has scales of its own
    more = [(6, "rw")] if r.bounds else []
    return more + [k for k in KINDS if free or k[1] not in ELLIPTIC]


def choose(b, data):
    """The text of a samplers block, or none."""
    lines = []
    for name, r in sorted(candidates(b, data).items()):
        options = kinds(r)
        if b.asked.get(name):
            lines.append(f"  {name} : {b.asked[name]};")
        elif options and b.chance(0.6):
            lines.append(f"  {name} : {b.weighted(options)};")
    if not lines:
        return ""
    b.feature(*{"asked for: " + line.split()[2].rstrip(";")
                for line in lines})
    b.beyond_jags = True
    return "\n".join(["samplers {", *lines, "}"])
