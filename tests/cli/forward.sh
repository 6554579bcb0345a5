#!/usr/bin/env bash
# Forward draws whose parameters allow none: simulate fails and names the node
# and its statement; among draws of the posterior they are NaN, of counts too,
# and the run says so when all is written.
source "$GBM_ROOT/tests/cli/lib"

echo '{"y": [-1, 0, 1]}' >y.json
for last in 'z ~ dnorm(0, mu)' 'z ~ dpois(mu)' 'z ~ dbin(mu, 3)'; do
    cat >model.gbm <<END
model {
  for (i in 1:3) { y[i] ~ dnorm(mu, 1) }
  mu ~ dnorm(0, 0.001)
  $last
}
END
    status 0 "$GBMC" -O 0 model.gbm -o model
    status 2 ./model simulate --data y.json --draws 30 --chains 2 --out a.csv
    says 'model.gbm:4:3: z, draw [0-9]+ of chain [12], is not a number'
    says "${last//[()]/.}"
    says '^  [0-9]+ such in all; the rest of what was drawn is kept'
    python3 - "$last" a_1.csv a_2.csv <<'END' || fail 'what was drawn before, and is kept'
import math, sys
for name in sys.argv[2:]:
    lines = [l.strip().split(",") for l in open(name) if not l.startswith("#")]
    mu, z = lines[0].index("mu"), lines[0].index("z")
    rows = [list(map(float, l)) for l in lines[1:]]
    assert len(rows) == 30 and all(math.isfinite(r[mu]) for r in rows)
    known = [r[z] for r in rows if not math.isnan(r[z])]
    assert len(known) < 30 and min(known, default=0) > -1e9, known
    assert known or "dbin" in sys.argv[1], "where mu is positive"
END
    status 2 ./model --data y.json --device cpu --draws 100 --out b.csv
    says "^failed: [0-9]+ draws are not a number, the first z, draw"
    prints '1 quantity had a draw that is not a number \(z\)'
    cat b*.csv | grep -q 2147483648 && fail "a count is no number: -2147483648"
    rm -f b*.csv
done

# Where parameters break a rule of the distribution there is no draw, though
# its formula gives a number: of no cell of a vector or a matrix. Elsewhere
# there is one.
no_draw_where() { # STATEMENT, the values of mu that break its rule
    printf 'model {\n  %s\n  mu ~ dnorm(0, 1)\n  %s\n  %s\n}\n' \
        'for (i in 1:3) { y[i] ~ dnorm(mu, 1) }' \
        'a[1] <- mu  a[2] <- 1  R[1,1] <- 1  R[2,2] <- 1  R[1,2] <- 0
  R[2,1] <- 0' "$1" >model.gbm
    status 0 "$GBMC" -O 0 model.gbm -o model
    status 2 ./model simulate --data y.json --draws 30 --out a.csv
    says "model.gbm:6:3: z.*, draw [0-9]+ of chain [1-4], is not a number"
    status 2 ./model --data y.json --device cpu --draws 100 --out b.csv \
        --chains 1 --monitor mu,z
    says "^failed: [0-9]+ draws are not a number, the first z"
    grep -v '^#' b_1.csv | sed 1d | cut -d, -f8- | python3 -c '
import math, sys
rows = [list(map(float, l.split(","))) for l in sys.stdin]
bad = [r for r in rows for x in r[1:] if math.isnan(x) != eval(
    sys.argv[1], {"mu": r[0]})]
sys.exit(len(rows) != 100 or bool(bad) or len(rows[0]) < 2)' "$2" >.out ||
        fail "$1: a draw where there is none, or none where there is one"
    rm -f b_1.csv
}
no_draw_where 'z ~ dunif(0, mu)' 'mu < 0'
no_draw_where 'z ~ dgamma(mu, 1)' 'mu < 0'
no_draw_where 'z ~ dgamma(1, mu)' 'mu < 0'
no_draw_where 'z ~ normal(0, mu)' 'mu < 0'
no_draw_where 'z ~ dbern(mu)' 'not 0 <= mu <= 1'
no_draw_where 'z ~ dcat(a[])' 'mu < 0'
no_draw_where 'z ~ dnorm(0, 1) T(0, mu)' 'mu < 0'
no_draw_where 'z ~ dpois(3) T(1, mu + 1)' 'mu < 0'
no_draw_where 'z ~ dt(0, 1, 3) T(mu, 0)' 'mu > 0'
no_draw_where 'z[1:2] ~ ddirch(a[])' 'mu < 0'
no_draw_where 'z[1:2] ~ dmulti(a[], 3)' 'mu < 0'
no_draw_where 'z[1:2,1:2] ~ dwish(R[,], mu + 1)' 'mu < 0'
# An integer between the bounds.
no_draw_where 'z ~ dpois(3) T(0.2, mu + 1)' 'mu < 0'

