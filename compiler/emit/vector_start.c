/* vector_start.c: where vector and matrix nodes start: near typical values
 * of their priors, not at a draw, which may be far out (a precision of 1e-6) or
 * at an edge (a Dirichlet of small weights, a Wishart of few degrees of
 * freedom). */
#include "emit/emit.h"
#include <string.h>

static bool has_support(const struct family *f, const char *name)
{
    const struct expr *support = entry_value(f->distribution, "support");
    return support && !strcmp(support->name, name);
}

/* The draw, drawn in towards the mean: on a simplex half-way, else to within 2
 * of it. */
static void emit_near_mean(struct emitter *e, const struct family *f,
                           const struct expr *mean)
{
    struct compiler *c = e->c;
    const char *index = emit_free_index(f->distribution, mean);
    bool simplex = has_support(f, "simplex");
    emit_line(e, "real widest = 0;");
    for (int pass = 0; pass < 2; pass++) {
        int depth = e->nloops;
        symp at[2];
        int braces = emit_open_slices(e, f, at);
        symp m = family_expression_at(c, f, mean, index, at[0]);
        const char *centre = emit_expr(e, model_substitute_derived(c, m));
        const char *x = emit_expr(e, family_lhs(c, f, 1, at));
        emit_line(e, "const real centre = %s;", centre);
        if (pass == 0)
            emit_line(e, "widest = gbm_widest(widest, %s - centre);", x);
        else if (simplex)
            emit_line(e,
                      "%s = centre > 0 ? gbm_drawn_in(%s, centre, share, "
                      "false) : %s; /* a structural zero stays */",
                      x, x, x);
        else
            emit_line(e, "%s = gbm_drawn_in(%s, centre, share, spread < 0);", x,
                      x);
        emit_close(e, braces);
        e->nloops = depth;
        if (pass == 0)
            emit_line(e,
                      "const real share = gbm_share_of_draw(%s, widest, %s);",
                      "(real)spread", simplex ? "1" : "0");
    }
}

/* An average of draws, each weighted by its size, as tails are heavy: a mean of
 * positive definite matrices is one. */
static void emit_average(struct emitter *e, const struct family *f)
{
    struct compiler *c = e->c;
    const char *extent = emit_int(e, family_extent(c, f, 0));
    emit_line(e, "const int rows_ = %s;", extent);
    emit_line(e, "GBM_SCRATCH(average, average_small, rows_ * rows_);");
    emit_line(e, "real weights = 0;");
    emit_line(e, "for (int k = 0; k < rows_ * rows_; k++)");
    emit_line(e, "    average[k] = 0;");
    emit_line(e, "for (int draw = 0; draw < 8; draw++) {");
    e->indent++;
    emit_unruled_draw(e, f);
    emit_line(e, "real trace = 0;");
    for (int pass = 0; pass < 3; pass++) {
        if (pass == 1) {
            emit_line(e, "if (!(trace > 0 && trace < GBM_INF))");
            emit_line(e, "    continue;");
            emit_line(e, "weights += 1 / trace;");
        }
        if (pass == 2) {
            emit_close(e, 1);
            emit_line(e, "if (!(weights > 0))");
            emit_line(e, "    return;");
        }
        int depth = e->nloops;
        symp at[2];
        int braces = emit_open_slices(e, f, at);
        const char *x = emit_expr(e, family_lhs(c, f, 2, at));
        const char *i = emit_expr(e, at[0]), *j = emit_expr(e, at[1]);
        if (pass == 0)
            emit_line(e, "trace += %s == %s ? %s : 0;", i, j, x);
        else if (pass == 1)
            emit_line(e, "average[(%s - 1) * rows_ + %s - 1] += %s / trace;", i,
                      j, x);
        else
            emit_line(e, "%s = average[(%s - 1) * rows_ + %s - 1] / weights;",
                      x, i, j);
        emit_close(e, braces);
        e->nloops = depth;
    }
}

/* Shares that are not far from equal, of a simplex that has no draw. */
static void emit_equal_shares(struct emitter *e, const struct family *f)
{
    emit_line(e, "real sum = 0;");
    for (int pass = 0; pass < 2; pass++) {
        int depth = e->nloops;
        symp at[2];
        int braces = emit_open_slices(e, f, at);
        const char *x = emit_expr(e, family_lhs(e->c, f, 1, at));
        if (pass == 0) {
            emit_line(e,
                      "%s = 1 + real_fabs((real)spread) * "
                      "gbm_draw_exponential(rng);",
                      x);
            emit_line(e, "sum += %s;", x);
        } else {
            emit_line(e, "%s /= sum;", x);
        }
        emit_close(e, braces);
        e->nloops = depth;
    }
}

void emit_vector_start(struct emitter *e, const struct family *f)
{
    const struct expr *mean = entry_value(f->distribution, "mean");
    bool real = f->factor && !f->var->integer;
    bool near = real && f->nslices == 1 && mean &&
                entry_value(f->distribution, "draw") &&
                (has_support(f, "vector") || has_support(f, "simplex"));
    if (real && f->nslices == 2 && has_support(f, "positive_definite")) {
        emit_average(e, f);
        return;
    }
    if (real && f->nslices == 1 && has_support(f, "simplex") &&
        !entry_value(f->distribution, "draw")) {
        emit_equal_shares(e, f);
        return;
    }
    emit_unruled_draw(e, f);
    if (near)
        emit_near_mean(e, f, mean);
}
