/* csv.c: tables of numbers. Fields are separated by commas, tabs, semicolons or
 * blanks, as the first line shows; it is a header if no field of it is a value.
 * Where semicolons do, numbers may have a decimal comma (R's write.csv2), all
 * of them or none. Empty fields and NA are missing. A column of text (row
 * names) is left out, with a note, unless some of it are numbers: then a slip
 * of the pen made text of the others. */
#include "io/reader.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct field {
    const char *at, *end; /* without quotes and blanks */
    bool quoted;
};

struct column {
    char *name;  /* NULL: none */
    bool text;   /* left out */
    bool known;  /* some value is not missing */
    bool unused; /* the model has no such name: it may be text anywhere */
    struct rt_values values;
};

struct table {
    char separator; /* ' ': any run of blanks */
    char decimal;   /* ',' or '.', as some number has it; 0: none has any */
    int ncolumns;
    struct column *columns;
    int64_t nrows;
    bool header;
    const char *start;
};

static bool digit(char c) { return c >= '0' && c <= '9'; }

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Takes the next field of the line that ends at `line_end`; *last says that the
 * line ends with it. Leaves t->at after the separator. */
static enum gbm_status next_field(struct rt_text *t, const char *line_end,
                                  char separator, struct field *field,
                                  bool *last)
{
    const char *p = t->at;

    while (p < line_end && blank(*p) && (*p != separator || separator == ' '))
        p++;
    if (p < line_end && *p == '"') {
        const char *close = memchr(p + 1, '"', (size_t)(line_end - p - 1));

        if (!close)
            return rt_fail_at(t, p, "the quote is not closed on this line");
        *field = (struct field){p + 1, close, true};
        p = close + 1;
        while (p < line_end && blank(*p) && *p != separator)
            p++;
        if (p < line_end && *p != separator)
            return rt_fail_at(t, p, "text after the closing quote");
    } else {
        field->quoted = false;
        field->at = p;
        while (p < line_end && *p != separator &&
               !(separator == ' ' && blank(*p)))
            p++;
        field->end = p;
        while (field->end > field->at && blank(field->end[-1]))
            field->end--;
    }
    if (separator == ' ') {
        while (p < line_end && blank(*p))
            p++;
        *last = p == line_end;
    } else {
        *last = p == line_end;
        p += !*last;
    }
    t->at = p;
    return GBM_OK;
}

static bool field_is(const struct field *f, const char *word)
{
    size_t n = strlen(word);

    return (size_t)(f->end - f->at) == n && memcmp(f->at, word, n) == 0;
}

static const char *find_in(const struct field *f, char c)
{
    return memchr(f->at, c, (size_t)(f->end - f->at));
}

/* Reads a number that has a decimal comma; false if it is none. */
static bool parse_comma(const struct field *f, double *value)
{
    char text[64], *comma;
    size_t n = (size_t)(f->end - f->at);

    if (n >= sizeof text || find_in(f, '.'))
        return false;
    memcpy(text, f->at, n);
    text[n] = '\0';
    comma = memchr(text, ',', n);
    if (!comma)
        return false;
    *comma = '.';
    return rt_parse_number(text, text + n, value) == text + n;
}

static bool parse_number(const struct field *f, char separator, double *value)
{
    return rt_parse_number(f->at, f->end, value) == f->end ||
           (separator == ';' && parse_comma(f, value));
}

/* The value of a field; false if it is text. */
static bool parse_field(const struct field *f, char separator, double *value,
                        bool *missing)
{
    static const struct {
        const char *text;
        double value;
        bool missing;
    } words[] = {
        {"", 0, true},
        {"NA", 0, true},
        {"null", 0, true},
        {"NaN", (double)NAN, false},
        {"nan", (double)NAN, false},
        {"Inf", (double)INFINITY, false},
        {"inf", (double)INFINITY, false},
        {"-Inf", (double)-INFINITY, false},
        {"-inf", (double)-INFINITY, false},
        {"TRUE", 1, false},
        {"True", 1, false},
        {"true", 1, false},
        {"FALSE", 0, false},
        {"False", 0, false},
        {"false", 0, false},
    };

    *missing = false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (field_is(f, words[i].text)) {
            *value = words[i].value;
            *missing = words[i].missing;
            return true;
        }
    return parse_number(f, separator, value);
}

/* Goes to the next line that has something on it; its end, or NULL. */
static const char *next_line(struct rt_text *t)
{
    while (t->at < t->end) {
        const char *end = memchr(t->at, '\n', (size_t)(t->end - t->at)), *p;

        if (!end)
            end = t->end;
        for (p = t->at; p < end && blank(*p);)
            p++;
        if (p < end && *p != '#')
            return end;
        t->at = end < t->end ? end + 1 : end;
    }
    return NULL;
}

