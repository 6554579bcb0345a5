/* origin.c: see origin.h. Behind the executable: texts, each with a 0 at its
 * end, their number of bytes, and a mark. */
#include "base/origin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char mark[16] = "gbm origin 0001\n";
enum { MOST = 1 << 24 }; /* bytes of it */

bool rt_origin_file_key(const char *path, struct rt_key *key)
{
    static char buffer[1 << 16];
    size_t n;
    FILE *f = fopen(path, "rb");
    *key = RT_KEY_EMPTY;
    if (!f)
        return false;
    while ((n = fread(buffer, 1, sizeof buffer, f)) > 0)
        rt_key_add(key, buffer, n);
    bool whole = !ferror(f);
    fclose(f);
    return whole;
}

/* ---- writing ---- */

static uint64_t put(FILE *f, const char *text)
{
    size_t n = strlen(text) + 1;
    fwrite(text, 1, n, f);
    return n;
}

static uint64_t put_number(FILE *f, int n)
{
    char text[16];
    snprintf(text, sizeof text, "%d", n);
    return put(f, text);
}

static uint64_t put_key(FILE *f, const struct rt_key *key)
{
    char text[40];
    snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, key->a, key->b);
    return put(f, text);
}

bool rt_origin_append(const char *path, const struct rt_origin *o)
{
    FILE *f = fopen(path, "ab");
    if (!f)
        return false;
    uint64_t n = put(f, o->compiler) + put(f, o->folder);
    n += put_number(f, o->narguments);
    for (int i = 0; i < o->narguments; i++)
        n += put(f, o->arguments[i]);
    n += put_number(f, o->nfiles);
    for (int i = 0; i < o->nfiles; i++)
        n += put(f, o->files[i].path) + put_key(f, &o->files[i].key);
    fwrite(&n, sizeof n, 1, f);
    fwrite(mark, 1, sizeof mark, f);
    bool failed = ferror(f) != 0;
    return fclose(f) == 0 && !failed;
}

/* ---- reading ---- */

struct reader {
    const char *at, *end;
};

/* NULL behind the last. */
static const char *take(struct reader *r)
{
    const char *text = r->at;
    const char *zero =
        r->at < r->end ? memchr(r->at, 0, (size_t)(r->end - r->at)) : NULL;
    if (!zero)
        return NULL;
    r->at = zero + 1;
    return text;
}

static bool take_number(struct reader *r, int *n)
{
    const char *text = take(r);
    *n = text ? atoi(text) : -1;
    return *n >= 0 && *n <= r->end - r->at;
}

static bool take_key(struct reader *r, struct rt_key *key)
{
    const char *text = take(r);
    return text &&
           sscanf(text, "%16" SCNx64 "%16" SCNx64, &key->a, &key->b) == 2;
}

static bool parse(struct rt_origin *o, struct reader *r)
{
    bool good = (o->compiler = take(r)) && (o->folder = take(r)) &&
                take_number(r, &o->narguments);
    o->arguments =
        good ? calloc((size_t)o->narguments + 1, sizeof(char *)) : NULL;
    good = good && o->arguments;
    for (int i = 0; good && i < o->narguments; i++)
        good = (o->arguments[i] = take(r)) != NULL;
    good = good && take_number(r, &o->nfiles);
    o->files = good ? calloc((size_t)o->nfiles + 1, sizeof *o->files) : NULL;
    good = good && o->files;
    for (int i = 0; good && i < o->nfiles; i++)
        good = (o->files[i].path = take(r)) && take_key(r, &o->files[i].key);
    return good;
}

/* The bytes in front of the mark at the end, or NULL. */
static char *read_bytes(FILE *f, uint64_t *n)
{
    char found[sizeof mark];
    const long behind = (long)(sizeof *n + sizeof mark);
    if (fseek(f, -behind, SEEK_END) != 0 || fread(n, sizeof *n, 1, f) != 1 ||
        fread(found, 1, sizeof mark, f) != sizeof mark ||
        memcmp(found, mark, sizeof mark) != 0 || *n > MOST ||
        fseek(f, -behind - (long)*n, SEEK_END) != 0)
        return NULL;
    char *bytes = malloc(*n + 1);
    if (bytes && fread(bytes, 1, *n, f) == *n)
        return bytes;
    free(bytes);
    return NULL;
}

bool rt_origin_read(const char *path, struct rt_origin *out)
{
    uint64_t n = 0;
    FILE *f = fopen(path, "rb");
    *out = (struct rt_origin){0};
    if (!f)
        return false;
    out->bytes = read_bytes(f, &n);
    fclose(f);
    struct reader r = {out->bytes, out->bytes ? out->bytes + n : NULL};
    if (out->bytes && parse(out, &r))
        return true;
    rt_origin_free(out);
    return false;
}

void rt_origin_free(struct rt_origin *o)
{
    free(o->arguments);
    free(o->files);
    free(o->bytes);
    *o = (struct rt_origin){0};
}
