#!/usr/bin/env bash
# Starts: a chain leaves a minor mode of discrete nodes for one that is far more
# probable, and modes that are alike keep their chains.
source "$GBM_ROOT/tests/cli/lib"

cat >pairs.gbm <<'E'
# Members of two groups agree within a group; the first member may be known.
model {
  same ~ dunif(0.5, 1)
  other ~ dunif(0, 0.5)
  for (i in 1:N) { g[i] ~ dbern(0.5) }
  for (i in 1:(N - 1)) {
    for (j in (i + 1):N) {
      a[i,j] ~ dbern(ifelse(equals(g[i], g[j]), same, other))
    }
  }
}
E
cat >data.py <<'E'
import json, sys
n = 12
g = [i % 2 for i in range(n)]
odd = {(0, 3), (1, 4), (2, 8), (5, 6), (3, 10)}  # answers out of line
a = [[None if j <= i else int((g[i] == g[j]) != ((i, j) in odd))
      for j in range(n)] for i in range(n)]
known = [g[0]] if sys.argv[1] == "known" else [None]
json.dump({"N": n, "a": a, "g": known + [None] * (n - 1)}, sys.stdout)
E
python3 data.py known >known.json
python3 data.py free >free.json
status 0 "$GBMC" pairs.gbm -o pairs

column() { # FILE NAME
    grep -v '^#' "$1" | head -1 | tr , '\n' | grep -nxF "$2" | cut -d: -f1
}
# modes DATA SEED: how many chains have member 2 in which group
modes() {
    status 0 ./pairs --data "$1" --seed "$2" --chains 12 --warmup 30 --draws 5 \
        --monitor g --quiet --out fit.csv
    for i in fit_*.csv; do
        grep -v '^#' "$i" | tail -1 | cut -d, -f"$(column "$i" g.2)"
    done | sort | uniq -c | tr -s ' \n' ' '
}
for seed in 1 2 3; do
    found=$(modes known.json $seed)
    [ "$found" = " 12 1 " ] || fail "known, seed $seed: $found"
    found=$(modes free.json $seed)
    [ "$(wc -w <<<"$found")" = 4 ] || fail "free, seed $seed: $found"
done

# ---- chains that were caught far out arrive

worst() { # FILE: the largest R-hat of a summary
    python3 -c 'import json, sys
all = json.load(open(sys.argv[1]))["parameters"].values()
print(max(p["rhat"] or 1 for p in all))' "$1"
}
# agree SAMPLER DATA SEED [OPTION...]: chains end where the others are
agree() {
    local sampler=$1 data=$2 seed=$3
    shift 3
    status 0 "$sampler" --data "$data" --seed "$seed" --warmup 500 --draws 500 \
        --summary fit.json "$@"
    python3 -c "exit(not $(worst fit.json) < 1.2)" ||
        fail "$sampler, seed $seed: R-hat $(worst fit.json)"
}

cat >factors.gbm <<'E'
# Two factors, the second measured by three of six items. Where it has little
# variance and large loadings is a minor mode; its density there is high, as it
# has many elements.
model {
  for (i in 1:n) {
    for (j in 1:6) { Y[i,j] ~ dnorm(mu[i,j], psi[j]) }
    mu[i,1] <- nu[1] + xi[i]
    mu[i,2] <- nu[2] + lam[1] * xi[i]
    mu[i,3] <- nu[3] + lam[2] * xi[i]
    mu[i,4] <- nu[4] + eta[i]
    mu[i,5] <- nu[5] + lam[3] * eta[i]
    mu[i,6] <- nu[6] + lam[4] * eta[i]
    eta[i] ~ dnorm(gam * xi[i], psd)
    xi[i] ~ dnorm(0, phi)
  }
  for (j in 1:6) {
    nu[j] ~ dnorm(0, .01)
    psi[j] ~ dgamma(1, .5)
  }
  for (k in 1:4) { lam[k] ~ dnorm(1, .1) }
  gam ~ dnorm(0, .1)
  psd ~ dgamma(1, .5)
  phi ~ dgamma(1, .5)
}
E
cat >factors.py <<'E'
import json, random
random.seed(3)
def row():
    xi = random.gauss(0, 1)
    eta = 0.6 * xi + random.gauss(0, 0.7)
    return [round(f + random.gauss(0, 0.5), 3) for f in
            (xi, 0.8 * xi, 1.1 * xi, eta, 0.9 * eta, 0.7 * eta)]
