#!/usr/bin/env bash
# Effects that are read in sums alone: what is added is drawn, and scaled, with
# the sums held. The joint distribution stays what it is, for plates, vectors,
# scalars, sums that stand in recursions; host and device draw the same; what is
# data stays, and what samplers { } asks for is drawn as asked alone.
source "$GBM_ROOT/tests/cli/lib"

cat >few.gbm <<'E'
model {
  for (g in 1:G) {
    for (n in 1:N) {
      y[g,n] ~ dpois(exp(h[n] + eps[g,n] + inprod(X[n,], beta[g,]) + b[g]))
      eps[g,n] ~ dnorm(0.2, gamma[g])
      z[g,n] ~ dpois(exp(e[n,g] - inprod(X[n,], w[g,])))
      e[n,g] ~ dnorm(0, 4)
    }
    gamma[g] ~ dgamma(6, 2)
    b[g] ~ dnorm(m, 3)
    for (l in 1:L) { beta[g,l] ~ dnorm(theta[l], 1 / sigma[l]^2) }
    w[g,1:2] ~ dmnorm(zero[], Q[,])
  }
  m ~ dnorm(0, 4)
  for (l in 1:L) {
    theta[l] ~ dnorm(0, 4)
    sigma[l] ~ dunif(0.1, 0.8)
  }
  for (j in 1:J) {
    x[j,1] <- 0.5
    for (t in 2:T) {
      x[j,t] <- x[j,t-1] + (1 - x[j,t-1]) * ilogit(a - u[j] + c[2] * d[j] - c[1])
      v[j,t] ~ dnorm(x[j,t], tau)
    }
    u[j] ~ dnorm(0.1, tu)
  }
  a ~ dnorm(0, 4)
  c[1] ~ dnorm(0, 2)
  c[2] ~ dnorm(0.2, 3)
  tu ~ dgamma(8, 2)
  tau ~ dgamma(6, 3)
}
E
echo '{"G": 3, "N": 3, "L": 2, "h": [0.1, -0.2, 0], "zero": [0, 0],
  "X": [[1, 0.5], [1, -1], [1, 0.2]], "Q": [[3, 1], [1, 4]],
  "y": [[1, 0, 2], [0, null, 1], [3, 1, 0]],
  "z": [[1, 2, 0], [0, 0, 1], [1, 1, 1]], "T": 3, "J": 3, "d": [0.5, -1, 0.2],
  "v": [[null, 0.6, 0.7], [null, 0.4, 0.9], [null, 0.5, 0.6]]}' >few.json
status 0 "$GBMC" --explain few.gbm
[ "$(grep -c 'drawn once more' .out)" = 3 ] || fail "not three moves"
grep -q '^  sigma, beta, eps: moved with beta' .out || fail "no scale"
grep -q 'slice of gamma' .out && grep -q 'slice of tu' .out ||
    fail "no scales of effects drawn from the sums"
status 0 "$GBMC" -O 1 few.gbm -o few
status 0 ./few check --data few.json
[ "$(grep -c 'held sums .*pass' .out)" = 4 ] || fail "not all checked"
status 0 ./few geweke --data few.json --draws 6000

# Scales of effects that are data stay, while what is added moves; no scale is
# drawn from the sums that stands elsewhere, too.
sed 's/"G": 3/"gamma": [null, 2, null], "tu": 3, "G": 3/' few.json >seen.json
status 0 ./few check --data seen.json
grep -Eq '^a, c, c +held sums +48 +[^ ]+ +pass' .out ||
    fail "a scale that is data moved"
status 0 ./few --data seen.json --draws 20 --quiet
sed 's/v\[j,t\] ~ dnorm(x\[j,t\], tau)/v[j,t] ~ dnorm(x[j,t], tu)/' few.gbm >twice.gbm
status 0 "$GBMC" --explain twice.gbm
grep -q 'slice of tu' .out && fail "a scale of other things drawn from sums"

