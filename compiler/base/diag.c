/* diag.c: messages. Line and column are found when a message is written. */
#include "base/base.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Of a line too long for a terminal, so much is shown around the caret. */
enum { MAX_COLUMNS = 160, TAB = 8 };

enum severity { ERROR = 1, WARNING, NOTE };
static const struct {
    const char *label, *colour;
} severities[] = {
    [ERROR] = {"error", "\033[1;31m"},
    [WARNING] = {"warning", "\033[1;35m"},
    [NOTE] = {"note", "\033[1;36m"},
};

/* The line that holds byte `at`: from *first up to, without, *last. */
static void find_line(const struct source *s, size_t at, size_t *first,
                      size_t *last)
{
    size_t a = at < s->length ? at : s->length, b = a;

    while (a > 0 && s->text[a - 1] != '\n')
        a--;
    while (b < s->length && s->text[b] != '\n')
        b++;
    if (b > a && s->text[b - 1] == '\r')
        b--;
    *first = a;
    *last = b;
}

void span_position(struct span span, int *line, int *column)
{
    const struct source *s = span.source;
    size_t at, first, last;

    *line = *column = 1;
    if (!s)
        return;
    at = span.begin < s->length ? span.begin : s->length;
    for (size_t i = 0; i < at; i++)
        if (s->text[i] == '\n')
            ++*line;
    find_line(s, at, &first, &last);
    *column = (int)(at - first) + 1;
}

const char *span_text(struct compiler *c, struct span span)
{
    int line, column;

    if (!span.source)
        return "";
    span_position(span, &line, &column);
    return intern_format(c, "%s:%d:%d", span.source->path, line, column);
}

static bool is_space(char ch)
{
    return ch == ' ' || (ch >= '\t' && ch <= '\r');
}

/* Bytes of the comment that begins at `at`; 0: none does. */
static size_t comment_length(const struct source *s, size_t at)
{
    size_t end = at;

    if (s->text[at] == '#') {
        while (end < s->length && s->text[end] != '\n')
            end++;
    } else if (s->length - at > 3 && !strncmp(s->text + at, "/*", 2)) {
        end = at + 2;
        while (end + 1 < s->length && strncmp(s->text + end, "*/", 2) != 0)
            end++;
        end += 2;
    }
    return end - at;
}

const char *span_source(struct compiler *c, struct span span)
{
    const struct source *s = span.source;
    struct text out = {0};
    bool blank = false;
    const char *result;

    text_append(&out, "");
    for (size_t i = span.begin; s && i < span.end && i < s->length; i++) {
        size_t comment = comment_length(s, i);
        if (comment || is_space(s->text[i])) {
            blank = out.length > 0;
            i += comment ? comment - 1 : 0;
            continue;
        }
        if (blank)
            text_append(&out, " ");
        blank = false;
        text_append_n(&out, s->text + i, 1);
    }
    result = intern_n(c, out.data, out.length);
    text_free(&out);
    return result;
}

