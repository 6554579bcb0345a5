/* checkpoint.c: the state of a run in a file. Its parts: what it is a state of
 * (the key), the pieces in the order of the list that chains.c makes for writer
 * and reader alike, and a sum over all of it. Everything is padded to words of
 * 8 bytes, which the sum is made of.
 *
 * A new file is written under another name and put on the disk before it takes
 * the old one's place, which becomes FILE.1: whenever the machine stops, one of
 * the two is whole. */
#include "record/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[16] = "gbm checkpoint1";

/* ---- sums */

/* Each word changes the sum, whatever follows. */
static uint64_t add_word(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return sum ^ sum >> 32;
}

static uint64_t add_bytes(uint64_t sum, const void *data, size_t bytes)
{
    const char *from = data;
    for (size_t i = 0; i < bytes; i += sizeof sum) {
        uint64_t word = 0;
        size_t left = bytes - i;
        memcpy(&word, from + i, left < sizeof word ? left : sizeof word);
        sum = add_word(sum, word);
    }
    return sum;
}

static uint64_t add_text(uint64_t sum, const char *text)
{
    return add_bytes(sum, text ? text : "", text ? strlen(text) + 1 : 1);
}

/* ---- the key */

static void key_add(struct rt_identity *key, const char *name, const char *text)
{
    struct rt_identity_entry *more =
        realloc(key->entries, ((size_t)key->count + 1) * sizeof *more);
    if (more)
        key->entries = more;
    struct rt_identity_entry entry = {more ? strdup(name) : NULL,
                                      more ? strdup(text) : NULL};
    if (!entry.name || !entry.text) {
        key->failed = true;
        free(entry.name);
        free(entry.text);
        return;
    }
    key->entries[key->count++] = entry;
}

static void key_add_sum(struct rt_identity *key, const char *name, uint64_t sum)
{
    char text[24];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)sum);
    key_add(key, name, text);
}

static void key_free(struct rt_identity *key)
{
    for (int i = 0; i < key->count; i++) {
        free(key->entries[i].name);
        free(key->entries[i].text);
    }
    free(key->entries);
    *key = (struct rt_identity){0};
}

static const char *key_find(const struct rt_identity *key, const char *name)
{
    for (int i = 0; i < key->count; i++)
        if (strcmp(key->entries[i].name, name) == 0)
            return key->entries[i].text;
    return NULL;
}

/* The program without the model file's path, which is in its first line, in
 * comments and in messages. */
static uint64_t sum_program(const struct gbm_model *m)
{
    const char *at = m->program ? m->program : "", *end = strchr(at, '\n');
    size_t path = strlen(m->source);
    uint64_t sum = 1;
    for (at = end ? end : at; *at; at++) {
        while (path > 0 && strncmp(at, m->source, path) == 0)
            at += path;
        if (!*at)
            break;
        sum = add_word(sum, (unsigned char)*at);
    }
    return sum;
}

/* What the sampler computes, and in what order. */
static uint64_t sum_model(const struct gbm_model *m)
{
    uint64_t sum = add_text(sum_program(m), m->explain);
    for (int k = 0; k < m->nsteps; k++) {
        sum = add_text(sum, m->steps[k].name);
        sum = add_word(sum, (uint64_t)m->steps[k].number);
    }
    for (int v = 0; v < m->nvariables; v++) {
        sum = add_text(sum, m->variables[v].name);
        sum = add_word(sum, (uint64_t)m->variables[v].role);
    }
    for (const struct gbm_header *h = m->headers; h->name; h++)
        sum = add_text(sum, h->text);
    return sum;
}

static void key_of_model(struct rt_identity *key, const struct gbm_model *m)
{
    key_add(key, "gbm", m->version);
    key_add_sum(key, "model", sum_model(m));
}

static const char planned[] = "planned draws";

static void key_of_options(struct rt_identity *key, const struct rt_options *o)
{
    const char *name;
    char buffer[RT_OPTION_TEXT];
    for (int k = 0; (name = rt_kept_option(k)) != NULL; k++) {
        const char *text = rt_option_text(o, name, buffer);
        if (text)
            key_add(key, name, text);
    }
    for (int i = 0; i < o->ninit; i++)
        key_add(key, "--init", o->init[i]);
    snprintf(buffer, sizeof buffer, "%d", o->planned);
    key_add(key, planned, buffer);
}

