/* new.c: `gbm new`: a first model that runs, to be changed. */
#include "command.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char model[] =
    "# A regression line. Replace it by your own model: any file that JAGS "
    "runs is one.\n"
    "\n"
    "given    N, x[N]                  # must be in the data\n"
    "observed y[N]                     # data, too; null (NA) is drawn\n"
    "\n"
    "model {\n"
    "  for (i in 1:N) {\n"
    "    mu[i] <- alpha + beta * (x[i] - mean(x[]))\n"
    "    y[i] ~ normal(mu[i], sigma)   # sigma is a standard deviation\n"
    "  }\n"
    "  alpha ~ normal(0, 100)          # dnorm(0, 1.0E-4) is BUGS' way to say "
    "it\n"
    "  beta  ~ normal(0, 100)\n"
    "  sigma ~ half_cauchy(5)\n"
    "}\n";

static const char data[] =
    "{\n"
    "  \"N\": 8,\n"
    "  \"x\": [1, 2, 3, 4, 5, 6, 7, 8],\n"
    "  \"y\": [3.1, 4.9, 7.2, 9.1, null, 12.8, 15.2, 16.9]\n"
    "}\n";

static const char page[] =
    "# %1$s\n"
    "\n"
    "`model.gbm` is the model, `data.json` its data; `null` is a missing "
    "value. In this folder:\n"
    "\n"
    "    gbm explain model.gbm                      # how each variable is "
    "sampled\n"
    "    gbm run model.gbm data.json --out fit.nc   # compile, draw, "
    "summarise\n"
    "    gbm summary fit.nc --show all --quantiles 2.5,50,97.5\n"
    "    gbm check model.gbm data.json              # conditionals against the "
    "joint density\n"
    "    gbm dag model.gbm                          # the graph, as model.svg\n"
    "\n"
    "`gbm library` lists distributions and functions, `gbm library normal` "
    "tells about one.\n";

static bool write_file(const char *folder, const char *name, const char *format,
                       const char *title)
{
    char path[PATH_MAX + 32];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    if (title)
        fprintf(f, format, title); /* of this file: page */
    else
        fputs(format, f);
    bool bad = ferror(f) != 0;
    return fclose(f) == 0 && !bad;
}

static void remove_all(const char *folder)
{
    static const char *const names[] = {"model.gbm", "data.json", "README.md"};
    char path[PATH_MAX + 32];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* The folder appears whole or not at all. */
static int make(const char *folder, const char *title)
{
    char beside[PATH_MAX];
    struct stat s;

    if (lstat(folder, &s) == 0)
        return complain("%s is there already", folder);
    snprintf(beside, sizeof beside, "%s.XXXXXX", folder);
    if (!mkdtemp(beside))
        return complain("cannot make %s: %s", folder, strerror(errno));
    mode_t others = umask(0);
    umask(others);
    if (chmod(beside, 0777 & ~others) == 0 &&
        write_file(beside, "model.gbm", model, NULL) &&
        write_file(beside, "data.json", data, NULL) &&
        write_file(beside, "README.md", page, title) &&
        rename(beside, folder) == 0) {
        printf("%s: model.gbm, data.json and README.md; to begin:\n  gbm run "
               "'%s/model.gbm' '%s/data.json'\n",
               folder, folder, folder);
        return 0;
    }
    complain("cannot write %s: %s", folder, strerror(errno));
    remove_all(beside);
    return 2;
}

int make_new(const struct command *c, int argc, char **argv)
{
    char folder[PATH_MAX - 16];

    if (argc != 2 || !argv[1][0] || argv[1][0] == '-')
        return complain("%s: one name is wanted: gbm new %s", c->name,
                        c->usage);
    size_t n = strlen(argv[1]);
    if (n >= sizeof folder)
        return complain("the folder's name is too long");
    memcpy(folder, argv[1], n + 1);
    while (n > 1 && folder[n - 1] == '/')
        folder[--n] = '\0';
    const char *slash = strrchr(folder, '/');
    return make(folder, slash && slash[1] ? slash + 1 : folder);
}
