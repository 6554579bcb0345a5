/* minimum_degree.c: a fill-reducing order for the Cholesky factor of a sparse
 * symmetric matrix: approximate minimum degree on the quotient graph (Amestoy,
 * Davis and Duff 1996, An approximate minimum degree ordering algorithm, SIAM
 * J. Matrix Anal. Appl. 17(4)), with aggressive absorption, without
 * supervariables. Vertices of very high degree are set aside and come last, as
 * there. In rounds: by multiple elimination (Liu 1985, Modification of the
 * minimum-degree algorithm by multiple elimination, ACM TOMS 11(2)), with a
 * tolerance that lets the inside of a chain go with its ends. */
#include "load/minimum_degree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct list {
    int *items;
    int n, capacity;
};

struct ordering {
    int n;
    struct list *variables; /* of an uneliminated vertex: neighbours */
    struct list *elements;  /* ... and eliminated neighbours */
    struct list *members;   /* of an eliminated vertex: what it ties */
    int *degree, *head, *next, *previous;
    int *mark, stamp;
    int *outside; /* of an element: members outside the current one */
    int *outside_stamp;
    signed char *status; /* 0 alive, 1 element, 2 absorbed, 3 set aside */
    /* In rounds: members of this round's elements, which are on no list */
    bool in_rounds;
    struct list resting;
};

static int push(struct list *l, int item)
{
    if (l->n == l->capacity) {
        int capacity = l->capacity ? 2 * l->capacity : 4;
        int *items = realloc(l->items, (size_t)capacity * sizeof *items);
        if (!items)
            return 0;
        l->items = items;
        l->capacity = capacity;
    }
    l->items[l->n++] = item;
    return 1;
}

static void enlist(struct ordering *o, int i)
{
    int d = o->degree[i];
    o->previous[i] = -1;
    o->next[i] = o->head[d];
    if (o->head[d] >= 0)
        o->previous[o->head[d]] = i;
    o->head[d] = i;
}

static bool rests(const struct ordering *o, int i)
{
    return o->previous[i] == i;
}

static void delist(struct ordering *o, int i)
{
    if (rests(o, i))
        return;
    if (o->previous[i] >= 0)
        o->next[o->previous[i]] = o->next[i];
    else
        o->head[o->degree[i]] = o->next[i];
    if (o->next[i] >= 0)
        o->previous[o->next[i]] = o->previous[i];
}

/* The new element's members: neighbours of p and of its elements. */
static int gather_members(struct ordering *o, int p)
{
    struct list *out = &o->members[p];
    int stamp = ++o->stamp;
    o->mark[p] = stamp;
    for (int k = -1; k < o->elements[p].n; k++) {
        const struct list *from =
            k < 0 ? &o->variables[p] : &o->members[o->elements[p].items[k]];
        for (int i = 0; i < from->n; i++) {
            int v = from->items[i];
            if (o->status[v] != 0 || o->mark[v] == stamp)
                continue;
            o->mark[v] = stamp;
            if (!push(out, v))
                return 0;
        }
    }
    for (int k = 0; k < o->elements[p].n; k++) {
        int e = o->elements[p].items[k];
        o->status[e] = 2;
        free(o->members[e].items);
        o->members[e] = (struct list){0};
    }
    return 1;
}

/* outside[e] = members of element e that are not members of p. */
static void count_outside(struct ordering *o, int p)
{
    for (int k = 0; k < o->members[p].n; k++) {
        const struct list *elements = &o->elements[o->members[p].items[k]];
        for (int i = 0; i < elements->n; i++) {
            int e = elements->items[i];
            if (o->status[e] != 1)
                continue;
            if (o->outside_stamp[e] != o->stamp) {
                o->outside_stamp[e] = o->stamp;
                int alive = 0;
                for (int m = 0; m < o->members[e].n; m++)
                    if (o->status[o->members[e].items[m]] == 0)
                        o->members[e].items[alive++] = o->members[e].items[m];
                o->members[e].n = alive;
                o->outside[e] = alive;
            }
            o->outside[e]--;
        }
    }
}

/* Lists and degree of a member of the new element p. */
static int update_member(struct ordering *o, int p, int i, int left)
{
    int kept = 0;
    int64_t degree = o->members[p].n - 1;
    struct list *elements = &o->elements[i], *variables = &o->variables[i];
    for (int k = 0; k < elements->n; k++) {
        int e = elements->items[k];
        if (o->status[e] != 1)
            continue;
        if (o->outside[e] == 0) { /* inside p: absorbed */
            o->status[e] = 2;
            free(o->members[e].items);
            o->members[e] = (struct list){0};
            continue;
        }
        degree += o->outside[e];
        elements->items[kept++] = e;
    }
    elements->n = kept;
    kept = 0;
    for (int k = 0; k < variables->n; k++) {
        int v = variables->items[k];
        if (o->status[v] != 0 || o->mark[v] == o->stamp)
            continue;
        variables->items[kept++] = v;
    }
    variables->n = kept;
    degree += kept;
    delist(o, i);
    int64_t bound = (int64_t)o->degree[i] + o->members[p].n - 1;
    if (degree > bound)
        degree = bound;
    if (degree > left - 1)
        degree = left - 1;
    o->degree[i] = degree > 0 ? (int)degree : 0;
    if (!o->in_rounds)
        enlist(o, i);
    else if (!rests(o, i)) {
        o->previous[i] = i;
        if (!push(&o->resting, i))
            return 0;
    }
    return push(elements, p);
}