# The joint test: a prediction without a draw is a value like others; where the
# sweeps see the density, what has none is no part of the joint.
echo '{"y": [0.1]}' >one.json
for b in 'z ~ dunif(0, b)' 'z ~ dunif(0, b)  y[1] ~ dnorm(z, 1)'; do
    printf 'model {\n  b ~ dnorm(0.5, 1)\n  y[1] ~ dnorm(b, 1)\n  %s\n}\n' \
        "${b/y\[1\]/y[2]}" >joint.gbm
    [[ $b == *y* ]] && echo '{"y": [0.1, 0.2]}' >one.json
    status 0 "$GBMC" -O 0 joint.gbm -o joint
    status 0 ./joint geweke --data one.json --draws 2000
    prints 'joint distribution test: 2000 replicates of .*: pass'
done
prints 'note: [0-9]{4} forward draws had a density of 0 and were drawn anew'
echo 'model { b ~ dunif(-2, -1)  z ~ dunif(0, b)  y[1] ~ dnorm(z, 1) }' >none.gbm
echo '{"y": [0.1]}' >one.json
status 0 "$GBMC" none.gbm -o none
status 1 ./none geweke --data one.json
says 'cannot be simulated: of 50 forward draws in a row each had a density of 0'

# What a statement computes from forward draws, in an array of which others are
# drawn, is older than they are after a sweep: the joint test leaves it.
cat >beside.gbm <<'EOF'
model {
  v[1] ~ dbeta(1, 1)
  v[2] <- p
  p <- a * b
  b ~ dnorm(a, 1)
  a ~ dunif(-1.4, 2)
}
EOF
echo '{"v": [0.2, null]}' >beside.json
status 0 "$GBMC" beside.gbm -o beside
status 0 ./beside geweke --data beside.json --draws 1000
# nor is what is the same number, a's density, in many replicates a difference
status 0 ./beside geweke --data beside.json --device cpu --draws 40000 --warmup 2 --threads 1

# Nodes that feed each other in turn, in statements of their own: among counts a
# draw that reads the one before may be the same by chance. And a statement that
# reads the elements behind.
cat >counts.gbm <<'E'
model {
  p ~ dbeta(1, 1)
  y[1] ~ dbern(p)
  y[2] ~ dbern(0.9998 * x[1] + 0.0001)
  x[1] ~ dbern(0.9998 * y[1] + 0.0001)
  x[2] ~ dbern(0.9998 * y[2] + 0.0001)
}
E
cat >behind.gbm <<'E'
model {
  for (i in 1:2) { y[i] ~ normal(y[i + 1], 0.001) }
  y[3] ~ normal(x[1], 0.001)
  x[1] ~ normal(0, 1)
  x[2] ~ normal(y[1], 0.001)
}
E
echo '{"y": [1, 1], "x": [1, 1]}' >counts.json
echo '{"y": [1, 1, 1], "x": [1, 1]}' >behind.json
turns() { # MODEL, what it is compiled with, what is simulated, SEED
    # shellcheck disable=SC2086
    status 0 "./$1" simulate $3 --data "$1.json" --quiet --seed "$4" \
        --chains 1 --draws 100 --monitor x,y --out turns.csv
    python3 - <<'E' || fail "$1, compiled with '$2', simulate $3"
import csv
rows = [[float(v) for k, v in r.items() if k[:2] in ("x.", "y.")]
        for r in csv.DictReader(l for l in open("turns_1.csv") if l[0] != "#")]
assert len(rows) == 100 and len(rows[0]) > 3
assert sum(max(r) - min(r) > 0.02 for r in rows) < 4
E
}
for model in counts behind; do
    for data in '' "--data $model.json"; do
        # shellcheck disable=SC2086
        status 0 "$GBMC" -O 0 $model.gbm $data -o $model
        for seed in 1 2 3; do
            turns $model "$data" '' $seed
            turns $model "$data" --posterior $seed
        done
    done
done

# New data of the posterior: a count that no integer holds is missing, too.
echo 'model { z ~ dpois(exp(s))  s ~ dnorm(21, 1) }' >model.gbm
echo '{"z": 2147483000}' >z.json
status 0 "$GBMC" -O 0 model.gbm -o model
status 2 ./model simulate --posterior --data z.json --device cpu --draws 20 \
    --chains 1 --out d.csv --quiet
says '^failed: model.gbm:1:9: z, draw [0-9]+ of chain 1, is not a number'
grep -q 2147483648 d_1.csv && fail 'a count is no number: -2147483648'
grep -qi nan d_1.csv || fail 'no draw is missing'
