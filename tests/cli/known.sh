#!/usr/bin/env bash
# gbmc --data: a random variable whose values are all there is read as data; one
# with a value missing is drawn as ever.
source "$GBM_ROOT/tests/cli/lib"

cat >path.gbm <<'E'
model {
  for (i in 1:N) {
    m[i] ~ dnorm(a0 + a*x[i], pm)
    y[i] ~ dnorm(b0 + b*m[i], py)
  }
  a0 ~ dnorm(0, 0.01); a ~ dnorm(0, 0.01)
  b0 ~ dnorm(0, 0.01); b ~ dnorm(0, 0.01)
  pm ~ dgamma(1, 1); py ~ dgamma(1, 1)
}
E
python3 - <<'E'
import json, random
random.seed(1)
x = [i / 10 for i in range(40)]
m = [1 + 2 * v + random.gauss(0, 0.7) for v in x]
y = [3 - v + random.gauss(0, 0.5) for v in m]
d = {"N": 40, "x": x, "y": y}
json.dump({**d, "m": m}, open("full.json", "w"))
json.dump(d, open("without.json", "w"))
m[7] = None
json.dump({**d, "m": m}, open("part.json", "w"))
E
status 0 "$GBMC" path.gbm --data full.json --explain -o known
prints '^[0-9] +(b0, b|b, b0) .*Gaussian block, 2 x 2'
prints '^[0-9] +m .*data or forward draw'
prints 'given: .*m'
status 0 ./known check --data full.json
status 0 "$GBMC" path.gbm --data part.json --explain -o part
prints '^[0-9] +.*m.* joint Gaussian block'
status 0 ./part check --data part.json
# the file tells what, not how much: other data of the same kind will do
python3 - <<'E'
import json
d = json.load(open("full.json"))
json.dump({"N": 30, **{k: d[k][:30] for k in "xym"}}, open("fewer.json", "w"))
E
status 0 ./known --data fewer.json --quiet --out fewer.nc
status 1 ./known --data part.json --quiet --out part.nc
says 'm\[8\] is missing'
absent part.nc
status 1 ./known --data without.json --quiet --out without.nc
says 'm must be supplied'
absent without.nc

# the same posterior either way, and that of least squares
status 0 "$GBMC" path.gbm -o path
for s in known path; do
    status 0 ./$s --data full.json --draws 4000 --quiet --summary $s.json
done
python3 - <<'E' || fail "the posterior differs"
import json, sys
def nodes(f):
    p = json.load(open(f))["parameters"]
    return {r["name"]: r for r in p} if isinstance(p, list) else p
a, b = nodes("known.json"), nodes("path.json")
assert len(a) == len(b) == 6, (a.keys(), b.keys())
for k in a:
    z = (a[k]["mean"] - b[k]["mean"]) / (a[k]["mcse"]**2 + b[k]["mcse"]**2)**.5
    assert abs(z) < 4, (k, z)
    assert 0.9 < a[k]["sd"] / b[k]["sd"] < 1.1, k
E

# what cannot be read
status 1 "$GBMC" path.gbm --data nowhere.json -o no
says 'cannot read nowhere\.json'
printf '{"N": 4' >cut.json
status 1 "$GBMC" path.gbm --data cut.json -o no
says 'cut\.json'
absent no

# data behind the model's name, and a hint where they would help
cat >series.gbm <<'E'
model {
  for (i in 1:N) {
    y[i,1] ~ dbern(phi(a))
    for (t in 2:T) { y[i,t] ~ dbern(phi(a + g * y[i,t-1])) }
  }
  a ~ dnorm(0, 1)
  g ~ dnorm(0, 1)
}
E
echo '{"N": 2, "T": 3, "y": [[0, 1, 1], [1, 0, 1]]}' >series.json
status 0 "$GBMC" series.gbm -O0 -o series
says 'series\.gbm:4:.* y may be data or a prediction'
status 0 "$GBMC" series.gbm series.json -O0 --explain -o series
prints 'a, g .*Gaussian block'
grep -q 'may be data' .err && fail 'data are given'
status 0 ./series --data series.json --quiet
status 1 "$GBMC" series.gbm path.gbm -o no
says 'one model at a time'
absent no

