"""A random model compiled in a folder of its own, and how what it runs is told
when it breaks."""

import csv
import functools
import os
import re
import signal
import subprocess
from dataclasses import dataclass, field

import numpy as np

import syntax

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


@dataclass
class Failure:
    oracle: str
    kind: str
    detail: str = ""

    @property
    def group(self):
        return f"{self.oracle}: {self.kind}"


@dataclass
class Settings:
    gbmc: str = os.path.join(ROOT, "build", "gbmc")
    level: str = "0"
    oracles: tuple = ("check", "density", "plain")
    seconds: float = 60
    replicates: int = 250
    draws: int = 1000
    environment: dict = field(default_factory=dict)


@dataclass
class Bench:
    """One model with its files, and the sampler made of it."""
    folder: str
    settings: Settings
    seed: int
    data_at_compile: bool = False
    program: str = "sampler"
    counts: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)

    def at(self, name):
        return os.path.join(self.folder, name)

    def names(self):
        with open(self.at("model.gbm")) as f:
            return syntax.all_names(syntax.parse(f.read()))

    def write(self, text, data):
        with open(self.at("model.gbm"), "w") as f:
            f.write(text)
        with open(self.at("data.json"), "w") as f:
            f.write(data)

    def run(self, words, seconds=None, **variables):
        seconds = seconds or self.settings.seconds
        environment = dict(os.environ, OMP_NUM_THREADS="1",
                           OPENBLAS_NUM_THREADS="1", CC=c_compiler(),
                           GBM_CACHE="off", **ways(self.seed),
                           **self.settings.environment)
        environment.update(variables)
        with subprocess.Popen(words, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=self.folder,
                              stdin=subprocess.DEVNULL, env=environment,
                              text=True, errors="replace",
                              process_group=0) as p:
            try:
                out, err = p.communicate(timeout=seconds)
            except BaseException as e:
                os.killpg(p.pid, signal.SIGKILL)
                if not isinstance(e, subprocess.TimeoutExpired):
                    raise
                out, err = p.communicate()
                return 124, out, err
        return p.returncode, out, err

    def sampler(self, command, *options, seconds=None, **variables):
        status, out, err = self.run(
            [self.at(self.program), command, "--data", "data.json", "--threads",
             "1", *options], seconds, **variables)
        # predictions from parameters that overflow; the density oracle looks
        # at the draws that are no numbers
        if status == 2 and "all that was drawn is kept" in err:
            self.notes.append("run: some predictions are no numbers")
            status = 0
        return status, out, err


def ways(seed):
    """Variables of the ways in which a seed's model is swept."""
    # a sweep step by step, or in one kernel where that is faster
    by_steps = {"GBM_CUDA_CHAINS": "0", "GBM_CUDA_PASS": "1"} if seed % 2 \
        else {}
    # sparse blocks in one order on both devices: else draws differ
    return {**by_steps, "GBM_ORDER": "rounds" if seed % 2 else "plain"}


@functools.lru_cache(maxsize=None)
def c_compiler():
    """The C compiler's words: room for columns is guarded; what a sampler
    leaves unset is filled with what no test takes for a value, where the
    compiler can."""
    words = (os.environ.get("CC") or "cc") + " -DGBM_GUARD"
    more = words + " -ftrivial-auto-var-init=pattern"
    done = subprocess.run([*more.split(), "-xc", "-fsyntax-only", "-"],
                          input="", text=True, capture_output=True)
    return words if done.returncode else more


def plain_kind(text, names=()):
    """A message without what is of this model alone."""
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.(])", "x", text)
    text = re.sub(r"\S*model\.gbm:[\d:]+:? *", "", text)
    text = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "'...'", text)
    text = re.sub(r"\b[A-Za-z_][\w.]*\[[^\]]*\]", "x[...]", text)
    text = re.sub(r"-?\b(nan|inf|\d[\d.]*(e[-+]?\d+)?)\b", "#", text)
    return text.strip()[:160]


def broke(oracle, status, out, err):
    """A failure of the program itself: a crash, a sanitizer's report, no
    end."""
    text = out + err
    m = re.search(r"(AddressSanitizer: \S+|runtime error: .*|"
                  r"LeakSanitizer)", text)
    if m:
        frame = re.search(r"#[01] .* in (gbm\w+|rt\w+|\w+) ", text)
        return Failure(oracle, "sanitizer: " + plain_kind(m.group(1))
                       + (f" in {frame.group(1)}" if frame else ""),
                       text[-1500:])
    if status == 124:
        return Failure(oracle, "no end", text[-800:])
    if status < 0 or status >= 128:
        return Failure(oracle, f"signal {-status if status < 0 else status}",
                       text[-1500:])
    return None


def message(err):
    lines = [l for l in err.splitlines()
             if "error" in l or l.startswith("failed:")] or \
        [l for l in err.splitlines() if l.strip()] or ["(nothing said)"]
    return lines[0]


def bench_of(text, data_text, seed, folder, settings):
    """A folder with the files of a model."""
    folder = os.path.abspath(folder)
    os.makedirs(folder, exist_ok=True)
    bench = Bench(folder, settings, seed % 1000000, seed % 4 == 3)
    bench.write(text, data_text)
    return bench


def read_draws(stem):
    """Rows of a CSV file of draws: dictionaries of columns."""
    with open(stem) as f:
        rows = list(csv.reader(l for l in f if not l.startswith("#")))
    return [dict(zip(rows[0], map(float, row))) for row in rows[1:]]


def starting_values(row, like):
    """A draw of a CSV file as starting values; `like` has arrays of the model, by
    name: a column's name has no dots, and no column need be of the last cell."""
    names = {syntax.column_name(name): name for name in like}
    values = {}
    for column, x in row.items():
        name, *at = re.split(r"\.(?=[\d.]+$)", column, maxsplit=1)
        if name in names:
            at = tuple(int(i) - 1 for i in at[0].split(".")) if at else ()
            values.setdefault(names[name], {})[at] = x
    arrays = {}
    for name, cells in values.items():
        arrays[name] = np.full(np.shape(like[name]), np.nan)
        for at, x in cells.items():
            arrays[name][at] = x
    return arrays
