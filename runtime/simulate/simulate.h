/* simulate.h: draws forward, from the prior or from draws of a fit. */
#ifndef GBM_SIMULATE_H
#define GBM_SIMULATE_H

#include "start/start.h"

/* simulate.c. Draws all of a chain from the prior; (replicate, stream) names
 * the draw. Auxiliary nodes are left. */
void rt_simulate_chain(const struct rt *rt, const struct rt_instance *in,
                       const void *state, int chain, uint32_t replicate,
                       uint32_t stream);
/* The same of what is not observed alone. */
void rt_draw_latent(const struct rt *rt, const struct rt_instance *in,
                    const void *state, int chain, uint32_t replicate,
                    uint32_t stream);
/* An error if a distribution does not tell how to draw from it. */
enum gbm_status rt_check_draws(struct rt *rt, const struct rt_instance *in);
/* Reads the options' data and loads with observed nodes per chain, so that they
 * can be drawn anew; with `forget_seen` nothing counts as observed, nor as
 * known when the model was compiled. */
enum gbm_status rt_load_free(struct rt *rt, struct gbm_data *data,
                             struct rt_instance *in, bool forget_seen);

/* The commands; return the exit status. */
int rt_command_simulate(struct rt *rt);
int rt_command_geweke(struct rt *rt);
int rt_command_sbc(struct rt *rt);

/* Draws that are no numbers, as of dnorm with a negative precision, or of a
 * dpois whose mean is beyond every integer; the first one, by chain and draw.
 */
struct gbm_missing {
    int64_t n;
    int chain, draw;
    const struct gbm_family *family;
    bool integer;
    char name[256];
};
/* Counts those of a chain's state; the buffer is scratch. */
void rt_count_missing(struct gbm_missing *all, const struct rt_instance *in,
                      const void *state, int chain, int draw,
                      struct rt_cells *buffer);
/* The error that says where the first is, if there is any. */
void rt_report_missing(struct rt *rt, const struct gbm_missing *m);
/* The monitored cells of a chain become a draw. */
void rt_store_draw(const struct rt_instance *in, struct gbm_draws *draws,
                   int chain, int draw);
/* Monitors what --monitor asks for, or else the variables `wanted`
 * [nvariables], if there are any. */
enum gbm_status rt_monitor_those(struct rt *rt, struct rt_instance *in,
                                 const bool *wanted);

/* predict.c: --from. Where a cell's draws are in the fit's records, by its name
 * and its subscripts; -1: it has none there. */
int64_t rt_draws_place(const struct gbm_draws *fit,
                       const struct gbm_variable *variable,
                       const struct rt_slot *slot, int64_t cell);
/* Returns the exit status. */
int rt_predict(struct rt *rt);

#endif
