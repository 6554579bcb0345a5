"""Mutants with random models as the only test: what tests/mutate breaks, and
the making of blocks in the compiler itself."""

import collections
import concurrent.futures
import contextlib
import functools
import glob
import hashlib
import itertools
import os
import pickle
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import generate  # noqa: E402
import harness  # noqa: E402
import makers  # noqa: E402
import oracles  # noqa: E402

SEEDS = 600  # of the models that a mutant may meet
BATCH = 12  # models that all oracles see before more models do
QUICK, DEEP = (500, 1000), (4000, 8000)  # effort: draws, replicates
# What a batch is asked, in rounds: what takes little of every model, then what
# takes longer (stays takes 4 to 15 s, plain 2 to 5, geweke 1, the others less).
# Whoever breaks what is computed is met by most models, but noticed by few of
# them; a broken draw is noticed by all that meet it, but may be off by little.
OF_VALUES = ((("check", QUICK), ("held", QUICK), ("density", QUICK)),
             (("geweke", QUICK),), (("plain", QUICK),), (("stays", QUICK),))
OF_DRAWS = ((("check", QUICK), ("density", QUICK), ("singly", QUICK),
             ("forward", QUICK), ("geweke", QUICK)),
            (("plain", QUICK),), (("geweke", DEEP),), (("stays", QUICK),))
CROWDED = 8  # times the processor's time that a mutant may take on the clock
# What draws the same as before, bit for bit, in so short a run, tells little
# of a broken draw.
SHORT = (("run", "--no-check", "--device", "cpu", "--chains", "1", "--warmup",
          "100", "--draws", "100", "--digits", "17", "--out", "o.csv"),
         ("simulate", "--draws", "1", "--digits", "17", "--out", "s.csv"))
WAITING = 16  # models whose text is the same, until one with another number is asked

