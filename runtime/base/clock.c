/* clock.c: the time. */
#include "base/base.h"

#include <time.h>

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double rt_clock(void) { return seconds(CLOCK_MONOTONIC); }

double rt_cpu_clock(void) { return seconds(CLOCK_PROCESS_CPUTIME_ID); }
