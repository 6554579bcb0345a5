/* names.c: what variables are called in the generated program. */
#include "model/model.h"
#include <string.h>

/* The rule: what is named after something of the model (a variable, a loop, a
 * parameter of a distribution) ends in MARK, and no other identifier does: none
 * of C, CUDA, the libraries, stdlib's headers, nor a word that the program adds
 * behind a name (theta_v_seen, start_theta_v_2). So none of these can be met,
 * whatever the model calls its own. tests/cli/names.sh looks into the headers
 * for identifiers that would break the rule. */
#define MARK "_v"

/* Dots and what C does not know become underscores. */
static const char *plain_name(struct compiler *c, const char *name)
{
    char *plain = NEW_ARRAY(c, char, strlen(name) + 1);
    strcpy(plain, name);
    for (char *p = plain; *p; p++)
        if (*p == '.' || (unsigned char)*p >= 128)
            *p = '_';
    return intern(c, plain);
}

const char *model_marked_name(struct compiler *c, const char *name)
{
    return intern_format(c, "%s" MARK, plain_name(c, name));
}

/* v's name, told from others' by one more underscore before the mark. */
static void grow_name(struct compiler *c, struct var *v)
{
    int n = (int)(strlen(v->cname) - strlen(MARK));
    v->cname = intern_format(c, "%.*s_" MARK, n, v->cname);
}

/* Whether the program may call something of variable w by v's name: functions
 * are w's name with words before it (start_w_v). */
static bool may_be_of(const struct var *v, const struct var *w)
{
    size_t n = strlen(v->cname), k = strlen(w->cname);
    return n > k && v->cname[n - k - 1] == '_' &&
           !strcmp(v->cname + n - k, w->cname);
}

static bool is_taken(const struct model *m, const struct var *v)
{
    bool before = true; /* of two that are the same the first one keeps it */
    for (const struct var *w = m->vars; w; w = w->next) {
        before = before && w != v;
        if (w != v && w->cname &&
            ((before && w->cname == v->cname) || may_be_of(v, w)))
            return true;
    }
    return false;
}

/* A name that grows may be in another's way in turn. */
void model_name_in_c(struct compiler *c, struct model *m)
{
    for (struct var *v = m->vars; v; v = v->next)
        v->cname = model_marked_name(c, v->name);
    for (bool changed = true; changed;) {
        changed = false;
        for (struct var *v = m->vars; v; v = v->next)
            while (is_taken(m, v)) {
                grow_name(c, v);
                changed = true;
            }
    }
}

void model_name_added_in_c(struct compiler *c, const struct model *m,
                           struct var *v)
{
    v->cname = model_marked_name(c, v->name);
    for (const struct var *w = m->vars; w; w = w->next)
        if (w != v && w->cname && (w->cname == v->cname || may_be_of(v, w))) {
            grow_name(c, v);
            w = m->vars;
        }
}
