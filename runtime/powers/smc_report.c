/* smc_report.c: what a sequential sampler says at the end: the evidence with
 * its error, what each turn of the data added to it, and whether moves were
 * enough. */
#include "powers/smc.h"

#include <math.h>
#include <stdlib.h>

/* Of the mean of the islands' evidences. */
static void evidence(const struct smc *t, double *value, double *se)
{
    double most = -(double)INFINITY, sum = 0, variance = 0;
    for (int k = 0; k < t->islands; k++)
        most = fmax(most, t->island[k].log_evidence);
    for (int k = 0; k < t->islands; k++) {
        double z = exp(t->island[k].log_evidence - most);
        sum += z;
        variance += z * z * t->island[k].variance;
    }
    *value = most + log(sum / t->islands);
    *se = sqrt(variance) / sum;
}

/* Of what enters with each turn given all before: by how much the evidence,
 * which is the mean of the islands' ones, grows. [turns] */
static void find_scores(const struct smc *t, double *score)
{
    double before = 0;
    for (int turn = 0; turn < t->turns.count; turn++) {
        double most = -(double)INFINITY, sum = 0;
        for (int k = 0; k < t->islands; k++) {
            double *own = t->score + k * t->turns.count;
            own[turn] += turn ? own[turn - 1] : 0; /* sums from here on */
            most = fmax(most, own[turn]);
        }
        for (int k = 0; k < t->islands; k++)
            sum += exp(t->score[k * t->turns.count + turn] - most);
        double so_far = most + log(sum / t->islands);
        score[turn] = so_far - before;
        before = so_far;
    }
}

static void report_scores(const struct rt_chains *r, struct smc *t, FILE *out,
                          FILE *json)
{
    const int count = t->turns.count;
    double *score = calloc((size_t)count, sizeof *score);
    double sum = 0;
    int lowest = 0;
    if (!score)
        return;
    find_scores(t, score);
    for (int k = 0; k < count; k++) {
        lowest = score[k] < score[lowest] ? k : lowest;
        sum += score[k];
    }
    fprintf(out,
            "predictive log scores by %s, of which the log evidence is the "
            "sum: mean %.4f,\n  lowest %.4f at %lld\n",
            r->rt->options.sequence, sum / count, score[lowest],
            (long long)t->turns.value[lowest]);
    fputs(",\n    \"turns\": [", json);
    for (int k = 0; k < count; k++)
        fprintf(json, "%s%lld", k ? ", " : "", (long long)t->turns.value[k]);
    fputs("],\n    \"log_scores\": [", json);
    for (int k = 0; k < count; k++)
        fprintf(json, "%s%.10g", k ? ", " : "", score[k]);
    fputs("]", json);
    free(score);
}

static void report_evidence(const struct rt_chains *r, const struct smc *t,
                            FILE *out, FILE *json)
{
    double value = (double)NAN, se = value;
    if (t->confined) {
        fprintf(out,
                "log evidence: not known. At none of %d draws from the prior "
                "are the data possible,\n  so particles began where chains "
                "do, and how much of the prior that stands for is not told.\n",
                t->particles);
        rt_put_evidence(json, &r->draws, value, se);
        return;
    }
    evidence(t, &value, &se);
    fprintf(out, "log evidence: %.4f, standard error %.2g; by island:", value,
            se);
    for (int k = 0; k < t->islands; k++)
        fprintf(out, " %.3f", t->island[k].log_evidence);
    fputc('\n', out);
    if (se > 0.5)
        fprintf(out, "Warning: few of the first particles have descendants; "
                     "the evidence is rough. Take\n  more --particles.\n");
    rt_put_evidence(json, &r->draws, value, se);
}

void rt_smc_report(struct rt_chains *r, FILE *out, FILE *json)
{
    struct smc *t = r->own;
    int steps = 0;
    for (int k = 0; k < t->islands; k++)
        steps = steps > t->island[k].steps ? steps : t->island[k].steps;
    fprintf(out, "smc: %d island%s of %d particles, %d steps, %u sweeps\n",
            t->islands, t->islands == 1 ? "" : "s", t->particles, steps,
            t->sweep);
    report_evidence(r, t, out, json);
    fprintf(json,
            ",\n  \"smc\": {\"particles\": %d, \"steps\": %d, \"sweeps\": "
            "%u",
            t->particles, steps, t->sweep);
    for (int k = 0; k < t->islands && !t->confined; k++)
        fprintf(json, "%s%.10g", k ? ", " : ",\n    \"log_evidence\": [",
                t->island[k].log_evidence);
    if (!t->confined)
        fprintf(json, "]");
    if (r->rt->options.sequence)
        report_scores(r, t, out, json);
    fprintf(json, "}");
    if (t->left > RT_SMC_CORRELATION)
        fprintf(out,
                "Warning: %d sweeps left log likelihoods correlated by %.2f "
                "with those before:\n  the sweep mixes slowly.\n",
                r->rt->options.moves ? r->rt->options.moves
                                     : RT_SMC_MOST_SWEEPS,
                t->left);
}
