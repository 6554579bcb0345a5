/* headers.c: which headers of stdlib/kernels/gbm.h a program calls, so that the
 * C compiler reads no others, in each part of the program. A header is wanted
 * for a name that it defines and that the program, or another wanted header,
 * mentions anywhere: too many headers cost time, one too few would leave a name
 * without a definition, which the linker tells. */
#include "emit/emit.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Names of stdlib/kernels (GBM_, gbm_, real_) and of headers, interned: sorted
 * and each once when the text is read. */
struct words {
    const char **word;
    int n, capacity;
};

struct header {
    struct header *next; /* a header stands before all that include it */
    const char *name;
    struct words mentions, defines;
    bool common; /* gbm.h includes it */
    bool wanted;
};

struct headers {
    struct header *first, **end;
};

/* Where a text is being read. */
struct reader {
    struct compiler *c;
    const char *at;
    struct words *mentions, *defines;
    int braces, parentheses;
    bool enumerators;        /* the braces are those of an enum */
    bool of_enum, of_struct; /* the last words were `enum`, `struct x` */
};

static void add_word(struct compiler *c, struct words *list, const char *word)
{
    if (list->n == list->capacity) {
        const char **old = list->word;
        list->capacity = old ? 2 * list->capacity : 256;
        list->word = NEW_ARRAY(c, const char *, list->capacity);
        if (old)
            memcpy(list->word, old, (size_t)list->n * sizeof *old);
    }
    list->word[list->n++] = word;
}

static int by_address(const void *a, const void *b)
{
    const char *const x = *(const char *const *)a;
    const char *const y = *(const char *const *)b;
    return (x > y) - (x < y);
}

static void sort_words(struct words *list)
{
    int n = 0;
    if (list->n)
        qsort(list->word, (size_t)list->n, sizeof *list->word, by_address);
    for (int i = 0; i < list->n; i++)
        if (n == 0 || list->word[n - 1] != list->word[i])
            list->word[n++] = list->word[i];
    list->n = n;
}

static bool share_word(const struct words *a, const struct words *b)
{
    for (int i = 0, j = 0; i < a->n && j < b->n;) {
        if (a->word[i] == b->word[j])
            return true;
        if (by_address(&a->word[i], &b->word[j]) < 0)
            i++;
        else
            j++;
    }
    return false;
}

static bool in_name(char ch) { return isalnum((unsigned char)ch) || ch == '_'; }

/* The name of ours that stands here, or NULL; goes behind any word. */
static const char *take_word(struct reader *r)
{
    const char *const begin = r->at;
    while (in_name(*r->at))
        r->at++;
    if (strncmp(begin, "gbm_", 4) && strncmp(begin, "GBM_", 4) &&
        strncmp(begin, "real_", 5))
        return NULL;
    const char *word = intern_n(r->c, begin, (size_t)(r->at - begin));
    add_word(r->c, r->mentions, word);
    return word;
}

/* Goes behind a comment, a string or a character that begins here. */
static bool skip_text(struct reader *r)
{
    const char quote = *r->at;
    if (!strncmp(r->at, "/*", 2)) {
        const char *end = strstr(r->at + 2, "*/");
        r->at = end ? end + 2 : r->at + strlen(r->at);
        return true;
    }
    if (quote != '"' && quote != '\'')
        return false;
    for (r->at++; *r->at && *r->at != quote; r->at++)
        if (*r->at == '\\' && r->at[1])
            r->at++;
    if (*r->at)
        r->at++;
    return true;
}

static void skip_blanks(struct reader *r)
{
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
}

static bool take(struct reader *r, const char *directive)
{
    size_t n = strlen(directive);
    if (strncmp(r->at, directive, n))
        return false;
    r->at += n;
    skip_blanks(r);
    return true;
}

/* A line of the preprocessor's, with those that continue it. */
static void read_directive(struct reader *r)
{
    r->at++;
    skip_blanks(r);
    bool defines = take(r, "define ");
    if (take(r, "include \"")) {
        size_t n = strcspn(r->at, "\"\n");
        add_word(r->c, r->mentions, intern_n(r->c, r->at, n));
        r->at += n + (r->at[n] == '"');
    }
    for (; *r->at && *r->at != '\n'; defines = false) {
        if (*r->at == '\\' && r->at[1]) {
            r->at += 2;
        } else if (in_name(*r->at)) {
            const char *word = take_word(r);
            if (word && defines)
                add_word(r->c, r->defines, word);
        } else if (!skip_text(r)) {
            r->at++;
        }
    }
}

static bool stands(const char *begin, const char *end, const char *word)
{
    size_t n = (size_t)(end - begin);
    return n == strlen(word) && !memcmp(begin, word, n);
}

/* A word outside of directives. It is defined here if it stands outside of
 * braces as functions, arrays and variables do, names a struct, or is one of an
 * enum. */
