/* Writers: text formats to the letter, netCDF back and forth, and opened by
 * ArviZ and CmdStanPy where they are installed; the printed summary. */
#include "io/draws.h"
#include "io/output.h"
#include "io/touch.h"
#include "summary/summary.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/gbm_test_draws.XXXXXX";

static int make_folder(void **unused)
{
    (void)unused;
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int remove_folder(void **unused)
{
    char command[100];

    (void)unused;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") == 0 ? system(command) : -1;
}

static char *slurp(const char *file)
{
    FILE *f = fopen(file, "rb");
    char *text = calloc(1, 1 << 20);

    if (!f)
        fail_msg("no %s", file);
    assert_non_null(text);
    fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    return text;
}

static bool exists(const char *file) { return access(file, F_OK) == 0; }

/* The number of files in the folder. */
static int count_files(void)
{
    FILE *pipe = popen("ls -A | wc -l", "r");
    int n = -1;

    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%d", &n), 1);
    pclose(pipe);
    return n;
}

static double observed_y[4] = {10, NAN, 30, NAN};
static unsigned char missing_y[4] = {0, 1, 0, 1};
static double constant_x[6] = {1, 2, 3, 4, 5, 6};
static const struct gbm_array array_y = {.name = (char *)(uintptr_t) "Y",
                                         .ndim = 2,
                                         .dim = {2, 2},
                                         .length = 4,
                                         .values = observed_y,
                                         .missing = missing_y};
static const struct gbm_array array_x = {.name = (char *)(uintptr_t) "x",
                                         .ndim = 2,
                                         .dim = {2, 3},
                                         .length = 6,
                                         .values = constant_x,
                                         .integer = true};

/* 2 chains of 3 draws: alpha.c, S[2,3], k (integer), Y with two cells drawn. */
static void make_draws(struct gbm_draws *d)
{
    static const int two_three[] = {2, 3}, two_two[] = {2, 2};
    static const int64_t cells[] = {1, 3};
    int lp;

    gbm_draws_init(d);
    d->model = "toy";
    d->version = "0.1";
    d->warmup = 10;
    d->thin = 2;
    d->seed = 7;
    d->timing = (struct gbm_timing){0.5, 0, 1, 2, 4, 8};
    assert_int_equal(gbm_draws_add_variable(d, "alpha.c", 0, NULL, false), 0);
    assert_int_equal(gbm_draws_add_variable(d, "S", 2, two_three, false), 0);
    assert_int_equal(gbm_draws_add_variable(d, "k", 0, NULL, true), 0);
    assert_int_equal(gbm_draws_add_partial(d, "Y", 2, two_two, false, 2, cells,
                                           (double[]){10, 0, 30, 0}),
                     0);
    assert_int_equal(d->width, 10);
    assert_int_equal(gbm_draws_allocate(d, 2, 5), 0);
    lp = gbm_draws_add_stat(d, "lp", false);
    assert_int_equal(lp, 0);
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < 3; i++) {
            double *r = gbm_draws_record(d, c, i);

            d->stats[lp].values[c * 5 + i] = -1.5 * (i + 1);
            r[0] = c + 0.25 * i;
            for (int j = 0; j < 6; j++)
                r[1 + j] = 100 * c + 10 * i + j;
            r[7] = i;
            r[8] = 0.001 * (c + 1) * (i + 1);
            r[9] = -1e-7 / 3 * (i + 1);
        }
    d->kept = 3;
    assert_int_equal(gbm_draws_add_observed(d, &array_y), 0);
    assert_int_equal(gbm_draws_add_constant(d, &array_x), 0);
}

