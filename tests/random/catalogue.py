"""Every distribution of one number, with arguments from the pool: what models
seldom name is met as often as the rest."""

from filling import fill
from pool import Thing

# Kind, and the distribution; {r} real, {s} positive and not near 0, {p} a
# probability, {k} and {m} small counts, {c} cutpoints.
BUGS = [
    ("real", "dnorm({r}, {s})"), ("real", "dt({r}, {s}, {k} + 3)"),
    ("real", "ddexp({r}, {s})"), ("real", "dlogis({r}, {s})"),
    ("real", "dunif({r} - {s}, {r} + {s})"),
    ("real", "dnt({r}, {s}, {k} + 4)"),
    ("positive", "dgamma({s}, {s})"), ("positive", "dexp({s})"),
    ("positive", "dlnorm({r}, {s} + 1)"), ("positive", "dweib({s}, {s})"),
    ("positive", "dchisqr({k})"), ("positive", "df({k} + 1, {m} + 4)"),
    ("positive", "dpar({s} + 1, {s})"),
    ("positive", "dgen.gamma({s}, {s}, 1.3)"),
    ("positive", "dnchisqr({k}, {s})"),
    ("probability", "dbeta({s}, {s})"),
    ("count", "dbern({p})"), ("count", "dbin({p}, {k})"),
    ("count", "dpois({s})"), ("count", "dnegbin({p}, {s})"),
    ("count", "dbetabin({s}, {s}, {k})"),
    ("count", "dhyper({k} + 2, {m} + 2, 3, {s})"),
    ("count", "dordered.logit({r}, {c}[])"),
    ("count", "dordered.probit({r}, {c}[])")]
BEYOND_JAGS = [
    ("real", "dgev({r}, {s}, -0.2)"), ("real", "dgev({r}, {s}, 0)"),
    ("positive", "root_gig({r}, {s}, {s})"),
    ("positive", "modified_half_normal({s}, {r}, {s}, 1)"), ("real", "dgpar({r}, {s}, 0.1)"),
    ("positive", "dinvgamma({s} + 3, {s})"), ("count", "dgeom({p})"),
    ("count", "dgeom0({p})"),
    ("positive", "dscaled.gamma({s}, {k} + 4)")]
MODERN = [
    ("real", "normal({r}, {s})"), ("real", "student_t({k} + 3, {r}, {s})"),
    ("real", "laplace({r}, {s})"), ("real", "logistic({r}, {s})"),
    ("real", "gumbel({r}, {s})"), ("real", "von_mises({r}, {s})"),
    ("real", "cauchy({r}, {s})"),
    ("positive", "half_normal({s})"), ("positive", "half_t({k} + 2, {s})"),
    ("positive", "half_cauchy({s})"), ("positive", "rayleigh({s})"),
    ("positive", "inverse_gamma({s} + 3, {s})"),
    ("positive", "inv_chi_square({k} + 4)"),
    ("positive", "scaled_inv_chi_square({k} + 4, {s})"),
    ("positive", "chi_square({k} + 1)"), ("positive", "gig({r}, {s}, {s})"),
    ("positive", "weibull({s}, {s})"), ("positive", "pareto({s}, {s} + 1)"),
    ("positive", "lognormal({r}, {s})"),
    ("count", "neg_binomial({s}, {s})"),
    ("count", "neg_binomial_2({s}, {s})"),
    ("count", "beta_binomial({k}, {s}, {s})")]


def argument(b, kind, context):
    if kind == "r":
        return b.weighted([(1, lambda: b.number(-1, 1)),
                           (3, lambda: b.of("real", context, 0.15)),
                           (1, lambda: b.predictor(context, 2))])()
    if kind == "s":
        return b.weighted([(1.5, lambda: b.number(0.6, 3)),
                           (3, lambda: "({} + 0.3)".format(
                               b.of("positive", context, 0.15))),
                           (1, lambda: f"exp({b.small(context)})")])()
    if kind == "p":
        return b.weighted([(1, lambda: b.number(0.2, 0.8)),
                           (3, lambda: b.of("probability", context, 0.2)),
                           (1, lambda: f"ilogit({b.predictor(context, 2)})")
                           ])()
    if kind == "c":
        return b.given([-0.8, 0.4, 1.3], "cut")
    return str(b.between(2, 6))


def with_arguments(b, text, context):
    while "{" in text:
        at = text.index("{")
        text = text[:at] + argument(b, text[at + 1], context) + text[at + 3:]
    return text


def any_distribution(b):
    """Two plates, latent or observed, of whatever the library has."""
    for _ in range(2):
        entries = list(BUGS)
        if not b.bugs_only:
            entries += BEYOND_JAGS * 2 + MODERN
        kind, text = b.pick(entries)
        if (kind, text) not in BUGS:
            b.beyond_jags = True
        name, n = b.name("v"), b.between(2, 6)
        fill(b, name, n, lambda c: with_arguments(b, text, c), kind)
        b.feature("catalogue")
        if kind != "count":
            b.add(Thing(name, kind, (n,)))
        if kind == "count" or b.chance(0.4):
            b.observed_always.add(name)
