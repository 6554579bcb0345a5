#!/usr/bin/env bash
# What no observed node depends on is drawn forward when it is kept: whether it
# is kept changes nothing else, nor whether data settle it at load.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'E'
model {
  for (j in 1:m) {
    theta[j] ~ dnorm(mu, tau)
    for (i in 1:n) { y[j,i] ~ dpois(exp(theta[j])) }
  }
  mu ~ dnorm(0, 1)
  tau ~ dgamma(4, 2)
  new[1] ~ dnorm(mu, tau)
  for (k in 2:4) { new[k] ~ dnorm(new[k-1], tau) }
}
E
echo '{"m": 3, "n": 2, "y": [[1, 2], [0, 1], [3, 1]]}' >all.json
echo '{"m": 3, "n": 2, "y": [[1, 2], [null, null], [3, null]]}' >part.json
echo '{"m": 3, "n": 2, "y": [[1, 2], [0, 1], [3, 1]],
       "new": [null, null, 0.5, null]}' >inside.json
status 0 "$GBMC" model.gbm -O1 --explain -o model
prints 'new\[k\]: drawn forward: no observed descendant'
prints '^[0-9]+ +theta +m +slice'

status 0 ./model check --data all.json
says '^note: new is drawn forward: no observed descendant'
grep -q theta .err && fail 'theta has data'
status 0 ./model check --data part.json
says '^note: 1 of 3 values of theta are drawn forward'
prints '^theta +forward draw'
status 0 ./model check --data inside.json
says '^note: 1 of 4 values of new are drawn forward'
prints '^new, new, mu .* [1-9][0-9]* .*pass'

# the same draws of the rest, whether it is kept or not and how often
run() {
    status 0 ./model --data part.json --draws 60 --quiet --format csv "$@"
}
run --out all.csv
run --out mu.csv --monitor mu,tau
run --out some.csv --monitor mu,new --thin 3
python3 - <<'E' || fail "keeping a prediction changes other draws"
def column(path, name):
    rows = [r.split(",") for r in open(path) if r[0] != "#"]
    at = rows[0].index(name)
    return [r[at].strip() for r in rows[1:]]
assert column("all_1.csv", "mu") == column("mu_1.csv", "mu")
for name in ("mu", "new.2"):
    assert column("all_1.csv", name)[2::3] == column("some_1.csv", name), name
E

# a plate and its scale that move by one factor, both drawn forward
cat >scale.gbm <<'E'
model {
  mean ~ dlogis(0, 2.7)
  b ~ dnorm(1, 1)
  y ~ dnorm(b, 1)
  gamma ~ dgamma(3.2, exp(b))
  x[1] ~ dnorm(-0.96, 1.3)
  for (k in 2:n) { x[k] ~ dnorm(mean + 0.5 * (x[k-1] - mean), gamma) }
}
E
echo '{"n": 4, "y": 1}' >n.json
status 0 "$GBMC" scale.gbm -O1 --explain -o scale
prints 'gamma: moved with .* by one factor'
status 0 ./scale check --data n.json
says '^note: gamma is drawn forward'
status 0 ./scale --data n.json --draws 10 --quiet --out scale.csv

# What --explain says of them: without data, what would draw them with; with data,
# that of which data depend on them.
cat >told.gbm <<'M'
model {
  J ~ dbern(0.1)
  mu ~ dnorm(J, 1)
  x[1] ~ dnorm(mu, 1)
  for (t in 2:T) { x[t] ~ dnorm(x[t-1], 1) }
}
M
echo '{"T": 3, "x": [0.3, null, 1.2]}' >told.json
status 0 "$GBMC" --explain told.gbm
prints '^ +mu: .* where the data supply one: joint Gaussian block'
status 0 "$GBMC" --explain told.gbm told.json
prints '^[0-9]+ .*, mu .* joint Gaussian block'
grep -q 'forward draw' .out && fail "x has data"
true