static void cmdstan_csv(void **unused)
{
    struct gbm_draws d;
    char error[GBM_ERROR] = "", *text;

    (void)unused;
    make_draws(&d);
    if (gbm_draws_write(&d, GBM_FORMAT_CSV, "fit.csv", error))
        fail_msg("%s", error);
    assert_true(exists("fit_1.csv") && exists("fit_2.csv"));
    text = slurp("fit_2.csv");
    assert_non_null(strstr(text, "# model = toy_model\n"));
    assert_non_null(strstr(text, "#     num_samples = 6\n"));
    assert_non_null(strstr(text, "#   id = 2\n"));
    assert_non_null(strstr(text, "# complete = 1\n"));
    assert_non_null(strstr(
        text,
        "\nlp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,"
        "energy__,alpha_c,S.1.1,S.2.1,S.1.2,S.2.2,S.1.3,S.2.3,k,Y.1.2,Y.2.2\n"
        "# Adaptation terminated\n# Step size = 1\n"
        "# No free parameters for unit metric\n"
        "-1.5,1,1,0,0,0,1.5,1,100,103,101,104,102,105,0,0.002,-3.3333333e-08\n"
        "-3,1,1,0,0,0,3,1.25,110,113,111,114,112,115,1,0.004,-6.6666667e-08\n"
        "-4.5,1,1,0,0,0,4.5,1.5,120,123,121,124,122,125,2,0.006,-1e-07\n"
        "# \n#  Elapsed Time: 1 seconds (Warm-up)\n"));
    free(text);
    d.complete = false;
    assert_int_equal(gbm_draws_write(&d, GBM_FORMAT_CSV, "fit.csv", error), 0);
    text = slurp("fit_1.csv");
    assert_non_null(strstr(text, "# complete = 0\n"));
    free(text);
    gbm_draws_free(&d);
    unlink("fit_1.csv");
    unlink("fit_2.csv");
}

static void coda(void **unused)
{
    struct gbm_draws d;
    char error[GBM_ERROR] = "", *text;

    (void)unused;
    make_draws(&d);
    gbm_draws_record(&d, 1, 2)[3] = NAN; /* S[1,3] is dropped everywhere */
    assert_int_equal(gbm_draws_write(&d, GBM_FORMAT_CODA, "fit", error), 0);
    text = slurp("fitindex.txt");
    assert_string_equal(text, "alpha.c 1 3\nS[1,1] 4 6\nS[2,1] 7 9\nS[1,2] 10 "
                              "12\nS[2,2] 13 15\nS[2,3] 16 18\nk 19 21\n"
                              "Y[1,2] 22 24\nY[2,2] 25 27\n");
    free(text);
    text = slurp("fitchain1.txt");
    assert_ptr_equal(strstr(text, "12  0\n14  0.25\n16  0.5\n12  0\n14  10\n"
                                  "16  20\n12  3\n14  13\n"),
                     text);
    free(text);
    assert_true(exists("fitchain2.txt"));
    gbm_draws_free(&d);
    assert_int_equal(system("rm fit*.txt"), 0);
}

static void netcdf_round_trip(void **unused)
{
    struct gbm_draws d, back;
    char error[GBM_ERROR] = "";

    (void)unused;
    make_draws(&d);
    d.complete = false;
    if (gbm_draws_write(&d, GBM_FORMAT_NETCDF, "fit.nc", error))
        fail_msg("%s", error);
    if (gbm_draws_read_netcdf(&back, "fit.nc", error))
        fail_msg("%s", error);
    assert_string_equal(back.model, "toy");
    assert_false(back.complete);
    assert_int_equal(back.thin, 2);
    assert_int_equal(back.warmup, 10);
    assert_true(back.timing.sampling_cpu_s == 8 && back.timing.load_s == 0.5);
    assert_int_equal(back.nvariables, 4);
    assert_int_equal(back.width, 10);
    assert_int_equal(back.kept, 3);
    assert_int_equal(back.chains, 2);
    assert_string_equal(back.variables[1].name, "S");
    assert_true(back.variables[2].integer);
    assert_int_equal(back.variables[3].count, 2);
    assert_int_equal(back.variables[3].cells[1], 3);
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < 3; i++)
            assert_memory_equal(gbm_draws_record(&back, c, i),
                                gbm_draws_record(&d, c, i),
                                10 * sizeof(double));
    gbm_draws_free(&back);
    gbm_draws_free(&d);
    unlink("fit.nc");
    assert_int_equal(count_files(), 0); /* no temporary file stays */
}

/* Beside make_draws: of 4 cells of Y 2 have a log likelihood, z[2] is data
 * drawn anew. */
