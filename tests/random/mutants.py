"""Mutants with random models as the only test: what tests/mutate breaks, and
the making of blocks in the compiler itself."""

import functools
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import generate  # noqa: E402

MODELS = 12  # that a mutant meets, before it is said to survive
SEEDS = 600  # among which they are looked for
LIMIT = 900  # seconds for all oracles of one model

# What a compiler may do wrong when it makes a block: terms dropped, rows and
# groups mistaken.  A file, a line, and what becomes of it.
COMPILER_SITES = [
    # a bound of the rows of a child is lost
    ("condition.c", """
        add_guard(c, p, sym_call(c, "<=", 2, (symp[]){p->solved[i], upper}));
""", "\n        (void)upper;\n"),
    # the row of a child: x[t] in that of x[t - 1]
    ("condition.c", "p->solved[k] = sym_sub(c, target[d], offset);",
     "p->solved[k] = sym_add2(c, target[d], offset);"),
    # children of other groups count
    ("condition.c", "add_guard(c, p, sym_eq(c, e, target[d]));", "(void)e;"),
    # half of the square is forgotten
    ("condition.c", "sym_mul2(c, sym_num(c, 0.5), second);", "second;"),
    # of a block of several, the first member's part of the potential
    ("block.c", """
    for (int j = 0; j < s->nmembers; j++)
        first = sym_add2(""", """
    for (int j = 1; j < s->nmembers; j++)
        first = sym_add2("""),
    # what a predictor has beside the block
    ("block.c", "q->score = sym_sub(c, c1, sym_mul2(c, q->weight, offset));",
     "q->score = c1;"),
    # factors that only later members are in
    ("block.c", """
    for (int i = 0; i < n; i++)
        for (struct part *p = steps[i]->parts; p; p = p->next)
            if (p->factor == g) {""", """
    for (int i = 0; i < n && i < 1; i++)
        for (struct part *p = steps[i]->parts; p; p = p->next)
            if (p->factor == g) {"""),
    # the cell before a statement's first is taken for its own
    ("element.c", "lower, &d) &&\n           d >= 0;",
     "lower, &d) &&\n           d >= -1;"),
    # a node that a predictor names twice
    ("joint.c", "sym_add2(c, out->slots[i].coefficient, coefficient);",
     "sym_mul2(c, sym_num(c, 1), coefficient);"),
    # what a sum in a predictor has beside the block
    ("joint.c", "sym_sum(c, e->loop, e->args[0], e->args[1], inner.rest));",
     "sym_num(c, 0));"),
    # rows of the one case under the other
    ("joint.c", "sym_select(c, when, zero, by)",
     "sym_select(c, when, by, zero)"),
    # what is the same for all rows of a sum
    ("row_sums.c",
     "total = sym_add2(c, total, times(c, same, sum_of(r, others)));",
     "total = sym_add2(c, total, same);"),
    # a scale moves with its plate by another power
    ("rescale.c", "*power += 1;", "*power += 2;"),
]


def environment(tree):
    return dict(os.environ, GBM_STDLIB=os.path.join(tree, "stdlib"),
                GBM_ROOT=tree, OMP_NUM_THREADS="1")


@functools.lru_cache(maxsize=None)
def model(seed):
    """A folder with the files of a seed."""
    case = generate.generate(seed)
    folder = tempfile.mkdtemp(prefix="gbm_mutant_model_")
    for name, text in (("model.gbm", case.text),
                       ("data.json", case.data_text())):
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
    return folder


