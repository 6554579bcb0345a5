#!/usr/bin/env bash
# Time and memory of gbmc do not grow with the data, not even where --data tells
# it what is observed: N = 10^2 and N = 10^6.
source "$GBM_ROOT/tests/cli/lib"
if ! command -v python3 >/dev/null; then
    echo "needs python3"
    exit 77
fi
cat >line.gbm <<'END'
model {
  for (i in 1:N) { y[i] ~ dnorm(a + b * x[i], tau)  z[i] ~ dpois(exp(a + u[g[i]])) }
  for (j in 1:J) { u[j] ~ dnorm(0, tau) }
  a ~ dnorm(0, 1.0E-4)  b ~ dnorm(0, 1.0E-4)  tau ~ dgamma(1, 1)
}
END
for n in 100 1000000; do
    python3 - $n >$n.json <<'END'
import json, sys
n = int(sys.argv[1])
json.dump({"N": n, "J": 10, "x": [i % 7 for i in range(n)],
           "y": [i % 5 for i in range(n)], "z": [i % 3 for i in range(n)],
           "g": [1 + i % 10 for i in range(n)]}, sys.stdout)
END
    # CPU milliseconds and KiB of gbmc itself: the C compiler's text is the same
    python3 - "$GBMC" line.gbm $n >$n.cost <<'END'
import os, resource, subprocess, sys
gbmc, model, n = sys.argv[1:]
with open(n + ".c", "w") as out:
    subprocess.run([gbmc, "--emit=c", model, "--data", n + ".json"], stdout=out,
                   check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int(1000 * (used.ru_utime + used.ru_stime)), used.ru_maxrss)
END
done
cmp 100.c 1000000.c || { echo "the program depends on the data"; exit 1; }
read -r time0 memory0 <100.cost
read -r time1 memory1 <1000000.cost
echo "gbmc: $time0 ms, $memory0 KiB for 10^2; $time1 ms, $memory1 KiB for 10^6"
[ "$time1" -le $((time0 + 300)) ] && [ "$memory1" -le $((memory0 + 8192)) ] ||
    { echo "gbmc's cost grows with the data"; exit 1; }