/* Values that data give a variable; missing ones are all alike. */
static uint64_t sum_data(const struct rt_instance *in, int v)
{
    const struct gbm_variable *variable = &in->model->variables[v];
    const struct rt_slot *slot = &in->slots[v];
    uint64_t sum = add_bytes(1, slot->dim, sizeof slot->dim);
    for (int64_t i = 0; i < slot->cells; i++) {
        bool seen = variable->role == GBM_GIVEN || rt_seen(slot, i);
        double x = seen ? rt_value(slot, variable->integer, 0, i) : (double)NAN;
        sum =
            isnan(x) ? add_word(sum, UINT64_MAX) : add_bytes(sum, &x, sizeof x);
    }
    return sum;
}

static const char data_of[] = "data of ";

static void key_of_data(struct rt_identity *key, const struct rt_instance *in)
{
    for (int v = 0; v < in->model->nvariables; v++) {
        const struct gbm_variable *variable = &in->model->variables[v];
        char name[512];
        if (variable->role != GBM_GIVEN &&
            (variable->role != GBM_STOCHASTIC || !rt_any_seen(&in->slots[v])))
            continue;
        snprintf(name, sizeof name, "%s%s", data_of, variable->name);
        key_add_sum(key, name, sum_data(in, v));
    }
}

uint64_t rt_sum_starts(const struct rt_instance *in)
{
    uint64_t sum = 1;
    for (int v = 0; v < in->model->nvariables; v++)
        if (in->model->variables[v].role == GBM_STOCHASTIC ||
            in->model->variables[v].role == GBM_AUXILIARY)
            sum = add_bytes(sum, in->slots[v].values, rt_chain_bytes(in, v));
    return sum;
}

/* ---- writing */

static void name_before(const char *path, char out[RT_PATH])
{
    snprintf(out, RT_PATH, "%.*s.1", RT_PATH - 8, path);
}

/* A file that is there and no checkpoint is not this option's. */
static bool is_foreign(const char *path)
{
    char start[sizeof magic] = "";
    FILE *f = fopen(path, "rb");
    bool foreign = false;
    if (f) {
        size_t n = fread(start, 1, sizeof start, f);
        foreign = n > 0 && memcmp(start, magic, n) != 0;
        fclose(f);
    }
    return foreign;
}

/* Before the run: fails if the file cannot be written, or is there and is
 * something else. */
static enum gbm_status begin(struct rt_checkpoint *c, struct rt *rt)
{
    const struct rt_options *o = &rt->options;
    struct rt_target target;
    char error[GBM_ERROR], before[RT_PATH];
    enum gbm_status s = rt_target_try(o->checkpoint, error);
    if (s == GBM_OK)
        s = rt_target_set(&target, o->checkpoint, error);
    if (s != GBM_OK)
        return rt_fail(rt, s, "--checkpoint %s", error);
    if (target.direct)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--checkpoint %s: it is no regular file", o->checkpoint);
    *c = (struct rt_checkpoint){.every = o->every};
    snprintf(c->path, sizeof c->path, "%s", target.path);
    name_before(c->path, before);
    if (is_foreign(c->path) || is_foreign(before))
        return rt_fail(rt, GBM_USER_ERROR,
                       "--checkpoint %s: %s is no checkpoint, and would be "
                       "overwritten",
                       o->checkpoint, is_foreign(c->path) ? c->path : before);
    c->due = rt_clock() + c->every;
    return GBM_OK;
}

enum gbm_status rt_checkpoint_identify(struct rt_checkpoint *c, struct rt *rt,
                                       const struct rt_instance *in)
{
    key_of_model(&c->key, rt->model);
    key_of_options(&c->key, &rt->options);
    key_of_data(&c->key, in);
    key_add(&c->key, "device", rt->device_text);
    return c->key.failed ? rt_fail(rt, GBM_FAILURE, "no memory") : GBM_OK;
}

void rt_checkpoint_goes_on(struct rt_checkpoint *c, const struct rt_resume *r)
{
    struct stat own, from;
    c->whole = stat(c->path, &own) == 0 && fstat(fileno(r->file), &from) == 0 &&
               own.st_ino == from.st_ino && own.st_dev == from.st_dev;
}

bool rt_checkpoint_due(const struct rt_checkpoint *c)
{
    return c->path[0] && rt_clock() >= c->due;
}

struct writer {
    FILE *f;
    uint64_t sum;
};

static void put(struct writer *w, const void *data, size_t bytes)
{
    static const char zeros[sizeof w->sum];
    size_t over = bytes % sizeof zeros;
    if (bytes > 0) /* ferror tells */
        (void)fwrite(data, 1, bytes, w->f);
    if (over > 0)
        (void)fwrite(zeros, 1, sizeof zeros - over, w->f);
    w->sum = add_bytes(w->sum, data, bytes);
}

