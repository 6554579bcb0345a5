#!/usr/bin/env bash
# A new .c file is built without an edit of the build, one that is gone is not
# asked for, and changes that bring files side by side merge by themselves.
source "$GBM_ROOT/tests/cli/lib"

# the files that the build reads, without what it makes
git -C "$GBM_ROOT" ls-files -z -- .gitattributes '*.ninja' tools grammar \
    compiler runtime command stdlib/kernels tests/unit |
    (cd "$GBM_ROOT" && xargs -0 cp --parents -t "$OLDPWD") || fail "copy"
# stands for the compiler: objects need not hold anything here
printf '#!/bin/sh\nwhile [ $# -gt 0 ]; do
    [ "$1" != -o ] || : >"$2"\n    [ "$1" != -MF ] || echo "x:" >"$2"
    shift\ndone\n' >compile
chmod +x compile
export CC=$PWD/compile

git init -q . && git config user.name x && git config user.email x@localhost &&
    git add -A && git commit -qm first || fail "no repository"
trunk=$(git symbolic-ref --short HEAD)

# has FILE...: what is built now holds the objects of these files
has() {
    local file
    ninja build/libgbmc.a build/libgbm.a >log 2>&1 || fail "$(cat log)"
    for file; do
        [ -e "build/${file%.c}.o" ] || fail "$file was not compiled"
        ar t "build/$archive" | grep -qx "$(basename "${file%.c}").o" ||
            fail "$file is not in $archive"
        ninja -t query "build/asan/${file%.c}.o" >log 2>&1 ||
            fail "$file is not built with sanitizers"
    done
}

archive=libgbmc.a
echo 'int base_a(void);' >compiler/base/arena_a.c
has compiler/base/arena_a.c
git add -A compiler sources.ninja && git commit -qm a || fail "commit a"

# beside it, from the same beginning, two others and one that goes
git checkout -qb other HEAD~ || fail "branch"
echo 'int base_b(void);' >compiler/base/arena_b.c
echo 'int io_b(void);' >runtime/io/data_b.c
rm compiler/base/scratch.c
archive=libgbmc.a has compiler/base/arena_b.c
archive=libgbm.a has runtime/io/data_b.c
git add -A compiler runtime sources.ninja && git commit -qm b || fail "commit b"

git merge -q -m both "$trunk" >log 2>&1 || fail "no merge: $(cat log)"
archive=libgbmc.a
has compiler/base/arena_a.c compiler/base/arena_b.c
! grep -q base/scratch.c sources.ninja || fail "scratch.c is asked for"
# the file is what tools/sources writes
cp sources.ninja merged && rm sources.ninja && tools/sources
cmp merged sources.ninja || fail "another order than that of tools/sources"
