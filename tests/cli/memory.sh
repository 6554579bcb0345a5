#!/usr/bin/env bash
# gbmc leaks nothing and reads nothing uninitialised, on every example.
source "$GBM_ROOT/tests/cli/lib"
if ! command -v valgrind >/dev/null || [ "$GBM_BUILD" != build ]; then
    echo "needs valgrind and the plain build"
    exit 77
fi
cat >libgomp.supp <<'E'
{
   what OpenMP's library keeps from its start to the end
   Memcheck:Leak
   match-leak-kinds: reachable
   fun:malloc
   obj:*/libgomp.so*
}
E
for model in "$examples"/*/*.gbm; do
    status 0 valgrind -q --leak-check=full --show-leak-kinds=all \
        --errors-for-leak-kinds=all --error-exitcode=9 --suppressions=libgomp.supp \
        "$GBMC" --emit=c "$model"
done
# And where there are errors.
for model in "$GBM_ROOT"/tests/golden/errors/*.gbm; do
    [ -e "$model" ] || continue
    status '0|1' valgrind -q --leak-check=full --show-leak-kinds=all \
        --errors-for-leak-kinds=all --error-exitcode=9 --suppressions=libgomp.supp \
        "$GBMC" --emit=plan "$model"
done
