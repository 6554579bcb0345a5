#!/usr/bin/env bash
# A run that is killed goes on from its checkpoint as if nothing had happened:
# its last checkpoint, which has the bits of all of its state, is that of a run
# that was left alone, and so are its files, times apart. What is damaged or of
# another run is refused.
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm # waits for no disk
source "$GBM_ROOT/tests/cli/lib"

checkpoint() { python3 "$GBM_ROOT/tests/checkpoint.py" "$@"; }

# Loaded into a run, kills it (as kill -9 does) by its first checkpoint after
# KILL_AFTER sweeps: before that takes the place of another, between the two
# renames, or after them.
cat >kill.c <<'E'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ends(const char *name, const char *with)
{
    size_t n = strlen(name), m = strlen(with);
    return n >= m && strcmp(name + n - m, with) == 0;
}

/* Of the checkpoint FILE.tmp: after the name stand the size and the value. */
static uint32_t sweeps(const char *path, const char *suffix)
{
    char name[4096], text[1 << 13] = "";
    snprintf(name, sizeof name, "%s%s", path, suffix);
    FILE *f = fopen(name, "rb");
    size_t n = f ? fread(text, 1, sizeof text, f) : 0;
    char *at = memmem(text, n, "sweeps\0", 8);
    if (f)
        fclose(f);
    return at ? *(uint32_t *)(void *)(at + 16) : 0;
}

int rename(const char *from, const char *to)
{
    int (*next)(const char *, const char *);
    *(void **)&next = dlsym(RTLD_NEXT, "rename");
    const char *when = getenv("KILL_WHEN");
    int old = ends(to, ".ck.1"), new = ends(from, ".ck.tmp");
    int due = (old || new) && sweeps(from, old ? ".tmp" : "") >=
                                  strtoul(getenv("KILL_AFTER"), NULL, 10);
    if (due && (strcmp(when, "before") == 0 ||
                (new && strcmp(when, "between") == 0)))
        raise(SIGKILL);
    int result = next(from, to);
    if (due && new)
        raise(SIGKILL);
    return result;
}
E
cc -shared -fPIC -o kill.so kill.c -ldl || fail "kill.c"

# killed AFTER WHEN COMMAND...
killed() {
    local after=$1 when=$2
    shift 2
    (KILL_AFTER=$after KILL_WHEN=$when LD_PRELOAD=$scratch/kill.so \
        ASAN_OPTIONS=verify_asan_link_order=0 exec "$@") >.out 2>.err
    [ $? = 137 ] || fail "not killed after $after sweeps: $*"
}

# resumes NAME WARMUP DRAWS [AFTER] -- OPTION...: ./NAME, killed at once, late in
# warm-up and amid its draws, and after those sweeps, ends as it would have.
resumes() {
    local name=$1 warmup=$2 draws=$3 moments moment at
    moments=("0 after" "$((warmup / 2)) between"
        "$((warmup + draws / 3)) before")
    shift 3
    [ "$1" = -- ] || { moments=("$1 after") && shift; }
    shift
    local run=("./$name" "$@" --warmup "$warmup" --draws "$draws" --quiet
        --threads 1)
    local saved=(--checkpoint "$name.ck" --every 0s)
    rm -f whole*
    status 0 "${run[@]}" --checkpoint whole.ck --out whole.csv \
        --summary whole.json
    for moment in "${moments[@]}"; do
        rm -f left* "$name".ck*
        # shellcheck disable=SC2086 # two words
        killed $moment "${run[@]}" "${saved[@]}" --out left.csv
        at=$(checkpoint sweeps "$name.ck")
        status 0 "${run[@]}" "${saved[@]}" --resume "$name.ck" --out left.csv \
            --summary left.json
        checkpoint same whole.ck "$name.ck" 2>.err ||
            fail "$name: other state after $at sweeps"
        for out in whole_*.csv; do
            cmp <(grep -v '^#' "$out") <(grep -v '^#' "left${out#whole}") ||
                fail "$name: other draws after $at sweeps"
        done
        cmp <(grep -v '_s"' whole.json) <(grep -v '_s"' left.json) ||
            fail "$name: another summary"
        echo "$SECONDS s: $name, killed after $at of $((warmup + draws)) sweeps"
    done
}

models=$GBM_ROOT/tests/models

# ---- every kind of sampler, missing data

