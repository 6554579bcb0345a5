/* linked.c: the functions that programs have in common and that are not inlined
 * (GBM_FN_LINKED and GBM_FN_COMMON of real.h), and the function of
 * GBM_HOST_AHEAD: compiled once, as gbmc compiles programs, by gbmc --prepare.
 */
#define GBM_LINKED
#include "model.h"

#include "gbm.h"
#include "curved_block.h"
#include "marginal.h"
#include "ahead.h"

void gbm_draw_ahead_host(uint64_t seed, uint32_t chain, uint32_t sweep,
                         int ngroups, const struct gbm_places *places,
                         struct gbm_ahead *out)
{
    gbm_draw_ahead(seed, chain, sweep, ngroups, places, out);
}
