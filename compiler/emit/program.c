/* program.c: the generated program: the text that host and device share,
 * and the host's tables (runtime/model.h). */
#include "emit/emit.h"
#include <string.h>

/* ---- struct state ----------------------------------------------------------
 */

static void emit_state(struct text *out, const struct model *m)
{
    text_append(out, "/* All nodes of one chain. Arrays are row-major; macros "
                     "give them\n * the model's subscripts, from 1. */\n"
                     "struct state {\n");
    for (const struct slot *k = m->slots; k; k = k->next) {
        text_printf(out, "    %s *%s; /* %s */\n", k->integer ? "int" : "real",
                    k->member, k->about);
        for (int d = 0; d < k->extents; d++)
            text_printf(out, "    int %s_n%d;\n", k->member, d + 1);
        if (k->seen)
            text_printf(out, "    const unsigned char *%s_seen;\n", k->member);
        if (k->per_chain)
            text_printf(out, "    long long %s_stride;\n", k->member);
    }
    text_append(out, "};\n\n");
}

static void emit_accessor(struct text *out, const struct var *v,
                          const char *suffix)
{
    /* names that no variable has: s->i must not become s->(argument) */
    static const char *const names[] = {"at1", "at2", "at3", "at4",
                                        "at5", "at6", "at7", "at8"};
    text_printf(out, "#define %s%s(", v->cname, suffix);
    for (int d = 0; d < v->ndim; d++)
        text_printf(out, "%s%s", d ? ", " : "", names[d]);
    text_append(out, ") ");
    struct text at = {0};
    if (!v->ndim)
        text_append(&at, "0");
    for (int d = 0; d < v->ndim; d++) {
        if (d == 0) {
            text_printf(&at, v->ndim > 1 ? "((long long)(%s) - 1)" : "(%s) - 1",
                        names[0]);
        } else {
            char *head = at.data;
            at = (struct text){0};
            bool last = d == v->ndim - 1;
            text_printf(&at, "%s%s * s->%s_n%d + (%s) - 1%s", last ? "" : "(",
                        head, v->cname, d + 1, names[d], last ? "" : ")");
            text_free(&(struct text){.data = head});
        }
    }
    if (!strcmp(suffix, "_live"))
        text_printf(out, "(!s->%s_seen || s->%s_seen[%s] != 2)\n", v->cname,
                    v->cname, at.data);
    else if (*suffix)
        text_printf(out,
                    "(s->%s_seen ? s->%s_seen[%s] == 1 : s->%s_stride == 0)\n",
                    v->cname, v->cname, at.data, v->cname);
    else
        text_printf(out, "s->%s[%s]\n", v->cname, at.data);
    text_free(&at);
}

static void emit_accessors(struct text *out, const struct model *m)
{
    for (const struct var *v = m->vars; v; v = v->next) {
        if (v->ndim)
            emit_accessor(out, v, "");
        if (v->role == ROLE_STOCHASTIC)
            emit_accessor(out, v, "_seen");
        if (v->barren)
            emit_accessor(out, v, "_live");
    }
    text_append(out, "\n");
}

static void emit_shift(struct text *out, const struct model *m)
{
    text_append(out, "/* From chain 0 to another. */\n"
                     "GBM_FN void shift_state(struct state *s, int chain)\n"
                     "{\n");
    for (const struct slot *k = m->slots; k; k = k->next)
        if (k->per_chain)
            text_printf(out, "    s->%s += chain * s->%s_stride;\n", k->member,
                        k->member);
    text_append(out, "}\n\n");
}

/* What the runtime tells of arrays when it compiles for a device
 * (runtime/cuda/known.c): numbers, of each slot whether all is seen, the
 * stride, and the extents, or of one integer the value; 0: it is not told. */
static void emit_known(struct text *out, const struct model *m)
{
    int at = 0;
    text_append(out, "#ifdef GBM_KNOWN\n"
                     "/* Of arrays, so that loops over few cells are written "
                     "out. */\n"
                     "GBM_FN void know_state(struct state *s)\n{\n");
    for (const struct slot *k = m->slots; k;
         at += 2 + (k->ndim ? k->ndim : 1), k = k->next) {
        if (k->seen)
            text_printf(out, "    GBM_KNOW(%d, s->%s_seen, 0)\n", at,
                        k->member);
        if (k->per_chain)
            text_printf(out, "    GBM_KNOW(%d, s->%s_stride, known - 1)\n",
                        at + 1, k->member);
        for (int d = 0; d < k->extents; d++)
            text_printf(out, "    GBM_KNOW(%d, s->%s_n%d, known - 1)\n",
                        at + 2 + d, k->member, d + 1);
        if (k->integer && k->ndim == 0 && !k->per_chain)
            text_printf(out, "    GBM_KNOW_NUMBER(%d, s->%s)\n", at + 2,
                        k->member);
    }
    text_append(out, "}\n#endif\n\n");
}

