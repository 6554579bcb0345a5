/* proposal.h: an element's draw from its full conditional with the log density
 * of that draw, all of it, as a move that proposes several draws asks for. Each
 * is a function
 *     real propose_NAME(s, rng, team, element, from)
 * which draws or, where `from` is not NULL, puts what stands there, and
 *     int keep_NAME(s, element, to)
 * which writes the element to `to` and returns the number of its cells. The
 * step has no sums that are had before, and NAME of its own. */
#ifndef GBMC_SAMPLER_PROPOSAL_H
#define GBMC_SAMPLER_PROPOSAL_H

#include "sampler/group.h"

/* ---- proposal.c ---- */
/* Whether s has such a draw. */
bool sampler_has_proposal(const struct step *s);
/* s as it is with `name`, its rows gone through at each draw. NULL: they cannot
 * be. */
struct step *sampler_proposal_of(struct compiler *c, const struct step *s,
                                 const char *name);
/* The parts of s but its own prior, as they are. */
struct part *sampler_proposal_rows(struct compiler *c, const struct step *s);
void sampler_emit_proposal(struct compiler *c, struct text *out,
                           const struct step *s);

/* ---- proposal_open.c ---- */
/* The beginnings of the two functions. */
void sampler_open_proposal(struct emitter *e, const struct step *s);
void sampler_open_keep(struct emitter *e, const struct step *s);

/* ---- direct.c, gaussian.c, vector.c ---- */
bool sampler_direct_proposes(const struct step *s);
bool sampler_gaussian_proposes(const struct step *s);
bool sampler_vector_proposes(const struct step *s);
void sampler_emit_direct_proposal(struct compiler *c, struct text *out,
                                  const struct step *s);
void sampler_emit_gaussian_proposal(struct compiler *c, struct text *out,
                                    const struct step *s);
void sampler_emit_vector_proposal(struct compiler *c, struct text *out,
                                  const struct step *s);

#endif
