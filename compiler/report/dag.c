/* dag.c: the model as a Graphviz graph. Plates are clusters, nested as the
 * loops are; ellipses are stochastic nodes, shaded where data are expected;
 * boxes are given; dashed nodes are computed. What one step of the sampler
 * moves has one colour. Sums and the like that only the compiler has names for
 * are not in the picture. */
#include "report/report.h"
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- What is drawn -------------------------------------------------------
 */

/* A plate: a loop inside the plates that `path` begins with. Loops of several
 * statements are one plate if index and range agree. */
struct plate {
    const char *path, *label;
    struct plate *parent, *next;
    int number;
};
struct node {
    const char *id, *text; /* the dot statement without its plate */
    struct plate *plate;
    const struct family *family;
    struct node *next;
};
struct graph {
    struct compiler *c;
    const struct model *m;
    struct plate *plates, **last_plate;
    struct node *nodes, **last_node;
    int nplates;
};

static struct plate *plate_of(struct graph *g, struct loop *const *loops, int n)
{
    struct plate *parent = NULL;
    for (int i = 0; i < n; i++) {
        const char *label = intern_format(g->c, "%s in %s:%s", loops[i]->name,
                                          sym_text(g->c, loops[i]->lower),
                                          sym_text(g->c, loops[i]->upper));
        const char *path =
            intern_format(g->c, "%s / %s", parent ? parent->path : "", label);
        struct plate *p = g->plates;
        while (p && p->path != path)
            p = p->next;
        if (!p) {
            p = NEW(g->c, struct plate);
            *p = (struct plate){path, label, parent, NULL, g->nplates++};
            *g->last_plate = p;
            g->last_plate = &p->next;
        }
        parent = p;
    }
    return parent;
}

static void add_node(struct graph *g, const char *id, const char *text,
                     struct plate *plate, const struct family *f)
{
    struct node *n = NEW(g->c, struct node);
    *n = (struct node){id, text, plate, f, NULL};
    *g->last_node = n;
    g->last_node = &n->next;
}

/* ---- Nodes ---------------------------------------------------------------
 */

/* Text inside a dot string. */
static const char *quoted(struct compiler *c, const char *s)
{
    struct text t = {0};
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            text_append(&t, "\\");
        text_append_n(&t, s, 1);
    }
    return text_take(c, &t);
}

static bool moves(const struct step *s, const struct family *f)
{
    if (!s->sampler)
        return false;
    for (int i = 0; i < s->block.n; i++)
        if (s->block.members[i].family == f)
            return true;
    return s->family == f;
}

static const struct step *step_of(const struct model *m, const struct family *f)
{
    for (const struct step *s = m->steps; s; s = s->next)
        if (moves(s, f))
            return s;
    return NULL;
}

static const char *colour_of(const struct step *s)
{
    static const char *const palette[] = {
        "#a6cee3", "#b2df8a", "#fdbf6f", "#cab2d6", "#ffff99", "#fb9a99",
        "#8dd3c7", "#fccde5", "#bebada", "#ccebc5", "#ffed6f", "#80b1d3"};
    return palette[s->number % (int)(sizeof palette / sizeof *palette)];
}

static const char *stochastic_text(struct graph *g, const struct family *f)
{
    struct compiler *c = g->c;
    const char *name = quoted(c, sampler_written_lhs(c, f));
    const struct step *s = step_of(g->m, f);
    if (!s || f->var->unread || f->var->declared_observed)
        return intern_format(c,
                             "[label=\"%s\", shape=ellipse, style=filled, "
                             "fillcolor=\"#cccccc\"]",
                             name);
    return intern_format(
        c,
        "[label=\"%s\\n%d: %s\", shape=ellipse, style=\"filled%s\", "
        "fillcolor=\"%s\"]",
        name, s->number + 1, quoted(c, report_sampler_word(c, s)),
        f->auxiliary ? ",dotted" : "", colour_of(s));
}

static bool is_drawn(const struct family *f)
{
    return f->stochastic || f->auxiliary || !f->var->hidden;
}

