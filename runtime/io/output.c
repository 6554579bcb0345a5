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

/* The file that a symbolic link to none yet stands for, written to `end`; path
 * if it is no link, NULL if links lead nowhere. */
static const char *end_of_links(const char *path, char end[PATH_MAX])
{
    enum { MOST = 40 }; /* as many as Linux follows */
    char link[PATH_MAX], here[PATH_MAX];
    ssize_t length;
    int n = snprintf(end, PATH_MAX, "%s", path);

    for (int i = 0; i < MOST && n < PATH_MAX; i++) {
        if ((length = readlink(end, link, sizeof link - 1)) < 0)
            return i > 0 ? end : path;
        link[length] = '\0';
        memcpy(here, end, sizeof here);
        const char *slash = strrchr(here, '/');
        int folder = slash && link[0] != '/' ? (int)(slash - here) + 1 : 0;
        n = snprintf(end, PATH_MAX, "%.*s%s", folder, here, link);
    }
    return NULL;
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
    } else {
        const char *end = end_of_links(path, real);
        if (!end)
            return rt_write_failure(path, ELOOP, error);
        path = end;
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

void rt_out_char(struct rt_out *out, char c)
{
    *room(out, 1) = c;
    out->used++;
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
        char *at = room(out, RT_NUMBER);

        out->used += (size_t)(rt_format_number(
                                  at, x, out->digits ? out->digits : DIGITS) -
                              at);
    }
}

void rt_out_json_number(struct rt_out *out, const char *key, double x)
{
    rt_out_text(out, key);
    if (!isfinite(x))
        rt_out_text(out, "null");
    else
        rt_out_format(out, "%.10g", x);
}

