#!/usr/bin/env bash
# Components of a mixture that priors tell apart trade places: posteriors with a
# mode for each order, whose masses are sums over all labellings; the joint
# distribution test; and where nothing but the names differs, names stay.
source "$GBM_ROOT/tests/cli/lib"
export PYTHONPATH=$GBM_ROOT/tests/cli

cat >plate.gbm <<'M'
model {
  for (i in 1:N) { z[i] ~ dcat(w[])  y[i] ~ dnorm(mu[z[i]], 1)  c[i] ~ dpois(rate[z[i]]) }
  for (k in 1:K) { mu[k] ~ dnorm(m[k], t[k])  rate[k] ~ dgamma(2, 1) }
  w[1:K] ~ ddirch(a[])
  first <- equals(z[1], 1)
  second <- equals(z[1], 2)
}
M
# one by one, of a kind each
cat >apart.gbm <<'M'
model {
  for (i in 1:N) { z[i] ~ dcat(w[])  y[i] ~ dnorm(mu[z[i]], 1)  c[i] ~ dpois(rate[z[i]]) }
  mu[1] ~ dnorm(-0.6, 0.05)
  mu[2] ~ dnorm(0.5, 0.1)
  mu[3] ~ dnorm(0.1, 0.02)
  for (k in 1:3) { rate[k] ~ dgamma(2, 1) }
  w[1:3] ~ ddirch(a[])
  first <- equals(z[1], 1)
  second <- equals(z[1], 2)
}
M
# beside what is the same of all, by a loop and one by one
cat >common.gbm <<'M'
model {
  for (i in 1:N) {
    z[i] ~ dcat(w[])
    y[i] ~ dnorm(th[z[i],2], 1)
    c[i] ~ dpois(la[z[i],2])
    y0[i] ~ dnorm(th[z[i],1], 1)
    c0[i] ~ dpois(la[z[i],1])
  }
  for (k in 1:K) {
    th[k,1] <- 0.5
    th[k,2] ~ dnorm(m[k], t[k])
    la[k,2] ~ dgamma(2, 1)
    mu[k] <- th[k,2]
    rate[k] <- la[k,2]
  }
  la[1,1] <- 2
  la[2,1] <- 2
  la[3,1] <- 2
  w[1:K] ~ ddirch(a[])
  first <- equals(z[1], 1)
  second <- equals(z[1], 2)
}
M
echo '{"N": 6, "K": 3, "a": [1, 2, 1.5], "m": [-0.6, 0.5, 0.1], "t": [0.05, 0.1, 0.02],
      "y": [-7, -8, -7.5, 6, 6.5, 7], "c": [1, 0, 2, 4, 5, 4],
      "y0": [0, 1, 0, 0, 1, 1], "c0": [3, 1, 2, 2, 1, 1]}' >all.json
sed 's/"K": 3, //; s/"m": .*"t": [^]]*\],/ /' all.json >apart.json
cat >exact.py <<'E'
# exact.py DATA SUMMARY: sums over all labellings.
import json
import sys
from math import lgamma, log

import labellings

d, found = (json.load(open(f)) for f in sys.argv[1:3])
y, c, K, a, m, t = (d[n] for n in ("y", "c", "K", "a", "m", "t"))


def rows(k, which):
    """log of what they have, all of the component integrated out; means"""
    n, p = len(which), t[k] + len(which)
    centre = (t[k] * m[k] + sum(y[i] for i in which)) / p
    squares = t[k] * m[k]**2 + sum(y[i]**2 for i in which) - p * centre**2
    shape, rate = 2 + sum(c[i] for i in which), 1 + n
    return (0.5 * log(t[k] / p) - 0.5 * squares + lgamma(shape)
            - shape * log(rate) + lgamma(a[k] + n), centre, shape / rate)


def tell(z, members):
    of = [rows(k, which) for k, which in enumerate(members)]
    return sum(o[0] for o in of), {
        "first": z[0] == 0, "second": z[0] == 1, "mu[1]": of[0][1],
        "rate[2]": of[1][2]}


exact = labellings.means(len(y), K, tell)
sys.exit(labellings.differ(found, exact, dict.fromkeys(exact, 2000)))
E
for model in plate apart common; do
    data=$([ $model = apart ] && echo apart || echo all)
    status 0 "$GBMC" -O1 $model.gbm -o $model
    status 0 "$GBMC" --explain $model.gbm
    prints '^[0-9]+ +z, w, .* components trade'
    status 0 ./$model --data $data.json --device cpu --draws 20000 --seed 2 \
        --monitor first,second,mu,rate --summary $model.s --quiet
    python3 exact.py all.json $model.s >.out || fail "$model is not the sum"
done
device_draws_as_host plate all.json
status 0 ./plate geweke --data all.json --device cpu --draws 2000
status 0 "$GBMC" -O1 --with=powers apart.gbm -o powers
status 0 ./powers geweke --data apart.json --device cpu --draws 2000

# Labels that are known hold the components; components that differ by nothing
# but their names keep these.
stays() { # DATA: mu[1] and mu[2] stay where they began
    status 0 ./plate --data "$1" --device cpu --draws 2000 --seed 3 --chains 1 \
        --monitor mu --summary stays.json --quiet
    python3 - <<'P' || fail "$1: names change"
import json
p = json.load(open("stays.json"))["parameters"]
assert min(abs(p[f"mu[{k}]"]["mean"]) for k in (1, 2)) > 3, p
P
}
sed 's/"K": 3/"K": 2/; s/"a": [^]]*\]/"a": [2, 2]/; s/"m": [^]]*\]/"m": [0.3, 0.3]/
     s/"t": [^]]*\]/"t": [0.1, 0.1]/' all.json >alike.json
