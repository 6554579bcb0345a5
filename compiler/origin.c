/* origin.c: what a sampler knows of how it was compiled
 * (runtime/base/origin.h).
 */
#include "gbmc.h"
#include "base/origin.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static const struct span nowhere = {0};

/* All that bears on the program, for gbmc where it runs now. */
static void list_arguments(struct compiler *c, struct rt_origin *o)
{
    const struct options *p = &c->options;
    const char **words = NEW_ARRAY(
        c, const char *, 7 + 2 * (p->ninclude + p->ndata + p->nprior));
    int n = 0;
    for (int i = 0; i < p->ninclude; i++) {
        words[n++] = "-I";
        words[n++] = p->include[i];
    }
    if (p->optimise) {
        words[n++] = "-O";
        words[n++] = p->optimise;
    }
    words[n++] = intern_format(c, "--cpu=%s", p->cpu ? p->cpu : "native");
    for (int i = 0; i < p->ndata; i++) {
        words[n++] = "--data";
        words[n++] = p->data[i];
    }
    for (int i = 0; i < p->nprior; i++) {
        words[n++] = "--prior";
        words[n++] = p->prior[i];
    }
    words[n++] = "--";
    words[n++] = p->input;
    o->arguments = words;
    o->narguments = n;
}

static bool list_files(struct compiler *c, struct rt_origin *o)
{
    int n = 0;
    for (const struct file_read *f = c->files; f; f = f->next)
        n++;
    o->files = NEW_ARRAY(c, struct rt_origin_file, n);
    for (const struct file_read *f = c->files; f; f = f->next) {
        struct rt_origin_file *to = &o->files[o->nfiles++];
        to->path = f->path;
        if (!rt_origin_file_key(f->path, &to->key)) {
            error_at(c, nowhere, "cannot read %s: %s", f->path,
                     strerror(errno));
            return false;
        }
    }
    return true;
}

bool origin_append(struct compiler *c, const char *path)
{
    char self[PATH_MAX], folder[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    struct rt_origin o = {0};
    if (n <= 0 || !getcwd(folder, sizeof folder))
        return true; /* then it does not know */
    self[n] = '\0';
    o.compiler = self;
    o.folder = folder;
    list_arguments(c, &o);
    if (!list_files(c, &o))
        return false;
    if (rt_origin_append(path, &o))
        return true;
    error_at(c, nowhere, "cannot write %s: %s", path, strerror(errno));
    return false;
}
