/* test_frontend.c: names, messages, and the shape of the parser's trees. */
#include "gbmc.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct compiler compiler_create(void)
{
    return (struct compiler){.arena = arena_create(), .messages = stderr};
}

static const struct source *source_of(struct compiler *c, const char *text)
{
    struct source *s = NEW(c, struct source);

    *s = (struct source){"test.gbm", text, strlen(text)};
    return s;
}

/* ---- Names -------------------------------------------------------------- */

static void test_intern(void **state)
{
    enum { N = 5000 };
    struct compiler c = compiler_create();
    const char **names = NEW_ARRAY(&c, const char *, N);

    (void)state;
    for (int i = 0; i < N; i++)
        names[i] = intern_format(&c, "name%d", i);
    for (int i = 0; i < N; i++) {
        char again[20];
        snprintf(again, sizeof again, "name%d", i);
        assert_ptr_equal(intern(&c, again), names[i]);
        assert_string_equal(names[i], again);
    }
    assert_ptr_equal(intern_n(&c, "name12345", 5), intern(&c, "name1"));
    assert_ptr_not_equal(intern(&c, "name"), intern(&c, "Name"));
    assert_ptr_equal(intern(&c, ""), intern_n(&c, "x", 0));
    arena_free(c.arena);
}

static void test_arena(void **state)
{
    struct arena *a = arena_create();
    static const size_t sizes[] = {1, 0, 17, 70000, 8, 1 << 20, 65536, 3};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *p = arena_alloc(a, sizes[i]);
        assert_int_equal((uintptr_t)p % sizeof(double), 0);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(p[k], 0);
        if (sizes[i])
            memset(p, 0xAA, sizes[i]);
    }
    arena_free(a);
}

static void test_nearest(void **state)
{
    static const char *const names[] = {"dnorm",  "dgamma",      "dbern", "dt",
                                        "normal", "half_cauchy", "T"};
    enum { N = sizeof names / sizeof names[0] };

    (void)state;
    assert_string_equal(text_nearest_name("dnrom", names, N),
                        "dnorm"); /* swap */
    assert_string_equal(text_nearest_name("dnor", names, N), "dnorm");
    assert_string_equal(text_nearest_name("dnnorm", names, N), "dnorm");
    assert_string_equal(text_nearest_name("DGAMMA", names, N), "dgamma");
    assert_string_equal(text_nearest_name("half_couchi", names, N),
                        "half_cauchy");
    assert_string_equal(text_nearest_name("t", names, N), "T");
    assert_null(text_nearest_name("dn", names, N));
    assert_null(text_nearest_name("weibull", names, N));
    assert_null(text_nearest_name("", names, N));
    assert_null(text_nearest_name("dnorm", names, 0));
}

/* ---- Places and messages ------------------------------------------------ */

static void test_positions(void **state)
{
    struct compiler c = compiler_create();
    const struct source *s = source_of(&c, "ab\n\n  x <-\n\t 1");
    int line, column;

    (void)state;
    span_position((struct span){s, 0, 1}, &line, &column);
    assert_int_equal(line, 1);
    assert_int_equal(column, 1);
    span_position((struct span){s, 6, 7}, &line, &column);
    assert_int_equal(line, 3);
    assert_int_equal(column, 3);
    span_position((struct span){s, 99, 100}, &line, &column);
    assert_int_equal(line, 4);
    assert_int_equal(column, 4);
    assert_string_equal(span_text(&c, (struct span){s, 6, 7}), "test.gbm:3:3");
    assert_string_equal(span_source(&c, (struct span){s, 4, 14}), "x <- 1");
    assert_string_equal(span_text(&c, (struct span){0}), "");
    assert_string_equal(span_source(&c, (struct span){0}), "");
    arena_free(c.arena);
}

/* What is written about bytes begin..end of a text. */
static void check_message(const char *text, uint32_t begin, uint32_t end,
                          const char *expected)
{
    struct compiler c = compiler_create();
    char *written = NULL;
    size_t length;

    c.messages = open_memstream(&written, &length);
    error_at(&c, (struct span){source_of(&c, text), begin, end}, "%s", "no");
    fclose(c.messages);
    assert_string_equal(written, expected);
    assert_int_equal(c.nerrors, 1);
    free(written);
    arena_free(c.arena);
}