# What a compiler may do wrong when it makes a block: terms dropped, rows and
# groups mistaken.  A file, a line, and what becomes of it.
COMPILER_SITES = [
    # a bound of the rows of a child is lost
    ("condition/references.c", """
        condition_add_guard(
            c, p, sym_call(c, "<=", 2, (symp[]){p->solved[i], upper}));
""", "\n        (void)upper;\n"),
    # the row of a child: x[t] in that of x[t - 1]
    ("condition/references.c", "p->solved[k] = sym_sub(c, m->target[d], offset);",
     "p->solved[k] = sym_add2(c, m->target[d], offset);"),
    # children of other groups count
    ("condition/references.c", "condition_add_guard(c, p, sym_eq(c, e, target[d]));", "(void)e;"),
    # half of the square is forgotten
    ("condition/terms.c", "sym_mul2(c, sym_num(c, 0.5), second);", "second;"),
    # of a block of several, the first member's part of the potential
    ("sampler/block_quadratic.c", "for (int j = 0; j < s->block.n; j++)\n        first =",
     "for (int j = 1; j < s->block.n; j++)\n        first ="),
    # what a predictor has beside the block
    ("sampler/block_row.c", "q->score = sym_sub(c, c1, sym_mul2(c, q->weight, offset));",
     "q->score = c1;"),
    # factors that only later members are in
    ("sampler/block_make.c", """
    for (int i = 0; i < n; i++)
        for (struct part *p = steps[i]->parts; p; p = p->next)
            if (p->factor == g) {""", """
    for (int i = 0; i < n && i < 1; i++)
        for (struct part *p = steps[i]->parts; p; p = p->next)
            if (p->factor == g) {"""),
    # the cell before a statement's first is taken for its own
    ("model/element.c", "lower, &d) &&\n           d >= 0;",
     "lower, &d) &&\n           d >= -1;"),
    # a node that a predictor names twice
    ("sampler/joint_linear.c", "sym_add2(c, out->slots[i].coefficient, coefficient);",
     "sym_mul2(c, sym_num(c, 1), coefficient);"),
    # what a sum in a predictor has beside the block
    ("sampler/joint_linear.c", "sym_sum(c, e->loop, e->args[0], e->args[1], inner.rest));",
     "sym_num(c, 0));"),
    # rows of the one case under the other
    ("sampler/joint_linear.c", "sym_select(c, when, zero, by)",
     "sym_select(c, when, by, zero)"),
    # what is the same for all rows of a sum
    ("sweep/row_sums.c",
     "total = sym_add2(c, total, times(c, same, sum_of(r, others)));",
     "total = sym_add2(c, total, same);"),
    # rows that an index has and a guard leaves out
    ("sweep/tally.c", "if (guard || !open_inverse(c, s, q, k))",
     "if (!open_inverse(c, s, q, k))"),
    # a scale moves with its plate by another power
    ("sampler/rescale.c", "of->power = power;", "of->power = 2 * power;"),
    # elements that meet in a sum are moved at once
    ("condition/tied.c", "sym_plain_loop(c, r->reference->args[d], &offset) == bound &&",
     "sym_plain_loop(c, r->reference->args[d], &offset) != NULL &&"),
    # the Jacobian of a move that divides one node and multiplies others
    ("sampler/scale_program.c", "k.count -= 1; /* what is divided */",
     "k.count -= 0;"),
    # the pull of a vector's own mean
    ("sampler/joint_vector.c",
     "find_term(&matrix, &terms, p->scale, p->constant)->score = p->unit;",
     "find_term(&matrix, &terms, p->scale, p->constant)->score = sym_num(c, 0);"),
    # a row of a long sum, without what the block does not move
    ("sampler/joint_linear.c", "out->rest = sym_add2(c, out->rest, sym_mul2(c, by, e));",
     "out->rest = sym_add2(c, out->rest, by);"),
    # sums that are held: the pull of the effects on what is added, their
    # precision, the pull of its own prior, and effects that do not follow
    ("sampler/translation_program.c", "gbm_add_row(d, weight_, slope_, a",
     "gbm_add_row(d, weight_, -slope_, a"),
    ("sampler/translation_program.c", "gbm_add_row(d, weight_, slope_",
     "gbm_add_row(d, 1, slope_"),
    ("sampler/translation_program.c", """"%s[@] += $;", b), a->slope);""",
     """"%s[@] -= $;", b), a->slope);"""),
    ("sampler/translation_program.c", """emit_line(&e, "%s -= sum;", """,
     """emit_line(&e, "%s += sum;", """),
    # a scale with its plate, the sums held: a slope, a Jacobian, effects that
    # go the other way, and the plates of other elements of the scale
    ("sampler/held_scale.c", "sums[1] -= %s * dev_;", "sums[1] += %s * dev_;"),
    ("sampler/held_scale.c", """
    emit_line(&e, "total += %.17g * t_; /* the scale's Jacobian */",
              -2 / k->power);""", """
    emit_line(&e, "total += %.17g * t_; /* the scale's Jacobian */",
              2 / k->power);"""),
    ("sampler/held_scale.c", "%s -= by * dev_;", "%s += by * dev_;"),
    ("sampler/held_scale.c", "k->cells->solved[along] = h->lower[0];", ""),
    # a plate with its scale, with its mean: a slope, a Jacobian, a node that
    # other factors see where it was
    ("sampler/carried_program.c", """emit_line(e, "sums[1] += %s;",""",
     """emit_line(e, "sums[1] -= %s;","""),
    ("sampler/carried_program.c", """emit_line(&e, "total += %.17g * t_; /*""",
     """emit_line(&e, "total -= %.17g * t_; /*"""),
    ("sampler/carried_readers.c", ": sym_add2(c, e, by_of(c));", ": e;"),
    # terms of a sum that are missing where it stands again
    ("sampler/held_sum.c", """
        if (at < 0)
            return NULL;
        taken[at] = true;""", """
        if (at >= 0)
            taken[at] = true;"""),
    # counts whose terms are infinite: their own prior in place, and their rows
    ("emit/saturated.c", "if (!p->opaque && p->terms.n > 0)",
     "if (!p->own && !p->opaque && p->terms.n > 0)"),
    ("emit/saturated.c", "return infinite > 1;", "return infinite > 9;"),
    # of a block of several: the precision of one for that of two, where they
    # meet, elements of one plate that meet
    ("sampler/block_quadratic.c",
     "j <= i ? q->precision[i][j] : q->precision[j][i]));",
     "j <= i ? q->precision[i][j] : q->precision[i][i]));"),
    ("sampler/block_quadratic.c", "q->precision[i][j] = sym_neg(c, second);",
     "q->precision[i][j] = i == j ? sym_neg(c, second) : sym_num(c, 0);"),
    ("sampler/block_quadratic.c",
     "return i == j ? &s->block.members[j].index2 : &s->block.members[j].index;",
     "return &s->block.members[j].index;"),
    # rows of a dense block: half their weight, one weight for all, members that
    # take the first one's column
    ("sampler/block_row.c", "q->weight = sym_mul2(c, sym_num(c, -2), c2);",
     "q->weight = sym_mul2(c, sym_num(c, -1), c2);"),
    ("sampler/block_row.c",
     "if (sym_has_loop(q->weight, q->part->loops[i]))", "if (!q)"),
    ("sampler/block_row.c", "q->design[i] = sym_derivative(c, e, x);",
     "q->design[i] = i ? q->design[0] : sym_derivative(c, e, x);"),
    # a child's factor, a vector's own prior
    ("sampler/block_make.c",
     "return !p || add_part(c, s, s->block.members[whose].family, p);",
     "return true;"),
    ("sampler/block_make.c", "if (own && (!p || own->nslices) &&",
     "if (own && p && own->nslices &&"),
    # factors of a coefficient but the last; the rows of one case for those of the
    # other
    ("sampler/joint_linear.c", "by = sym_mul2(c, by, e->args[i]);",
     "by = e->args[i];"),
    ("sampler/joint_linear.c",
     "k->when = is && outer ? sym_and(c, outer, is) : is ? is : outer;",
     "k->when = is_not ? is_not : outer;"),
    # families of two arrays that feed each other stay in the arrays' order
    ("model/sequence.c", "bool any = is_out_of_order(g);",
     "bool any = is_out_of_order(g) && !m;"),
    # what is held is not made anew: rows by what is computed and stored, rows at
    # all, nodes that are computed, tables
    ("sweep/plan.c", "if (model_reads(m, ref->args[d], v))",
     "if (sym_has_var(ref->args[d], v))"),
    ("sweep/plan.c", "\n    rebuild_indices(c, m, s, last, false);", "\n    (void)last;"),
    ("sweep/plan.c", "struct step *last = recompute(c, m, s, next, s, false);",
     "struct step *last = s;"),
    ("sweep/plan.c", "last = recompute(c, m, s, next, last, true);", ""),
    # behind members of a block but the first; behind what moves beside a step
    ("sweep/plan.c", "for (int i = 0; i < s->block.n; i++)\n        found = found || s->block.members[i].family->var == v;",
     "for (int i = 0; i < s->block.n && i < 1; i++)\n        found = found || s->block.members[i].family->var == v;"),
    ("sweep/plan.c", "(s->sampler && s->sampler->moves && s->sampler->moves(s, v));",
     "(s->sampler && s->sampler->moves && !s->family);"),
    # of what is computed of what is computed; by its subscripts
    ("model/derived.c", "if (definition_depends(k, e->var)) /* of elements that are computed */",
     "if (!k)"),
    ("model/derived.c", "for (int i = 0; i < e->nargs; i++)\n        if (reads_on(k, e->args[i]))",
     "for (int i = 0; i < e->nargs && e->kind != SYM_REF; i++)\n        if (reads_on(k, e->args[i]))"),
    # as values are tried: all of it, or what an element reaches
    ("emit/recompute.c", "if (!f->stochastic && f->var->stored && !f->for_updates &&",
     "if (!f->stochastic && f->var->stored && f->for_updates &&"),
    ("emit/recompute.c", "for (const struct part *p = s->view.reached; p; p = p->next)\n        emit_reached(&e, p);",
     "for (const struct part *p = s->view.reached; p && !p->next; p = p->next)\n        emit_reached(&e, p);"),
    # subscripts but the first
    ("condition/references.c", "for (int d = 0; d < reference->nargs; d++)\n        i->latent =",
     "for (int d = 0; d < reference->nargs && d < 1; d++)\n        i->latent ="),
    # tables of what may be observed throughout, and where they stay
    ("sweep/plan.c", "return !leaf || (v != leaf && !s->sampler->forward);",
     "return !leaf;"),
    ("sweep/plan.c", "return f->of_observed && v->leaf;", "return f->of_observed;"),
    # 0s and 1s trade values by one of the states between alone
    ("sampler/swap.c", """emit_line(&e, "    if (back > way)");""",
     """emit_line(&e, "    if (back > GBM_INF)");"""),
    # a quotient's powers apart, a power beside an exponential
    ("algebra/algebra.c", """
    return exponent->kind == SYM_NUM || (a->kind == SYM_NUM && moderate(a)) ||
           (b->kind == SYM_NUM && moderate(b));""", """
    return true;"""),
    ("algebra/algebra.c", "\n    join_powers(c, &bases, &exponents);", ""),
    ("algebra/algebra.c", "\n    join_exponentials(c, &bases, &exponents);", ""),
    # an augmentation where its node may have no density
    ("sampler/augment_match.c", "return meets_requirements(c, a, m);",
     "return true || meets_requirements(c, a, m);"),
    # a sum at computed cells is refused
    ("condition/observed_sum.c", "if (same_in_instances(g->family, s->cell)) {",
     "if (g->family->nloops &&\n            "
     "!condition_cell_per_instance(c, g->family, s->cell)) {"),
    ("sweep/tally.c", "model_derived_depends(m, f->var, v) &&\n            !model_derived_depends(m, g->var, v))",
     "!m && model_derived_depends(m, f->var, v) &&\n            !model_derived_depends(m, g->var, v))"),
]


