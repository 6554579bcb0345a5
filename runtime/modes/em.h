/* em.h: what both kinds of iterations of EM share: sweeps, and climbs by
 * gradients. */
#ifndef GBM_EM_H
#define GBM_EM_H

#include "modes/expectation.h"
#include "modes/mode.h"

/* Converged: what an iteration gains, of the log density. */
#define RT_EM_GAIN 1e-11

/* em_sweeps.c. Iterations from the starts as they are, on the device that is
 * asked for; leaves the best free numbers and the trace of each climb, whose
 * state may be at others. */
enum gbm_status rt_em_sweeps(struct rt_mode *m, const struct rt_sites *sites,
                             struct rt_expectation *expectations);

#endif
