/* text.c: a growing output buffer. */
#include "base/base.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `more` bytes and the terminating zero. */
static void reserve(struct text *t, size_t more)
{
    size_t capacity = t->capacity ? t->capacity : 128;

    if (more < t->capacity - t->length)
        return;
    while (capacity - t->length <= more)
        capacity *= 2;
    t->data = realloc(t->data, capacity);
    if (!t->data) {
        fputs("gbmc: error: out of memory\n", stderr);
        exit(2);
    }
    t->capacity = capacity;
}

void text_vprintf(struct text *t, const char *format, va_list args)
{
    va_list again;
    int n;

    va_copy(again, args);
    n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n < 0)
        UNREACHABLE();
    reserve(t, (size_t)n);
    vsnprintf(t->data + t->length, (size_t)n + 1, format, args);
    t->length += (size_t)n;
}

void text_printf(struct text *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text_vprintf(t, format, args);
    va_end(args);
}

void text_append_n(struct text *t, const char *s, size_t n)
{
    reserve(t, n);
    memcpy(t->data + t->length, s, n);
    t->length += n;
    t->data[t->length] = '\0';
}

void text_append(struct text *t, const char *s)
{
    text_append_n(t, s, strlen(s));
}

void text_free(struct text *t)
{
    free(t->data);
    *t = (struct text){0};
}
