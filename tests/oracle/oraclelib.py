"""What the oracle, the recorder and the model tests share: readers for the
data formats, runs of JAGS and of gbm samplers, effective sample sizes, and
the comparison of two posteriors.  Needs numpy, nothing else."""

import json
import math
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import termios
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


class Failure(Exception):
    """A message for the user: what went wrong, in words."""


# ---------------------------------------------------------------- data files

_TOKEN = re.compile(r"""\s+ | \#[^\n]* | (?P<num>(?:\d+\.?\d*|\.\d+)
    (?:[eE][+-]?\d+)?L?) | (?P<name>[A-Za-z.][A-Za-z0-9._]*)
    | "(?P<dq>[^"]*)" | '(?P<sq>[^']*)' | `(?P<bq>[^`]*)`
    | (?P<op><-|[=(),:+-])|(?P<sep>;)""", re.X)
_BARE = {"NA": math.nan, "NaN": math.nan, "Inf": math.inf, "T": 1, "F": 0,
         "TRUE": 1, "FALSE": 0}


def _tokens(text, path):
    pos, out = 0, []
    while pos < len(text):
        m = _TOKEN.match(text, pos)
        if not m:
            line = text.count("\n", 0, pos) + 1
            raise Failure(f"{path}:{line}: cannot read {text[pos:pos+20]!r}")
        kind = m.lastgroup
        if kind in ("dq", "sq", "bq"):
            out.append(("str", m.group(kind)))
        elif kind in ("num", "name", "op"):
            out.append((kind, m.group(kind)))
        pos = m.end()
    out.append(("end", ""))
    return out


class _RReader:
    """Recursive descent over the subset of R that dump() and JAGS write."""

    def __init__(self, text, path):
        self.toks, self.i, self.path = _tokens(text, path), 0, path

    def peek(self):
        return self.toks[self.i]

    def take(self, value=None):
        kind, text = self.toks[self.i]
        if value is not None and text != value:
            raise Failure(f"{self.path}: expected {value!r}, found {text!r}")
        self.i += 1
        return kind, text

    def file(self):
        out = {}
        while self.peek()[0] != "end":
            kind, name = self.take()
            if name == "list" and self.peek()[1] == "(":
                out.update(self.named_list())
                continue
            if kind not in ("name", "str"):
                raise Failure(f"{self.path}: expected a name, found {name!r}")
            if self.peek()[1] not in ("<-", "="):
                raise Failure(f"{self.path}: expected <- after {name}")
            self.take()
            out[name] = self.value(False)
        return out

    def named_list(self):
        """list(a = ..., b = ...): the WinBUGS form, arrays row-major."""
        out = {}
        self.take("(")
        while self.peek()[1] != ")":
            _, name = self.take()
            self.take("=")
            out[name] = self.value(True)
            if self.peek()[1] == ",":
                self.take()
        self.take(")")
        return out

    def value(self, row_major):
        first = self.scalar_or_call(row_major)
        if self.peek()[1] == ":":
            self.take()
            last = self.scalar_or_call(row_major)
            return np.arange(float(first), float(last) + 1)
        return first

    def scalar_or_call(self, row_major):
        kind, text = self.take()
        if text in "+-" and kind == "op":
            return -np.asarray(self.scalar_or_call(row_major)) \
                if text == "-" else self.scalar_or_call(row_major)
        if kind == "num":
            return np.float64(text.rstrip("L"))
        if kind == "str":
            return text
        if text in _BARE and self.peek()[1] != "(":
            return np.float64(_BARE[text])
        if kind == "name" and self.peek()[1] == "(":
            args = self.arguments(row_major)
            if text == "c":
                parts = [np.ravel(v) for _, v in args]
                return np.concatenate(parts) if parts else np.zeros(0)
            if text == "structure":
                return self.structure(args, row_major)
            if text in ("as.integer", "as.numeric", "as.double"):
                return args[0][1]
            if text in ("integer", "double", "numeric"):
                return np.zeros(int(args[0][1]))
            if text == "rep":
                return np.tile(np.ravel(args[0][1]), int(args[1][1]))
        raise Failure(f"{self.path}: cannot read {text!r}")

    def arguments(self, row_major):
        args = []
        self.take("(")
        while self.peek()[1] != ")":
            name = None
            if self.toks[self.i + 1][1] == "=":
                name = self.take()[1]
                self.take("=")
            args.append((name, self.value(row_major)))
            if self.peek()[1] == ",":
                self.take()
        self.take(")")
        return args

    @staticmethod
    def structure(args, row_major):
        values, dim = None, None
        for name, v in args:
            if name in (None, ".Data"):
                values = np.ravel(v)
            elif name in (".Dim", "dim"):
                dim = [int(d) for d in np.ravel(v)]
        return values.reshape(dim, order="C" if row_major else "F")