static void make_groups(struct gbm_draws *d, bool whole)
{
    static const int two_two[] = {2, 2}, two[] = {2};
    static const int64_t cells[] = {0, 2};
    static double none[4] = {0, 0, 0, 0};

    gbm_draws_init(d);
    assert_int_equal(gbm_draws_add_variable(d, "mu", 0, NULL, false), 0);
    d->group = GBM_POSTERIOR_PREDICTIVE;
    assert_int_equal(gbm_draws_add_variable(d, "z", 1, two, true), 0);
    d->group = GBM_LOG_LIKELIHOOD;
    if (whole)
        assert_int_equal(gbm_draws_add_variable(d, "Y", 2, two_two, false), 0);
    else
        assert_int_equal(
            gbm_draws_add_partial(d, "Y", 2, two_two, false, 2, cells, none),
            0);
    assert_int_equal(d->width, whole ? 7 : 5);
    assert_int_equal(d->quantities, 3);
    assert_int_equal(gbm_draws_allocate(d, 1, 2), 0);
    for (int i = 0; i < 2 * d->width; i++)
        d->values[i] = i;
    d->kept = 2;
}

static void groups(void **unused)
{
    struct gbm_draws d, back;
    struct gbm_summary summary;
    char error[GBM_ERROR] = "", *text;

    (void)unused;
    make_groups(&d, false);
    if (gbm_draws_write(&d, GBM_FORMAT_NETCDF, "fit.nc", error) ||
        gbm_draws_read(&back, "fit.nc", error)) /* by the spool's form */
        fail_msg("%s", error);
    assert_int_equal(back.nvariables, 3);
    assert_int_equal(back.width, 5);
    assert_int_equal(back.quantities, 3);
    assert_int_equal(back.variables[0].group, GBM_POSTERIOR);
    assert_int_equal(back.variables[1].group, GBM_POSTERIOR_PREDICTIVE);
    assert_true(back.variables[1].integer);
    assert_int_equal(back.variables[2].group, GBM_LOG_LIKELIHOOD);
    assert_int_equal(back.variables[2].ndim, 2);
    assert_int_equal(back.variables[2].dim[1], 2);
    assert_int_equal(back.variables[2].count, 2);
    assert_int_equal(back.variables[2].cells[1], 2);
    assert_memory_equal(back.values, d.values, 10 * sizeof(double));
    assert_int_equal(gbm_summarise(&summary, &back, error), 0);
    assert_int_equal(summary.count, 3);
    gbm_summary_free(&summary);
    gbm_draws_free(&back);
    assert_int_equal(gbm_draws_write(&d, GBM_FORMAT_CSV, "fit.csv", error), 0);
    text = slurp("fit_1.csv");
    assert_non_null(strstr(text, "energy__,mu,z.1,z.2,log_lik.1,log_lik.2\n"));
    free(text);
    assert_int_equal(gbm_draws_write(&d, GBM_FORMAT_CODA, "fit", error), 0);
    text = slurp("fitindex.txt");
    assert_string_equal(text, "mu 1 2\nz[1] 3 4\nz[2] 5 6\n");
    free(text);
    gbm_draws_free(&d);
    make_groups(&d, true);
    assert_int_equal(gbm_draws_write(&d, GBM_FORMAT_CSV, "fit.csv", error), 0);
    text = slurp("fit_1.csv");
    assert_non_null(strstr(text, "mu,z.1,z.2,log_lik.1.1,log_lik.2.1,"
                                 "log_lik.1.2,log_lik.2.2\n"));
    free(text);
    gbm_draws_free(&d);
    assert_int_equal(system("rm fit*"), 0);
}

static void netcdf_mistakes(void **unused)
{
    struct gbm_draws d;
    char error[GBM_ERROR] = "";
    FILE *f = fopen("text.nc", "w");

    (void)unused;
    fputs("no netCDF\n", f);
    fclose(f);
    assert_int_equal(gbm_draws_read_netcdf(&d, "none.nc", error),
                     GBM_USER_ERROR);
    assert_non_null(strstr(error, "none.nc: cannot read: No such file"));
    assert_int_equal(gbm_draws_read_netcdf(&d, "text.nc", error),
                     GBM_USER_ERROR);
    assert_non_null(strstr(error, "text.nc: cannot read: "));
    unlink("text.nc");
}

/* Runs Python code; 0 fine, 1 failed, 2: the packages are not there. */
static int python(const char *packages, const char *code)
{
    const char *interpreter = getenv("GBM_PYTHON");
    char command[4096];

    if (!interpreter)
        interpreter = "python3";
    snprintf(command, sizeof command, "%s -W ignore -c 'import %s' 2>/dev/null",
             interpreter, packages);
    if (system(command) != 0)
        return 2;
    snprintf(command, sizeof command, "%s -W ignore - <<'END'\n%s\nEND",
             interpreter, code);
    return system(command) == 0 ? 0 : 1;
}

