#!/usr/bin/env bash
# Models side by side by their evidence: Bayes factors of two whose evidence is
# known, and what cannot be compared.
source "$GBM_ROOT/tests/cli/lib"
gbm=$GBM_ROOT/$GBM_BUILD/gbm

echo '{"y": [0.3, 1.9, 0.8, -0.4, 1.1, 2.0, 0.2, 1.5]}' >data.json
echo '{"y": [0.3, 1.9, 0.8, -0.4, 1.1, 2.0, 0.2, 1.4]}' >other.json
for precision in 1 0.01; do
    cat >p$precision.gbm <<E
model {
  for (i in 1:8) { y[i] ~ dnorm(a, 1) }
  a ~ dnorm(0, $precision)
}
E
    status 0 "$gbm" run p$precision.gbm data.json -O 1 --method smc \
        --particles 2000 --chains 2 --seed 1 --quiet --summary p$precision.json
done
status 0 "$gbm" compare p0.01.json p1.json
prints '^p1.json .* 0\.000 +0\.000 +0\.[0-9]+$'
prints '^Factors are against p1.json'
python3 - <<'E' || fail "Bayes factors"
import json, math, re
y = json.load(open("data.json"))["y"]
def exact(precision): # y ~ N(0, I + 1 1' / precision)
    n, s = len(y), sum(y)
    return -(n * math.log(2 * math.pi) + math.log(1 + n / precision)
             + sum(v * v for v in y) - s * s / (n + precision)) / 2
row = {r.split()[0]: [float(v) for v in r.split()[1:]]
       for r in open(".out") if re.match("p[01]", r)}
assert list(row) == ["p1.json", "p0.01.json"], row
for name, precision in ("p1.json", 1), ("p0.01.json", 0.01):
    value, se, factor, factor_se, probability = row[name]
    assert abs(value - exact(precision)) < 4 * se + 1e-3, (name, value, se)
    assert 0 < se < 0.1
    want = 1 / (1 + math.exp(sum(r[0] for r in row.values()) - 2 * value))
    assert abs(probability - want) < 2e-3, (probability, want)
value, se, factor, factor_se, _ = row["p0.01.json"]
assert abs(factor - (value - row["p1.json"][0])) < 2e-3
assert abs(factor_se - math.hypot(se, row["p1.json"][1])) < 2e-3
assert abs(factor - (exact(0.01) - exact(1))) < 4 * factor_se
E

status 0 "$gbm" compare p1.json p1.json
prints 'the first two are within four standard errors'

# ---- what cannot be compared
status 0 "$gbm" run p1.gbm other.json -O 1 --method tempering --chains 2 \
    --draws 100 --warmup 100 --quiet --summary else.json
status 1 "$gbm" compare p1.json else.json
says 'p1.json and else.json are of different observations'
status 0 "$gbm" run p1.gbm data.json -O 1 --draws 100 --quiet \
    --summary plain.json --log-lik --out plain.nc
status 1 "$gbm" compare p1.json plain.json
says 'plain.json: it has no log evidence: run with --method smc or tempering'
status 1 "$gbm" compare p1.json plain.nc
says 'all must be of one kind'
status 1 "$gbm" compare p1.json none.json
says 'none.json: cannot read'
echo '{' >half.json
status 1 "$gbm" compare p1.json half.json
says 'half.json: cannot read'
