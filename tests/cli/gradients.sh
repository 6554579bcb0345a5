#!/usr/bin/env bash
# check --gradients: the gradient of the joint density, of every kind of node
# and of functions with and without a derivative, against differences; and it
# sees a derivative that is wrong.
source "$GBM_ROOT/tests/cli/lib"

# gradients MODEL PASSES: so many statements have derivatives, all right.
gradients() {
    status 0 "$GBMC" -O 1 --with=gradients "$1" -o sampler
    status 0 ./sampler check --gradients --data data.json --points 2 --chains 2
    [ "$(grep -c ' pass$' .out)" = "$2" ] || fail "$1: not $2 that pass"
    grep -q FAIL .out && fail "$1"
}

cat >vectors.gbm <<'E'
model {
  # matrices, by precision and by covariance; one seen through its inverse
  Omega[1:2, 1:2] ~ dwish(R[,], 4)
  Sigma[1:2, 1:2] ~ dinvwish(R[,], 5)
  for (i in 1:4) {
    y[i, 1:2] ~ dmnorm(m[], Omega[,])
    x[i, 1:2] ~ dmnorm.vcov(m[], Sigma[,])
    w[i, 1:2] ~ dmt(m[], inverse(V[,]), 5)
  }
  m[1:2] ~ dmnorm(zero[], R[,])
  # a correlation's factor, scaled
  L[1:3, 1:3] ~ dlkj_corr_cholesky(1.5, 3)
  for (j in 1:3) {
    s[j] ~ dexp(1)
    u[j] ~ dnorm(s[j] * L[1, j] + L[2, j] ^ 2, 4)
  }
  # a simplex, and vectors that are seen in part, read and not (y)
  p[1:3] ~ ddirch(a[])
  n[1:3] ~ dmulti(p[], 20)
  V[1, 1] <- 1 + s[1]
  V[2, 2] <- 1 + s[2]
  V[1, 2] <- 0.3 * L[1, 2]
  V[2, 1] <- V[1, 2]
  part[1:2] ~ dmnorm(m[], R[,])
  e ~ dnorm(part[2], 1)
}
E
cat >numbers.gbm <<'E'
distribution odd(t) {
  support real(0, 2 * t)
  logdensity x * shape_of(t) - log(t)
}
function shape_of(x) {
  as -gamma_p(2, x)
}
model {
  # bounds that depend on nodes, on either side and on themselves
  a ~ dnorm(0, 0.1)
  b ~ dnorm(0, 0.1) T(a, )
  c ~ dunif(a, b)
  d ~ dnorm(0, 1) T(, a)
  cut[1] ~ dnorm(0, 0.1)
  for (k in 2:3) { cut[k] ~ dnorm(0, 0.1) T(cut[k - 1], ) }
  t ~ dgamma(3, 2)
  f ~ odd(t)                # a function that states no derivative
  for (i in 1:N) { g[i] ~ dordered.logit(c, cut[]) }
  # recursions: of one array, of two that feed each other, a state space
  r[1] <- a
  for (i in 2:N) { r[i] <- r[i - 1] * ilogit(b) + d }
  h[1] ~ dnorm(0, 1)
  for (i in 2:N) { h[i] ~ dnorm(0.7 * h[i - 1] + r[i], t) }
  S[1] <- 10 * t
  I[1] <- 1
  for (i in 2:N) {
    S[i] <- S[i - 1] - 0.1 * S[i - 1] * I[i - 1] * q
    I[i] <- I[i - 1] + 0.1 * S[i - 1] * I[i - 1] * q - 0.2 * I[i - 1]
  }
  q ~ dbeta(2, 2)
  for (i in 1:N) { v[i] ~ dpois(I[i] + exp(h[i])) }
  # functions of arrays, random subscripts, a mixture
  sorted <- sort(h[])
  k ~ dcat(w[])
  z ~ dnorm(max(h[]) + min(h[]) * prod(cut[]) + sd(h[]) + cut[k] * sorted[2]
            + interp.lin(q, at[], to[]) + pow(t, q) + log(sum(h[]^2)), 1)
  l ~ dnormmix(cut[], tau[], w[])
  for (j in 1:3) { tau[j] ~ dgamma(2, 2) }
  # a matrix exponential is differenced
  for (i in 1:2) { for (j in 1:2) { A[i, j] <- ifelse(i == j, -q, q) } }
  E <- mexp(A[,])
  o ~ dnorm(E[1, 2], 1)
}
E
cat >data.json <<'E'
{"R": [[2, 0.3], [0.3, 1]], "zero": [0, 0], "a": [1, 2, 0.7],
 "y": [[1, 2], [0.3, null], [0.4, 1.4], [-1, 0.2]],
 "x": [[0, 1], [0.3, -2], [1.4, 0.4], [-2, 0.2]],
 "w": [[1, 1], [0.1, -1], [1.2, 0.4], [-1, 0.7]],
 "u": [0.3, 0.2, -0.4], "n": [4, 9, 7], "part": [0.4, null], "e": 0.3}
E
gradients vectors.gbm 8
cat >data.json <<'E'
{"w": [0.2, 0.3, 0.5], "N": 4, "g": [1, 2, 4, 3], "v": [2, 0, 1, 3], "z": 1.5,
 "l": 0.4, "o": 0.2, "at": [0, 0.5, 1], "to": [1, 3, 2]}
E
gradients numbers.gbm 12

# statements that feed back, from one column to the next
cat >columns.gbm <<'E'
model {
  for (i in 1:3) {
    M[i, 1] ~ dnorm(b * M[i, 2] + p[i, 2], 2)
    M[i, 2] ~ dnorm(b, 1)
    M[i, 3] ~ dcat(p[i, 1:3])
    p[i, 1] <- 1 - sum(p[i, 2:3])
    p[i, 2] <- max(1.0E-7, 0.5 * ilogit(M[i, 2] * b))
    p[i, 3] <- 0.1
  }
  k ~ dnorm(M[2, 1], 1)
  b ~ dnorm(0, 1)
}
E
cat >data.json <<'E'
{"M": [[1, null, 2], [null, 0.3, 1], [0.4, null, 3]], "k": 0.7}
E
gradients columns.gbm 3

# a derivative with the wrong sign, a lost factor
wrong() {
    cat >wrong.gbm <<E
function squared(x) {
  code gbm_square
  derivative $1
}
model {
  a ~ dnorm(1, 1)
  b ~ dnorm(squared(a), 1)
}
E
    echo '{"b": 2}' >data.json
    status 0 "$GBMC" -O 1 --with=gradients wrong.gbm -o wrong
    status "$2" ./wrong check --gradients --data data.json
}
wrong '2 * x' 0
prints ' pass$'
for derivative in '-2 * x' x '2 * x + 1e-3'; do
    wrong "$derivative" 1
    says 'this gradient is wrong'
    prints 'FAIL: gradient .* at a'
done

# what has no derivatives
cat >index.gbm <<'E'
model { k ~ dbin(0.3, 9); y ~ dbin(0.5, k) }
E
echo '{"y": 2}' >data.json
status 0 "$GBMC" -O 1 --with=gradients index.gbm -o index
status 1 ./index check --gradients --data data.json
says 'no latent real number'
