/* warnings.c: what is wrong with draws, in plain words. */
#include "summary/rows.h"

#include <math.h>
#include <string.h>

enum { NAMED = 5 }; /* names that a warning shows */

static const double enough_ess = 400, good_rhat = 1.01;

/* Rows that share a fault, and the worst of them. */
struct fault {
    int64_t count;
    int named;
    struct {
        char name[256];
        double badness;
    } worst[NAMED];
};

static void add_fault(struct fault *fault, const char *name, double badness)
{
    int at = fault->named;

    fault->count++;
    while (at > 0 && fault->worst[at - 1].badness < badness) {
        if (at < NAMED)
            fault->worst[at] = fault->worst[at - 1];
        at--;
    }
    if (at == NAMED)
        return;
    snprintf(fault->worst[at].name, sizeof fault->worst[at].name, "%s", name);
    fault->worst[at].badness = badness;
    if (fault->named < NAMED)
        fault->named++;
}

static void print_names(FILE *out, const struct fault *fault)
{
    for (int i = 0; i < fault->named; i++)
        fprintf(out, "%s%s", i ? ", " : "", fault->worst[i].name);
    if (fault->count > fault->named)
        fprintf(out, ", ...");
}

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

static const char *more_of(const struct gbm_draws *draws)
{
    return draws->more ? draws->more : "--draws";
}

/* Decimals with which an R-hat beyond the good one is seen to be so. */
static int decimals_of(double rhat)
{
    return rhat > good_rhat && rhat < good_rhat + 0.0005 ? 5 : 3;
}

static void warn_rhat(FILE *out, const struct fault *fault, bool modes,
                      const struct gbm_draws *draws)
{
    if (fault->count == 0)
        return;
    fprintf(out, "Warning: R-hat is above %.2f for %lld quantit%s (", good_rhat,
            (long long)fault->count, fault->count == 1 ? "y" : "ies");
    print_names(out, fault);
    fprintf(out,
            "; largest %.*f).\n  The chains do not agree yet, so do not use "
            "these numbers. ",
            decimals_of(fault->worst[0].badness), fault->worst[0].badness);
    if (modes)
        fprintf(out, "Chains\n  are in different modes: see below.\n");
    else if (draws->tempered)
        fprintf(out, "More\n  %s may help.\n", more_of(draws));
    else
        fprintf(out,
                "Run longer\n  (--warmup, --draws). If that does not help, the "
                "posterior may have several modes\n  (try --method tempering) "
                "or the parameters may be confounded: look at the traces of\n"
                "  those above.\n");
}

static void warn_ess(FILE *out, const struct fault *fault,
                     const struct gbm_draws *draws)
{
    double least, wanted;

    if (fault->count == 0)
        return;
    least = 1 / fault->worst[0].badness;
    wanted = draws->kept * enough_ess / (least > 1 ? least : 1);
    fprintf(out,
            "Warning: the effective sample size is below %g for %lld "
            "quantit%s (",
            enough_ess, (long long)fault->count,
            fault->count == 1 ? "y" : "ies");
    print_names(out, fault);
    fprintf(out,
            "; smallest %.0f).\n  Their means and quantiles are not precise. "
            "About %s %.0f would do.\n",
            least, more_of(draws), 100 * ceil(1.2 * wanted / 100));
}

static void print_chains(FILE *out, const struct gbm_modes *m, int g)
{
    const char *before = "";
    for (int c = 0; c < m->chains; c++)
        if (m->group[c] == g) {
            fprintf(out, "%s%d", before, c + 1);
            before = ", ";
        }
}

/* The name of a drawn cell. */
static void cell_name(const struct gbm_draws *draws, int64_t cell, char *name,
                      size_t capacity)
{
    for (int i = 0; i < draws->nvariables; i++) {
        const struct gbm_draws_variable *v = &draws->variables[i];
        int64_t at = cell - v->offset;
        if (at >= 0 && at < v->count)
            gbm_cell_label(&draws->coords, v->name, v->ndim, v->dim,
                           v->cells ? v->cells[at] : at, name, capacity);
    }
}

static void warn_modes(FILE *out, const struct gbm_modes *m,
                       const struct gbm_draws *draws)
{
    char name[256] = "";
    if (m->count < 2)
        return;
    cell_name(draws, m->cell, name, sizeof name);
    for (int g = 0; g < m->count; g++) {
        double higher = m->lp[g] - m->lp[m->main];
        if (g == m->main)
            continue;
        fprintf(out, "Warning: %d of %d chains (", m->size[g], m->chains);
        print_chains(out, m, g);
        fprintf(out, ") %s in another mode than chain%s ",
                m->size[g] == 1 ? "is" : "are",
                m->size[m->main] == 1 ? "" : "s");
        print_chains(out, m, m->main);
        if (isfinite(higher))
            fprintf(out, ", %.3g %s in log density", fabs(higher),
                    higher < 0 ? "lower" : "higher");
        fprintf(out, ":\n  %s is about %.4g there, %.4g here.\n", name,
                m->value[g], m->value[m->main]);
    }
    fprintf(out,
            "  How many chains are in a mode says nothing of its probability. "
            "Modes that differ in\n  names alone (of groups, of signs) need "
            "an order or a sign in the model; of others, those\n  whose log "
            "density is far lower may be left by other starts (--seed, "
            "--init).\n");
    if (!draws->tempered)
        fprintf(out, "  Try --method tempering, whose chains go from mode to "
                     "mode.\n");
}

/* ---- the verdict */

/* The least effective sample and the largest R-hat of all rows; NaN: there is
 * none. */
struct worst {
    double ess, rhat, per_second;
    char of_ess[256], of_rhat[256];
};

