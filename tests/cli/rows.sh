#!/usr/bin/env bash
# Rows of coefficients, of an extent that only data tell: those of a group or of
# a response meet in a sum over their row and are drawn together, in whatever
# statements their array is written. One at a time they hardly move where the
# covariates are far from 0.
source "$GBM_ROOT/tests/cli/lib"

# block NAME PATTERN: so NAME.gbm draws it; its conditionals are those of the
# joint density, and some 1000 of 4000 draws are as good as independent.
block() {
    status 0 "$GBMC" --explain "$1.gbm" -o "$1"
    prints "$2"
    status 0 ./"$1" check --data "$1.json"
    status 0 ./"$1" --data "$1.json" --quiet --device cpu --threads 1 \
        --warmup 500 --draws 1000 --seed 7 --monitor "$3" --summary fit.json
    python3 - <<'END' || fail "$1: the draws hardly move"
import json, sys
p = json.load(open("fit.json"))["parameters"]
worst = min((r["ess_bulk"], n) for n, r in p.items())
print(*worst)
sys.exit(worst[0] < 1000)
END
}

python3 - <<'END'
import json, math, random
random.seed(5)
N, P, L, J = 60, 3, 3, 5
X = [[random.gauss(3, 0.7) for p in range(P)] for i in range(N)]
y = [[sum(x) * (k - 1) / 2 + random.gauss(1, 1) for k in range(L)] for x in X]
json.dump({"N": N, "P": P, "L": L, "X": X, "y": y}, open("responses.json", "w"))
json.dump({"T": N, "K": L, "y": y}, open("apart.json", "w"))
g = [i % J + 1 for i in range(N)]
X = [[1] + x[1:] for x in X]
eta = [0.2 * sum(x) + 0.1 * j for x, j in zip(X, g)]
json.dump({"N": N, "P": P, "J": J, "g": g, "X": X,
           "y": [e + random.gauss(0, 1) for e in eta]},
          open("groups.json", "w"))
json.dump({"N": N, "P": P, "J": J, "g": g, "X": X,
           "y": [int(math.exp(e) + random.random()) for e in eta]},
          open("counts.json", "w"))
END

cat >responses.gbm <<'END'
model {
  for (i in 1:N) {
    for (k in 1:L) { y[i,k] ~ dnorm(a[k] + inprod(X[i,], b[k,]), tau[k]) }
  }
  for (k in 1:L) {
    a[k] ~ dnorm(0, 0.01)
    tau[k] ~ dgamma(2, 2)
    for (p in 1:P) { b[k,p] ~ dnorm(0, 0.1) }
  }
}
END
block responses '(a, b|b, a) .*joint Gaussian block' a,b

# a matrix whose diagonal and triangles are statements of their own
cat >apart.gbm <<'END'
model {
  for (k in 1:K) {
    for (t in 2:T) {
      y[t,k] ~ dnorm(A[k] + Phi[k,] %*% y[t-1,], tau[k])
    }
    A[k] ~ dnorm(0, 0.01)
    tau[k] ~ dgamma(2, 2)
    Phi[k,k] ~ dnorm(0.5, 1)
    for (j in (k+1):K) { Phi[k,j] ~ dnorm(0, 2)  Phi[j,k] ~ dnorm(0, 2) }
  }
}
END
block apart 'Phi\[k,k\], .*joint Gaussian block' A,Phi

cat >groups.gbm <<'END'
model {
  for (i in 1:N) { y[i] ~ dnorm(inprod(X[i,], b[g[i],]), 1) }
  for (j in 1:J) { for (p in 1:P) { b[j,p] ~ dnorm(mu[p], 4) } }
  for (p in 1:P) { mu[p] ~ dnorm(0, 0.1) }
}
END
block groups 'b, mu .*joint Gaussian block' b,mu

cat >counts.gbm <<'END'
model {
  for (i in 1:N) { y[i] ~ dpois(exp(inprod(X[i,], b[g[i],]))) }
  for (j in 1:J) { for (p in 1:P) { b[j,p] ~ dnorm(0, 1) } }
}
END
block counts 'b .*elliptical slice of a' b

# a sum through all of a plate is still a dense block
cat >vector.gbm <<'END'
model {
  for (i in 1:N) { y[i] ~ dnorm(inprod(X[i,], b[]), tau) }
  for (p in 1:P) { b[p] ~ dnorm(0, 0.1) }
  tau ~ dgamma(2, 2)
}
END
status 0 "$GBMC" --explain vector.gbm -o vector
prints 'b .*Gaussian block, dense'

# What data settle of many rows is summed as it is met, not listed first: 4
# million products of coefficients.
python3 - <<'END'
import json, random
random.seed(5)
N, P, J = 20000, 20, 5
json.dump({"N": N, "P": P, "J": J, "g": [i % J + 1 for i in range(N)],
           "X": [[round(random.gauss(0, 1), 2) for p in range(P)]
                 for i in range(N)],
           "y": [random.gauss(0, 1) for i in range(N)]},
          open("many.json", "w"))
END
python3 - <<'END' || fail "the load takes too much memory"
import resource, subprocess, sys
subprocess.run(["./groups", "--data", "many.json", "--quiet", "--device", "cpu",
                "--threads", "1", "--warmup", "10", "--draws", "10"],
               check=True, stdout=subprocess.DEVNULL)
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(f"{most:.0f} MB")
sys.exit(most > 100)
END

# Rows of one weight, not one behind the other, and of two together.
cat >alike.gbm <<'E2'
model {
  for (i in 1:60) {
    y[i] ~ dnorm(a[g[i]] + b * x[i], t[h[i]])
    z[i] ~ dnorm(a[g[i]] - b * x[i], t[h[i]] + u[g[i]])
  }
  for (j in 1:4) { a[j] ~ dnorm(m, 1); u[j] ~ dgamma(2, 2) }
  for (k in 1:3) { t[k] ~ dgamma(2, 2) }
  m ~ dnorm(0, 0.01)
  b ~ dnorm(0, 0.1)
}
E2
python3 - >alike.json <<'P'
import json, random
random.seed(7)
N = 60
draw = {"g": [random.randint(1, 4) for _ in range(N)],
        "h": [random.randint(1, 3) for _ in range(N)]}
for name in "xyz":
    draw[name] = [round(random.gauss(0, 1), 2) for _ in range(N)]
print(json.dumps(draw))
P
status 0 "$GBMC" --emit=c alike.gbm
[ "$(grep -c '\.alike = ' .out)" -ge 2 ] || fail 'rows of one weight'
status 0 "$GBMC" -O1 alike.gbm -o alike
status 0 ./alike check --data alike.json
prints 'joint Gaussian block .* pass$'