/* Semicolons separate where no comma is outside quotes but within numbers. */
static char find_separator(const char *at, const char *end)
{
    bool comma = false, inner = false, tab = false, semicolon = false;
    bool quoted = false;

    for (const char *p = at; p < end; p++) {
        quoted = quoted != (*p == '"');
        if (quoted)
            continue;
        if (*p == ',' && p > at && digit(p[-1]) && p + 1 < end && digit(p[1]))
            inner = true;
        else
            comma = comma || *p == ',';
        tab = tab || *p == '\t';
        semicolon = semicolon || *p == ';';
    }
    if (comma || (inner && !semicolon))
        return ',';
    return tab ? '\t' : semicolon ? ';' : ' ';
}

static enum gbm_status add_column(struct rt_text *t, struct table *table,
                                  const struct field *f)
{
    struct column *columns = realloc(
        table->columns, ((size_t)table->ncolumns + 1) * sizeof *table->columns);

    if (!columns)
        return rt_no_memory(t->error);
    table->columns = columns;
    columns[table->ncolumns] =
        (struct column){.name = strndup(f->at, (size_t)(f->end - f->at))};
    if (!columns[table->ncolumns++].name)
        return rt_no_memory(t->error);
    return GBM_OK;
}

static int shown(const struct field *f)
{
    return (int)(f->end - f->at < 60 ? f->end - f->at : 60);
}

/* Text that was meant as a number: no name begins so. */
static bool begins_as_number(const struct field *f)
{
    const char *p = f->at;

    while (p < f->end && (*p == '+' || *p == '-' || *p == '.'))
        p++;
    return p < f->end && digit(*p);
}

/* `text` is the first field of the first line that is none of the values, of
 * which `values` stand there too. */
static enum gbm_status judge_first(struct rt_text *t, struct table *table,
                                   const struct field *text, int column,
                                   int values)
{
    if (!text->at)
        return GBM_OK;
    table->header = true;
    if (values > 0)
        return rt_fail_at(t, text->at,
                          "'%.*s' in column %d is not a number, and the line "
                          "is no header, as it has numbers",
                          shown(text), text->at, column);
    if (begins_as_number(text))
        return rt_fail_at(t, text->at,
                          "'%.*s' in column %d is neither a number nor a name",
                          shown(text), text->at, column);
    return GBM_OK;
}

/* Reads the first line: the columns, and whether it is a header. */
static enum gbm_status read_first(struct rt_text *t, struct table *table)
{
    const char *end = next_line(t), *start = t->at;
    struct field text = {0};
    int values = 0, column = 0;
    bool last = false;

    if (!end)
        return rt_fail(t, "the file has no values");
    table->separator = find_separator(t->at, end);
    while (!last) {
        struct field f;
        double value;
        bool missing;
        enum gbm_status status =
            next_field(t, end, table->separator, &f, &last);

        if (status == GBM_OK)
            status = add_column(t, table, &f);
        if (status)
            return status;
        if (parse_field(&f, table->separator, &value, &missing)) {
            values += f.end > f.at;
        } else if (!text.at ||
                   (begins_as_number(&f) && !begins_as_number(&text))) {
            text = f;
            column = table->ncolumns;
        }
    }
    enum gbm_status status = judge_first(t, table, &text, column, values);
    if (status)
        return status;
    t->at = table->header ? (end < t->end ? end + 1 : end) : start;
    return GBM_OK;
}

/* A table's numbers have one kind of decimal mark. */
static enum gbm_status check_decimal(struct rt_text *t, struct table *table,
                                     int number, const struct field *f)
{
    char decimal = find_in(f, ',') ? ',' : find_in(f, '.') ? '.' : 0;

    if (decimal && table->decimal && decimal != table->decimal)
        return rt_fail_at(t, f->at,
                          "'%.*s' in column %d has a decimal %s, and a number "
                          "before it a decimal %s",
                          shown(f), f->at, number,
                          decimal == ',' ? "comma" : "point",
                          decimal == ',' ? "point" : "comma");
    if (decimal)
        table->decimal = decimal;
    return GBM_OK;
}

