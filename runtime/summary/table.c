/* table.c: the table of a summary. Large arrays have a line each below it, if
 * nobody asks for their rows. */
#include "summary/rows.h"
#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT = 24,
    DEFAULT_ROWS = 60,
    FOLDED = 30, /* arrays of more cells are */
    COLUMNS = 3 + GBM_QUANTILES + 2 + 3
};

/* ---- numbers */

/* Decimals that show `digits` significant digits of a number of this size. */
static int decimals_for(double size, int digits)
{
    int n;

    if (!(size > 0) || isinf(size))
        return 3;
    n = digits - 1 - (int)floor(log10(size));
    return n < 0 ? 0 : n;
}

static void put_number(char out[TEXT], double x, int decimals, int digits)
{
    if (isnan(x))
        snprintf(out, TEXT, "-");
    else if (fabs(x) >= 1e7 || decimals > digits + 4)
        snprintf(out, TEXT, "%.*g", digits, x);
    else
        snprintf(out, TEXT, "%.*f", decimals, x);
    /* -0.000 */
    if (out[0] == '-' && out[1] && strspn(out + 1, "0.") == strlen(out + 1))
        memmove(out, out + 1, strlen(out));
}

/* ---- columns */

static const double usual[] = {5, 50, 95};

/* The view with its defaults. */
static struct gbm_view full_view(const struct gbm_summary *summary)
{
    struct gbm_view view = summary->view;

    view.digits = view.digits ? view.digits : 3;
    if (view.rows == 0)
        view.rows = view.show ? -1 : DEFAULT_ROWS;
    if (view.nquantiles == 0) {
        view.nquantiles = 3;
        memcpy(view.quantiles, usual, sizeof usual);
    }
    return view;
}

static int column_count(const struct gbm_view *view)
{
    return 6 + gbm_view_intervals(view);
}

static void put_titles(const struct gbm_view *view, char cells[COLUMNS][TEXT])
{
    static const char *const first[] = {"mean", "sd", "mcse"}, *const last[] = {
                                                                   "ess_bulk",
                                                                   "ess_tail",
                                                                   "rhat"};
    int n = gbm_view_intervals(view);

    for (int k = 0; k < 3; k++) {
        snprintf(cells[k], TEXT, "%s", first[k]);
        snprintf(cells[3 + n + k], TEXT, "%s", last[k]);
    }
    for (int k = 0; k < n; k++)
        gbm_view_title(view, k, false, cells[3 + k]);
}

/* Quantiles that nobody asked for are those of the diagnosis. */
static double interval_of(const struct gbm_summary *summary,
                          const struct gbm_row *row, int k)
{
    const double own[] = {row->d.q5, row->d.q50, row->d.q95};
    int n = gbm_view_intervals(&summary->view);

    if (summary->view.nquantiles == 0 && k < 3)
        return own[k];
    k -= summary->view.nquantiles == 0 ? 3 : 0;
    return row->at < 0 ? (double)NAN : summary->intervals[row->at * n + k];
}

/* All numbers of a row share the decimals that its sd needs. */
static void format_row(const struct gbm_summary *summary,
                       const struct gbm_view *view, const struct gbm_row *row,
                       char cells[COLUMNS][TEXT])
{
    const struct gbm_diagnosis *d = &row->d;
    int n = gbm_view_intervals(view), digits = view->digits;
    int decimals = decimals_for(d->sd > 0 ? d->sd : fabs(d->mean), digits);

    put_number(cells[0], d->mean, decimals, digits);
    put_number(cells[1], d->sd, decimals, digits);
    put_number(cells[2], d->mcse,
               decimals_for(d->mcse, digits > 1 ? digits - 1 : 1), digits);
    for (int k = 0; k < n; k++)
        put_number(cells[3 + k], interval_of(summary, row, k), decimals,
                   digits);
    put_number(cells[3 + n], d->ess_bulk, 0, digits);
    put_number(cells[4 + n], d->ess_tail, 0, digits);
    put_number(cells[5 + n], d->rhat, 3, digits);
}