static struct worst find_worst(const struct gbm_summary *summary, bool labels)
{
    const double seconds = summary->draws->timing.sampling_s;
    struct worst w = {.ess = NAN, .rhat = NAN};
    struct gbm_rows at = {.summary = summary};
    struct gbm_row row;

    while (gbm_rows_next(&at, &row)) {
        double ess = gbm_least_ess(&row.d);
        const char *name = labels ? row.label : row.name;

        if (!isnan(ess) && !(ess >= w.ess)) {
            w.ess = ess;
            memcpy(w.of_ess, name, sizeof w.of_ess);
        }
        if (!isnan(row.d.rhat) && !(row.d.rhat <= w.rhat)) {
            w.rhat = row.d.rhat;
            memcpy(w.of_rhat, name, sizeof w.of_rhat);
        }
    }
    w.per_second = seconds > 0 ? w.ess / seconds : (double)NAN;
    return w;
}

/* 12,345 */
static void put_thousands(char out[32], double x)
{
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%.0f", x < 1e15 ? x : 1e15), k = 0;

    for (int i = 0; i < n; i++) {
        out[k++] = digits[i];
        if (i + 1 < n && (n - 1 - i) % 3 == 0)
            out[k++] = ',';
    }
    out[k] = '\0';
}

static void print_time(double seconds, FILE *out)
{
    if (!(seconds > 0))
        return;
    fprintf(out, "; sampling took ");
    if (seconds < 100)
        fprintf(out, "%.3g s", seconds);
    else if (seconds < 6000)
        fprintf(out, "%.0f min", seconds / 60);
    else
        fprintf(out, "%.1f h", seconds / 3600);
}

static void print_verdict(const struct gbm_summary *summary, FILE *out)
{
    const struct gbm_draws *draws = summary->draws;
    struct worst w = find_worst(summary, true);
    char number[32];

    if (isnan(w.ess) && isnan(w.rhat))
        return;
    fprintf(out, "%d chain%s", draws->chains, plural(draws->chains));
    if (draws->chains > 1 && !isnan(w.rhat))
        fprintf(out, " %s (largest R-hat %.*f, %s)",
                w.rhat > good_rhat ? "do not agree" : "agree",
                decimals_of(w.rhat), w.rhat, w.of_rhat);
    if (!isnan(w.ess)) {
        put_thousands(number, w.ess);
        fprintf(out, "; smallest ESS %s (%s)", number, w.of_ess);
    }
    if (w.per_second >= 10) {
        put_thousands(number, w.per_second);
        fprintf(out, ", %s a second", number);
    } else if (w.per_second > 0) {
        fprintf(out, ", %.2g a second", w.per_second);
    }
    print_time(draws->timing.sampling_s, out);
    fprintf(out, "\n");
}

void gbm_worst_write(const struct gbm_summary *summary, struct rt_out *out)
{
    struct worst w = find_worst(summary, false);

    rt_out_json_number(out, "  \"worst\": {\"ess\": ", w.ess);
    rt_out_text(out, ", \"ess_of\": \"");
    rt_out_json_string(out, w.of_ess);
    rt_out_json_number(out, "\", \"ess_per_s\": ", w.per_second);
    rt_out_json_number(out, ", \"rhat\": ", w.rhat);
    rt_out_text(out, ", \"rhat_of\": \"");
    rt_out_json_string(out, w.of_rhat);
    rt_out_text(out, "\"},\n");
}

void gbm_warnings_print(const struct gbm_summary *summary, FILE *out)
{
    const struct gbm_draws *draws = summary->draws;
    struct fault rhat = {0}, ess = {0}, constant = {0}, undefined = {0};
    struct gbm_rows at = {.summary = summary};
    struct gbm_row row;

    if (draws->unchecked)
        fprintf(out, "Warning: %s.\n", GBM_UNCHECKED);
    if (!draws->complete)
        fprintf(out,
                "Warning: the run was stopped early, after %d draw%s per "
                "chain. This is a part of it.\n",
                draws->kept, plural(draws->kept));
    while (gbm_rows_next(&at, &row)) {
        double least = gbm_least_ess(&row.d);

        if (isnan(row.d.mean))
            add_fault(&undefined, row.label, 0);
        else if (row.d.sd == 0)
            add_fault(&constant, row.label, 0);
        if (row.d.rhat > good_rhat)
            add_fault(&rhat, row.label, row.d.rhat);
        if (least < enough_ess)
            add_fault(&ess, row.label, 1 / least);
    }
    print_verdict(summary, out);
    if (draws->kept < 4) {
        fprintf(out, "Warning: too few draws for R-hat and ESS; at least 4 "
                     "per chain are needed, 1000 are usual.\n");
        return;
    }
    if (draws->chains == 1)
        fprintf(out, "Note: one chain cannot show that chains disagree; "
                     "--chains 4 can.\n");
    struct gbm_modes modes;
    gbm_find_modes(&modes, summary); /* no memory: none are shown */
    warn_rhat(out, &rhat, modes.count > 1, draws);
    warn_modes(out, &modes, draws);
    gbm_modes_free(&modes);
    warn_ess(out, &ess, draws);
    if (undefined.count > 0) {
        fprintf(out,
                "Warning: %lld quantit%s had a draw that is not a number (",
                (long long)undefined.count, undefined.count == 1 ? "y" : "ies");
        print_names(out, &undefined);
        fprintf(out, ").\n");
    }
    if (constant.count > 0) {
        fprintf(out, "Note: %lld quantit%s never changed (",
                (long long)constant.count, constant.count == 1 ? "y" : "ies");
        print_names(out, &constant);
        fprintf(out, "), so R-hat and ESS are not defined.\n");
    }
}
