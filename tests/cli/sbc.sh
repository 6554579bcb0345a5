#!/usr/bin/env bash
# Simulation-based calibration: right samplers pass, and those whose draws, whose
# slice or whose use of the data was broken fail, which the ranks' shape tells;
# what cannot be simulated is refused.
source "$GBM_ROOT/tests/cli/lib"

cat >rates.gbm <<'E'
model {
  for (i in 1:N) {
    y[i] ~ dpois(lambda * t[i])
    x[i] ~ dnorm(0, exp(s))
  }
  lambda ~ dexp(1)
  s ~ dunif(-2, 2)
}
E
echo '{"N": 4, "t": [1, 2, 1, 3], "y": [9, 9, 9, 9], "x": [0, 0, 0, 0]}' \
    >rates.json
cat >mixture.gbm <<'E'
model {
  for (i in 1:N) { z[i] ~ dcat(p[1:2])  y[i] ~ dnorm(mu[z[i]], 1) }
  p[1:2] ~ ddirch(alpha[])
  mu[1] ~ dnorm(-2, 1)
  mu[2] ~ dnorm(2, 1)
  d <- mu[2] - mu[1]
  new ~ dnorm(mu[1], 1)
}
E
echo '{"N": 6, "alpha": [1, 1], "y": [0, 0, null, 0, 0, 0]}' >mixture.json
cat >line.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dnorm(a + b * x[i], tau) }
  a ~ dnorm(0, 1)
  b ~ dnorm(0, 1)
  tau ~ dgamma(2, 1)
}
E
echo '{"N": 5, "x": [-1, 0, 1, 2, 3], "y": [0, 0, 0, 0, 0]}' >line.json
sbc() { # STATUS SAMPLER DATA OPTION...
    local wanted=$1 name=$2 data=$3
    shift 3
    status "$wanted" ./"$name" sbc --data "$data" --threads 1 \
        --replicates 200 --draws 49 "$@"
}

# Right ones. What values observed nodes have does not matter.
for name in rates mixture line; do
    status 0 "$GBMC" -O 0 $name.gbm -o $name
    sbc 0 $name $name.json --out $name.out.json
    prints "^sbc: 200 replicates, ranks among 49 draws .*: calibrated;"
    prints '^deviance '
done
echo '{"N": 4, "t": [1, 2, 1, 3], "y": [0, 1, 0, 5], "x": [1, 2, 3, 4]}' \
    >other.json
sbc 0 rates other.json --out again.json
same rates.out.json again.json
sbc 0 rates rates.json --plain --out plain.json --quiet
python3 - <<'E' || fail "the JSON"
import json
for name, quantities in (("rates", ["lambda", "s", "deviance"]),
                         ("line", ["a", "b", "tau", "deviance"])):
    r = json.load(open(f"{name}.out.json"))
    assert r["model"] == name and r["calibrated"] is True, r
    assert list(r["quantities"]) == quantities, r["quantities"].keys()
    cuts, low, high = (r["band"][k] for k in ("below", "low", "high"))
    assert cuts == list(range(1, 50)), cuts
    for q in r["quantities"].values():
        ranks, n = q["ranks"], r["replicates"]
        assert len(ranks) == n == 200 and min(ranks) >= 0 and max(ranks) <= 49
        edges = [b * 50 // 20 for b in range(21)]
        chi = 0
        for a, b in zip(edges, edges[1:]):
            expected = n * (b - a) / 50
            chi += (sum(a <= x < b for x in ranks) - expected) ** 2 / expected
        assert q["bins"] == 20 and abs(q["chi_square"] - chi) < 1e-5
        out = sum(not low[i] <= sum(x < c for x in ranks) <= high[i]
                  for i, c in enumerate(cuts))
        assert (out > 0) == (q["ecdf_p"] < 0.05), (out, q["ecdf_p"])
m = json.load(open("mixture.out.json"))["quantities"]
assert {"z[1]", "z[6]", "p[2]", "mu[1]", "y[3]", "d", "new"} <= set(m), m.keys()
# --plain: another sampler, but of the same truths and data
p = json.load(open("plain.json"))["quantities"]["s"]["ranks"]
s = json.load(open("rates.out.json"))["quantities"]["s"]["ranks"]
assert p != s and sum(abs(a - b) < 15 for a, b in zip(p, s)) > 150
E
sbc 0 line line.json --monitor tau,deviance --out few.json
grep -q '"a":' few.json && fail "--monitor"
grep -q '"tau":' few.json || fail "--monitor"

# broken LINE FILE SED: the sampler made with a library whose file was changed
broken() {
    rm -rf planted; mkdir planted
    cp -r "$GBM_ROOT/stdlib" planted
    ln -s "$GBM_ROOT/runtime" planted
    sed -i "$3" "planted/stdlib/$2"
    cmp -s "$GBM_ROOT/stdlib/$2" "planted/stdlib/$2" && fail "nothing was broken"
    status 0 env GBM_STDLIB="$PWD/planted/stdlib" "$GBMC" -O 0 rates.gbm -o bad
    sbc 2 bad rates.json --out bad.json
    says "^failed: [0-9] of 3 quantities do not have the ranks of .*: this sampler is wrong$"
    prints "$1"
    grep -q '"calibrated": false' bad.json || fail "the JSON of a broken one"
}
broken '^lambda .* FAIL: draws are too high' distributions/dgamma.gbm \
    's/draw draw_gamma(r)/draw draw_gamma(r + 0.7)/'
broken '^deviance .* FAIL: draws are too high' kernels/slice.h \
    's/height = value - gbm_draw/height = value - 5 * gbm_draw/'

# Priors whose draws are beyond all data: ranks are of rounding, as is said
cat >wide.gbm <<'E'
model {
  for (i in 1:N) { r[i] ~ dbin(p[i], 9)  logit(p[i]) <- b[i]
                   b[i] ~ dnorm(0, tau) }
  tau ~ dgamma(0.001, 0.001)
}
E
echo '{"N": 3, "r": [1, 2, 3]}' >wide.json
status 0 "$GBMC" -O 0 wide.gbm -o wide
sbc 2 wide wide.json --replicates 40 --draws 19 --warmup 100
prints '^Warning: the priors are vague: [0-9]+ replicates'
says 'or the sampler is wrong; see the warnings'

# A sampler that forgets the data draws from the prior: parameters alone have
# the right ranks, the deviance has not.
status 0 "$GBMC" --emit=c rates.gbm
sed '1,/^static const char program/{
    /^GBM_FN void prepare_lambda/,/^}/s/\(c[12]\) += -*[yt]_v(i_v)/\1 += 0/}' \
    .out >forgets.c
