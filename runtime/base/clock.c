/* clock.c: the time, and what it goes to before the first draw. */
#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double rt_clock(void) { return seconds(CLOCK_MONOTONIC); }

double rt_cpu_clock(void) { return seconds(CLOCK_PROCESS_CPUTIME_ID); }

double rt_thread_clock(void) { return seconds(CLOCK_THREAD_CPUTIME_ID); }

/* When the process began, by the clock; the kernel tells hundredths. */
static double start(void)
{
    char text[1024] = "";
    unsigned long long ticks = 0;
    FILE *file = fopen("/proc/self/stat", "r");
    if (!file)
        return 0;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    (void)fclose(file);
    /* the name, in brackets, may hold anything; the 20th word behind it */
    const char *at = strrchr(text, ')');
    for (int i = 0; at && i < 20; i++)
        at = strchr(at + 1, ' ');
    if (!at || sscanf(at, "%llu", &ticks) != 1)
        return 0;
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

void rt_clock_note(const char *format, ...)
{
    const char *wanted = getenv("GBM_TIMES");
    va_list words;
    if (!wanted || strcmp(wanted, "1") != 0)
        return;
    fprintf(stderr, "%7.3f s  ", seconds(CLOCK_BOOTTIME) - start());
    va_start(words, format);
    vfprintf(stderr, format, words);
    va_end(words);
    fputc('\n', stderr);
}