/* ---- which rows */

/* An array without rows of its own in the table. */
struct fold {
    const char *name;
    int64_t cells;
    double least_mean, largest_mean, least_sd, largest_sd, ess, rhat;
    char of_ess[256], of_rhat[256];
};

struct choice {
    const struct gbm_view *view;
    struct gbm_row *rows; /* [count] to be printed; room for twice view->rows */
    int64_t count, capacity, total; /* total: what there is to be printed */
    struct fold *folds;
    int nfolds;
    bool failed; /* no memory */
};

bool gbm_row_shown(const struct gbm_view *view, const struct gbm_row *row)
{
    return !view->show || rt_is_listed(view->show, "all") ||
           rt_is_listed(view->show, row->array) ||
           rt_is_listed(view->show, row->name) ||
           rt_is_listed(view->show, row->label);
}

static bool folded(const struct gbm_view *view, const struct gbm_row *row)
{
    return row->cells > FOLDED && !view->show && view->order <= GBM_BY_NAME;
}

static void add_fold(struct choice *c, const struct gbm_row *row)
{
    struct fold *f = c->nfolds ? &c->folds[c->nfolds - 1] : NULL;
    double ess = gbm_least_ess(&row->d);

    if (!f || f->name != row->array) {
        f = realloc(c->folds, ((size_t)c->nfolds + 1) * sizeof *f);
        c->failed = c->failed || !f;
        if (!f)
            return;
        c->folds = f;
        f += c->nfolds++;
        *f = (struct fold){row->array, 0, NAN, NAN, NAN, NAN, NAN, NAN, "", ""};
    }
    f->cells++;
    f->least_mean = fmin(f->least_mean, row->d.mean);
    f->largest_mean = fmax(f->largest_mean, row->d.mean);
    f->least_sd = fmin(f->least_sd, row->d.sd);
    f->largest_sd = fmax(f->largest_sd, row->d.sd);
    if (!isnan(ess) && !(ess >= f->ess)) {
        f->ess = ess;
        snprintf(f->of_ess, sizeof f->of_ess, "%s", row->label);
    }
    if (!isnan(row->d.rhat) && !(row->d.rhat <= f->rhat)) {
        f->rhat = row->d.rhat;
        snprintf(f->of_rhat, sizeof f->of_rhat, "%s", row->label);
    }
}