static void put_integer(struct writer *w, int64_t x) { put(w, &x, sizeof x); }

static void put_text(struct writer *w, const char *text)
{
    put_integer(w, (int64_t)strlen(text));
    put(w, text, strlen(text));
}

static void put_all(struct writer *w, const struct rt_identity *key,
                    const struct rt_pieces *pieces)
{
    put(w, magic, sizeof magic);
    put_integer(w, key->count);
    for (int i = 0; i < key->count; i++) {
        put_text(w, key->entries[i].name);
        put_text(w, key->entries[i].text);
    }
    for (int i = 0; i < pieces->count && !ferror(w->f); i++) {
        put_text(w, pieces->items[i].name);
        put_integer(w, (int64_t)pieces->items[i].bytes);
        put(w, pieces->items[i].place, pieces->items[i].bytes);
    }
    put_integer(w, (int64_t)w->sum);
}

/* The errno of what failed, or 0. */
static int write_file(const char *path, const struct rt_identity *key,
                      const struct rt_pieces *pieces)
{
    int code = 0;
    unlink(path); /* what a run left that was killed while it wrote */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!f) {
        code = errno;
        if (fd >= 0)
            close(fd);
        return code;
    }
    struct writer w = {.f = f};
    errno = 0;
    put_all(&w, key, pieces);
    if (fflush(f) != 0 || ferror(f) || fsync(fd) != 0)
        code = errno ? errno : EIO;
    if (fclose(f) != 0 && code == 0)
        code = errno;
    return code;
}

/* Renamed files are there after a crash only once their folder is written. */
static void sync_folder(const char *path)
{
    char copy[RT_PATH];
    snprintf(copy, sizeof copy, "%s", path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd); /* not all file systems can */
    close(fd);
}

enum gbm_status rt_checkpoint_write(struct rt_checkpoint *c,
                                    const struct rt_pieces *pieces,
                                    char error[GBM_ERROR])
{
    char before[RT_PATH], temporary[RT_PATH];
    double began = rt_clock();
    name_before(c->path, before);
    snprintf(temporary, sizeof temporary, "%.*s.tmp", RT_PATH - 8, c->path);
    int code = write_file(temporary, &c->key, pieces);
    if (code == 0 && c->whole && rename(c->path, before) != 0 &&
        errno != ENOENT)
        code = errno;
    if (code == 0 && rename(temporary, c->path) != 0)
        code = errno;
    if (code == 0)
        sync_folder(c->path);
    else
        unlink(temporary);
    c->whole = c->whole || code == 0;
    /* a tenth of the time at most, unless all blocks were asked for */
    double now = rt_clock(), rest = c->every > 0 ? 9 * (now - began) : 0;
    c->due = now + (rest > c->every ? rest : c->every);
    return code == 0 ? GBM_OK : rt_write_failure(c->path, code, error);
}

void rt_checkpoint_end(struct rt_checkpoint *c) { key_free(&c->key); }

/* ---- reading: nothing is believed before the sum is right */

/* Reads `bytes` and what pads them. */
static bool get(struct rt_resume *r, void *to, int64_t bytes)
{
    char padding[sizeof(uint64_t)];
    size_t over = bytes < 0 ? 0 : (size_t)bytes % sizeof padding;
    size_t pad = over ? sizeof padding - over : 0;
    if (bytes < 0 || bytes > r->left ||
        fread(to, 1, (size_t)bytes, r->file) != (size_t)bytes ||
        fread(padding, 1, pad, r->file) != pad)
        return false;
    r->left -= bytes + (int64_t)pad;
    return true;
}

static char *get_text(struct rt_resume *r)
{
    int64_t n = 0;
    if (!get(r, &n, sizeof n) || n < 0 || n > r->left)
        return NULL;
    char *text = calloc((size_t)n + 1, 1);
    if (text && get(r, text, n))
        return text;
    free(text);
    return NULL;
}

static bool get_key(struct rt_resume *r)
{
    int64_t n = 0;
    bool good = get(r, &n, sizeof n);
    for (int64_t i = 0; i < n && good; i++) {
        char *name = get_text(r), *text = name ? get_text(r) : NULL;
        good = text != NULL;
        if (good)
            key_add(&r->key, name, text);
        free(name);
        free(text);
    }
    return good && !r->key.failed;
}