static void arviz_opens_netcdf(void **unused)
{
    struct gbm_draws d;
    char error[GBM_ERROR] = "";
    int result;

    (void)unused;
    make_draws(&d);
    assert_int_equal(gbm_draws_write(&d, GBM_FORMAT_NETCDF, "fit.nc", error),
                     0);
    gbm_draws_free(&d);
    result = python(
        "arviz",
        "import arviz as az, numpy as np\n"
        "f = az.from_netcdf('fit.nc')\n"
        "p = f.posterior\n"
        "assert set(f.groups()) == {'posterior', 'sample_stats',"
        " 'observed_data', 'constant_data'}, f.groups()\n"
        "assert p['S'].dims == ('chain', 'draw', 'S_dim_0', 'S_dim_1')\n"
        "assert p['S'].shape == (2, 3, 2, 3)\n"
        "assert float(p['S'][1, 2, 1, 0]) == 123\n"
        "assert list(p.coords['draw'].values) == [0, 1, 2]\n"
        "assert list(p['S'].coords['S_dim_1'].values) == [0, 1, 2]\n"
        "assert p['k'].dtype.kind == 'i'\n"
        "assert float(p['Y'][0, 0, 0, 0]) == 10\n"
        "assert np.isnan(f.observed_data['Y'].values[0, 1])\n"
        "assert f.constant_data['x'].values.tolist() == [[1,2,3],[4,5,6]]\n"
        "assert f.sample_stats['lp'].values[1].tolist() == [-1.5,-3,-4.5]\n"
        "assert p.attrs['inference_library'] == 'gbm'\n"
        "assert int(p.attrs['complete']) == 1\n"
        "az.summary(f)\n");
    unlink("fit.nc");
    if (result == 2)
        skip();
    assert_int_equal(result, 0);
}

static void cmdstanpy_opens_csv(void **unused)
{
    struct gbm_draws d;
    char error[GBM_ERROR] = "";
    int result;

    (void)unused;
    make_draws(&d);
    d.nvariables = 3; /* a partly observed array is no whole one for it */
    d.width = 8;
    free(d.variables[3].name);
    free(d.variables[3].cells);
    free(d.variables[3].filled);
    assert_int_equal(gbm_draws_write(&d, GBM_FORMAT_CSV, "fit.csv", error), 0);
    gbm_draws_free(&d);
    result = python("cmdstanpy, arviz",
                    "import cmdstanpy, arviz as az, logging\n"
                    "logging.disable(logging.CRITICAL)\n"
                    "files = ['fit_1.csv', 'fit_2.csv']\n"
                    "f = cmdstanpy.from_csv(files)\n"
                    "assert f.chains == 2 and f.num_draws_sampling == 3\n"
                    "assert f.stan_variable('S').shape == (6, 2, 3)\n"
                    "g = az.from_cmdstan(files)\n"
                    "assert g.posterior['S'].shape == (2, 3, 2, 3)\n"
                    "assert 'lp' in g.sample_stats\n");
    unlink("fit_1.csv");
    unlink("fit_2.csv");
    if (result == 2)
        skip();
    assert_int_equal(result, 0);
}

static void unwritable(void **unused)
{
    struct gbm_draws d;
    char error[GBM_ERROR] = "";
    enum gbm_format format;

    (void)unused;
    make_draws(&d);
    for (format = GBM_FORMAT_NETCDF; format <= GBM_FORMAT_CODA; format++) {
        error[0] = '\0';
        assert_int_equal(
            gbm_draws_check_output(format, "none/fit.csv", 2, error),
            GBM_USER_ERROR);
        assert_non_null(
            strstr(error, ": cannot write: No such file or directory"));
        assert_int_not_equal(gbm_draws_write(&d, format, "none/fit", error),
                             GBM_OK);
        assert_int_equal(gbm_draws_check_output(format, "fit.csv", 2, error),
                         GBM_OK);
    }
    assert_int_equal(mkdir("there", 0777), 0);
    assert_int_equal(
        gbm_draws_check_output(GBM_FORMAT_NETCDF, "there", 2, error),
        GBM_USER_ERROR);
    assert_string_equal(error, "there: cannot write: Is a directory");
    rmdir("there");
    gbm_draws_free(&d);
    assert_int_equal(count_files(), 0);
}