cat >kinds.gbm <<'E'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(a + inprod(X[i,], e[]) + u[g[i]], tau)
    k[i] ~ dpois(exp(c + d * X[i,1]))
    z[i] ~ dcat(w[])
    r[i] ~ dnorm(m[z[i]], 2)
    f[i] ~ dnorm(inprod(X[i,], s[]), prec) # X'X over the variance at load
    h[i] ~ dt(loc, 3, 4)
    v[i] ~ dweib(shape, 1)
  }
  for (j in 1:p) {
    in[j] ~ dbern(0.5)
    b[j] ~ dnorm(0, 1)
    e[j] <- in[j] * b[j]
    s[j] ~ dnorm(0, 1)
  }
  for (q in 1:G) { u[q] ~ dnorm(0, tau.u) }
  for (q in 1:3) { m[q] ~ dnorm(q, 1) }
  w[1:3] ~ ddirch(alpha[])
  a ~ dnorm(0, 0.1)
  c ~ dnorm(0, 1)
  d ~ dnorm(0, 1)
  loc ~ dnorm(0, 0.1)
  shape ~ dunif(0.1, 10)
  tau ~ dgamma(2, 1)
  prec ~ dgamma(2, 1)
  tau.u ~ dgamma(2, 1)
}
samplers {
  c, d : am;
  loc : rw;
}
E
python3 - >kinds.json <<'E'
import json, random
random.seed(5)
n, p, g = 60, 4, 5
x = [[round(random.gauss(0, 1), 3) for _ in range(p)] for _ in range(n)]
y = [round(1 + r[0] + random.gauss(0, 1), 3) for r in x]
y[3] = y[40] = None
print(json.dumps({
    "N": n, "p": p, "G": g, "X": x, "y": y, "alpha": [1, 1, 1],
    "g": [i % g + 1 for i in range(n)],
    "k": [random.randrange(5) for _ in range(n)],
    "r": [round(random.gauss(i % 3 + 1, 0.7), 3) for i in range(n)],
    "h": [round(random.gauss(1, 1), 3) for _ in range(n)],
    "f": [round(r[1] + random.gauss(0, 2), 3) for r in x],
    "v": [round(random.weibullvariate(1, 2), 3) for _ in range(n)]}))
E
status 0 "$GBMC" -O 1 kinds.gbm -o kinds
status 0 ./kinds info
for sampler in 'adaptive Metropolis' 'random walk' slice enumeration \
    'Gaussian block'; do
    prints "$sampler"
done
resumes kinds 2000 4000 -- --data kinds.json --chains 3 --thin 4 --seed 2 --lp

# what components are called is learnt late in warm-up
for after in 150 300; do
    resumes kinds 200 300 $after -- --data kinds.json --chains 2 --seed 2 \
        --relabel z,m,w --monitor m,a --moments all
done
checkpoint has kinds.ck 'components are known' || fail "no target is saved"

status 0 "$GBMC" -O 1 "$models/scaled_inverse_wishart/model.bug" -o wishart
status 0 ./wishart info
prints recomputed
resumes wishart 1000 1000 -- --data "$models/scaled_inverse_wishart/data.json"

# ---- moments alone; augmented and sparse blocks; latent subscripts; the plain
# sampler

cat >many.gbm <<'E'
model {
  for (i in 1:N) { x[i] ~ dnorm(mu, 1) y[i] ~ dnorm(x[i], 1) }
  mu ~ dnorm(0, 1)
}
E
python3 -c 'import json; print(json.dumps({"N": 12000,
    "y": [(i * 7919 % 1000) / 250 - 2 for i in range(12000)]}))' >many.json
status 0 "$GBMC" -O 1 many.gbm -o many
resumes many 300 300 -- --data many.json --chains 2
checkpoint has many.ck 'sweeps in moments' || fail "no moments are saved"

sampler horseshoe_probit
resumes horseshoe_probit 2000 2000 -- --chains 2 --device cpu \
    --data "$examples/horseshoe_probit/data.json"
status 0 "$GBMC" -O 1 "$models/crossed_effects/model.bug" -o crossed
resumes crossed 1000 1000 -- --data "$models/crossed_effects/data.R"
status 0 "$GBMC" -O 1 "$models/classes_of_classes/model.bug" -o classes
resumes classes 5000 5000 -- --data "$models/classes_of_classes/data.json"
sampler pump
pump=(./pump --data "$examples/pump/data.json" --chains 2 --lp)
resumes pump 1000 1000 -- --data "$examples/pump/data.json" --chains 2 --plain

# ---- ladders of tempering: powers that are set in warm-up, who is where, and
# the sums of the evidence

cat >modes.gbm <<'E'
model {
  mu ~ dnorm(4, 0.05)
  for (i in 1:4) { y[i] ~ dnorm(mu^2, 4) }
}
E
echo 'y <- c(25, 24, 26, 25.5)' >modes.R
status 0 "$GBMC" -O 1 --with=powers modes.gbm -o modes
tempering=(--data modes.R --method tempering --chains 2 --replicas 5)
resumes modes 300 500 -- "${tempering[@]}" --device cpu
grep -q '"round_trips": [1-9]' left.json || fail 'tempering: no round trips'
for other in '--method mcmc' '--replicas 6' '--chains 3'; do
    # shellcheck disable=SC2086 # two words
    status 1 ./modes --data modes.R --device cpu --method tempering $other \
        --resume modes.ck --quiet
    says "${other% *}"