/* Worst first; what is not defined comes last. */
static int compare_numbers(double x, double y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

static int by_rhat(const void *a, const void *b)
{
    const struct gbm_row *x = a, *y = b;

    return compare_numbers(-x->d.rhat, -y->d.rhat);
}

static int by_ess(const void *a, const void *b)
{
    const struct gbm_row *x = a, *y = b;

    return compare_numbers(gbm_least_ess(&x->d), gbm_least_ess(&y->d));
}

static int by_name(const void *a, const void *b)
{
    const struct gbm_row *x = a, *y = b;

    return strverscmp(x->name, y->name);
}

/* Sorts what was chosen, and keeps as many as are wanted. */
static void sort_rows(struct choice *c)
{
    static int (*const orders[])(const void *,
                                 const void *) = {[GBM_BY_NAME] = by_name,
                                                  [GBM_BY_RHAT] = by_rhat,
                                                  [GBM_BY_ESS] = by_ess};

    if (c->view->order != GBM_BY_MODEL)
        qsort(c->rows, (size_t)c->count, sizeof *c->rows,
              orders[c->view->order]);
    if (c->view->rows >= 0 && c->count > c->view->rows)
        c->count = c->view->rows;
}

static void add_row(struct choice *c, const struct gbm_row *row)
{
    c->total++;
    if (c->view->rows >= 0 && c->count >= 2 * c->view->rows)
        sort_rows(c);
    if (c->count == c->capacity) {
        int64_t more = 2 * c->capacity + 64;
        void *rows = realloc(c->rows, (size_t)more * sizeof *c->rows);

        c->failed = c->failed || !rows;
        if (!rows)
            return;
        c->rows = rows;
        c->capacity = more;
    }
    c->rows[c->count++] = *row;
}

static void choose(struct choice *c, const struct gbm_summary *summary)
{
    struct gbm_rows at = {.summary = summary};
    struct gbm_row row;

    while (gbm_rows_next(&at, &row) && !c->failed) {
        if (!gbm_row_shown(c->view, &row))
            continue;
        if (folded(c->view, &row))
            add_fold(c, &row);
        else
            add_row(c, &row);
    }
    sort_rows(c);
}

/* ---- printing */

/* Characters of UTF-8. */
static int characters(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

static void print_line(FILE *out, const char *name, int name_width,
                       char cells[COLUMNS][TEXT], const int *width, int n)
{
    fprintf(out, "%s%*s", name, name_width - characters(name), "");
    for (int k = 0; k < n; k++)
        fprintf(out, "  %*s", width[k], cells[k]);
    fprintf(out, "\n");
}

static void print_rows(const struct gbm_summary *summary,
                       const struct choice *c, FILE *out)
{
    int n = column_count(c->view), width[COLUMNS] = {0}, name_width = 4;
    char cells[COLUMNS][TEXT];

    for (int64_t i = -1; i < c->count; i++) {
        int length = i < 0 ? 0 : characters(c->rows[i].label);

        if (i < 0)
            put_titles(c->view, cells);
        else
            format_row(summary, c->view, &c->rows[i], cells);
        name_width = length > name_width ? length : name_width;
        for (int k = 0; k < n; k++)
            if ((int)strlen(cells[k]) > width[k])
                width[k] = (int)strlen(cells[k]);
    }
    put_titles(c->view, cells);
    if (c->count > 0)
        print_line(out, "name", name_width, cells, width, n);
    for (int64_t i = 0; i < c->count; i++) {
        format_row(summary, c->view, &c->rows[i], cells);
        print_line(out, c->rows[i].label, name_width, cells, width, n);
    }
}

static void print_folds(const struct choice *c, FILE *out)
{
    for (int i = 0; i < c->nfolds; i++) {
        const struct fold *f = &c->folds[i];

        fprintf(out, "%s: %lld values, means %.3g to %.3g, sds %.3g to %.3g",
                f->name, (long long)f->cells, f->least_mean, f->largest_mean,
                f->least_sd, f->largest_sd);
        if (!isnan(f->ess))
            fprintf(out, ", smallest ESS %.0f (%s)", f->ess, f->of_ess);
        if (!isnan(f->rhat))
            fprintf(out, ", largest R-hat %.3f (%s)", f->rhat, f->of_rhat);
        fprintf(out, "\n");
    }
    if (c->nfolds > 0)
        fprintf(out, "(summary FILE --show %s%s has the rows.)\n",
                c->folds[0].name, c->nfolds > 1 ? ",..." : "");
}

void gbm_summary_print(const struct gbm_summary *summary, FILE *out)
{
    const struct gbm_draws *draws = summary->draws;
    const struct gbm_view view = full_view(summary);
    struct choice c = {.view = &view};

    choose(&c, summary);
    if (c.failed) {
        fprintf(out, "Note: no memory for the table.\n");
    } else {
        print_rows(summary, &c, out);
        print_folds(&c, out);
    }
    if (view.show && c.total == 0)
        fprintf(out, "Note: --show %s: there is nothing of this name.\n",
                view.show);
    if (c.total > c.count)
        fprintf(out,
                "... and %lld more row%s. --summary FILE.json writes all of "
                "them; the warnings\ncount all of them.\n",
                (long long)(c.total - c.count),
                c.total - c.count == 1 ? "" : "s");
    if (draws->aside && gbm_rows_of_moments(draws) > 0)
        fprintf(
            out,
            "Of %lld more, --summary FILE.json and --out FILE.nc have means, "
            "sds and R-hats.\n",
            (long long)gbm_rows_of_moments(draws));
    gbm_warnings_print(summary, out);
    free(c.rows);
    free(c.folds);
}
