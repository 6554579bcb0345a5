#!/usr/bin/env bash
# Arrays of which some elements are computed and the others data: each element
# is the one or the other.
source "$GBM_ROOT/tests/cli/lib"

# refused MODEL DATA PATTERN
refused() {
    status 0 "$GBMC" -O0 "$1" -o sampler
    status 1 ./sampler --data "$2" --quiet
    says "$3"
}

cat >means.bug <<'E'
model {
  mu[1] <- a
  for (i in 1:N) { y[i] ~ dnorm(mu[i], tau) }
  a ~ dnorm(0, 0.01)
  tau ~ dgamma(4, 4)
}
E
echo '{"N": 3, "mu": [null, 1, 2], "y": [5, 1, 2]}' >means.json
agrees means.bug means.json
echo '{"N": 3, "mu": [5, 1, 2], "y": [5, 1, 2]}' >both.json
refused means.bug both.json \
    'means\.bug:2:3: mu\[1\] is computed here, but both\.json supplies it'
echo '{"N": 3, "mu": [null, 1, null], "y": [5, 1, 2]}' >neither.json
refused means.bug neither.json \
    'mu\[3\] is read here for y\[3\], but no statement'
echo '{"N": 3, "y": [5, 1, 2]}' >none.json
refused means.bug none.json 'means\.bug:3:.* mu is 2, but its extent'
echo '{"N": 3, "mu": [null, 1], "y": [5, 1, 2]}' >short.json
refused means.bug short.json 'means\.bug:3:.* mu is 3, but its extent'

# of a constant, in a data block too
for begin in 'model { x[1] <- 2' 'data { x[1] <- 2 } model {'; do
    cat >constant.bug <<E
$begin
a ~ dnorm(0, 1)
for (t in 1:3) { y[t] ~ dnorm(a * x[t], 1) } }
E
    echo '{"x": [null, 2, 3], "y": [1, 1, 5]}' >constant.json
    status 0 "$GBMC" -O0 constant.bug -o sampler
    status 0 ./sampler --data constant.json --quiet --draws 4000 \
        --summary constant_summary.json
    # the precision is 1 + 4 + 4 + 9, the potential 2 + 2 + 15
    python3 - <<'E' || fail 'the mean of a is not 19/18'
import json
a = json.load(open("constant_summary.json"))["parameters"]["a"]
assert abs(a["mean"] - 19 / 18) < 5 * a["mcse"], a
assert abs(a["sd"] - 18 ** -0.5) < 0.02, a
E
    echo '{"x": [2, 2, 3], "y": [1, 1, 5]}' >both.json
    refused constant.bug both.json 'x\[1\] is computed here, but both\.json'
done

# of an array that has random elements too, even where all of it is supplied
cat >random.bug <<'E'
model {
  x[1] ~ dnorm(0, 1)
  x[2] <- x[1] + 1
  for (t in 1:4) { y[t] ~ dnorm(x[t], tau) }
  tau ~ dgamma(4, 4)
}
E
echo '{"x": [null, null, 2, 3], "y": [1, 1, 1, 5]}' >random.json
agrees random.bug random.json
for x in '[null, 5, 2, 3]' '[1, 5, 2, 3]'; do
    echo "{\"x\": $x, \"y\": [1, 1, 1, 5]}" >both.json
    refused random.bug both.json 'random\.bug:3:3: x\[2\] is computed here'
done

# beside random elements one is known, one is computed of what comes later
cat >known.bug <<'E'
model {
  for (i in 1:6) { y[i] ~ dnorm(b[g[i]], 1) }
  b[1] <- 0
  for (k in 2:4) { b[k] ~ dnorm(b[k-1], 1) }
  b[5] <- b[2] * (1 - r)
  r ~ dbeta(2, 2)
}
E
echo '{"g": [1, 2, 3, 4, 5, 5], "y": [1, 2, 3, 4, 5, 6]}' >known.json
agrees known.bug known.json

# a recursion: its first state is random, one is data, and it goes on from there
cat >restart.bug <<'E'
model {
  n[1] ~ dunif(0, 50)
  for (t in 2:4) { n[t] <- n[t-1] * r + b }
  for (t in 6:T) { n[t] <- n[t-1] * r + b }
  r ~ dunif(0, 2)
  b ~ dnorm(0, 1)
  for (t in 1:T) { y[t] ~ dnorm(n[t], 1) }
}
E
echo '{"T": 8, "n": [null, null, null, null, 3, null, null, null],
  "y": [1, 1, 1, 1, 3, 3, 2, 5]}' >restart.json
agrees restart.bug restart.json

# what is read data or the state alone tell: compiled for these data
cat >grouped.bug <<'E'
model {
  for (k in 1:2) { mu[k] <- m + u[k]; u[k] ~ dnorm(0, 1) }
  m ~ dnorm(0, 1)
  for (i in 1:5) { y[i] ~ dnorm(mu[g[i]], 1) }
}
E
echo '{"mu": [null, null, 1.5], "g": [1, 2, 3, 3, 1], "y": [0, 1, 2, 2, 4]}' \
    >grouped.json
sed 's/g\[i\]/z[i]/; s/m ~/for (i in 1:5) { z[i] ~ dcat(p[]) }; &/' \
    grouped.bug >latent.bug
echo '{"mu": [null, null, 1.5], "p": [0.3, 0.3, 0.4], "y": [0, 1, 2, 2, 4]}' \
    >latent.json
for m in grouped latent; do
    refused $m.bug $m.json "supplies mu\[3\], though mu is computed.*--data"
    status 0 "$GBMC" -O0 $m.bug $m.json -o sampler
    status 0 ./sampler check --data $m.json
    status 0 ./sampler --data $m.json --quiet
done
