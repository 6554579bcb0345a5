/* intern.c: one pointer per distinct name. An open hash table. */
#include "base/base.h"

#include <stdarg.h>
#include <string.h>

struct name {
    uint64_t hash;
    size_t length;
    const char *text; /* NULL: free */
};
struct names {
    struct name *slots;
    size_t used, size; /* a power of 2, at least twice `used` */
};

/* FNV-1a. */
static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return h;
}

/* The slot of a name, or the free one where it belongs. */
static struct name *find(const struct names *names, uint64_t hash,
                         const char *text, size_t length)
{
    size_t i = (size_t)hash & (names->size - 1);

    while (names->slots[i].text) {
        const struct name *s = &names->slots[i];
        if (s->hash == hash && s->length == length &&
            memcmp(s->text, text, length) == 0)
            break;
        i = (i + 1) & (names->size - 1);
    }
    return &names->slots[i];
}

static void grow(struct compiler *c, struct names *names)
{
    struct names old = *names;

    names->size = old.size ? 2 * old.size : 1024;
    names->slots = arena_alloc(c->arena, names->size * sizeof names->slots[0]);
    for (size_t i = 0; i < old.size; i++) {
        const struct name *s = &old.slots[i];
        if (s->text)
            *find(names, s->hash, s->text, s->length) = *s;
    }
}

const char *intern_n(struct compiler *c, const char *text, size_t length)
{
    uint64_t hash = hash_of(text, length);
    struct name *slot;
    char *copy;

    if (!c->names)
        c->names = NEW(c, struct names);
    if (2 * c->names->used >= c->names->size)
        grow(c, c->names);
    slot = find(c->names, hash, text, length);
    if (slot->text)
        return slot->text;
    copy = arena_alloc(c->arena, length + 1);
    memcpy(copy, text, length);
    *slot = (struct name){hash, length, copy};
    c->names->used++;
    return copy;
}

const char *intern(struct compiler *c, const char *text)
{
    return intern_n(c, text, strlen(text));
}

const char *intern_format(struct compiler *c, const char *format, ...)
{
    struct text t = {0};
    const char *result;
    va_list args;

    va_start(args, format);
    text_vprintf(&t, format, args);
    va_end(args);
    result = intern_n(c, t.data ? t.data : "", t.length);
    text_free(&t);
    return result;
}

const char *text_take(struct compiler *c, struct text *t)
{
    const char *s = intern(c, t->data ? t->data : "");
    text_free(t);
    return s;
}
