#!/usr/bin/env bash
# An element's random numbers depend on (seed, chain, sweep, step, element)
# alone: not on how many elements there are, nor on threads, so neither on how
# many are computed at once.
source "$GBM_ROOT/tests/cli/lib"

# Elements that have nothing to do with each other, by several samplers; a few of
# one variable come before the many of the next.
cat >plates.gbm <<'E'
model {
  for (i in 1:3) { x[i] ~ dnorm(0, 1)  u[i] ~ dnorm(x[i], 1) }
  for (i in 1:N) {
    a[i] ~ dnorm(0, 1)
    o[i] ~ dnorm(a[i], 1)
    g[i] ~ dgamma(2.5, 1)
    c[i] ~ dpois(g[i])
    w[i] ~ dlogis(0, 1)
    v[i] ~ dnorm(w[i], 1)
    b[i] ~ dbern(0.3)
    new[i] ~ dnorm(a[i], 1)
  }
}
E
status 0 "$GBMC" plates.gbm -o plates
for n in 5 40 1000; do
    python3 - $n >$n.json <<'E'
import json, sys
n = int(sys.argv[1])
x = [(7 * i % 13 - 6) / 3 for i in range(n)]
json.dump({"N": n, "u": [1, 0, -1], "o": x, "v": x,
           "c": [i % 5 for i in range(n)]}, sys.stdout)
E
    for threads in 1 2; do
        status 0 ./plates --data $n.json --quiet --chains 2 --threads $threads \
            --warmup 0 --draws 30 --monitor x,a,g,w,b,new --out $n.$threads.csv
    done
    cmp <(grep -v '^#' $n.1_2.csv) <(grep -v '^#' $n.2_2.csv) ||
        fail "N = $n: draws depend on the threads"
done
python3 - <<'E' || fail "draws depend on the number of elements"
import csv
def draws(n, chain):
    with open(f"{n}.1_{chain}.csv") as f:
        return list(csv.DictReader(r for r in f if not r.startswith("#")))
for chain in 1, 2:
    for few, many in (5, 40), (5, 1000), (40, 1000):
        a, b = draws(few, chain), draws(many, chain)
        assert len(a) == len(b) == 30
        for sweep, (p, q) in enumerate(zip(a, b)):
            for k in p:
                if k[-2:] != "__":
                    assert p[k] == q[k], (chain, few, many, sweep, k, p[k], q[k])
E
