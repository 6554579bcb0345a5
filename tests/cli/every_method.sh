#!/usr/bin/env bash
# What every method must do: the same draws from one thread and from two; killed,
# it goes on from its checkpoint to the same bits; at Ctrl-C it writes what there
# is, marked incomplete, and says so, or says that there is nothing.
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm # waits for no disk
source "$GBM_ROOT/tests/cli/lib"

# Loaded into a run, sends SIGNAL to it by its checkpoint number AFTER; without
# AFTER, SIGINT as soon as the program hears it.
cat >signal.c <<'E'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rename(const char *from, const char *to)
{
    static int n;
    int (*next)(const char *, const char *);
    *(void **)&next = dlsym(RTLD_NEXT, "rename");
    const char *after = getenv("AFTER");
    int result = next(from, to);
    size_t k = strlen(from);
    if (after && k > 7 && !strcmp(from + k - 7, ".ck.tmp") &&
        ++n == atoi(after))
        raise(atoi(getenv("SIGNAL")));
    return result;
}

int sigaction(int number, const struct sigaction *action,
              struct sigaction *old)
{
    int (*next)(int, const struct sigaction *, struct sigaction *);
    *(void **)&next = dlsym(RTLD_NEXT, "sigaction");
    int result = next(number, action, old);
    if (number == SIGINT && !getenv("AFTER"))
        raise(SIGINT);
    return result;
}
E
cc -shared -fPIC -o signal.so signal.c -ldl || fail "signal.c"
signalled() {
    (LD_PRELOAD=$scratch/signal.so ASAN_OPTIONS=verify_asan_link_order=0 \
        exec "$@") >.out 2>.err
    found=$?
}
same_files() { # WHAT ONE OTHER: their draws, by chain
    local one other
    for one in "$2"_*.csv; do
        other=$3${one#"$2"}
        [ "$(grep -cv '^#' "$one")" -gt 2 ] || fail "$1: no draws"
        cmp <(grep -v '^#' "$one") <(grep -v '^#' "$other") || fail "$1"
    done
}

# goes_on NAME KILLS COMMAND...: whole, by one thread and two; then killed by
# each of those checkpoints, and resumed
goes_on() {
    local name=$1 kills=$2 k
    shift 2
    rm -f ./*.ck* whole* left*
    status 0 "$@" --quiet --threads 2 --out two.csv
    status 0 "$@" --quiet --threads 1 --checkpoint whole.ck --out whole.csv \
        --summary whole.json
    same_files "$name: threads" whole two
    for k in $kills; do
        rm -f left*
        AFTER=$k SIGNAL=9 signalled "$@" --quiet --threads 1 \
            --checkpoint left.ck --every 0s --out left.csv
        [ $found = 137 ] || fail "$name: not killed by checkpoint $k: $found"
        status 0 "$@" --threads 1 --checkpoint left.ck --every 0s \
            --resume left.ck --out left.csv --summary left.json
        says 'left.ck: goes on after'
        python3 "$GBM_ROOT/tests/checkpoint.py" same whole.ck left.ck ||
            fail "$name: another state after checkpoint $k"
        same_files "$name: resumed after checkpoint $k" whole left
        cmp <(grep -v '_s"' whole.json) <(grep -v '_s"' left.json) ||
            fail "$name: another summary"
    done
}

# stops NAME AFTER COMMAND...: Ctrl-C by a checkpoint; what there is is readable
# and incomplete; resumed, it ends as the whole one of goes_on
stops() {
    local name=$1 after=$2
    shift 2
    rm -f cut* left*
    AFTER=$after SIGNAL=2 signalled "$@" --threads 1 --checkpoint left.ck \
        --every 0s --out cut.nc --summary cut.json
    [ $found = 2 ] || fail "$name: status $found at Ctrl-C"
    says 'stopped: [0-9]+ of [0-9]+ .* incomplete; to go on: --resume left.ck'
    grep -qE '"complete": false' cut.json || fail "$name: cut.json"
    status 0 "$1" summary cut.nc
    prints 'the run was stopped early'
    status 0 "$@" --quiet --threads 1 --checkpoint left.ck --resume left.ck \
        --out left.csv
    same_files "$name: resumed after Ctrl-C" whole left
}

# ---- between prior and posterior

cat >line.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dnorm(a + b * x[i], tau) }
  a ~ dnorm(0, 0.25)
  b ~ dt(0, 1, 4)
  tau ~ dgamma(2, 2)
}
E
echo 'N <- 5
x <- c(-1, 0, 1, 2, 10)
y <- c(0.3, 1, 1.2, 2.4, 9)' >line.R
status 0 "$GBMC" -O 0 --with=powers line.gbm -o line
status 0 "$GBMC" -O 0 --with=powers --sequence i line.gbm -o turns
tempering=(./line --data line.R --method tempering --device cpu --replicas 4
    --chains 2 --warmup 100 --draws 150)
goes_on tempering '2 4' "${tempering[@]}"
smc=(--data line.R --method smc --device cpu --particles 200 --chains 2)
goes_on smc '1 2 4 6' ./line "${smc[@]}"
goes_on smc-in-turns '1 3 7 9' ./turns "${smc[@]}" --sequence i
for other in '--particles 300' '--chains 3'; do
    # shellcheck disable=SC2086 # two words
    status 1 ./line "${smc[@]}" $other --quiet --resume whole.ck
done
rm -f ./*.ck* cut*
AFTER=3 SIGNAL=2 signalled ./line "${smc[@]}" --checkpoint left.ck --every 0s \
    --out cut.csv
[ $found = 2 ] || fail "smc: status $found at Ctrl-C"
says 'stopped before the first draw: nothing is written; to go on: --resume left'
absent cut_1.csv
status 0 ./line "${smc[@]}" --quiet --resume left.ck --out left.csv
status 0 ./line "${smc[@]}" --quiet --out whole.csv
same_files 'smc: resumed after Ctrl-C' whole left

# moves with tables, indices and sums that a particle holds: one number with what
# stands beside it integrated out, components that split and trade, effects with
# the scale and mean of their prior, sums that are held
cat >moves.gbm <<'E'
model {
  for (i in 1:3) { x[i] ~ dbin(theta, n) }
  theta ~ dbeta(2, 2)
  n ~ dpois(30)
  for (i in 1:N) { z[i] ~ dcat(pi[])  y[i] ~ dnorm(mu[z[i]], 1) }
  for (k in 1:K) { mu[k] ~ dnorm(0, 0.1) }
  for (k in 1:(K - 1)) { v[k] ~ dbeta(1, alpha) }
  left[1] <- 1
  for (k in 1:(K - 1)) { pi[k] <- v[k] * left[k]  left[k+1] <- left[k] * (1 - v[k]) }
  pi[K] <- left[K]
  alpha ~ dgamma(2, 1)
  for (g in 1:3) {
    for (j in 1:2) { c[g,j] ~ dpois(exp(eps[g,j] + b[g]))  eps[g,j] ~ dnorm(0, gamma) }
    b[g] ~ dnorm(m, tau)
  }
  m ~ dnorm(0, 1)
  gamma ~ dgamma(4, 2)
  tau ~ dgamma(3, 2)
}
E
echo '{"x": [16, 22, 25], "N": 6, "K": 3, "y": [-1.5, -0.8, -1.9, 1.4, 2.4, 1.1],
    "c": [[1, 3], [0, 2], [4, 1]]}' >moves.json
status 0 "$GBMC" -O 0 --with=powers moves.gbm -o moves
goes_on tempering-moves 3 ./moves --data moves.json --method tempering \
    --device cpu --replicas 3 --chains 2 --warmup 80 --draws 100
goes_on smc-moves '2 5' ./moves --data moves.json --method smc --device cpu \
    --particles 60 --chains 2

# ---- along time

cat >series.gbm <<'E'
model {
  x[1] ~ dnorm(m, 0.5)
  for (t in 2:T) { x[t] ~ dnorm(m + phi * (x[t-1] - m), tau) }
  for (t in 1:T) { y[t] ~ dnorm(x[t], 4) }
  m ~ dnorm(0, 1)
  phi ~ dunif(-1, 1)
  tau ~ dgamma(4, 2)
  new ~ dnorm(m, 1)
}
E
echo '{"T": 8, "y": [0.4, 1.9, null, 2.2, 0.3, -0.9, -1.2, 0.1]}' >series.json
echo '{"m": 0.5, "phi": 0.5, "tau": 2}' >init.json
status 0 "$GBMC" -O 0 series.gbm -o series
pmmh=(./series --data series.json --method pmmh --particles 20 --warmup 10
    --draws 20 --chains 2 --thin 2)
goes_on pmmh '1 7 24 45' "${pmmh[@]}"
stops pmmh 45 "${pmmh[@]}"
status 0 "${pmmh[@]}" --quiet --checkpoint short.ck
status 0 "${pmmh[@]}" --quiet --resume short.ck --draws 30 --out left.csv
rm -f whole*
status 0 "${pmmh[@]}" --quiet --draws 30 --out whole.csv
same_files 'pmmh: extended' whole left
status 1 "${pmmh[@]}" --quiet --resume short.ck --draws 10
says 'it has 10 draws a chain already, and --draws would keep 5'
signalled "${pmmh[@]}" --out none.csv
[ $found = 2 ] || fail "pmmh: status $found at Ctrl-C before all draws"
says 'stopped before the first draw: nothing is written$'
filter=(./series --data series.json --init init.json --method filter
    --particles 50 --chains 5 --draws 20)
goes_on filter '1 3' "${filter[@]}"
stops filter 3 "${filter[@]}"
sed 's/^}$/}\nsamplers { x : pgas(particles = 8); }/' series.gbm >pgas.gbm
status 0 "$GBMC" -O 0 pgas.gbm -o pgas
pgas=(./pgas --data series.json --device cpu --chains 2 --warmup 50 --draws 100)
goes_on pgas '1 3' "${pgas[@]}"

# ---- modes

cat >groups.gbm <<'E'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(mu[z[i]], 1)
    z[i] ~ dcat(p[])
  }
  for (k in 1:2) { mu[k] ~ dnorm(0, 0.01) }
  p[1:2] ~ ddirch(one[])
}
E
echo 'N <- 8
one <- c(1.5, 1.5)
y <- c(-1, -0.3, 0.2, 2, 2.2, 3, -1.3, 2.6)' >groups.R
status 0 "$GBMC" -O 0 --with=gradients,expectation groups.gbm -o groups
status 0 "$GBMC" -O 0 --with=gradients line.gbm -o slope
for method in 'em groups' 'optimize line'; do
    # shellcheck disable=SC2086 # two words
    set -- $method
    program=$2
    [ "$1" = em ] || program=slope
    run=("./$program" --data "$2.R" --method "$1" --quiet)
    for threads in 1 2; do
        status 0 "${run[@]}" --threads $threads --summary m$threads.json
    done
    cmp <(grep -v '_s"' m1.json) <(grep -v '_s"' m2.json) || fail "$1: threads"
    grep -q '"complete": true' m1.json || fail "$1: complete"
    signalled "${run[@]}" --summary cut.json --out cut_mode.json
    [ $found = 2 ] || fail "$1: status $found at Ctrl-C"
    says 'stopped: 0 of 4 starts had come to a mode; what is written is the high'
    grep -q '"complete": false' cut.json || fail "$1: cut.json"
    grep -q '"converged": false' cut.json || fail "$1: cut.json"
    status 0 "${run[@]}" --init cut_mode.json
done