print(json.dumps({"n": 150, "Y": [row() for _ in range(150)]}))
E
python3 factors.py >factors.json
status 0 "$GBMC" -O 1 factors.gbm -o factors
noted=0
for seed in 1 2 3 4; do
    agree ./factors factors.json $seed --monitor lam,psd,gam,phi
    noted=$((noted + $(grep -c 'goes on from where' .err)))
done
[ "$noted" -gt 0 ] || fail "no chain of factors was in the minor mode"
# the same whatever the threads
for threads in 1 3; do
    status 0 ./factors --data factors.json --seed 2 --warmup 100 --draws 10 \
        --threads $threads --quiet --monitor lam,psd --out at$threads.csv
done
for chain in 1 2 3 4; do
    same <(grep -v '^#' at1_$chain.csv) <(grep -v '^#' at3_$chain.csv)
done

# What --init gives stays where it is if that is all; where it leaves values open,
# a chain that is held in the minor mode is moved on as any.
status 0 ./factors --data factors.json --seed 4 --warmup 39 --draws 1 --quiet \
    --monitor nu,psi,lam,gam,psd,phi,xi,eta --out early.csv --digits 17
python3 - <<'E'
import csv, json
for chain in (1, 2):
    with open(f"early_{chain}.csv") as f:
        row = next(csv.DictReader(l for l in f if l[0] != "#"))
    state = {}
    for name, value in row.items():
        if name.split(".")[0] in "nu psi lam gam psd phi xi eta".split():
            state.setdefault(name.split(".")[0], []).append(float(value))
    state = {n: v if len(v) > 1 else v[0] for n, v in state.items()}
    json.dump(state, open(f"all{chain}.json", "w"))
    del state["phi"]
    json.dump(state, open(f"most{chain}.json", "w"))
E
for seed in 1 2; do
    for given in all most; do
        status 0 ./factors --data factors.json --init ${given}1.json \
            --init ${given}2.json --chains 2 --seed $seed --warmup 500 \
            --draws 500 --monitor lam,psd,gam,phi
        moved=$(grep -c 'goes on from where' .err)
        [ "$given $moved" = "all 0" ] || [ "$given $moved" = "most 1" ] ||
            fail "--init of $given: $moved chains were moved on"
    done
done

cat >counts.gbm <<'E'
# A population by its counts, its broods and its recaptures; at the priors'
# middle it trebles each year.
model {
  first ~ dnorm(25, tau) T(0,)
  adult ~ dnorm(25, tau) T(0,)
  young[1] <- round(first)
  old[1] <- round(adult)
  tau <- pow(s, -2)
  s ~ dunif(0, 50)
  phi.y ~ dunif(0, 1)
  phi.o ~ dunif(0, 1)
  f ~ dunif(0, 20)
  for (t in 2:T) {
    young[t] ~ dpois(0.5 * f * phi.y * total[t-1])
    old[t] ~ dbin(phi.o, total[t-1])
  }
  for (t in 1:T) {
    total[t] <- young[t] + old[t]
    y[t] ~ dnorm(total[t], tau)
    broods[t] ~ dpois(f * nests[t])
  }
  a ~ dbin(phi.y, 200)
  b ~ dbin(phi.o, 200)
}
E
cat >counts.json <<'E'
{"T": 12, "y": [58, 52, 50, 51, 53, 50, 48, 48, 59, 56, 48, 39],
 "broods": [78, 59, 54, 61, 75, 56, 74, 46, 93, 86, 55, 44],
 "nests": [24, 20, 17, 19, 22, 18, 19, 18, 22, 23, 22, 16], "a": 60, "b": 100}