/* Whether the words of the file add up to its last one. */
static bool adds_up(FILE *f)
{
    enum { WORDS = 8192 };
    uint64_t sum = 0, words[WORDS], last = 0;
    size_t n;
    bool any = false;
    while ((n = fread(words, 1, sizeof words, f)) > 0) {
        if (n % sizeof *words)
            return false;
        for (size_t i = 0; i < n / sizeof *words; i++) {
            if (any)
                sum = add_word(sum, last);
            last = words[i];
            any = true;
        }
    }
    return any && !ferror(f) && last == sum;
}

/* Whether the file begins with something else; a few bytes that are wrong are
 * damage. */
static bool is_other(FILE *f)
{
    char start[sizeof magic];
    size_t n = fread(start, 1, sizeof start, f), wrong = 0;
    for (size_t i = 0; i < n; i++)
        wrong += start[i] != magic[i];
    rewind(f);
    return 2 * wrong > n;
}

/* NULL if the file is whole; its key is read then. */
static const char *try_file(struct rt_resume *r, const char *path)
{
    struct stat info;
    char start[sizeof magic]; /* read once more: it is in the sum */
    snprintf(r->path, sizeof r->path, "%s", path);
    r->file = fopen(path, "rb");
    if (!r->file)
        return strerror(errno);
    if (fstat(fileno(r->file), &info) != 0 || !S_ISREG(info.st_mode))
        return "it is no regular file";
    if (is_other(r->file))
        return "it is no checkpoint; --checkpoint FILE writes those, and draws "
               "alone cannot go on";
    r->left = (int64_t)info.st_size - (int64_t)sizeof(uint64_t);
    if (!adds_up(r->file))
        return "it is damaged";
    rewind(r->file);
    if (!get(r, start, sizeof start) || !get_key(r))
        return "it is damaged";
    return NULL;
}

/* Whether there is a checkpoint of that name, or one before it. */
static bool exists(const char *path)
{
    char before[RT_PATH];
    name_before(path, before);
    return access(path, F_OK) == 0 || access(before, F_OK) == 0;
}

static enum gbm_status find_file(struct rt_resume *r, struct rt *rt,
                                 FILE *notes)
{
    const char *path = rt->options.resume;
    char before[RT_PATH];
    const char *why = try_file(r, path);
    if (!why)
        return GBM_OK;
    rt_resume_end(r);
    name_before(path, before);
    const char *why_before = try_file(r, before);
    if (!why_before) {
        if (notes)
            fprintf(notes, "note: %s: %s: %s, the one before it, is taken\n",
                    path, why, before);
        return GBM_OK;
    }
    rt_resume_end(r);
    if (access(before, F_OK) != 0)
        return rt_fail(rt, GBM_USER_ERROR, "--resume %s: %s", path, why);
    return rt_fail(rt, GBM_USER_ERROR, "--resume %s: %s; %s: %s", path, why,
                   before, why_before);
}

static void append(char *out, size_t capacity, const char *name,
                   const char *text)
{
    size_t n = strlen(out);
    if (!text)
        snprintf(out + n, capacity - n, " no %s", name);
    else if (strcmp(text, RT_OPTION_SET) == 0)
        snprintf(out + n, capacity - n, " %s", name);
    else
        snprintf(out + n, capacity - n, " %s %s", name, text);
}

/* Options that were not given are what the run had; the rest must be. */
static enum gbm_status take_options(const struct rt_resume *r, struct rt *rt)
{
    char theirs[512] = "", ours[512] = "", buffer[RT_OPTION_TEXT];
    const char *name;
    for (int k = 0; (name = rt_kept_option(k)) != NULL; k++) {
        const char *text = key_find(&r->key, name);
        enum gbm_status s = rt_option_take(rt, name, text);
        if (s == GBM_OK)
            continue;
        if (rt->status != GBM_OK)
            return s;
        append(theirs, sizeof theirs, name, text);
        append(ours, sizeof ours, name,
               rt_option_text(&rt->options, name, buffer));
    }
    if (theirs[0])
        return rt_fail(rt, GBM_USER_ERROR,
                       "--resume %s: it is of a run with%s, not with%s",
                       r->path, theirs, ours);
    for (int i = 0, n = rt->options.ninit; i < r->key.count && n == 0; i++)
        if (strcmp(r->key.entries[i].name, "--init") == 0 &&
            rt_option_add_init(rt, r->key.entries[i].text) != GBM_OK)
            return rt->status;
    const char *draws = key_find(&r->key, planned);
    rt->options.planned = draws ? atoi(draws) : rt->options.draws;
    return GBM_OK;
}

