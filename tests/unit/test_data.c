/* Readers: values, shapes and order of every format; the message of every kind
 * of mistake. */
#include "io/data.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/gbm_test_data.XXXXXX";

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

static void put_bytes(const char *file, const void *bytes, size_t n)
{
    FILE *f = fopen(file, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static enum gbm_status read_text(struct gbm_data *data, const char *file,
                                 const char *text, char *error)
{
    put_bytes(file, text, strlen(text));
    error[0] = '\0';
    return gbm_data_read(data, file, error);
}

/* Reads `text` as `file`; it must succeed. */
static struct gbm_data good(const char *file, const char *text)
{
    struct gbm_data data = {0};
    char error[GBM_ERROR];

    if (read_text(&data, file, text, error))
        fail_msg("%s: %s", text, error);
    return data;
}

/* Reads `text` as `file`; it must fail with exactly this message. */
static void bad(const char *file, const char *text, const char *message)
{
    struct gbm_data data = {0};
    char error[GBM_ERROR];

    if (read_text(&data, file, text, error) != GBM_USER_ERROR)
        fail_msg("%s was read", text);
    if (strcmp(error, message) != 0)
        fail_msg("%s gives\n  %s\nnot\n  %s", text, error, message);
    assert_int_equal(data.narrays, 0);
    gbm_data_free(&data);
}

/* `shape` is "" for a scalar, else as "2,3". NaN in `values`: missing. */
static void has(const struct gbm_data *data, const char *name,
                const char *shape, const double *values)
{
    const struct gbm_array *a = gbm_data_find(data, name);
    char text[100] = "";
    int64_t length = 1;

    if (!a)
        fail_msg("no %s", name);
    for (int d = 0; d < a->ndim; d++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d",
                 d ? "," : "", a->dim[d]);
        length *= a->dim[d];
    }
    assert_string_equal(text, shape);
    assert_int_equal(a->length, length);
    for (int64_t i = 0; i < length; i++) {
        bool missing = a->missing && a->missing[i];

        if (missing != (bool)isnan(values[i]) ||
            (!missing && a->values[i] != values[i]))
            fail_msg("%s: cell %d is %.17g", name, (int)i, a->values[i]);
    }
}
#define V(...) ((const double[]){__VA_ARGS__})
#define HAS(data, name, shape, ...) has(data, name, shape, V(__VA_ARGS__))

static void json_values(void **unused)
{
    struct gbm_data d =
        good("a.json", "\xEF\xBB\xBF{\"N\": 3, \"one\": [7], \"x\": [[1, 2.5, "
                       "-3e-2],\n [4,5,6]],\n \"y\": [1, null, \"NA\"],"
                       "\"none\": [], \"none2\": [[],[]], \"b\": true,"
                       "\"alpha.c\": 0.1, \"t\":[[[1],[2]],[[3],[4]]]}\n");

    (void)unused;
    HAS(&d, "N", "", 3);
    HAS(&d, "one", "1", 7);
    HAS(&d, "x", "2,3", 1, 2.5, -3e-2, 4, 5, 6);
    HAS(&d, "y", "3", 1, NAN, NAN);
    HAS(&d, "none", "0", 0);
    HAS(&d, "none2", "2,0", 0);
    HAS(&d, "b", "", 1);
    HAS(&d, "alpha.c", "", 0.1);
    HAS(&d, "t", "2,2,1", 1, 2, 3, 4);
    assert_true(gbm_data_find(&d, "N")->integer);
    assert_true(gbm_data_find(&d, "y")->integer);
    assert_false(gbm_data_find(&d, "x")->integer);
    assert_false(gbm_data_find(&d, "N")->scalar_like);
    assert_null(gbm_data_find(&d, "z"));
    gbm_data_free(&d);
}

static void json_nonfinite(void **unused)
{
    struct gbm_data d = {.allow_nonfinite = true};
    char error[GBM_ERROR];

    (void)unused;
    assert_int_equal(read_text(&d, "a.json",
                               "{\"x\": [\"Inf\", \"-Inf\", Infinity, "
                               "-Infinity, \"NaN\", NaN]}",
                               error),
                     GBM_OK);
    assert_true(isinf(d.arrays[0].values[2]) && d.arrays[0].values[3] < 0);
    assert_true(isnan(d.arrays[0].values[5]) && !d.arrays[0].missing);
    gbm_data_free(&d);
    bad("a.json", "{\"N\": 2,\n  \"x\": [[1, 2], [3, \"NaN\"]]}",
        "a.json:2:3: x[2,2] = NaN: data must be finite (missing values are "
        "written NA or null)");
    bad("a.json", "{\"x\": -1e999}",
        "a.json:1:2: x = -Inf: data must be finite (missing values are "
        "written NA or null)");
}

static void json_mistakes(void **unused)
{
    (void)unused;
    bad("a.json", "{\"x\": [[1, 2, 3],\n        [4, 5]]}",
        "a.json:2:14: x[2] has 2 elements where those before it have 3: arrays "
        "must be rectangular");
    bad("a.json", "{\"x\": [[1, 2], 3]}",
        "a.json:1:16: x[2] is a number where the elements before it are lists");
    bad("a.json", "{\"x\": [1, [2]]}",
        "a.json:1:11: x[2] is a list where the elements before it are numbers");
    bad("a.json", "{\"x\": [1, 2",
        "a.json:1:12: expected ',' or ']' in 'x', found the end of the file");
    bad("a.json", "{\"x\": [1,\n",
        "a.json:2:1: expected a value of 'x', found the end of the file");
    bad("a.json", "{\"x\": 1,\n \"y\"",
        "a.json:2:5: expected ':' after the name, found the end of the file");
    bad("a.json", "{\"x\": 1",
        "a.json:1:8: expected ',' or '}' after a variable, found the end of "
        "the file");
    bad("a.json", "{\"x\": 1} x",
        "a.json:1:10: text after the end of the "
        "object");
    bad("a.json", "{\"x\": \"red\"}",
        "a.json:1:7: 'x' has text where a number is expected");
    bad("a.json", "{\"x\": {\"1\": 2}}",
        "a.json:1:7: 'x' has an object where a number or an array is expected");
    bad("a.json", "{\"x\": 1, \"x\": 2}",
        "a.json:1:10: 'x' is given already, by a.json");
    bad("a.json", "{\"x: 1}\n", "a.json:1:2: the string is not closed");
    bad("a.json", "{x: 1}",
        "a.json:1:2: expected a variable's name in double "
        "quotes, found 'x'");
    bad("a.json", "[1, 2]",
        "a.json:1:1: expected '{': data are one JSON "
        "object, {\"name\": value, ...}");
    bad("a.json", "{\"x\": [[[[[[[[[1]]]]]]]]]}",
        "a.json:1:15: 'x' has more than 8 dimensions");
    bad("a.json", "", "a.json: the file is empty");
    bad("a.json", "  \n", "a.json: the file is empty");
}

static void rdump_values(void **unused)
{
    struct gbm_data d = good(
        "data.R", "# pumps\n\"N\" <- 10L\n`alpha.c` <- 1.5; y <- c(1, NA, -3)\n"
                  "x <-\nstructure(c(1, 2, 3, 4, 5, 6), .Dim = c(2L, 3L))\n"
                  "w = structure(.Data = 1:4, .Dim=c(2,2),\n .Dimnames = "
                  "list(c(\"a\", \"b\"), NULL))\n"
                  "v <- 3:1\nz <- integer(0)\ni <- as.integer(c(1.0, 2))\n"
                  "o <- structure(5, dim = 1L)\nr <- c(rep(0, 2), rep(c(1, 2), "
                  "each=2), -(1:2))\nzeros <- double(3)\n"
                  ".RNG.name <- \"base::Mersenne-Twister\"\n.RNG.seed <- 42\n");

    (void)unused;
    HAS(&d, "N", "", 10);
    assert_true(gbm_data_find(&d, "N")->scalar_like);
    HAS(&d, "alpha.c", "", 1.5);
    HAS(&d, "y", "3", 1, NAN, -3);
    HAS(&d, "x", "2,3", 1, 3, 5, 2, 4, 6);
    HAS(&d, "w", "2,2", 1, 3, 2, 4);
    HAS(&d, "v", "3", 3, 2, 1);
    HAS(&d, "z", "0", 0);
    HAS(&d, "i", "2", 1, 2);
    HAS(&d, "o", "1", 5);
    assert_false(gbm_data_find(&d, "o")->scalar_like);
    HAS(&d, "r", "8", 0, 0, 1, 1, 2, 2, -1, -2);
    HAS(&d, "zeros", "3", 0, 0, 0);
    HAS(&d, ".RNG.seed", "", 42);
    assert_string_equal(d.rng_name, "base::Mersenne-Twister");
    assert_null(d.notes);
    gbm_data_free(&d);
}

/* Three dimensions: cell [i,j,k] of 2 x 3 x 2, column-major. */
static void rdump_three_dimensions(void **unused)
{
    struct gbm_data d = good(
        "data.txt", "a <- structure(c(111,211,121,221,131,231,112,212,122,222,"
                    "132,232), .Dim=c(2,3,2))");

    (void)unused;
    HAS(&d, "a", "2,3,2", 111, 112, 121, 122, 131, 132, 211, 212, 221, 222, 231,
        232);
    gbm_data_free(&d);
}

static void winbugs_list(void **unused)
{
    const char *text = "list(N = 2,\n  x = structure(.Data = c(1, 2, 3,\n 4, 5,"
                       " 6), .Dim = c(2, 3)),\n  y = c(1, NA))\n";
    struct gbm_data d = good("rats.txt", text);
    char error[GBM_ERROR];

    (void)unused;
    HAS(&d, "N", "", 2);
    HAS(&d, "x", "2,3", 1, 2, 3, 4, 5, 6);
    HAS(&d, "y", "2", 1, NAN);
    assert_non_null(strstr(d.notes, "rats.txt: arrays in list(...) are read "
                                    "row by row"));
    gbm_data_free(&d);
    d.order = GBM_ORDER_COLUMN;
    assert_int_equal(read_text(&d, "rats.txt", text, error), GBM_OK);
    HAS(&d, "x", "2,3", 1, 3, 5, 2, 4, 6);
    assert_null(d.notes);
    gbm_data_free(&d);
    d = good("a.R", "d <- list(x = structure(1:4, .Dim = c(2, 2)))");
    HAS(&d, "x", "2,2", 1, 3, 2, 4);
    gbm_data_free(&d);
}

static void rdump_given_twice(void **unused)
{
    struct gbm_data d = good("a.R", "x <- 1\ny <- c(3, 4)\nx <- c(5, 6, 7)\n");

    (void)unused;
    HAS(&d, "x", "3", 5, 6, 7);
    HAS(&d, "y", "2", 3, 4);
    assert_int_equal(d.narrays, 2);
    assert_non_null(strstr(d.notes, "'x' is given twice: the last counts"));
    gbm_data_free(&d);
}

static void rdump_mistakes(void **unused)
{
    (void)unused;
    bad("a.R", "x <- structure(c(1,2,3), .Dim = c(2,2))",
        "a.R:1:1: 'x' has 3 values, but its .Dim needs 4");
    bad("a.R", "x <- 1\ny <- c(1, 2",
        "a.R:2:12: expected ',' or ')', found "
        "the end of the file");
    bad("a.R", "x <- ", "a.R:1:6: expected a value, found the end of the file");
    bad("a.R", "x 1",
        "a.R:1:3: expected '<-' after the variable's name, found "
        "'1'");
    bad("a.R", "x <- rnorm(10)",
        "a.R:1:6: unknown function 'rnorm': data may use c, structure, "
        "as.integer, as.numeric, integer, double, rep and a:b");
    bad("a.R", "x <- c(1, red)", "a.R:1:11: 'red' is not a value");
    bad("a.R", "x <- c(\"a\", \"b\")",
        "a.R:1:1: 'x' has text or a list where numbers are expected");
    bad("a.R", "x <- 1 + 2", "a.R:1:8: expected a variable's name, found '+'");
    bad("a.R", "x <- c(1, Inf)",
        "a.R:1:1: x[2] = Inf: data must be finite (missing values are written "
        "NA or null)");
    bad("a.R", "x <- 1:1e12", "a.R:1:6: a range needs two whole numbers");
    bad("a.R", "x <- rep(1:1000, 1e9)", "a.R:1:6: rep() makes too many values");
    bad("a.R", "x <- structure(1:4, .Dim=c(2,2.5))",
        "a.R:1:26: .Dim needs whole numbers that are not negative");
    bad("a.R", "x <- \"abc", "a.R:1:6: the string is not closed");
}

static void deep_nesting(void **unused)
{
    char text[20000];
    struct gbm_data d = {0};
    char error[GBM_ERROR];

    (void)unused;
    memset(text, '(', sizeof text);
    memcpy(text, "x <- ", 5);
    text[sizeof text - 1] = '\0';
    assert_int_equal(read_text(&d, "a.R", text, error), GBM_USER_ERROR);
    assert_non_null(strstr(error, "nested too deeply"));
    memset(text, '-', sizeof text - 1);
    memcpy(text, "x <- ", 5);
    assert_int_equal(read_text(&d, "a.R", text, error), GBM_USER_ERROR);
    gbm_data_free(&d);
}

static void csv_columns(void **unused)
{
    struct gbm_data d = good("a.csv", "\"id\",y,x\r\nA,1,2.5\r\nB,,3\r\n");

    (void)unused;
    HAS(&d, "y", "2", 1, NAN);
    HAS(&d, "x", "2", 2.5, 3);
    assert_null(gbm_data_find(&d, "id"));
    assert_string_equal(d.notes,
                        "a.csv: column 1 (id) has text and is left out\n");
    gbm_data_free(&d);
    d = good("a.txt", "y  x\n1 2\n 3  4 \n");
    HAS(&d, "y", "2", 1, 3);
    HAS(&d, "x", "2", 2, 4);
    gbm_data_free(&d);
    d = good("a.csv", "\"y\";\"a,b\";x\n1,5;p,q;2\n-2,25e1;q;NA\n");
    HAS(&d, "y", "2", 1.5, -22.5);
    HAS(&d, "x", "2", 2, NAN);
    gbm_data_free(&d);
    d = good("a.csv", "y;x\n1.5;2\n");
    HAS(&d, "y", "1", 1.5);
    gbm_data_free(&d);
    bad("a.csv", "y;x\n1,5;2\n3;1.5\n",
        "a.csv:3:3: '1.5' in column 2 has a decimal point, and a number before "
        "it a decimal comma");
    bad("a.csv", "y;x\n1;1,234,567\n2;x\n3;4\n",
        "a.csv:4:3: '4' in column 2, x is a number where the first row has "
        "text");
    bad("a.csv", "y\tx\n1,5\t2\n",
        "a.csv:2:1: '1,5' in column 1, y has a decimal comma, which is read in "
        "tables that semicolons separate");
    bad("a.csv", "1,2\n3,4\n",
        "a.csv: the first line has no names: give a "
        "header line, or NAME=a.csv for one array");
    bad("a.csv", "x,y\n1,2\n3\n",
        "a.csv:3:2: 1 fields where the first line has 2");
    bad("a.csv", "x,y\n1,2\n3,4,5\n",
        "a.csv:3:5: more fields than the first line's 2");
    bad("a.csv", "x,y\n1,2\n3,four\n",
        "a.csv:3:3: 'four' in column 2, y is not a number");
    bad("a.csv", "x,y\n1,\"2\n",
        "a.csv:2:3: the quote is not closed on this line");
    bad("a.csv", "x\n1\nNaN\n",
        "a.csv: x[2] = NaN: data must be finite "
        "(missing values are written NA)");
    bad("a.csv", "", "a.csv: the file has no values");
    bad("a.csv", "1e3x\n2\n3\n",
        "a.csv:1:1: '1e3x' in column 1 is neither a number nor a name");
    bad("a.csv", "1,\"two\",3\n",
        "a.csv:1:4: 'two' in column 2 is not a number, and the line is no "
        "header, as it has numbers");
    bad("a.csv", "x,NA\n1,2\n",
        "a.csv:1:1: 'x' in column 1 is not a number, and the line is no "
        "header, as it has numbers");
    bad("a.csv", "x,y\n1,2o\n3,4\n",
        "a.csv:3:3: '4' in column 2, y is a number where the first row has "
        "text");
    d = good("a.csv", "id,y\n\"a1\",2\n\"12\",4\n");
    gbm_data_free(&d);
    d = good("a.csv", "\xEF\xBB\xBFy\r\n1\r\n2");
    HAS(&d, "y", "2", 1, 2);
    gbm_data_free(&d);
}

static void csv_matrix(void **unused)
{
    struct gbm_data d = {0};
    char error[GBM_ERROR];

    (void)unused;
    put_bytes("m.csv", "1,2,3\n4,5,NA\n", 13);
    put_bytes("v.csv", "y\n1\n2\n", 6);
    put_bytes("rows.csv", ",a,b\nr1,1,2\nr2,3,4\n", 19);
    assert_int_equal(gbm_data_read(&d, "X=m.csv", error), GBM_OK);
    assert_int_equal(gbm_data_read(&d, "y=v.csv", error), GBM_OK);
    assert_int_equal(gbm_data_read(&d, "Z.a=rows.csv", error), GBM_OK);
    HAS(&d, "X", "2,3", 1, 2, 3, 4, 5, NAN);
    HAS(&d, "y", "2", 1, 2);
    HAS(&d, "Z.a", "2,2", 1, 2, 3, 4);
    assert_int_equal(gbm_data_read(&d, "X=v.csv", error), GBM_USER_ERROR);
    assert_string_equal(error, "v.csv: 'X' is given already, by m.csv");
    assert_int_equal(d.narrays, 3);
    gbm_data_free(&d);
}

/* Writes a .npy file of version 1. */
static void put_npy(const char *file, const char *descr, const char *fortran,
                    const char *shape, const void *values, size_t bytes)
{
    unsigned char all[4096] = "\x93NUMPY\x01";
    int n = snprintf((char *)all + 10, 300,
                     "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }",
                     descr, fortran, shape);

    while ((n + 10) % 64 != 63)
        all[10 + n++] = ' ';
    all[10 + n++] = '\n';
    all[8] = (unsigned char)(n & 255);
    all[9] = (unsigned char)(n >> 8);
    memcpy(all + 10 + n, values, bytes);
    put_bytes(file, all, 10 + (size_t)n + bytes);
}

static void npy_types(void **unused)
{
    struct gbm_data d = {0};
    char error[GBM_ERROR];
    double f8[6] = {1, 2, 3, 4, 5, 6.5};
    float f4[2] = {0.5F, -2};
    int8_t i1[2] = {-1, 7};
    uint16_t u2[2] = {65535, 1};
    uint16_t f2[4] = {0x3C00, 0xC000, 0x3555, 0x0001};
    int64_t i8[2] = {-5, INT64_C(1) << 40};
    unsigned char b1[2] = {1, 0}, big[4] = {0, 0, 1, 2};

    (void)unused;
    put_npy("x.npy", "<f8", "False", "(2, 3)", f8, sizeof f8);
    put_npy("t.npy", "<f8", "True", "(2, 3)", f8, sizeof f8);
    put_npy("f.npy", "<f4", "False", "(2,)", f4, sizeof f4);
    put_npy("i.npy", "|i1", "False", "(2,)", i1, sizeof i1);
    put_npy("u.npy", "<u2", "False", "(2,)", u2, sizeof u2);
    put_npy("h.npy", "<f2", "False", "(4,)", f2, sizeof f2);
    put_npy("l.npy", "<i8", "False", "(2,)", i8, sizeof i8);
    put_npy("b.npy", "|b1", "False", "(2,)", b1, sizeof b1);
    put_npy("e.npy", ">i4", "False", "()", big, sizeof big);
    assert_int_equal(gbm_data_read(&d, "X=x.npy", error), GBM_OK);
    assert_int_equal(gbm_data_read(&d, "t.npy", error), GBM_OK);
    assert_int_equal(gbm_data_read(&d, "f.npy", error), GBM_OK);
    assert_int_equal(gbm_data_read(&d, "i.npy", error), GBM_OK);
    assert_int_equal(gbm_data_read(&d, "u.npy", error), GBM_OK);
    assert_int_equal(gbm_data_read(&d, "h.npy", error), GBM_OK);
    assert_int_equal(gbm_data_read(&d, "l.npy", error), GBM_OK);
    assert_int_equal(gbm_data_read(&d, "b.npy", error), GBM_OK);
    assert_int_equal(gbm_data_read(&d, "e.npy", error), GBM_OK);
    HAS(&d, "X", "2,3", 1, 2, 3, 4, 5, 6.5);
    HAS(&d, "t", "2,3", 1, 3, 5, 2, 4, 6.5);
    HAS(&d, "f", "2", 0.5, -2);
    HAS(&d, "i", "2", -1, 7);
    HAS(&d, "u", "2", 65535, 1);
    HAS(&d, "h", "4", 1, -2, 0.333251953125, 0x1p-24);
    HAS(&d, "l", "2", -5, 1099511627776.0);
    HAS(&d, "b", "2", 1, 0);
    HAS(&d, "e", "", 258);
    assert_non_null(gbm_data_find(&d, "X")->map);
    gbm_data_free(&d);
}

static void npy_mistake(const char *message)
{
    struct gbm_data d = {0};
    char error[GBM_ERROR];

    assert_int_equal(gbm_data_read(&d, "x.npy", error), GBM_USER_ERROR);
    assert_string_equal(error, message);
    gbm_data_free(&d);
}

static void npy_mistakes(void **unused)
{
    double x[2] = {1, NAN};

    (void)unused;
    put_npy("x.npy", "<f8", "False", "(2,)", x, 15);
    npy_mistake("x.npy: the .npy file is cut short: its shape needs 2 values, "
                "it holds 1");
    put_npy("x.npy", "<f8", "False", "(2,)", x, 16);
    npy_mistake("x.npy: x[2] = NaN: data must be finite (missing values are "
                "written NA)");
    put_npy("x.npy", "<c16", "False", "(1,)", x, 16);
    npy_mistake("x.npy: values of type '<c16' are not numbers that gbm reads "
                "(integers, floats, booleans)");
    put_npy("x.npy", "<f8", "False", "(4000000000,)", x, 16);
    npy_mistake("x.npy: the .npy header has an extent that is not a whole "
                "number up to 2147483647");
    put_npy("x.npy", "<f8", "False", "(2000000000,2000000000,2000000000)", x,
            16);
    npy_mistake("x.npy: the array is too large");
    put_bytes("x.npy", "hello world", 11);
    npy_mistake("x.npy: not a .npy file: it does not begin with \\x93NUMPY");
    put_bytes("x.npy", "\x93NUMPY\x01\x00", 8);
    npy_mistake("x.npy: the .npy file is cut short in its header");
    put_bytes("x.npy", "\x93NUMPY\x01\x00\xFF\xFF{'descr'", 18);
    npy_mistake("x.npy: the .npy file is cut short in its header");
}

static void files(void **unused)
{
    struct gbm_data d = {0};
    char error[GBM_ERROR];

    (void)unused;
    assert_int_equal(gbm_data_read(&d, "none.json", error), GBM_USER_ERROR);
    assert_string_equal(error,
                        "none.json: cannot read: No such file or directory");
    assert_int_equal(gbm_data_read(&d, ".", error), GBM_USER_ERROR);
    assert_string_equal(error, ".: cannot read: it is a folder");
    assert_int_equal(gbm_data_read(&d, "", error), GBM_USER_ERROR);
    assert_int_equal(gbm_data_read(&d, "X=", error), GBM_USER_ERROR);
    put_bytes("a.bin", "a\0b", 3);
    assert_int_equal(gbm_data_read(&d, "a.bin", error), GBM_USER_ERROR);
    assert_string_equal(error, "a.bin: not a text file (nor .npy)");
    put_bytes("N=1.json", "{\"N\": 4}", 8);
    assert_int_equal(gbm_data_read(&d, "N=1.json", error), GBM_OK);
    HAS(&d, "N", "", 4);
    /* what was there stays when a later file fails */
    assert_int_equal(read_text(&d, "b.json", "{\"a\": 1, \"b\": }", error),
                     GBM_USER_ERROR);
    assert_int_equal(d.narrays, 1);
    gbm_data_free(&d);
}

static void compressed(void **unused)
{
    struct gbm_data d = {0};
    char error[GBM_ERROR], start[20];
    FILE *f;

    (void)unused;
    put_bytes("a.json", "{\"x\": [1, 2]}", 13);
    assert_int_equal(system("gzip -c a.json > a.json.gz"), 0);
    assert_int_equal(gbm_data_read(&d, "a.json.gz", error), GBM_OK);
    HAS(&d, "x", "2", 1, 2);
    gbm_data_free(&d);
    f = fopen("a.json.gz", "rb");
    assert_int_equal(fread(start, 1, 20, f), 20);
    fclose(f);
    put_bytes("cut.json.gz", start, 20);
    assert_int_equal(gbm_data_read(&d, "cut.json.gz", error), GBM_USER_ERROR);
    assert_string_equal(error, "cut.json.gz: cannot read: the compressed file "
                               "is cut short");
    gbm_data_free(&d);
}

/* The reader's numbers are strtod's, to the last bit. */
static void numbers_are_exact(void **unused)
{
    static const char *const texts[] = {
        "0.1",
        "123456789012345678901234567890",
        "1e22",
        "1e23",
        "5e-324",
        "2.2250738585072014e-308",
        "9007199254740993",
        "1.",
        "8.5e-05",
        "0.000444424439869217",
        "-0.0",
        "179769e303",
        "6.02214076e23",
        "3.14159265358979323846264338327950288"};

    (void)unused;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[200];
        double want = strtod(texts[i], NULL);
        struct gbm_data d;

        snprintf(text, sizeof text, "{\"x\": %s}", texts[i]);
        d = good("n.json", text);
        assert_memory_equal(d.arrays[0].values, &want, sizeof want);
        gbm_data_free(&d);
    }
}