/* The cell that an instance's reference hits, or -1. */
static void emit_index_cell(struct text *out, struct compiler *c,
                            const struct inverse *i)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "/* the cell that %s hits, by instance of\n * %s */\n"
                "GBM_FN long long index%d(const struct state *s, long long "
                "element)\n{\n",
                sym_text(c, i->reference), i->factor->text, i->number);
    emit_decode(&e, i->factor->family, "element");
    for (int d = 0; d < i->reference->nargs; d++) {
        const char *at = emit_int(&e, i->reference->args[d]);
        emit_line(&e, "if ((%s) < 1 || (%s) > s->%s_n%d)", at, at,
                  i->var->cname, d + 1);
        emit_line(&e, "    return -1;");
    }
    emit_line(&e, "return %s;", emit_cell(&e, i->var, i->reference->args));
    text_printf(out,
                "}\n#ifndef __CUDACC__\nGBM_HOST_CELL(index%d)\n#endif\n\n",
                i->number);
}

static bool is_derived(const struct family *f)
{
    return !f->stochastic && f->var->role != ROLE_CONSTANT;
}

/* What kernels of weighted tables have to know of these. */
static void emit_weighted_tables(struct text *out, struct compiler *c,
                                 const struct model *m)
{
    const char *how;
    for (const struct family *f = m->families; f; f = f->next)
        if (is_derived(f) && emit_tally_weighted(f))
            text_printf(out, "GBM_WEIGHTED_TABLE(%s, %s)\n",
                        sweep_derive_name(c, f), family_id(c, f));
    for (const struct family *f = m->families; f; f = f->next) {
        if (!is_derived(f) || !emit_tally_weighted(f))
            continue;
        const struct family *rest = emit_weighted_rest(c, f, &how);
        if (rest)
            text_printf(out, "GBM_WEIGHTED_WITH(%s, %s, %s, %s)\n",
                        sweep_derive_name(c, f), family_id(c, f),
                        sweep_derive_name(c, rest), how);
    }
}

static void emit_weighted_kernel(struct text *out, struct compiler *c,
                                 const struct family *f)
{
    const char *name = sweep_derive_name(c, f), *how;
    const struct family *first = f->tally->sums->family;
    const struct family *rest = emit_weighted_rest(c, first, &how);
    if (rest && f == first)
        text_printf(out, "GBM_KERNEL_WEIGHTED_WITH(%s, %s)\n", name,
                    sweep_derive_name(c, rest));
    else if (rest && f == rest)
        text_printf(out, "GBM_KERNEL_WEIGHTED_REST(%s, %s)\n", name,
                    sweep_derive_name(c, first));
    else
        text_printf(out, "GBM_KERNEL_WEIGHTED(%s)\n", name);
}

/* The kernels of the steps, one by one. */
static void emit_step_kernels(struct text *out, struct compiler *c,
                              const struct model *m)
{
    for (const struct step *s = m->steps; s; s = s->next) {
        if (!s->sampler)
            continue;
        if (s->sampler->emit_kernels)
            s->sampler->emit_kernels(c, out, s);
        else
            text_printf(out, "GBM_KERNEL(%s, %d)\n", s->name, s->number);
    }
    emit_weighted_tables(out, c, m);
    for (const struct family *f = m->families; f; f = f->next)
        if (is_derived(f) && emit_tally_weighted(f))
            emit_weighted_kernel(out, c, f);
        else if (is_derived(f) && emit_tally_beside(f))
            text_printf(out, "GBM_KERNEL_TALLY(%s, %s)\n",
                        sweep_derive_name(c, f), family_id(c, f));
        else if (is_derived(f))
            text_printf(out, "GBM_KERNEL_DERIVE(%s)\n",
                        sweep_derive_name(c, f));
    for (const struct inverse *i = m->inverses; i; i = i->next)
        if (!i->reach)
            text_printf(out, "GBM_KERNEL_CELL(index%d)\n", i->number);
}

