#!/usr/bin/env bash
# The rooms of the compiler and of the runtime: a folder includes only what
# stands before it, and calls nothing that stands behind it
# (docs/architecture.md).
source "$GBM_ROOT/tests/cli/lib"
here=$PWD
cd "$GBM_ROOT" || exit 1

# Nothing that a run left behind is kept in the project's top folder.
if files=$(git ls-files 2>/dev/null) && [ -n "$files" ]; then
    for file in $(cut -d/ -f1 <<<"$files" | sort -u); do
        case $file in
        .ci | .clang-format | .containerignore | .gitattributes | .gitignore | \
            Containerfile | LICENSE | README.md | build.ninja | setup | \
            sources.ninja | bench | command | compiler | debian | docs | \
            editors | examples | grammar | python | r | runtime | stdlib | \
            tests | tools) ;;
        *) fail "$file: what is it, in the top folder?" ;;
        esac
    done
fi

# check_rooms FOLDER ROOM...: the rooms in their order; what lies in the folder
# itself is in front of a first room "." and behind all others
check_rooms() {
    local top=$1 room line file other objects
    shift
    local -A number=()
    for room in "$@"; do
        number[$room]=${#number[@]}
    done
    for room in "$top"/*/; do
        room=$(basename "$room")
        [ -n "${number[$room]-}" ] || fail "$top/$room is no room"
        while IFS=: read -r file line; do
            other=${line#*\"}
            other=${other%%\"*}
            [ -e "$top/$other" ] || continue
            [[ $other == */* ]] && other=${other%%/*} || other=.
            [ -n "${number[$other]-}" ] &&
                [ "${number[$other]}" -le "${number[$room]}" ] ||
                fail "$file: $line"
        done < <(grep -H '^#include "' "$top/$room"/*.[ch])
        [ "$top/$room" != runtime/cuda ] || continue # is the plugin
        objects=("$top/$room"/*.c)
        objects=("${objects[@]/#/$GBM_BUILD/}")
        nm "${objects[@]/%.c/.o}" | awk -v n="${number[$room]}" '
            NF == 3 && $2 ~ /[TDBR]/ { print n, $3, "defined" }
            NF == 2 && $1 == "U" { print n, $2, "used" }'
    done >"$here/symbols"
    awk '$3 == "defined" { room[$2] = $1 }
        { line[NR] = $0 }
        END {
            for (i = 1; i <= NR; i++) {
                split(line[i], f, " ")
                if (f[3] == "used" && f[2] in room && room[f[2]] > f[1])
                    print f[2] " is of a later room than its caller"
            }
        }' "$here/symbols" >"$here/backwards"
    [ ! -s "$here/backwards" ] || fail "$top: $(cat "$here/backwards")"
    [ "$(grep -c defined "$here/symbols")" -gt 100 ] || fail "few symbols"
}
check_rooms compiler base syntax algebra model condition sweep emit sampler \
    report
check_rooms runtime . base io summary load gradient host cuda options session \
    record start simulate check chains modes filter powers

# check_prefixes ROOM PREFIX...: what a room of the compiler gives to others
# begins with the room's name, or with that of its subject
check_prefixes() {
    local room=$1 prefixes
    prefixes=$(IFS='|' && echo "$*")
    nm "$GBM_BUILD"/compiler/"$room"/*.o |
        awk -v prefix="^($prefixes)(_|\$)" 'NF == 3 && $2 ~ /[TDBR]/ &&
            $3 !~ prefix { print $3 }' >"$here/others"
    [ ! -s "$here/others" ] || fail "$room: $(cat "$here/others")"
}
check_prefixes base arena file intern path program run scratch source span \
    temporary text gbmc error warning note
check_prefixes syntax ast build expr relation
check_prefixes algebra sym entry library density
check_prefixes model family value
check_prefixes condition
check_prefixes sweep phase slots step
check_prefixes emit emitter
check_prefixes sampler augment block group joint normal vector
check_prefixes report
