/* names.c: what variables are called in the generated program. */
#include "gbmc.h"
#include <string.h>

/* Words of C, C++ and the libraries, and what the program calls its own. */
static const char *const reserved[] = {
    "auto",        "break",     "case",      "char",     "const",    "continue",
    "default",     "do",        "double",    "else",     "enum",     "extern",
    "float",       "for",       "goto",      "if",       "inline",   "int",
    "long",        "register",  "restrict",  "return",   "short",    "signed",
    "sizeof",      "static",    "struct",    "switch",   "typedef",  "union",
    "unsigned",    "void",      "volatile",  "while",    "real",     "rng",
    "team",        "s",         "x",         "sum",      "new",      "class",
    "template",    "this",      "bool",      "true",     "false",    "state",
    "element",     "adapting",  "asm",       "typename", "private",  "public",
    "delete",      "operator",  "namespace", "using",    "virtual",  "and",
    "or",          "not",       "xor",       "main",     "linux",    "unix",
    "errno",       "exp",       "log",       "pow",      "sqrt",     "sin",
    "cos",         "tan",       "asin",      "acos",     "atan",     "sinh",
    "cosh",        "tanh",      "floor",     "ceil",     "round",    "trunc",
    "fabs",        "lgamma",    "tgamma",    "log1p",    "expm1",    "fmod",
    "fmin",        "fmax",      "erf",       "erfc",     "cbrt",     "log2",
    "log10",       "exp2",      "isnan",     "isinf",    "abs",      "asinh",
    "acosh",       "atanh",     "atan2",     "copysign", "malloc",   "free",
    "printf",      "b",         "out",       "tuples",   "stdin",    "stdout",
    "stderr",      "signal",    "I",         "NULL",     "constant", "shift",
    "shift_state", "bind_state"};

static bool is_reserved(const char *name)
{
    if (!strncmp(name, "real_", 5) || !strncmp(name, "gbm_", 4))
        return true; /* the runtime's functions */
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (!strcmp(name, reserved[i]))
            return true;
    return false;
}

/* Whether the program may call something of variable w by v's name: functions
 * are w's name with words before and behind it (start_w, logdensity_w_2),
 * fields with words behind it (w_seen). An array's name is a macro, which would
 * be taken for such a function's; a scalar's is a field. Of these names only
 * those that end in w's own can end in an underscore. */
static bool may_be_of(const struct var *v, const struct var *w)
{
    const char *a = v->cname, *b = w->cname;
    size_t n = strlen(a), k = strlen(b);
    for (const char *at = strstr(a, b); at; at = strstr(at + 1, b)) {
        bool first = at == a, last = at + k == a + n;
        if (!(first && last) && (first || (v->ndim && at[-1] == '_')) &&
            (last || (at[k] == '_' && a[n - 1] != '_')))
            return true;
    }
    return false;
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

/* Dots and what C does not know become underscores. */
static const char *plain_name(struct compiler *c, const char *name)
{
    char *plain = NEW_ARRAY(c, char, strlen(name) + 2);
    strcpy(plain, name);
    for (char *p = plain; *p; p++)
        if (*p == '.' || (unsigned char)*p >= 128)
            *p = '_';
    if (is_reserved(plain))
        strcat(plain, "_");
    return intern(c, plain);
}

/* An underscore at the end tells a name from others, and from what the program
 * calls of theirs; a name that grows may be in another's way in turn. */
void name_in_c(struct compiler *c, struct model *m)
{
    for (struct var *v = m->vars; v; v = v->next)
        v->cname = plain_name(c, v->name);
    for (bool changed = true; changed;) {
        changed = false;
        for (struct var *v = m->vars; v; v = v->next)
            while (is_taken(m, v)) {
                v->cname = intern_format(c, "%s_", v->cname);
                changed = true;
            }
    }
}

/* y.z by y's name, a constant by a word that is reserved. */
void name_added_in_c(struct compiler *c, const struct model *m, struct var *v)
{
    v->cname = plain_name(c, v->name);
    for (const struct var *w = m->vars; w; w = w->next)
        if (w != v && w->cname == v->cname) {
            v->cname = intern_format(c, "%s_", v->cname);
            w = m->vars;
        }
}
