/* polya_gamma_nodes.h: few gammas in the place of Polya-Gamma's infinite sum:
 * see polya_gamma.h. */
#ifndef GBM_POLYA_GAMMA_NODES_H
#define GBM_POLYA_GAMMA_NODES_H

#include "real.h"

/* shift + the sum of gammas of n times these shapes, whose rates are to have
 * c^2 = z^2 / (4 pi^2) added; that over 2 pi^2 is PG(n, z). The first ones are
 * terms of the sum: shape 1, rate (k - 1/2)^2. */
#define GBM_PG_NODES 8
struct gbm_pg_nodes {
    int count;
    real shift, shape[GBM_PG_NODES], rate[GBM_PG_NODES];
};

/* Exact to rounding where n >= 3 and z <= 10; for n >= 1 and z <= 20 off by
 * less than 1e-8. Cumulants are those at z = 10. */
#define GBM_PG_FAR_NODES 20
GBM_FN struct gbm_pg_nodes gbm_pg_many_nodes(void)
{
    const struct gbm_pg_nodes p = {
        8,
        REAL_C(0.029883358355904176334),
        {REAL_C(1.0000000000000036993), REAL_C(1.0000000000822714914),
         REAL_C(1.0000010320520374286), REAL_C(1.001046488896443042),
         REAL_C(1.0775170946485213377), REAL_C(1.740314487500520861),
         REAL_C(4.083229968762576695), REAL_C(16.655125229204034857)},
        {REAL_C(0.25000000000000047313), REAL_C(2.2500000000236316393),
         REAL_C(6.250000604221782643), REAL_C(12.251218859825952151),
         REAL_C(20.441064989136940954), REAL_C(34.209614904633180937),
         REAL_C(72.665027199093724461), REAL_C(282.35557787761608646)}};
    return p;
}

/* Off by less than 1e-9 where n >= 4 and z <= 4; for n >= 2 by 1e-7, which is
 * less than rounding in single precision. Cumulants are those at z = 3. */
#define GBM_PG_NEAR_NODES 4
#define GBM_PG_FEW_NODES (sizeof(real) == 4 ? 2 : 4)
GBM_FN struct gbm_pg_nodes gbm_pg_few_nodes(void)
{
    const struct gbm_pg_nodes p = {
        4,
        REAL_C(0.10712592963868363542),
        {REAL_C(1.0000000004067238233), REAL_C(1.00053015595020831),
         REAL_C(1.2065270543578404704), REAL_C(4.533290760699245453)},
        {REAL_C(0.25000000002003909773), REAL_C(2.2501616287154628927),
         REAL_C(6.4860847826579541341), REAL_C(23.010417270616769519)}};
    return p;
}

#endif
