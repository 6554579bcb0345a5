#!/usr/bin/env bash
# A model that the device has no room for: an error before anything is written.
# On stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device
sampler pump
run=(./pump --data "$examples/pump/data.json" --device cuda --quiet
    --warmup 5 --draws 5 --out)
status 0 "${run[@]}" fit.csv
exists fit_1.csv
status 2 env GBM_FAKE_MEMORY=2000 "${run[@]}" none.csv
says 'too little memory on the device: the model needs .* has .* free'
absent none_1.csv
absent none.csv
