/* scanner.c: where a clause of a library entry may begin: at the first name of
 * a line. The parser asks only where the line before may end. */
#include "tree_sitter/parser.h"

#include <stdbool.h>
#include <stddef.h>

enum { LINE };

void *tree_sitter_gbm_external_scanner_create(void)
{
    return NULL; /* it remembers nothing */
}

void tree_sitter_gbm_external_scanner_destroy(void *none) { (void)none; }

unsigned tree_sitter_gbm_external_scanner_serialize(void *none, char *buffer)
{
    (void)none;
    (void)buffer;
    return 0;
}

void tree_sitter_gbm_external_scanner_deserialize(void *none,
                                                  const char *buffer,
                                                  unsigned length)
{
    (void)none;
    (void)buffer;
    (void)length;
}

static bool is_blank(int32_t c)
{
    return c == ' ' || c == '\t' || c == '\f' || c == '\v' || c == '\r' ||
           c == '\n';
}

static bool begins_name(int32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A token without characters, before the name. */
bool tree_sitter_gbm_external_scanner_scan(void *none, TSLexer *lexer,
                                           const bool *valid)
{
    bool line = false;

    (void)none;
    if (!valid[LINE])
        return false;
    for (; is_blank(lexer->lookahead); lexer->advance(lexer, true))
        line = line || lexer->lookahead == '\n';
    if (!line || !begins_name(lexer->lookahead))
        return false;
    lexer->mark_end(lexer);
    lexer->result_symbol = LINE;
    return true;
}