def environment(tree):
    return {"GBM_STDLIB": os.path.join(tree, "stdlib"), "GBM_ROOT": tree}


# ----------------------------------------------------------------- the models

class Model(NamedTuple):
    """The model of a seed, and what the sound tree makes of it."""
    seed: int
    folder: str  # model.gbm, data.json
    size: int  # of the C text: dear models are large
    digest: bytes
    shape: bytes

    @property
    def words(self):
        """Identifiers of the C text."""
        return words_of(os.path.join(self.folder, "text.c"))

    @property
    def runs(self):
        """Of its text and the library's: lines_that_run."""
        return executed(self.folder)[0]

    @property
    def drawn(self):
        """Of SHORT."""
        return executed(self.folder)[1]


def emitted(seed, folder, tree):
    """The C text of a seed's model, by the gbmc and the library of a tree."""
    words = [os.path.join(tree, "build/gbmc"), "--emit=c", "model.gbm"]
    if seed % 4 == 3:  # as oracles.bench_of
        words += ["--data", "data.json"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True,
                          env={**os.environ, **environment(tree)})
    return done.stdout if done.returncode == 0 else ""


@functools.lru_cache(maxsize=None)
def words_of(path):
    with open(path) as f:
        return frozenset(re.findall(r"[A-Za-z_]\w+", f.read()))


