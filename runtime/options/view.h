/* view.h: what a person asks to see of a summary. */
#ifndef GBM_VIEW_H
#define GBM_VIEW_H

#include "rt.h"
#include "summary/summary.h"

/* On a bad value the message is in rt. */
enum gbm_status rt_parse_quantiles(struct rt *rt, const char *text);
enum gbm_status rt_parse_hdi(struct rt *rt, const char *text);
enum gbm_status rt_parse_sort(struct rt *rt, const char *text);

struct gbm_view rt_view(const struct rt_options *options);

#endif
