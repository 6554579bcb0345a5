/* source.c: files in and out. */
#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Everything that a stream still holds, or false with errno set. */
static bool read_all(FILE *f, struct text *out)
{
    char part[1 << 14];
    size_t n;

    text_append(out, "");
    while ((n = fread(part, 1, sizeof part, f)) > 0)
        text_append_n(out, part, n);
    return !ferror(f);
}

const struct source *source_read(struct compiler *c, const char *path,
                                 struct span from)
{
    struct text content = {0};
    struct source *s;
    struct stat info;
    char *copy;
    FILE *f = fopen(path, "rb");
    bool ok = f && fstat(fileno(f), &info) == 0;

    if (ok && S_ISDIR(info.st_mode)) {
        ok = false;
        errno = EISDIR;
    }
    ok = ok && read_all(f, &content);
    if (!ok)
        error_at(c, from, "cannot read %s: %s", path, strerror(errno));
    if (f)
        fclose(f);
    if (!ok) {
        text_free(&content);
        return NULL;
    }
    copy = gbmc_alloc(c, content.length + 1);
    memcpy(copy, content.data, content.length);
    s = NEW(c, struct source);
    *s = (struct source){intern(c, path), copy, content.length};
    text_free(&content);
    return s;
}

bool file_write(struct compiler *c, const char *path, const char *data,
                size_t length)
{
    const char *temporary =
        intern_format(c, "%s.%ld.tmp", path, (long)getpid());
    temporary_begins(temporary);
    FILE *f = fopen(temporary, "wb");
    bool ok = f != NULL;

    if (ok && length)
        ok = fwrite(data, 1, length, f) == length;
    if (f && fclose(f) != 0)
        ok = false;
    if (ok && rename(temporary, path) != 0)
        ok = false;
    if (!ok) {
        int reason = errno;
        error_at(c, (struct span){0}, "cannot write %s: %s", path,
                 strerror(reason));
        if (f)
            unlink(temporary);
        errno = reason;
    }
    temporary_ends(temporary);
    return ok;
}

bool file_exists(const char *path) { return access(path, R_OK) == 0; }

int file_status(int code)
{
    return code == ENOSPC || code == EFBIG || code == EDQUOT || code == EIO ||
                   code == ENOMEM
               ? 2
               : 1;
}

const char *path_argument(struct compiler *c, const char *path)
{
    bool plain = *path != '-' && *path != '@'; /* @FILE: more arguments */
    return plain ? path : intern_format(c, "./%s", path);
}

const char *path_join(struct compiler *c, const char *folder, const char *name)
{
    size_t n = strlen(folder);

    if (n == 0 || name[0] == '/')
        return intern(c, name);
    return intern_format(c, "%s%s%s", folder, folder[n - 1] == '/' ? "" : "/",
                         name);
}

const char *path_folder(struct compiler *c, const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? intern_n(c, path, (size_t)(slash - path) + 1) : "";
}