static void add_family(struct graph *g, const struct family *f)
{
    struct compiler *c = g->c;
    if (!is_drawn(f))
        return;
    const char *id = intern_format(c, "n%d", f->number);
    struct plate *plate = plate_of(g, f->loops, f->nloops);
    if (f->stochastic) {
        add_node(g, id, stochastic_text(g, f), plate, f);
        return;
    }
    add_node(g, id,
             intern_format(c,
                           "[label=\"%s\", shape=%s, style=dashed, "
                           "penwidth=0.5]",
                           quoted(c, sampler_written_lhs(c, f)),
                           f->data_block ? "box" : "ellipse"),
             plate, f);
}

/* ---- Reading -------------------------------------------------------------
 */

typedef void (*see)(void *context, symp reference);

static void each_reference(symp e, see f, void *context)
{
    if (!e)
        return;
    if (e->kind == SYM_REF)
        f(context, e);
    for (int i = 0; i < e->nargs; i++)
        each_reference(e->args[i], f, context);
}

static void each_read(const struct family *f, see see_one, void *context)
{
    if (f->auxiliary) {
        each_reference(f->factor->logp, see_one, context);
        return;
    }
    for (int i = 0; i < f->nargs; i++)
        each_reference(f->args[i].body, see_one, context);
    each_reference(f->trunc_lower, see_one, context);
    each_reference(f->trunc_upper, see_one, context);
    each_reference(f->body, see_one, context);
}

/* The same, and what is read by those that are not drawn, each once. */
struct through {
    see see_one;
    void *context;
    const struct family *seen[256];
    int n;
};

static void see_through(void *context, symp reference)
{
    struct through *t = context;
    t->see_one(t->context, reference);
    for (const struct family *f = reference->var->families; f;
         f = f->next_of_var) {
        bool seen = is_drawn(f) || t->n == 256;
        for (int i = 0; i < t->n && !seen; i++)
            seen = t->seen[i] == f;
        if (seen)
            continue;
        t->seen[t->n++] = f;
        each_read(f, see_through, t);
    }
}

static void each_source(const struct family *f, see see_one, void *context)
{
    struct through t = {.see_one = see_one, .context = context};
    each_read(f, see_through, &t);
}

/* Given variables stand in the plates over whose indices they are read. */
struct placing {
    struct graph *g;
    const struct family *reader;
};

static const char *given_id(struct compiler *c, const struct var *v)
{
    return intern_format(c, "g_%s", v->cname);
}

static void place_given(void *context, symp e)
{
    const struct placing *p = context;
    struct compiler *c = p->g->c;
    const struct family *f = p->reader;
    const char *id = given_id(c, e->var);
    if (e->var->role != ROLE_GIVEN)
        return;
    for (const struct node *n = p->g->nodes; n; n = n->next)
        if (n->id == id)
            return;
    int n = 0;
    for (int i = 0; i < f->nloops; i++)
        for (int d = 0; d < e->nargs; d++)
            if (sym_has_loop(e->args[d], f->loops[i]))
                n = i + 1;
    add_node(
        p->g, id,
        intern_format(c, "[label=\"%s\", shape=box]", quoted(c, e->var->name)),
        plate_of(p->g, f->loops, n), NULL);
}

/* ---- Edges ---------------------------------------------------------------
 */

struct edges {
    struct graph *g;
    const struct family *to;
    const char *done[256];
    int n;
    struct text *out;
};

static void draw_edge(struct edges *e, const char *from, const char *style)
{
    const char *to = intern_format(e->g->c, "n%d", e->to->number);
    for (int i = 0; i < e->n; i++)
        if (e->done[i] == from)
            return;
    if (e->n < 256)
        e->done[e->n++] = from;
    text_printf(e->out, "  %s -> %s%s;\n", from, to, style);
}

static void edge_from(void *context, symp reference)
{
    struct edges *e = context;
    const struct var *v = reference->var;
    if (v->role == ROLE_GIVEN) {
        draw_edge(e, given_id(e->g->c, v), "");
        return;
    }
    for (const struct family *f = v->families; f; f = f->next_of_var)
        if (is_drawn(f) && family_may_have(f, reference) &&
            !(e->to->auxiliary && f == e->to))
            draw_edge(e, intern_format(e->g->c, "n%d", f->number),
                      f->stochastic ? "" : " [penwidth=0.5]");
}

