#!/usr/bin/env bash
# Sums over the rows of a random group are read from tables (sweep/tally.c): the
# draws are those that the rows give, also of data far from 0; tables that are
# not recomputed, or are wrong, are found by the self-check.
source "$GBM_ROOT/tests/cli/lib"

cat >groups.gbm <<'E'
model {
  pi[1:K] ~ ddirch(one[])
  for (i in 1:N) {
    z[i] ~ dcat(pi[])
    x[i,1:2] ~ dmnorm(mu[z[i],], Q[z[i],,])
    for (p in 1:3) { y[i,p] ~ dnorm(m[z[i],p], tau[z[i],p]) }
    c[i] ~ dpois(rate[z[i]])
    r[i] ~ dnorm(b[z[i],1] + b[z[i],2] * v[i], 4)
  }
  for (k in 1:K) {
    mu[k,1:2] ~ dmnorm(m0[], T0[,])
    Q[k,1:2,1:2] ~ dwish(R[,], 4)
    b[k,1:2] ~ dmnorm(zero[], T0[,])
    for (p in 1:3) {
      m[k,p] ~ dnorm(shift, 0.01)
      tau[k,p] ~ dgamma(2, 2)
    }
    rate[k] ~ dgamma(2, 1)
  }
}
E
# whole.json, and partly.json with a row more of which nothing is observed, so
# that all sums go through the rows.
data() { # SHIFT
    python3 - "$1" <<'P'
import json, random, sys
shift = float(sys.argv[1])
random.seed(3)
n, k = 60, 3
z = [1 + i % k for i in range(n)]
g = random.gauss
d = {"N": n, "K": k, "one": [1] * k, "m0": [shift] * 2, "zero": [0, 0],
     "T0": [[0.01, 0], [0, 0.01]], "R": [[2, 0.5], [0.5, 2]], "shift": shift,
     "x": [[shift + 6 * c + g(0, 1), shift - 5 * c + g(0, 1)] for c in z],
     "y": [[shift + 4 * c + g(0, 1) for _ in range(3)] for c in z],
     "c": [3 * c + i % 2 for i, c in enumerate(z)],
     "v": [g(0, 1) for _ in z]}
d["r"] = [c - c * v + g(0, 0.5) for c, v in zip(z, d["v"])]
json.dump(d, open("whole.json", "w"))
d["N"] += 1
d["x"].append([None, None])
d["y"].append([None] * 3)
d["c"].append(None)
d["r"].append(None)
d["v"].append(0)
json.dump(d, open("partly.json", "w"))
start = {"mu": [[shift + 6 * c, shift - 5 * c] for c in (1, 2, 3)],
         "Q": [[[1, 0], [0, 1]]] * 3, "m": [[shift + 4 * c] * 3 for c in
         (1, 2, 3)], "tau": [[1] * 3] * 3, "rate": [3, 6, 9], "pi": [1 / 3] * 3,
         "b": [[c, -c] for c in (1, 2, 3)]}
json.dump(dict(start, z=z), open("init_whole.json", "w"))
json.dump(dict(start, z=z + [1]), open("init_partly.json", "w"))
P
}
# compare FILE FILE BOUND: the draws of what both have, in units of 1 + |x - shift|
compare() {
    python3 - "$@" <<'P' || fail "$1 and $2 have other draws"
import csv, sys
def read(name):
    with open(name) as f:
        return list(csv.DictReader(r for r in f if not r.startswith("#")))
a, b = (read(name + "_1.csv") for name in sys.argv[1:3])
shift, bound = float(sys.argv[3]), float(sys.argv[4])
assert len(a) == len(b) == 3
worst = 0
for s, t in zip(a, b):
    for n, u in s.items():
        if n[:2] in ("mu", "Q[", "m[", "ta", "ra", "b[", "pi"):
            of = 1 + min(abs(float(u)), abs(float(u) - shift))
            far = abs(float(u) - float(t[n])) / of
            worst = max(worst, far)
            assert far < bound, (n, u, t[n])
print(worst)
P
}
draw() { # DATA OUT OPTION...
    local data=$1 out=$2
    shift 2
    status 0 ./groups --data "$data.json" --init "init_$data.json" --chains 1 \
        --warmup 0 --draws 3 --format csv --digits 15 --monitor \
        mu,Q,m,tau,rate,b,pi --out "$out.csv" "$@"
}

