/* node.c: the nodes of symbolic expressions, made once each and not simplified:
 * a hash table, the leaves, whether two are the same, lists. */
#include "algebra/inside.h"
#include <string.h>

/* ---- making ---- */

static unsigned hash_text(const char *s)
{
    unsigned h = 2166136261u;
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 16777619u;
    return h;
}

static bool commutes(enum sym_kind kind)
{
    return kind == SYM_ADD || kind == SYM_MUL;
}

/* Hashes depend on names and structure alone, never on addresses, so that the
 * compiler's output is reproducible. Sums and products hash regardless of
 * order. */
static void set_hash(struct sym *e)
{
    unsigned h = (unsigned)e->kind * 0x9e3779b9u;
    if (e->kind == SYM_NUM) {
        uint64_t bits;
        memcpy(&bits, &e->number, sizeof bits);
        h ^= (unsigned)(bits ^ bits >> 32) * 0x85ebca6bu;
    }
    if (e->kind == SYM_LOOP)
        h ^= hash_text(e->loop->name);
    if (e->var)
        h ^= hash_text(e->var->name) * 31u + (unsigned)e->dim;
    if (e->name)
        h ^= hash_text(e->name) * 17u;
    for (int i = 0; i < e->nargs; i++) {
        if (commutes(e->kind))
            h += e->args[i]->hash * 0xc2b2ae35u;
        else
            h = (h ^ e->args[i]->hash) * 16777619u + 13u;
    }
    e->hash = h ^ h >> 15;
}

/* The bit of a variable or a loop, never the target's. */
static uint64_t mark_of(const void *what)
{
    const uint64_t h = (uint64_t)(uintptr_t)what * 0x9e3779b97f4a7c15u;
    return (uint64_t)2 << (h >> 32) % 63;
}

static void set_marks(struct sym *e)
{
    e->marks = e->kind == SYM_TARGET ? 1 : 0;
    if (e->var)
        e->marks |= mark_of(e->var);
    if (e->kind == SYM_LOOP)
        e->marks |= mark_of(e->loop);
    for (int i = 0; i < e->nargs; i++)
        e->marks |= e->args[i]->marks;
}

bool sym_may_have(symp e, const void *what)
{
    return e->marks & (what ? mark_of(what) : 1);
}

/* Every node that was made, by its hash: an open table. What is built again is
 * the same node, so that many rewritten copies of an expression take the memory
 * of what differs in them. */
struct syms {
    symp *slots;
    size_t used, size; /* a power of 2, at least twice `used` */
};

static bool same_node(symp a, symp b)
{
    if (a->hash != b->hash || a->kind != b->kind || a->loop != b->loop ||
        memcmp(&a->number, &b->number, sizeof a->number) != 0 ||
        a->var != b->var || a->dim != b->dim || a->name != b->name ||
        a->entry != b->entry || a->nloops != b->nloops || a->nargs != b->nargs)
        return false;
    for (int i = 0; i < a->nloops; i++)
        if (a->loops[i] != b->loops[i])
            return false;
    for (int i = 0; i < a->nargs; i++)
        if (a->args[i] != b->args[i])
            return false;
    return true;
}