def _json_array(v):
    if v is None or v == "NA":
        return math.nan
    if isinstance(v, list):
        return [_json_array(w) for w in v]
    return float(v)


def read_data(path):
    """Reads a data or inits file, CmdStan JSON or R dump, into a dict of
    arrays; missing values are NaN."""
    with open(path) as f:
        text = f.read()
    if path.endswith(".json") or text.lstrip().startswith("{"):
        data = json.loads(text)
        return {k: np.asarray(_json_array(v), dtype=float)
                for k, v in data.items()}
    return _RReader(text, path).file()


def _r_number(v):
    if math.isnan(v):
        return "NA"
    if v == math.floor(v) and abs(v) < 1e15:
        return str(int(v))
    return repr(float(v))


def write_rdump(data, path):
    """Writes a dict of arrays as an R dump that JAGS reads (column-major)."""
    with open(path, "w") as f:
        for name, v in data.items():
            if isinstance(v, str):
                f.write(f"\"{name}\" <- \"{v}\"\n")
                continue
            a = np.asarray(v, dtype=float)
            body = ",".join(_r_number(x) for x in a.ravel(order="F"))
            if a.ndim == 0:
                f.write(f"\"{name}\" <- {body}\n")
            elif a.ndim == 1:
                f.write(f"\"{name}\" <- c({body})\n")
            else:
                dim = ",".join(str(d) for d in a.shape)
                f.write(f"\"{name}\" <- structure(c({body}), "
                        f".Dim=c({dim}))\n")


# -------------------------------------------------------------- diagnostics

def ess(x):
    """Effective sample size of the mean of x, [chains][draws]: split chains,
    Geyer's initial monotone sequence (Vehtari et al. 2021, section 3)."""
    x = np.asarray(x, dtype=float)
    half = x.shape[1] // 2
    if half < 4:
        return math.nan
    x = np.concatenate([x[:, :half], x[:, -half:]])
    m, n = x.shape
    spread = x.max() - x.min()
    if not np.isfinite(spread):
        return math.nan
    if spread == 0:
        return float(m * n)
    centred = x - x.mean(axis=1, keepdims=True)
    size = 1 << (2 * n - 1).bit_length()
    f = np.fft.rfft(centred, size, axis=1)
    acov = np.fft.irfft(f * np.conj(f), size, axis=1)[:, :n] / n
    within = acov[:, 0].mean() * n / (n - 1)
    var_plus = within * (n - 1) / n
    if m > 1:
        var_plus += x.mean(axis=1).var(ddof=1)
    rho = 1 - (within - acov.mean(axis=0)) / var_plus
    rho[0] = 1
    pairs = rho[:n - n % 2].reshape(-1, 2).sum(axis=1)
    negative = np.nonzero(pairs <= 0)[0]
    pairs = pairs[:negative[0]] if len(negative) else pairs
    tau = -1 + 2 * np.minimum.accumulate(pairs).sum()
    return float(m * n / max(tau, 1 / math.log10(m * n)))


def rhat(x):
    half = x.shape[1] // 2
    x = np.concatenate([x[:, :half], x[:, -half:]])
    within = x.var(axis=1, ddof=1).mean()
    if within == 0:
        return 1.0 if x.mean(axis=1).std() == 0 else math.inf
    return math.sqrt(1 - 1 / half + x.mean(axis=1).var(ddof=1) / within)


def describe(x):
    """Moments of one node from its draws [chains][draws], each with its Monte
    Carlo standard error."""
    n_mean = ess(x)
    mean, sd = float(x.mean()), float(x.std(ddof=1))
    squares = (x - mean) ** 2
    n_sd = ess(squares)
    median = float(np.median(x))
    n_med = ess((x <= median).astype(float))
    # Interval of the median from the binomial of the effective draws.
    half = 0.5 / math.sqrt(max(n_med, 1))
    lo, hi = np.quantile(x, [max(0.5 - half, 0), min(0.5 + half, 1)])
    return {
        "mean": mean, "sd": sd, "mcse": sd / math.sqrt(n_mean),
        "ess": n_mean, "rhat": rhat(x),
        "mcse_sd": (float(squares.std(ddof=1)) / math.sqrt(n_sd) / (2 * sd)
                    if sd > 0 else 0.0),
        "q5": float(np.quantile(x, 0.05)), "q50": median,
        "q95": float(np.quantile(x, 0.95)), "mcse_q50": float(hi - lo) / 2,
        "ess_q50": n_med,
    }


