#!/usr/bin/env bash
# Starts are found wherever there are any: bounds that follow latent nodes,
# intervals between latent points, limits that run through counts; where there
# is none the message says what stands in the way, within a second or so.
source "$GBM_ROOT/tests/cli/lib"

# found NAME: chains of NAME.gbm with NAME.json start, by each kind of start
found() {
    local name=$1 seed kind
    status 0 "$GBMC" -O 0 "$name.gbm" -o "$name"
    for seed in 1 2 3; do
        for kind in dispersed typical prior; do
            status 0 "./$name" --data "$name.json" --seed $seed --start $kind \
                --warmup 4 --draws 4 --quiet
        done
    done
}

cat >cuts.gbm <<'E'
# latent points between latent cuts, which a statement further down orders
model {
  for (i in 1:N) {
    y[i] ~ dinterval(t[i], cut[1:3])
    t[i] ~ dnorm(b * x[i], 1)
  }
  for (k in 1:3) { c0[k] ~ dnorm(0, 0.01) }
  cut <- sort(c0)
  b ~ dnorm(0, 0.01)
}
E
echo '{"N": 10, "x": [-5, -4, -3, -2, -1, 1, 2, 3, 4, 5],
       "y": [0, 0, 0, 1, 1, 2, 2, 3, 3, 3]}' >cuts.json
found cuts

cat >width.gbm <<'E'
# a bound that is computed, in an array of which the rest is random
model {
  for (r in 1:5) { x[r] ~ dnorm(0.4, 0.9) }
  effect ~ dunif(-2, 2)
  w[3] <- mean(x[]) + effect * 1.4
  for (l in 1:2) { w[l] ~ dpar(2.1, 0.46) }
  for (t in 1:6) { y[t] ~ dunif(-w[g[t]], w[g[t]]) }
}
E
echo '{"g": [1, 3, 2, 3, 3, 1], "y": [0.4, 0.9, -0.5, 0.5, 1.2, 2]}' >width.json
found width

cat >steps.gbm <<'E'
# the same, the cuts by their distances
model {
  for (i in 1:N) {
    y[i] ~ dinterval(t[i], cut[1:3])
    t[i] ~ dnorm(b * x[i], 1)
  }
  cut[1] ~ dnorm(0, 0.01)
  cut[2] <- cut[1] + d[1]
  cut[3] <- cut[2] + d[2]
  d[1] ~ dexp(1)
  d[2] ~ dexp(1)
  b ~ dnorm(0, 0.01)
}
E
cp cuts.json steps.json
found steps

cat >band.gbm <<'E'
# observed values within a band that follows a regression: a narrow wedge of
# intercept and slope
model {
  for (i in 1:N) {
    low[i] <- exp(a + b * x[i] - 1)
    y[i] ~ dgamma(2, 0.1) T(low[i], exp(a + b * x[i] + 1))
  }
  a ~ dnorm(0, 0.01)
  b ~ dnorm(0, 0.01)
}
E
echo '{"N": 6, "x": [1, 2, 3, 4, 5, 6], "y": [5, 8, 13, 20, 33, 60]}' >band.json
found band

cat >window.gbm <<'E'
# a width beyond its own prior would set all right but for that
model {
  for (i in 1:N) {
    y[i] ~ dpois(lambda[i]) T(floor(lambda[i] - 2 * s), lambda[i] + 2 * s)
    log(lambda[i]) <- a + e[i]
    e[i] ~ dnorm(0, 1)
  }
  a ~ dnorm(0, 0.01)
  s ~ dunif(0, 10)
}
E
echo '{"N": 6, "y": [50, 80, 130, 20, 33, 60]}' >window.json
found window

cat >survivors.gbm <<'E'
# counts that limit each other, and data between two of them
model {
  for (i in 1:N) {
    s[i,1] ~ dpois(lam)
    for (t in 2:5) { s[i,t] ~ dbin(phi, s[i,t-1]) }
    y[i] ~ dhyper(s[i,5], 5, 10, 1)
    k[i] ~ dbin(0.5, s[i,5])
    seen[i] ~ dpois(lam) T(s[i,3], s[i,2])
  }
  lam ~ dgamma(1, 0.1)
  phi ~ dbeta(1, 1)
}
E
echo '{"N": 4, "y": [9, 8, 7, 10], "k": [20, 30, 4, 50],
       "seen": [25, 40, 9, 70]}' >survivors.json
found survivors

cat >tied.gbm <<'E'
# components of a simplex and of a positive definite matrix in the bounds
model {
  for (i in 1:N) { y[i] ~ dnorm(3, 1) T(10 * w[1] + c, 10 * w[1] + c + 3) }
  w[1:4] ~ ddirch(al[])
  c ~ dnorm(0, 1)
  x ~ dnorm(0, 1) T(100 * w[2], 100 * w[2] + 1)
  Om[1:2,1:2] ~ dwish(R[,], 3)
  v ~ dnorm(0, 1) T(Om[1,2], Om[1,1])
}
E
echo '{"N": 3, "y": [9, 8, 10], "al": [1, 1, 1, 1], "x": 2,
       "R": [[1, 0], [0, 1]], "v": 8}' >tied.json
found tied

