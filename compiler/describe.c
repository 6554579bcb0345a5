/* describe.c: what the library says of a name. */
#include "gbmc.h"

#include <ctype.h>

void entry_describe(struct text *out, const struct entry *e)
{
    static const char *const kinds[] = {[ENTRY_DISTRIBUTION] = "distribution",
                                        [ENTRY_FUNCTION] = "function",
                                        [ENTRY_AUGMENTATION] = "augmentation"};

    text_printf(out, "%s ", kinds[e->kind]);
    ast_print_entry_head(out, e);
    text_append(out, "\n");
    if (e->doc[0])
        text_printf(out, "\n%c%s\n", toupper((unsigned char)e->doc[0]),
                    e->doc + 1);
    for (const struct clause *cl = e->clauses; cl; cl = cl->next) {
        const struct source *s = cl->span.source;
        text_printf(out, "%s  %.*s\n", cl == e->clauses ? "\n" : "",
                    (int)(cl->span.end - cl->span.begin),
                    s->text + cl->span.begin);
    }
}