# --------------------------------------------------------------------- JAGS

def have_jags():
    return shutil.which("jags") is not None


def read_coda(stem, chains):
    """CODA files into {node: [chains][draws]}."""
    index = []
    with open(stem + "index.txt") as f:
        for line in f:
            name, first, last = line.split()
            index.append((name, int(first), int(last)))
    out = {name: [] for name, _, _ in index}
    for k in range(1, chains + 1):
        flat = np.fromfile(f"{stem}chain{k}.txt", sep=" ")
        values = flat[1::2]
        for name, first, last in index:
            out[name].append(values[first - 1:last])
    return {name: np.array(v) for name, v in out.items()}


class Jags:
    """One JAGS process driven through its script language, so that the CPU
    time of sampling alone can be read off between commands."""

    def __init__(self, model, data, inits=None, chains=4, modules=("glm",),
                 seed=1, timeout=600):
        self.dir = tempfile.mkdtemp(prefix="oracle-")
        self.chains, self.timeout = chains, timeout
        self.log = open(os.path.join(self.dir, "log"), "w+")
        # JAGS reads commands one by one only from a terminal.
        terminal, far_end = pty.openpty()
        mode = termios.tcgetattr(far_end)
        mode[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(far_end, termios.TCSANOW, mode)
        self.proc = subprocess.Popen(["jags"], stdin=far_end,
                                     stdout=self.log, stderr=self.log,
                                     cwd=self.dir)
        os.close(far_end)
        self.stdin = os.fdopen(terminal, "wb", buffering=0)
        self.marks = 0
        self.thin = 1
        write_rdump(data, os.path.join(self.dir, "data.R"))
        shutil.copy(model, os.path.join(self.dir, "model.bug"))
        for module in modules:
            self.say(f"load {module}")
        self.say('model in "model.bug"')
        if data:
            self.say('data in "data.R"')
        self.say(f"compile, nchains({chains})")
        for k in range(chains):
            init = dict(inits[k % len(inits)]) if inits else {}
            for name in list(init):
                if name.startswith(".RNG"):
                    del init[name]
            init[".RNG.name"] = "base::Mersenne-Twister"
            init[".RNG.seed"] = np.float64(1000 * seed + k)
            name = f"init{k + 1}.R"
            write_rdump(init, os.path.join(self.dir, name))
            self.say(f'parameters in "{name}", chain({k + 1})')
        self.say("initialize")
        self.wait()

    def say(self, command):
        try:
            self.stdin.write(command.encode() + b"\n")
        except OSError:
            raise Failure("JAGS stopped:\n" + self.text())

    def text(self):
        self.log.flush()
        with open(self.log.name) as f:
            return f.read()

    def wait(self):
        """Returns when all commands so far are done; raises on an error."""
        self.marks += 1
        self.say("pwd")
        end = time.time() + self.timeout
        while True:
            text = self.text()
            bad = re.search(r"(RUNTIME ERROR|Error|can't|Cannot|Failed to|"
                            r"Deleting model|syntax error|parse error|"
                            r"not found|Unknown|Invalid).*(\n.*){0,6}", text)
            if bad:
                self.close()
                raise Failure("JAGS: " + bad.group(0).strip())
            if text.count(self.dir) >= self.marks:
                return
            if self.proc.poll() is not None:
                raise Failure("JAGS stopped:\n" + text[-2000:])
            if time.time() > end:
                self.close()
                raise Failure(f"JAGS: no answer within {self.timeout} s")
            time.sleep(0.02)

    def cpu(self):
        with open(f"/proc/{self.proc.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def update(self, n):
        """Runs n iterations; returns CPU seconds."""
        before = self.cpu()
        self.say(f"update {n}, by({n})")
        self.wait()
        return self.cpu() - before

    def adapt(self, n):
        """Tunes the samplers; without it the first update would stop that."""
        self.say(f"adapt {n}, by({n})")
        self.wait()

    def monitor(self, names, thin=1):
        for name in names:
            self.say(f"monitor {name}, thin({thin})")
        self.wait()

    def clear(self, names, thin=1):
        for name in names:
            self.say(f"monitor clear {name}")
        self.wait()

    def draws(self):
        self.say('coda *, stem("out_")')
        self.wait()
        return read_coda(os.path.join(self.dir, "out_"), self.chains)

    def samplers(self):
        self.say('samplers to "samplers.txt"')
        self.wait()
        with open(os.path.join(self.dir, "samplers.txt")) as f:
            return f.read()

    def close(self):
        self.proc.kill()
        self.proc.wait()
        self.stdin.close()
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)


def run_jags(model, data, monitors, inits=None, chains=4, burnin=2000,
             draws=5000, thin=1, modules=("glm",), seed=1, target_ess=None,
             max_seconds=120, timeout=900, keep=5000, nodes=None):
    """Runs JAGS; with target_ess, as long as that takes (or max_seconds of
    sampling).  Returns ({node: description}, cpu seconds of sampling, draws
    per chain, thin).  nodes limits what is described."""
    j = Jags(model, data, inits, chains, modules, seed, timeout)
    try:
        j.adapt(burnin)
        j.update(burnin)
        j.monitor(monitors, thin)
        cpu = j.update(draws)
        got = _select(j.draws(), nodes)
        total = draws
        if target_ess:
            worst = min(ess(x) for x in got.values())
            while worst < target_ess:
                rate = max(cpu, 0.01) / total
                factor = min(max(1.3 * target_ess / max(worst, 5), 1.5), 200)
                more = min(int(total * factor), int(max_seconds / rate))
                if more <= total * 1.2:
                    break
                j.clear(monitors, thin)
                thin = max(1, math.ceil(more / keep))
                j.monitor(monitors, thin)
                cpu = j.update(more)
                total = more
                got = _select(j.draws(), nodes)
                worst = min(ess(x) for x in got.values())
        return {n: describe(x) for n, x in got.items()}, cpu, total, thin
    finally:
        j.close()


def _select(draws, nodes):
    """Drops nodes that do not move (data, constants)."""
    out = {n: x for n, x in draws.items()
           if (nodes is None or n in nodes) and x.std() > 0}
    if not out:
        raise Failure("JAGS: no monitored node moves")
    return out


# ---------------------------------------------------------------------- gbm

def build_sampler(model, out, gbmc=None):
    """Compiles a model; returns seconds."""
    gbmc = gbmc or os.environ.get("GBMC") or os.path.join(ROOT, "build/gbmc")
    start = time.time()
    command = [gbmc]
    if os.environ.get("GBM_SAMPLERS"):  # in a run of all tests
        command = [os.path.join(ROOT, "tests/compile")]
    p = subprocess.run(command + [model, "-o", out], stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, timeout=300,
                       env=dict(os.environ, GBMC=gbmc))
    if p.returncode != 0:
        raise Failure(f"gbmc exit {p.returncode}: "
                      + (p.stderr + p.stdout).strip()[:1500])
    if not os.path.exists(out):
        raise Failure("gbmc exit 0, but no sampler was written")
    return time.time() - start


def run_sampler(sampler, data, summary, inits=(), chains=4, warmup=1000,
                draws=1000, thin=1, seed=1, monitors=None, threads=1,
                extra=(), timeout=900):
    """Runs a sampler on data files; returns the parsed summary."""
    cmd = [sampler]
    for d in data:
        cmd += ["--data", d]
    for i in inits:
        cmd += ["--init", i]
    cmd += ["--chains", str(chains), "--warmup", str(warmup), "--draws",
            str(draws), "--thin", str(thin), "--seed", str(seed),
            "--threads", str(threads), "--device", "cpu", "--quiet",
            "--summary", summary]
    if monitors:
        cmd += ["--monitor", ",".join(monitors)]
    cmd += list(extra)
    try:
        p = subprocess.run(cmd, stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failure(f"sampler: no end within {timeout} s")
    if p.returncode != 0:
        raise Failure(f"sampler exit {p.returncode}: "
                      + (p.stderr + p.stdout).strip()[:1500])
    with open(summary) as f:
        return json.load(f)


def run_gbm(model, data, monitors=None, inits=(), chains=4, warmup=1000,
            draws=1000, seed=1, target_ess=None, nodes=None, max_draws=400000,
            max_seconds=120, threads=1, gbmc=None, keep=20000, timeout=900,
            extra=()):
    """Compiles and runs; goes on until every node of `nodes` has target_ess,
    anew only where fewer draws are kept.  Returns (parameters, timing, draws).
    """
    with tempfile.TemporaryDirectory(prefix="oracle-") as tmp:
        sampler = os.path.join(tmp, "sampler")
        state = os.path.join(tmp, "state")
        save = ["--checkpoint", state, "--every", "1000h"]  # at the end alone
        compile_s = build_sampler(model, sampler, gbmc)
        before, seconds = None, 0.0
        while True:
            thin = max(1, math.ceil(draws / keep))
            if thin != before:
                go_on, before, seconds = [], thin, 0.0
            start = time.time()
            s = run_sampler(sampler, data, os.path.join(tmp, "s.json"), inits,
                            chains, warmup, draws, thin, seed, monitors,
                            threads, [*extra, *save, *go_on], timeout)
            go_on = ["--resume", state]
            seconds += time.time() - start
            timing = dict(s["timing"], compile_s=compile_s)
            pars = s["parameters"]
            if not target_ess:
                return pars, timing, draws
            asked = [p for n, p in pars.items() if nodes is None or n in nodes]
            worst = min((_number(p["ess_bulk"]) for p in asked), default=0)
            if (worst >= target_ess or draws >= max_draws
                    or seconds > max_seconds):
                return pars, timing, draws
            factor = min(max(1.5 * target_ess / max(worst, 10), 2), 20)
            draws = min(int(draws * factor), max_draws)


def _number(v):
    return 0.0 if v is None or v != v else float(v)


# --------------------------------------------------------------- comparison

class Row:
    """One node's comparison."""

    def __init__(self, node, ref, got, use_median):
        self.node, self.ref, self.got = node, ref, got
        self.ess = _number(got.get("ess_bulk"))
        self.median = use_median
        # What is not recorded for the sampler (errors of sd and median) is
        # the reference's error scaled to the sampler's effective draws.
        scale = math.sqrt(max(ref["ess"], 1) / max(self.ess, 1))
        if use_median:
            a, b = got["q50"], ref["q50"]
            ea, eb = ref["mcse_q50"] * scale, ref["mcse_q50"]
        else:
            a, b = got["mean"], ref["mean"]
            ea, eb = _number(got["mcse"]), ref["mcse"]
            # A sampler that does not move has no error of its own.
            ea = ea if ea > 0 else ref["mcse"] * scale
        self.a, self.b = _number(a), b
        err = math.hypot(ea, eb)
        rounding = 1e-5 * abs(b)  # CODA and summaries keep six digits
        self.z = (self.a - b) / math.hypot(err, rounding) if err > 0 else 0.0
        self.sd_ratio = _number(got["sd"]) / ref["sd"] if ref["sd"] else 1.0
        esd = ref["mcse_sd"] * math.sqrt(1 + scale ** 2)
        self.z_sd = ((_number(got["sd"]) - ref["sd"]) / esd
                     if esd > 0 and not use_median else 0.0)
        if not (math.isfinite(self.a) and math.isfinite(self.z)):
            self.z = math.inf


def compare(reference, pars, medians=()):
    """Rows for every node of the reference; raises if one is missing."""
    rows = []
    for node, ref in reference.items():
        if node not in pars:
            raise Failure(f"node {node} is not in the sampler's summary")
        base = node.split("[")[0]
        rows.append(Row(node, ref, pars[node],
                        node in medians or base in medians))
    return rows


def print_table(rows, cpu_gbm=None, cpu_ref=None, limit=None, out=sys.stdout):
    order = sorted(rows, key=lambda r: -abs(r.z))[:limit]
    print(f"{'node':<20} {'gbm':>11} {'reference':>11} {'z':>6} "
          f"{'sd ratio':>8} {'z(sd)':>6} {'ess gbm':>8} {'ess ref':>8}",
          file=out)
    for r in order:
        mark = "~" if r.median else " "
        print(f"{r.node:<20} {r.a:>11.5g}{mark}{r.b:>11.5g} {r.z:>6.3g} "
              f"{r.sd_ratio:>8.3f} {r.z_sd:>6.2f} {r.ess:>8.0f} "
              f"{r.ref['ess']:>8.0f}", file=out)
    if any(r.median for r in order):
        print("~ medians compared", file=out)
    if cpu_gbm is not None and cpu_ref is not None and rows:
        a = min(r.ess for r in rows) / max(cpu_gbm, 1e-4)
        b = min(r.ref["ess"] for r in rows) / max(cpu_ref, 1e-4)
        print(f"min ESS per CPU second of sampling: gbm {a:.4g}, "
              f"reference {b:.4g}, ratio {a / b:.3g}", file=out)
