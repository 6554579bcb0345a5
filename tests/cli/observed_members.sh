#!/usr/bin/env bash
# What is observed stays where it is, whatever it is drawn together with: a
# scalar that is data in a Gaussian block with one that is not, and cells of a
# vector node that is sliced cell by cell.
source "$GBM_ROOT/tests/cli/lib"

cat >scalar.bug <<'E'
model {
  b ~ dnorm(0, 1)
  b2 ~ dnorm(1, 1)
  logit(p) <- b + b2
  effect[1] ~ dbin(p, 1)
  effect[2] ~ dbin(p, 1)
}
E
echo '{"b2": -3, "effect": [1, null]}' >scalar.json
agrees scalar.bug scalar.json

cat >vectors.bug <<'E'
model {
  for (k in 1:2) { m[k] ~ dnorm(0.5, 2) }
  Omega[1:2, 1:2] ~ dwish(R[,], 6)
  B[1, 1:2] ~ dmnorm(m[], Omega[,])
  for (t in 2:4) { B[t, 1:2] ~ dmnorm(B[t - 1, 1:2], Omega[,]) }
}
E
echo '{"R": [[4, 0.5], [0.5, 3]],
  "B": [[-2, null], [null, -0.5], [-0.6, 1.5], [null, -1.5]]}' >vectors.json
agrees vectors.bug vectors.json

# a scale that is data does not move with its plate
cat >scale.bug <<'E'
model {
  for (g in 1:4) {
    for (k in 1:3) { y[g, k] ~ dnorm(b + u[g] * x[k], 1.4) }
    u[g] ~ dnorm(0.16, tau)
  }
  b ~ dnorm(0, 1)
  tau ~ dgamma(4.5, s)
  s ~ dgamma(3.7, 2.4)
}
E
cat >scale.json <<'E'
{"tau": 0.35, "x": [-1, 0.5, 2],
 "y": [[5.8, 1, 2], [-0.3, 1.8, 0.4], [0.6, 3.3, 0.5], [0.8, -2.3, 0.1]]}
E
agrees scale.bug scale.json
