/* status.h: how runtime functions report failure. The function that fails
 * writes one message, without a newline, into the caller's `error`; callers
 * pass the status up and keep the first message. */
#ifndef GBM_STATUS_H
#define GBM_STATUS_H

enum gbm_status {
    GBM_OK = 0,
    GBM_USER_ERROR = 1, /* the user's mistake: files, options, values */
    GBM_FAILURE = 2     /* the machine's: memory, disk, driver */
};

/* Bytes of every `char error[GBM_ERROR]`. Messages are cut, never overrun. */
#define GBM_ERROR 1024

#endif
