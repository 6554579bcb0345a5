#!/usr/bin/env bash
# Subscripts on the left that are vectors of any values are loops over them.
source "$GBM_ROOT/tests/cli/lib"
cat >vectors.bug <<'END'
model {
  V[first[]] <- a[] + 1
  V[c(2, 6)] <- b[1:2] * 2
  s[7 - (2:6)] ~ dnorm(mu, 1)
  s[6] <- 0.5
  for (i in 1:6) { y[i] ~ dnorm(mu + V[i] * k + s[i], 1) }
  mu ~ dnorm(0, 0.01)
  k ~ dnorm(0, 0.01)
}
END
cat >loops.bug <<'END'
model {
  for (j in 1:4) { V[first[j]] <- a[j] + 1 }
  V[2] <- b[1] * 2
  V[6] <- b[2] * 2
  for (j in 1:5) { s[7 - (1 + j)] ~ dnorm(mu, 1) }
  s[6] <- 0.5
  for (i in 1:6) { y[i] ~ dnorm(mu + V[i] * k + s[i], 1) }
  mu ~ dnorm(0, 0.01)
  k ~ dnorm(0, 0.01)
}
END
cat >data.json <<'END'
{"y": [1.0, 1.7, 2.0, 4.1, 3.2, 5.8], "a": [0.5, 1.5, -1, 2], "b": [3, -1],
 "first": [4, 1, 3, 5]}
END
for model in vectors loops; do
    status 0 "$GBMC" -O 0 $model.bug -o $model
    status 0 ./$model --data data.json --quiet --draws 2000 --chains 2 \
        --summary $model.json --monitor mu,k,s,V
done
python3 - <<'PY' || fail "other posteriors"
import json
a, b = (json.load(open(f"{m}.json"))["parameters"] for m in ("vectors", "loops"))
assert set(a) == set(b) and len(a) >= 7, (a.keys(), b.keys())
for name in a:
    mcse = (a[name]["mcse"] ** 2 + b[name]["mcse"] ** 2) ** 0.5
    assert abs(a[name]["mean"] - b[name]["mean"]) < 5 * mcse, name
PY
# a draw of a vector stands together
cat >vector.bug <<'END'
model { x[c(1, 3)] ~ dmnorm(m[], Q[,]) }
END
status 1 "$GBMC" vector.bug -o x
says 'vector.bug:1:11: error: the elements of a draw of dmnorm stand beside each other'
# two definitions of a cell
sed 's/c(2, 6)/c(2, 4)/' vectors.bug >twice.bug
status 0 "$GBMC" -O 0 twice.bug -o twice
status 1 ./twice --data data.json --quiet
says 'V\[4\]'
exit 0
