#!/usr/bin/env bash
# What a device keeps of a sweep (runtime/cuda/keep.c) is what the host keeps:
# draws of monitored cells, running moments and counts of categories of all else,
# of more numbers than a block of threads has at a time. On stand-ins for CUDA's
# libraries.
source "$GBM_ROOT/tests/cli/lib"
fake_device
cat >model.gbm <<'E'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(x[i] + m[z[i]], 1)
    x[i] ~ dnorm(0, 1)
    z[i] ~ dcat(p[])
  }
  for (k in 1:2) { m[k] ~ dnorm(0, 0.1) }
}
E
python3 - <<'P'
import json, random
rng = random.Random(2)
n = 700
json.dump({"N": n, "p": [0.3, 0.7], "y": [rng.gauss(0, 2) for _ in range(n)]},
          open("data.json", "w"))
P
status 0 "$GBMC" model.gbm -o model
run() { # NAME OPTION...
    local name=$1
    shift
    status 0 ./model --data data.json --quiet --warmup 2 --draws 12 --chains 2 \
        --thin 2 --digits 12 --format csv --out "$name.csv" \
        --summary "$name.json" --monitor "$monitor" --moments all "$@"
}
for monitor in m,x 'm,x[3:650]'; do
    run host --device cpu
    for lanes in 0 4; do
        GBM_CUDA_CHAINS=$lanes run device --device cuda
        python3 - <<'P' || fail "$monitor, $lanes lanes: other draws or moments"
import json
numbers = 0


def compare(a, b, at):
    global numbers
    if isinstance(a, (dict, list)):
        assert len(a) == len(b), at
        for k in a if isinstance(a, dict) else range(len(a)):
            compare(a[k], b[k], (*at, k))
    elif isinstance(a, (int, float)) and a == a:
        numbers += 1
        assert abs(a - b) <= 1e-6 * max(1, abs(a)), (at, a, b)


def draws(name, chain):
    return [[float(x) for x in row.split(",")]
            for row in open(f"{name}_{chain}.csv")
            if row[0] in "-.0123456789"]


host, device = (json.load(open(f"{name}.json"))["parameters"]
                for name in ("host", "device"))
for name, p in host.items():
    for what in "mean", "sd", "categories":
        compare(p.get(what), device[name].get(what), (name, what))
assert numbers > 1400, numbers  # of x and z
for chain in 1, 2:
    compare(draws("host", chain), draws("device", chain), (chain,))
assert numbers > 8000, numbers
P
    done
done
