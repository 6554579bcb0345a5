/* recall.c: the text of sums that are kept (sweep/recall.c, stdlib/kernels/
 * recall.h): by the host always, by a device where the runtime says so. */
#include "emit/emit.h"

static const char *key_name(struct emitter *e, const struct step *s,
                            const struct recalled *r)
{
    return intern_format(e->c, "key_%s_%d", step_id(e->c, s), r->number + 1);
}

/* Where the part's sums are in memory. */
static const char *memory(struct emitter *e, const struct step *s,
                          const struct recalled *r)
{
    const char *at = intern_format(e->c, "s->%s_recalled", step_id(e->c, s));
    return r->number == 0 ? at
                          : intern_format(e->c, "%s + %d * GBM_RECALL_CELLS",
                                          at, r->number);
}

/* Opens what a device leaves out, until #endif. */
static void open_kept(struct text *out, const struct step *s)
{
    text_printf(out, "#if !defined(__CUDACC__) || defined(GBM_RECALL_%s)\n",
                s->name);
}

/* What chains have in common is data, and the same at all times. */
static void emit_add(struct emitter *e, const struct var *v, int part)
{
    struct text cells = {0};
    text_append(&cells, v->ndim ? "(long long)" : "1");
    for (int d = 0; d < v->ndim; d++)
        text_printf(&cells, "%ss->%s_n%d", d ? " * " : "", v->cname, d + 1);
    if (v->integer)
        emit_line(e, "key->n = s->%s_stride != 0 ? -1 : key->n;", v->cname);
    else
        emit_line(e, "gbm_key_add(key, %d, s->%s_stride != 0 ? %s : 0, s->%s);",
                  part, v->cname, cells.data, v->cname);
    text_free(&cells);
}

/* Arrays of the key. */
static int parts_of(const struct recalled *r)
{
    int n = 0;
    for (int i = 0; i < r->key->n; i++)
        n += !r->key->items[i]->integer;
    return n;
}

static void emit_key(struct compiler *c, struct text *out, const struct step *s,
                     const struct part *p)
{
    const struct recalled *r = p->recalled;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "/* What the sum over %s is a function of. */\n"
                "GBM_FN void %s(const struct state *s, struct gbm_key *key)\n"
                "{\n    key->n = 0;\n",
                p->factor->text, key_name(&e, s, r));
    for (int i = 0, part = 0; i < r->key->n; i++)
        emit_add(&e, r->key->items[i], r->key->items[i]->integer ? 0 : part++);
    text_append(out, "}\n");
}

void emit_recalled(struct compiler *c, struct text *out, const struct step *s)
{
    const int n = sweep_recalled(s);
    if (n == 0)
        return;
    open_kept(out, s);
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->recalled)
            emit_key(c, out, s, p);
    text_printf(out,
                "#endif\n#ifndef __CUDACC__\n"
                "static int64_t recalled_%s(const void *state)\n{\n"
                "    return %d * GBM_RECALL_CELLS;\n}\n"
                "#endif\n\n",
                s->name, n);
}

void emit_open_recalled(struct emitter *e, const struct step *s,
                        const struct recalled *r)
{
    open_kept(e->out, s);
    emit_line(e, "struct gbm_key key;");
    emit_line(e, "%s(s, &key);", key_name(e, s, r));
    emit_line(e, "if (!gbm_recall(&key, %d, %s, &sum))", parts_of(r),
              memory(e, s, r));
    emit_line(e, "#endif");
    emit_line(e, "{");
    e->indent++;
}

void emit_close_recalled(struct emitter *e, const struct step *s,
                         const struct recalled *r)
{
    emit_line(e, "sum = gbm_team_sum(team, sum);");
    open_kept(e->out, s);
    emit_line(e, "gbm_recall_keep(team, &key, %d, %s, sum);", parts_of(r),
              memory(e, s, r));
    emit_line(e, "#endif");
    emit_close(e, 1);
}

/* The last step that leaves the family's log likelihood known, and the part of
 * it that does; NULL: none. */
static const struct step *find_likelihood(const struct model *m,
                                          const struct family *f,
                                          const struct part **part)
{
    const struct step *found = NULL;
    for (const struct step *s = m->steps; s; s = s->next)
        for (const struct part *p = s->parts; p; p = p->next)
            if (p->recalled && p->recalled->likelihood &&
                p->factor->family == f) {
                found = s;
                *part = p;
            }
    return found;
}

const struct step *emit_recalled_by(const struct model *m,
                                    const struct family *f)
{
    const struct part *p = NULL;
    return find_likelihood(m, f, &p);
}

/* *sum = the log likelihood, if it is known; raised: to its power. */
static void emit_take(struct compiler *c, struct text *out,
                      const struct step *s, const struct recalled *r,
                      bool raised)
{
    struct emitter e = emitter_new(c, out);
    emit_line(&e, "struct gbm_key key;");
    emit_line(&e, "gbm_total total;");
    emit_line(&e, "%s(s, &key);", key_name(&e, s, r));
    emit_line(&e, "if (!gbm_recall(&key, %d, %s, &total))", parts_of(r),
              memory(&e, s, r));
    emit_line(&e, "    return false;");
    if (raised)
        emit_line(&e, "*sum = (double)(%s * total);", emit_expr(&e, r->power));
    else
        emit_line(&e, "*sum = (double)total;");
    emit_line(&e, "return true;");
    text_append(out, "}\n");
}

void emit_recalled_likelihood(struct compiler *c, struct text *out,
                              const struct model *m, const struct family *f)
{
    const struct part *p = NULL;
    const struct step *s = find_likelihood(m, f, &p);
    if (!s)
        return;
    text_printf(out,
                "static bool recalled_likelihood_%s(const void *state, double "
                "*sum)\n{\n    const struct state *s = (const struct state "
                "*)state;\n",
                family_id(c, f));
    emit_take(c, out, s, p->recalled, false);
    text_append(out, "\n");
}

void emit_recalled_kernel(struct compiler *c, struct text *out,
                          const struct model *m, const struct family *f)
{
    const struct part *p = NULL;
    const struct step *s = find_likelihood(m, f, &p);
    const char *id = family_id(c, f);
    if (!s)
        return;
    text_printf(out,
                "#ifdef GBM_RECALL_%s\n"
                "GBM_FN bool known_%s(const struct state *s, double *sum)\n{\n",
                s->name, id);
    emit_take(c, out, s, p->recalled, true);
    text_printf(out, "GBM_KERNEL_KNOWN(known_%s, logdensity_%s)\n#endif\n", id,
                id);
}

void emit_recalled_chain(struct compiler *c, struct text *out,
                         const struct model *m, const struct family *f)
{
    const struct step *s = emit_recalled_by(m, f);
    const char *id = family_id(c, f);
    if (s)
        text_printf(out,
                    "#ifdef GBM_RECALL_%s\n"
                    "    GBM_CHAIN_KNOWN(%d, known_%s, logdensity_%s)\n"
                    "#endif\n",
                    s->name, f->number, id, id);
}
