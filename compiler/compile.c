/* compile.c: the passes in their order. */
#include "gbmc.h"
#include <errno.h>
#include <string.h>

static bool asked(const struct compiler *c, const char *pass)
{
    return c->options.emit && !strcmp(c->options.emit, pass);
}

static int print_text(struct text *t)
{
    fputs(t->data ? t->data : "", stdout);
    text_free(t);
    return fflush(stdout) ? 2 : 0;
}

static const char *model_name(struct compiler *c)
{
    const char *slash = strrchr(c->options.input, '/');
    const char *base = slash ? slash + 1 : c->options.input;
    const char *dot = strrchr(base, '.');
    return intern_n(c, base, dot ? (size_t)(dot - base) : strlen(base));
}

/* What nothing but itself depends on, as a series y[t] of y[t-1], is data or a
 * prediction. Taken for random it bars the way for augmentations and blocks. */
static void note_unknown(struct compiler *c, const struct model *m)
{
    for (const struct step *s = m->steps; s && !c->options.ndata; s = s->next)
        if (s->method == METHOD_FORWARD && s->sequential &&
            s->family->var->barren && !s->family->var->expects_data)
            note_at(c, s->family->span,
                    "%s may be data or a prediction; if it is data, gbmc %s "
                    "DATA compiles for them: what it depends on may then be "
                    "drawn many times faster",
                    s->family->var->name, c->options.input);
}

static int finish(struct compiler *c, struct model *m)
{
    struct text program = {0}, host = {0}, plan_text = {0};
    explain(&plan_text, c, m);
    if (c->options.explain)
        fputs(plan_text.data, stdout);
    int status = c->options.dag && !write_dag(c, m) ? 2 : 0;
    bool emits = asked(c, "c") || asked(c, "cuda");
    if (status == 0 && (c->options.output || emits)) {
        emit_program(&program, c, m);
        if (!asked(c, "cuda"))
            emit_host(&host, c, m, program.data, plan_text.data);
        if (!emits)
            note_unknown(c, m);
        if (c->nerrors)
            status = 1;
        else if (asked(c, "cuda"))
            fputs(program.data, stdout);
        else if (asked(c, "c"))
            fputs(host.data, stdout);
        else
            status = link_sampler(c, host.data);
    }
    text_free(&program);
    text_free(&host);
    text_free(&plan_text);
    return status;
}

int compile_model(struct compiler *c, struct program *p)
{
    struct text out = {0};
    library_add_own(c, p);
    order_arguments(c, p);
    gather_scalars(c, p);
    roll(c, p);
    draw_states(c, p);
    struct model *m = resolve(c, p);
    if (!m || c->nerrors)
        return 1;
    m->name = model_name(c);
    if (asked(c, "dag")) {
        model_print(&out, c, m);
        return print_text(&out);
    }
    augment(c, m);
    condition(c, m);
    choose_samplers(c, m);
    form_chains(c, m);
    form_blocks(c, m);
    check_samplers(c, m);
    if (c->nerrors)
        return 1;
    if (asked(c, "conditionals")) {
        conditionals_print(&out, c, m);
        return print_text(&out);
    }
    sum_rows(c, m);
    count_copies(c, m);
    plan(c, m);
    hoist(c, m);
    if (asked(c, "plan")) {
        plan_print(&out, c, m);
        return print_text(&out);
    }
    return finish(c, m);
}
