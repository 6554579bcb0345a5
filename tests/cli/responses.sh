#!/usr/bin/env bash
# Coefficients in the mean of a vector node: those of one component, and of
# others, meet in its density and are drawn together. One at a time they hardly
# move where the covariates are far from 0.
source "$GBM_ROOT/tests/cli/lib"

# block NAME PATTERN MONITOR [DATA]: so NAME.gbm draws it, compiled for the data
# or not; its conditionals are those of the joint density, and some 1000 of 4000
# draws are as good as independent.
block() {
    local data=${4:-$1.json}
    status 0 "$GBMC" --explain "$1.gbm" "$data" -o "$1"
    prints "$2"
    status 0 ./"$1" check --data "$data"
    status 0 ./"$1" --data "$data" --quiet --device cpu --threads 1 \
        --warmup 500 --draws 1000 --seed 7 --monitor "$3" --summary fit.json
    python3 - <<'END' || fail "$1: the draws hardly move"
import json, sys
p = json.load(open("fit.json"))["parameters"]
worst = min((r["ess_bulk"], n) for n, r in p.items() if r["ess_bulk"])
print(*worst)
sys.exit(worst[0] < 1000)
END
}

python3 - <<'END'
import json, random
random.seed(5)
T, K, P, J = 40, 3, 3, 4

def write(name, **data):
    json.dump(data, open(name + ".json", "w"))

def noise():
    e = [random.gauss(0, 1) for k in range(K)]
    return [e[0], 0.8 * e[0] + 0.6 * e[1], 0.5 * e[1] + 0.9 * e[2]]

R = [[float(i == j) for j in range(K)] for i in range(K)]
x = [[1] + [random.gauss(3, 0.7) for p in range(P - 1)] for t in range(T)]
y = [[sum(v) * (k - 1) / 2 + e for k, e in enumerate(noise())] for v in x]
write("equations", T=T, R=R, y=y, x1=[v[1] for v in x], x2=[v[2] for v in x])
write("plate", T=T, K=K, P=P, R=R, y=y, X=x)
some = [[None if (t + k) % 7 == 0 else v for k, v in enumerate(row)]
        for t, row in enumerate(y)]
write("some", T=T, K=K, P=P, R=R, y=some, X=x)
held = [[None] * P for k in range(K)]
held[1][2] = 0.1
write("held", T=T, K=K, P=P, R=R, y=y, X=x, b=held)
write("groups", T=T, P=P, J=J, R=R, y=y, X=x, g=[t % J + 1 for t in range(T)])
series = [[1.0] * K]
for t in range(1, T):
    series.append([1 + 0.5 * v + e for v, e in zip(series[-1], noise())])
write("series", T=T, K=K, R=R, y=series)
seen = [[v if t % 3 == 0 else None for v in row]
        for t, row in enumerate(series)]
write("states", T=T, K=K, R=R, y=seen)
END

cat >equations.gbm <<'END'
model {
  for (t in 1:T) {
    y[t,] ~ dmnorm(mu[t,], Omega)
    mu[t,1] <- a1 + b1 * x1[t] + c1 * x2[t]
    mu[t,2] <- a2 + b2 * x2[t] + d2 * x1[t]
    mu[t,3] <- a3 + b3 * x1[t] + c3 * (x2[t] - x1[t]) + b1 * x2[t]
  }
  a1 ~ dnorm(0, 0.01)  b1 ~ dnorm(0, 0.02)  c1 ~ dnorm(0, 0.03)
  a2 ~ dnorm(0, 0.04)  b2 ~ dnorm(0, 0.05)  d2 ~ dnorm(0, 0.05)
  a3 ~ dnorm(0, 0.06)  b3 ~ dnorm(0, 0.07)  c3 ~ dnorm(0, 0.08)
  Omega ~ dwish(R, 4)
}
END
block equations 'a1, .* joint Gaussian ' a1,b1,c1,a2,b2,d2,a3,b3,c3

cat >plate.gbm <<'END'
model {
  for (t in 1:T) {
    for (k in 1:K) { mu[t,k] <- inprod(b[k,1:P], X[t,1:P]) }
    y[t,1:K] ~ dmnorm(mu[t,1:K], Omega[1:K,1:K])
  }
  for (k in 1:K) { for (p in 1:P) { b[k,p] ~ dnorm(0, 0.1) } }
  Omega[1:K,1:K] ~ dwish(R[,], K + 1)
}
END
block plate 'b .*joint Gaussian block.* over t at load' b
cp plate.gbm some.gbm
block some 'b .*joint Gaussian block' b
cp plate.gbm held.gbm
block held 'b .*joint Gaussian block' b

