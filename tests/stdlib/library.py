"""Reads stdlib/*/*.gbm and evaluates their expressions with numpy and scipy.

An independent reader of docs/library.md, so that the files are tested by
themselves, without the compiler. The C functions that they name are replaced by
scipy's (CODE) and, for draws, by numpy's (DRAWS).
"""
import functools
import glob
import math
import os
import re
import sys

try:
    import numpy as np
    import scipy.integrate
    import scipy.linalg
    import scipy.optimize
    import scipy.special as sp
    import scipy.stats as st
except ImportError as missing:
    print(f"skipped: {missing.name} is not installed")
    sys.exit(77)

STDLIB = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "..", "..", "stdlib")
CLAUSES = ("require require_between support logdensity statistics solve draw "
           "draw_shared log_draw draw_between log_mass log_cdf log_survival mean "
           "mode cdf quantile as alias observable code derivative range "
           "inverse match observed add factor builtin log log_complement "
           "mixing confine folded named single priority vectors raised "
           "adjoint flat code_in_rows "
           "nominal cell unordered").split()

TOKEN = re.compile(r"""\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  |(?P<name>[A-Za-z][A-Za-z0-9._]*)
  |(?P<op><=|>=|==|!=|&&|\|\||<-|[-+*/^<>=!(),:\[\]~]))""", re.X)


class Entry:
    """One distribution, function or augmentation."""

    def __init__(self, kind, name, parameters, over, returns, doc, path):
        self.kind, self.name, self.doc, self.path = kind, name, doc, path
        self.parameters = parameters  # [(name, [extents])]
        self.over, self.returns = over, returns  # (name, extents) / extents
        self.clauses = {}  # keyword -> [(label, value)]

    def value(self, keyword):
        items = self.clauses.get(keyword)
        return items[0][1] if items else None

    def aliases(self):
        return [v[1] for _, v in self.clauses.get("alias", [])]


class Parser:
    """Recursive descent over one clause's text; a tree of tuples comes out:
    ('num', x), ('name', s, indices), ('call', f, args),
    ('cell', call, indices), ('sum', index, lower, upper, body)."""

    BINARY = [["||"], ["&&"], ["<", "<=", ">", ">=", "==", "!="], ["+", "-"],
              ["*", "/"]]

    def __init__(self, text, where):
        self.where, self.tokens, at = where, [], 0
        text = text.rstrip()
        while at < len(text):
            m = TOKEN.match(text, at)
            if not m:
                raise SyntaxError(f"{where}: at {text[at:at + 20]!r}")
            self.tokens.append(m.group("number") or m.group("name")
                               or m.group("op"))
            at = m.end()
        self.at = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, what=None):
        t = self.peek()
        if t is None or (what and t != what):
            raise SyntaxError(f"{self.where}: expected {what}, found {t}")
        self.at += 1
        return t

    def items(self):
        out = []
        while self.peek() is not None:
            out.append(self.item())
            if self.peek() is not None:
                self.take(",")
        return out

    def item(self):
        first = self.expression()
        t = self.peek()
        if t in (":", "="):
            self.take()
            return first, self.expression()
        if t == "~":
            self.take()
            return None, ("call", "~", [first, self.expression()])
        if t is not None and t != ",":  # add z real(...)
            return first, self.expression()
        return None, first

    def expression(self, level=0):
        if level == len(self.BINARY):
            return self.unary()
        left = self.expression(level + 1)
        while self.peek() in self.BINARY[level]:
            op = self.take()
            left = ("call", op, [left, self.expression(level + 1)])
        return left

    def unary(self):
        if self.peek() == "-":
            self.take()
            return ("call", "neg", [self.unary()])
        if self.peek() == "!":
            self.take()
            return ("call", "!", [self.unary()])
        base = self.primary()
        if self.peek() == "^":
            self.take()
            return ("call", "^", [base, self.unary()])
        return base

    def primary(self):
        t = self.take()
        if t == "(":
            e = self.expression()
            self.take(")")
            return e
        if re.match(r"[\d.]", t):
            return ("num", float(t))
        if not re.match(r"[A-Za-z]", t):
            raise SyntaxError(f"{self.where}: unexpected {t}")
        if self.peek() == "(":
            self.take()
            if t == "sum" and self.tokens[self.at + 1] == "in":
                index = self.take()
                self.take("in")
                lower = self.expression()
                self.take(":")
                upper = self.expression()
                self.take(",")
                body = self.expression()
                self.take(")")
                return ("sum", index, lower, upper, body)
            args = self.arguments(")")
            if self.peek() == "[":  # a cell of a function of an array
                self.take()
                return ("cell", ("call", t, args), self.arguments("]"))
            return ("call", t, args)
        if self.peek() == "[":
            self.take()
            return ("name", t, self.arguments("]"))
        return ("name", t, [])

    def arguments(self, close):
        args = []
        while self.peek() != close:
            args.append(self.expression())
            if self.peek() == "=":  # named d(a, b = 1): the form of that b
                self.take()
                self.expression()
            if self.peek() != close:
                self.take(",")
        self.take(close)
        return args