static void test_messages(void **state)
{
    (void)state;
    check_message("x ~ dnrom(0)\n", 4, 9,
                  "test.gbm:1:5: error: no\n"
                  "    1 | x ~ dnrom(0)\n"
                  "      |     ^~~~~\n");
    check_message("a\n\tx\ty", 5, 6, /* tabs to columns of eight */
                  "test.gbm:2:4: error: no\n"
                  "    2 |         x       y\n"
                  "      |                 ^\n");
    check_message("a \xc3\xa9 b\r\n", 5, 6, /* two bytes, one column */
                  "test.gbm:1:6: error: no\n"
                  "    1 | a \xc3\xa9 b\n"
                  "      |     ^\n");
    check_message("a <- (1 +\n  2)", 5, 14, /* to the end of the first line */
                  "test.gbm:1:6: error: no\n"
                  "    1 | a <- (1 +\n"
                  "      |      ^~~~\n");
    check_message("a\033[31m\xff", 0, 99, /* nothing a terminal obeys */
                  "test.gbm:1:1: error: no\n"
                  "    1 | a?[31m?\n"
                  "      | ^~~~~~~\n");
    check_message("", 0, 0, "test.gbm:1:1: error: no\n    1 |\n      | ^\n");
    check_message("a", 7, 9,
                  "test.gbm:1:2: error: no\n    1 | a\n"
                  "      |  ^\n");
}

/* ---- The shape of trees ------------------------------------------------- */

/* (+ a (* b c)), indices as ([] x 1), an empty index as _ */
static void shape(struct text *out, const struct expr *e)
{
    switch (e->kind) {
    case EXPR_NUM:
        text_printf(out, "%g", e->number);
        return;
    case EXPR_ALL:
        text_append(out, "_");
        return;
    case EXPR_NAME:
        if (!e->bracket) {
            text_append(out, e->name);
            return;
        }
        text_printf(out, "([] %s", e->name);
        break;
    case EXPR_CALL:
        text_printf(out, "(%s", e->name);
        break;
    case EXPR_RANGE:
        text_append(out, "(:");
        break;
    case EXPR_SUM:
        text_printf(out, "(sum %s", e->name);
        break;
    case EXPR_INDEX: /* roll.c's: the parser makes neither */
    case EXPR_LIST:
        text_append(out, "(?");
        break;
    }
    for (int i = 0; i < e->nargs; i++) {
        text_append(out, " ");
        shape(out, e->args[i]);
    }
    text_append(out, ")");
}

static void check_shape(const char *expression, const char *expected)
{
    struct compiler c = compiler_create();
    struct program p = {0};
    struct text out = {0};
    const char *text = intern_format(&c, "model { y <- %s }", expression);

    assert_true(parse_source(&c, source_of(&c, text), &p));
    assert_non_null(p.model);
    shape(&out, p.model->rhs);
    assert_string_equal(out.data, expected);
    text_free(&out);
    arena_free(c.arena);
}

/* The precedence of JAGS 4.3, operator by operator. */
static void test_precedence(void **state)
{
    (void)state;
    check_shape("a || b && c", "(|| a (&& b c))");
    check_shape("a && b || c", "(|| (&& a b) c)");
    check_shape("!a && b", "(&& (! a) b)");
    check_shape("!a == b", "(! (== a b))");
    check_shape("a + 1 < b * 2", "(< (+ a 1) (* b 2))");
    check_shape("a - b - c", "(- (- a b) c)");
    check_shape("a - b * c", "(- a (* b c))");
    check_shape("a / b / c", "(/ (/ a b) c)");
    check_shape("a * b %*% c", "(* a (%*% b c))");
    check_shape("a %*% b %*% c", "(%*% (%*% a b) c)");
    check_shape("a %*% b:c", "(%*% a (: b c))");
    check_shape("-a %*% b", "(%*% (neg a) b)");
    check_shape("-a:b", "(: (neg a) b)");
    check_shape("-a^b", "(neg (^ a b))");
    check_shape("a^b^c", "(^ a (^ b c))");
    check_shape("a**b**c", "(^ a (^ b c))");
    check_shape("a^-b * c", "(* (^ a (neg b)) c)");
    check_shape("a - -b", "(- a (neg b))");
    check_shape("(a + b) * c", "(* (+ a b) c)");
    check_shape("f(a, x[i,], x[])", "(f a ([] x i _) ([] x _))");
    check_shape("1e3 + .5 + 2L", "(+ (+ 1000 0.5) 2)");
}

