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
  for (i in 1:N) { y[i] ~ dnorm(a + b * x[i], tau)  z[i] ~ dpois(exp(a + c * x[i])) }
  a ~ dnorm(0, 1.0E-4)  b ~ dnorm(0, 1.0E-4)  tau ~ dgamma(1, 1)  c ~ dnorm(0, 1)
}
END
# y may be data for z
sed 's/c \* x\[i\]/c * y[i]/' line.gbm >path.gbm
for n in 100 1000000; do
    python3 - $n >$n.json <<'END'
import json, sys
n = int(sys.argv[1])
json.dump({"N": n, "x": [i % 7 for i in range(n)],
           "y": [i % 5 for i in range(n)], "z": [i % 3 for i in range(n)]},
          sys.stdout)
END
done

# cost MODEL N: CPU milliseconds and KiB of gbmc itself (the C compiler's text is
# the same), in MODEL.N.cost
cost() {
    python3 - "$GBMC" "$1" "$2" >"$1.$2.cost" <<'END'
import os, resource, subprocess, sys
gbmc, model, n = sys.argv[1:]
with open(f"{model}.{n}.c", "w") as out:
    subprocess.run([gbmc, "--emit=c", model + ".gbm", "--data", n + ".json"],
                   stdout=out, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int(1000 * (used.ru_utime + used.ru_stime)), used.ru_maxrss)
END
}
flat() {
    cost "$1" 100
    cost "$1" 1000000
    cmp "$1".100.c "$1".1000000.c ||
        { echo "the program depends on the data"; exit 1; }
    read -r time0 memory0 <"$1".100.cost
    read -r time1 memory1 <"$1".1000000.cost
    echo "$1: $time0 ms, $memory0 KiB for 10^2; $time1 ms, $memory1 KiB for 10^6"
    [ "$time1" -le $((time0 + 300)) ] && [ "$memory1" -le $((memory0 + 8192)) ] ||
        { echo "gbmc's cost grows with the data"; exit 1; }
}
flat line
flat path