/* /dev/full: the disk is full; the message says so, and the device stays. */
static void full_disk(void **unused)
{
    char error[GBM_ERROR] = "";
    struct rt_out *out;

    (void)unused;
    if (!exists("/dev/full"))
        skip();
    out = malloc(sizeof *out);
    assert_non_null(out);
    assert_int_equal(rt_out_open(out, "/dev/full", error), GBM_OK);
    for (int i = 0; i < 100000; i++)
        rt_out_text(out, "text");
    assert_int_equal(rt_out_close(out, true, error), GBM_FAILURE);
    assert_string_equal(error,
                        "/dev/full: cannot write: No space left on device");
    assert_true(exists("/dev/full"));
    free(out);
}

static void formats(void **unused)
{
    enum gbm_format f;
    char error[GBM_ERROR];

    (void)unused;
    assert_int_equal(gbm_format_of(NULL, "a.nc", &f, error), GBM_OK);
    assert_int_equal(f, GBM_FORMAT_NETCDF);
    assert_int_equal(gbm_format_of(NULL, "a.csv", &f, error), GBM_OK);
    assert_int_equal(f, GBM_FORMAT_CSV);
    assert_int_equal(gbm_format_of("coda", "a", &f, error), GBM_OK);
    assert_int_equal(f, GBM_FORMAT_CODA);
    assert_int_equal(gbm_format_of(NULL, "a.xls", &f, error), GBM_USER_ERROR);
    assert_int_equal(gbm_format_of("xls", "a", &f, error), GBM_USER_ERROR);
}

/* As printf has it, digit for digit. */
static void compare_number(double x, int digits)
{
    char got[RT_NUMBER + 1], want[64];

    *rt_format_number(got, x, digits) = '\0';
    snprintf(want, sizeof want, "%.*g", digits, x);
    if (strcmp(got, want) != 0)
        fail_msg("%.17g, %d digits: %s, not %s", x, digits, got, want);
}

/* Of all sizes, subnormal ones and infinities too; draws' sizes; integers and
 * ties; powers of ten and what is next to them. */
static void numbers(void **unused)
{
    enum { COUNT = 400000 };
    uint64_t state = 1;
    char zero[RT_NUMBER];

    (void)unused;
    for (int i = 0; i < COUNT; i++) {
        int digits, power = i % 640 - 324;
        uint64_t bits;
        double x;

        state = state * UINT64_C(6364136223846793005) +
                UINT64_C(1442695040888963407);
        bits = state ^ state >> 29;
        digits = i % 4 ? 8 : 1 + (int)(bits % 17);
        memcpy(&x, &bits, sizeof x);
        if (!isnan(x))
            compare_number(x, digits);
        compare_number(((double)(bits >> 11) * 0x1p-53 - 0.5) *
                           pow(10, (int)(bits % 60) - 30),
                       digits);
        compare_number(
            ldexp((double)(int64_t)(bits >> (11 + i % 50)), -(int)(bits % 20)),
            digits);
        compare_number(i / 2.0, digits);
        x = pow(10, power);
        compare_number(x, digits);
        compare_number(nextafter(x, INFINITY), digits);
        compare_number(-nextafter(x, 0) - 0x1p-1074, digits);
    }
    for (int digits = 1; digits <= 17; digits++) {
        compare_number(INFINITY, digits);
        compare_number(-INFINITY, digits);
        assert_int_equal(rt_format_number(zero, -0.0, digits) - zero, 1);
        assert_int_equal(zero[0], '0');
    }
}

/* What the system says of the memory at `where`. */
static bool has_large_pages(const void *where)
{
    FILE *f = fopen("/proc/self/smaps", "r");
    unsigned long first, last;
    bool inside = false, found = false;
    char line[1000];

    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx ", &first, &last) == 2)
            inside = (uintptr_t)where >= first && (uintptr_t)where < last;
        if (inside && strncmp(line, "VmFlags:", 8) == 0)
            found = strstr(line, " hg") != NULL;
    }
    if (f)
        fclose(f);
    return found;
}

static void large_pages(void **unused)
{
    enum { COUNT = 1 << 22 };
    struct gbm_draws d;
    char *some = mmap(NULL, COUNT, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)unused;
    assert_true(some != MAP_FAILED);
    bool known =
        madvise(some, COUNT, MADV_HUGEPAGE) == 0 && has_large_pages(some);
    munmap(some, COUNT);
    if (!known)
        skip();
    gbm_draws_init(&d);
    assert_int_equal(gbm_draws_add_variable(&d, "x", 0, NULL, false), GBM_OK);
    assert_int_equal(gbm_draws_allocate(&d, 4, COUNT / 4), GBM_OK);
    assert_true(has_large_pages(d.values + COUNT / 2));
    gbm_draws_free(&d);
}

