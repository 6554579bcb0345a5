#!/usr/bin/env bash
# A device's kernels are told the lengths of small arrays and small numbers of the
# data (runtime/cuda/known.c), step by step, too, and draw what the host draws;
# what is longer they read. On stand-ins for CUDA's libraries.
source "$GBM_ROOT/tests/cli/lib"
fake_device
patience=500
cat >plates.gbm <<'E'
model {
  for (g in 1:G) {
    for (n in 1:N) { y[g,n] ~ dpois(exp(eta[g,n])); eta[g,n] ~ dnorm(mu[n] + sum(w[1:K]), prec[g]) }
    prec[g] ~ dgamma(2, 1)
  }
  for (n in 1:N) { mu[n] ~ dnorm(0, 1) }
  for (k in 1:K) { w[k] ~ dnorm(0, 1) }
}
E
# data FILE G N
data() {
    python3 - "$@" <<'P'
import json, random, sys
rng = random.Random(7)
g, n = int(sys.argv[2]), int(sys.argv[3])
json.dump({"G": g, "N": n, "K": 3, "y": [[rng.randrange(6) for _ in range(n)]
                                 for _ in range(g)]}, open(sys.argv[1], "w"))
P
}
status 0 "$GBMC" --emit=c plates.gbm
mv .out plates.c
sed 's/\(GBM_KNOW([0-9]*, s->eta_v_n2, known\) - 1/\1 - 2/' plates.c >length.c
sed 's/GBM_KNOW_NUMBER(\([0-9]*\), s->K_v)/GBM_KNOW(\1, s->K_v, (int *)\&gbm_known_number<known - 2>)/' \
    plates.c >number.c
for name in plates length number; do
    [ $name = plates ] || ! cmp -s $name.c plates.c || fail "nothing is known"
    compile_c $name.c $name
done
# Whether it matters what the device is told.
told() { # NAME DATA
    for name in plates "$1"; do
        status 0 "./$name" --data "$2" --device cuda --quiet --no-check \
            --format csv --warmup 2 --draws 4 --chains 2 --out "$name.csv"
    done
    ! cmp -s <(grep -v '^#' plates_1.csv) <(grep -v '^#' "$1_1.csv")
}
data few.json 20 5
data many.json 20 40
device_draws_as_host plates few.json
device_draws_as_host plates many.json
export GBM_CUDA_CHAINS=0
told length few.json || fail "steps do not know of few cells"
told number few.json || fail "steps do not know a small number"
told length many.json && fail "steps know of many cells"
GBM_CUDA_KNOWN=0 told length few.json && fail "steps know anyhow"
exit 0