E
status 0 "$GBMC" -O 1 counts.gbm -o counts
for seed in 1 2; do
    agree ./counts counts.json $seed --monitor phi.y,phi.o,f
    python3 -c 'import json
f = json.load(open("fit.json"))["parameters"]["f"]
exit(not 2.8 < f["mean"] < 3.7)' || fail "f of counts, seed $seed"
done
# the search itself, for each of 4 chains, with the pilots: seconds of work
python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
exit(f"the search for a start took {used} s" if used > 3 else 0)' \
    ./counts --data counts.json --warmup 0 --draws 1 --threads 1 --quiet ||
    fail "a slow search"

# predictions that are drawn when a sweep is kept, and not before, say nothing
# of where a chain is
cat >ahead.gbm <<'E'
model {
  for (i in 1:n) { y[i] ~ dnorm(a + b * x[i], tau) }
  a ~ dnorm(0, 0.001)
  b ~ dnorm(0, 0.001)
  tau ~ dgamma(0.01, 0.01)
}
E
python3 -c 'import json
y = [3 + 2 * i + 0.01 * (i * 7 % 5 - 2) for i in range(20)]
print(json.dumps({"n": 60, "x": list(range(60)), "y": y + [None] * 40}))' >ahead.json
status 0 "$GBMC" -O 1 ahead.gbm -o ahead
for seed in 1 2 3; do
    agree ./ahead ahead.json $seed
    grep -q 'goes on from' .err && fail "stale predictions move a chain"
done

# ---- a chain goes on from where the best are, not from another that is caught

surplus=$GBM_ROOT/tests/models/surplus_production
status 0 "$GBMC" -O 1 "$surplus/model.bug" -o surplus
noted=0
for seed in 1 8 9 11 14; do
    status 0 ./surplus --data "$surplus/data.R" --seed $seed --warmup 500 \
        --draws 500 --monitor itau2
    grep -q 'in another mode' .out .err &&
        fail "chains are left in a mode that is 30 lower (seed $seed)"
    noted=$((noted + $(grep -c 'goes on from where' .err)))
done
[ "$noted" -gt 0 ] || fail "no chain of surplus was in the minor mode"

# with few numbers a mode need not be that much lower

cat >broken.gbm <<'E'
# One line that bends, at a place of each group's own. With one of the places
# beyond the data and the other before them, only the groups differ.
model {
  for (i in 1:n) {
    y[i] ~ dnorm(b[1] + b[2]*x[i] + b[3]*max(x[i] - cp[g[i]], 0), tau)
  }
  cp[1] ~ dunif(1, 9)
  cp[2] ~ dunif(1, 9)
  b[1] ~ dnorm(0, .01)
  b[2] ~ dnorm(0, .01)
  b[3] ~ dnorm(0, .01)
  tau ~ dgamma(.01, .01)
}
E
python3 -c 'import json, random
r = random.Random(6)
x = sorted(round(r.uniform(0, 10), 2) for i in range(70))
g = [r.randint(1, 2) for i in x]
y = [round(1 + .8 * u - .8 * max(u - (4, 6)[k - 1], 0) + r.gauss(0, .5), 3)
     for u, k in zip(x, g)]
print(json.dumps({"n": 70, "x": x, "g": g, "y": y}))' >broken.json
status 0 "$GBMC" -O 1 broken.gbm -o broken
for seed in 1 2 3; do
    status 0 ./broken --data broken.json --seed $seed --warmup 500 \
        --draws 500 --monitor b,cp
    grep -q 'in another mode' .out .err &&
        fail "broken lines are left in a lower mode (seed $seed)"
done

