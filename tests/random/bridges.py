"""Methods between prior and posterior as oracles: full conditionals under a power,
and draws by tempering and SMC beside those of plain chains. Few replicas and
particles: what they draw must be right with any number."""

import json
import os

from harness import Failure, broke, message, plain_kind

REPLICAS, PARTICLES = 4, 64
POWER = 0.3
# Why there is no such sampler of a model, or no run: said in docs/methods.md.
REFUSED = ("not supported yet", "begins at the prior", "no data to be tempered",
           "draws from the prior are the data possible")


def raised(bench):
    """None where the sampler `raised` is there, else its Failure."""
    if os.path.exists(bench.at("raised")):
        return None
    status, out, err = bench.run(
        [bench.settings.gbmc, "-O", bench.settings.level, "--with=powers",
         *(["--data", "data.json"] if bench.data_at_compile else []),
         "model.gbm", "-o", "raised"], 120)
    failed = broke("gbmc", status, out, err)
    if status and not failed:
        failed = Failure("powers", "gbmc: " + plain_kind(message(err)),
                         err[:1500])
    return failed


def refused(bench, err):
    """Whether a run was rightly refused; notes it."""
    if not any(why in err for why in REFUSED):
        return False
    bench.notes.append(plain_kind(message(err), bench.names()))
    return True


def conditionals(bench):
    """Those of the densities with a power."""
    failed = raised(bench)
    if failed:
        return failed
    status, out, err = bench.run(
        [bench.at("raised"), "check", "--data", "data.json", "--threads", "1",
         "--seed", str(bench.seed), "--power", str(POWER)])
    failed = broke("powers", status, out, err)
    if failed or status == 0 or refused(bench, err):
        return failed
    rows = "\n".join(l for l in out.splitlines() if "FAIL" in l)
    return Failure("powers", "another density" if rows else
                   plain_kind(message(err)), rows or err[:1000])


def draws(bench, method):
    """Of oracles.compare_runs: how draws by the method are summarised."""
    def other(seed, n, seconds=None):
        failed = raised(bench)
        if failed:
            return 1, "", failed.detail
        times = n // bench.settings.draws
        words = {"tempering": ["--replicas", str(REPLICAS), "--draws", str(n),
                               "--warmup", str(n // 2)],
                 "smc": ["--particles", str(times * PARTICLES)]}[method]
        status, out, err = bench.run(
            [bench.at("raised"), "--method", method, "--data", "data.json",
             "--quiet", "--device", "cpu", "--threads", "1", "--chains", "4",
             "--seed", str(seed + 2), "--summary", f"{method}.json", *words],
            seconds)
        if status:
            return 77 if status > 0 and refused(bench, err) else status, out, \
                err
        with open(bench.at(f"{method}.json")) as f:
            return 0, json.load(f), err
    return other


def held(bench):
    """oracles.held of both methods' short runs."""
    failed = raised(bench)
    for method, words in (("tempering", ["--replicas", "3", "--draws", "12",
                                         "--warmup", "12"]),
                          ("smc", ["--particles", "16"])):
        if failed:
            return failed
        status, out, err = bench.run(
            [bench.at("raised"), "--method", method, "--data", "data.json",
             "--quiet", "--device", "cpu", "--threads", "1", "--chains", "2",
             "--seed", str(bench.seed), "--summary", "held.json", *words],
            GBM_HELD="1")
        failed = broke("held", status, out, err)
        if not failed and "behind" in err:
            failed = Failure("held", method, err[:1000])
    return failed
