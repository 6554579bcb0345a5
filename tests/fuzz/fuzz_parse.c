/* fuzz_parse.c: libFuzzer entry for the parser. Whatever the bytes, parsing
 * must end without a crash; what parses must print as text that parses to the
 * same tree. tests/fuzz/run builds and runs it. */
#include "gbmc.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Parses the text and prints the tree; false if it has errors. */
static bool round_trip(struct compiler *c, const char *text, size_t length,
                       struct text *out)
{
    struct source *s = NEW(c, struct source);
    struct program program = {0};
    bool good;

    *s = (struct source){"fuzz.gbm", text, length};
    good = parse_source(c, s, &program);
    ast_print(out, &program); /* of a broken file, too, it must not crash */
    return good;
}

/* Text in memory of its exact size, so that reading past it is noticed. */
static bool try_text(struct compiler *c, const char *text, size_t length,
                     struct text *out)
{
    char *copy = malloc(length ? length : 1);
    bool good;

    if (!copy)
        abort();
    memcpy(copy, text, length);
    good = round_trip(c, copy, length, out);
    free(copy);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct compiler c = {.arena = arena_create()};
    struct text first = {0}, second = {0};
    char *messages = NULL;
    size_t nmessages = 0;

    c.messages = open_memstream(&messages, &nmessages);
    if (!c.messages)
        abort();
    text_append(&first, "");
    text_append(&second, "");
    if (try_text(&c, (const char *)data, size, &first)) {
        bool good = try_text(&c, first.data, first.length, &second);
        fflush(c.messages);
        /* A few brackets are printed that need not be written. */
        if (!good ? !strstr(messages, "nested too deeply")
                  : strcmp(first.data, second.data) != 0) {
            fclose(c.messages);
            fprintf(stderr, "%s\n--- and then\n%s\n%s\n", first.data,
                    second.data, messages);
            abort();
        }
    }
    fclose(c.messages);
    free(messages);
    text_free(&first);
    text_free(&second);
    arena_free(c.arena);
    return 0;
}