/* A step's work space; NULL: it has none. */
static const struct slot *work_space(const struct model *m,
                                     const struct step *s)
{
    const struct slot *k = m->slots;
    while (k &&
           !(k->kind == SLOT_JOINT && k->step == s && k->life == LIFE_SCRATCH))
        k = k->next;
    return k;
}

/* The steps of a sweep, or those for what is kept. What the device does by
 * several kernels has no place here (runtime/cuda/chains.c). */
static void emit_chain_steps(struct text *out, const struct model *m, bool late)
{
    for (const struct step *s = m->steps; s; s = s->next) {
        if (s->turn.late != late || s->turn.inverse ||
            (s->sampler && s->sampler->dense))
            continue;
        const struct slot *work = work_space(m, s);
        if (work)
            text_printf(out, "    GBM_CHAIN_STEP_IN(%s, %d, %s)\n",
                        work->member, s->number, s->name);
        else if (s->sampler)
            text_printf(out, "    GBM_CHAIN_STEP(%d, %s)\n", s->number,
                        s->name);
        else
            text_printf(out, "    GBM_CHAIN_DERIVE(steps, %d, %s)\n", s->number,
                        s->name);
    }
}

/* A sweep as one kernel (stdlib/kernels/chains_cuda.h). */
static void emit_chains(struct text *out, struct compiler *c,
                        const struct model *m)
{
    text_append(out, "#include \"chains_cuda.h\"\n"
                     "GBM_FN void sweep_of_chain(const struct gbm_sweeper *k)\n"
                     "{\n");
    emit_chain_steps(out, m, false);
    text_append(out,
                "}\nGBM_FN void keep_of_chain(const struct gbm_sweeper *k)\n"
                "{\n");
    emit_chain_steps(out, m, true);
    for (const struct family *f = m->families; f; f = f->next)
        if (is_derived(f))
            text_printf(out, "    GBM_CHAIN_DERIVE(families, %d, %s)\n",
                        f->number, sweep_derive_name(c, f));
    text_append(out,
                "}\nGBM_FN double density_of_chain(const struct gbm_sweeper "
                "*k)\n{\n    double sum = 0;\n");
    for (const struct family *f = m->families; f; f = f->next)
        if (f->stochastic && f->factor && !f->auxiliary && !f->data_block)
            text_printf(out, "    GBM_CHAIN_DENSITY(%d, logdensity_%s)\n",
                        f->number, family_id(c, f));
    text_append(out, "    return sum;\n}\n"
                     "GBM_FN void known_of_chain(const struct gbm_sweeper *k, "
                     "double *lp)\n{\n");
    for (const struct family *f = m->families; f; f = f->next)
        emit_recalled_chain(c, out, m, f);
    text_append(out, "}\nGBM_KERNEL_CHAINS\n");
}

/* What a particle of a filter does with an element
 * (stdlib/kernels/filter_cuda.h). */
static void emit_acts(struct text *out, struct compiler *c,
                      const struct model *m)
{
    text_append(out,
                "#include \"filter_cuda.h\"\n"
                "GBM_FN double act_of_particle(const struct state *s, struct "
                "gbm_rng *rng,\n    int code, long long element)\n{\n"
                "    const struct gbm_team alone = {0, 1};\n"
                "    switch (code) {\n");
    for (const struct family *f = m->families; f; f = f->next) {
        const char *id = family_id(c, f);
        if (f->stochastic && !f->auxiliary)
            text_printf(out, "    GBM_ACT_DRAW(%d, simulate_%s)\n", f->number,
                        id);
        if (f->stochastic && f->factor)
            text_printf(out, "    GBM_ACT_WEIGH(%d, logdensity_%s)\n",
                        f->number, id);
        if (is_derived(f))
            text_printf(out, "    GBM_ACT_DERIVE(%d, derive_%s)\n", f->number,
                        id);
    }
    text_append(out, "    }\n    return 0;\n}\nGBM_KERNEL_FILTER\n");
}

static void emit_kernels(struct text *out, struct compiler *c,
                         const struct model *m)
{
    text_append(out, "#ifdef __CUDACC__\n#include \"skeleton_cuda.h\"\n");
    for (const struct family *f = m->families; f; f = f->next)
        emit_recalled_kernel(c, out, m, f);
    text_append(out, "#if defined GBM_FILTER\n");
    emit_acts(out, c, m);
    text_append(out, "#elif defined GBM_CHAINS\n");
    emit_chains(out, c, m);
    text_append(out, "#else\n");
    emit_step_kernels(out, c, m);
    text_append(out, "#endif\n");
    for (const struct family *f = m->families; f; f = f->next)
        if (f->stochastic && f->factor)
            text_printf(out, "GBM_KERNEL_LOGDENSITY(logdensity_%s)\n",
                        family_id(c, f));
    text_append(out, "#endif\n");
}