# ---- names of groups that their priors tell apart, which data alone do not

cat >named.gbm <<'E'
model {
  for (i in 1:n) {
    y[i,1:2] ~ dmnorm(mu[z[i],], Om[z[i],,])
    z[i] ~ dcat(w[])
  }
  w[1:2] ~ ddirch(ones[])
  for (k in 1:2) {
    mu[k,1:2] ~ dmnorm(m[k,], R[,])
    Om[k,1:2,1:2] ~ dwish(R[,], 4)
  }
}
E
python3 -c 'import json, random
g = random.Random(1)
y = [[round(g.gauss(m, 1), 2) for m in ((-1, 0) if i < 70 else (2, 2))]
     for i in range(120)]
json.dump({"n": 120, "y": y, "ones": [1, 1], "m": [[-1, 0], [2, 2]],
           "R": [[1, 0], [0, 1]]}, open("named.json", "w"))'
status 0 "$GBMC" -O 1 named.gbm -o named
for seed in 1 5 6; do
    status 0 ./named --data named.json --seed $seed --warmup 300 --draws 300 \
        --monitor mu,w
    grep -q 'in another mode' .out .err &&
        fail "a chain has the groups the wrong way round (seed $seed)"
done

# ---- modes that are alike keep their chains, and are told

cat >modes.gbm <<'E'
model {
  for (i in 1:n) { y[i] ~ dt(mu, 25, 2) }
  mu ~ dnorm(0, 1e-4)
}
E
cat >modes.json <<'E'
{"n": 15, "y": [-10.1, -10, -9.9, -10.2, -9.8, -10, -10.1, -9.9,
                10, 9.9, 10.1, 9.8, 10.2, 10, 10.1]}
E
status 0 "$GBMC" -O 1 modes.gbm -o modes
status 0 ./modes --data modes.json --seed 4 --out modes.nc
prints 'Warning: [12] of 4 chains \(.*\) (is|are) in another mode than chains '
prints '(higher|lower) in log density:'
prints '  mu is about -?(9.9|10).* there, -?(9.9|10).* here'
prints 'different modes: see below'
prints 'Try --method tempering'
# one point more is 1.5 log(1 + 25 * 20^2 / 2) = 13
by=$(sed -n 's/.*, \([0-9.]*\) \(higher\|lower\) in log density:/\1/p' .out)
[ "${by%.*}" -ge 11 ] && [ "${by%.*}" -le 15 ] || fail "modes differ by $by"
grep -q 'goes on from' .err && fail "a chain left a mode that is 13 lower"
status 0 ./modes summary modes.nc
prints 'in another mode than chains '
status 0 ./modes --data modes.json --seed 4 # the last states' density
prints 'in log density:'
# chains that agree are in no mode of their own
status 0 ./factors --data factors.json --seed 1 --monitor lam,psd
grep -q 'another mode' .out && fail "no other mode is there"

# ---- vectors of wide priors start where something can be seen of the data

cat >rates.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dpois(exp(inprod(x[i,], b[g[i],]))) }
  for (j in 1:3) { b[j,1:2] ~ dmnorm(m[], P[,]) }
}
E
python3 -c 'import json
n = 60
x = [[1, (i * 37 % 19 - 9) / 6] for i in range(n)]
print(json.dumps({"N": n, "x": x, "g": [i % 3 + 1 for i in range(n)],
                  "y": [(i * 7 % 5) + i % 3 * 2 for i in range(n)],
                  "m": [0, 0], "P": [[1e-6, 0], [0, 1e-6]]}))' >rates.json
status 0 "$GBMC" -O 1 rates.gbm -o rates
for seed in 1 2 3; do
    status 0 ./rates --data rates.json --seed $seed --warmup 0 --draws 1 \
        --quiet --lp --out rates.csv
    for chain in 1 2 3 4; do
        grep -v '^#' rates_$chain.csv | tail -1 |
            cut -d, -f"$(column rates_$chain.csv lp__)"
    done >places
    awk '!($1 > -1e5) { exit 1 }' places || fail "rates start at $(cat places)"