/* An added node has the density of what it was added to and of itself. */
static void edges_of(struct graph *g, const struct family *f, struct text *out)
{
    struct edges e = {.g = g, .to = f, .out = out};
    if (!f->auxiliary) {
        each_source(f, edge_from, &e);
        return;
    }
    for (const struct node *n = g->nodes; n; n = n->next)
        if (n->family && n->family->factor && n->family->factor->replaced &&
            n->family->factor->next == f->factor)
            draw_edge(&e, n->id, " [style=dotted, dir=none]");
}

/* ---- The text ------------------------------------------------------------
 */

static void print_plate(struct text *out, const struct graph *g,
                        const struct plate *p, int depth)
{
    int indent = 2 * depth + 2;
    if (p)
        text_printf(out,
                    "%*ssubgraph cluster_%d {\n%*s  label=\"%s\"; "
                    "labeljust=r; labelloc=b; color=gray;\n",
                    indent - 2, "", p->number, indent - 2, "",
                    quoted(g->c, p->label));
    for (const struct node *n = g->nodes; n; n = n->next)
        if (n->plate == p)
            text_printf(out, "%*s%s %s;\n", indent, "", n->id, n->text);
    for (const struct plate *k = g->plates; k; k = k->next)
        if (k->parent == p)
            print_plate(out, g, k, depth + 1);
    if (p)
        text_printf(out, "%*s}\n", indent - 2, "");
}

/* The planned model as a Graphviz graph; plates are clusters. */
static void draw_dag(struct text *out, struct compiler *c,
                     const struct model *m)
{
    struct graph g = {.c = c, .m = m};
    g.last_plate = &g.plates;
    g.last_node = &g.nodes;
    for (const struct family *f = m->families; f; f = f->next)
        add_family(&g, f);
    for (const struct family *f = m->families; f; f = f->next) {
        struct placing p = {&g, f};
        if (is_drawn(f))
            each_source(f, place_given, &p);
    }
    text_printf(out, "digraph \"%s\" {\n", quoted(c, m->name));
    text_append(out, "  node [fontname=\"Helvetica\", fontsize=11];\n"
                     "  graph [fontname=\"Helvetica\", fontsize=10, "
                     "compound=true];\n");
    print_plate(out, &g, NULL, 0);
    for (const struct family *f = m->families; f; f = f->next)
        if (is_drawn(f))
            edges_of(&g, f, out);
    text_append(out, "}\n");
}

/* ---- The file ------------------------------------------------------------
 */

static bool run_dot(struct compiler *c, const char *from, const char *to)
{
    static const struct span nowhere = {0};
    const char *argv[] = {"dot", "-Tsvg", "-o", to, from, NULL};
    int status = 0;
    /* it is not written to */
    int failed = run_program((char *const *)argv, &status);
    if (failed || (WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
        error_at(c, nowhere,
                 "no picture without Graphviz: the program dot is not found; "
                 "install the package graphviz, or write --dag=FILE.dot");
        return false;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        error_at(c, nowhere, "Graphviz (dot -Tsvg) failed");
        return false;
    }
    return true;
}

static bool write_picture(struct compiler *c, const char *path,
                          const struct text *graph)
{
    path = path_argument(c, path);
    const char *source = intern_format(c, "%s.%ld.dot", path, (long)getpid());
    const char *picture = intern_format(c, "%s.%ld.svg", path, (long)getpid());
    if (!file_write(c, source, graph->data, graph->length))
        return false;
    temporary_begins(source);
    temporary_begins(picture);
    bool ok = run_dot(c, source, picture);
    unlink(source);
    if (ok && rename(picture, path) != 0) {
        error_at(c, (struct span){0}, "cannot write %s: %s", path,
                 strerror(errno));
        ok = false;
    }
    if (!ok)
        unlink(picture);
    temporary_ends(source);
    temporary_ends(picture);
    return ok;
}

bool report_write_dag(struct compiler *c, const struct model *m)
{
    const char *path = c->options.dag;
    size_t n = strlen(path);
    struct text graph = {0};
    draw_dag(&graph, c, m);
    bool ok = n > 4 && !strcmp(path + n - 4, ".svg")
                  ? write_picture(c, path, &graph)
                  : file_write(c, path, graph.data, graph.length);
    text_free(&graph);
    return ok;
}
