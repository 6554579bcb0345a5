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

# It goes without a trace, and takes nothing that is not its own.
echo mine >moved/lib/mine
mkdir moved/share/gbm/mine
echo mine >moved/share/gbm/mine/too
status 0 "$GBM_ROOT/tools/install" --remove "$scratch/moved"
find moved -type f | sort >left
printf 'moved/lib/mine\nmoved/share/gbm/mine/too\n' >wanted
same left wanted
rm moved/lib/mine
rm -r moved/share
status 1 "$GBM_ROOT/tools/install" --remove "$scratch/moved"
says 'nothing to remove'
status 0 "$GBM_ROOT/tools/install" "$scratch/again"
status 0 "$GBM_ROOT/tools/install" --remove "$scratch/again"
absent again/share
absent again/bin