static void summary_json(void **unused)
{
    struct gbm_draws d;
    struct gbm_summary s;
    char error[GBM_ERROR], *text;
    static const int four[] = {4};

    (void)unused;
    make_draws(&d);
    assert_int_equal(gbm_draws_add_moments(&d, "z", 1, four, 2,
                                           (int64_t[]){1, 3}, 0,
                                           (double[]){0.5, 2}, (double[]){1, 3},
                                           (double[]){1.5, NAN}),
                     0);
    assert_int_equal(gbm_summarise(&s, &d, error), GBM_OK);
    assert_int_equal(gbm_summary_write(&s, NULL, "s.json", error), GBM_OK);
    text = slurp("s.json");
    assert_non_null(strstr(
        text, "\"timing\": {\"load_s\": 0.5, \"jit_s\": 0, \"warmup_s\": 1, "
              "\"sampling_s\": 2,\n    \"warmup_cpu_s\": 4, "
              "\"sampling_cpu_s\": 8}"));
    assert_non_null(strstr(text, "\"alpha.c\": {\"mean\": 0.75, \"sd\": "));
    assert_non_null(strstr(text, "\"Y[1,2]\": {\"mean\": 0.003, "));
    assert_null(strstr(text, "\"Y[1,1]\""));
    assert_non_null(strstr(
        text, "\"z[4]\": {\"mean\": 2, \"sd\": 3, \"mcse\": null, \"q5\": "
              "null, \"q50\": null, \"q95\": null, \"ess_bulk\": null, "
              "\"ess_tail\": null, \"rhat\": null}"));
    free(text);
    assert_int_equal(gbm_summary_write(&s, NULL, "none/s.json", error),
                     GBM_USER_ERROR);
    gbm_summary_free(&s);
    gbm_draws_free(&d);
    unlink("s.json");
}

/* theta[1:3]: well mixed, one shifted chain, a constant. */
static void make_chains(struct gbm_draws *d, int draws)
{
    static const int three[] = {3};
    uint64_t state = 9;

    gbm_draws_init(d);
    gbm_draws_add_variable(d, "theta", 1, three, false);
    gbm_draws_allocate(d, 4, draws);
    for (int c = 0; c < 4; c++)
        for (int i = 0; i < draws; i++) {
            double *r = gbm_draws_record(d, c, i);

            for (int j = 0; j < 2; j++) {
                state = state * UINT64_C(6364136223846793005) +
                        UINT64_C(1442695040888963407);
                r[j] = (double)(state >> 11) * 0x1p-53 + (c == 2 && j == 1);
            }
            r[2] = 4;
        }
    d->kept = draws;
}

static char *printed(struct gbm_summary *s, int64_t rows)
{
    FILE *f = fopen("table.txt", "w");
    char *text;

    assert_non_null(f);
    s->view.rows = rows;
    gbm_summary_print(s, f);
    fclose(f);
    text = slurp("table.txt");
    unlink("table.txt");
    return text;
}

static void summary_table(void **unused)
{
    struct gbm_draws d;
    struct gbm_summary s;
    char error[GBM_ERROR], *text;
    double ess, rhat;

    (void)unused;
    make_chains(&d, 1000);
    assert_int_equal(gbm_summarise(&s, &d, error), GBM_OK);
    gbm_summary_worst(&s, &ess, &rhat);
    assert_true(ess < 400 && rhat > 1.2);
    text = printed(&s, 0);
    assert_int_equal(strncmp(text, "name ", 5), 0);
    assert_non_null(strstr(text, "\ntheta[1]  "));
    assert_non_null(strstr(text, "Warning: R-hat is above 1.01 for 1 quantity "
                                 "(theta[2]; largest 1."));
    assert_non_null(strstr(text, "Warning: the effective sample size is below "
                                 "400 for 1 quantity (theta[2]"));
    assert_non_null(strstr(text, "Note: 1 quantity never changed (theta[3])"));
    free(text);
    text = printed(&s, 1);
    assert_non_null(strstr(text, "... and 2 more rows."));
    assert_null(strstr(text, "\ntheta[2] "));
    assert_non_null(strstr(text, "(theta[2]; largest"));
    free(text);
    gbm_summary_free(&s);
    d.kept = 2;
    d.complete = false;
    assert_int_equal(gbm_summarise(&s, &d, error), GBM_OK);
    text = printed(&s, 0);
    assert_non_null(strstr(text, "the run was stopped early, after 2 draws"));
    assert_non_null(strstr(text, "too few draws"));
    free(text);
    gbm_summary_free(&s);
    gbm_draws_free(&d);
}

