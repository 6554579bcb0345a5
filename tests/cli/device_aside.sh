#!/usr/bin/env bash
# A number's long sum leaves most of a device idle, so it is drawn beside steps
# that it has nothing to do with, on a stream of its own: the draws are those of
# one step after the other, whichever stream is late (GBM_FAKE_LATE). On
# stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device

# nu and tau read p alone, s and m read a alone, and a, p and e as the rest.
cat >m.gbm <<'E'
model {
  for (g in 1:G) {
    y[g] ~ dpois(exp(e[g]))
    e[g] ~ dnorm(a[g], p[g])
    p[g] ~ dgamma(nu / 2, nu * tau / 2)
    a[g] ~ dnorm(m, s)
  }
  nu ~ dunif(0, 50)
  tau ~ dgamma(1, 1)
  m ~ dnorm(0, 0.01)
  s ~ dgamma(1, 1)
}
E
python3 - >m.json <<'E'
import json, random
r = random.Random(3)
print(json.dumps({"G": 5000, "y": [r.randrange(9) for _ in range(5000)]}))
E
status 0 "$GBMC" -O1 m.gbm -o m
draw() { # NAME
    status 0 ./m --data m.json --chains 1 --warmup 2 --draws 3 --no-check \
        --format csv --digits 12 --monitor nu,tau,m,s,'p[1:5]','e[1:5]' \
        --device cuda --out "$1.csv"
}
export GBM_CUDA_CHAINS=0
GBM_CUDA_ASIDE=0 draw apart
! grep -q 'beside' .err || fail 'beside others, though asked not to be'
for late in main beside; do
    GBM_FAKE_LATE=$late draw $late
    says 'nu, tau beside other steps'
    grep -v '^#' apart*.csv >a
    grep -v '^#' $late*.csv >b
    [ "$(wc -l <a)" = 4 ] || fail 'a header and three draws'
    cmp a b || fail "$late late: other draws"
done
