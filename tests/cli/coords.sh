#!/usr/bin/env bash
# Labels of dimensions, from "coords" and "dims" of the data: in the table, in
# netCDF, read back; nothing else of a run changes.
source "$GBM_ROOT/tests/cli/lib"
cat >m.gbm <<'M'
model {
  for (i in 1:N) { y[i] ~ dnorm(mu[g[i], h[i]], 1) }
  for (school in 1:J) {
    for (k in 1:2) { mu[school, k] ~ dnorm(m[school], 1) }
    m[school] ~ dnorm(0, 0.1)
  }
  for (t in 2:J) { d[t] <- m[t] - m[t-1] }
  d[1] <- 0
  S[1:J, 1:J] ~ dwish(R[,], 5)
  out ~ dnorm(sum(d[]), 1)
}
M
data='"N": 4, "J": 3, "g": [1, 2, 2, 3], "h": [1, 2, 1, 1],
    "y": [3, null, -1, 5], "R": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]'
echo "{ $data }" >plain.json
cat >labels.json <<E
{ $data, "dims": {"y": ["obs"], "m": ["pupil"],
           "R": ["J", null]},
  "coords": {"school": ["Choate", "Mt. Hermon", "\u00c9cole"], "k": [2001, 2002],
             "J": ["a", "b", "c"], "obs": ["p", "q", "r", "s"], "N": [1, 2], "t": [1, 2, 3]} }
E
status 0 "$GBMC" -O 1 m.gbm -o m
run() { status 0 ./m --device cpu --draws 50 "$@"; }
run --data plain.json --out plain.nc --summary plain.out --monitor mu,m,y,d,S
cp .out plain
run --data labels.json --out labels.nc --summary labels.out --monitor mu,m,y,d,S
cp .out labels
says 'note: coords: no dimension of 2 elements is called N'
says 'coords: no dimension of 3 elements is called t' # statements of d differ
[ "$(grep -c 'note: coords' .err)" = 2 ] || fail 'too many notes'

# by the loop's index, before the size; by dims before both; numbers elsewhere
sed -n 's/^\([^ ]*\[[^]]*\]\) .*/\1/p' labels >names
while read -r name; do
    grep -qxF "$name" names || fail "no row $name: $(cat names)"
done <<'E'
mu[Choate,2001]
mu[Mt. Hermon,2002]
mu[École,2001]
m[3]
y[q]
d[2]
S[a,c]
E
numbers() { sed '/agree/,$d; s/^[^[]*\[[^]]*\]//; s/^ *//; s/  */ /g' "$1"; }
diff <(numbers plain) <(numbers labels) >.out || fail numbers
python3 - <<'E' || fail 'the table is not straight'
rows = [x for x in open("labels", encoding="utf-8") if x.startswith("mu[")]
assert len(rows) == 6 and len({len(x) for x in rows}) == 1
E
# programs see numbers
same <(grep -v '_s"' plain.out) <(grep -v '_s"' labels.out)

PYTHONPATH=$GBM_ROOT/tests/cli python3 - <<'E' || fail netCDF
import netcdf
plain, found = netcdf.read("plain.nc"), netcdf.read("labels.nc")
p = found["posterior"]
def dims(group, name):
    return [d for d in found[group][name][0] if d not in ("chain", "draw")]
assert dims("posterior", "mu") == ["school", "k"], p["mu"][0]
assert p["school"][1] == ["Choate", "Mt. Hermon", "\u00c9cole"]
assert p["k"][1] == ["2001", "2002"]
assert dims("posterior", "m") == ["pupil"] and p["pupil"][1] == [0, 1, 2]
# a dimension stands once in a variable, and has no variable's name
assert dims("posterior", "S") == ["J", "S_dim_1"]
assert p["J"][1] == p["S_dim_1"][1] == ["a", "b", "c"]
assert dims("observed_data", "y") == ["obs"]
c = found["constant_data"]
assert c["J"][1] == [3]
assert dims("constant_data", "R") == ["R_dim_0", "R_dim_1"]
assert c["R_dim_0"][1] == ["a", "b", "c"] and c["R_dim_1"][1] == [0, 1, 2]
for name in ("mu", "m", "d", "S", "y"):
    assert p[name][1] == plain["posterior"][name][1], name
assert list(plain["posterior"]["mu"][0])[2:] == ["mu_dim_0", "mu_dim_1"]
E

# read back, and written again; --show by both names
status 0 ./m summary labels.nc --out again.nc
same <(head -n 23 .out) <(head -n 23 labels)
status 0 ./m summary again.nc --show 'mu[Mt. Hermon,2002],mu[1,1]'
prints '^mu\[Choate,2001\]'
prints '^mu\[Mt. Hermon,2002\]'
[ "$(grep -c '^mu' .out)" = 2 ] || fail --show
status 0 ./m simulate --data labels.json --draws 20 --out prior.nc --quiet
PYTHONPATH=$GBM_ROOT/tests/cli python3 -c '
import netcdf
f = netcdf.read("prior.nc")
assert f["prior"]["school"][1][0] == "Choate"
assert f["prior_predictive"]["obs"][1] == list("pqrs")' || fail simulate

# a variable may be called coords
echo 'model { coords ~ dnorm(dims, 1) }' >named.gbm
echo '{"dims": 3}' >named.json
status 0 "$GBMC" -O 1 named.gbm -o named
status 0 ./named --data named.json --draws 20 --quiet
refused() { # labels message
    echo "{ $data, $1 }" >bad.json
    status 1 ./m --data bad.json --out never.nc
    says "$2"
    absent never.nc
}
refused '"coords": {"a": 3}' "bad.json:2:[0-9]+: expected '\['"
refused '"coords": {"a": ["x", null]}' "a label of 'a', text or a number"
refused '"coords": {"a": ["x"], "a": []}' "'a' has coords already"
refused '"coords": {"a": ["x\ty"]}' 'control character'
refused '"coords": {"a": ["x" "y"]}' "expected ','"
refused '"coords": {"a": ["x"' "expected ','"
refused '"coords": {"a' 'not closed'
refused '"dims": {"m": "a"}' "expected '\['"
refused '"dims": {"m": ["a", "b"]}' 'dims: 2 named for m, which has 1 dimension'
refused '"dims": {"g": ["q", "r"]}' 'dims: 2 named for g'
refused '"dims": {"nn": ["a"]}' 'the model has no variable nn'
refused '"dims": {"m": ["a"]}, "coords": {"a": ["x"]}' \
    'a has 1 label, but dimension 1 of m has 3 elements'