HEADER = re.compile(r"(distribution|function|augmentation)\s+([A-Za-z][\w.]*)"
                    r"\s*(?:\((.*?)\))?\s*(?:over\s+(.*?))?\s*"
                    r"(?:returns\s+\[(.*?)\])?\s*\{$")


def split_parameters(text):
    out = []
    for m in re.finditer(r"([A-Za-z][\w.]*)\s*(?:\[(.*?)\])?", text or ""):
        out.append((m.group(1), [d.strip() for d in m.group(2).split(",")]
                    if m.group(2) else []))
    return out


def read_file(path):
    entries, doc, entry, header = [], [], None, ""
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        text = line.split("#")[0].rstrip()
        where = f"{os.path.basename(path)}:{number}"
        if len(line.rstrip("\n")) > 80:
            raise SyntaxError(f"{where}: longer than 80 columns")
        if entry is None:
            if line.startswith("#"):
                doc.append(line[1:].strip())
            elif text:
                header = (header + " " + text.strip()).strip()
                if not header.endswith("{"):
                    continue
                m = HEADER.match(header)
                header = ""
                if not m:
                    raise SyntaxError(f"{where}: no header: {text}")
                over = split_parameters(m.group(4))
                entry = Entry(m.group(1), m.group(2),
                              split_parameters(m.group(3)),
                              over[0] if over else None,
                              [d.strip() for d in m.group(5).split(",")]
                              if m.group(5) else None, doc, path)
                doc, texts = [], []
            continue
        if text == "}":
            for keyword, body, at in texts:
                if keyword in entry.clauses:
                    raise SyntaxError(f"{at}: a second {keyword}")
                entry.clauses[keyword] = Parser(body, at).items()
            entries.append(entry)
            entry = None
            continue
        m = re.match(r"  ([a-z_]+)\b", text)
        if m and m.group(1) in CLAUSES:
            texts.append([m.group(1), text[m.end():], where])
        elif text:
            if not text.startswith("    ") or not texts:
                raise SyntaxError(f"{where}: not a clause: {text}")
            texts[-1][1] += "\n" + text
    if entry is not None:
        raise SyntaxError(f"{path}: no closing brace")
    return entries


def read_library():
    """{kind: {name: Entry}}, aliases included."""
    library = {"distribution": {}, "function": {}, "augmentation": {}}
    for path in sorted(glob.glob(os.path.join(STDLIB, "*", "*.gbm"))):
        entries = read_file(path)
        if os.path.basename(path)[:-4] not in [e.name for e in entries]:
            raise SyntaxError(f"{path}: no entry of this name")
        for e in entries:
            for name in [e.name] + e.aliases():
                if name in library[e.kind]:
                    raise SyntaxError(f"{path}: {e.kind} {name} twice")
                library[e.kind][name] = e
    return library


LIBRARY = read_library()


def round_half_away(x):
    return math.copysign(math.floor(abs(x) + 0.5), x)


def log1mexp(x):
    return math.log(-math.expm1(-x)) if x < 0.7 else math.log1p(-math.exp(-x))


def log_bessel_k(nu, x):
    return math.log(sp.kve(nu, x)) - x


def log_gig_total(p, a, b):
    return (math.log(2) + log_bessel_k(p, math.sqrt(a * b))
            + p / 2 * math.log(b / a))