@functools.lru_cache(maxsize=None)
def executed(folder):
    """lines_that_run, once they are asked for; other processes find them in a
    file."""
    kept = os.path.join(folder, "executed")
    if not os.path.exists(kept):
        with open(os.path.join(folder, "text.c")) as f:
            found = lines_that_run(folder, f.read())
        with open(f"{kept}.{os.getpid()}", "wb") as f:
            pickle.dump(found, f)
        os.rename(f.name, kept)
    with open(kept, "rb") as f:
        return pickle.load(f)


def lines_that_run(folder, text):
    """Path of a source -> how often the sampler of a C text executes each line of
    it, from 1, on the model's data, when it is checked, runs and simulates; of
    the others nothing can be noticed. The text itself is program.c. And what it
    draws."""
    seed = int(os.path.basename(folder))
    variables = {**os.environ, **harness.ways(seed), "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory(prefix="gbm_lines_") as here:
        with open(os.path.join(here, "program.c"), "w") as f:
            f.write(text)
        with open(os.path.join(ROOT, "build/link_flags")) as f:
            flags = f.read().split()
        subprocess.run(
            ["cc", "-std=c11", "-O0", "-w", "--coverage", "-fopenmp",
             "-D_GNU_SOURCE", f"-I{ROOT}/stdlib/kernels", f"-I{ROOT}/runtime",
             "program.c", "-o", "program", f"{ROOT}/build/libgbm.a"] + flags,
            cwd=here, check=True)
        for words in (["check"], *SHORT):
            with contextlib.suppress(subprocess.TimeoutExpired):
                subprocess.run(["./program", *words, "--threads", "1", "--data",
                                os.path.join(folder, "data.json")], cwd=here,
                               stdout=subprocess.DEVNULL, timeout=20,
                               stderr=subprocess.DEVNULL, env=variables)
        told = subprocess.run(["gcov", "-t", "program-program.gcda"],
                              cwd=here, capture_output=True, text=True,
                              check=True).stdout
        drawn = drawn_in(here)
    sources = re.split(r"^ *-: *0:Source:", told, flags=re.M)[1:]
    return {source.split("\n", 1)[0]: {
        int(line): int(times) for times, line in re.findall(
            r"^ *(\d+)\*?: *(\d+):", source, re.M)} for source in sources}, drawn


def drawn_in(folder):
    """Of the draws that SHORT left there."""
    rows = []
    for path in sorted(glob.glob(os.path.join(folder, "[os]*.csv"))):
        with open(path) as f:
            rows += [line for line in f if not line.startswith("#")]
    return digest("".join(rows))


def digest(text):
    return hashlib.sha256(text.encode()).digest()


def shape(text):
    """The same of a text in which one number is as good as another."""
    return digest(re.sub(r"\d+(\.\d+)?", "0", text))


def model(folder, seed):
    case = generate.generate(seed)
    here = os.path.join(folder, str(seed))
    os.mkdir(here)
    for name, text in (("model.gbm", case.text),
                       ("data.json", case.data_text())):
        with open(os.path.join(here, name), "w") as f:
            f.write(text)
    text = emitted(seed, here, ROOT)
    with open(os.path.join(here, "text.c"), "w") as f:
        f.write(text)
    return Model(seed, here, len(text), digest(text), shape(text))


def seeds(n):
    """1 to n, and a tenth as many of those that have the newest pieces."""
    return [*range(1, n + 1), *(
        s for s in range(makers.EDGES_SINCE + 1, makers.EDGES_SINCE + n // 2)
        if makers.later(s) is makers.EDGES)]


def models(folder, n, jobs):
    """Of the seeds of n, all that gbmc takes, the cheapest first; their files go
    to `folder`."""
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        made = pool.map(functools.partial(model, folder), seeds(n),
                        chunksize=4)
        return sorted((m for m in made if m.size), key=lambda m: m.size)


# ---------------------------------------------------------------- the verdict

# gbmc that compiles in one piece: it takes a fourth of the time that four side by
# side take together.
ONE_PIECE = """#!/bin/sh
out= words=
while [ $# -gt 0 ]; do
    case $1 in
    -O) shift ;;
    -o) out=$2; shift ;;
    *) words="$words $1" ;;
    esac
    shift
done
[ "$out" ] || exec {gbmc} $words
{gbmc} --emit=c $words >"$out.c" || exit
$CC -std=gnu11 -O0 -w -fopenmp -I {root}/runtime -I "$GBM_STDLIB/kernels" \\
    "$out.c" -o "$out" {root}/build/libgbm.a $(cat {root}/build/link_flags) ||
    {{ echo "error: the C compiler failed: C compiler failed" >&2; exit 1; }}
"""


class Trial:
    """A model compiled in a tree, ready for questions; `kept` is the sampler of
    an earlier trial of the same, or where it goes."""

    def __init__(self, seed, tree, folder, kept=None):
        self.case = generate.generate(seed)
        os.makedirs(folder)
        settings = oracles.Settings(gbmc=os.path.join(folder, "gbmc"),
                                    environment=environment(tree))
        with open(settings.gbmc, "w") as f:
            f.write(ONE_PIECE.format(gbmc=os.path.join(tree, "build/gbmc"),
                                     root=ROOT))
        os.chmod(settings.gbmc, 0o755)
        self.bench = oracles.bench_of(self.case.text, self.case.data_text(),
                                      seed, folder, settings)
        sampler = self.bench.at(self.bench.program)
        if kept and os.path.exists(kept):
            shutil.copy(kept, sampler)
            self.broken = None
            return
        self.broken = oracles.compile_model(self.bench)
        if kept and not self.broken:
            shutil.copy(sampler, f"{kept}.{os.getpid()}")
            os.rename(f"{kept}.{os.getpid()}", kept)

    def failure(self, oracle, effort, seconds):
        settings, case = self.bench.settings, self.case
        settings.draws, settings.replicates = effort
        settings.seconds = seconds
        try:
            return self.broken or oracles.ask(
                oracle, self.bench, case.text, case.data, case.bugs,
                case.truth)
        except (ArithmeticError, LookupError, ValueError) as e:
            return oracles.Failure("test", repr(e))

    def drawn(self):
        """As Model has it; None if it does not compile."""
        if self.broken:
            return None
        for words in SHORT:
            self.bench.sampler(*words, seconds=20)
        return drawn_in(self.bench.folder)


class Purse:
    """Seconds of the processor, of this process and those that it has waited
    for; a machine that is crowded takes no question its time."""

    def __init__(self, seconds):
        self.seconds, self.began, self.at = seconds, self.used(), \
            time.monotonic()

    @staticmethod
    def used():
        return sum(u.ru_utime + u.ru_stime for u in map(
            resource.getrusage,
            (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))

    def spent(self):
        return max(self.used() - self.began,
                   (time.monotonic() - self.at) / CROWDED)

    def left(self):
        return self.seconds - self.spent()

    def on_clock(self, seconds):
        """How long what takes so long alone may take now."""
        share = (time.monotonic() - self.at) / max(1, self.spent())
        return seconds * min(CROWDED, max(1, share))


def first_failure(met, tree, seconds, asked):
    """What an oracle has against one of the models that a mutant meets and
    not without the mutant; None if there is no such thing in `seconds` of the
    processor. `met` is asked for no more models than it takes."""
    purse = Purse(seconds)
    with tempfile.TemporaryDirectory(prefix="gbm_mutant_") as folder:
        trials = {}

        def trial(m, where):
            if (m.seed, where) not in trials:
                sound = where == ROOT
                trials[m.seed, where] = Trial(
                    m.seed, where, os.path.join(
                        folder, f"{m.seed}{'.sound' if sound else ''}"),
                    os.path.join(m.folder, "sampler") if sound else None)
            return trials[m.seed, where]
        if asked is OF_DRAWS:
            met = others_first(met, lambda m: trial(m, tree).drawn() != m.drawn,
                               lambda: purse.spent() > seconds / 4)
        for m, oracle, effort in questions(met, asked):
            if purse.left() <= 0:
                break
            limit = max(2, min(30, purse.left() / 4))
            noticed = trial(m, tree).failure(oracle, effort,
                                             purse.on_clock(limit))
            # what has no end must have had one in half the time
            if noticed and not trial(m, ROOT).failure(
                    oracle, effort, purse.on_clock(limit / 2)):
                return f"seed {m.seed}: {noticed.group}"
    return None


def same_draws(m, tree):
    """Whether a model's sampler made by a tree draws what the sound one does,
    bit for bit."""
    def draws(where, folder):
        bench = Trial(m.seed, where, folder).bench
        status, _, _ = bench.sampler(
            "run", "--quiet", "--no-check", "--device", "cpu", "--chains", "2",
            "--warmup", "400", "--draws", "400", "--digits", "17", "--out",
            "draws.csv")
        return None if status else [
            oracles.read_draws(bench.at(f"draws_{k}.csv")) for k in (1, 2)]
    with tempfile.TemporaryDirectory(prefix="gbm_same_") as folder:
        own, sound = (draws(where, os.path.join(folder, name))
                      for where, name in ((tree, "own"), (ROOT, "sound")))
        return own is not None and own == sound


def others_first(met, differs, ended):
    """Models that differ, as they are found until it has ended, before the rest."""
    rest, met = [], iter(met)
    for m in met:
        if differs(m):
            yield m
        else:
            rest.append(m)
        if ended():
            break
    yield from itertools.chain(rest, met)


def questions(met, asked):
    """(model, oracle, effort): what is asked of each batch, then again with more
    effort."""
    batches, met = [], iter(met)
    while first := list(itertools.islice(met, 1)):
        batches.append(first)
        for m in itertools.chain(first, itertools.islice(met, BATCH - 1)):
            if m is not first[0]:
                first.append(m)
            for oracle, effort in asked[0]:
                yield m, oracle, effort
        for more in asked[1:]:
            for m, (oracle, effort) in itertools.product(first, more):
                yield m, oracle, effort
    known = set(itertools.chain(*asked))
    for batch in batches:
        for oracle in ("geweke", "plain"):
            if (oracle, DEEP) in known:
                continue
            for m in batch:
                yield m, oracle, DEEP


# ------------------------------------------------------------ who uses a line

def functions_of(path):
    """(name, first line, last line) of the functions and macros of a header."""
    name, first = None, 0
    macro, begun = None, 0
    with open(path) as f:
        for i, line in enumerate(f, 1):
            if found := re.match(r"# *define (\w+)", line):
                macro, begun = found.group(1), i
            if macro and not line.endswith("\\\n"):
                yield macro, begun, i
                macro = None
            found = re.match(r"(?=\w).*?\b(\w+)\(", line)
            if found and not line.startswith(("#", "/")):
                if name:  # ended in a line that begins with something else
                    yield name, first, i - 1
                name, first = found.group(1), i
            if line.startswith("}") and name:
                yield name, first, i
                name = None
    if name:
        yield name, first, i


@functools.lru_cache(maxsize=None)
def calls():
    """Function of the library -> the identifiers in its text."""
    table = {}
    for path in glob.glob(os.path.join(ROOT, "stdlib/kernels/*.h")):
        with open(path) as f:
            lines = f.read().splitlines()
        for name, first, last in functions_of(path):
            table.setdefault(name, set()).update(
                re.findall(r"\w+", "\n".join(lines[first - 1:last])))
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


def never_called(path, line):
    """Whether neither the compiler nor an entry of the library names a function
    that reaches the one with a line."""
    words = set()
    for source in ("compiler/**/*.[ch]", "stdlib/**/*.gbm"):
        for at in glob.glob(os.path.join(ROOT, source), recursive=True):
            with open(at) as f:
                words |= set(re.findall(r"\w+", f.read()))
    return not any({name, name.removeprefix("gbm_")} & words
                   for name in users(path, line))


# ---------------------------------------------------------------- the mutants
# Which models meet a mutant, given a tree that has it: one by one, as they are
# asked for; how it comes into a tree.

def other_text(known):
    """Of models whose C text is another; where only a number is, which may be
    a constant of the density that nothing depends on, they come last, or in
    between where others are rare."""
    def meets(tree):
        last, since = collections.deque(), 0
        for m in known:
            text = emitted(m.seed, m.folder, tree)
            since += 1
            if shape(text) != m.shape:
                since = 0
                yield m
            elif digest(text) != m.digest:
                last.append(m)
            if since >= WAITING and last:
                since = 0
                yield last.popleft()
        yield from last
    return meets


def callers(known, path, lines):
    """Of models that execute some of the lines of a file of the library; of as many
    as a batch has, those first that do so most. Which lines a model executes takes
    a second or two: it is asked only of those whose text names what reaches the
    line."""
    def times(m):
        return max((m.runs.get(path, {}).get(i, 0) for i in lines), default=0)

    def meets(tree):
        names = users(path, min(lines))
        left = [m for m in known if not names or names & m.words]
        while left:
            now, left = left[:BATCH], left[BATCH:]
            yield from sorted(filter(times, now), key=times, reverse=True)
    return meets


WRAPPER = """#!/usr/bin/python3
import subprocess, sys
words = sys.argv[1:]
text = subprocess.run([{gbmc!r}] + words, check=True, capture_output=True,
                      text=True).stdout
lines = text.splitlines(keepends=True)
# with powers, say, it is another program
if not any(w.startswith("--with") for w in words):
    if lines[{line}] != {before!r}:
        open({stale!r}, "w").close()  # it is another than when it was listed
        sys.exit(1)
    lines[{line}] = {after!r}
sys.stdout.write("".join(lines))
"""


def program(line, before, after):
    """gbmc that breaks one line of the C text."""
    def spoil(tree):
        path = os.path.join(tree, "build/gbmc")
        os.unlink(path)
        with open(path, "w") as f:
            f.write(WRAPPER.format(
                gbmc=os.path.join(ROOT, "build/gbmc"), line=line,
                before=before, after=after, stale=os.path.join(tree, "stale")))
        os.chmod(path, 0o755)
    return spoil


HEAD = re.compile(r"^[A-Za-z].*?\b(\w+)\(")


def function_at(lines, i):
    """The name of the C function in which a line is."""
    heads = (HEAD.match(line) for line in reversed(lines[:i + 1]))
    return next((head[1] for head in heads if head), "")


def in_fixed_order(sites):
    """Places of the sites, tuples of text, in an order that is as good as random,
    and that each site's text alone decides, but for its number among those of
    the same text."""
    seen, keyed = collections.Counter(), []
    for place, site in enumerate(sites):
        text = "\0".join(" ".join(part.split()) for part in site)
        digest = hashlib.sha256(f"{text}\0{seen[text]}".encode()).digest()
        seen[text] += 1
        keyed.append((digest, place))
    return [place for _, place in sorted(keyed)]


def program_sites(known, sites_of, n, jobs):
    """n sites, each in the text of another model, in lines that run."""
    def site(m):
        text = emitted(m.seed, m.folder, ROOT)
        found = list(sites_of(text.splitlines(keepends=True)))
        run = m.runs["program.c"]
        found = [s for s in found if s[0] + 1 in run]
        lines = text.splitlines(keepends=True)
        order = in_fixed_order([(str(m.seed), function_at(lines, i), before,
                                 after) for i, before, after in found])
        return [(m, *found[order[0]])] if found else []
    chosen, left = [], sorted(known)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        while left and len(chosen) < n:
            now = left[:n - len(chosen)]
            left = left[len(now):]
            for found in pool.map(site, now):
                chosen += found
    return chosen


def compiler_sites():
    for name, before, _ in COMPILER_SITES:
        with open(os.path.join(ROOT, "compiler", name)) as f:
            if f.read().count(before) != 1:
                raise SystemExit(f"{name} has not one {before!r}: see "
                                 "COMPILER_SITES")
    return COMPILER_SITES


def compiler(name, before, after):
    """gbmc itself, with one line changed; the other objects as they are."""
    def spoil(tree):
        with open(os.path.join(ROOT, "compiler", name)) as f:
            text = f.read()
        source = os.path.join(tree, os.path.basename(name))
        with open(source, "w") as f:
            f.write(text.replace(before, after))
        # what is defined here is not taken from the archive
        subprocess.run(
            ["cc", "-std=c11", "-O1", "-w", "-fopenmp", "-D_GNU_SOURCE",
             *(f"-I{os.path.join(ROOT, at)}" for at in
               ("compiler", "build/grammar", "runtime", "stdlib/kernels")), source,
             *(os.path.join(ROOT, "build", at) for at in
               ("compiler/main.o", "libgbmc.a", "libgbm.a")),
             "-ljansson", "-lz", "-lm",
             "-o", os.path.join(tree, "build/gbmc")], check=True)
    return spoil
