#!/usr/bin/env bash
# On the host, too, a latent response is drawn in one pass over the design with
# the sums of its Gaussian block: with the draws that it has step by step,
# whatever the number of threads; not where a step between the two reads it.
source "$GBM_ROOT/tests/cli/lib"

# 700 rows: more than are drawn in one batch with other steps' elements.
python3 - <<'P'
import json, random
random.seed(1)
d = 30
X = [[random.gauss(0, 1) for _ in range(d)] for _ in range(700)]
y = [int(sum(r[:3]) + random.gauss(0, 2) > 0) for r in X]
for name, k in (("data.json", d), ("narrow.json", 5)):
    json.dump({"X": [r[:k] for r in X], "d": k, "p": k, "N": 700, "y": y,
               "v": [u - 0.5 for u in y]}, open(name, "w"))
P
cat >noisy.gbm <<'E2'
model {
  for (i in 1:700) {
    z[i] ~ dnorm(inprod(X[i,], b[]), tau)
    v[i] ~ dnorm(z[i], 4)
  }
  for (j in 1:d) { b[j] ~ dnorm(0, 1) }
  tau ~ dgamma(3, 2)
}
E2
sed 's/dnorm(0, 1)/dnorm(0, tau)/' noisy.gbm >between.gbm
cat >probit.gbm <<'E2'
model {
  for (i in 1:700) { y[i] ~ dbern(phi(inprod(X[i,], b[]))) }
  for (j in 1:d) { b[j] ~ dnorm(0, s) }
  s ~ dgamma(2, 2)
}
E2
cp "$examples/horseshoe_probit/horseshoe_probit.gbm" horseshoe.gbm

draw() { # MODEL DATA FILE OPTION...
    local model=$1 data=$2 out=$3
    shift 3
    status 0 "./$model" --data "$data" --chains 2 --warmup 1 --draws 4 \
        --format csv --digits 12 --out "$out.csv" "$@"
}
compare() { # WHAT TOLERANCE A B
    python3 - "$2" "$3" "$4" <<'P' || fail "$1: other draws"
import sys
tolerance = float(sys.argv[1])
for chain in (1, 2):
    a, b = ([r for r in open(f"{name}_{chain}.csv") if not r.startswith("#")]
            for name in sys.argv[2:])
    assert len(a) == len(b) == 5
    for p, q in zip(a[1:], b[1:]):
        for x, y in zip(p.split(",")[7:], q.split(",")[7:]):
            x, y = float(x), float(y)
            assert abs(x - y) <= tolerance * (1 + abs(x)), (chain, x, y)
P
}
for model in noisy between probit horseshoe; do
    status 0 "$GBMC" -O1 $model.gbm -o $model
done
for model in noisy probit horseshoe; do
    for data in data narrow; do
        GBM_HOST_PASS=0 draw $model $data.json steps --threads 1
        ! grep -q 'in one pass' .err || fail 'a pass that was not asked for'
        draw $model $data.json pass --threads 1
        says 'drawn in one pass with sums for b'
        compare "$model, $data" 1e-7 steps pass
        draw $model $data.json threads --threads 4
        compare "$model, $data, 4 threads" 0 pass threads
    done
done
draw between data.json pass
! grep -q 'in one pass' .err || fail 'a step between reads what is drawn'