static enum gbm_status read_cell(struct rt_text *t, struct table *table,
                                 struct column *column, int number,
                                 const struct field *f)
{
    double value = 0;
    bool missing = false;

    if (column->text && !column->unused && !f->quoted && f->end > f->at &&
        parse_number(f, table->separator, &value))
        return rt_fail_at(t, f->at,
                          "'%.*s' in column %d, %.100s is a number where the "
                          "first row has text",
                          shown(f), f->at, number, column->name);
    if (column->text)
        return GBM_OK;
    if (!parse_field(f, table->separator, &value, &missing)) {
        if (!column->unused && parse_comma(f, &value))
            return rt_fail_at(
                t, f->at,
                "'%.*s' in column %d%s%.100s has a decimal comma, "
                "which is read in tables that semicolons separate",
                shown(f), f->at, number, table->header ? ", " : "",
                table->header ? column->name : "");
        if (table->header && (!column->known || column->unused)) {
            column->text = true;
            return GBM_OK;
        }
        return rt_fail_at(t, f->at,
                          "'%.*s' in column %d%s%.100s is not a "
                          "number",
                          shown(f), f->at, number, table->header ? ", " : "",
                          table->header ? column->name : "");
    }
    if (!missing && !column->unused) {
        enum gbm_status status = check_decimal(t, table, number, f);
        if (status)
            return status;
    }
    column->known = column->known || !missing;
    return rt_push(&column->values, value, missing, t->error);
}

static enum gbm_status read_rows(struct rt_text *t, struct table *table)
{
    const char *end;

    while ((end = next_line(t))) {
        bool last = false;
        int n = 0;

        for (; !last; n++) {
            struct field f;
            enum gbm_status status =
                next_field(t, end, table->separator, &f, &last);

            if (status == GBM_OK && n == table->ncolumns)
                status =
                    rt_fail_at(t, f.at, "more fields than the first line's %d",
                               table->ncolumns);
            if (status == GBM_OK)
                status = read_cell(t, table, &table->columns[n], n + 1, &f);
            if (status)
                return status;
        }
        if (n < table->ncolumns)
            return rt_fail_at(t, end, "%d fields where the first line has %d",
                              n, table->ncolumns);
        if (table->nrows++ == INT_MAX)
            return rt_fail(t, "too many rows");
        t->at = end < t->end ? end + 1 : end;
    }
    return GBM_OK;
}

/* NAME=FILE: all columns of numbers as one matrix, or a vector. */
static enum gbm_status add_matrix(struct gbm_data *data, struct rt_text *t,
                                  struct table *table, const char *name)
{
    struct rt_values all = {0};
    int used = 0, dim[2];
    enum gbm_status status = GBM_OK;

    for (int c = 0; c < table->ncolumns; c++)
        used += !table->columns[c].text;
    for (int64_t i = 0; i < table->nrows; i++)
        for (int c = 0; c < table->ncolumns && status == GBM_OK; c++) {
            const struct rt_values *v = &table->columns[c].values;

            if (!table->columns[c].text)
                status = rt_push(&all, v->values[i],
                                 v->missing && v->missing[i], t->error);
        }
    dim[0] = (int)table->nrows;
    dim[1] = used;
    if (status == GBM_OK)
        status = rt_data_add(data, t, NULL, name, used == 1 ? 1 : 2, dim, &all,
                             false);
    rt_values_free(&all);
    return status;
}

static enum gbm_status add_columns(struct gbm_data *data, struct rt_text *t,
                                   struct table *table)
{
    enum gbm_status status = GBM_OK;
    int dim = (int)table->nrows;

    if (!table->header)
        return rt_fail(t,
                       "the first line has no names: give a header line, "
                       "or NAME=%.400s for one array",
                       t->path);
    for (int c = 0; c < table->ncolumns && status == GBM_OK; c++) {
        struct column *column = &table->columns[c];

        if (column->text)
            continue;
        if (column->name[0] == '\0')
            status = rt_note(data, t, "column %d has no name and is left out",
                             c + 1);
        else
            status = rt_data_add(data, t, NULL, column->name, 1, &dim,
                                 &column->values, false);
    }
    return status;
}

static enum gbm_status note_text(struct gbm_data *data, struct rt_text *t,
                                 const struct table *table)
{
    enum gbm_status status = GBM_OK;

    for (int c = 0; c < table->ncolumns && status == GBM_OK; c++)
        if (table->columns[c].text)
            status = rt_note(
                data, t, "column %d (%.100s) has text and is left out", c + 1,
                table->columns[c].name[0] ? table->columns[c].name
                                          : "row names");
    return status;
}

enum gbm_status rt_read_csv(struct gbm_data *data, struct rt_text *t,
                            const char *name)
{
    struct table table = {0};
    enum gbm_status status = read_first(t, &table);

    for (int c = 0; c < table.ncolumns; c++)
        table.columns[c].unused =
            !name && !rt_uses(data, table.columns[c].name);
    if (status == GBM_OK)
        status = read_rows(t, &table);
    if (status == GBM_OK)
        status = note_text(data, t, &table);
    if (status == GBM_OK)
        status = name ? add_matrix(data, t, &table, name)
                      : add_columns(data, t, &table);
    for (int c = 0; c < table.ncolumns; c++) {
        free(table.columns[c].name);
        rt_values_free(&table.columns[c].values);
    }
    free(table.columns);
    return status;
}