# covariances that differ from group to group
cat >groups.gbm <<'END'
model {
  for (t in 1:T) {
    for (k in 1:3) { mu[t,k] <- m[k] + inprod(b[g[t],k,], X[t,]) }
    y[t,1:3] ~ dmnorm.vcov(mu[t,1:3], S[g[t],1:3,1:3])
  }
  for (j in 1:J) {
    for (k in 1:3) {
      for (p in 1:P) { b[j,k,p] ~ dnorm(beta[k,p], 4) }
      for (l in 1:3) { S[j,k,l] <- (k == l) * s[j] + 0.2 }
    }
    s[j] ~ dgamma(3, 2)
  }
  for (k in 1:3) {
    m[k] ~ dnorm(0, 1)
    for (p in 1:P) { beta[k,p] ~ dnorm(0, 0.1) }
  }
}
END
block groups 'b, .*joint Gaussian block' b,beta,m

cat >series.gbm <<'END'
model {
  for (t in 2:T) {
    for (k in 1:K) { mu[t,k] <- a[k] + inprod(A[k,1:K], y[t-1,1:K]) }
    y[t,1:K] ~ dmnorm(mu[t,1:K], Omega[1:K,1:K])
  }
  for (k in 1:K) {
    a[k] ~ dnorm(0, 0.1)
    for (j in 1:K) { A[k,j] ~ dnorm(0, 1) }
  }
  Omega[1:K,1:K] ~ dwish(R[,], K + 1)
}
END
block series 'a, A .*joint Gaussian block' a,A

# a chain of vectors some of which are seen, its covariance not of full rank in
# the data: the states are one path
cat >states.gbm <<'END'
model {
  for (t in 1:T) { y[t,1:K] ~ dmnorm(x[t,1:K], P[1:K,1:K]) }
  x[1,1:K] ~ dmnorm(m[1:K], R[,])
  for (t in 2:T) { x[t,1:K] ~ dmnorm(mu[t,1:K], Q[1:K,1:K]) }
  for (t in 2:T) {
    for (k in 1:K) { mu[t,k] <- 0.9 * x[t-1,k] + (k > 1) * m[k] }
  }
  for (k in 1:K) {
    m[k] ~ dnorm(0, 1)
    for (l in 1:K) { P[k,l] <- 4 * (k == l)  Q[k,l] <- 2 * (k == l) - 0.4 }
  }
}
END
block states 'x\[1,1:K\], m, .*joint Gaussian' x,m

# one long vector: where its precision is data but for a scale, the sums over
# pairs of its components are had at load; else there are too many
python3 - <<'END'
import json, random
random.seed(6)
n = 30
Q = [[1.5 if i == j else 0.6 ** abs(i - j) for j in range(n)] for i in range(n)]
D = [[abs(i - j) / 5 for j in range(n)] for i in range(n)]
X = [[1, random.gauss(3, 1), random.gauss(3, 1)] for i in range(n)]
y = [sum(x) + random.gauss(0, 1) for x in X]
json.dump({"n": n, "p": 3, "Q": Q, "X": X, "y": y}, open("known.json", "w"))
json.dump({"n": n, "p": 3, "D": D, "X": X, "y": y}, open("field.json", "w"))
END
cat >known.gbm <<'END'
model {
  y[1:n] ~ dmnorm(mu[1:n], Omega[1:n,1:n])
  for (i in 1:n) {
    mu[i] <- inprod(X[i,1:p], b[1:p])
    for (j in 1:n) { Omega[i,j] <- tau * Q[i,j] }
  }
  for (j in 1:p) { b[j] ~ dnorm(0, 0.01) }
  tau ~ dgamma(2, 2)
}
END
block known 'b .*joint Gaussian block' b
cat >field.gbm <<'END'
model {
  y[1:n] ~ dmnorm.vcov(mu[1:n], S[1:n,1:n])
  for (i in 1:n) {
    mu[i] <- inprod(X[i,1:p], b[1:p])
    for (j in 1:n) { S[i,j] <- exp(-phi * D[i,j]) + 0.1 * (i == j) }
  }
  for (j in 1:p) { b[j] ~ dnorm(0, 0.01) }
  phi ~ dunif(0.5, 2)
}
END
status 0 "$GBMC" --explain field.gbm field.json -o field
prints 'b .*normal .*one at a time'