static int eliminate(struct ordering *o, int p, int left)
{
    delist(o, p);
    if (!gather_members(o, p))
        return 0;
    o->status[p] = 1;
    count_outside(o, p);
    for (int k = 0; k < o->members[p].n; k++)
        if (!update_member(o, p, o->members[p].items[k], left))
            return 0;
    free(o->variables[p].items);
    free(o->elements[p].items);
    o->variables[p] = o->elements[p] = (struct list){0};
    return 1;
}

static void free_lists(struct list *lists, int n)
{
    for (int i = 0; lists && i < n; i++)
        free(lists[i].items);
    free(lists);
}

static int set_aside(struct ordering *o, const int64_t *start, int *order)
{
    int last = o->n, limit = (int)(10 * sqrt((double)o->n));
    if (limit < 16)
        limit = 16;
    for (int i = o->n - 1; i >= 0; i--)
        if (start[i + 1] - start[i] > limit) {
            o->status[i] = 3;
            order[--last] = i;
        }
    return last;
}

/* One of the listed vertices of least degree. *smallest: none has less; *most:
 * of this round. */
static int take(struct ordering *o, int *smallest, int *most)
{
    while (*smallest < o->n && o->head[*smallest] < 0)
        ++*smallest;
    if (o->in_rounds && (*smallest == o->n || *smallest > *most)) {
        for (int i = o->resting.n - 1; i >= 0; i--)
            enlist(o, o->resting.items[i]);
        o->resting.n = 0;
        for (*smallest = 0; o->head[*smallest] < 0;)
            ++*smallest;
        *most = 2 * *smallest + 1;
    }
    return o->head[*smallest];
}

bool rt_minimum_degree(int n, const int64_t *start, const int *neighbour,
                       bool in_rounds, int *order)
{
    size_t size = (size_t)n + 1;
    struct ordering o = {.n = n, .in_rounds = in_rounds};
    bool ok = false;
    o.variables = calloc(size, sizeof *o.variables);
    o.elements = calloc(size, sizeof *o.elements);
    o.members = calloc(size, sizeof *o.members);
    o.degree = calloc(size, sizeof(int));
    o.head = malloc(size * sizeof(int));
    o.next = malloc(size * sizeof(int));
    o.previous = malloc(size * sizeof(int));
    o.mark = calloc(size, sizeof(int));
    o.outside = calloc(size, sizeof(int));
    o.outside_stamp = calloc(size, sizeof(int));
    o.status = calloc(size, 1);
    if (!o.variables || !o.elements || !o.members || !o.degree || !o.head ||
        !o.next || !o.previous || !o.mark || !o.outside || !o.outside_stamp ||
        !o.status)
        goto done;
    int last = set_aside(&o, start, order);
    for (int i = 0; i <= n; i++)
        o.head[i] = -1;
    for (int i = n - 1; i >= 0; i--) {
        if (o.status[i] != 0)
            continue;
        for (int64_t k = start[i]; k < start[i + 1]; k++)
            if (o.status[neighbour[k]] == 0 && neighbour[k] != i &&
                !push(&o.variables[i], neighbour[k]))
                goto done;
        o.degree[i] = o.variables[i].n;
        enlist(&o, i);
    }
    int smallest = 0, most = 0;
    for (int k = 0; k < last; k++) {
        int p = take(&o, &smallest, &most);
        order[k] = p;
        if (!eliminate(&o, p, last - k))
            goto done;
        /* a member of the last element may have fallen below */
        smallest = smallest > 0 && !in_rounds ? smallest - 1 : smallest;
        for (int i = 0; i < o.members[p].n && !in_rounds; i++)
            if (o.degree[o.members[p].items[i]] < smallest)
                smallest = o.degree[o.members[p].items[i]];
    }
    ok = true;
done:
    free_lists(o.variables, n);
    free_lists(o.elements, n);
    free_lists(o.members, n);
    free(o.resting.items);
    free(o.degree);
    free(o.head);
    free(o.next);
    free(o.previous);
    free(o.mark);
    free(o.outside);
    free(o.outside_stamp);
    free(o.status);
    return ok;
}