done

# what their components are called
cat >parts.gbm <<'E'
model {
  for (i in 1:8) { y[i] ~ dnorm(m[z[i]], 1)
    z[i] ~ dcat(w[]) }
  w[1:2] ~ ddirch(one[])
  for (k in 1:2) { m[k] ~ dnorm(0, 0.1) }
}
E
echo 'y <- c(-1, -1.5, -0.2, 0.1, 0.8, 1.2, 1.9, 2.2)
one <- c(1, 1)' >parts.R
status 0 "$GBMC" -O 1 --with=powers parts.gbm -o parts
for after in 150 300; do
    resumes parts 200 300 $after -- --data parts.R --chains 2 --device cpu \
        --method tempering --replicas 4 --relabel z,m --monitor m
done
checkpoint has parts.ck 'components are known' || fail "no target is saved"

# ---- chains are compared early in warm-up, and one that is caught goes on from
# where another is

surplus=$GBM_ROOT/tests/models/surplus_production
status 0 "$GBMC" -O 1 "$surplus/model.bug" -o surplus
moved=no
for seed in 1 3 8; do
    status 0 ./surplus --data "$surplus/data.R" --warmup 2000 --draws 1 \
        --seed $seed
    grep -q 'after 200 sweeps chain .* goes on from where' .err &&
        moved=$seed && break
done
[ $moved != no ] || fail "surplus: no chain is moved"
resumes surplus 2000 1000 170 -- --data "$surplus/data.R" --seed $moved

# ---- a run that ended is extended, and given out again

status 0 "${pump[@]}" --warmup 50 --draws 500 --thin 3 --checkpoint end.ck \
    --out end.csv --quiet
status 0 "${pump[@]}" --resume end.ck --out again.csv
says 'end.ck: goes on after 167 of 167 draws a chain'
cmp <(grep -v '^#' end_2.csv) <(grep -v '^#' again_2.csv) || fail "not again"
status 0 "${pump[@]}" --resume end.ck --draws 2000 --out more.csv
status 0 "${pump[@]}" --warmup 50 --draws 2000 --thin 3 --out once.csv --quiet
cmp <(grep -v '^#' more_2.csv) <(grep -v '^#' once_2.csv) ||
    fail "an extended run has other draws"
status 1 "${pump[@]}" --resume end.ck --draws 100
says 'it has 167 draws a chain already, and --draws 100 would keep 34'

# how long it goes on by a rule is the same, too
status 0 "${pump[@]}" --warmup 50 --draws 100 --until 'ess>800' --out rule.csv \
    --checkpoint rule.ck --quiet
status 0 "${pump[@]}" --warmup 50 --draws 100 --checkpoint start.ck --quiet
status 0 "${pump[@]}" --resume start.ck --until 'ess>800' --out rest.csv
cmp <(grep -v '^#' rule_1.csv) <(grep -v '^#' rest_1.csv) ||
    fail "--until ends elsewhere"
[ "$(grep -cv '^#' rule_1.csv)" -gt 200 ] || fail "--until adds no draws"

# ---- a clean stop leaves a checkpoint; one command line for start and rest

long=("${pump[@]}" --warmup 1000 --draws 40000000 --thin 1000 --quiet)
"${long[@]}" --checkpoint stop.ck --every 1s --resume stop.ck 2>.err >.out &
id=$!
until [ -s stop.ck ] && [ "$(checkpoint sweeps stop.ck)" -gt 1000 ]; do
    kill -0 $id || fail "a long run ended"
    sleep 0.2
done
kill -TERM $id
wait $id
[ $? = 2 ] || fail "a clean stop"
says 'to go on: --resume stop.ck'
at=$(checkpoint sweeps stop.ck)
[ "$at" -gt 1000 ] || fail "stopped after $at sweeps"
status 0 "${pump[@]}" --resume stop.ck --draws $((at + 1000)) --out stop.csv
says "stop.ck: goes on after $((at / 1000 - 1)) of $((at / 1000 + 1)) draws"
status 0 "${pump[@]}" --warmup 1000 --draws $((at + 1000)) --thin 1000 \
    --out stopped.csv --quiet
cmp <(grep -v '^#' stop_1.csv) <(grep -v '^#' stopped_1.csv) ||
    fail "other draws after a clean stop"

# ---- what is damaged, and what is of another run