static enum gbm_status check_model(const struct rt_resume *r, struct rt *rt)
{
    const struct gbm_model *m = rt->model;
    struct rt_identity key = {0};
    key_of_model(&key, m);
    const char *version = key_find(&r->key, "gbm");
    const char *model = key_find(&r->key, "model");
    if (key.failed)
        rt_fail(rt, GBM_FAILURE, "no memory");
    else if (!version || strcmp(version, m->version) != 0)
        rt_fail(rt, GBM_USER_ERROR,
                "--resume %s: it is of gbm %s, this sampler is of gbm %s",
                r->path, version ? version : "?", m->version);
    else if (!model || strcmp(model, key_find(&key, "model")) != 0)
        rt_fail(rt, GBM_USER_ERROR,
                "--resume %s: it is of another model than %s, or of another "
                "sampler of it",
                r->path, m->source);
    key_free(&key);
    return rt->status;
}

/* Opens FILE or, if that is damaged, FILE.1. Fails if it is of another sampler
 * or of other options; those that were not given become what its run had. */
static enum gbm_status open_resume(struct rt_resume *r, struct rt *rt,
                                   FILE *notes)
{
    enum gbm_status s = find_file(r, rt, notes);
    if (s == GBM_OK)
        s = check_model(r, rt);
    return s == GBM_OK ? take_options(r, rt) : s;
}

enum gbm_status rt_resume_data(const struct rt_resume *r, struct rt *rt,
                               const struct rt_instance *in)
{
    struct rt_identity key = {0};
    char differ[512] = "";
    key_of_data(&key, in);
    for (int i = 0; i < key.count; i++) {
        const struct rt_identity_entry *ours = &key.entries[i];
        const char *theirs = key_find(&r->key, ours->name);
        size_t n = strlen(differ);
        if (!theirs || strcmp(theirs, ours->text) != 0)
            snprintf(differ + n, sizeof differ - n, "%s%s", n ? ", " : "",
                     ours->name + strlen(data_of));
    }
    for (int i = 0; i < r->key.count; i++) {
        const char *name = r->key.entries[i].name;
        size_t n = strlen(differ);
        if (strncmp(name, data_of, strlen(data_of)) == 0 &&
            !key_find(&key, name))
            snprintf(differ + n, sizeof differ - n, "%s%s", n ? ", " : "",
                     name + strlen(data_of));
    }
    if (key.failed)
        rt_fail(rt, GBM_FAILURE, "no memory");
    else if (differ[0])
        rt_fail(rt, GBM_USER_ERROR,
                "--resume %s: it is of a run with other data: %s differ%s",
                r->path, differ, strchr(differ, ',') ? "" : "s");
    key_free(&key);
    return rt->status;
}

void rt_resume_device(const struct rt_resume *r, const struct rt *rt,
                      FILE *notes)
{
    const char *device = key_find(&r->key, "device");
    if (notes && device && strcmp(device, rt->device_text) != 0)
        fprintf(notes,
                "note: %s is of a run on %s: its draws may go on otherwise "
                "here\n",
                r->path, device);
}

enum gbm_status rt_resume_read(struct rt_resume *r, struct rt *rt,
                               const struct rt_pieces *pieces)
{
    for (int i = 0; i < pieces->count; i++) {
        const struct rt_piece *piece = &pieces->items[i];
        char *name = get_text(r);
        int64_t bytes = 0;
        bool good = name && strcmp(name, piece->name) == 0 &&
                    get(r, &bytes, sizeof bytes) &&
                    bytes == (int64_t)piece->bytes &&
                    get(r, piece->place, bytes);
        free(name);
        if (!good)
            return rt_fail(rt, GBM_FAILURE,
                           "--resume %s: it has not the state of %s as this "
                           "sampler keeps it",
                           r->path, piece->name);
    }
    return GBM_OK;
}

void rt_resume_end(struct rt_resume *r)
{
    if (r->file)
        fclose(r->file);
    key_free(&r->key);
    *r = (struct rt_resume){0};
}

enum gbm_status rt_checkpoint_open(struct rt_checkpoint *c, struct rt_resume *r,
                                   struct rt *rt, FILE *notes)
{
    const struct rt_options *o = &rt->options;
    if (o->checkpoint && begin(c, rt) != GBM_OK)
        return rt->status;
    if (!o->resume)
        return GBM_OK;
    if (!o->checkpoint || strcmp(o->checkpoint, o->resume) != 0 ||
        exists(o->resume))
        return open_resume(r, rt, notes);
    if (notes)
        fprintf(notes, "note: there is no %s yet: the run begins\n", o->resume);
    return GBM_OK;
}
