#!/usr/bin/env bash
# --prior: a model with other distributions than those of its text is the model
# in whose text they stand: the same draws, the same when a method compiles it
# anew, and calibrated where its own priors cannot be simulated from.
source "$GBM_ROOT/tests/cli/lib"
gbm=$GBM_ROOT/$GBM_BUILD/gbm
export TMPDIR=$scratch
cat >vague.gbm <<'E'
model {
  for (i in 1:N) {
    b[i] ~ dnorm(0, tau)T(-9, )
    y[i] ~ dnorm(mu + b[i], 4)
  }
  mu ~ dnorm(0, 1.0E-300)
  tau ~ dgamma(0.001, 0.001)
}
E
sed 's/b\[i\] ~.*/b[i] ~ dnorm(0.1 * i, tau)/; s/mu ~.*/mu ~ dnorm(0, 1)/
    s/tau ~.*/tau ~ dgamma(3, 3) T(0.1, )/' vague.gbm >told.gbm
echo '{"N": 4, "y": [0.3, 1, -1, 2]}' >data.json
priors=(--prior 'b ~ dnorm(0.1*i, tau)' --prior 'mu ~ dnorm(0, 1)'
    '--prior=tau ~ dgamma(3, 3)T(0.1,)')

status 0 "$GBMC" --emit=ast "${priors[@]}" vague.gbm
mv .out changed.ast
status 0 "$GBMC" --emit=ast told.gbm
same changed.ast .out
for model in vague told; do
    options=()
    [ $model = told ] || options=("${priors[@]}")
    status 0 "$gbm" run -O0 "${options[@]}" $model.gbm data.json --draws 50 \
        --quiet --out $model.csv --format csv --chains 1
    grep -v '^#' ${model}_1.csv >$model.draws
    [ "$(wc -l <$model.draws)" = 51 ] || fail "$model: its draws"
done
same vague.draws told.draws

# A method that has the sampler compiled anew: log N(2; 0, 2) is -2.2655, and
# with the text's prior -5.5.
cat >one.gbm <<'E'
model { mu ~ dnorm(0, 1.0E-4)  y ~ dnorm(mu, 1) }
E
echo '{"y": 2}' >one.json
status 0 "$gbm" run -O0 one.gbm one.json --prior 'mu ~ dnorm(0, 1)' \
    --method smc --particles 2000 --chains 1 --quiet --summary smc.json
python3 - <<'E' || fail 'the evidence'
import json
e = json.load(open("smc.json"))["log_evidence"]
value = e["value"] if isinstance(e, dict) else e
print(value)
assert abs(value + 2.26551) < 0.2, e
E

# Of several statements about a variable that with this left-hand side, whatever
# the blanks; cells of a loop by its index.
cat >walk.gbm <<'E'
model {
  x[1] ~ dnorm(0, 1)
  for (t in 2:N) { x[t] ~ dnorm(x[t - 1], 1)  y[t] ~ dnorm(x[t], 1) }
}
E
sed 's/x\[1\] ~.*/x[1] ~ dnorm(5, 2)/
    s/x\[t\] ~ dnorm([^)]*)/x[t] ~ dnorm(x[t-1], ifelse(t == 3, 1, 4))/' \
    walk.gbm >walk_told.gbm
status 0 "$GBMC" --emit=ast --prior 'x[1] ~ dnorm(5, 2)' \
    --prior 'x[ t ] ~ dnorm(x[t-1], ifelse(t == 3, 1, 4))' walk.gbm
mv .out changed.ast
status 0 "$GBMC" --emit=ast walk_told.gbm
same changed.ast .out

status 1 "$gbm" sbc -O0 vague.gbm data.json
says 'too vague to simulate from.*--prior'
status 0 "$gbm" sbc -O0 "${priors[@]}" vague.gbm data.json --replicates 100 \
    --draws 19
prints ': calibrated;'

refused() { # PATTERN PRIOR
    status 1 "$GBMC" vague.gbm -o no --prior "$2"
    says "$1"
    absent no
}
refused "^--prior:1:9: error: no statement of the model gives ta a distr" \
    'ta ~ dnorm(0, 1)'
refused "no statement of the model gives b\[2\] a distribution; brackets" \
    'b[2] ~ dnorm(0, 1)'
refused "^--prior:1:15: error: unknown distribution dnrm" 'tau ~ dnrm(0, 1)'
refused "^--prior:1:.*expected" 'tau ~ dnorm(0, 1'
for text in 'tau <- 3' 'tau' '' \
    'mu ~ dnorm(0, 1) tau ~ dexp(1)' 'tau ~ dexp(1) } data { x <- 1'; do
    refused 'prior' "$text"
done