/* Bytes of the UTF-8 character at s[0..n), or 0 if it is none. */
static size_t utf8_length(const char *s, size_t n)
{
    unsigned char first = (unsigned char)s[0];
    size_t length = first >= 0xF0 && first < 0xF5   ? 4
                    : first >= 0xE0 && first < 0xF0 ? 3
                    : first >= 0xC2 && first < 0xE0 ? 2
                                                    : 0;

    if (length > n)
        return 0;
    for (size_t i = 1; i < length; i++)
        if (((unsigned char)s[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

/* One line of source being laid out in columns. */
struct layout {
    struct text line, marks;
    int column, from; /* columns before `from` are not shown */
    int caret;        /* the caret's column */
};

/* Adds a character that takes `width` columns. */
static void put(struct layout *l, const char *s, size_t n, int width,
                const char *mark)
{
    for (int i = 0; i < width; i++, l->column++) {
        if (l->column < l->from || l->column >= l->from + MAX_COLUMNS)
            continue;
        if (i == 0)
            text_append_n(&l->line, s, n);
        else
            text_append(&l->line, " ");
        text_append(&l->marks, i == 0 || *mark == ' ' ? mark : "~");
    }
}

/* Lays out the span's first line, tabs as blanks, what a terminal would
 * obey as '?'. */
static void lay_out(struct layout *l, const struct source *s, size_t first,
                    size_t last, struct span span)
{
    size_t n;

    l->column = l->caret = 0;
    for (size_t i = first; i < last; i += n) {
        unsigned char ch = (unsigned char)s->text[i];
        const char *mark = i == span.begin                  ? "^"
                           : i > span.begin && i < span.end ? "~"
                                                            : " ";
        if (i == span.begin)
            l->caret = l->column;
        n = ch >= 0x80 ? utf8_length(s->text + i, last - i) : 1;
        if (n == 0 || (ch < 32 && ch != '\t') || ch == 127) {
            n = 1;
            put(l, "?", 1, 1, mark);
        } else if (ch == '\t') {
            put(l, " ", 1, TAB - l->column % TAB, mark);
        } else {
            put(l, s->text + i, n, 1, mark);
        }
    }
    if (span.begin >= last) {
        l->caret = l->column;
        put(l, " ", 1, 1, "^");
    }
}

/* Removes the blanks at the end. */
static void trim(struct text *t)
{
    while (t->length && t->data[t->length - 1] == ' ')
        t->data[--t->length] = '\0';
}

static void show_line(struct compiler *c, struct span span, int line,
                      const char *colour)
{
    struct layout l = {0};
    size_t first, last;

    find_line(span.source, span.begin, &first, &last);
    lay_out(&l, span.source, first, last, span);
    if (l.caret > MAX_COLUMNS - 20) { /* far to the right of a long line */
        text_free(&l.line);
        text_free(&l.marks);
        l.from = l.caret - MAX_COLUMNS / 2;
        lay_out(&l, span.source, first, last, span);
    }
    trim(&l.line);
    trim(&l.marks);
    fprintf(c->messages, "%5d |%s%s\n", line, l.line.length ? " " : "",
            l.line.length ? l.line.data : "");
    fprintf(c->messages, "      | %s%s%s\n", colour,
            l.marks.data ? l.marks.data : "", c->colour ? "\033[0m" : "");
    text_free(&l.line);
    text_free(&l.marks);
}

__attribute__((format(printf, 4, 0))) static void
message(struct compiler *c, enum severity severity, struct span span,
        const char *format, va_list args)
{
    const char *colour = c->colour ? severities[severity].colour : "";
    const char *plain = c->colour ? "\033[0m" : "";
    int line = 1, column = 1;

    if (c->tell) {
        struct text told = {0};
        text_vprintf(&told, format, args);
        c->tell(c->tell_context, (int)severity, span, told.data);
        text_free(&told);
        return;
    }
    span_position(span, &line, &column);
    if (span.source)
        fprintf(c->messages, "%s:%d:%d: ", span.source->path, line, column);
    else
        fputs("gbmc: ", c->messages);
    fprintf(c->messages, "%s%s:%s ", colour, severities[severity].label, plain);
    vfprintf(c->messages, format, args);
    fputc('\n', c->messages);
    if (span.source)
        show_line(c, span, line, colour);
}

void error_at(struct compiler *c, struct span span, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    message(c, ERROR, span, format, args);
    va_end(args);
    c->nerrors++;
}

void warning_at(struct compiler *c, struct span span, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    message(c, WARNING, span, format, args);
    va_end(args);
    c->nwarnings++;
}

void note_at(struct compiler *c, struct span span, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    message(c, NOTE, span, format, args);
    va_end(args);
}

/* ---- The nearest name --------------------------------------------------- */

enum { MAX_NAME = 48 };

static char lower(char ch)
{
    return ch >= 'A' && ch <= 'Z' ? (char)(ch - 'A' + 'a') : ch;
}

static int least(int a, int b) { return a < b ? a : b; }

/* Edits that turn a into b: insertion, deletion, substitution and swap of two
 * neighbours (the restricted Damerau-Levenshtein distance, Wagner and Fischer
 * 1974), letters' case apart. Both at most MAX_NAME long. */
static int edit_distance(const char *a, int na, const char *b, int nb)
{
    int rows[3][MAX_NAME + 1];

    for (int j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *row = rows[i % 3], *up = rows[(i + 2) % 3];
        const int *upup = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = least(least(up[j], row[j - 1]) + 1, up[j - 1] + !same);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = least(row[j], upup[j - 2] + 1);
        }
    }
    return rows[na % 3][nb];
}

const char *text_nearest_name(const char *name, const char *const *candidates,
                              int ncandidates)
{
    size_t length = strlen(name);
    /* One slip in a short name, more in a long one; of one or two letters
     * nothing can be said but their case. */
    int best = length <= 2 ? 1 : length <= 5 ? 2 : length <= 8 ? 3 : 4;
    const char *nearest = NULL;

    if (length > MAX_NAME)
        return NULL;
    for (int i = 0; i < ncandidates; i++) {
        size_t n = strlen(candidates[i]);
        int d;
        if (n > MAX_NAME || strcmp(name, candidates[i]) == 0)
            continue;
        d = edit_distance(name, (int)length, candidates[i], (int)n);
        if (d < best) {
            best = d;
            nearest = candidates[i];
        }
    }
    return nearest;
}