# An ellipse for all stays where something ties the elements, and what is named
# in samplers { } is drawn as asked, no more.
sed 's/+ b\[g\]/+ b[g] + m/; /z\[g,n\] ~/d; /e\[n,g\] ~/d; /w\[g,/d' few.gbm >tied.gbm
status 0 "$GBMC" --explain tied.gbm
grep -q '^[0-9]* *eps, beta.* elliptical' .out || fail "no ellipse"
grep -q 'sums with eps' .out && fail "moves beside a block of both"
{ cat few.gbm; echo 'samplers { eps : slice; c : rw; w : ess; }'; } >asked.gbm
status 0 "$GBMC" --explain asked.gbm
grep -q '^  a: drawn once more' .out || fail "nothing held"
[ "$(grep -c 'drawn once more' .out)" = 1 ] || fail "moves what is asked for"

# What is data stays, and what it stands with; other genes move.
cat >held.gbm <<'E'
model {
  for (g in 1:3) {
    for (n in 1:2) {
      y[g,n] ~ dpois(exp(eps[g,n] + beta[g,1] + x[n] * beta[g,2]))
      eps[g,n] ~ dnorm(0, 2)
    }
    for (l in 1:2) { beta[g,l] ~ dnorm(0, tau) }
  }
  tau ~ dgamma(2, 2)
}
E
status 0 "$GBMC" -O 1 held.gbm -o held
moved() { # POINTS DATA
    echo '{"y": [[0, 1], [1, 2], [2, 0]], "x": [0.5, -1]' "$2}" >data.json
    status 0 ./held check --data data.json
    grep -Eq "^beta +held sums +$1 " .out || fail "not $1 points: $2"
    status 0 ./held --data data.json --draws 20 --quiet
}
moved 144 ''
moved 96 ', "eps": [[null, null], [null, 0.3], [null, null]]'
moved 48 ', "eps": [[null, null], [null, 0.3], [null, null]],
    "beta": [[null, null], [null, null], [0.2, null]]'
moved 0 ', "eps": [[0.1, 0.2], [0.1, 0.3], [0, 0]]'

# A device's draws are the host's, step by step and in one kernel.
device_draws_as_host few few.json

# A scale that is tried near 0 and back: what follows it has lost digits, which
# is no fault of the sampler.
cat >near.gbm <<'END'
model {
  for (g in 1:2) {
    tau[g] ~ dgamma(3, 1)
    a[g] ~ dnorm(0.1, 2)
    for (l in 1:3) { beta[g,l] ~ dnorm(mu[l], 1 / sigma[l]^2) }
    for (i in 1:3) {
      eps[i,g] ~ dnorm(0.32, tau[g])
      y[g,i] ~ dpois(exp(inprod(beta[g,], X[i,]) - eps[i,g] + a[g]))
    }
  }
  for (l in 1:3) {
    sigma[l] ~ half_normal(0.76)
    mu[l] ~ dnorm(0, 2)
  }
}
END
cat >near.json <<'END'
{"X": [[0.55, 0.08, 0.05], [1.26, -0.76, 0.26], [-0.14, -0.29, 0.13]],
 "y": [[0, 0, 0], [0, 0, 1]]}
END
status 0 "$GBMC" -O 1 near.gbm -o near
for seed in 3 12 16 19 33 35; do
    status 0 ./near check --data near.json --seed $seed
    prints 'scale, held sums .* pass'
done

# A scale that may be negative: the check's points on the other side of 0, too.
cat >signed.gbm <<'E'
model {
  for (g in 1:4) {
    for (n in 1:3) {
      y[g,n] ~ dpois(exp(eps[g,n] + X[n] * beta[g]))
      eps[g,n] ~ dnorm(0.2, 2)
    }
    beta[g] ~ dnorm(theta, pow(s, -2))
  }
  theta ~ dnorm(0, 4)
  s ~ dnorm(0.5, 4)
}
E
echo '{"X": [1, -0.5, 0.3], "y": [[1,0,2],[0,1,1],[3,0,1],[1,1,0]]}' >signed.json
status 0 "$GBMC" -O 1 signed.gbm -o signed
status 0 ./signed check --data signed.json --points 20
prints '^s, beta, eps .* scale, held sums .* pass$'
