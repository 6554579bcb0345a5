/* batch_table.c: the results of a batch: read from summaries, shown, kept. */
#include "command.h"
#include "batch.h"
#include "io/output.h"

#include <math.h>
#include <string.h>

/* ---- a summary ---- */

static void name_of(char name[64], const json_t *all, const char *group,
                    const char *key)
{
    const char *found =
        json_string_value(json_object_get(json_object_get(all, group), key));

    snprintf(name, 64, "%s", found ? found : "");
}

void figures_read(struct figures *f, const char *file)
{
    json_t *all = json_load_file(file, 0, NULL); /* NULL holds nothing */

    f->ess = summary_number(all, "worst", "ess");
    f->rhat = summary_number(all, "worst", "rhat");
    name_of(f->ess_of, all, "worst", "ess_of");
    name_of(f->rhat_of, all, "worst", "rhat_of");
    f->seconds = summary_number(all, "timing", "load_s") +
                 summary_number(all, "timing", "jit_s") +
                 summary_number(all, "timing", "warmup_s") +
                 summary_number(all, "timing", "sampling_s");
    f->evidence = summary_number(all, "log_evidence", "value");
    f->evidence_se = summary_number(all, "log_evidence", "se");
    f->loo = summary_number(all, "loo", "elpd");
    f->loo_se = summary_number(all, "loo", "se");
    json_decref(all);
}

/* ---- the table that is shown ---- */

enum {
    NAME,
    DONE,
    ESS,
    ESS_OF,
    RHAT,
    RHAT_OF,
    SECONDS,
    EVIDENCE,
    LOO,
    NCOLUMNS
};
enum { ROOM = 208 };
static const char *const heads[NCOLUMNS] = {
    "run", "",        "min ess",      "of",      "max rhat",
    "of",  "seconds", "log evidence", "elpd loo"};

static void put(char cell[ROOM], const char *format, double value)
{
    if (isnan(value))
        snprintf(cell, ROOM, "-");
    else
        snprintf(cell, ROOM, format, value); /* of this file: row_of */
}

static void put_with_se(char cell[ROOM], double value, double se)
{
    if (isnan(value))
        snprintf(cell, ROOM, "-");
    else if (isnan(se))
        snprintf(cell, ROOM, "%.2f", value);
    else
        snprintf(cell, ROOM, "%.2f (%.2f)", value, se);
}

static const char *state_of(const struct fit *fit)
{
    return fit->stopped       ? "stopped"
           : fit->status == 0 ? ""
           : fit->status < 0  ? "not run"
                              : "failed";
}

static void row_of(const struct fit *fit, char cells[NCOLUMNS][ROOM])
{
    const struct figures *f = &fit->figures;

    snprintf(cells[NAME], ROOM, "%s", fit->name);
    snprintf(cells[DONE], ROOM, "%s", state_of(fit));
    put(cells[ESS], "%.0f", f->ess);
    snprintf(cells[ESS_OF], ROOM, "%s", f->ess_of);
    put(cells[RHAT], "%.3f", f->rhat);
    snprintf(cells[RHAT_OF], ROOM, "%s", f->rhat_of);
    put(cells[SECONDS], "%.2f", f->seconds);
    put_with_se(cells[EVIDENCE], f->evidence, f->evidence_se);
    put_with_se(cells[LOO], f->loo, f->loo_se);
}

/* Texts stand to the left; a column that has nothing to say is left out. */
static void print_row(const char cells[NCOLUMNS][ROOM],
                      const int width[NCOLUMNS], FILE *out)
{
    char line[NCOLUMNS * (ROOM + 2)] = "";
    size_t n = 0;

    for (int c = 0; c < NCOLUMNS; c++) {
        bool left = c == NAME || c == DONE || c == ESS_OF || c == RHAT_OF;
        if (width[c])
            n += (size_t)snprintf(line + n, sizeof line - n, "%s%*s",
                                  c ? "  " : "", left ? -width[c] : width[c],
                                  cells[c]);
    }
    while (n && line[n - 1] == ' ')
        line[--n] = '\0';
    fprintf(out, "%s\n", line);
}

void table_print(const struct fit *fits, int nfits, FILE *out)
{
    char cells[NCOLUMNS][ROOM];
    int width[NCOLUMNS] = {0};

    for (int i = 0; i < nfits; i++) {
        row_of(&fits[i], cells);
        for (int c = 0; c < NCOLUMNS; c++) {
            int n = (int)strlen(cells[c]), head = (int)strlen(heads[c]);
            if (n == 0 || strcmp(cells[c], "-") == 0)
                continue;
            n = n > head ? n : head;
            width[c] = n > width[c] ? n : width[c];
        }
    }
    for (int c = 0; c < NCOLUMNS; c++)
        snprintf(cells[c], ROOM, "%s", heads[c]);
    print_row(cells, width, out);
    for (int i = 0; i < nfits; i++) {
        row_of(&fits[i], cells);
        print_row(cells, width, out);
    }
}

/* ---- the table that is kept ---- */

/* In quotes, those within doubled (RFC 4180). */
static void put_text(struct rt_out *out, const char *text)
{
    rt_out_char(out, '"');
    for (; text && *text; text++) {
        if (*text == '"')
            rt_out_char(out, '"');
        rt_out_char(out, *text);
    }
    rt_out_char(out, '"');
    rt_out_char(out, ',');
}

bool table_write(const struct fit *fits, int nfits, const char *file)
{
    char error[GBM_ERROR];
    struct rt_out out = {0};

    if (rt_out_open(&out, file, error) != GBM_OK)
        return complain("%s", error) == 0;
    rt_out_text(&out, "run,model,data,status,ess,ess_of,rhat,rhat_of,seconds,"
                      "log_evidence,log_evidence_se,elpd_loo,elpd_loo_se\n");
    for (int i = 0; i < nfits; i++) {
        const struct fit *fit = &fits[i];
        const struct figures *f = &fit->figures;
        const double last[] = {f->seconds, f->evidence, f->evidence_se, f->loo,
                               f->loo_se};
        put_text(&out, fit->name);
        put_text(&out, fit->model);
        put_text(&out, fit->data);
        put_text(&out, *state_of(fit) ? state_of(fit) : "done");
        rt_out_number(&out, f->ess, "");
        rt_out_char(&out, ',');
        put_text(&out, f->ess_of);
        rt_out_number(&out, f->rhat, "");
        rt_out_char(&out, ',');
        put_text(&out, f->rhat_of);
        for (int k = 0; k < 5; k++) {
            rt_out_number(&out, last[k], "");
            rt_out_char(&out, k < 4 ? ',' : '\n');
        }
    }
    return rt_out_close(&out, true, error) == GBM_OK ||
           complain("%s", error) == 0;
}