# Forward draws: what reads a known variable reads its draw, through constants
# too, and where two arrays feed each other in turn; so do new data given draws
# of the posterior. The two samplers draw alike.
cat >turns.gbm <<'E'
model {
  a ~ normal(0, 1)
  y[1] ~ normal(a, 1)
  for (t in 2:T) { y[t] ~ normal(0.5 * y[t-1] + w[t-1], 0.001) }
  for (t in 1:T) {
    m[t] <- exp(y[t] / 10)
    w[t] ~ normal(y[t], 0.001)
    z[t] ~ normal(m[t], 0.001)
  }
  total <- sum(m[])
  v ~ normal(total, 0.001)
}
E
echo '{"T": 5, "y": [1, 2, 3, 4, 5], "w": [1, 2, 3, 4, 5], "v": 3,
"z": [1, 2, 3, 4, 5]}' >turns.json
for data in '' '--data turns.json'; do
    # shellcheck disable=SC2086
    status 0 "$GBMC" -O 0 turns.gbm $data -o turns
    for what in '' --posterior; do
        # shellcheck disable=SC2086
        status 0 ./turns simulate $what --data turns.json --quiet --chains 2 \
            --draws 20 --threads 2 --monitor y,w,z,v --out turns.csv
        python3 - <<'E' || fail "simulate $what, compiled with '$data'"
import csv, math
for chain in 1, 2:
    rows = list(csv.DictReader(l for l in open(f"turns_{chain}.csv")
                               if l[0] != "#"))
    assert len({r["y.1"] for r in rows}) == len(rows) == 20
    for r in rows:
        y, w, z = ([float(r[f"{n}.{t}"]) for t in range(1, 6)] for n in "ywz")
        m = [math.exp(x / 10) for x in y]
        for t in range(5):
            assert abs(w[t] - y[t]) < 0.01 > abs(z[t] - m[t]), (t, r)
            assert t == 0 or abs(y[t] - y[t-1] / 2 - w[t-1]) < 0.01, (t, r)
        assert abs(float(r["v"]) - sum(m)) < 0.01, r
E
    done
done

# A rule that the data keep, and their draws do not.
cat >rule.gbm <<'E'
model { a ~ normal(0, 1)  s ~ normal(a, 1)  y ~ normal(0, s) }
E
echo '{"s": 1, "y": 2}' >rule.json
status 0 "$GBMC" -O 0 rule.gbm --data rule.json -o rule
status 2 ./rule simulate --data rule.json --draws 30
says 'rule.gbm:1:45: y, draw [0-9]+ of chain [1-4], is not a number'

# Which element is read, and how many there are, the draws cannot tell: these
# data were checked for good.
for reads in 'b[k]' 'sum(b[1:k])'; do
    cat >which.gbm <<E
model { b[1] ~ normal(0, 1)  b[2] ~ normal(0, 1)  g ~ dbin(0.9, 2)
  k <- g  y ~ normal($reads, 1) }
E
    echo '{"g": 1, "y": 2}' >which.json
    status 0 "$GBMC" -O 0 which.gbm --data which.json -o which
    status 0 ./which --data which.json --quiet --draws 50 --warmup 50
    for what in '' --posterior; do
        # shellcheck disable=SC2086
        status 1 ./which simulate $what --data which.json --draws 30
        says 'which.gbm:.*cannot be simulated as it was compiled: g,'
    done
done

# Scalars by name, one array within: known too, all of them or not
{
    echo 'model {'
    for i in 1 2 3 4 5 6 7 8 9; do
        echo "  y$i ~ dnorm(mu, 1)"
        echo "  z$i ~ normal(10 * y$i, 0.001)"
    done
    echo '  mu ~ dnorm(0, 1) }'
} >scalars.gbm
python3 - <<'E'
import json
d = {f"{v}{i}": i for v in "yz" for i in range(1, 10)}
json.dump(d, open("scalars.json", "w"))
json.dump({**d, "y3": None}, open("missing.json", "w"))
json.dump({**d, "y3": [1, 2]}, open("long.json", "w"))
E
status 0 "$GBMC" -O 0 scalars.gbm --data scalars.json --emit=slots
prints '^y[^ ]* +.* data '
status 0 "$GBMC" -O 0 scalars.gbm --data missing.json --emit=slots
prints '^y[^ ]* +.* state '
status 1 "$GBMC" -O 0 scalars.gbm --data long.json -o no
says 'y3 is a single number in the model, but long.json has 2'
status 0 "$GBMC" -O 0 scalars.gbm --data scalars.json -o scalars
status 0 ./scalars --data scalars.json --quiet --draws 50 --warmup 50
status 0 ./scalars simulate --data scalars.json --quiet --draws 1 --chains 1 \
    --digits 12 --out scalars.csv