def emitted(seed, tree):
    """The C text of a seed's model, by the gbmc and the library of a tree."""
    words = [os.path.join(tree, "build/gbmc"), "--emit=c", "model.gbm"]
    if seed % 4 == 3:  # as oracles.examine
        words += ["--data", "data.json"]
    done = subprocess.run(words, cwd=model(seed), env=environment(tree),
                          capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


@functools.lru_cache(maxsize=None)
def sound_text(seed):
    return emitted(seed, ROOT)


def failure(seed, tree):
    """What the oracles have against the model of a seed, or None."""
    words = [os.path.join(ROOT, "tests/random/run"), "--one", str(seed),
             "--gbmc", os.path.join(tree, "build/gbmc"), "--no-reduce",
             "--jobs", "1", "--draws", "500", "--geweke", "1"]
    try:
        done = subprocess.run(words, env=environment(tree), timeout=LIMIT,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              text=True)
    except subprocess.TimeoutExpired:
        return "no end"
    found = re.search(r"^== seed \d+: (.*)", done.stdout, re.M)
    return found.group(1) if found else \
        None if done.returncode == 0 else "status"


@functools.lru_cache(maxsize=None)
def sound(seed):
    return failure(seed, ROOT) is None


def with_models(wanted, tree):
    """The first failure of a sound model that is `wanted` (seed -> bool); ""
    if no model was."""
    met = 0
    for seed in range(1, SEEDS + 1):
        if met == MODELS:
            break
        if not sound_text(seed) or not wanted(seed):
            continue
        noticed = failure(seed, tree)
        if noticed and sound(seed):
            return f"seed {seed}: {noticed}"
        met += 1
    return None if met else ""


# ------------------------------------------------------------ who uses a line

def functions_of(path):
    """(name, first line, last line) of the functions of a header."""
    name, first = None, 0
    with open(path) as f:
        for i, line in enumerate(f, 1):
            found = re.match(r"\w.*?\b(\w+)\(", line)
            if found and not line.startswith(("#", "/")):
                name, first = found.group(1), i
            if line.startswith("}") and name:
                yield name, first, i
                name = None


@functools.lru_cache(maxsize=None)
def calls():
    """Function of the library -> the identifiers in its text."""
    table = {}
    for path in glob.glob(os.path.join(ROOT, "stdlib/*.h")):
        with open(path) as f:
            lines = f.read().splitlines()
        for name, first, last in functions_of(path):
            table[name] = set(re.findall(r"\w+",
                                         "\n".join(lines[first - 1:last])))
    return table


def users(path, line):
    """The functions of the library that reach the one with a line."""
    found = {name for name, first, last in functions_of(path)
             if first <= line <= last}
    while True:
        more = {n for n, words in calls().items() if words & found} - found
        if not more:
            return found
        found |= more


# ---------------------------------------------------------------- the mutants

def library(mutant):
    return lambda tree: with_models(
        lambda seed: emitted(seed, tree) != sound_text(seed), tree)


def kernel(mutant):
    names = users(mutant.path, mutant.line)

    def wanted(seed):
        host = re.sub(r'^"#include.*$', "", sound_text(seed), flags=re.M)
        return bool(names & set(re.findall(r"\bgbm_\w+", host)))
    return lambda tree: with_models(wanted, tree)


WRAPPER = """#!/usr/bin/python3
import os, subprocess, sys
words = sys.argv[1:]
def take(option):
    at = words.index(option)
    return [words.pop(at), words.pop(at)][1]
out = take("-o")
take("-O")
text = subprocess.run([{gbmc!r}, "--emit=c"] + words, check=True,
                      capture_output=True, text=True).stdout
lines = text.splitlines(keepends=True)
assert lines[{line}] == {before!r}, lines[{line}]
lines[{line}] = {after!r}
open("broken.c", "w").write("".join(lines))
flags = open({root!r} + "/build/link_flags").read().split()
sys.exit(subprocess.run(
    ["cc", "-std=c11", "-O0", "-w", "-fopenmp", "-D_GNU_SOURCE",
     "-I", {root!r} + "/stdlib", "-I", {root!r} + "/runtime", "broken.c",
     "-o", out, {root!r} + "/build/libgbm.a"] + flags).returncode)
"""


def program(seed, line, before, after):
    """The C text of the model of a seed, one line of it broken."""
    def test(tree):
        path = os.path.join(tree, "build/gbmc")
        os.unlink(path)
        with open(path, "w") as f:
            f.write(WRAPPER.format(
                gbmc=os.path.join(ROOT, "build/gbmc"), root=ROOT, line=line,
                before=before, after=after))
        os.chmod(path, 0o755)
        return failure(seed, tree)
    return test


def program_sites(sites_of, n):
    """n sites, each in the text of another model."""
    chosen, seed = [], 0
    while len(chosen) < n:
        seed += 1
        lines = sound_text(seed).splitlines(keepends=True)
        sites = list(sites_of(lines))
        if sites and sound(seed):
            chosen.append((seed, *random.Random(seed).choice(sites)))
    return chosen


def compiler(name, before, after):
    """gbmc itself built with one line changed."""
    path = os.path.join("compiler", name)

    def test(tree):
        build = tree + "-source"
        shutil.copytree(ROOT, build, symlinks=True, ignore=lambda folder, names:
                        [n for n in names if n in (".git", "bench", "docs",
                                                   "samplers")])
        with open(os.path.join(build, path)) as f:
            text = f.read()
        assert text.count(before) == 1, f"{path} has not one {before!r}"
        with open(os.path.join(build, path), "w") as f:
            f.write(text.replace(before, after))
        done = subprocess.run(["ninja", "build/gbmc"], cwd=build,
                              capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{path} with {after!r}: {done.stdout}")
        shutil.copy(os.path.join(build, "build/gbmc"),
                    os.path.join(tree, "build/gbmc"))
        return with_models(
            lambda seed: emitted(seed, tree) != sound_text(seed), tree)
    return test