static void read_word(struct reader *r)
{
    const char *const begin = r->at;
    const char *word = take_word(r);
    const char *after = r->at;
    while (isspace((unsigned char)*after))
        after++;
    const bool outside = r->braces == 0 && r->parentheses == 0;
    if (word && *after &&
        ((outside && strchr(r->of_struct ? "{" : "([=;", *after)) ||
         (r->enumerators && r->braces == 1)))
        add_word(r->c, r->defines, word);
    r->of_enum = stands(begin, r->at, "enum") || (r->of_enum && *after == '{');
    r->of_struct = stands(begin, r->at, "struct") ||
                   stands(begin, r->at, "union") ||
                   stands(begin, r->at, "enum");
}

static void read_mark(struct reader *r)
{
    switch (*r->at++) {
    case '{':
        if (r->braces++ == 0)
            r->enumerators = r->of_enum;
        break;
    case '}':
        r->braces--;
        break;
    case '(':
        r->parentheses++;
        break;
    case ')':
        r->parentheses--;
        break;
    default:
        break;
    }
}

/* False: braces do not match (there are two of an alternative), so it was not
 * understood. */
static bool read_words(struct compiler *c, const char *text,
                       struct words *mentions, struct words *defines)
{
    struct reader r = {
        .c = c, .at = text, .mentions = mentions, .defines = defines};
    bool matches = true;
    while (*r.at) {
        if (isspace((unsigned char)*r.at))
            r.at++;
        else if (*r.at == '#')
            read_directive(&r);
        else if (in_name(*r.at))
            read_word(&r);
        else if (!skip_text(&r))
            read_mark(&r);
        matches = matches && r.braces >= 0 && r.parentheses >= 0;
    }
    sort_words(mentions);
    sort_words(defines);
    return matches && r.braces == 0 && r.parentheses == 0;
}

static struct header *find_header(const struct headers *all, const char *name)
{
    for (struct header *h = all->first; h; h = h->next)
        if (h->name == name)
            return h;
    return NULL;
}

/* A header's text; NULL: it is none of stdlib/kernels. */
static const char *header_text(struct compiler *c, const char *name)
{
    const char *path =
        path_join(c, c->stdlib, intern_format(c, "kernels/%s", name));
    const struct source *s =
        file_exists(path) ? source_read(c, path, (struct span){0}) : NULL;
    return s ? s->text : NULL;
}

static void add_included(struct compiler *c, struct headers *all,
                         const char *text, bool common);

/* A header, behind those that it includes. What only the device reads has a
 * name of its own. */
static void add_header(struct compiler *c, struct headers *all,
                       const char *name, bool common)
{
    size_t n = strlen(name);
    if (find_header(all, name) || (n > 7 && !strcmp(name + n - 7, "_cuda.h")))
        return;
    const char *text = header_text(c, name);
    if (!text)
        return;
    add_included(c, all, text, common);
    struct header *h = NEW(c, struct header);
    h->name = name;
    h->common = common;
    add_word(c, &h->defines, name);
    h->wanted = !read_words(c, text, &h->mentions, &h->defines) || !common;
    *all->end = h;
    all->end = &h->next;
}

static void add_included(struct compiler *c, struct headers *all,
                         const char *text, bool common)
{
    static const char include[] = "#include \"";
    for (const char *at = text; (at = strstr(at, include));) {
        at += sizeof include - 1;
        const char *name = intern_n(c, at, strcspn(at, "\"\n"));
        if (strcmp(name, "gbm.h"))
            add_header(c, all, name, common);
    }
}

/* Whether it is wanted for a name in the program or in a wanted header. */
static bool is_called(const struct headers *all, const struct words *program,
                      const struct header *h)
{
    if (share_word(&h->defines, program))
        return true;
    for (const struct header *by = all->first; by; by = by->next)
        if (by->wanted && share_word(&h->defines, &by->mentions))
            return true;
    return false;
}

void emit_headers(struct text *out, struct compiler *c, const char *program,
                  const char *tables)
{
    struct headers all = {.end = &all.first};
    struct words mentions = {0}, defines = {0};
    const char *all_of_them = header_text(c, "gbm.h");
    if (!all_of_them)
        return;
    add_included(c, &all, all_of_them, true);
    add_included(c, &all, program, false);
    read_words(c, program, &mentions, &defines);
    read_words(c, tables, &mentions, &defines);
    for (bool more = true; more;) {
        more = false;
        for (struct header *h = all.first; h; h = h->next)
            if (!h->wanted && is_called(&all, &mentions, h))
                more = h->wanted = true;
    }
    text_append(out, "/* What it calls of gbm.h, in place of all of it. */\n"
                     "#define GBM_STDLIB_H\n");
    for (const struct header *h = all.first; h; h = h->next)
        if (h->common && h->wanted)
            text_printf(out, "#include \"%s\"\n", h->name);
    text_append(out, "\n");
}