# shellcheck disable=SC2046 # flags are words
"${CC:-cc}" -std=c11 -O0 -fopenmp -D_GNU_SOURCE -I"$GBM_ROOT/stdlib/kernels" \
    -I"$GBM_ROOT/runtime" forgets.c -o forgets \
    "$GBM_ROOT/$GBM_BUILD/libgbm.a" $(cat "$GBM_ROOT/$GBM_BUILD/link_flags") ||
    fail "forgets.c"
sbc 2 forgets rates.json
says '^failed: 1 of 3 quantities'
prints '^deviance .* FAIL: '

# What cannot be
refused() { # PATTERN COMMAND...
    local pattern=$1
    shift
    status 1 "$@"
    says "$pattern"
    absent no.json
}
refused 'sbc needs --data' ./rates sbc
refused "--replicates '3': an integer from 20" ./rates sbc --replicates 3
refused '--replicates is an option of sbc' ./rates --replicates 30
refused 'sbc writes JSON' ./rates sbc --data rates.json --out no.nc
refused '--method tempering is for run' ./rates sbc --data rates.json \
    --method tempering
refused 'without --power' ./rates sbc --data rates.json --power 0.5
refused 'a chain for each' ./rates sbc --data rates.json --chains 4
refused '--init is of run' ./rates sbc --data rates.json --init rates.json
echo '{"N": 4, "t": [1, 2, 1, 3]}' >none.json
refused 'no node is observed' ./rates sbc --data none.json --out no.json
cat >path.gbm <<'E'
model {
  for (i in 1:N) { m[i] ~ dnorm(a * x[i], 1)  y[i] ~ dnorm(b * m[i], 1) }
  a ~ dnorm(0, 1)
  b ~ dnorm(0, 1)
}
E
echo '{"N": 3, "x": [1, 2, 3], "m": [1, 2, 2], "y": [1, 1, 3]}' >path.json
status 0 "$GBMC" -O 0 path.gbm --data path.json -o path
refused 'that m is data: compile the model without --data' \
    ./path sbc --data path.json
sed 's/dexp(1)/dflat()/' rates.gbm >flat.gbm
status 0 "$GBMC" -O 0 flat.gbm -o flat
refused 'the model cannot be simulated' ./flat sbc --data rates.json \
    --out no.json
sed 's/dnorm(0, exp(s))/& I(-1, )/' rates.gbm >censored.gbm
status 0 "$GBMC" -O 0 censored.gbm -o censored
refused 'write dinterval for censoring' ./censored sbc --data rates.json \
    --out no.json
sed 's/dexp(1)/dnorm(0, 1) I(0, )/' rates.gbm >half.gbm
status 0 "$GBMC" -O 0 half.gbm -o half
sbc 0 half rates.json
sed 's/dexp(1)/dgamma(1, 1.0E-300)/' rates.gbm >vague.gbm
status 0 "$GBMC" -O 0 vague.gbm -o vague
refused 'too vague to simulate from' ./vague sbc --data rates.json --out no.json
exit 0
