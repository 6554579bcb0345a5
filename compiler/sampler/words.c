/* words.c: what explanations call things. */
#include "sampler/sampler.h"
#include <string.h>

/* Extents as the model states them: declared, or by the ranges on the left
 * of the statements; else length(x). */
static symp name_extent(struct compiler *c, symp e, void *context)
{
    (void)context;
    if (e->kind != SYM_EXTENT)
        return NULL;
    if (e->var->declared[e->dim])
        return e->var->declared[e->dim];
    const struct family *f = e->var->families;
    if (f && !f->next_of_var && f->upper[e->dim])
        return f->upper[e->dim];
    if (e->var->ndim == 1)
        return sym_param(c, intern_format(c, "length(%s)", e->var->name));
    return NULL;
}

const char *sampler_expression_text(struct compiler *c, symp e)
{
    return sym_text(c, sym_map(c, e, name_extent, NULL));
}

const char *sampler_loop_names(struct compiler *c, struct loop *const *loops,
                               int n)
{
    struct text t = {0};
    for (int i = 0; i < n; i++)
        text_printf(&t, "%s%s", i ? ", " : "", loops[i]->name);
    return text_take(c, &t);
}

const char *sampler_first_sentence(struct compiler *c, const struct entry *e)
{
    const char *doc = e->doc ? e->doc : "";
    size_t n = strcspn(doc, ".\n:");
    return n ? intern_n(c, doc, n) : e->name;
}

const char *sampler_family_word(struct compiler *c, const struct entry *e)
{
    const char *s = sampler_first_sentence(c, e),
               *end = strstr(s, " distribution");
    return intern_n(c, s, end ? (size_t)(end - s) : strlen(s));
}

const char *sampler_count_text(struct compiler *c, symp count)
{
    const char *s = sampler_expression_text(c, count);
    return count->kind == SYM_ADD ? intern_format(c, "(%s)", s) : s;
}

symp block_dimension(struct compiler *c, const struct step *s)
{
    symp n = sym_num(c, 0);
    for (int i = 0; i < s->block.n; i++)
        n = sym_add2(c, n, s->block.members[i].count);
    return n;
}

bool sampler_is_augmented(const struct step *s)
{
    bool yes = s->family->auxiliary;
    for (const struct part *p = s->parts; p; p = p->next)
        yes = yes || p->factor->auxiliary;
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        yes = yes || q->part->factor->auxiliary;
    return yes;
}

const char *sampler_written_lhs(struct compiler *c, const struct family *f)
{
    if (f->auxiliary || !f->text)
        return sym_text(c, family_lhs(c, f, 0, NULL));
    const char *end = strpbrk(f->text, "~<=");
    size_t n = end ? (size_t)(end - f->text) : strlen(f->text);
    while (n && f->text[n - 1] == ' ')
        n--;
    return intern_n(c, f->text, n);
}

const char *sampler_family_name(struct compiler *c, const struct family *f)
{
    const bool alone = !f->var->families || !f->var->families->next_of_var;
    return alone || f->auxiliary ? f->var->name : sampler_written_lhs(c, f);
}

const char *sampler_nodes_out(struct compiler *c, const struct step *s)
{
    const struct family *last = NULL;
    struct text t = {0};
    for (const struct part *p = s->integrated; p; p = p->next) {
        const struct family *f = p->out;
        if (f != last)
            text_printf(&t, "%s%s", last ? ", " : "",
                        sampler_family_name(c, f));
        last = f;
    }
    return text_take(c, &t);
}

const char *sampler_why_out(struct compiler *c, const struct step *s)
{
    if (!s->integrated)
        return NULL;
    return intern_format(c,
                         "given the data alone, %s integrated out, as that is "
                         "drawn directly behind it: Liu (1994), The collapsed "
                         "Gibbs sampler",
                         sampler_nodes_out(c, s));
}