python3 - <<'E' || fail 'the data are read, not the draws'
import csv
row, = csv.DictReader(l for l in open("scalars_1.csv") if l[0] != "#")
assert all(abs(float(row[f"z{i}"]) - 10 * float(row[f"y{i}"])) < 0.01 and
           abs(float(row[f"y{i}"]) - i) > 1e-6 for i in range(1, 10)), row
E

# So does an element that a statement computes of a known one, in an array of
# which others are drawn
cat >beside.gbm <<'E'
model {
  y ~ dnorm(0, 1)
  u[3] <- y * -2
  for (j in 1:2) { u[j] ~ dnorm(0, 1) }
  for (i in 1:3) { r[i] ~ normal(y + u[g[i]], 0.001) }
}
E
echo '{"g": [3, 1, 2], "y": 5, "r": [1, 2, 3], "u": [1, null, null]}' \
    >beside.json
for data in '' '--data beside.json'; do
    # shellcheck disable=SC2086
    status 0 "$GBMC" -O 0 beside.gbm $data -o beside
    status 0 ./beside simulate --data beside.json --quiet --chains 1 \
        --draws 20 --out beside.csv
    python3 - <<'E' || fail "an element beside, compiled with '$data'"
import csv
rows = [{k: float(v) for k, v in r.items()} for r in csv.DictReader(
    l for l in open("beside_1.csv") if l[0] != "#")]
assert len({r["u.1"] for r in rows}) == len(rows) == 20
for r in rows:
    assert abs(r["r.1"] + r["y"]) < 0.01 > abs(r["u.3"] + 2 * r["y"]), r
    assert abs(r["r.2"] - r["y"] - r["u.1"]) < 0.01, r
E
done

# What tells which element a statement defines must be data, told or not, by way
# of what is computed from it too; what it is then is read as such.
cat >left.gbm <<'E'
model {
  Q[1,1] <- 0  Q[1,2] <- 0
  for (t in 1:(T - 1)) {
    Q[t + 1,k[t]] <- Q[t,k[t]] + a * (r[t] - Q[t,k[t]])
    Q[t + 1,other[t]] <- Q[t,other[t]]
  }
  for (t in 1:T) { k[t] ~ dcat(p[t,])  other[t] <- 3 - k[t]
    p[t,1] <- ilogit(Q[t,1] - Q[t,2])  p[t,2] <- 1 - p[t,1] }
  a ~ dbeta(1, 1)
}
E
status 0 "$GBMC" -O 0 left.gbm -o left
echo '{"T": 4, "k": [1, 2, 2, 1], "r": [1, 0, 2, 1]}' >left.json
status 0 ./left check --data left.json
status 0 ./left --data left.json --quiet --draws 50 --warmup 50 --out left.nc
status 1 ./left simulate --data left.json
says 'left.gbm:.*cannot be simulated as it was compiled: k,'
echo '{"T": 4, "k": [1, null, 2, 1], "r": [1, 0, 2, 1]}' >left.json
status 1 ./left --data left.json --quiet
says 'k\[2\] is missing in the data, but left.gbm:7:40 reads it'
sed 's/other\[t\] <- 3 - k\[t\]//; s/other\[t\]/3 - k[t]/g' left.gbm >direct.gbm
status 0 "$GBMC" -O 0 direct.gbm -o direct
status 1 ./direct --data left.json --quiet
says 'direct.gbm:4:5: subscript 2 of Q is missing in the data: it tells'
echo '{"T": 4, "r": [1, 0, 2, 1]}' >left.json
status 1 ./left --data left.json --quiet
says 'k must be supplied: .* no data file has it$'
