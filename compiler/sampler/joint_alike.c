/* joint_alike.c: which rows of a joint block's term have the same weight,
 * whatever its value: where the precision of y[i,j] is tau[i] or tau[g[i]], all
 * rows of one cell of tau. The loader lists the contributions of such rows to a
 * cell of Q once, if their coefficients are data. */
#include "sampler/joint.h"
#include "emit/emit.h"

/* What tells the weights of a term's rows apart: references to cells, and loop
 * indices. */
struct keys {
    symp key[2];
    int n;
};

static bool add_key(struct keys *keys, symp e)
{
    for (int i = 0; i < keys->n; i++)
        if (sym_same(keys->key[i], e))
            return true;
    if (keys->n == (int)(sizeof keys->key / sizeof *keys->key))
        return false;
    keys->key[keys->n++] = e;
    return true;
}

/* False if e varies in another way, or which cell it reads changes: rows are
 * told apart once, at load. */
static bool find_keys(struct keys *keys, symp e)
{
    if (!sym_has_any_loop(e))
        return true;
    for (int d = 0; e->kind == SYM_REF && d < e->nargs; d++)
        if (sym_reads_latent(e->args[d]))
            return false;
    if (e->kind == SYM_REF || e->kind == SYM_LOOP)
        return add_key(keys, e);
    if (e->kind != SYM_ADD && e->kind != SYM_MUL && e->kind != SYM_POW &&
        e->kind != SYM_CALL)
        return false;
    for (int i = 0; i < e->nargs; i++)
        if (!find_keys(keys, e->args[i]))
            return false;
    return true;
}

/* Whether loop itself is a key, or a subscript of one: then its turns have
 * weights of their own. */
static bool stands_alone(const struct keys *keys, const struct loop *loop)
{
    for (int i = 0; i < keys->n; i++) {
        const symp key = keys->key[i];
        if (key->kind == SYM_LOOP && key->loop == loop)
            return true;
        for (int d = 0; d < key->nargs; d++)
            if (key->args[d]->kind == SYM_LOOP && key->args[d]->loop == loop)
                return true;
    }
    return false;
}

static bool find_alike(const struct joint_term *t, struct keys *keys)
{
    const struct family *f = t->factor->family;
    bool alone = true;
    *keys = (struct keys){.n = 0};
    if (t->curved || t->vector || t->forms || !t->constant_design ||
        t->constant_weight || !find_keys(keys, t->weight))
        return false;
    for (int i = 0; i < f->nloops; i++)
        alone = alone && stands_alone(keys, f->loops[i]);
    return !alone;
}

bool joint_alike(const struct joint_term *t)
{
    struct keys keys;
    return find_alike(t, &keys);
}

void sampler_emit_alike(struct compiler *c, struct text *out,
                        const struct step *s, const struct joint_term *t,
                        int number)
{
    struct emitter e = emitter_new(c, out);
    struct keys keys;
    if (!find_alike(t, &keys))
        return;
    text_printf(out,
                "#ifndef __CUDACC__\nstatic int64_t alike_%s_%d(const void "
                "*state, int64_t element)\n{\n    const struct state *s = "
                "(const struct state *)state;\n",
                s->name, number);
    emit_decode(&e, t->factor->family, "element");
    const char *text[2] = {"0", "0"};
    for (int i = 0; i < keys.n; i++) {
        const symp key = keys.key[i];
        text[i] = key->kind == SYM_REF ? emit_cell(&e, key->var, key->args)
                                       : emit_int(&e, key);
    }
    emit_line(&e, "return (int64_t)(%s) * 4294967296 + (%s);", text[0],
              text[1]);
    text_append(out, "}\n#endif\n");
}