static void nothing_kept(void **unused)
{
    static const enum gbm_format all[] = {GBM_FORMAT_NETCDF, GBM_FORMAT_CSV,
                                          GBM_FORMAT_CODA};
    struct gbm_draws d;
    struct gbm_summary s;
    char error[GBM_ERROR] = "";

    (void)unused;
    make_draws(&d);
    d.kept = 0;
    d.complete = false;
    for (int i = 0; i < 3; i++)
        if (gbm_draws_write(&d, all[i], "fit.csv", error))
            fail_msg("%s", error);
    assert_int_equal(gbm_summarise(&s, &d, error), GBM_OK);
    free(printed(&s, 0));
    gbm_summary_free(&s);
    gbm_draws_free(&d);
    assert_int_equal(system("rm fit*"), 0);
}

/* Number of the pages from `at` on that the system has given out. */
static size_t count_touched(char *at, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *there = malloc(bytes / page);
    size_t n = 0;

    assert_non_null(there);
    assert_int_equal(mincore(at, bytes, there), 0);
    for (size_t i = 0; i < bytes / page; i++)
        n += there[i] & 1;
    free(there);
    return n;
}

/* Threads touch all, and leave what is written meanwhile. */
static void touched_ahead(void **unused)
{
    const size_t bytes = 8 << 20, pages = bytes / (size_t)sysconf(_SC_PAGESIZE);
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)unused;
    assert_true(at != MAP_FAILED);
    assert_null(gbm_touch_begin(at, bytes, 0));
    assert_int_equal(count_touched(at, bytes), 0);
    struct gbm_touch *touch = gbm_touch_begin(at, bytes, 2);
    assert_non_null(touch);
    for (size_t i = 0; i < bytes / 2; i += 512)
        at[i] = (char)(i / 512 % 100 + 1);
    for (int k = 0; k < 1000 && count_touched(at, bytes) < pages; k++)
        usleep(10000);
    assert_int_equal(count_touched(at, bytes), pages);
    gbm_touch_end(touch);
    for (size_t i = 0; i < bytes; i += 512)
        assert_int_equal(at[i], i < bytes / 2 ? i / 512 % 100 + 1 : 0);

    munmap(at, bytes);
    gbm_touch_end(NULL);
}

/* More room keeps records and stats where they belong. */
static void more_room(void **unused)
{
    struct gbm_draws d;

    (void)unused;
    gbm_draws_init(&d);
    assert_int_equal(gbm_draws_add_variable(&d, "x", 0, NULL, false), GBM_OK);
    assert_int_equal(gbm_draws_allocate(&d, 2, 3), GBM_OK);
    assert_int_equal(gbm_draws_add_stat(&d, "lp", false), 0);
    for (int i = 0; i < 6; i++)
        d.values[i] = i, d.stats[0].values[i] = -i;
    d.kept = 3;
    assert_int_equal(gbm_draws_grow(&d, 5), GBM_OK);
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < 3; k++) {
            assert_true(*gbm_draws_record(&d, c, k) == 3 * c + k);
            assert_true(d.stats[0].values[5 * c + k] == -(3 * c + k));
        }
    gbm_draws_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cmdstan_csv),
        cmocka_unit_test(coda),
        cmocka_unit_test(netcdf_round_trip),
        cmocka_unit_test(netcdf_mistakes),
        cmocka_unit_test(groups),
        cmocka_unit_test(arviz_opens_netcdf),
        cmocka_unit_test(cmdstanpy_opens_csv),
        cmocka_unit_test(unwritable),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(formats),
        cmocka_unit_test(numbers),
        cmocka_unit_test(large_pages),
        cmocka_unit_test(touched_ahead),
        cmocka_unit_test(more_room),
        cmocka_unit_test(summary_json),
        cmocka_unit_test(summary_table),
        cmocka_unit_test(nothing_kept),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