/* Names from a model need no escapes; those from another program's file may. */
void rt_out_json_string(struct rt_out *out, const char *text)
{
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            rt_out_format(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            rt_out_format(out, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            rt_out_char(out, *text);
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

/* ---- numbers, byte for byte as printf's %.*g has them, at a tenth of its
 * time: scaled to an integer of the digits wanted, in exact arithmetic, so ties
 * are known as such. What is too large or small for that goes to printf. ----
 */

typedef unsigned __int128 wide;

/* The powers of five that 64 bits hold. */
enum { POWERS = 28 };
/* clang-format off */
static const uint64_t five[POWERS] = {
    1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125,
    244140625, 1220703125, 6103515625, 30517578125, 152587890625, 762939453125,
    3814697265625, 19073486328125, 95367431640625, 476837158203125,
    2384185791015625, 11920928955078125, 59604644775390625, 298023223876953125,
    1490116119384765625, 7450580596923828125};
/* clang-format on */

static uint64_t power_of_ten(int n) { return five[n] << n; }

/* A number without its fraction, and what that is. */
enum fraction { NONE, BELOW_HALF, HALF, ABOVE_HALF };

struct scaled {
    uint64_t whole;
    enum fraction fraction;
};

static enum fraction compare(wide rest, wide half)
{
    if (rest == 0)
        return NONE;
    return rest < half ? BELOW_HALF : rest == half ? HALF : ABOVE_HALF;
}

/* mantissa 2^e 10^shift, if that is at least 1 and below 10^18. */
static struct scaled scale(uint64_t mantissa, int e, int shift)
{
    wide x = mantissa, by;

    e += shift; /* of 10^shift a power of five is left */
    if (shift < 0) {
        by = (wide)five[-shift] << (e < 0 ? -e : 0);
        x <<= e > 0 ? e : 0;
        return (struct scaled){(uint64_t)(x / by), compare(2 * (x % by), by)};
    }
    x *= five[shift];
    if (e >= 0)
        return (struct scaled){(uint64_t)(x << e), NONE};
    by = (wide)1 << -e;
    return (struct scaled){(uint64_t)(x >> -e), compare(x & (by - 1), by >> 1)};
}

static void drop_digit(struct scaled *s)
{
    uint64_t last = s->whole % 10;
    bool more = s->fraction != NONE;

    s->whole /= 10;
    if (last > 5 || (last == 5 && more))
        s->fraction = ABOVE_HALF;
    else if (last == 5)
        s->fraction = HALF;
    else if (last > 0 || more)
        s->fraction = BELOW_HALF;
}

/* Copies have one length: there is room for more digits than there are. */
enum { MOST_DIGITS = 17, ROOM = 2 * MOST_DIGITS };

static void put_eight(char *at, uint32_t x)
{
    static const char pairs[] =
        "0001020304050607080910111213141516171819202122232425262728293031323334"
        "3536373839404142434445464748495051525354555657585960616263646566676869"
        "707172737475767778798081828384858687888990919293949596979899";
    uint32_t high = x / 10000, low = x % 10000;

    memcpy(at, pairs + 2 * (high / 100), 2);
    memcpy(at + 2, pairs + 2 * (high % 100), 2);
    memcpy(at + 4, pairs + 2 * (low / 100), 2);
    memcpy(at + 6, pairs + 2 * (low % 100), 2);
}

/* The digits of x, which has `count`. */
static void put_digits(char at[ROOM], uint64_t x, int count)
{
    if (count <= 8) {
        put_eight(at, (uint32_t)(x * power_of_ten(8 - count)));
        return;
    }
    x *= power_of_ten(MOST_DIGITS - count);
    *at = (char)('0' + x / power_of_ten(MOST_DIGITS - 1));
    x %= power_of_ten(MOST_DIGITS - 1);
    put_eight(at + 1, (uint32_t)(x / power_of_ten(8)));
    put_eight(at + 9, (uint32_t)(x % power_of_ten(8)));
}

/* The point follows the first digit times 10^exponent; `n` digits, the last not
 * 0, are followed by zeros. */
static char *put_decimal(char *at, const char digits[ROOM], int n, int exponent,
                         int count)
{
    if (exponent < -4 || exponent >= count) {
        *at = digits[0];
        at[1] = '.';
        memcpy(at + 2, digits + 1, MOST_DIGITS);
        at += n > 1 ? n + 1 : 1;
        *at++ = 'e';
        *at++ = exponent < 0 ? '-' : '+';
        exponent = abs(exponent);
        *at++ = (char)('0' + exponent / 10);
        *at++ = (char)('0' + exponent % 10);
        return at;
    }
    if (exponent < 0) {
        memcpy(at, "0.000", 5);
        memcpy(at + 1 - exponent, digits, MOST_DIGITS);
        return at + 1 - exponent + n;
    }
    memcpy(at, digits, MOST_DIGITS);
    if (n <= exponent + 1)
        return at + exponent + 1;
    at[exponent + 1] = '.';
    memcpy(at + exponent + 2, digits + exponent + 1, MOST_DIGITS);
    return at + n + 1;
}

char *rt_format_number(char at[RT_NUMBER], double x, int count)
{
    char digits[ROOM];
    uint64_t bits;
    struct scaled s;
    int e, exponent, shift, n = count;

    if (x == 0) {
        *at = '0';
        return at + 1;
    }
    memcpy(&bits, &x, sizeof bits);
    e = (int)(bits >> 52 & 0x7ff) - 1023;
    /* floor(log10 x), or one less: 78913 / 2^18 is log10 2 */
    exponent = e * 78913 >> 18;
    shift = count - 1 - exponent;
    if (shift <= -POWERS || shift >= POWERS)
        return at + snprintf(at, RT_NUMBER, "%.*g", count, x);
    s = scale((bits & 0xfffffffffffff) | (uint64_t)1 << 52, e - 52, shift);
    if (s.whole >= power_of_ten(count)) {
        drop_digit(&s);
        exponent++;
    }
    if (s.fraction == ABOVE_HALF || (s.fraction == HALF && s.whole % 2 == 1))
        s.whole++;
    if (s.whole == power_of_ten(count)) {
        s.whole /= 10;
        exponent++;
    }
    memset(digits, '0', sizeof digits);
    put_digits(digits, s.whole, count);
    while (digits[n - 1] == '0')
        n--;
    *at = '-';
    return put_decimal(at + (x < 0), digits, n, exponent, count);
}