static size_t shortest(const size_t *lengths)
{
    size_t least = 0;
    for (size_t i = 1; i < STEP_PARTS; i++)
        if (lengths[i] < lengths[least])
            least = i;
    return least;
}

/* The step of the longest text, by number, that has no part yet; NULL: there is
 * none. */
static struct step *longest_left(struct model *m, const size_t *text)
{
    struct step *longest = NULL;
    for (struct step *s = m->steps; s; s = s->next)
        if (!s->turn.part &&
            (!longest || text[s->number] > text[longest->number]))
            longest = s;
    return longest;
}

/* The runs of steps are shared out among the parts in which the program may be
 * compiled, the longest first, so that these take about as long: a character of
 * forward draws and starting values (`drawn`, in the last part) is half as much
 * again for the compiler as one of a step, densities and derived nodes (in the
 * first) are about a third of these, and what any step draws with is as much as
 * 1000. What joint blocks link to is mostly compiled before; what they call of
 * headers beside that is as much as 8000. */
static void share_out_steps(struct model *m, const size_t *text, size_t drawn)
{
    size_t lengths[STEP_PARTS] = {0};
    lengths[0] = drawn / 2;
    lengths[STEP_PARTS - 1] = drawn + drawn / 2;
    for (struct step *s; (s = longest_left(m, text));) {
        const size_t part = shortest(lengths);
        lengths[part] += text[s->number] + 1000;
        s->turn.part = (int)part + 1;
    }
}

static void emit_all_steps(struct text *out, struct compiler *c,
                           struct model *m, size_t drawn)
{
    size_t *text = NEW_ARRAY(c, size_t, m->nsteps);
    for (struct step *s = m->steps; s; s = s->next) {
        const size_t before = out->length;
        emit_step(c, out, s);
        text[s->number] = out->length - before;
        if (s->sampler && s->sampler->joint)
            text[s->number] += 8000;
    }
    share_out_steps(m, text, drawn);
}

/* Whether a step before s, or a header before the i-th of s, is that one. */
static bool included_before(const struct model *m, const struct step *s, int i)
{
    const char *header = s->sampler->headers[i];
    for (const struct step *t = m->steps; t; t = t->next)
        for (int k = 0; t->sampler && k < 2 && t->sampler->headers[k]; k++) {
            if (t == s && k == i)
                return false;
            if (!strcmp(t->sampler->headers[k], header))
                return true;
        }
    return false;
}

/* The kernels of the samplers, each once. */
static void emit_includes(struct text *out, const struct model *m)
{
    for (const struct step *s = m->steps; s; s = s->next)
        for (int i = 0; s->sampler && i < 2 && s->sampler->headers[i]; i++)
            if (!included_before(m, s, i))
                text_printf(out, "#include \"%s\"\n", s->sampler->headers[i]);
}

void emit_program(struct text *out, struct compiler *c, struct model *m)
{
    text_printf(out,
                "/* %s: written by gbmc from %s. */\n#include \"gbm.h\"\n"
                "#include \"team.h\"\n",
                text_in_comment(c, m->name),
                text_in_comment(c, c->options.input));
    emit_includes(out, m);
    text_append(out, "\n");
    text_append(out, c->code ? c->code : "");
    emit_state(out, m);
    text_append(out, "#include \"skeleton.h\"\n");
    if (c->options.with & WITH_GRADIENTS)
        text_append(out, "#ifndef __CUDACC__\n#include \"adjoint.h\"\n"
                         "#endif\n");
    text_append(out, "\n");
    emit_accessors(out, m);
    emit_shift(out, m);
    emit_known(out, m);
    for (struct inverse *i = m->inverses; i; i = i->next)
        if (!i->reach)
            emit_index_cell(out, c, i);
    size_t drawn = 0;
    for (struct family *f = m->families; f; f = f->next)
        drawn += emit_family(c, out, m, f);
    for (struct sequence *q = m->sequences; q; q = q->next)
        if (q->kind == SEQUENCE_REFRESH)
            emit_refresh(c, out, q);
    emit_all_steps(out, c, m, drawn);
    emit_kernels(out, c, m);
}
