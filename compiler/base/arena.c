/* arena.c: memory that lives until the compilation ends. */
#include "base/base.h"

#include <stdlib.h>

/* Blocks are chained; the newest is filled from its start. */
struct block {
    struct block *next;
    size_t used, size;
    max_align_t data[];
};
struct arena {
    struct block *blocks;
    struct block *scratch; /* the newest is filled; released in their order */
};

enum { BLOCK_BYTES = 1 << 16 };

/* Nothing can be saved without memory, so this is where gbmc gives up. */
static _Noreturn void out_of_memory(void)
{
    fputs("gbmc: error: out of memory\n", stderr);
    exit(2);
}

struct arena *arena_create(void)
{
    struct arena *a = calloc(1, sizeof *a);

    if (!a)
        out_of_memory();
    return a;
}

/* Frees blocks down to `last`. */
static void free_blocks(struct block **blocks, const struct block *last)
{
    while (*blocks != last) {
        struct block *next = (*blocks)->next;
        free(*blocks);
        *blocks = next;
    }
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    free_blocks(&a->blocks, NULL);
    free_blocks(&a->scratch, NULL);
    free(a);
}

static size_t aligned(size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        out_of_memory();
    return (bytes + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    struct block *b = a->blocks;
    char *result;

    bytes = aligned(bytes);
    if (!b || bytes > b->size - b->used) {
        size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        b = calloc(1, sizeof *b + size);
        if (!b)
            out_of_memory();
        b->size = size;
        if (size > BLOCK_BYTES && a->blocks) { /* keep filling the old one */
            b->next = a->blocks->next;
            a->blocks->next = b;
        } else {
            b->next = a->blocks;
            a->blocks = b;
        }
    }
    result = (char *)b->data + b->used;
    b->used += bytes;
    return result;
}

void *gbmc_alloc(struct compiler *c, size_t bytes)
{
    return arena_alloc(c->arena, bytes);
}

void *scratch_alloc(struct compiler *c, size_t bytes)
{
    struct arena *a = c->arena;
    struct block *b = a->scratch;

    bytes = aligned(bytes);
    if (!b || bytes > b->size - b->used) {
        size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        b = malloc(sizeof *b + size);
        if (!b)
            out_of_memory();
        *b = (struct block){.next = a->scratch, .size = size};
        a->scratch = b;
    }
    char *result = (char *)b->data + b->used;
    b->used += bytes;
    return result;
}

struct scratch_mark scratch_mark(const struct compiler *c)
{
    struct block *b = c->arena->scratch;
    return (struct scratch_mark){b, b ? b->used : 0};
}

void scratch_release(struct compiler *c, struct scratch_mark mark)
{
    struct arena *a = c->arena;
    free_blocks(&a->scratch, mark.block);
    if (a->scratch)
        a->scratch->used = mark.used;
}
