#!/usr/bin/env bash
# Ctrl-C ends a run cleanly: what was drawn is kept and marked incomplete,
# status 2.
source "$GBM_ROOT/tests/cli/lib"
sampler pump

./pump --data "$examples/pump/data.json" --device cpu --quiet --chains 2 \
    --warmup 100 --draws 20000000 --thin 50 --monitor alpha --out fit.csv \
    >.out 2>.err </dev/null &
id=$!
sleep 2
# Background jobs of a shell ignore SIGINT unless they set a handler.
kill -INT $id
(sleep 20 && kill -KILL $id) 2>/dev/null &
killer=$!
wait $id
found=$?
kill $killer 2>/dev/null
[ $found = 2 ] || fail "status $found, not 2"
says 'incomplete|interrupt|stopped'
exists fit_1.csv
rows=$(grep -cv '^#' fit_1.csv)
[ "$rows" -gt 1 ] || fail "no draws were kept"
[ "$rows" -lt 400001 ] || fail "the run was complete"
