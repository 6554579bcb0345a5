#!/usr/bin/env bash
# An installed gbmc finds its library and runtime relative to itself.
source "$GBM_ROOT/tests/cli/lib"
if [ "$GBM_BUILD" != build ]; then
    echo "only for the plain build"
    exit 77
fi
status 0 "$GBM_ROOT/tools/install" "$scratch/usr"
exists usr/bin/gbmc
mv usr moved
cp "$examples/pump/pump.gbm" "$examples/pump/data.json" .
status 0 moved/bin/gbmc pump.gbm -o pump
status 0 ./pump --data data.json --quiet --warmup 50 --draws 50 --device cpu
status 0 moved/bin/gbm report --help
prints '^usage: gbm report'