/* Every text cut short, and with one byte changed, must be read or refused:
 * no crash (run this under the sanitizers). */
static void broken_files(void **unused)
{
    static const struct {
        const char *file, *text;
    } all[] = {
        {"f.json", "{\"N\": 3, \"x\": [[1, 2.5e3], [null, \"NA\"]], \"s\": "
                   "\"NaN\", \"\\u0041\\n\": -1}"},
        {"f.R", "N <- 3L # c\n\"x\" <- structure(.Data=c(1,NA,-3:2), .Dim = "
                "c(2L,4))\ny <- rep(c(1,2), each=2); l <- as.integer(7)\n"},
        {"f.txt", "list(a = 1, b = structure(c(1,2), .Dim = c(1, 2)))"},
        {"f.csv", "\"a\",b, c\n1,2,x\n,NA,y\n"},
    };
    static const char bytes[] = "\0\"'()[]{},:=<-#\\0e.NaL \n\xFF";

    (void)unused;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        size_t n = strlen(all[i].text);

        for (size_t cut = 0; cut < n; cut++)
            for (size_t b = 0; b < sizeof bytes; b++) {
                struct gbm_data d = {0};
                char text[300], error[GBM_ERROR] = "";
                enum gbm_status status;

                memcpy(text, all[i].text, n);
                text[cut] = bytes[b];
                put_bytes(all[i].file, text, b == 0 ? cut : n);
                status = gbm_data_read(&d, all[i].file, error);
                assert_true(status == GBM_OK ||
                            (status == GBM_USER_ERROR && error[0]));
                gbm_data_free(&d);
            }
    }
}