run=("${pump[@]}" --warmup 200 --draws 200 --quiet)
rm -f end.ck*
status 0 "${run[@]}" --checkpoint end.ck
status 0 "${run[@]}" --checkpoint end.ck --resume end.ck --draws 300
exists end.ck.1
size=$(stat -c %s end.ck)
cp end.ck good.ck
rm -f good.ck.1
for at in 0 8 20 64 200 $((size / 2)) $((size - 9)) $((size - 1)); do
    cp good.ck end.ck
    checkpoint flip end.ck "$at"
    status 0 "${pump[@]}" --resume end.ck --draws 300 --out bit.csv
    says 'note: end.ck: it is damaged: end.ck.1, the one before it, is taken'
    says 'end.ck.1: goes on after 200 of 300 draws'
    cp end.ck alone.ck
    status 1 "${pump[@]}" --resume alone.ck
    says 'error: --resume alone.ck: it is damaged$'
done
for at in 0 1 15 16 100 $((size / 2)) $((size / 16 * 8)) $((size - 1)); do
    head -c "$at" good.ck >end.ck
    status 0 "${pump[@]}" --resume end.ck --draws 300 --out cut.csv
    says 'end.ck: it is damaged: end.ck.1, the one before it, is taken'
    cmp <(grep -v '^#' bit_1.csv) <(grep -v '^#' cut_1.csv) || fail "cut at $at"
done
# the good one before it is not replaced by the damaged one
status 0 "${run[@]}" --resume end.ck --checkpoint end.ck --draws 300
checkpoint same end.ck good.ck || fail "not gone on from the one before"
head -c 100 good.ck >end.ck
head -c 100 good.ck >end.ck.1
status 1 "${pump[@]}" --resume end.ck
says 'end.ck: it is damaged; end.ck.1: it is damaged'
status 1 "${pump[@]}" --resume "$examples/pump/data.json"
says 'data.json: it is no checkpoint; --checkpoint FILE writes those'
rm end.ck
cp good.ck end.ck.1
status 0 "${pump[@]}" --resume end.ck
says 'end.ck: No such file or directory: end.ck.1, the one before it, is taken'
status 1 "${pump[@]}" --resume none.ck
says 'none.ck: No such file'

refused() { # WORDS OPTION...
    local words=$1
    shift
    status 1 "$@" --resume good.ck
    says "error: --resume good.ck: $words"
}
refused 'it is of a run with --seed 1 --chains 2, not with --seed 7 --chains 3' \
    "${run[@]}" --seed 7 --chains 3
refused 'it is of a run with --warmup 200 --thin 1 no --monitor, not with --warmup 100 --thin 2 --monitor alpha' \
    "${pump[@]}" --warmup 100 --thin 2 --monitor alpha
refused 'it is of a run with no --plain, not with --plain' "${pump[@]}" --plain
refused 'it is of a run with --device cpu, not with --device cuda' \
    "${pump[@]}" --device cuda
sed 's/"x": *\[5,/"x": [6,/' "$examples/pump/data.json" >other.json
cmp -s other.json "$examples/pump/data.json" && fail "the same data"
refused 'it is of a run with other data: x differs' \
    ./pump --data other.json
sed 's/dexp(1)/dexp(2)/' "$examples/pump/pump.gbm" >pump.gbm
status 0 "$GBMC" -O 1 pump.gbm -o other
refused 'it is of another model than pump.gbm' \
    ./other --data "$examples/pump/data.json"
# the same model from another place is no other model
cp "$examples/pump/pump.gbm" .
status 0 "$GBMC" pump.gbm -o place
status 0 ./place --data "$examples/pump/data.json" --resume good.ck

# ---- no room, and no other file is overwritten

(ulimit -f 8; exec "${pump[@]}" --warmup 100 --draws 2000 --checkpoint room.ck \
    --every 0s --out room.csv) >.out 2>.err
[ $? = 2 ] || fail "no room for what is asked for: status $?"
(ulimit -f 8; exec "${pump[@]}" --warmup 100 --draws 2000 --checkpoint room.ck \
    --every 0s) >.out 2>.err
[ $? = 0 ] || fail "no room for a checkpoint: status $?"
says 'warning: no checkpoint: .*room.ck: cannot write: File too large: the run goes on'
absent room.ck.tmp
status 0 "${pump[@]}" --resume room.ck --draws 2000 --out room.csv
status 0 "${pump[@]}" --warmup 100 --draws 2000 --out roomy.csv --quiet
cmp <(grep -v '^#' room_1.csv) <(grep -v '^#' roomy_1.csv) ||
    fail "other draws from the last one that had room"
status 1 "${pump[@]}" --checkpoint pump.gbm
says 'pump.gbm is no checkpoint, and would be overwritten'
status 1 "${pump[@]}" --checkpoint none/at.ck
says 'none/at.ck: cannot write: No such file'
status 1 "${pump[@]}" --every 5
says -- '--every goes with --checkpoint FILE'
status 1 "${pump[@]}" --checkpoint x.ck --every 5d
says "'5d': a time is wanted"
status 1 ./pump check --data "$examples/pump/data.json" --checkpoint x.ck
says 'checkpoint is an option of run'
exit 0
