/* compile.c: the passes in their order. */
#include "gbmc.h"
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

int compile_model(struct compiler *c, struct program *p)
{
    struct text out = {0};
    struct model *m = resolve(c, p);
    if (!m || c->nerrors)
        return 1;
    if (asked(c, "dag")) {
        model_print(&out, c, m);
        return print_text(&out);
    }
    condition(c, m);
    if (asked(c, "conditionals")) {
        conditionals_print(&out, c, m);
        return print_text(&out);
    }
    return c->nerrors ? 1 : 0;
}
