#!/usr/bin/env bash
# tools/numbers counts what it says, on a small tree; and no function of the
# compiler has become long, no circle of files that call each other large, and
# a step has no more members.
source "$GBM_ROOT/tests/cli/lib"

mkdir -p compiler/room runtime build/compiler/room
cat >compiler/step.h <<'E2'
struct step {
    int a, b; /* c, d */
    void (*run)(int x, int y);
    struct {
        int e, f;
    } inside[3];
    /* int g; */
};
E2
{
    printf 'int b(void);\nint a(void);\nint a(void)\n{\n    int x = 0;\n'
    yes '    x++;' | head -n 77
    printf '    return x + b();\n}\n'
} >compiler/room/a.c
printf 'int c(void);\nint b(void);\nint b(void)\n{\n    return c();\n}\n' \
    >compiler/room/b.c
printf 'int a(void);\nint c(void);\nint c(void)\n{\n    return a();\n}\n' \
    >compiler/c.c
printf 'int a(void);\nint d(void);\nint d(void)\n{\n    return a();\n}\n' \
    >compiler/d.c
for file in compiler/*.c compiler/room/*.c; do
    cc -c "$file" -o "build/${file%.c}.o" || fail "$file"
done
git init -q . && git config user.name x && git config user.email x@localhost &&
    git add compiler && git commit -qm first || fail "no repository"
status 0 "$GBM_ROOT/tools/numbers" "$PWD"
prints '^members of struct step: 4 \(compiler/step.h\)$'
prints '^compiler: 4 functions, .* over 60 lines 1, over 80 lines 1$'
prints '^ +81 a of compiler/room/a.c$'
prints '^compiler: 4 files compiled, 1 circles of calls; the largest of 3 files'
prints '^ +3 compiler/c.c compiler/room/a.c compiler/room/b.c$'
prints '^files by folder: compiler 3, compiler/room 2$'

# at_most N WORDS: no larger number stands behind the words
at_most() {
    local found
    found=$(sed -n "s/^$2 \([0-9]*\).*/\1/p" .out)
    [ -n "$found" ] && [ "$found" -le "$1" ] ||
        fail "$2 $found, not at most $1"
}
[ "$GBM_BUILD" = build ] || exit 0 # the objects of another build
status 0 "$GBM_ROOT/tools/numbers"
at_most 0 "compiler: .*over 60 lines"
at_most 0 "runtime: .*over 60 lines"
at_most 3 "compiler: .*the largest of"
at_most 2 "runtime: .*the largest of"
at_most 25 "members of struct step:"
