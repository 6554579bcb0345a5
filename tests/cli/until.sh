#!/usr/bin/env bash
# --until: when a run has drawn enough, of each parameter and along the
# directions in which they vary together.
source "$GBM_ROOT/tests/cli/lib"

# Chains stay where m is 20 or -20, which moves y by 0.04: little of its
# deviation of 1, but four times that of x / 2 + y, which is 0.01.
cat >apart.gbm <<'E'
model {
  z ~ dnorm(m^2, 1)
  m ~ dnorm(0, 1.0E-6)
  x ~ dnorm(0, 0.25)
  y ~ dnorm(0.002 * m - x / 2, 1.0E4)
  w ~ dnorm(x, 1)
}
samplers { m : slice; }
E
echo '{"z": 400}' >z.json
echo '{"m": 20}' >up.json
echo '{"m": -20}' >down.json
status 0 "$GBMC" -O 1 apart.gbm -o apart
run() { # STATUS OPTION...
    status "$1" ./apart --data z.json --no-check --seed 1 --warmup 100 \
        --draws 500 --chains 4 --monitor x,y,w "${@:2}"
}
apart=(--init up.json --init down.json)
run 0 "${apart[@]}" --until 'rhat<1.05' --out apart.nc
says '^500 draws a chain: .* largest R-hat 1\.0[0-4]'
run 2 "${apart[@]}" --draws 20 --until 'rhat<1.05, rhat_eigen<1.05'
says 'direction 1\.7'
says 'rhat_eigen<1.05 does not hold after [0-9]* draws a chain'
run 0 --init up.json --until 'ess>400,rhat_eigen<1.05' --out together.nc
says 'direction 1\.0[0-4]'

# a time: about as long as that, whether the rest holds or not; the run could be
# forty times as long
seconds() { # STATUS RULE OPTION...
    run "$1" "${apart[@]}" --until "$2" --summary timed.json "${@:3}"
    python3 -c 'import json; t = json.load(open("timed.json"))
assert t["complete"] and t["draws"] > 100, t["draws"]
s = t["timing"]["warmup_s"] + t["timing"]["sampling_s"]
assert 0.3 < s < 3, (s, t["draws"])' || fail "not a second"
}
seconds 2 'ess>1e9,time<0.7s' --draws 8000 --thin 80
says 'time<0.7s does not hold after [0-9]* draws a chain'
seconds 0 'time<0.7s' --draws 8000 --thin 80
run 1 --until 'time<soon'
says 'time<10m'

# the number is R-hat of the coordinates along numpy's eigenvectors
cat >directions.py <<'E'
import re
from statistics import NormalDist
import numpy as np
def plain(x):
    h = x.shape[1] // 2
    x = np.concatenate([x[:, :h], x[:, -h:]])
    within = x.var(axis=1, ddof=1).mean()
    return ((h - 1) / h + x.mean(axis=1).var(ddof=1) / within) ** 0.5
def scores(x):
    ranks = x.ravel().argsort().argsort().reshape(x.shape) + 1
    q = (ranks - 0.375) / (x.size + 0.25)
    return plain(np.vectorize(NormalDist().inv_cdf)(q))
chains = []
for c in range(1, 5):
    with open(f"draws_{c}.csv") as f:
        rows = [line for line in f if not line.startswith("#")]
    assert rows[0].rstrip().endswith("x,y,w"), rows[0]
    chains.append(np.loadtxt(rows[1:], delimiter=",")[:, -3:])
x = np.array(chains)
_, vectors = np.linalg.eigh(np.cov(x.reshape(-1, 3).T))
want = max(r for v in vectors.T for y in [x @ v]
           for r in (scores(y), scores(abs(y - np.median(y)))))
[said] = re.findall("direction ([0-9.]+)", open("said").read())
assert abs(want - float(said)) < 2e-4 * want, (want, said)
E
./apart --data z.json --no-check --seed 1 --warmup 100 --draws 500 --chains 4 \
    --monitor x,y,w "${apart[@]}" --until 'rhat_eigen<9' --digits 17 \
    --out draws.csv >/dev/null 2>said || fail "draws"
status 0 /usr/bin/python3 directions.py

# ---- what cannot be judged so, and what is no rule
run 1 --until 'rhat_eigen<'
says 'or "rhat_eigen<1.05"'
run 1 --until 'rhat_eigen<1.05 and more'
says 'is wanted'
echo 'model { for (i in 1:2001) { x[i] ~ dnorm(0, 1) } k ~ dpois(3) }' >many.gbm
status 0 "$GBMC" -O 0 many.gbm -o many
status 1 ./many --monitor x --until 'rhat_eigen<1.05' --out many.nc
says '2001 continuous numbers are monitored, and it is for 2000 at most'
[ ! -e many.nc ] || fail "written all the same"
status 1 ./many --monitor k --until 'rhat_eigen<1.05'
says 'nothing continuous is monitored'
status 0 ./many --monitor 'x[1:3],k' --draws 100 --until 'rhat_eigen<1.5' --quiet
