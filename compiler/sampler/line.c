/* line.c: the log density of a node's prior along a line t on which the node is
 * value_ = now * exp(ratio * t), for steps that search such a line for a place
 * of t. Each place that is tried costs what is computed there: so what is the
 * same at all of them is left out, and the logarithm of the node is not
 * computed, as it is ratio * t and what it was. */
#include "sampler/moves.h"

static bool moves(symp e, symp value, symp by)
{
    return sym_has(e, value) || (by && sym_has(e, by));
}

/* A term of a sum; the logarithm of the value with what multiplies it, if that
 * stays. */
static symp term_along(struct compiler *c, symp term, symp value, symp by,
                       symp log, symp grows)
{
    if (!moves(term, value, by))
        return sym_num(c, 0);
    if (log && sym_same(term, log))
        return grows;
    for (int i = 0; log && term->kind == SYM_MUL && i < term->nargs; i++) {
        symp rest = sym_cofactor(c, term, i);
        if (sym_same(term->args[i], log) && !moves(rest, value, by))
            return sym_mul2(c, rest, grows);
    }
    return term;
}

/* A node that may be negative has no logarithm there, which is to be seen. */
static bool is_positive(const struct factor *prior)
{
    return prior->lower && prior->lower->kind == SYM_NUM &&
           prior->lower->number >= 0;
}

symp sampler_line_density(struct compiler *c, symp logp, symp value, symp by,
                          const struct factor *prior, double ratio)
{
    const bool grown = ratio != 0 && is_positive(prior);
    symp log = grown ? sym_log(c, value) : NULL, sum = sym_num(c, 0);
    symp grows = sym_mul2(c, sym_num(c, ratio), sym_param(c, intern(c, "t_")));
    const int n = logp->kind == SYM_ADD ? logp->nargs : 1;
    for (int i = 0; i < n; i++)
        sum = sym_add2(
            c, sum,
            term_along(c, n > 1 ? logp->args[i] : logp, value, by, log, grows));
    return sum;
}

void sampler_emit_value(struct emitter *e, const char *now, double ratio)
{
    emit_param(e, "value_", "value_");
    emit_param(e, "t_", "t_");
    if (ratio == 1)
        emit_line(e, "const real value_ = %s * grown_;", now);
    else if (ratio == -1)
        emit_line(e, "const real value_ = %s / grown_;", now);
    else if (ratio == 2)
        emit_line(e, "const real value_ = %s * (grown_ * grown_);", now);
    else if (ratio == -2)
        emit_line(e, "const real value_ = %s / (grown_ * grown_);", now);
    else
        emit_line(e, "const real value_ = %s * real_exp(%.17g * t_);", now,
                  ratio);
}
