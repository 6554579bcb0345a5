/* output.c: files that appear whole or not at all, and fast text. */
#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum gbm_status rt_write_failure(const char *path, int code, char *error)
{
    snprintf(error, GBM_ERROR, "%.600s: cannot write: %s", path,
             strerror(code));
    return code == ENOSPC || code == EDQUOT || code == EFBIG || code == EIO ||
                   code == ENOMEM
               ? GBM_FAILURE
               : GBM_USER_ERROR;
}

enum gbm_status rt_target_set(struct rt_target *target, const char *path,
                              char *error)
{
    struct stat info;
    char real[PATH_MAX];

    *target = (struct rt_target){0};
    if (path[0] == '\0')
        return rt_write_failure("''", ENOENT, error);
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return rt_write_failure(path, EISDIR, error);
        target->direct = !S_ISREG(info.st_mode);
        if (!target->direct && access(path, W_OK) != 0)
            return rt_write_failure(path, errno, error);
        /* through a symbolic link to the file itself */
        if (!target->direct && realpath(path, real))
            path = real;
    }
    if (strlen(path) > RT_PATH - 32)
        return rt_write_failure("the output file", ENAMETOOLONG, error);
    snprintf(target->path, sizeof target->path, "%s", path);
    if (target->direct)
        snprintf(target->temporary, sizeof target->temporary, "%s", path);
    else
        snprintf(target->temporary, sizeof target->temporary, "%.*s.%ld.tmp",
                 RT_PATH - 32, path, (long)getpid());
    return GBM_OK;
}

enum gbm_status rt_target_commit(const struct rt_target *target, char *error)
{
    enum gbm_status status;

    if (target->direct || rename(target->temporary, target->path) == 0)
        return GBM_OK;
    status = rt_write_failure(target->path, errno, error);
    rt_target_discard(target);
    return status;
}

void rt_target_discard(const struct rt_target *target)
{
    if (!target->direct)
        unlink(target->temporary);
}

static int open_target(const struct rt_target *target)
{
    int flags = O_WRONLY | O_CLOEXEC;

    if (!target->direct)
        flags |= O_CREAT | O_TRUNC;
    return open(target->temporary, flags, 0666);
}

enum gbm_status rt_target_try(const char *path, char *error)
{
    struct rt_target target;
    enum gbm_status status = rt_target_set(&target, path, error);
    int fd;

    if (status || target.direct)
        return status;
    fd = open_target(&target);
    if (fd < 0)
        return rt_write_failure(path, errno, error);
    close(fd);
    rt_target_discard(&target);
    return GBM_OK;
}

/* ---- text */

enum { DIGITS = 8 };

enum gbm_status rt_out_open(struct rt_out *out, const char *path, char *error)
{
    enum gbm_status status = rt_target_set(&out->target, path, error);

    out->used = 0;
    out->failure = 0;
    out->digits = 0;
    if (status)
        return status;
    out->fd = open_target(&out->target);
    return out->fd < 0 ? rt_write_failure(path, errno, error) : GBM_OK;
}

static void flush(struct rt_out *out)
{
    size_t done = 0;

    while (done < out->used && !out->failure) {
        ssize_t n = write(out->fd, out->buffer + done, out->used - done);

        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            out->failure = errno;
    }
    out->used = 0;
}

static char *room(struct rt_out *out, size_t bytes)
{
    if (out->used + bytes > sizeof out->buffer)
        flush(out);
    return out->buffer + out->used;
}

void rt_out_text(struct rt_out *out, const char *text)
{
    size_t n = strlen(text);

    while (n > 0) {
        size_t part = n < 4096 ? n : 4096;

        memcpy(room(out, part), text, part);
        out->used += part;
        text += part;
        n -= part;
    }
}

void rt_out_format(struct rt_out *out, const char *format, ...)
{
    char line[2 * GBM_ERROR];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    rt_out_text(out, line);
}

void rt_out_integer(struct rt_out *out, int64_t x)
{
    char digits[24], *at = digits + sizeof digits;
    uint64_t rest = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    size_t n;

    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (x < 0)
        *--at = '-';
    n = (size_t)(digits + sizeof digits - at);
    memcpy(room(out, n), at, n);
    out->used += n;
}

void rt_out_number(struct rt_out *out, double x, const char *nan)
{
    if (isnan(x)) {
        rt_out_text(out, nan);
    } else {
        char *at = room(out, 32), *end;

        if (out->digits && out->digits != DIGITS)
            end = at + snprintf(at, 32, "%.*g", out->digits, x);
        else
            end = rt_format_number(at, x);
        out->used += (size_t)(end - at);
    }
}

enum gbm_status rt_out_close(struct rt_out *out, bool keep, char *error)
{
    if (keep)
        flush(out);
    if (close(out->fd) != 0 && !out->failure)
        out->failure = errno;
    if (keep && !out->failure)
        return rt_target_commit(&out->target, error);
    rt_target_discard(&out->target);
    return out->failure
               ? rt_write_failure(out->target.path, out->failure, error)
               : GBM_OK;
}

/* ---- numbers: printf would take longer than sampling */

/* Writes `digits` (DIGITS of them, the first not 0) times 10^exponent, where
 * the decimal point follows the first digit. */
static char *put_decimal(char *at, uint32_t digits, int exponent)
{
    char d[DIGITS];
    int n = DIGITS;

    for (int i = DIGITS - 1; i >= 0; i--) {
        d[i] = (char)('0' + digits % 10);
        digits /= 10;
    }
    while (n > 1 && d[n - 1] == '0')
        n--;
    if (exponent < -4 || exponent >= DIGITS) {
        *at++ = d[0];
        if (n > 1)
            *at++ = '.';
        for (int i = 1; i < n; i++)
            *at++ = d[i];
        *at++ = 'e';
        *at++ = exponent < 0 ? '-' : '+';
        exponent = abs(exponent);
        *at++ = (char)('0' + exponent / 10);
        *at++ = (char)('0' + exponent % 10);
        return at;
    }
    if (exponent < 0) {
        *at++ = '0';
        *at++ = '.';
        for (int i = -1; i > exponent; i--)
            *at++ = '0';
        for (int i = 0; i < n; i++)
            *at++ = d[i];
        return at;
    }
    for (int i = 0; i < n || i <= exponent; i++) {
        if (i == exponent + 1)
            *at++ = '.';
        *at++ = i < n ? d[i] : '0';
    }
    return at;
}

char *rt_format_number(char *at, double x)
{
    static const double power[] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double size = fabs(x), scaled;
    int exponent, shift;
    uint32_t digits;

    if (x == 0) {
        *at++ = '0';
        return at;
    }
    /* powers of ten outside this range are not exact */
    if (!(size >= 1e-14 && size < 1e22))
        return at + snprintf(at, 32, "%.8g", x);
    if (x < 0)
        *at++ = '-';
    /* floor(log10), from the binary exponent: low by at most one */
    frexp(size, &shift);
    exponent = (int)floor((shift - 1) * 0.30102999566398120);
    if (exponent + 1 <= 22 &&
        (exponent + 1 >= 0 ? size >= power[exponent + 1]
                           : size * power[-exponent - 1] >= 1))
        exponent++;
    shift = DIGITS - 1 - exponent;
    scaled = shift >= 0 ? size * power[shift] : size / power[-shift];
    digits = (uint32_t)(scaled + 0.5);
    if (digits >= 100000000) {
        digits /= 10;
        exponent++;
    } else if (digits < 10000000) { /* scaled was just below 10^7 */
        digits = 10000000;
    }
    return put_decimal(at, digits, exponent);
}