def log_modified_half_normal_total(c, b, a):
    """Of 2 (2 a)^(c / 2) exp(-b^2 / (8 a)) / Gamma(c) it is a parabolic cylinder
    function; b^2 / a is moderate here."""
    z = b * b / (4 * a)
    return math.log(0.5 * a ** (-c / 2) * (
        sp.gamma(c / 2) * sp.hyp1f1(c / 2, 0.5, z)
        + b / math.sqrt(a) * sp.gamma((c + 1) / 2)
        * sp.hyp1f1((c + 1) / 2, 1.5, z)))


def interp_lin(e, x, y):
    return float(np.interp(e, x, y))


def polya_gamma_density(n, w):
    """Density of PG(n, 0) at w, by the alternating series of Polson, Scott and
    Windle (2013), section 2; it cancels where w is large, to about 1e-13."""
    if w <= 0 or w > 10 + n:  # there below exp(-pi^2 w / 2)
        return 0.0
    k = np.arange(200)
    b = 2 * k + n
    terms = (sp.gammaln(k + n) - sp.gammaln(k + 1) - sp.gammaln(n) + np.log(b)
             - 0.5 * math.log(2 * math.pi) - 1.5 * math.log(w) - b * b / (8 * w))
    return 2 ** (n - 1) * float(np.sum((-1.0) ** k * np.exp(terms)))


def log_normal_mixture(x, mu, tau, p):
    mu, tau, p = map(np.asarray, (mu, tau, p))
    return np.logaddexp.reduce(
        np.log(p) + np.log(tau) / 2 - tau * (x - mu) ** 2 / 2) - np.log(sum(p))


def log_subset_sum(w, k):
    sums = [1.0] + [0.0] * int(k)
    for x in w:
        for j in range(int(k), 0, -1):
            sums[j] += x * sums[j - 1]
    return math.log(sums[int(k)])


def car_logdet(c, adj, num, gamma):
    n, at = len(num), 0
    a = np.eye(n)
    for i in range(n):
        for _ in range(int(num[i])):
            a[i, int(adj[at]) - 1] -= gamma * c[at]
            at += 1
    return np.linalg.slogdet(a)[1]


def log_transition(rates, start, end, time):
    return np.log(scipy.linalg.expm(time * rates)[int(start) - 1, int(end) - 1])


def log_choose(n, k):
    return sp.gammaln(n + 1) - sp.gammaln(k + 1) - sp.gammaln(n - k + 1)


def log_rising(a, n):
    if n < 0:
        return -log_rising(a + n, -n)
    if n == round(n) and 0 <= n < 1000:
        return math.fsum(math.log(a + j) for j in range(int(n)))
    return sp.gammaln(a + n) - sp.gammaln(a)


