/* cache.c: see cache.h. Linked into gbmc and into the CUDA plugin, which has
 * nothing else of the runtime: includes no other header. */
#include "base/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEFAULT_MB = 1000 };

/* ---- keys ---- */

static void add_word(struct rt_key *key, uint64_t word)
{
    key->a = (key->a ^ word) * 0x100000001b3u;
    key->a ^= key->a >> 32;
    key->b = (key->b + word) * 0x9e3779b97f4a7c15u;
    key->b ^= key->b >> 29;
}

void rt_key_add(struct rt_key *key, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    size_t i = 0;
    uint64_t word;

    for (; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, p + i, sizeof word);
        add_word(key, word);
    }
    word = 0;
    memcpy(&word, p + i, n - i);
    add_word(key, word);
    add_word(key, n);
}

void rt_key_add_text(struct rt_key *key, const char *text)
{
    rt_key_add(key, text, strlen(text));
}

/* ---- the folder ---- */

static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0777); /* there already, or the last one fails */
        *slash = '/';
    }
    (void)mkdir(path, 0700);
}

/* What it holds is run: nobody else may have written it. */
static bool is_ours(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid() &&
           !(s.st_mode & S_IWOTH);
}

/* Its name, made if need be; false if there is no place for it. */
static bool cache_folder(char folder[PATH_MAX])
{
    const char *given = getenv("GBM_CACHE"), *xdg = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    int n = 0;

    if (given && given[0] && strcmp(given, "off") != 0)
        n = snprintf(folder, PATH_MAX, "%s", given);
    else if (given && given[0])
        return false;
    else if (xdg && xdg[0])
        n = snprintf(folder, PATH_MAX, "%s/gbm", xdg);
    else if (home && home[0])
        n = snprintf(folder, PATH_MAX, "%s/.cache/gbm", home);
    if (n <= 0 || n >= PATH_MAX)
        return false;
    make_folders(folder);
    return is_ours(folder);
}

bool rt_cache_exists(void)
{
    char folder[PATH_MAX];
    return cache_folder(folder);
}

static bool cache_path(const struct rt_key *key, const char *kind,
                       char path[PATH_MAX])
{
    char folder[PATH_MAX];
    if (!cache_folder(folder))
        return false;
    int n =
        snprintf(path, PATH_MAX, "%s/%016llx%016llx.%s", folder,
                 (unsigned long long)key->a, (unsigned long long)key->b, kind);
    return n > 0 && n < PATH_MAX;
}

/* ---- its files ---- */

struct head {
    char magic[8];
    struct rt_key key, content;
    uint64_t bytes;
};
static const char magic[8] = {'g', 'b', 'm', 'k', 'e', 'p', 't', '\n'};

static struct head head_of(const struct rt_key *key, const void *bytes,
                           size_t n)
{
    struct head h = {.key = *key, .content = RT_KEY_EMPTY, .bytes = n};
    memcpy(h.magic, magic, sizeof magic);
    rt_key_add(&h.content, bytes, n);
    return h;
}

bool rt_cache_has(const struct rt_key *key, const char *kind)
{
    char path[PATH_MAX];
    return cache_path(key, kind, path) && access(path, R_OK) == 0;
}

void *rt_cache_read(const struct rt_key *key, const char *kind, size_t *n)
{
    char path[PATH_MAX];
    struct head told, found;
    struct stat s;
    void *bytes = NULL;

    if (!cache_path(key, kind, path))
        return NULL;
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    if (fread(&told, sizeof told, 1, f) == 1 && fstat(fileno(f), &s) == 0 &&
        s.st_size > (off_t)sizeof told) {
        *n = (size_t)s.st_size - sizeof told;
        bytes = malloc(*n);
    }
    if (bytes && fread(bytes, 1, *n, f) == *n) {
        found = head_of(key, bytes, *n);
        if (memcmp(&told, &found, sizeof told) == 0) {
            (void)futimens(fileno(f), NULL); /* used just now */
            fclose(f);
            return bytes;
        }
    }
    free(bytes);
    fclose(f);
    return NULL;
}

/* ---- its size ---- */

struct entry {
    char *path;
    struct timespec used;
    off_t bytes;
};

static int by_age(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    if (a->used.tv_sec != b->used.tv_sec)
        return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    return (a->used.tv_nsec > b->used.tv_nsec) -
           (a->used.tv_nsec < b->used.tv_nsec);
}

/* Named as rt_cache_write does: a key and a kind. Another's file is left alone.
 */
static int is_kept(const struct dirent *d)
{
    return strspn(d->d_name, "0123456789abcdef") == 32 && d->d_name[32] == '.';
}

static off_t most_bytes(void)
{
    const char *given = getenv("GBM_CACHE_MB");
    char *end;
    long mb = given ? strtol(given, &end, 10) : DEFAULT_MB;
    if (given && (end == given || *end || mb < 0 || mb > INT_MAX))
        mb = DEFAULT_MB;
    return (off_t)mb << 20;
}

/* Removes what was used least recently, unfinished files of processes that were
 * killed among it, until the rest is small enough. */
static void cache_bound(const char *folder)
{
    struct dirent **names;
    int n = scandir(folder, &names, is_kept, NULL), m = 0;
    if (n < 0)
        return;
    struct entry *all = calloc((size_t)n + 1, sizeof *all);
    off_t total = 0;

    for (int i = 0; i < n; i++) {
        size_t length = strlen(folder) + strlen(names[i]->d_name) + 2;
        char *path = all ? malloc(length) : NULL;
        struct stat s;
        if (path)
            snprintf(path, length, "%s/%s", folder, names[i]->d_name);
        if (path && lstat(path, &s) == 0 && S_ISREG(s.st_mode)) {
            all[m++] = (struct entry){path, s.st_mtim, s.st_size};
            total += s.st_size;
        } else {
            free(path);
        }
        free(names[i]);
    }
    free(names);
    if (m)
        qsort(all, (size_t)m, sizeof *all, by_age);
    for (int i = 0; i < m; i++) {
        if (total > most_bytes()) {
            (void)remove(all[i].path);
            total -= all[i].bytes;
        }
        free(all[i].path);
    }
    free(all);
}

void rt_cache_write(const struct rt_key *key, const char *kind,
                    const void *bytes, size_t n)
{
    char path[PATH_MAX], folder[PATH_MAX], beside[PATH_MAX + 8];

    if (!cache_folder(folder) || !cache_path(key, kind, path))
        return;
    const struct head h = head_of(key, bytes, n);
    snprintf(beside, sizeof beside, "%s.XXXXXX", path);
    int descriptor = mkstemp(beside);
    FILE *f = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (!f)
        return;
    bool whole = fwrite(&h, sizeof h, 1, f) == 1 && fwrite(bytes, 1, n, f) == n;
    if (fclose(f) != 0)
        whole = false;
    if (!whole || rename(beside, path) != 0)
        (void)remove(beside);
    cache_bound(folder);
}