/* What the clauses of docs/library.md are stored as. */
static void test_clauses(void **state)
{
    struct compiler c = compiler_create();
    struct program p = {0};
    struct text out = {0};
    const struct clause *cl;

    (void)state;
    assert_true(
        parse_source(&c,
                     source_of(&c, "# What it is.\n"
                                   "distribution d(a[K], b) over x[K] {\n"
                                   "  logdensity sum(j in 1:K, a[j]\n"
                                   "    + 1)\n"
                                   "  add z real(0, b)\n"
                                   "  statistics log(x): a - 1, x: b\n"
                                   "  match y ~ dbern(a)\n"
                                   "}\n"),
                     &p));
    assert_string_equal(p.entries->doc, "What it is.");
    assert_int_equal(p.entries->nparameters, 2);
    assert_string_equal(p.entries->result->dims[0], "K");
    for (cl = p.entries->clauses; cl; cl = cl->next) {
        text_printf(&out, "%s", cl->keyword);
        for (const struct clause_item *i = cl->items; i; i = i->next) {
            text_append(&out, " ");
            if (i->label) {
                shape(&out, i->label);
                text_append(&out, "=");
            }
            shape(&out, i->value);
        }
        text_append(&out, "\n");
    }
    assert_string_equal(out.data, "logdensity (sum j 1 K (+ ([] a j) 1))\n"
                                  "add z=(real 0 b)\n"
                                  "statistics (log x)=(- a 1) x=b\n"
                                  "match (~ y (dbern a))\n");
    text_free(&out);
    arena_free(c.arena);
}

/* Trees made by hand print as text with the brackets that they need. */
static void test_print(void **state)
{
    struct compiler c = compiler_create();
    struct span none = {0};
    struct expr *a = expr_new(&c, EXPR_NAME, none);
    struct expr *two = expr_new(&c, EXPR_NUM, none);
    struct expr *sum, *e;
    struct text out = {0};

    (void)state;
    a->name = intern(&c, "a");
    two->number = -2;
    sum = expr_call(&c, "+", none, 2, a, two);
    e = expr_call(&c, "^", none, 2, expr_call(&c, "neg", none, 1, sum), two);
    assert_int_equal(e->depth, 4);
    expr_print(&out, e);
    assert_string_equal(out.data, "(-(a + -2))^-2");
    out.length = 0;
    expr_print(&out, expr_call(&c, "^", none, 2, two, sum));
    assert_string_equal(out.data, "(-2)^(a + -2)");
    text_free(&out);
    arena_free(c.arena);
}

/* Spans are the bytes that were written. */
static void test_spans(void **state)
{
    struct compiler c = compiler_create();
    struct program p = {0};
    const char *text = "model { for (i in 1:N) { y[i] ~ dnorm(a + b, (c)) T(0,)"
                       " } }";
    const struct stmt *s;

    (void)state;
    assert_true(parse_source(&c, source_of(&c, text), &p));
    s = p.model;
    assert_string_equal(span_source(&c, s->span), "for (i in 1:N)");
    assert_string_equal(span_source(&c, s->name_span), "i");
    s = s->body;
    assert_string_equal(span_source(&c, s->span),
                        "y[i] ~ dnorm(a + b, (c)) T(0,)");
    assert_string_equal(span_source(&c, s->lhs->span), "y[i]");
    assert_string_equal(span_source(&c, s->rhs->span), "dnorm(a + b, (c))");
    assert_string_equal(span_source(&c, s->rhs->args[0]->span), "a + b");
    assert_int_equal(s->truncation, TRUNC_T);
    assert_non_null(s->lower);
    assert_null(s->upper);
    arena_free(c.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intern),   cmocka_unit_test(test_arena),
        cmocka_unit_test(test_nearest),  cmocka_unit_test(test_positions),
        cmocka_unit_test(test_messages), cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_clauses),  cmocka_unit_test(test_print),
        cmocka_unit_test(test_spans),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
