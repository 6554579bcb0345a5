/* files.c: a file of data in memory, and which reader it needs. */
#include "io/data.h"
#include "io/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* What a file holds: a mapping, or memory. */
struct content {
    char *bytes;
    size_t size;
    bool mapped;
};

static void content_free(struct content *content)
{
    if (content->mapped)
        munmap(content->bytes, content->size);
    else
        free(content->bytes);
    *content = (struct content){0};
}

static enum gbm_status file_error(const char *path, const char *what,
                                  const char *reason, char *error)
{
    snprintf(error, GBM_ERROR, "%.600s: cannot %s: %s", path, what, reason);
    return GBM_USER_ERROR;
}

/* Reads all of a file, unpacking gzip. */
static enum gbm_status read_all(const char *path, int fd,
                                struct content *content, char *error)
{
    size_t capacity = 1 << 16;
    gzFile file = gzdopen(fd, "rb");
    char *bytes = malloc(capacity);
    size_t size = 0;
    int n;

    if (!file || !bytes) {
        if (file)
            gzclose(file);
        else
            close(fd);
        free(bytes);
        return rt_no_memory(error);
    }
    while ((n = gzread(file, bytes + size,
                       (unsigned)(capacity - size > 1 << 30
                                      ? 1 << 30
                                      : capacity - size))) > 0) {
        size += (size_t)n;
        if (size == capacity) {
            char *more = realloc(bytes, 2 * capacity);

            if (!more) {
                gzclose(file);
                free(bytes);
                return rt_no_memory(error);
            }
            bytes = more;
            capacity *= 2;
        }
    }
    if (n < 0) {
        int code = 0;
        const char *reason = gzerror(file, &code);

        file_error(path, "read", code == Z_ERRNO ? strerror(errno) : reason,
                   error);
        gzclose(file);
        free(bytes);
        return GBM_USER_ERROR;
    }
    /* A gzip stream that is cut short is only told by the close. */
    if (gzclose(file) == Z_BUF_ERROR) {
        free(bytes);
        return file_error(path, "read", "the compressed file is cut short",
                          error);
    }
    content->bytes = bytes;
    content->size = size;
    return GBM_OK;
}

static bool is_npy(const char *bytes, size_t size)
{
    return size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0;
}

/* Maps a .npy file, reads any other. */
static enum gbm_status load(const char *path, struct content *content,
                            char *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    char magic[6];

    if (fd < 0)
        return file_error(path, "read", strerror(errno), error);
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        close(fd);
        return file_error(path, "read", "it is a folder", error);
    }
    if (S_ISREG(info.st_mode) && info.st_size >= 6 &&
        pread(fd, magic, 6, 0) == 6 && is_npy(magic, 6)) {
        void *map = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE, fd, 0);

        if (map != MAP_FAILED) {
            close(fd);
            content->bytes = map;
            content->size = (size_t)info.st_size;
            content->mapped = true;
            return GBM_OK;
        }
    }
    return read_all(path, fd, content, error);
}

static bool ends_with(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);

    if (n >= 3 && strcasecmp(path + n - 3, ".gz") == 0)
        n -= 3;
    return n >= m && strncasecmp(path + n - m, suffix, m) == 0;
}

static bool contains(const char *at, const char *end, const char *word)
{
    return memmem(at, (size_t)(end - at), word, strlen(word)) != NULL;
}

/* Text that is not JSON: R's syntax or columns? Only the part up to the first
 * line that is not a comment decides. */
static bool looks_like_r(const struct rt_text *text)
{
    const char *at = text->at, *end;

    while (at < text->end && (*at == '#' || *at == '\n' || *at == '\r' ||
                              *at == ' ' || *at == '\t')) {
        if (*at == '#')
            while (at < text->end && *at != '\n')
                at++;
        else
            at++;
    }
    end = memchr(at, '\n', (size_t)(text->end - at));
    if (!end)
        end = text->end;
    /* `x <-` may stand on a line of its own, `list(` too */
    return contains(at, end, "<-") || contains(at, end, "list") ||
           contains(at, end, "=") || contains(at, text->end, "<-");
}

static enum gbm_status dispatch(struct gbm_data *data, struct rt_text *text,
                                const char *name, struct content *content)
{
    const char *first;

    if (is_npy(content->bytes, content->size)) {
        bool taken = false;
        enum gbm_status status = rt_read_npy(
            data, text, name, content->mapped ? content->bytes : NULL, &taken);

        if (taken)
            *content = (struct content){0};
        return status;
    }
    if (ends_with(text->path, ".npy"))
        return rt_fail(text, "not a .npy file: it does not begin with "
                             "\\x93NUMPY");
    if (text->end - text->at >= 3 && memcmp(text->at, "\xEF\xBB\xBF", 3) == 0)
        text->at = text->begin += 3;
    for (first = text->at; first < text->end && strchr(" \t\r\n", *first);)
        first++;
    if (memchr(text->at, '\0', (size_t)(text->end - text->at)))
        return rt_fail(text, "not a text file (nor .npy)");
    if (ends_with(text->path, ".csv") || ends_with(text->path, ".tsv"))
        return rt_read_csv(data, text, name);
    if (first == text->end && !ends_with(text->path, ".R"))
        return rt_fail(text, "the file is empty");
    if (*first == '{' || *first == '[' || ends_with(text->path, ".json"))
        return rt_read_json(data, text, name);
    if (!ends_with(text->path, ".R") && !looks_like_r(text))
        return rt_read_csv(data, text, name);
    if (name)
        return rt_fail(text,
                       "a file in R's syntax names its variables: give "
                       "it without %s=",
                       name);
    return rt_read_rdump(data, text);
}

/* Length of NAME in NAME=FILE, or 0. */
static size_t name_length(const char *spec)
{
    size_t n = 0;

    while ((spec[n] >= 'a' && spec[n] <= 'z') ||
           (spec[n] >= 'A' && spec[n] <= 'Z') || spec[n] == '.' ||
           spec[n] == '_' || (spec[n] >= '0' && spec[n] <= '9'))
        n++;
    /* A file whose own name has the form is a file. */
    return n > 0 && spec[n] == '=' && access(spec, F_OK) != 0 ? n : 0;
}

enum gbm_status gbm_data_read(struct gbm_data *data, const char *spec,
                              char error[GBM_ERROR])
{
    size_t n = name_length(spec);
    char *name = n ? strndup(spec, n) : NULL;
    const char *path = n ? spec + n + 1 : spec;
    struct content content = {0};
    size_t notes = data->notes ? strlen(data->notes) : 0;
    int narrays = data->narrays;
    enum gbm_status status;

    if (n && !name)
        return rt_no_memory(error);
    status = load(path, &content, error);
    if (status == GBM_OK) {
        struct rt_text text = {.path = path,
                               .begin = content.bytes,
                               .at = content.bytes,
                               .end = content.bytes + content.size,
                               .error = error};

        status = dispatch(data, &text, name, &content);
    }
    if (status != GBM_OK) {
        while (data->narrays > narrays)
            rt_array_free(&data->arrays[--data->narrays]);
        if (data->notes)
            data->notes[notes] = '\0';
    }
    content_free(&content);
    free(name);
    return status;
}
