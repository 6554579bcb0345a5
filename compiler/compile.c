/* compile.c: the passes in their order. */
#include "gbmc.h"
#include "model/resolve.h"
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
        if (s->sampler && s->sampler->forward && s->order.sequential &&
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
    report_explain(&plan_text, c, m);
    if (c->options.explain)
        fputs(plan_text.data, stdout);
    int status = c->options.dag && !report_write_dag(c, m) ? 2 : 0;
    bool emits = asked(c, "c") || asked(c, "cuda");
    if (status == 0 && (c->options.output || c->options.arch || emits)) {
        emit_program(&program, c, m);
        if (c->options.arch && !c->nerrors)
            gpu_code_compiles(c, program.data);
        if (!asked(c, "cuda"))
            emit_host(&host, c, m, program.data, plan_text.data);
        if (!emits && !c->options.with) /* it was said the first time */
            note_unknown(c, m);
        if (c->nerrors)
            status = 1;
        else if (asked(c, "cuda"))
            fputs(program.data, stdout);
        else if (asked(c, "c"))
            fputs(host.data, stdout);
        else if (c->options.output)
            status = link_sampler(c, host.data);
    }
    text_free(&program);
    text_free(&host);
    text_free(&plan_text);
    return status;
}

/* ---- the passes ------------------------------------------------------------
 *
 * In their order; each one's header says what it requires and leaves. */

typedef void tree_pass(struct compiler *c, struct program *p);
typedef void model_pass(struct compiler *c, struct model *m);
typedef void print_pass(struct text *out, struct compiler *c,
                        const struct model *m);

static tree_pass *const on_tree[] = {
    syntax_move_transformed, library_add_own,      model_order_arguments,
    model_replace_of_node,   model_gather_scalars, model_roll,
    model_draw_states,
};

static const struct {
    model_pass *run;
    bool ends;        /* after errors so far, no more passes run */
    bool draws;       /* is of drawing: left out where modes are sought */
    const char *emit; /* --emit=EMIT ends here, with `print` */
    print_pass *print;
} on_model[] = {
    /* statements: families of elements */
    {.run = model_settle_roles},
    {.run = model_keep_ends, .ends = true},
    {.run = model_warn_of_intervals},
    {.run = model_check_twice},
    {.run = model_check_cycles, .ends = true},
    {.run = model_split_mixed},
    {.run = model_split_known, .ends = true},
    {.run = model_check_left, .ends = true},
    {.run = model_take_pieces_apart},
    {.run = model_drop_clamps},
    {.run = model_simplify_again},
    {.run = model_join_rising},
    {.run = model_keep_summaries},
    {.run = family_order},
    {.run = model_choose_stored},
    {.run = model_share_inverses},
    {.run = model_keep_repeated},
    {.run = model_expect_supplied},
    {.run = model_split_affine},
    {.run = model_find_sequences},
    {.run = model_follow_known},
    {.run = model_find_feedback},
    {.run = model_name_in_c},
    /* factors of the joint density */
    {.run = model_make_factors},
    {.run = model_settle_leaves},
    {.run = model_state_rules},
    {.run = model_find_barren,
     .ends = true,
     .emit = "dag",
     .print = model_print},
    {.run = model_raise_factors, .ends = true},
    {.run = model_find_active},
    {.run = model_take_expectations},
    /* full conditionals, and how each is sampled */
    {.run = sampler_augment, .draws = true},
    {.run = condition_model},
    {.run = sampler_choose},
    {.run = sampler_form_paths, .draws = true},
    {.run = sampler_form_blocks},
    {.run = sampler_check,
     .ends = true,
     .draws = true,
     .emit = "conditionals",
     .print = report_conditionals},
    /* the sweep */
    {.run = sampler_draw_forward},
    {.run = sampler_seek_modes},
    {.run = sampler_find_scale_moves, .draws = true},
    {.run = sampler_find_opposite_scales, .draws = true},
    {.run = sampler_find_translations, .draws = true},
    {.run = sampler_find_carried, .draws = true},
    {.run = sampler_find_marginals, .draws = true},
    {.run = sampler_integrate_out, .draws = true},
    {.run = sampler_find_relabels, .draws = true},
    {.run = sampler_find_exchanges, .draws = true},
    {.run = sampler_find_unordered, .draws = true},
    {.run = sampler_find_trades, .draws = true},
    {.run = sampler_find_mirrors, .draws = true},
    {.run = sampler_find_accompanied, .draws = true},
    {.run = sampler_find_states, .draws = true},
    {.run = sweep_sum_rows},
    {.run = sweep_count_copies},
    {.run = sweep_lift},
    {.run = sweep_draw_added_first},
    {.run = sweep_plan},
    {.run = sweep_find_dependence},
    {.run = sweep_fuse},
    {.run = sweep_check_added, .ends = true},
    {.run = sweep_anchor},
    {.run = sweep_hoist, .emit = "plan", .print = report_plan},
    {.run = sweep_find_recalled},
    {.run = sweep_form_phases, .emit = "sweep", .print = report_sweep},
    {.run = sweep_settle_slots, .emit = "slots", .print = slots_print},
    {.run = sweep_order_load},
};

int compile_model(struct compiler *c, struct program *p)
{
    for (size_t i = 0; i < sizeof on_tree / sizeof *on_tree; i++)
        on_tree[i](c, p);
    struct model *m = model_resolve(c, p);
    if (!m || c->nerrors)
        return 1;
    m->name = model_name(c);
    for (size_t i = 0; i < sizeof on_model / sizeof *on_model; i++) {
        if (!on_model[i].draws || !sampler_seeks_modes(c))
            on_model[i].run(c, m);
        model_check(c, m);
        if (on_model[i].ends && c->nerrors)
            return 1;
        if (on_model[i].emit && asked(c, on_model[i].emit)) {
            struct text out = {0};
            on_model[i].print(&out, c, m);
            return print_text(&out);
        }
    }
    return finish(c, m);
}
