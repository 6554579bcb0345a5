/* roll_run.c: which things of one shape one of their numbers counts, so that
 * the others follow from it or are a list. */
#include "model/roll.h"
#include <stdlib.h>
#include <string.h>

double model_number_at(const struct alike *a, int hole)
{
    return a->shape.holes[hole].number;
}

static bool is_whole(double x)
{
    return x >= -1e9 && x <= 1e9 && x == (double)(long)x;
}

/* What hole h is in terms of the counter, by the first two of a run. */
static struct follows begin_following(const struct run *r, int h)
{
    double x = model_number_at(&r->first[0], r->counter);
    double a = model_number_at(&r->first[0], h),
           b = model_number_at(&r->first[1], h);
    double slope = b - a;
    struct follows f = {false, slope, a - slope * x};
    f.listed = (a < b || a > b) && !(is_whole(a) && is_whole(b));
    return f;
}

static bool may_be_listed(const struct run *r, int h)
{
    const struct hole *hole = &r->first->shape.holes[h];
    if (!hole->subscript)
        return true;
    return r->by_lists &&
           (r->first->shape.nrelations ? hole->relation < 0 : hole->given);
}

/* Whether another may join the run, as its last. */
static bool joins(struct run *r, const struct alike *a)
{
    double x = model_number_at(a, r->counter);
    const struct shape *s = &r->first->shape;
    if (x - model_number_at(a - 1, r->counter) != 1)
        return false;
    for (int h = 0; h < s->n; h++) {
        struct follows *f = &r->follows[h];
        bool fits = model_number_at(a, h) == f->slope * x + f->intercept;
        if (!fits && !may_be_listed(r, h))
            return false;
        f->listed = f->listed || !fits;
    }
    return true;
}

/* Every relation of a statement has a left side of its own in each turn. */
static bool tells_apart(const struct run *r)
{
    const struct shape *s = &r->first->shape;
    for (int k = 0; k < s->nrelations; k++) {
        bool moves = false;
        for (int h = 0; h < s->n; h++)
            moves = moves ||
                    (s->holes[h].relation == k && r->follows[h].slope != 0);
        if (!moves)
            return false;
    }
    return true;
}

static struct run run_from(struct compiler *c, const struct alike *first, int n,
                           int counter, bool by_lists)
{
    int nholes = first->shape.n;
    struct run r = {first, 1, counter, by_lists, NULL};
    if (n < ALIKE_LEAST || !is_whole(model_number_at(first, counter)))
        return r;
    r.follows = NEW_ARRAY(c, struct follows, nholes);
    for (int h = 0; h < nholes; h++) {
        r.follows[h] = begin_following(&r, h);
        if (r.follows[h].listed && !may_be_listed(&r, h))
            return r;
    }
    while (r.n < n && joins(&r, &first[r.n]))
        r.n++;
    if (r.n >= ALIKE_LEAST && !tells_apart(&r))
        r.n = 1;
    return r;
}

/* The longest run that begins at `first` of n things. Subscripts that follow
 * from the index tell more than a list; in a sum a list would hide which term
 * an element enters, if the array is not given. */
static struct run longest_run(struct compiler *c, const struct alike *first,
                              int n, int counter)
{
    struct run r = run_from(c, first, n, counter, false);
    if (r.n < ALIKE_LEAST)
        r = run_from(c, first, n, counter, true);
    return r;
}

/* An order in which runs by hole `counter` are in a row: by the other holes on
 * the left, then by it. */
static int compare_by_holes(const void *a, const void *b, void *at)
{
    const struct alike *x = a, *y = b;
    const int counter = *(const int *)at;
    for (int pass = 0; pass < 2; pass++)
        for (int h = 0; h < x->shape.n; h++) {
            const struct hole *hole = &x->shape.holes[h];
            bool now =
                pass ? h == counter : h != counter && hole->relation >= 0;
            double u = model_number_at(x, h), v = model_number_at(y, h);
            if (now && (u < v || u > v))
                return u < v ? -1 : 1;
        }
    return x->place - y->place;
}

static struct partition partition_by(struct compiler *c, struct alike *a, int n,
                                     int counter)
{
    struct partition p = {.runs = NEW_ARRAY(c, struct run, n / ALIKE_LEAST)};
    qsort_r(a, (size_t)n, sizeof *a, compare_by_holes, &counter);
    for (int i = 0; i < n;) {
        struct run r = longest_run(c, a + i, n - i, counter);
        i += r.n;
        if (r.n < ALIKE_LEAST)
            continue;
        p.runs[p.nruns++] = r;
        p.covered += r.n;
    }
    return p;
}

/* By the counter that takes together most of them, in the fewest runs. */
struct partition model_best_partition(struct compiler *c,
                                      const struct alike *alike, int n)
{
    struct partition best = {0};
    const struct shape *s = &alike->shape;
    for (int h = 0; h < s->n; h++) {
        if (!s->holes[h].subscript ||
            (s->nrelations && s->holes[h].relation != 0))
            continue;
        struct alike *a = NEW_ARRAY(c, struct alike, n);
        memcpy(a, alike, (size_t)n * sizeof *a);
        struct partition p = partition_by(c, a, n, h);
        if (p.covered > best.covered ||
            (p.covered == best.covered && p.nruns < best.nruns))
            best = p;
    }
    return best;
}
