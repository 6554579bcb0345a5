#!/usr/bin/env bash
# A latent 0 or 1 that no sweep changed, though the model has both, is told of
# when the run ends, as are two that hold each other; one that the data leave a
# single value is none of these.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'M'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(z[i] * mu, 1)
    z[i] ~ dbern(q)
  }
  q ~ dunif(0, 1)
  mu ~ dgamma(1, 1)
}
M
echo '{"N": 5, "y": [0, 0.3, 1, -0.5, 2]}' >data.json
echo '{"z": [1, 1, 1, 1, 1], "mu": 0.5}' >init.json
status 0 "$GBMC" --emit=c model.gbm
mv .out model.c
# shellcheck disable=SC2046 # flags are words
compile() { # NAME, from NAME.c
    "${CC:-cc}" -std=c11 -O0 -w -fopenmp -D_GNU_SOURCE \
        -I"$GBM_ROOT/stdlib/kernels" -I"$GBM_ROOT/runtime" "$1.c" -o "$1" \
        "$GBM_ROOT/$GBM_BUILD/libgbm.a" \
        $(cat "$GBM_ROOT/$GBM_BUILD/link_flags") || fail "$1.c"
}
sed 's/^    z_v(i_v) = (int)value;$//' model.c >still.c
cmp -s model.c still.c && fail "nothing was broken"
compile still
status 0 ./still --data data.json --init init.json --no-check --device cpu
says 'warning: z\[1\] never changed, though .* another value has probability 0'

# With all of them, and where the data tell.
compile model
status 0 ./model --data data.json --init init.json --device cpu
grep -q 'never changed, though' .err && fail "they did change"
echo '{"N": 5, "y": [0, 0.3, 60, -0.5, 70]}' >far.json
status 0 ./model --data far.json --device cpu
prints 'never changed'
grep -q 'never changed, though' .err && fail "they could not"
# Two that hold each other: neither has another value alone, as it is asked for;
# they change together by themselves.
cat >both.gbm <<'M'
model {
  q ~ dbern(0.5)
  b ~ dcat(w[])
  one ~ dbern(equals(q + 2, b))
  y ~ dnorm(b, 1)
}
samplers { b: enumerate }
M
echo '{"w": [0.2, 0.3, 0.5], "one": 1, "y": 2.6}' >both.json
sed /samplers/d both.gbm >free.gbm
status 0 "$GBMC" -O1 free.gbm -o free
status 0 ./free --data both.json --chains 1 --device cpu
grep -q 'never changed, though' .err && fail "they change together"
status 0 "$GBMC" -O1 both.gbm -o both
status 0 ./both --data both.json --chains 1 --device cpu
says 'warning: [qb] never changed, though given all else but [qb] other values of both have probability 0'
# The same, beside a real element of their array.
sed 's/q ~ dbern(0.5)/q[1] ~ dbern(0.5)  q[2] ~ dnorm(0, 1)/
     s/equals(q + 2, b)/equals(q[1] + 2, b)/' both.gbm >beside.gbm
status 0 "$GBMC" -O1 beside.gbm -o beside
status 0 ./beside --data both.json --chains 1 --device cpu
says 'warning: (q.1.|b) never changed, though given all else but (q.1.|b) other values of both have probability 0'
# Three that do.
cat >all.gbm <<'M'
model {
  z[1] ~ dcat(w[])
  for (t in 2:3) { z[t] ~ dcat(P[z[t-1],]) }
  for (t in 1:3) { y[t] ~ dbern(0.1 + 0.8 * equals(z[t], z[1])) }
}
M
echo '{"w": [0.7, 0.3], "P": [[1, 0], [0, 1]], "y": [1, 1, 1]}' >all.json
status 0 "$GBMC" -O1 all.gbm -o all
status 0 ./all --data all.json --chains 1 --device cpu
says 'warning: z\[1\] never changed, though with other values of all that never did.* has probability 0'
sed 's/P\[z\[t-1\],/P[z[1],/' all.gbm >some.gbm
echo '{"w": [0.3, 0.7], "P": [[1, 0, 0], [0, 0.5, 0.5]], "y": [0, 0, 0]}' >some.json
sed -i 's/equals(z\[t\], z\[1\])/step(z[t] - 9)/' some.gbm
status 0 "$GBMC" -O1 some.gbm -o some
status 0 ./some --data some.json --chains 1 --device cpu
says 'warning: z\[1\] never changed, though with other values of all that never did.* has probability 0'
# One that a statement computes beside others that are drawn.
cat >path.gbm <<'M'
model {
  z[1] <- y[1]
  for (t in 2:T) {
    z[t] ~ dbern(q[z[t-1] + 1])
    y[t] ~ dbern(0.2 + 0.6 * z[t])
  }
  for (k in 1:2) { q[k] ~ dunif(0, 1) }
}
M
echo '{"T": 5, "y": [1, 1, 0, 0, 1]}' >path.json
status 0 "$GBMC" -O1 path.gbm -o path
status 0 ./path --data path.json --device cpu
grep -q 'never changed, though' .err && fail "it is computed"
exit 0