stays alike.json
sed 's/"m": [^]]*\]/"m": [0.3, 0.2]/; s/"c"/"z": [1, null, null, null, null, null], "c"/' \
    alike.json >known.json
stays known.json

none() { # SED...
    sed "$@" plate.gbm >other.gbm
    cmp -s plate.gbm other.gbm && fail "nothing is other"
    status 0 "$GBMC" --explain other.gbm
    if grep -q 'trade places' .out; then fail "$*"; fi
}
none 's/dnorm(m\[k\], t\[k\])/dnorm(m[1], t[2])  one[k] <- 1/; s/ddirch(a/ddirch(one/'
none 's/y\[i\] ~ dnorm(mu\[z\[i\]\]/y[i] ~ dnorm(z[i] + mu[z[i]]/'
none 's/y\[i\] ~ dnorm(mu\[z\[i\]\]/y[i] ~ dnorm(mu[z[i]] + mu[1]/'

# What is the same of some components alone holds them, and what is not.
sed '/la\[3,1\] <- 2/s/<- 2/<- 3/' common.gbm >other.gbm
status 0 "$GBMC" --explain other.gbm
if grep -q 'trade places' .out; then fail "another reference level"; fi
sed '/la\[3,1\] <- 2/d' common.gbm >some.gbm
sed 's/"K": 3/"K": 2/; s/"a": [^]]*\]/"a": [2, 2]/; s/"m": [^]]*\]/"m": [0.3, 0.2]/
     s/"t": [^]]*\]/"t": [0.1, 0.1]/' all.json >two.json
moves() { # MODEL MOST
    status 0 "$GBMC" -O0 "$1.gbm" -o "$1"
    status 0 "./$1" --data two.json --device cpu --draws 2000 --seed 3 --chains 1 \
        --monitor first --summary moves.json --quiet
    python3 - "$2" <<'P' || fail "$1: first is not the other as often as it should be"
import json, sys
p = json.load(open("moves.json"))["parameters"]["first"]["mean"]
assert (min(p, 1 - p) > 0.1) == (sys.argv[1] == "moves"), p
P
}
moves some moves
sed 's/for (k in 1:K) {/for (k in 1:1) { th[k,1] <- 0.5 }\n  for (k in 2:K) { th[k,1] ~ dnorm(0.5, 1e12) }\n&/
     /^ *th\[k,1\] <- 0.5/d; /la\[3,1\] <- 2/d' common.gbm >part.gbm
moves part stays

# Of vectors lanes share out the cells.
cat >wide.gbm <<'M'
model {
  for (i in 1:N) { z[i] ~ dcat(w[])  y[i,1:3] ~ dmnorm(mu[z[i],], Q[z[i],,]) }
  for (k in 1:K) { mu[k,1:3] ~ dmnorm(m[k,], T[,])  Q[k,1:3,1:3] ~ dwish(T[,], 5) }
  w[1:K] ~ ddirch(a[])
}
M
python3 - <<'P'
import json, random
random.seed(2)
y = [[round(i % 3 * (j - 1) + random.gauss(0, 1), 3) for j in range(3)]
     for i in range(12)]
json.dump({"N": 12, "K": 3, "y": y, "a": [2, 2, 2],
           "m": [[0, 1, 1], [1, 1, 1], [1, 0, 1]],
           "T": [[float(i == j) for j in range(3)] for i in range(3)]},
          open("wide.json", "w"))
K = 24
json.dump({"N": 2 * K, "K": K, "y": [20 * (i % K) for i in range(2 * K)],
           "c": [2] * 2 * K, "a": K * [30000], "m": K * [0], "t": K * [1e-5]},
          open("many.json", "w"))
json.dump({"mu": [20 * k for k in range(K)], "rate": K * [2], "w": K * [1 / K],
           "z": [i % K + 1 for i in range(2 * K)]}, open("at.json", "w"))
P
status 0 "$GBMC" -O0 wide.gbm -o wide
device_draws_as_host wide wide.json

# In single precision sums over all components are rounded by more than what is
# nothing in sums of a few: names stay there, too.
(
    fake_device
    status 0 ./plate --data many.json --init at.json --device cuda --chains 1 \
        --precision single --warmup 5 --draws 40 --monitor z --no-check \
        --summary many.s --quiet
    python3 - <<'P' || fail "rounding trades components"
import json
p = json.load(open("many.s"))["parameters"]
z = [p[f"z[{i + 1}]"]["mean"] for i in range(48)]
assert z == [i % 24 + 1 for i in range(48)], z
P
)
found=$?
[ $found = 77 ] || [ $found = 0 ] || exit 1

# Behind 200 sweeps in which none was made they are asked in one of 16.
status 0 "$GBMC" --emit=c plate.gbm
sed "s/^    const real u = gbm_uniform(rng);/&\n    if (!adapting) fputc('@', stderr);/" .out >asked.c
# shellcheck disable=SC2046 # flags are words
"${CC:-cc}" -std=c11 -O0 -w -fopenmp -D_GNU_SOURCE -include stdio.h \
    -I"$GBM_ROOT/stdlib/kernels" -I"$GBM_ROOT/runtime" asked.c -o asked \
    "$GBM_ROOT/$GBM_BUILD/libgbm.a" \
    $(cat "$GBM_ROOT/$GBM_BUILD/link_flags") || fail "asked.c"
times_asked() { # DATA WANTED
    status 0 ./asked --data "$1" --no-check --quiet --device cpu --chains 1 \
        --warmup 300 --draws 160 --seed 3
    local n
    n=$(tr -cd @ <.err | wc -c)
    [ "$n" = "$2" ] || fail "$1: asked $n times in 160 sweeps"
}
times_asked alike.json 10
times_asked all.json 160