done

# ---- --start

cat >vague.gbm <<'E'
model {
  for (i in 1:3) { y[i] ~ dnorm(m, 0.01) }
  m ~ dnorm(5, 1e-6)
}
samplers { m : rw(scale = 1e-9) }
E
echo '{"y": [4, 5, 6]}' >vague.json
status 0 "$GBMC" -O 1 vague.gbm -o vague
# starts TEST OPTION...: where m of the four chains starts, less 5; the one sweep
# hardly moves it
starts() {
    rm -f start_?.csv
    status 0 ./vague --data vague.json --warmup 0 --draws 1 --quiet \
        --out start.csv "${@:2}"
    for i in 1 2 3 4; do
        grep -v '^#' start_$i.csv | tail -1 |
            cut -d, -f"$(column start_$i.csv m)"
    done >places
    python3 -c 'import sys
m = sorted(float(x) - 5 for x in open("places"))
apart = min(b - a for a, b in zip(m, m[1:]))
far = max(abs(x) for x in m)
exit(not eval(sys.argv[1]))' "$1" || fail "${*:2}: starts at $(cat places)"
}
starts 'apart > 1e-3 and far < 5'
starts 'apart > 1e-3 and far < 5' --start dispersed --seed 5
starts 'far < 1e-6' --start typical
starts '100 < far < 5000' --start prior
echo '{"m": 8}' >given.json
starts 'all(abs(x - 3) < 1e-6 for x in m)' --start prior --init given.json
status 1 ./vague --data vague.json --start anywhere
says "'anywhere': dispersed, typical or prior"

# Effects that are all equal at the start say nothing of their scale yet.
cat >equal.gbm <<'E2'
model {
  for (i in 1:4) { y[i] ~ dlogis(u[i] + m, 1) }
  u[1:4] ~ dcar_normal(adj[], weights[], num[], tau)
  m ~ dnorm(0, 1)
  tau ~ dunif(0.3, 1.9)
  for (i in 1:4) { z[i] ~ dpois(exp(v[i])) }
  for (i in 1:4) { v[i] ~ dnorm(0, 1 / s^2) }
  s ~ dunif(0.1, 5)
}
E2
echo '{"adj": [2, 4, 1, 3, 2, 4, 1, 3], "num": [2, 2, 2, 2],
 "weights": [1, 1, 1, 1, 1, 1, 1, 1], "y": [2.6, 1.2, 3.7, 3.3],
 "z": [2, 0, 1, 3]}' >equal.json
echo '{"v": [0, 0, 0, 0], "u": [0, 0, 0, 0]}' >equal_init.json
status 0 "$GBMC" -O 1 equal.gbm -o equal
status 0 ./equal --data equal.json --quiet --draws 200
status 0 ./equal --data equal.json --init equal_init.json --quiet --draws 200

# A pedigree: those without parents differ at the start, or nothing would say
# how large the effects are.
cat >pedigree.gbm <<'E2'
model {
  for (i in 1:n) {
    y[i] ~ dnorm(m + a[i], 1 / ve)
    a[i] ~ dnorm(0.5 * (u[s[i] + 1] + u[d[i] + 1]), 1 / va)
    u[i+1] <- a[i]
  }
  u[1] <- 0
  m ~ dnorm(0, 0.01)
  va ~ dgamma(1, 1)
  ve ~ dgamma(1, 1)
}
E2
echo '{"n": 6, "s": [0, 0, 1, 1, 3, 4], "d": [0, 0, 2, 2, 2, 3],
 "y": [1.2, 3.1, 0.7, 2.2, 1.9, 2.5]}' >pedigree.json
status 0 "$GBMC" -O 1 pedigree.gbm -o pedigree
status 0 ./pedigree --data pedigree.json --quiet --draws 200
