#!/usr/bin/env bash
# Moves of a plate with a node of its prior, by teams of several lanes: where a
# lane alone can tell the density along a line, a team has several chains' sums,
# then each lane goes along the line of one, then the team moves them. Draws are
# the host's. Kernels of steps, where this happens, are chosen where chains have
# more cells than a multiprocessor has room for. On stand-ins for CUDA's
# libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device

cat >both.gbm <<'M'
model {
  for (i in 1:N) {
    theta[i] ~ dnorm(mu, tau)   # a line that is a quadratic
    y[i] ~ dnorm(theta[i], 1)
    eta[i] ~ dnorm(nu, kappa)   # one that needs the rows
    n[i] ~ dpois(exp(eta[i]))
  }
  mu ~ dnorm(0, 0.01)
  tau ~ dgamma(1, 1)
  nu ~ dnorm(0, 0.01)
  kappa ~ dgamma(1, 1)
}
M
python3 -c 'import json; json.dump(
    {"N": 40, "y": [i % 7 / 3 for i in range(40)], "n": [i % 3 for i in range(40)]},
    open("both.json", "w"))'
status 0 "$GBMC" --emit=cuda both.gbm
for line in 'ALONG(carry_mu_v_theta_v' 'ALONG(carry_tau_v_theta_v' \
    '(carry_nu_v_eta_v' '(carry_kappa_v_eta_v'; do
    grep -qF "GBM_KERNEL${line/#ALONG/_ALONG}" .out || fail "no kernel $line"
done
status 0 "$GBMC" -O1 both.gbm -o both
draw() { # NAME OPTION...: what 100 chains kept, 8 lanes each
    status 0 ./both --data both.json --chains 100 --warmup 3 --draws 2 \
        --seed 7 --quiet --no-check --moments all --monitor mu,tau,nu,kappa \
        --summary "$1.json" "${@:2}"
}
draw host --device cpu
GBM_FAKE_MULTIPROCESSORS=1 GBM_CUDA_CHAINS=0 GBM_FAKE_OPTIONS=$PWD/options \
    draw device --device cuda
grep -q '^-DGBM_LANES_carry_tau_v_theta_v=[48],1$' options ||
    fail "no team of several lanes: $(grep carry options)"
python3 - <<'P' || fail 'the device moves otherwise'
import json, math
a, b = (json.load(open(f))["parameters"] for f in ("host.json", "device.json"))
assert a.keys() == b.keys() and len(a) >= 84, len(a)
for name in a:
    for what in "mean", "sd":
        x, y = a[name][what], b[name][what]
        assert math.isclose(x, y, rel_tol=1e-9), (name, what, x, y)
P

grep -v 'nu\|kappa\|n\[i\]' both.gbm >one.gbm
status 0 "$GBMC" -O0 one.gbm -o one
for chains in 200 1000; do
    GBM_FAKE_MULTIPROCESSORS=1 status 0 ./one --data both.json --device cuda \
        --no-check --chains $chains --warmup 1 --draws 1 --monitor mu
    if [ $chains = 200 ]; then
        says 'in one kernel, 1 thread'
    else
        ! grep -q 'in one kernel' .err || fail "cells of 1000 chains, read apart"
    fi
done