CODE = {
    "real_exp": math.exp, "real_log": lambda x: np.log(x),
    "real_sqrt": math.sqrt, "real_fabs": abs, "real_sin": math.sin,
    "real_cos": math.cos, "real_tan": math.tan, "real_asin": math.asin,
    "real_acos": math.acos, "real_atan": math.atan, "real_sinh": math.sinh,
    "real_cosh": math.cosh, "real_tanh": math.tanh, "real_asinh": math.asinh,
    "real_acosh": math.acosh, "real_atanh": math.atanh,
    "real_round": round_half_away, "real_trunc": math.trunc,
    "real_floor": math.floor, "real_ceil": math.ceil,
    "real_log1p": math.log1p, "real_expm1": math.expm1,
    "gbm_lgamma": sp.gammaln, "gbm_digamma": sp.digamma,
    "gbm_trigamma": lambda x: sp.polygamma(1, x),
    "gbm_log_choose": log_choose, "gbm_log_rising": log_rising,
    "gbm_log_beta": sp.betaln,
    "gbm_entered": lambda p, turn: min(max(p - turn, 1e-30), 1),
    "gbm_log_hyper_total": lambda n1, n2, m1, psi: sp.logsumexp(
        [log_choose(n1, j) + log_choose(n2, m1 - j) + j * math.log(psi)
         for j in range(int(max(0, m1 - n2)), int(min(n1, m1)) + 1)]),
    "gbm_log_phi_between": lambda a, b: (
        np.log(sp.ndtr(b) - sp.ndtr(a)) if b > a else -np.inf),
    "gbm_phi": sp.ndtr, "gbm_log_phi": sp.log_ndtr, "gbm_probit": sp.ndtri,
    "gbm_ilogit": sp.expit, "gbm_log1pexp": lambda x: np.logaddexp(0, x),
    "gbm_log1mexp": log1mexp, "gbm_icloglog": lambda x: -math.expm1(
        -math.exp(x)),
    "gbm_gamma_p": sp.gammainc, "gbm_gamma_q": sp.gammaincc,
    "gbm_log_gamma_p": lambda a, x: math.log(sp.gammainc(a, x)),
    "gbm_log_gamma_q": lambda a, x: math.log(sp.gammaincc(a, x)),
    "gbm_log_beta_i": lambda a, b, x: math.log(sp.betainc(a, b, x)),
    "gbm_log_t_p": lambda k, x: math.log(sp.stdtr(k, x)),
    "gbm_log_gamma_between": lambda a, l, h: math.log(
        sp.gammainc(a, h) - sp.gammainc(a, l)),
    "gbm_log_beta_mass": lambda a, b, l, h: math.log(
        sp.betainc(a, b, h) - sp.betainc(a, b, l)),
    "gbm_log_odds_mass": lambda a, b, l, h: math.log(
        sp.betainc(a, b, h / (1 + h)) - sp.betainc(a, b, l / (1 + l))),
    "gbm_log_t_between": lambda k, l, h: math.log(
        sp.stdtr(k, h) - sp.stdtr(k, l)),
    "gbm_log_laplace_between": lambda l, h: math.log(
        st.laplace.cdf(h) - st.laplace.cdf(l)),
    "gbm_log_between": lambda a, b, c, d: math.log(math.exp(c) - math.exp(a)),
    "gbm_gamma_quantile": sp.gammaincinv, "gbm_beta_i": sp.betainc,
    "gbm_beta_quantile": sp.betaincinv, "gbm_t_p": sp.stdtr,
    "gbm_t_quantile": sp.stdtrit, "gbm_log_bessel_k": log_bessel_k,
    "gbm_log_gig_total": log_gig_total,
    "gbm_log_modified_half_normal_total": log_modified_half_normal_total,
    "gbm_log_bessel_i0": lambda x: math.log(sp.ive(0, x)) + x,
    "gbm_log_nchisqr_density": lambda x, k, d: st.ncx2.logpdf(x, k, d),
    "gbm_nchisqr_p": lambda x, k, d: st.ncx2.cdf(x, k, d),
    "gbm_log_nt_density": lambda x, k, n: st.nct.logpdf(x, k, n),
    "gbm_nt_p": lambda x, k, n: st.nct.cdf(x, k, n),
    "gbm_q_nchisqr": lambda p, k, d: st.ncx2.ppf(p, k, d),
    "gbm_nt_quantile": lambda p, k, n: st.nct.ppf(p, k, n),
    "gbm_q_hyper": lambda p, a, b, m, psi: st.nchypergeom_fisher.ppf(
        p, int(a + b), int(a), int(m), psi),
    "gbm_log_normal_mixture": log_normal_mixture,
    "gbm_log_total": lambda x: float(np.logaddexp.reduce(
        [v for v in x if math.isfinite(v)])),
    "gbm_log_subset_sum": log_subset_sum, "gbm_log_transition": log_transition,
    "gbm_trace_solve": lambda a, b: np.trace(np.linalg.solve(b, a)),
    "gbm_car_logdet": car_logdet,
    "gbm_prod": lambda x: float(np.prod(x)),
    "gbm_max": lambda x: float(np.max(x)),
    "gbm_min": lambda x: float(np.min(x)),
    "gbm_sd": lambda x: float(np.std(x, ddof=1)),
    "gbm_sort": np.sort,
    "gbm_rank": lambda x: 1.0 + np.argsort(np.argsort(x, kind="stable")),
    "gbm_order": lambda x: 1.0 + np.argsort(x, kind="stable"),
    "gbm_interp_lin": interp_lin, "gbm_inverse": np.linalg.inv,
    "gbm_chol": lambda a: np.linalg.cholesky(a).T,
    "gbm_logdet": lambda a: np.linalg.slogdet(a)[1],
    "gbm_linear_solve": np.linalg.solve, "gbm_mexp": scipy.linalg.expm,
}
BUILTIN = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b,
    "*": lambda a, b: a * b, "neg": lambda a: -a, "!": lambda a: not a,
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
    "sum": np.sum, "mean": np.mean, "inprod": np.dot, "length": np.size,
    "t": np.transpose,
}
DRAWS = {}