static uint64_t mix(uint64_t h, const void *p)
{
    h = (h ^ (uint64_t)(uintptr_t)p >> 4) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

/* Where to look for a node. Its hash, which orders terms and must be the same
 * in each run, knows loops and variables by name: nodes of as many of one name
 * have the same. This knows the nodes, loops and variables themselves. */
static uint64_t hash_by_parts(symp e)
{
    uint64_t h = mix(mix(e->hash, e->loop), e->var);
    for (int i = 0; i < e->nloops; i++)
        h = mix(h, e->loops[i]);
    for (int i = 0; i < e->nargs; i++)
        h = mix(h, e->args[i]);
    return h;
}

static symp *find_slot(const struct syms *all, symp e)
{
    size_t i = (size_t)hash_by_parts(e) & (all->size - 1);
    while (all->slots[i] && !same_node(all->slots[i], e))
        i = (i + 1) & (all->size - 1);
    return &all->slots[i];
}

static void grow_syms(struct compiler *c)
{
    if (!c->syms)
        c->syms = NEW(c, struct syms);
    struct syms old = *c->syms;
    c->syms->size = old.size ? 2 * old.size : 1024;
    c->syms->slots = gbmc_alloc(c, c->syms->size * sizeof *c->syms->slots);
    for (size_t i = 0; i < old.size; i++)
        if (old.slots[i])
            *find_slot(c->syms, old.slots[i]) = old.slots[i];
}

symp sym_make(struct compiler *c, struct sym model, int nargs, const symp *args)
{
    if (!c->syms || 2 * (c->syms->used + 1) > c->syms->size)
        grow_syms(c);
    model.nargs = nargs;
    model.args = (symp *)(uintptr_t)args; /* until they are copied */
    set_hash(&model);
    symp *slot = find_slot(c->syms, &model);
    if (*slot)
        return *slot;
    struct sym *e = NEW(c, struct sym);
    *e = model;
    set_marks(e);
    e->args = NEW_ARRAY(c, symp, nargs);
    for (int i = 0; i < nargs; i++)
        e->args[i] = args[i];
    c->syms->used++;
    return *slot = e;
}

symp sym_num(struct compiler *c, double x)
{
    return sym_make(c, (struct sym){.kind = SYM_NUM, .number = x}, 0, NULL);
}

symp sym_loop(struct compiler *c, struct loop *loop)
{
    return sym_make(c, (struct sym){.kind = SYM_LOOP, .loop = loop}, 0, NULL);
}

symp sym_ref(struct compiler *c, struct var *v, int nargs, const symp *args)
{
    return sym_make(c, (struct sym){.kind = SYM_REF, .var = v}, nargs, args);
}

symp sym_seen(struct compiler *c, struct var *v, int nargs, const symp *args)
{
    return sym_make(c, (struct sym){.kind = SYM_SEEN, .var = v}, nargs, args);
}

symp sym_live(struct compiler *c, symp ref)
{
    return sym_make(c, (struct sym){.kind = SYM_LIVE, .var = ref->var},
                    ref->nargs, ref->args);
}

symp sym_extent(struct compiler *c, struct var *v, int dim)
{
    return sym_make(c, (struct sym){.kind = SYM_EXTENT, .var = v, .dim = dim},
                    0, NULL);
}

symp sym_target(struct compiler *c)
{
    return sym_make(c, (struct sym){.kind = SYM_TARGET}, 0, NULL);
}

symp sym_param(struct compiler *c, const char *name)
{
    return sym_make(c, (struct sym){.kind = SYM_PARAM, .name = name}, 0, NULL);
}

bool sym_is_list(symp e)
{
    return e->kind == SYM_CALL && !strcmp(e->name, SYM_LIST);
}

bool sym_is(symp e, double number)
{
    return e->kind == SYM_NUM && e->number == number;
}

/* ---- comparing ---- */

static bool same_args(symp a, symp b)
{
    if (a->nargs != b->nargs)
        return false;
    if (!commutes(a->kind)) {
        for (int i = 0; i < a->nargs; i++)
            if (!sym_same(a->args[i], b->args[i]))
                return false;
        return true;
    }
    /* multisets: equal terms were merged, so each may match only one */
    for (int i = 0; i < a->nargs; i++) {
        int j = 0;
        while (j < b->nargs && !sym_same(a->args[i], b->args[j]))
            j++;
        if (j == b->nargs)
            return false;
    }
    return true;
}

bool sym_same(symp a, symp b)
{
    if (a == b)
        return true;
    if (a->hash != b->hash || a->kind != b->kind || a->number != b->number ||
        a->loop != b->loop || a->var != b->var || a->dim != b->dim ||
        a->name != b->name || a->nloops != b->nloops)
        return false;
    for (int i = 0; i < a->nloops; i++)
        if (a->loops[i] != b->loops[i])
            return false;
    return same_args(a, b);
}

bool sym_is_call(struct compiler *c, symp e, const char *name)
{
    return e->kind == SYM_CALL && e->name == intern(c, name);
}

/* ---- lists ---- */

void sym_list_push(struct compiler *c, struct list *l, symp e)
{
    if (l->n == l->capacity) {
        int capacity = l->capacity ? 2 * l->capacity : 8;
        symp *at = scratch_alloc(c, (size_t)capacity * sizeof *at);
        for (int i = 0; i < l->n; i++)
            at[i] = l->at[i];
        l->at = at;
        l->capacity = capacity;
    }
    l->at[l->n++] = e;
}

void sym_flatten(struct compiler *c, enum sym_kind kind, struct list *out,
                 int n, const symp *args)
{
    for (int i = 0; i < n; i++) {
        if (args[i]->kind == kind)
            sym_flatten(c, kind, out, args[i]->nargs, args[i]->args);
        else
            sym_list_push(c, out, args[i]);
    }
}
