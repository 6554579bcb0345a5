#!/usr/bin/env bash
# The device's program is compiled in parts side by side, the same parts whatever
# the threads; each is kept. What fails in one fails the run, and is told once.
# On stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device
sampler rats
run=(./rats --data "$examples/rats/data.json" --device cuda --quiet
    --warmup 2 --draws 2 --format csv --lp)
kept() { find cache -name '*.cubin' -printf '%f %i\n' | sort; }
# as many as FILES are kept, of which the run compiled NEW
compiled() { # FILES NEW WHY
    kept >after
    [ "$(wc -l <after)" = "$1" ] &&
        [ "$(comm -13 before after | wc -l)" = "$2" ] ||
        fail "$3: $(wc -l <before), then $(wc -l <after) files are kept"
    mv after before
}
: >before

# Step by step the kernels share up to eight parts, and the fixed kernels are one
# more; in one kernel the sweeps are a part, the densities another.
export GBM_CUDA_CHAINS=0
status 0 "${run[@]}" --threads 4 --out four.csv
compiled 9 9 'nothing is kept yet'
status 0 "${run[@]}" --threads 1 --out one.csv
compiled 9 0 'with another number of threads'
status 0 "${run[@]}" --chains 3 --out three.csv
first() { grep -v '^#' "$1"; }
first four_1.csv >a
first one_1.csv >b
first three_1.csv >c
same a b
same a c
export GBM_CUDA_CHAINS=8
kept >before
status 0 "${run[@]}" --out chains.csv
compiled "$(($(wc -l <before) + 2))" 2 'in one kernel'

# one part that cannot be compiled, several, and all
export GBM_CUDA_CHAINS=0 GBM_CACHE=off
for option in -DGBM_LANES_update_tau_c -DGBM_LANES_ -D --gpu; do
    GBM_FAKE_NVRTC=$option status 2 "${run[@]}"
    says 'the CUDA compiler rejected'
    says 'as GBM_FAKE_NVRTC says'
    [ "$(grep -c rejected .err)" = 1 ] || fail "$option: told more than once"
    rm -f "$(grep -oE '/tmp/gbm_[A-Za-z0-9]{6}' .err)"
done