def draws(rng):
    """The draw functions by numpy, from its generator `rng`."""
    def truncated_gamma(a, lower, upper):
        # inverts the mass of x^(a-1) exp(-x) on the interval by bisection
        top = min(upper, max(lower, a, 1) + 40 + 20 * math.sqrt(abs(a) + 1))
        t = np.exp(np.linspace(math.log(max(lower, 1e-14)), math.log(top),
                               8001))
        logf = a * np.log(t) - t
        f = np.exp(logf - logf.max())
        mass = np.concatenate([[0], np.cumsum(0.5 * (f[1:] + f[:-1]))])
        return float(np.interp(rng.random() * mass[-1], mass, t))

    def truncated_normal(mu, sd, lower, upper):
        a, b = sp.ndtr((lower - mu) / sd), sp.ndtr((upper - mu) / sd)
        return mu + sd * sp.ndtri(a + (b - a) * rng.random())

    def power_law(a, lower, upper):
        if abs(a + 1) < 1e-12:
            return lower * (upper / lower) ** rng.random()
        l, u = lower ** (a + 1), upper ** (a + 1)
        return (l + rng.random() * (u - l)) ** (1 / (a + 1))

    @functools.lru_cache(maxsize=8)
    def half_normal_table(c, b, a):
        u = np.linspace(-40 / c, 6, 200001)  # log x
        density = c * u + b * np.exp(u) - a * np.exp(2 * u)
        return u, np.cumsum(np.exp(density - density.max()))

    def modified_half_normal(c, b, a):
        u, mass = half_normal_table(c, b, a)
        return math.exp(u[np.searchsorted(mass, rng.random() * mass[-1])])

    def hypergeometric(n1, n2, m1, psi):
        x = np.arange(max(0, m1 - n2), min(n1, m1) + 1)
        return float(rng.choice(x, p=noncentral_hypergeometric(
            x, n1, n2, m1, psi)))

    def normal_mixture(mu, tau, w):
        j = rng.choice(len(w), p=w / w.sum())
        return mu[j] + rng.standard_normal() / math.sqrt(tau[j])

    def normal_mixture_between(mu, tau, w, lower, upper):
        root = np.sqrt(tau)
        mass = w * (sp.ndtr((upper - mu) * root) - sp.ndtr((lower - mu) * root))
        j = rng.choice(len(w), p=mass / mass.sum())
        return truncated_normal(mu[j], 1 / root[j], lower, upper)

    return {
        "draw_uniform": rng.random, "draw_normal": rng.standard_normal,
        "draw_exponential": rng.standard_exponential,
        "draw_gamma": rng.standard_gamma, "draw_beta": rng.beta,
        "draw_truncated_normal": truncated_normal,
        "draw_truncated_gamma": truncated_gamma,
        "draw_gamma_between": lambda a, b, lower, upper:
            truncated_gamma(a, b * lower, b * upper) / b,
        "draw_weibull_between": lambda v, rate, lower, upper:
            (truncated_gamma(1, rate * lower ** v, rate * upper ** v) / rate)
            ** (1 / v),
        "draw_power_law": power_law, "draw_poisson": rng.poisson,
        "draw_binomial": lambda n, p: rng.binomial(int(n), p),
        "draw_negative_binomial": lambda p, r: rng.negative_binomial(r, p),
        "draw_hypergeometric": hypergeometric,
        "draw_category": lambda w: 1 + rng.choice(len(w), p=w / w.sum()),
        "draw_inverse_gaussian": rng.wald,
        "draw_gig": lambda p, a, b: float(st.geninvgauss.rvs(
            p, math.sqrt(a * b), scale=math.sqrt(b / a), random_state=rng)),
        "draw_modified_half_normal": modified_half_normal,
        "draw_von_mises": lambda mu, kappa: mu + rng.vonmises(0, kappa),
        "draw_normal_mixture": normal_mixture,
        "draw_normal_mixture_between": normal_mixture_between,
        "draw_ordered_logit": lambda mu, c: 1.0 + np.sum(
            c < mu + rng.logistic()),
        "draw_ordered_probit": lambda mu, c: 1.0 + np.sum(
            c < mu + rng.standard_normal()),
        "draw_dirichlet": rng.dirichlet,
        "draw_multinomial": lambda w, n: rng.multinomial(int(n), w / w.sum()),
    }


