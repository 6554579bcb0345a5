#!/usr/bin/env bash
# A sampled value that becomes NaN ends the run with status 2: the node, the
# chain and the sweep are named, what was drawn before it is written and marked.
source "$GBM_ROOT/tests/cli/lib"

# At once: 1e160 squared overflows, so the mean of b[2] is infinity / infinity.
cat >overflow.gbm <<'END'
model {
  for (i in 1:2) {
    b[i] ~ dnorm(m, 1)
    y[i] ~ dnorm(b[i] * x[i], 1)
  }
  m ~ dnorm(0, 1)
}
END
echo '{"x": [1, 1e160], "y": [1, 1e160]}' >overflow.json
echo '{"b": [1, 1], "m": 0}' >init.json
status 0 "$GBMC" overflow.gbm -o overflow
status 2 ./overflow --data overflow.json --init init.json --device cpu \
    --draws 100 --out fit.csv
says 'b\[2\] of chain 1 is not a number after sweep 1 '
says 'nothing is written'
absent fit.csv
absent fit-1.csv
# There is nothing that a full conditional could be compared with.
status 1 ./overflow check --data overflow.json --init init.json
says 'b\[[12]\] of chain 1 is not a number after 3 sweeps from these starting values'

# After a while: log(tau) is a random walk down to where x has no precision.
cat >walk.gbm <<'END'
model {
  tau ~ dgamma(1.0E-9, 1.0E-300)
  x ~ dflat()
  y ~ dnorm(x, tau)
}
END
echo '{"y": 1}' >walk.json
status 0 "$GBMC" walk.gbm -o walk
status 2 ./walk --data walk.json --device cpu --chains 4 --warmup 10 \
    --draws 400000 --seed 1 --out walk.csv --quiet
says 'x of chain [1-4] is not a number after sweep [0-9]+ \(10 of warm-up\)'
says 'incomplete'
sweep=$(sed -n 's/.*after sweep \([0-9]*\) .*/\1/p' .err)
for file in walk*.csv; do
    grep -q 'complete = 0' "$file" || fail "$file is not marked"
    grep -qi 'nan' "$file" && fail "$file has a NaN"
    rows=$(grep -cE '^[-0-9]' "$file")
    [ "$rows" = $((sweep - 11)) ] ||
        fail "$file has $rows draws; sweep $sweep was the bad one"
done

# max() and min() of what is not a number are not numbers: where log(x) is
# none, x is impossible.
cat >largest.gbm <<'E'
model {
  for (i in 1:4) { x[i] ~ dnorm(0, 1) }
  m[1] <- log(x[3])
  m[2] <- 1
  m[3] <- log(x[4])
  y[1] ~ dnorm(max(0, log(x[1])), 1)
  y[2] ~ dnorm(min(log(x[2]), 2), 1)
  y[3] ~ dnorm(max(m[1:2]), 1)
  y[4] ~ dnorm(min(m[2:3]), 1)
}
E
echo '{"y": [0.2, 0.1, 0.4, 0.3]}' >largest.json
status 0 "$GBMC" largest.gbm -o largest
status 0 ./largest --data largest.json --device cpu --warmup 50 --draws 200 \
    --monitor x --out largest.csv --quiet
for k in 1 2 3 4; do
    if grep -v '^#' "largest_$k.csv" | cut -d, -f8-11 | grep -q '^-\|,-'; then
        fail "chain $k: x is negative, and its logarithm was taken for one"
    fi
done
