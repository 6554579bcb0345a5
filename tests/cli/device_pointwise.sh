#!/usr/bin/env bash
# Log likelihoods and deviance of a device's draws: the host computes them, of
# the state that belongs to each.
source "$GBM_ROOT/tests/cli/lib"
export PYTHONPATH=$GBM_ROOT/tests/cli
fake_device

cat >model.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dnorm(mu[g[i]], tau) }
  for (j in 1:3) { mu[j] ~ dnorm(0, 0.1) }
  tau ~ dgamma(2, 2)
}
E
python3 -c '
print({"N": 40, "g": [i % 3 + 1 for i in range(40)],
       "y": [i % 7 - i % 3 for i in range(40)]})' | tr \' \" >data.json
status 0 "$GBMC" -O 0 model.gbm -o model
for device in cuda cpu; do
    status 0 ./model --data data.json --device $device --seed 2 --warmup 15 \
        --draws 40 --thin 2 --chains 3 --log-lik --monitor all,deviance \
        --out $device.nc --quiet
done
python3 - <<'E' || fail "not those of the draws"
from math import log, pi

import netcdf
for file in ("cuda.nc", "cpu.nc"):
    f = netcdf.read(file)
    p, l = f["posterior"], f["log_likelihood"]["y"][1]
    assert len(l) == 40 * 60
    for i in range(60):
        tau, mu = p["tau"][1][i], p["mu"][1][3 * i:3 * i + 3]
        own = [0.5 * log(tau / (2 * pi)) - tau / 2 *
               (j % 7 - j % 3 - mu[j % 3]) ** 2 for j in range(40)]
        assert all(abs(a - b) < 1e-9 for a, b in zip(own, l[40 * i:]))
        assert abs(p["deviance"][1][i] + 2 * sum(own)) < 1e-9
    assert len(set(p["tau"][1])) == 60
E
