/* self_check_time.c: how much time the self-check may take: a share of what
 * warm-up will, of which moves have a part and draws what these leave. By this
 * thread's own clock, too, as others may have had the core in between. */
#include "check/self_check.h"

#include <math.h>

#define SHARE 0.4 /* of the moves */

/* Seconds that the clock says have gone by between two looks at it. */
static double look_time(void)
{
    double least = INFINITY;
    for (int i = 0; i < 4; i++) {
        const double now = rt_clock();
        least = fmin(least, rt_clock() - now);
    }
    return least;
}

void self_check_begin(struct self_check *s)
{
    s->began = rt_clock();
    s->own = rt_thread_clock();
    s->share = SELF_CHECK_SECONDS;
    s->look = look_time();
    self_check_allow(s, SELF_CHECK_SECONDS);
}

void self_check_pause(struct self_check *s)
{
    s->spent = rt_clock() - s->began;
}

void self_check_go_on(struct self_check *s)
{
    s->began = rt_clock() - s->spent;
    s->own = rt_thread_clock() - s->spent;
}

double self_check_left(const struct self_check *s)
{
    return s->deadline - rt_clock();
}

void self_check_allow(struct self_check *s, double seconds)
{
    s->limit = s->deadline = rt_clock() + seconds;
    s->out_of_time = false;
}

/* What is left of a part of its share. */
static double rest(const struct self_check *s, double part)
{
    return fmin(part * s->share - (rt_thread_clock() - s->own),
                s->began + SELF_CHECK_SECONDS - rt_clock());
}

double self_check_rest(const struct self_check *s) { return rest(s, 1); }

void self_check_share(struct self_check *s)
{
    const struct rt_options *o = &s->rt->options;
    const double chains = ceil(o->chains / (double)s->rt->threads);
    const double share = SELF_CHECK_SHARE * s->swept * o->warmup * chains;
    s->share = fmin(s->share, fmax(share, SELF_CHECK_LEAST));
    s->deadline = s->began + SHARE * s->share;
}

void self_check_moves_on(struct self_check *s)
{
    if (self_check_left(s) < 0)
        s->deadline = rt_clock() + rest(s, SHARE);
}
