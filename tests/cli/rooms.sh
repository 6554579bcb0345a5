#!/usr/bin/env bash
# The rooms of the compiler: a folder includes only what stands before it, and
# calls nothing that stands behind it (docs/architecture.md).
source "$GBM_ROOT/tests/cli/lib"
cd "$GBM_ROOT" || exit 1

rooms="base syntax algebra model condition sampler sweep emit report"
number() { # of a room; what lies in compiler/ itself is behind all
    local n=0
    for room in $rooms; do
        n=$((n + 1))
        [ "$room" != "$1" ] || break
        [ "$room" != report ] || n=$((n + 1))
    done
    echo $n
}
for room in compiler/*/; do
    [[ " $rooms " == *" $(basename "$room") "* ]] || fail "$room is no room"
done

# what is included
for room in $rooms; do
    own=$(number "$room")
    while IFS=: read -r file line; do
        other=${line#*\"}
        other=${other%%\"*}
        [ -e "compiler/$other" ] || continue
        [ "$(number "${other%%/*}")" -le "$own" ] || fail "$file: $line"
    done < <(grep -H '^#include "' compiler/"$room"/*.[ch])
done

# what is called
at=$GBM_BUILD/compiler
for room in $rooms; do
    own=$(number "$room")
    nm "$at/$room"/*.o | awk -v n="$own" 'NF == 3 && $2 ~ /[TDBR]/ {
        print n, $3, "defined" }'
    nm "$at/$room"/*.o | awk -v n="$own" 'NF == 2 && $1 == "U" {
        print n, $2, "used" }'
done >"$OLDPWD/symbols"
awk '$3 == "defined" { room[$2] = $1 }
    { line[NR] = $0 }
    END {
        for (i = 1; i <= NR; i++) {
            split(line[i], f, " ")
            if (f[3] == "used" && f[2] in room && room[f[2]] > f[1])
                print f[2] " is of a later room than its caller"
        }
    }' "$OLDPWD/symbols" >"$OLDPWD/backwards"
[ ! -s "$OLDPWD/backwards" ] || fail "$(cat "$OLDPWD/backwards")"
[ "$(grep -c defined "$OLDPWD/symbols")" -gt 300 ] || fail "few symbols"
