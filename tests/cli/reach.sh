#!/usr/bin/env bash
# An update recomputes what its element reaches, and no more, where no subscript
# tells what that is: recursions by plate that feed each other, with a data
# index, and a tree of parents; or where one tells it within a sum, of a row of
# coefficients that each group has. With 12 times the plates, 8 times the nodes or
# 48 times the groups a sweep takes that many times as long (for a tree, times its
# depth), not the square of it.
source "$GBM_ROOT/tests/cli/lib"
if ! command -v python3 >/dev/null; then
    echo "needs python3"
    exit 77
fi
cat >plates.gbm <<'END'
model {
  for (g in 1:G) { beta[g] ~ dlnorm(0, 4) }
  for (r in 1:R) {
    S[r,1] <- 0.95
    I[r,1] <- 0.05
    for (t in 2:T) {
      S[r,t] <- S[r,t-1] * exp(-beta[site[r]] * I[r,t-1])
      I[r,t] <- I[r,t-1] * 0.7 + S[r,t-1] - S[r,t]
    }
    for (t in 1:T) { y[r,t] ~ dpois(1000 * I[r,t]) }
  }
}
END
cat >tree.gbm <<'END'
model {
  for (i in 1:N) { x[i] ~ dnorm(0, 1) }
  v[1] <- x[1]
  for (i in 2:N) { v[i] <- 0.9 * v[parent[i]] + sin(x[i]) }
  for (i in 1:N) { y[i] ~ dpois(exp(v[i])) }
}
END
cat >groups.gbm <<'END'
model {
  for (i in 1:N) { y[i] ~ dpois(exp(inprod(B[g[i],], X[i,]))) }
  for (k in 1:K) {
    for (j in 1:2) {
      B[k,j] <- m[j] + s[j] * e[j,k]
      e[j,k] ~ dgamma(2, 2)
    }
  }
  for (j in 1:2) { m[j] ~ dnorm(0, 1)  s[j] ~ dgamma(2, 2) }
}
END
python3 - <<'END'
import json
for name, R in (("few", 24), ("many", 288)):
    json.dump({"G": R // 2, "R": R, "T": 12,
               "site": [r // 2 + 1 for r in range(R)],
               "y": [[50 + (7 * r + 5 * t) % 60 for t in range(12)]
                     for r in range(R)]}, open(f"plates.{name}", "w"))
for name, N in (("few", 250), ("many", 2000)):
    json.dump({"N": N, "parent": [1] + [i // 2 for i in range(2, N + 1)],
               "y": [i * i % 5 for i in range(N)]}, open(f"tree.{name}", "w"))
for name, K in (("few", 25), ("many", 1200)):
    json.dump({"N": 4 * K, "K": K, "g": [1 + 7 * i % K for i in range(4 * K)],
               "X": [[1, i % 9 / 9 - 0.5] for i in range(4 * K)],
               "y": [i * i % 5 for i in range(4 * K)]},
              open(f"groups.{name}", "w"))
END
# CPU milliseconds of the sweeps
cost() {
    python3 - "$@" <<'END'
import resource, subprocess, sys
model, size = sys.argv[1:]
def used(sweeps):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([f"./{model}", "run", "--data", f"{model}.{size}",
                    "--chains", "1", "--threads", "1", "--seed", "1",
                    "--warmup", "0", "--quiet", "--draws", str(sweeps)],
                   check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
n = 3000 if size == "few" else 300
print(int(1e6 * max(used(n) - used(1), 1e-6) / n))
END
}
while IFS=: read -r model limit index; do
    status 0 "$GBMC" $model.gbm -o $model
    status 0 "$GBMC" --emit=plan $model.gbm
    prints "$index"
    few=$(cost $model few) many=$(cost $model many)
    echo "$model: $few us a sweep, $many us of the larger one"
    [ "$many" -le $((few * limit)) ] ||
        { echo "an element recomputes more than it reaches"; exit 1; }
    status 0 ./$model check --data $model.few
done <<'END'
plates:50:what is reached by
tree:40:what is reached by
groups:90:e.1, g.i.. in y
END
