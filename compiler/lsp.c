/* lsp.c: gbmc --lsp, a server of the Language Server Protocol (3.17) on stdin
 * and stdout: what gbmc says of a model, at its place; what the library says of
 * a name; names to complete. Documents come whole. Each is compiled in a
 * process of its own, which leaves nothing behind, however it ends. Positions
 * are lines and UTF-16 units from 0, as the protocol has them. */
#include "gbmc.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MOST_BYTES = 1 << 26, /* of a message */
    MOST_SECONDS = 30,    /* for a model */
    UNKNOWN_METHOD = -32601,
    BAD_REQUEST = -32600,
    SYNC_WHOLE = 1,
    COMPLETES_FUNCTION = 3,
    COMPLETES_VARIABLE = 6
};

struct document {
    const char *uri;
    struct source source;
    struct document *next;
};

struct server {
    struct compiler *c;
    int (*check)(struct compiler *c);
    struct document *documents;
    bool shut, ended;
};

/* ---- messages ---- */

/* NULL at the end of the input, or where it is no message. */
static json_t *receive(void)
{
    char line[256];
    size_t length = 0;

    while (fgets(line, sizeof line, stdin) && line[0] != '\r' &&
           line[0] != '\n')
        if (strncasecmp(line, "Content-Length:", 15) == 0)
            length = strtoul(line + 15, NULL, 10);
    if (length == 0 || length > MOST_BYTES)
        return NULL;
    char *body = malloc(length);
    json_t *message = NULL;
    if (body && fread(body, 1, length, stdin) == length)
        message = json_loadb(body, length, 0, NULL);
    free(body);
    return message;
}

/* Takes the message. */
static void post(json_t *message)
{
    json_object_set_new(message, "jsonrpc", json_string("2.0"));
    char *body = json_dumps(message, JSON_COMPACT);
    if (body)
        printf("Content-Length: %zu\r\n\r\n%s", strlen(body), body);
    fflush(stdout);
    free(body);
    json_decref(message);
}

static void answer(const json_t *request, json_t *result)
{
    post(json_pack("{s:O, s:o}", "id", json_object_get(request, "id"), "result",
                   result));
}

static void refuse(const json_t *request, int code, const char *why)
{
    post(json_pack("{s:O, s:{s:i, s:s}}", "id", json_object_get(request, "id"),
                   "error", "code", code, "message", why));
}

/* ---- places ---- */

/* Bytes of the character at `at`, and its UTF-16 units. */
static size_t character(const struct source *s, size_t at, int *units)
{
    unsigned char first = (unsigned char)s->text[at];
    size_t n = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;

    *units = n == 4 ? 2 : 1;
    return n < s->length - at ? n : s->length - at;
}

static json_t *place(const struct source *s, size_t byte)
{
    int line = 0, column = 0, units;

    for (size_t at = 0; at < byte && at < s->length;) {
        bool ends = s->text[at] == '\n';
        at += character(s, at, &units);
        line += ends;
        column = ends ? 0 : column + units;
    }
    return json_pack("{s:i, s:i}", "line", line, "character", column);
}

static size_t byte_at(const struct source *s, json_int_t line,
                      json_int_t column)
{
    size_t at = 0;
    int units;

    while (line > 0 && at < s->length)
        line -= s->text[at++] == '\n';
    while (column > 0 && at < s->length && s->text[at] != '\n') {
        at += character(s, at, &units);
        column -= units;
    }
    return at;
}

/* ---- diagnostics ---- */

struct findings {
    const struct source *source;
    json_t *list;
};

/* What is said of other files, or of none, stands in the first line. */
static void find(void *context, int severity, struct span span,
                 const char *message)
{
    struct findings *f = context;
    bool here = span.source == f->source;
    size_t begin = here ? span.begin : 0, end = here ? span.end : 0;

    json_array_append_new(f->list,
                          json_pack("{s:{s:o, s:o}, s:i, s:s, s:s}", "range",
                                    "start", place(f->source, begin), "end",
                                    place(f->source, end > begin ? end : begin),
                                    "severity", severity, "source", "gbmc",
                                    "message", message));
}

/* In the process that is of this document alone. */
_Noreturn static void compile_apart(struct server *s, const struct document *d,
                                    int to)
{
    struct compiler *c = s->c;
    struct findings f = {.source = &d->source, .list = json_array()};

    alarm(MOST_SECONDS);
    if (!freopen("/dev/null", "w", stdout))
        _exit(2);
    c->tell = find;
    c->tell_context = &f;
    c->options.input = d->source.path;
    c->options.buffer = &d->source;
    c->options.explain = true; /* all passes, and no sampler */
    s->check(c);
    char *body = json_dumps(f.list, JSON_COMPACT);
    FILE *out = fdopen(to, "w");
    bool written = body && out && fputs(body, out) >= 0 && fclose(out) == 0;
    _exit(written ? 0 : 2);
}

