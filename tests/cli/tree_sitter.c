/* tree_sitter.c: what tree-sitter's library makes of files with the parser of
 * editors/tree-sitter.
 *
 *   errors FILE...        where something does not fit; status 1 if anywhere
 *   parens FILE           the text, each operation in parentheses of its own
 *   colours QUERY FILE    a line for each name of a colour: colour, text
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_gbm(void);

struct text {
    char *all;
    uint32_t n;
};

static struct text read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct text t = {malloc(1 << 22), 0};

    if (!f || !t.all) {
        perror(path);
        exit(2);
    }
    t.n = (uint32_t)fread(t.all, 1, 1 << 22, f);
    fclose(f);
    return t;
}

static TSTree *parse(struct text t)
{
    TSParser *p = ts_parser_new();
    TSTree *tree;

    if (!ts_parser_set_language(p, tree_sitter_gbm()))
        exit(2);
    tree = ts_parser_parse_string(p, NULL, t.all, t.n);
    ts_parser_delete(p);
    return tree;
}

static void print_errors(const char *path, TSNode node)
{
    TSPoint at = ts_node_start_point(node);

    if (!ts_node_has_error(node))
        return;
    if (ts_node_is_missing(node) || strcmp(ts_node_type(node), "ERROR") == 0) {
        printf("%s:%u:%u: %s\n", path, at.row + 1, at.column + 1,
               ts_node_type(node));
        return;
    }
    for (uint32_t i = 0; i < ts_node_child_count(node); i++)
        print_errors(path, ts_node_child(node, i));
}

static int errors(char **paths)
{
    int bad = 0;

    for (; *paths; paths++) {
        struct text t = read_text(*paths);
        TSTree *tree = parse(t);
        bad += ts_node_has_error(ts_tree_root_node(tree));
        print_errors(*paths, ts_tree_root_node(tree));
        ts_tree_delete(tree);
        free(t.all);
    }
    return bad != 0;
}

/* Prints the text from *at to the node's end. */
static void print_parens(struct text t, TSNode node, uint32_t *at)
{
    const char *type = ts_node_type(node);
    int operation = !strcmp(type, "binary") || !strcmp(type, "unary");
    uint32_t begin = ts_node_start_byte(node), end = ts_node_end_byte(node);

    printf("%.*s%s", (int)(begin - *at), t.all + *at, operation ? "(" : "");
    *at = begin;
    for (uint32_t i = 0; i < ts_node_child_count(node); i++)
        print_parens(t, ts_node_child(node, i), at);
    printf("%.*s%s", (int)(end - *at), t.all + *at, operation ? ")" : "");
    *at = end;
}

/* Is the capture's text among the strings of a predicate's steps? */
static int listed(const TSQuery *q, const TSQueryPredicateStep *s,
                  const char *word, size_t n)
{
    uint32_t length;

    for (; s->type != TSQueryPredicateStepTypeDone; s++) {
        const char *w;
        if (s->type != TSQueryPredicateStepTypeString)
            continue;
        w = ts_query_string_value_for_id(q, s->value_id, &length);
        if (length == n && memcmp(w, word, n) == 0)
            return 1;
    }
    return 0;
}

/* any-of? and not-any-of?, which the library leaves to who asks. */
static int holds(const TSQuery *q, uint32_t pattern, const char *word, size_t n)
{
    uint32_t steps, length;
    const TSQueryPredicateStep *s =
        ts_query_predicates_for_pattern(q, pattern, &steps);
    const char *name;

    if (!steps)
        return 1;
    name = ts_query_string_value_for_id(q, s->value_id, &length);
    return listed(q, s + 1, word, n) == (strcmp(name, "any-of?") == 0);
}

static int colours(const char *query, const char *path)
{
    struct text rules = read_text(query), t = read_text(path);
    TSTree *tree = parse(t);
    TSQueryCursor *cursor = ts_query_cursor_new();
    TSQueryError error;
    TSQueryMatch match;
    uint32_t at, i, length;
    TSQuery *q =
        ts_query_new(tree_sitter_gbm(), rules.all, rules.n, &at, &error);

    if (!q) {
        printf("%s: at byte %u: error %d\n", query, at, error);
        return 1;
    }
    ts_query_cursor_exec(cursor, q, ts_tree_root_node(tree));
    while (ts_query_cursor_next_capture(cursor, &match, &i)) {
        TSNode node = match.captures[i].node;
        uint32_t begin = ts_node_start_byte(node);
        uint32_t n = ts_node_end_byte(node) - begin;
        if (holds(q, match.pattern_index, t.all + begin, n))
            printf("%s %.*s\n",
                   ts_query_capture_name_for_id(q, match.captures[i].index,
                                                &length),
                   (int)n, t.all + begin);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "errors"))
        return errors(argv + 2);
    if (argc == 3 && !strcmp(argv[1], "parens")) {
        struct text t = read_text(argv[2]);
        uint32_t at = 0;
        print_parens(t, ts_tree_root_node(parse(t)), &at);
        printf("%.*s", (int)(t.n - at), t.all + at);
        return 0;
    }
    if (argc == 4 && !strcmp(argv[1], "colours"))
        return colours(argv[2], argv[3]);
    return 2;
}