status 0 "$GBMC" --emit=sweep groups.gbm
[ "$(grep -c 'from tables' .out)" = 7 ] || fail "sums that are in no tables"
status 0 "$GBMC" -O1 groups.gbm -o groups
for shift in 0 10000; do
    data $shift
    status 0 ./groups check --data whole.json
    draw whole tables
    draw partly rows
    compare tables rows $shift 1e-6
done

# What is broken in the host's text is found.
status 0 "$GBMC" --emit=c groups.gbm
mv .out model.c
broken() { # NAME SED
    sed "1,/^static const char program/{$2}" model.c >"$1.c"
    cmp -s model.c "$1.c" && fail "$1: nothing was broken"
    # shellcheck disable=SC2046 # flags are words
    "${CC:-cc}" -std=c11 -O0 -fopenmp -D_GNU_SOURCE \
        -I"$GBM_ROOT/stdlib/kernels" -I"$GBM_ROOT/runtime" "$1.c" -o "$1" \
        "$GBM_ROOT/$GBM_BUILD/libgbm.a" \
        $(cat "$GBM_ROOT/$GBM_BUILD/link_flags") || fail "$1.c"
    status 2 "./$1" --data whole.json --init init_whole.json --device cpu \
        --draws 100 --out "$1.nc"
    says 'self-check|full conditional'
    absent "$1.nc"
}
data 0
broken stale 's/if (element == 0)$/if (element == 0 \&\& sweeps_++ < 2)/
    s/^struct state {/static int sweeps_;\n&/'
broken sign 's/^\( *table_[0-9]*_v(.*) \)+= 1;/\1-= 1;/'
broken row 's/const int key = z_v(i_v);/const int key = z_v(1 + i_v % *s->N_v);/'

# Classes whose parameters are by column: the key is of the column, too.
columns() { # CELL PRIOR'S-CELL
    cat >columns.gbm <<END
model {
  for (i in 1:n) {
    for (l in 1:L) {
      z[i,l] ~ dcat(q[])
      x[i,l] ~ dbern(p[$1])
    }
  }
  for (l in 1:L) { for (k in 1:2) { p[$2] ~ dbeta(k, 2) } }
  q[1:2] ~ ddirch(al[])
}
END
    status 0 "$GBMC" --emit=sweep columns.gbm
    [ "$(grep -c 'from tables' .out)" = 2 ] || fail "$1: not from tables"
    status 0 "$GBMC" -O 1 columns.gbm -o columns
    status 0 ./columns check --data columns.json
    prints '^p .* pass'
    status 0 ./columns --data columns.json --quiet --draws 20
}
echo '{"n": 5, "L": 3, "al": [2, 3],
 "x": [[0, 1, 1], [1, 1, 0], [0, 0, 1], [1, 1, 1], [0, 1, 0]]}' >columns.json
columns 'z[i,l],l' 'k,l'
columns 'l,z[i,l]' 'l,k'

# As many categories as each column has.
cat >ragged.gbm <<'END'
model {
  for (l in 1:L) {
    for (i in 1:n) {
      z[i,l] ~ dcat(q[l,1:K[l]])
      x[i,l] ~ dcat(p[l,z[i,l],1:A[l]])
      y[i,l] ~ dnorm(mu[l,z[i,l]], 1)
    }
    q[l,1:K[l]] ~ ddirch(al[1:K[l]])
    for (k in 1:K[l]) {
      p[l,k,1:A[l]] ~ ddirch(al[1:A[l]])
      mu[l,k] ~ dnorm(3 * k, 1)
    }
  }
}
END
echo '{"n": 4, "L": 2, "K": [3, 2], "A": [2, 3], "al": [1, 2, 3],
 "x": [[1, 2], [2, 3], [1, 1], [2, 2]],
 "y": [[3, 4], [5, 3], [8, 6], [4, 7]]}' >ragged.json
status 0 "$GBMC" -O 1 ragged.gbm -o ragged
status 0 ./ragged check --data ragged.json
prints '^p .* pass'
status 0 ./ragged --data ragged.json --quiet --draws 20
