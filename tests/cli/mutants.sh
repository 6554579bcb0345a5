#!/usr/bin/env bash
# The mutants of tests/mutate are the same ones wherever their lines move to; a
# function more changes few of them.
source "$GBM_ROOT/tests/cli/lib"

mkdir tree tree/tests
cp -r "$GBM_ROOT/stdlib" tree/stdlib
cp -r "$GBM_ROOT/tests/mutate" "$GBM_ROOT/tests/oracle" \
    "$GBM_ROOT/tests/random" tree/tests
ln -s "$GBM_ROOT/build" "$GBM_ROOT/examples" "$GBM_ROOT/compiler" \
    "$GBM_ROOT/runtime" tree

without_lines() { sed -E 's/^([a-z]+:[^:]*):[0-9]+:/\1:/' | sort; }

status 0 "$GBM_ROOT/tests/mutate" --list
without_lines <.out >before
[ "$(wc -l <before)" -gt 70 ] || fail "few mutants"
status 0 tree/tests/mutate --list
without_lines <.out >elsewhere
same before elsewhere

for path in tree/stdlib/kernels/*.h; do
    { printf '/* more\n * lines\n */\n' && cat "$path"; } >moved
    cp moved "$path"
done
for path in tree/stdlib/*/*.gbm; do
    { printf '# more\n# lines\n' && cat "$path"; } >moved
    cp moved "$path"
done
status 0 tree/tests/mutate --list
without_lines <.out >moved
same before moved

printf 'GBM_FN real gbm_draw_more(real x)\n{\n    return x + 1;\n}\n' \
    >>tree/stdlib/kernels/gamma.h
status 0 tree/tests/mutate --list
without_lines <.out >more
[ "$(comm -3 before more | wc -l)" -le 2 ] || fail "another sample"
