/* quote.c: text that others wrote (names of files, pieces of a model) where the
 * C program needs it: in a string, in a format, in a comment. */
#include "base/base.h"
#include <string.h>

void text_escape(struct text *t, unsigned char ch)
{
    if (ch == '"' || ch == '\\')
        text_printf(t, "\\%c", ch);
    else if (ch < 32 || ch == 127)
        text_printf(t, "\\%03o", ch);
    else
        text_append_n(t, (const char[]){(char)ch}, 1);
}

static const char *finished(struct compiler *c, struct text *t)
{
    const char *r = intern(c, t->data ? t->data : "");
    text_free(t);
    return r;
}

const char *text_in_string(struct compiler *c, const char *s)
{
    struct text t = {0};
    for (; *s; s++)
        text_escape(&t, (unsigned char)*s);
    return finished(c, &t);
}

const char *text_in_format(struct compiler *c, const char *s)
{
    struct text t = {0};
    for (; *s; s++) {
        if (*s == '%')
            text_append(&t, "%");
        text_escape(&t, (unsigned char)*s);
    }
    return finished(c, &t);
}

const char *text_in_comment(struct compiler *c, const char *s)
{
    struct text t = {0};
    for (; *s; s++) {
        text_append_n(&t, s, 1);
        if ((*s == '*' && s[1] == '/') || (*s == '/' && s[1] == '*'))
            text_append(&t, " ");
    }
    return finished(c, &t);
}

const char *text_place_in_comment(struct compiler *c, struct span span)
{
    return text_in_comment(c, span_text(c, span));
}
