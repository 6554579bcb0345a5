/* block.h: what the files that emit joint draws share. */
#ifndef GBMC_EMIT_BLOCK_H
#define GBMC_EMIT_BLOCK_H

#include "emit/emit.h"

/* The loop indices of `element`, for all members. */
void open_element(struct emitter *e, const struct step *s);
/* cell_ for parts found through an inverse index of a member's variable. */
void emit_index_cell(struct emitter *e, const struct step *s,
                     const struct part *p);
/* n0, at0, ..., d: numbers and places of the members' coordinates. */
void emit_layout(struct emitter *e, const struct step *s);
/* Opens the loops over the coordinates of member i, shared out among the lanes
 * if asked; *place: the coordinate's number. Returns the braces to close. */
int open_index(struct emitter *e, const struct indices *index, int i,
               bool shared, const char **place);
/* One line for every coordinate: @ in format is its place, $ its cell (or
 * whether that is observed). */
void emit_each(struct emitter *e, const struct step *s, const char *format,
               bool seen, bool shared);
/* dimension_, get_ and set_: the block's coordinates for the self-check. */
void emit_block_access(struct compiler *c, struct text *out,
                       const struct step *s);
/* assemble_: precision Q [d][d] and potential b [d] of the quadratics. */
void emit_assemble(struct compiler *c, struct text *out, const struct step *s);

#endif
