#!/usr/bin/env bash
# Behind warm-up a device's programs have no moves that no chain makes there
# (runtime/cuda/settled.c): draws are the same bits as with them, whenever the
# programs are there, and where they are not to be had; a chain that makes them
# keeps them, if they gain more there than they cost. On stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device
cat >walk.gbm <<'M'
model {
  b[1] ~ dnorm(0, 1)
  for (t in 2:T) { b[t] ~ dnorm(b[t-1], pow(s, -2)) }
  for (t in 1:T) { y[t] ~ dnorm(b[t], 1.5) }
  s ~ dt(0, 1, 1)T(0,)
}
M
cat >scale.gbm <<'M'
model {
  for (t in 1:T) {
    y[t] ~ dnorm(b + u[t], 1)
    u[t] ~ dnorm(0, exp(-2 * s))
  }
  b ~ dnorm(0, 1)
  s ~ dnorm(0, 0.01)
}
M
echo '{"T": 8, "y": [3, -9, 14, -2, 7, -12, 5, 16]}' >far.json
echo '{"T": 8, "y": [0.31, -0.62, 0.18, 0.55, -0.21, -0.44, 0.62, 0.27]}' >near.json
for name in walk scale; do
    status 0 "$GBMC" -O 0 $name.gbm -o $name
done
export GBM_FAKE_LOG=log GBM_LINES=off

run() { # NAME DATA FILE OPTION...
    local name=$1 data=$2 out=$3
    shift 3
    rm -f log
    status 0 "./$name" --data "$data.json" --device cuda --quiet --no-check \
        --warmup 220 --chains 2 --threads 2 --format csv --monitor s \
        --draws 60 --out "$out.csv" "$@"
    grep -hv '^#' "${out}"_[12].csv >"$out"
}
ran() { awk -v l="$1" '$1 == l && $2 > 0 { n++ } END { exit !n }' log; }

# in one kernel, and step by step
GBM_FAKE_NVRTC=settled run walk far with
ran full && ! ran settled || fail "settled after all"
run walk far without
ran full && ran settled || fail "not settled"
same with without
run walk far kept
ran settled || fail "what was compiled is not kept"
same with kept
export GBM_CUDA_CHAINS=0
GBM_CACHE=off GBM_CUDA_QUICK=2 run walk far beside
ran max && ran settled || fail "what is compiled beside the run is not taken"
same with beside
run scale near moves
ran full && ! ran settled || fail "a chain makes moves that are not there"
# moves that are worth less than they cost on a device
run walk near dear
ran settled || fail "moves that gain little are made"
exit 0