def noncentral_hypergeometric(x, n1, n2, m1, psi):
    """Probabilities over the whole support x."""
    logp = (sp.gammaln(n1 + 1) - sp.gammaln(x + 1) - sp.gammaln(n1 - x + 1)
            + sp.gammaln(n2 + 1) - sp.gammaln(m1 - x + 1)
            - sp.gammaln(n2 - m1 + x + 1) + x * np.log(psi))
    p = np.exp(logp - logp.max())
    return p / p.sum()


def divide(a, b):
    if b == 0:
        return math.copysign(math.inf, a) if a else math.nan
    return a / b


def power(a, b):
    if a == 0 and b < 0:
        return math.inf
    if a < 0 and b != int(b):
        return math.nan
    try:
        return float(a) ** b
    except OverflowError:
        return math.inf


def times(a, b):
    """0 * log(0) is 0: that term is absent."""
    if np.ndim(a) == 0 and np.ndim(b) == 0 and (a == 0 or b == 0):
        return 0.0
    return a * b


def evaluate(e, env):
    """Value of a tree; env maps names to floats and arrays."""
    kind = e[0]
    if kind == "num":
        return e[1]
    if kind == "name":
        if e[1] == "inf":
            return math.inf
        v = env[e[1]]
        if not e[2]:
            return v
        return v[tuple(int(evaluate(i, env)) - 1 for i in e[2])]
    if kind == "cell":
        return evaluate(e[1], env)[tuple(int(evaluate(i, env)) - 1
                                         for i in e[2])]
    if kind == "sum":
        inner, total = dict(env), 0.0
        for j in range(int(evaluate(e[2], env)), int(evaluate(e[3], env)) + 1):
            inner[e[1]] = float(j)
            total = total + evaluate(e[4], inner)
        return total
    return call(e[1], e[2], env)


def call(f, args, env):
    if f in ("ifelse", "if_else"):
        return evaluate(args[1 if evaluate(args[0], env) else 2], env)
    if f == "&&":
        return evaluate(args[0], env) and evaluate(args[1], env)
    if f == "||":
        return evaluate(args[0], env) or evaluate(args[1], env)
    v = [evaluate(a, env) for a in args]
    if f == "*":
        return times(*v)
    if f == "/":
        return divide(*v)
    if f == "^":
        return power(*v)
    if f in DRAWS:
        return DRAWS[f](*v)
    if f == "polya_gamma_density":
        return polya_gamma_density(*v)
    if f in BUILTIN:
        return BUILTIN[f](*v)
    if f == "c":
        return np.concatenate([np.ravel(a) for a in v])
    entry = LIBRARY["function"].get(f)
    if entry is None:
        raise NameError(f"unknown function {f}")
    return call_entry(entry, v)


def call_entry(entry, v):
    last = entry.parameters[-1] if entry.parameters else None
    if last and len(last[1]) == 1 and (len(v) > len(entry.parameters) or
                                       np.ndim(v[-1]) == 0):
        n = len(entry.parameters) - 1
        v = v[:n] + [np.concatenate([np.ravel(a) for a in v[n:]])]
    if len(v) != len(entry.parameters):
        raise TypeError(f"{entry.name} takes {len(entry.parameters)} arguments")
    value = entry.value("as")
    if value is not None:
        return evaluate(value, bind(entry, v))
    if "cell" in entry.clauses:
        (_, _, indices), value = entry.clauses["cell"][0]
        env = bind(entry, v)
        shape = [int(env[extent]) for extent in entry.returns]
        return np.array([evaluate(value, {**env, **{
            name[1]: float(at + 1) for name, at in zip(indices, where)}})
            for where in np.ndindex(*shape)]).reshape(shape)
    if entry.value("code") is None:
        raise NameError(f"{entry.name} has no as, cell or code")
    try:
        return CODE[entry.value("code")[1]](*v)
    except OverflowError:
        return math.inf