static void cell_names(void **unused)
{
    char name[40];
    int dim[2] = {2, 3};

    (void)unused;
    gbm_cell_name("x", 2, dim, 5, name, sizeof name);
    assert_string_equal(name, "x[2,3]");
    gbm_cell_name("x", 1, dim, 1, name, sizeof name);
    assert_string_equal(name, "x[2]");
    gbm_cell_name("x", 0, dim, 0, name, sizeof name);
    assert_string_equal(name, "x");
    gbm_cell_name("x", 2, dim, 5, name, 5);
    assert_string_equal(name, "x[2,");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_values),
        cmocka_unit_test(json_nonfinite),
        cmocka_unit_test(json_mistakes),
        cmocka_unit_test(rdump_values),
        cmocka_unit_test(rdump_three_dimensions),
        cmocka_unit_test(winbugs_list),
        cmocka_unit_test(rdump_given_twice),
        cmocka_unit_test(rdump_mistakes),
        cmocka_unit_test(deep_nesting),
        cmocka_unit_test(csv_columns),
        cmocka_unit_test(csv_matrix),
        cmocka_unit_test(npy_types),
        cmocka_unit_test(npy_mistakes),
        cmocka_unit_test(files),
        cmocka_unit_test(compressed),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(broken_files),
        cmocka_unit_test(cell_names),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
