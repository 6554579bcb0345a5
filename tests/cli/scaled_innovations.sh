#!/usr/bin/env bash
# A walk written by its innovations and their scale, a smooth trend by its slopes,
# and a stationary series whose first state has an innovation, too
# (model/innovation.c, model/scale.c): each mixes, and says what it says where the
# states are written with their own distribution. Where the scale is not sure to be
# positive, innovations stay what they are.
source "$GBM_ROOT/tests/cli/lib"

rest='s ~ dexp(1); tau ~ dgamma(2, 1); for (t in 1:T) { y[t] ~ dnorm(x[t], tau) }'
echo '{"T": 20, "y": [0.7, 1.1, 0.2, 1.6, 1.9, 2.4, 1.8, 2.9, 2.2, 3.8, 3.1, 3.3,
  2.6, 2.2, 3.0, 1.7, 1.4, 2.1, 0.8, 1.0]}' >data.json
cat >walk.gbm <<E
model { $rest
  x[1] ~ dnorm(0, 1)
  for (t in 2:T) { x[t] <- x[t-1] - 2 * s * e[t] / sqrt(3); e[t] ~ normal(0.2, 0.5) }
}
E
cat >walk_states.gbm <<E
model { $rest
  x[1] ~ dnorm(0, 1)
  for (t in 2:T) { x[t] ~ dnorm(x[t-1] - 0.4 * s / sqrt(3), 3 / s^2) }
}
E
cat >slopes.gbm <<E
model { $rest
  x[1] ~ dnorm(0, 1)
  v[1] ~ dnorm(0, 1)
  for (t in 2:T) { v[t] ~ dnorm(0.9 * v[t-1], 1 / s^2); x[t] <- x[t-1] + v[t] }
}
E
cat >slopes_states.gbm <<E
model { $rest
  x[1] ~ dnorm(0, 1)
  v ~ dnorm(0, 1)
  x[2] ~ dnorm(x[1] + 0.9 * v, 1 / s^2)
  for (t in 3:T) { x[t] ~ dnorm(1.9 * x[t-1] - 0.9 * x[t-2], 1 / s^2) }
}
E
cat >first.gbm <<E
model { $rest
  rho ~ dunif(0, 1)
  x[1] <- s / sqrt(1 - rho^2) * e[1]
  for (t in 2:T) { x[t] <- rho * x[t-1] + s * e[t] }
  for (t in 1:T) { e[t] ~ dnorm(0, 1) }
}
E
cat >first_states.gbm <<E
model { $rest
  rho ~ dunif(0, 1)
  x[1] ~ dnorm(0, (1 - rho^2) / s^2)
  for (t in 2:T) { x[t] ~ dnorm(rho * x[t-1], 1 / s^2) }
}
E
for name in walk slopes first; do
    for text in $name ${name}_states; do
        status 0 "$GBMC" -O 1 $text.gbm -o $text
        status 0 ./$text --data data.json --draws 2000 --seed 3 --monitor s,tau,x \
            --summary $text.json --quiet
    done
done
python3 - <<'E' || fail "not the posterior of the states"
import json

for name in "walk", "slopes", "first":
    a, b = (json.load(open(f"{name}{of}.json"))["parameters"]
            for of in ("", "_states"))
    for n in "s", "tau", "x[1]", "x[2]", "x[11]", "x[20]":
        z = (a[n]["mean"] - b[n]["mean"]) / (
            a[n]["mcse"] ** 2 + b[n]["mcse"] ** 2) ** 0.5
        print(name, n, round(z, 2), a[n]["ess_bulk"], b[n]["ess_bulk"])
        assert abs(z) < 4.5 and a[n]["ess_bulk"] > 200, (name, n)
E

cat >other.gbm <<'E'
given T, w
model {
  a ~ dnorm(0, 1)
  s ~ dnorm(0, 1)
  x[1] ~ dnorm(0, 1)
  v[1] ~ dnorm(0, 1)
  z[1] ~ dnorm(0, 1)
  for (t in 2:T) {
    x[t] <- x[t-1] + s * e[t]
    v[t] <- v[t-1] + w[t] * f[t]
    z[t] <- z[t-1] + exp(a) * z[t-1] * g[t]
    e[t] ~ dnorm(0, 1)
    f[t] ~ dnorm(0, 1)
    g[t] ~ dnorm(0, 1)
    y[t] ~ dnorm(x[t] + v[t] + z[t], 1)
  }
}
E
status 0 "$GBMC" --emit=dag other.gbm
for stays in 'e\[t\] ~' 'f\[t\] ~' 'g\[t\] ~'; do
    grep -q "^family $stays" .out || fail "$stays is exchanged"
done

# Innovations among the data: the states follow from them, and one that is missing
# is drawn as itself. A sampler that was made without these data says so.
cat >given.gbm <<'M'
model {
  x[1] ~ dnorm(0, 0.1)
  for (t in 2:4) { x[t] <- x[t-1] + e[t]; e[t] ~ dnorm(0, tau) }
  for (t in 1:4) { y[t] ~ dnorm(x[t], 1) }
  tau ~ dgamma(2, 1)
}
M
echo '{"y": [1, 2, 3, 2.5], "e": [null, 0.5, 1, -0.5]}' >given.json
echo '{"y": [1, 2, 3, 2.5], "e": [null, 0.5, null, -0.5]}' >gap.json
status 0 "$GBMC" -O 0 given.gbm given.json -o given
status 0 ./given --data given.json --draws 4000 --seed 1 --quiet --summary s.json
status 0 python3 -c '
import json
x = json.load(open("s.json"))["parameters"]["x[1]"]
mean = (8.5 - 0.5 - 1.5 - 1.0) / 4.1
assert abs(x["mean"] - mean) < 4.5 * x["mcse"], (x, mean)'
status 0 ./given check --data gap.json
prints '^e .* pass$'
status 0 "$GBMC" -O 0 given.gbm -o apart
status 1 ./apart check --data gap.json
says 'e\[2\] is computed here, .*gbmc must know these data: --data=gap.json'
