/* library.c: the standard library: reads stdlib's files, finds entries by name
 * or alias. */
#include "algebra/library.h"
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

struct named {
    const char *name;
    const struct entry *entry;    /* as the model means it */
    const struct entry *standard; /* as the standard library's files do */
};
struct library {
    struct named *names[3]; /* by entry_kind, in the order of reading */
    int nnames[3], capacity[3];
    const struct entry **all;
    int nall, all_capacity;
};

static void add_name(struct compiler *c, const char *name,
                     const struct entry *e)
{
    struct library *l = c->library;
    int k = (int)e->kind;
    for (int i = 0; i < l->nnames[k]; i++)
        if (l->names[k][i].name == name) { /* a later one replaces it */
            l->names[k][i].entry = e;
            if (e->standard)
                l->names[k][i].standard = e;
            return;
        }
    if (l->nnames[k] == l->capacity[k]) {
        int capacity = l->capacity[k] ? 2 * l->capacity[k] : 256;
        struct named *names = NEW_ARRAY(c, struct named, capacity);
        for (int i = 0; i < l->nnames[k]; i++)
            names[i] = l->names[k][i];
        l->names[k] = names;
        l->capacity[k] = capacity;
    }
    l->names[k][l->nnames[k]++] = (struct named){
        .name = name, .entry = e, .standard = e->standard ? e : NULL};
}

static void library_add(struct compiler *c, struct entry *entries)
{
    struct library *l = c->library;
    for (const struct entry *e = entries; e; e = e->next) {
        if (l->nall == l->all_capacity) {
            int capacity = l->all_capacity ? 2 * l->all_capacity : 256;
            const struct entry **all =
                NEW_ARRAY(c, const struct entry *, capacity);
            for (int i = 0; i < l->nall; i++)
                all[i] = l->all[i];
            l->all = all;
            l->all_capacity = capacity;
        }
        l->all[l->nall++] = e;
        add_name(c, e->name, e);
        const struct clause *alias = entry_clause(e, "alias");
        const struct clause_item *item = alias ? alias->items : NULL;
        for (; item; item = item->next)
            if (item->value->kind == EXPR_NAME)
                add_name(c, item->value->name, e);
    }
}

static int is_library_file(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return n > 4 && !strcmp(d->d_name + n - 4, ".gbm");
}

static int is_folder(const struct dirent *d)
{
    return d->d_type != DT_REG && d->d_name[0] != '.' && !is_library_file(d);
}

static const struct source *read_source(struct compiler *c, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    struct source *s = NEW(c, struct source);
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *text = NEW_ARRAY(c, char, n + 1);
    s->length = n > 0 ? fread(text, 1, (size_t)n, f) : 0;
    fclose(f);
    s->path = intern(c, path);
    s->text = text;
    return s;
}

/* A file of the library: where its name begins in the path. */
struct file {
    const char *path, *name;
};
struct files {
    struct file at[2000];
    int n;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct file *)a)->name,
                  ((const struct file *)b)->name);
}

static void find_files(struct compiler *c, const char *folder,
                       struct files *out)
{
    struct dirent **found;
    int n = scandir(folder, &found, is_library_file, NULL);
    for (int i = 0; i < n; i++) {
        const char *path = path_join(c, folder, found[i]->d_name);
        if (out->n < (int)(sizeof out->at / sizeof *out->at))
            out->at[out->n++] = (struct file){
                path, path + strlen(path) - strlen(found[i]->d_name)};
        free(found[i]);
    }
    if (n >= 0)
        free(found);
}

/* The library's files, in its folder and the folders there, in the order of
 * their names. */
static void load(struct compiler *c)
{
    c->library = NEW(c, struct library);
    struct files *files = NEW(c, struct files);
    struct dirent **folders;
    int n = scandir(c->stdlib, &folders, is_folder, NULL);
    find_files(c, c->stdlib, files);
    for (int i = 0; i < n; i++) {
        find_files(c, path_join(c, c->stdlib, folders[i]->d_name), files);
        free(folders[i]);
    }
    if (n >= 0)
        free(folders);
    qsort(files->at, (size_t)files->n, sizeof *files->at, by_name);
    for (int i = 0; i < files->n; i++) {
        const struct source *s = read_source(c, files->at[i].path);
        struct program p = {0};
        bool good = s && parse_source(c, s, &p);
        for (struct entry *e = p.entries; e; e = e->next)
            e->standard = true;
        if (good)
            library_add(c, p.entries);
    }
    if (!c->library->nall)
        error_at(c, (struct span){0},
                 "no standard library in %s; set GBM_STDLIB to its folder",
                 c->stdlib);
}

