#!/usr/bin/env bash
# How many steps a sweep Metropolis samplers make, that walks need not be tuned, and
# that steps beyond an end may be refused, as samplers { } asks: told by what a
# sweep does to nodes whose priors are all there is. The same on a device, and
# from a checkpoint.
source "$GBM_ROOT/tests/cli/lib"
fake_device
cat >m.gbm <<'E'
samplers {
  a : rw(scale = 1, steps = 1, adapt = never);
  b : rw(scale = 1, steps = 5, adapt = never);
  c : rw_block(scale = 1, steps = 5, adapt = never);
  d : rw(scale = 1, steps = 1, adapt = never, ends = refuse);
  e : rw_block(scale = 1, steps = 1, adapt = never, ends = refuse);
  f : pcn(scale = 0.5, steps = 4, adapt = never);
  g : pcn(scale = 0.5, steps = 4, adapt = never);
  h, k : am(steps = 9);
  l, m : diam(steps = 9);
  n : rw(scale = 1, steps = 3, adapt = never);
}
model {
  a ~ dnorm(0, 1.0E-10)
  b ~ dnorm(0, 1.0E-10)
  for (i in 1:3) { c[i] ~ dnorm(0, 1.0E-10) }
  d ~ dunif(0, 10)
  for (i in 1:2) { e[i] ~ dunif(0, 10) }
  f ~ dnorm(3, 0.25)
  g[1:2] ~ dmnorm(z[], P[,])
  h ~ dnorm(0, 1)
  k ~ dnorm(0, 1)
  l ~ dnorm(0, 1)
  m ~ dnorm(0, 1)
  n ~ dpois(1.0E8)
}
E
echo '{"z": [0, 0], "P": [[1, 0.5], [0.5, 1]]}' >data.json
status 0 "$GBMC" --explain m.gbm
for said in 'random walk, 1 step ' 'random walk, 5 steps' \
    'joint random walk, 5 steps' 'Crank-Nicolson, 4 steps' \
    'adaptive Metropolis, 9 steps' 'dimension-independent Metropolis, 9 steps' \
    'integer random walk, 3 steps'; do
    prints "$said"
done
status 0 "$GBMC" -O 0 m.gbm -o m
draw() { # OUT OPTION...
    local out=$1
    shift
    status 0 ./m --data data.json --quiet --chains 1 --seed 5 --format csv \
        --digits 15 --out "$out.csv" "$@"
}
draw host --warmup 400 --draws 8000
python3 - <<'P' || fail 'sweeps move otherwise'
import csv
rows = list(csv.DictReader(l for l in open("host_1.csv") if l[0] != "#"))
of = lambda v: [float(r[v]) for r in rows]
mean = lambda x: sum(x) / len(x)
def var(x):
    m = mean(x)
    return mean([(t - m) ** 2 for t in x])
gone = lambda x: [b - a for a, b in zip(x, x[1:])]
def kept(x):  # lag-1 autocorrelation
    m = mean(x)
    return sum((a - m) * (b - m) for a, b in zip(x, x[1:])) / len(x) / var(x)
def near(what, x, y, by):
    assert abs(x - y) < by, (what, x, y)
near("a", var(gone(of("a"))), 1, 0.08)
for v in ("b", "c.1", "c.2", "c.3"):
    near(v, var(gone(of(v))), 5, 0.4)
for v in ("d", "e.1", "e.2"):  # on their own scale: not longer at the middle
    x = of(v)
    assert 0 < min(x) < 0.2 and 9.8 < max(x) < 10, v
    near(v, mean(x), 5, 0.8)
    near(v, var(x), 100 / 12, 1.5)
    near(v, var([b - a for a, b in zip(x, x[1:]) if a != b and 4 < a < 6]),
         1, 0.15)
for v in ("f", "g.1", "g.2"):
    near(v, kept(of(v)), 0.75 ** 2, 0.05)
for v in "hklm":  # of one step: 0.8 and more
    assert kept(of(v)) < 0.35, (v, kept(of(v)))
    near(v, var(of(v)), 1, 0.15)
# three steps of 1 + floor(|z|), up or down: E (1 + floor(|z|))^2 = 2.0907
near("n", var(gone(of("n"))), 3 * 2.0907, 0.5)
P

draw first --warmup 20 --draws 30
draw device --warmup 20 --draws 30 --device cuda --no-check
draw cut --warmup 20 --draws 11 --checkpoint m.ck
draw cut --resume m.ck --draws 30
for run in first device cut; do
    grep -v '^#' ${run}_1.csv | cut -d, -f8- >$run
done
near first device 30 || fail 'the device draws otherwise'
same first cut

# What cannot be asked for is said.
refused() { # TEXT SAID
    echo "samplers { x : $1; } model { x ~ dunif(0, 1) }" >bad.gbm
    status 1 "$GBMC" bad.gbm -o bad
    grep -qF "$2" .err || fail "$1 is told otherwise"
}
refused 'rw(steps = 0)' 'steps: a whole number from 1 to 1000000'
refused 'rw(steps = 1.5)' 'steps: a whole number from 1 to 1000000'
refused 'rw_block(adapt = forever)' 'the adapt of rw_block may be never, nothing else'
refused 'am(adapt = never)' 'the adapt of am may be forever, nothing else'
refused 'slice(steps = 2)' 'slice has no option steps; there is width'
refused 'rw(ends = reflect)' 'the ends of rw may be refuse, nothing else'