static json_t *diagnose(struct server *s, const struct document *d)
{
    int ends[2], status;

    fflush(stdout);
    if (pipe(ends) != 0)
        return json_array();
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        compile_apart(s, d, ends[1]);
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    json_t *list = in ? json_loadf(in, 0, NULL) : NULL;
    if (in)
        fclose(in);
    if (child > 0)
        waitpid(child, &status, 0);
    if (list)
        return list;
    struct findings f = {&d->source, json_array()};
    find(&f, 2, (struct span){0}, "gbmc came to no end with this model");
    return f.list;
}

static void publish(const char *uri, json_t *list)
{
    post(json_pack("{s:s, s:{s:s, s:o}}", "method",
                   "textDocument/publishDiagnostics", "params", "uri", uri,
                   "diagnostics", list));
}

/* ---- documents ---- */

static const char *member(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static const char *uri_of(const json_t *params)
{
    return member(json_object_get(params, "textDocument"), "uri");
}

static struct document *find_document(const struct server *s, const char *uri)
{
    struct document *d = s->documents;
    while (d && strcmp(d->uri, uri) != 0)
        d = d->next;
    return d;
}

/* "file:///a%20b.gbm" is "/a b.gbm"; others are their own names. */
static const char *path_of(struct compiler *c, const char *uri)
{
    struct text path = {0};
    char digits[3] = {0};

    if (strncmp(uri, "file://", 7) != 0)
        return intern(c, uri);
    text_append(&path, "");
    for (const char *p = uri + 7; *p; p++) {
        char byte = *p;
        if (*p == '%' && p[1] && p[2]) {
            memcpy(digits, p + 1, 2);
            byte = (char)strtol(digits, NULL, 16);
            p += 2;
        }
        text_append_n(&path, &byte, 1);
    }
    return text_take(c, &path);
}

static void set_text(struct server *s, const char *uri, const char *text)
{
    struct document *d = find_document(s, uri);

    if (!d) {
        d = NEW(s->c, struct document);
        d->uri = intern(s->c, uri);
        d->source.path = path_of(s->c, uri);
        d->next = s->documents;
        s->documents = d;
    }
    free((char *)(uintptr_t)d->source.text);
    d->source.text = strdup(text);
    d->source.length = d->source.text ? strlen(text) : 0;
    publish(uri, diagnose(s, d));
}

static void open_document(struct server *s, const json_t *params)
{
    set_text(s, uri_of(params),
             member(json_object_get(params, "textDocument"), "text"));
}

static void change_document(struct server *s, const json_t *params)
{
    const json_t *changes = json_object_get(params, "contentChanges");
    size_t n = json_array_size(changes);

    if (n > 0)
        set_text(s, uri_of(params),
                 member(json_array_get(changes, n - 1), "text"));
}

static void close_document(struct server *s, const json_t *params)
{
    struct document **at = &s->documents;

    while (*at && strcmp((*at)->uri, uri_of(params)) != 0)
        at = &(*at)->next;
    if (*at) {
        free((char *)(uintptr_t)(*at)->source.text);
        *at = (*at)->next;
    }
    publish(uri_of(params), json_array());
}

/* ---- names ---- */

static bool in_name(char ch)
{
    return (ch >= 'A' && ch <= 'Z') || (ch >= 'a' && ch <= 'z') ||
           (ch >= '0' && ch <= '9') || ch == '.' || ch == '_';
}

static json_t *hover(struct server *s, const json_t *params)
{
    const struct document *d = find_document(s, uri_of(params));
    const json_t *position = json_object_get(params, "position");
    struct text out = {0};

    if (!d)
        return json_null();
    size_t begin = byte_at(
        &d->source, json_integer_value(json_object_get(position, "line")),
        json_integer_value(json_object_get(position, "character")));
    size_t end = begin;
    while (begin > 0 && in_name(d->source.text[begin - 1]))
        begin--;
    while (end < d->source.length && in_name(d->source.text[end]))
        end++;
    const char *name = intern_n(s->c, d->source.text + begin, end - begin);
    for (int kind = ENTRY_DISTRIBUTION; kind <= ENTRY_FUNCTION; kind++) {
        const struct entry *e =
            library_standard(s->c, (enum entry_kind)kind, name);
        if (!e)
            continue;
        text_append(&out, "```gbm\n");
        entry_describe(&out, e);
        text_append(&out, "```\n");
    }
    json_t *found = out.data ? json_pack("{s:{s:s, s:s}}", "contents", "kind",
                                         "markdown", "value", out.data)
                             : json_null();
    text_free(&out);
    return found;
}

static void add_library(struct server *s, json_t *items)
{
    const struct entry *const *all;
    int n = library_all(s->c, &all);

    for (int i = 0; i < n; i++) {
        struct text head = {0};
        if (all[i]->kind == ENTRY_AUGMENTATION)
            continue;
        ast_print_entry_head(&head, all[i]);
        json_array_append_new(
            items, json_pack("{s:s, s:i, s:s, s:s}", "label", all[i]->name,
                             "kind", COMPLETES_FUNCTION, "detail", head.data,
                             "documentation", all[i]->doc));
        text_free(&head);
    }
}

/* The names that the text has, each once. */
static void add_names(struct server *s, const struct document *d, json_t *items)
{
    const struct source *t = &d->source;
    json_t *seen = json_object();

    for (size_t at = 0, end; at < t->length; at = end + 1) {
        for (end = at; end < t->length && in_name(t->text[end]);)
            end++;
        if (end == at || (t->text[at] >= '0' && t->text[at] <= '9') ||
            t->text[at] == '.')
            continue;
        const char *name = intern_n(s->c, t->text + at, end - at);
        if (json_object_get(seen, name) ||
            library_standard(s->c, ENTRY_DISTRIBUTION, name) ||
            library_standard(s->c, ENTRY_FUNCTION, name))
            continue;
        json_object_set_new(seen, name, json_true());
        json_array_append_new(items, json_pack("{s:s, s:i}", "label", name,
                                               "kind", COMPLETES_VARIABLE));
    }
    json_decref(seen);
}

static json_t *complete(struct server *s, const json_t *params)
{
    const struct document *d = find_document(s, uri_of(params));
    json_t *items = json_array();

    if (d)
        add_names(s, d, items);
    add_library(s, items);
    return items;
}

/* ---- methods ---- */

static json_t *initialize(struct server *s, const json_t *params)
{
    (void)s;
    (void)params;
    return json_pack("{s:{s:i, s:b, s:{}}, s:{s:s, s:s}}", "capabilities",
                     "textDocumentSync", SYNC_WHOLE, "hoverProvider", 1,
                     "completionProvider", "serverInfo", "name", "gbmc",
                     "version", GBM_VERSION);
}

static json_t *shut_down(struct server *s, const json_t *params)
{
    (void)params;
    s->shut = true;
    return json_null();
}

static void end(struct server *s, const json_t *params)
{
    (void)params;
    s->ended = true;
}

static const struct {
    const char *name;
    json_t *(*answer)(struct server *s, const json_t *params); /* a request */
    void (*take)(struct server *s, const json_t *params); /* a notification */
} methods[] = {
    {"initialize", initialize, NULL},
    {"shutdown", shut_down, NULL},
    {"exit", NULL, end},
    {"textDocument/didOpen", NULL, open_document},
    {"textDocument/didChange", NULL, change_document},
    {"textDocument/didClose", NULL, close_document},
    {"textDocument/hover", hover, NULL},
    {"textDocument/completion", complete, NULL},
};
enum { NMETHODS = sizeof methods / sizeof methods[0] };

static void serve(struct server *s, const json_t *message)
{
    const json_t *params = json_object_get(message, "params");
    bool request = json_object_get(message, "id") != NULL;
    const char *name = member(message, "method");

    if (request && s->shut) {
        refuse(message, BAD_REQUEST, "the server was shut down");
        return;
    }
    for (int i = 0; i < NMETHODS; i++) {
        if (strcmp(methods[i].name, name) != 0)
            continue;
        if (methods[i].answer && request)
            answer(message, methods[i].answer(s, params));
        else if (methods[i].take)
            methods[i].take(s, params);
        return;
    }
    if (request && *name)
        refuse(message, UNKNOWN_METHOD, name);
}

int lsp_serve(struct compiler *c, int (*check)(struct compiler *c))
{
    struct server s = {.c = c, .check = check};
    json_t *message;

    while (!s.ended && (message = receive()) != NULL) {
        serve(&s, message);
        json_decref(message);
    }
    return s.shut ? 0 : 1;
}
