#!/usr/bin/env bash
# Tempering on a device with memory of its own draws what the host draws:
# powers, states from the prior and what was swapped go there. On stand-ins for
# CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device
cat >m.gbm <<'E'
model {
  for (i in 1:6) {
    y[i] ~ dnorm(mu[z[i]], tau)
    z[i] ~ dcat(w[])
    k[i] ~ dbin(p, 4)
  }
  for (c in 1:2) { mu[c] ~ dnorm(0, 0.1) }
  tau ~ dgamma(2, 2)
  logit(p) <- a
  a ~ dnorm(0, 0.5)
}
E
echo 'y <- c(-2, -1.5, -2.2, 1, 2, 1.7)
k <- c(1, 2, 4, 3, 3, 2)
w <- c(0.4, 0.6)' >m.R
status 0 "$GBMC" -O 0 --with=powers m.gbm -o m
draw() {
    status 0 ./m --data m.R --quiet --method tempering --replicas 4 --chains 2 \
        --warmup 24 --draws 12 --format csv --digits 15 --out "$1.csv" \
        --summary "$1.json" --device "$1"
}
draw cpu
draw cuda
python3 - <<'P' || fail 'device and host differ'
import json
a, b = (json.load(open(f)) for f in ("cpu.json", "cuda.json"))
near = lambda x, y: abs(x - y) < 1e-6 * (1 + abs(x))
assert near(a["log_evidence"]["value"], b["log_evidence"]["value"]), (a, b)
assert all(map(near, a["tempering"]["powers"], b["tempering"]["powers"]))
for c in (1, 2):
    rows = [[list(map(float, l.split(","))) for l in open(f"{d}_{c}.csv")
             if l[0] not in "#ldtmawz"] for d in ("cpu", "cuda")]
    assert len(rows[0]) == 12 and len(rows[1]) == 12, rows
    for x, y in zip(*rows):
        assert all(map(near, x, y)), (x, y)
P
