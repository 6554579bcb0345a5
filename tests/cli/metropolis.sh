#!/usr/bin/env bash
# Metropolis steps of groups: what chains learn, alone and together, and for how
# long.
. "$GBM_ROOT/tests/cli/lib"

cat >line.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dnorm(a + b * x[i], tau) }
  a ~ dnorm(0, 0.01)
  b ~ dnorm(0, 0.01)
  tau ~ dgamma(2, 1)
}
E
echo '{"N": 6, "x": [1, 2, 3, 4, 5, 6], "y": [2.1, 2.7, 4.2, 4.9, 6.4, 6.6]}' \
    >line.json
cat >learnt.py <<'E'
import os, sys
import numpy as np
sys.path.insert(0, os.environ["GBM_ROOT"] + "/tests")
import checkpoint
def learnt(path, d):
    """[chain][cell]: factor, 1 + updates; mean; U, of which U'U is the
    covariance."""
    [cells] = [x for n, x in checkpoint.pieces(path) if n.endswith(" width")]
    return np.frombuffer(cells).reshape(3, -1)[:, :2 + d + d * d]
E

# program NAME SAMPLER: the model with all parameters moved so
program() {
    { cat line.gbm; echo "samplers { a, b, tau : $2; }"; } >"$1.gbm"
    status 0 "$GBMC" -O 1 "$1.gbm" -o "$1"
}
# tuned NAME WARMUP DRAWS option...: runs; what was learnt is in NAME.ck
tuned() {
    local name=$1 warmup=$2 draws=$3
    shift 3
    rm -f "$name.ck" "$name.ck.1"
    status 0 "./$name" --data line.json --quiet --no-check --seed 3 --chains 3 \
        --warmup "$warmup" --draws "$draws" --checkpoint "$name.ck" \
        --start typical "$@"
}

# ---- what is learnt stays after warm-up, unless it shall go on

for kind in am diam; do
    program $kind $kind
    program forever "$kind(adapt = forever)"
    for name in $kind forever; do
        tuned $name 200 1
        cp $name.ck early.ck
        tuned $name 200 300
        python3 - "$name" <<'E' || fail "$name: what $kind learns"
from learnt import *
early, late = learnt("early.ck", 3), learnt(sys.argv[1] + ".ck", 3)
assert early.shape == (3, 14)
if sys.argv[1] == "forever":
    assert (early[:, 1] == 1 + 201).all() and (late[:, 1] == 1 + 500).all()
    for k in range(14): # all but what is 0
        assert (early[:, k] != late[:, k]).all() or k in (8, 11, 12)
else:
    assert (early[:, 1] == 1 + 200).all() and (early == late).all()
E
    done
done

# ---- shared: the moments of all chains' draws, and no number of threads in them

program alone 'am(scale = 0.5)'
program shared 'am(scale = 0.5, share = chains, lag = 40)'
tuned alone 40 1
tuned shared 40 1
python3 - <<'E' || fail "the moments of all chains"
from learnt import *
own, common = learnt("alone.ck", 3), learnt("shared.ck", 3)
def moments(t):
    U = t[5:].reshape(3, 3)
    assert np.array_equal(U, np.triu(U))
    return t[2:5], U.T @ U + np.outer(t[2:5], t[2:5])
mean = np.mean([moments(t)[0] for t in own], axis=0)
second = np.mean([moments(t)[1] for t in own], axis=0)
for before, t in zip(own, common):
    assert np.allclose(moments(t)[0], mean, rtol=1e-12)
    assert np.allclose(moments(t)[1], second, rtol=1e-12)
    assert np.array_equal(t[:2], before[:2])
assert not np.allclose(own[0, 5:], own[1, 5:], rtol=1e-3)
E
tuned shared 200 50 --threads 1 --out one.csv
cp shared.ck one.ck
tuned shared 200 50 --threads 2 --out two.csv
for chain in 1 2 3; do
    exists one_$chain.csv
    same <(grep -v '^#' one_$chain.csv) <(grep -v '^#' two_$chain.csv)
done
status 0 python3 "$GBM_ROOT/tests/checkpoint.py" same one.ck shared.ck
# from the middle of warm-up a run goes on to the same
status 0 python3 "$GBM_ROOT/tests/checkpoint.py" kills 1 ./shared --data \
    line.json --quiet --no-check --seed 4 --warmup 2000 --draws 50

# without a lag it is half the dimension, 25 or more: of 60 coordinates, 30
cat >wide.gbm <<'E'
model {
  for (i in 1:60) {
    x[i] ~ dnorm(0, i)
    y[i] ~ dnorm(x[i], 1)
  }
}
samplers { x : diam(share = chains); }
E
python3 -c 'import json; print(json.dumps({"y": [i % 3 for i in range(60)]}))' \
    >line.json
status 0 "$GBMC" -O 1 wide.gbm -o wide
for warmup in 29 30 31; do
    tuned wide $warmup 1
    python3 - $warmup <<'E' || fail "what is common after $warmup sweeps"
from learnt import *
t = learnt("wide.ck", 60)[:, 2:]
assert (t[0] == t[1]).all() == (sys.argv[1] == "30")
E
done

# ---- no data: what is asked for is moved, not drawn forward. A twisted normal
# (Chen 2015, section 4.1): means and variances of x are 0, b and 1, 1 + 2 b^2

cat >twisted.gbm <<'E'
model {
  x ~ dnorm(0, 1)
  y ~ dnorm(0.6 * x * x, 1)
  p ~ dbeta(2, 3)
}
E
for kind in am diam 'diam(share = chains)'; do
    { cat twisted.gbm; echo "samplers { x, y, p : $kind; }"; } >asked.gbm
    status 0 "$GBMC" -O 1 asked.gbm -o asked
    status 0 ./asked info
    prints 'Metropolis'
    status 0 ./asked --quiet --seed 1 --draws 20000 --summary asked.json
    python3 - <<'E' || fail "$kind: moments of the priors"
import json
found = json.load(open("asked.json"))["parameters"]
for name, mean, sd in (("x", 0, 1), ("y", 0.6, 1.72 ** 0.5), ("p", 0.4, 0.2)):
    r = found[name]
    assert abs(r["mean"] - mean) < 4.5 * r["mcse"], (name, r)
    assert r["ess_bulk"] > 500 and abs(r["sd"] / sd - 1) < 0.1, (name, r)
E
done

# ---- a random walk makes two moves of one number in a sweep, and of several as
# many as there are, up to four: with one 4800, 4800 and 1300 are effective

cat >walks.gbm <<'E2'
model {
  x ~ dnorm(0, 1)
  k ~ dpois(9)
  for (i in 1:4) { y[i] ~ dnorm(0, 1) }
}
samplers { x, k : rw; y : rw_block; }
E2
status 0 "$GBMC" -O 1 walks.gbm -o walks
status 0 ./walks --quiet --draws 5000 --summary walks.json
python3 - <<'E2' || fail "draws of random walks"
import json
of = {n: p["ess_bulk"] for n, p in json.load(open("walks.json"))["parameters"].items()}
assert of["x"] > 6500 and of["k"] > 6500, of
assert min(of[f"y[{i}]"] for i in (1, 2, 3, 4)) > 3000, of
E2