cat >categories.gbm <<'E'
# cuts that nothing orders but the data
model {
  for (i in 1:N) {
    y[i] ~ dcat(p[i,1:3])
    p[i,1] <- phi(cut[1] - x[i])
    p[i,2] <- phi(cut[2] - x[i]) - phi(cut[1] - x[i])
    p[i,3] <- 1 - phi(cut[2] - x[i])
  }
  cut[1] ~ dnorm(4, 4)
  cut[2] ~ dnorm(-4, 4)
}
E
echo '{"N": 3, "x": [-1, 0, 1], "y": [1, 2, 3]}' >categories.json
found categories

# ---- given values stay, and what is wrong is shown

echo '{"c0": [0, -8, 8]}' >given.json
cat >slow.gbm <<'E'
model {
  for (i in 1:3) {
    y[i] ~ dinterval(t[i], c[1:2])
    t[i] ~ dnorm(0, 1)
  }
  for (k in 1:2) { c[k] ~ dnorm(0, 1) T(-9, 9) }
}
samplers { c : rw(scale = 1e-9) }
E
echo '{"y": [0, 1, 2]}' >slow.json
echo '{"c": [-5, -4]}' >given.json
status 0 "$GBMC" -O 0 slow.gbm -o slow
status 0 ./slow --data slow.json --init given.json --warmup 0 --draws 1 \
    --quiet --monitor c --no-check --summary given.out
python3 -c 'import json
found = json.load(open("given.out"))["parameters"]
means = [found[f"c[{k}]"]["mean"] for k in (1, 2)]
exit(abs(means[0] + 5) + abs(means[1] + 4) > 1e-6)' || fail "c was given"
echo '{"b": 1, "a": 100}' >far.json
status 1 ./band --data band.json --init far.json --warmup 0 --draws 1
says 'the density of y\[[1-6]\] is zero under'
says 'at y\[[1-6]\] = [0-9]+ \(data\), .*a = 100, b = 1'
says 'Give other starting values'

cat >none.gbm <<'E'
model {
  for (i in 1:2) {
    y[i] ~ dcat(p[i,1:3])
    p[i,1] <- step(b - 1) * exp(b)
    p[i,2] <- 0 * i
    p[i,3] <- 1
  }
  b ~ dnorm(0, 1) T(, 0)
}
E
echo '{"y": [3, 1]}' >none.json
status 0 "$GBMC" -O 0 none.gbm -o none
began=$(date +%s%N)
status 1 ./none --data none.json
took=$((($(date +%s%N) - began) / 1000000))
[ $took -lt 5000 ] || fail "an impossible start took $took ms"
says 'none.gbm:3:5: no starting point found'
says '    y\[i\] ~ dcat\(p\[i,1:3\]\)'
says 'at y\[2\] = 1 \(data\), p\[2,1:3\] = 0, 0, 1$'
says 'Give starting values with --init, or try --start typical'

echo 'model { y ~ dcat(p[]); b ~ dnorm(y, 1) }' >fixed.gbm
echo '{"y": 1, "p": [0, 1]}' >fixed.json
status 0 "$GBMC" -O 0 fixed.gbm -o fixed
status 1 ./fixed --data fixed.json
says 'at y = 1 \(data\), p\[1:2\] = 0, 1$'
says 'No starting value changes that'

cat >narrow.gbm <<'E'
model {
  for (i in 1:2) { y[i] ~ dnorm(0, 1) T(b, b + 1) }
  b ~ dnorm(0, 1)
}
E
echo '{"y": [0, 3]}' >narrow.json
status 0 "$GBMC" -O 0 narrow.gbm -o narrow
status 1 ./narrow --data narrow.json
says 'at y\[[12]\] = [03] \(data\), b = [-0-9.e]+$'
says 'Give starting values with --init, or try --start typical'

# Nor does the search go on where quantiles are dear.
cat >dear.gbm <<'EOF'
model {
  b ~ dnorm(0, 1)
  s ~ dt(0, 3, 1) T(0,)
  for (d in 1:2) { v[d] ~ von_mises(b, s + 0.3) }
}
EOF
echo '{"v": [-0.4, -0.7]}' >dear.json
echo '{"b": 24}' >far.json
status 0 "$GBMC" -O 0 dear.gbm -o dear
status 1 timeout 20 ./dear --data dear.json --init far.json
says 'at v\[1\] = -0.4 \(data\), b = 24'

# A multinomial's number of trials is the sum of its counts, and nothing else.
cat >trials.gbm <<'EOF'
model {
  for (i in 1:3) {
    N[i] ~ dpois(lambda)
    y[i,1:3] ~ dmulti(p[], N[i])
  }
  lambda ~ dgamma(1, 0.1)
  p[1:3] ~ ddirch(a[])
}
EOF
echo '{"y": [[3, 1, 2], [0, 4, 1], [2, 2, 9]], "a": [1, 1, 1]}' >trials.json
status 0 "$GBMC" -O 0 trials.gbm -o trials
status 0 ./trials --data trials.json --draws 50 --seed 2 --summary trials.sum \
    --out trials.csv
for n in 1:6 2:5 3:13; do
    grep -q "\"N\[${n%:*}\]\": {\"mean\": ${n#*:}," trials.sum ||
        fail "N[${n%:*}] is not ${n#*:}"
done