static const struct named *find_named(struct compiler *c, enum entry_kind kind,
                                      const char *name)
{
    if (!c->library)
        load(c);
    for (int i = 0; i < c->library->nnames[kind]; i++)
        if (c->library->names[kind][i].name == name)
            return &c->library->names[kind][i];
    return NULL;
}

const struct entry *library_find(struct compiler *c, enum entry_kind kind,
                                 const char *name)
{
    const struct named *found = find_named(c, kind, name);
    return found                    ? found->entry
           : kind == ENTRY_FUNCTION ? density_function(c, name)
                                    : NULL;
}

const struct entry *library_standard(struct compiler *c, enum entry_kind kind,
                                     const char *name)
{
    const struct named *found = find_named(c, kind, intern(c, name));
    return found ? found->standard : NULL;
}

const struct entry *library_meant(struct compiler *c, const struct entry *from,
                                  enum entry_kind kind, const char *name)
{
    return from->standard ? library_standard(c, kind, name)
                          : library_find(c, kind, name);
}

/* The algebra knows functions by their names, and the standard library's files
 * are written in them. */
static void refuse_known(struct compiler *c, const struct entry *e,
                         const char *name, struct span span)
{
    if (e->kind == ENTRY_FUNCTION && library_standard(c, ENTRY_FUNCTION, name))
        error_at(c, span,
                 "%s is a function of the library, whose own files use it; "
                 "give this one another name",
                 name);
}

void library_add_own(struct compiler *c, struct program *p)
{
    if (p->entries && !c->library)
        load(c);
    for (const struct entry *e = p->entries; e; e = e->next) {
        refuse_known(c, e, e->name, e->span);
        const struct clause *alias = entry_clause(e, "alias");
        const struct clause_item *item = alias ? alias->items : NULL;
        for (; item; item = item->next)
            if (item->value->kind == EXPR_NAME)
                refuse_known(c, e, item->value->name, item->value->span);
    }
    if (p->entries)
        library_add(c, p->entries);
}

int library_all(struct compiler *c, const struct entry *const **out)
{
    if (!c->library)
        load(c);
    *out = c->library->all;
    return c->library->nall;
}

const struct clause *entry_clause(const struct entry *e, const char *keyword)
{
    for (const struct clause *k = e->clauses; k; k = k->next)
        if (!strcmp(k->keyword, keyword))
            return k;
    return NULL;
}

const struct expr *entry_value(const struct entry *e, const char *keyword)
{
    const struct clause *k = entry_clause(e, keyword);
    return k && k->items ? k->items->value : NULL;
}

static void list_kind(struct compiler *c, enum entry_kind kind,
                      const char *title, FILE *out)
{
    const struct entry *const *all;
    int n = library_all(c, &all);
    fprintf(out, "%s\n", title);
    for (int i = 0; i < n; i++) {
        const struct entry *e = all[i];
        if (e->kind != kind)
            continue;
        struct text t = {0};
        text_printf(&t, "%s", e->name);
        if (kind != ENTRY_AUGMENTATION)
            text_append(&t, "(");
        for (int j = 0; j < e->nparameters; j++) {
            const struct parameter *p = &e->parameters[j];
            text_printf(&t, "%s%s", j ? ", " : "", p->name);
            if (p->ndims == 1)
                text_append(&t, "[]");
            if (p->ndims == 2)
                text_append(&t, "[,]");
        }
        if (kind != ENTRY_AUGMENTATION)
            text_append(&t, ")");
        int width = e->doc ? (int)strcspn(e->doc, "\n") : 0;
        fprintf(out, "  %-34s ", t.data);
        if (width)
            fprintf(out, "%c%.*s", toupper((unsigned char)e->doc[0]), width - 1,
                    e->doc + 1);
        fputc('\n', out);
        text_free(&t);
    }
}

void library_list(struct compiler *c, FILE *out)
{
    list_kind(c, ENTRY_DISTRIBUTION, "Distributions", out);
    list_kind(c, ENTRY_FUNCTION, "\nFunctions", out);
    list_kind(c, ENTRY_AUGMENTATION, "\nAugmentations", out);
}
