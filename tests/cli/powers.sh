#!/usr/bin/env bash
# Powers on the densities of data: the sampler has itself compiled with them,
# and every full conditional is that of the raised densities.
source "$GBM_ROOT/tests/cli/lib"
mkdir -p "it's a folder" tmp
export TMPDIR=$scratch/tmp
cd "it's a folder" || exit 1
left() { [ -z "$(ls "$scratch/tmp")" ] || fail "left behind: $(ls "$scratch/tmp")"; }

# model NAME: text from standard input, compiled into ./NAME
model() {
    cat >"$1.gbm"
    status 0 "$GBMC" -O 0 "$1.gbm" -o "$1"
}
checks() {
    for power in 0.3; do
        status 0 "./$1" check --data "$1.R" --quiet --power "$power"
        ! grep -q 'FAIL' .out || fail "$1 at $power"
    done
    left
}

# A normal mean, by hand: its precision is 1 and that of each power. Some of y
# is not observed; z has no power where it is not named.
model normal <<'E'
model {
  mu ~ dnorm(0, 1)
  for (i in 1:N) { y[i] ~ dnorm(mu, 1) }
  z ~ dnorm(mu, 3)
}
E
echo 'N <- 5
y <- c(2.5, 1.5, NA, 3, 2)
z <- 2' >normal.R
checks normal
# Some of what others read is not observed: it keeps its prior, so that its datum
# has mu at a variance of 1 + 1/power.
model inner <<'E'
model {
  mu ~ dnorm(0, 1)
  for (i in 1:2) {
    x[i] ~ dnorm(mu, 1)
    y[i] ~ dnorm(x[i], 1)
  }
}
E
echo 'x <- c(2, NA)
y <- c(1, 3)' >inner.R
checks inner
# moments MODEL PRECISION SUM ARGUMENT...: of mu
moments() {
    local name=$1 precision=$2 sum=$3
    shift 3
    status 0 "./$name" --data "$name.R" --quiet --device cpu --warmup 10 \
        --draws 2500 --monitor mu --summary s.json "$@"
    left
    python3 - "$precision" "$sum" <<'P' || fail "moments of $name, $*"
import json, sys
r = json.load(open("s.json"))["parameters"]["mu"]
precision, total = map(float, sys.argv[1:])
assert abs(r["mean"] - total / precision) < 4.5 * r["mcse"], r
assert abs(r["sd"] * precision ** 0.5 - 1) < 0.04, r
P
}
moments normal 8 15 --method mcmc
moments normal 1 0 --power 0
moments normal 2.75 3.75 --power 0.25
moments normal 5 8.25 --power 0.25 --temper y
moments inner 2.5 3.5
moments inner 1.45 1.1 --power 0.25
status 1 ./normal --data normal.R --quiet --power 0.5 --temper mu
says 'no data of mu|no random variable mu'
status 1 ./normal --data normal.R --quiet --power -1
says 'from 0 to 100'

# The unobserved element of a series that others read keeps its prior;
# Polya-Gamma variables have the power in their shape; what an augmentation
# does not state is done without it; discrete nodes.
model many <<'E'
model {
  phi ~ dunif(-1, 1)
  x[1] ~ dnorm(0, 1)
  for (t in 2:6) { x[t] ~ dnorm(phi * x[t-1], tau) }
  tau ~ dgamma(2, 2)
  for (i in 1:4) {
    y[i] ~ dbin(p[i], n[i])
    logit(p[i]) <- a + b * v[i]
    q[i] ~ dbern(phi(c))
    k[i] ~ dnegbin(ilogit(b), 3)
  }
  a ~ dnorm(0, 0.1)
  c ~ dnorm(0, 1)
  b ~ dt(0, 1, 4)
  for (i in 1:6) {
    u[i] ~ dnorm(mu[z[i]], tau)
    z[i] ~ dcat(w[])
  }
  for (k in 1:2) { mu[k] ~ dnorm(0, 0.1) }
  w ~ ddirch(alpha[])
}
E
echo 'x <- c(1, 0.5, NA, -0.5, NA, 2)
v <- c(-1, 0, 0.5, 2)
y <- c(1, 2, 4, 3)
n <- c(5, 6, 7, 3)
q <- c(0, 1, 1, 0)
k <- c(2, 0, 3, 1)
u <- c(-1, -1.5, 0, 1, 2, 1.2)
alpha <- c(1, 2)' >many.R
checks many
prints '^a, b +Gaussian block .* pass'

# The draws of what augmentations add, which check does not see: the moments are
# those of the plain sampler, which knows of densities alone.
many() {
    status 0 ./many --data many.R --quiet --device cpu --power 0.3 --draws 3000 \
        --warmup 300 --monitor a,b,c,tau --summary "$@"
}
many derived.json
many plain.json --plain
python3 - <<'P' || fail 'moments at power 0.3'
import json
a, b = (json.load(open(f))["parameters"] for f in ("derived.json", "plain.json"))
for n in "a", "b", "c", "tau":
    d = a[n]["mean"] - b[n]["mean"]
    se = (a[n]["mcse"] ** 2 + b[n]["mcse"] ** 2) ** 0.5
    assert abs(d) < 4.5 * se, (n, d / se)
    assert abs(a[n]["sd"] / b[n]["sd"] - 1) < 0.12, (n, a[n], b[n])
P

# what it needs to be compiled again, and has not
cp normal.gbm kept
echo '# other' >>normal.gbm
status 1 ./normal --data normal.R --quiet --power 0.5
says "normal.gbm has changed since.*to compile it: cd '.*it'.*'s a folder' && .*gbmc --with=powers -o .*-O 0 .*normal.gbm"
command=$(sed 's/.*to compile it: //' .err)
status 0 bash -c "$command"
status 0 ./normal --data normal.R --quiet --power 0.5 --draws 10
status 0 "$GBMC" -O 0 normal.gbm -o normal
rm normal.gbm
status 1 ./normal --data normal.R --quiet --power 0.5
says 'normal.gbm cannot be read any more'
cp kept normal.gbm
strip normal -o stripped
status 1 ./stripped --data normal.R --quiet --power 0.5
says 'does not know how it was compiled; .*gbmc --with=powers normal.gbm'
left