def bind(entry, v):
    """The environment of an entry's clauses at parameter values v."""
    env = {}
    for (name, extents), value in zip(entry.parameters, v):
        env[name] = value
        for d, extent in enumerate(extents):
            if re.match(r"[A-Za-z]", extent):
                env[extent] = float(np.shape(value)[d])
    return env


def canonical(entry, v):
    """Follows `as` to the distribution that has a log density; returns it and
    its parameter values."""
    while entry.value("as") is not None:
        tree = entry.value("as")
        env = bind(entry, v)
        v = [evaluate(a, env) for a in tree[2]]
        entry = LIBRARY["distribution"][tree[1]]
    return entry, v


def allowed(entry, v):
    """Do parameters v satisfy every `require`?"""
    env = bind(entry, v)
    for _, condition in entry.clauses.get("require", []):
        for inner in every_index(condition, env):
            if not evaluate(condition, inner):
                return False
    return True


def free_names(e, bound, out):
    """Names in e that are not in bound, in order of appearance."""
    if e[0] == "name":
        if e[1] not in bound and e[1] != "inf" and e[1] not in out:
            out.append(e[1])
        for i in e[2]:
            free_names(i, bound, out)
    elif e[0] == "call":
        for a in e[2]:
            free_names(a, bound, out)
    elif e[0] == "cell":
        for a in [e[1]] + e[2]:
            free_names(a, bound, out)
    elif e[0] == "sum":
        free_names(e[2], bound, out)
        free_names(e[3], bound, out)
        free_names(e[4], set(bound) | {e[1]}, out)
    return out


def every_index(e, env, names=None):
    """Environments over all values of the free names of e (indices that run
    from 1 to K, the extent of the entry)."""
    if names is None:
        names = free_names(e, env, [])
    if not names:
        yield env
        return
    extent = int(env.get("K", env.get("M", env.get("N", 0))))
    for j in range(1, extent + 1):
        inner = dict(env)
        inner[names[0]] = float(j)
        yield from every_index(e, inner, names[1:])


def log_density(entry, v, x):
    """Log density of the written distribution at x, -inf off its support."""
    entry, v = canonical(entry, v)
    env = bind(entry, v)
    env["x"] = x
    if entry.over:
        env[entry.over[0]] = x
        for d, extent in enumerate(entry.over[1]):
            env.setdefault(extent, float(np.shape(x)[d]))
        return float(evaluate(entry.value("logdensity"), env))
    kind, lower, upper = support(entry, v)
    if not lower <= x <= upper or (kind == "integer" and x != math.floor(x)):
        return -math.inf
    return float(evaluate(entry.value("logdensity"), env))


def support(entry, v):
    """('real' | 'integer', lower, upper), or (word, None, None)."""
    entry, v = canonical(entry, v)
    tree = entry.value("support")
    if tree[0] == "call" and tree[1] in ("real", "integer"):
        env = bind(entry, v)
        return tree[1], float(evaluate(tree[2][0], env)), float(
            evaluate(tree[2][1], env))
    return tree[1], None, None


def at(entry, keyword, v, **more):
    """Value of a clause at canonical parameters v."""
    entry, v = canonical(entry, v)
    tree = entry.value(keyword)
    if tree is None:
        return None
    env = bind(entry, v)
    env.update(more)
    return evaluate(tree, env)


class Failures:
    """Counts and prints what is wrong."""

    def __init__(self):
        self.checks, self.failed = 0, 0

    def check(self, condition, message):
        self.checks += 1
        if not condition:
            self.failed += 1
            print("FAILED", message)

    def near(self, a, b, tolerance, message):
        a, b = float(a), float(b)
        same = a == b or abs(a - b) <= tolerance * (1 + max(abs(a), abs(b)))
        self.check(same, f"{message}: {a!r} is not {b!r}")

    def finish(self):
        print(f"{self.checks} checks, {self.failed} failed")
        sys.exit(1 if self.failed else 0)
