#!/usr/bin/env bash
# Data that do not fit the model: each says which element and why, status 1.
source "$GBM_ROOT/tests/cli/lib"

# data FOLDER 'PYTHON ON d': writes bad.json from the example's data
data() {
    /usr/bin/env python3 - "$examples/$1/data.json" "$2" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
exec(sys.argv[2])
json.dump(d, open("bad.json", "w"))
PY
}
# rejects FOLDER 'PYTHON' PATTERN
rejects() {
    data "$1" "$2"
    status 1 "./$1" --data bad.json --quiet --out fit.nc
    says "$3"
    absent fit.nc
}

sampler pump
rejects pump "d['x'][3] = -1" 'x\[4\]'
rejects pump "d['x'][3] = 1.5" 'x\[4\]'
rejects pump "d['t'][2] = float('nan')" 't\[3\]'
rejects pump "d['t'][2] = float('inf')" 't\[3\]|inf'
rejects pump "d['t'] = d['t'][:5]" '\bt\b'
rejects pump "d['t'] = [d['t']]" '\bt\b'
rejects pump "d['N'] = 'ten'" '\bN\b'
rejects pump "d['N'] = [1, 2]" '\bN\b'
rejects pump "d['N'] = -3" '\bN\b'
rejects pump "d['N'] = 2.5" '\bN\b'
rejects pump "d['N'] = 1e12" 'N = 1000000000000 .* an integer of at most 2147483647'
rejects pump "del d['t']" '\bt\b'
rejects pump "d['x'] = [d['x'], d['x'][:3]]" '\bx\b'
# A negative exposure makes the rate of x[2] negative.
rejects pump "d['t'][1] = -1" 'x\[2\]|t\[2\]|lambda\[2\]|theta\[2\]'

sampler horseshoe_probit
rejects horseshoe_probit "d['y'][16] = 2" 'y\[17\]'
rejects horseshoe_probit "d['X'][1][1] = None" 'X\[2, ?2\]'

sampler radon
# An index out of range for the data.
rejects radon "d[[k for k in d if k.startswith('county')][0]][4] = 10**6" \
    'log_radon\[5\]: subscript 1 of alpha is 1000000'

# Vectors that a distribution takes must agree in length.
cat > lengths.gbm <<'M'
model {
  y[1:n] ~ dmnorm(mu[1:m], Q[,])
  mu[1:m] ~ dmnorm(zero[], Q[,])
}
M
status 0 "$GBMC" lengths.gbm -o lengths
echo '{"y": [1, 2], "n": 2, "m": 3, "zero": [0, 0, 0],
       "Q": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}' > bad.json
status 1 ./lengths --data bad.json --quiet
says 'lengths.gbm:2:3: .*mu and x of dmnorm must agree in length'

# A misspelt name, in the model or the data, and what it may be for.
cat >m.bug <<'E'
model {
  for (i in 1:Nobs) { y[i] ~ dnorm(mean.y, tau %*% 2) }
  mean.y ~ dnorm(0, 1)
  tau <- half
  half <- 0.5
}
E
status 0 "$GBMC" m.bug -o m
printf 'N.obs <- 2\ny <- c(1, 2)\n' >d.R
status 1 ./m --data d.R --quiet
says 'Nobs must be supplied.* is it N\.obs\?'
printf 'Nobs <- 2\ny <- c(1, 2)\n' >d.R
# What is settled by the data is left out of the monitors, not refused.
status 0 ./m --data d.R --monitor mean.y,half --out fit.csv
says 'note: --monitor half: left out'
status 1 ./m --data d.R --monitor half --quiet
sed 's/(mean.y,/(meany,/' m.bug >n.bug
status 0 "$GBMC" n.bug -o n
status 1 ./n --data d.R --quiet
says 'meany must be supplied.* is it mean\.y\?'
sed 's/mean.y ~ .*//' m.bug >n.bug
status 0 "$GBMC" n.bug -o n
status 1 ./n --data d.R --quiet
says 'mean\.y must be supplied.*; a parameter needs a prior$'
printf 'y <- c(1, 2)\n' >y.R
status 1 ./m --data y.R --quiet
says 'Nobs must be supplied: .* but no data file has it$'

# Values that bounds of the model, not of the distribution, exclude.
cat >cut.gbm <<'E'
model {
  for (i in 1:2) { y[i] ~ dnorm(m, 1)T(low[i], ) }
  for (i in 1:2) { z[i] ~ dexp(1)T( , m) }
  m ~ dnorm(0, 1)
}
E
status 0 "$GBMC" cut.gbm -o cut
echo '{"y": [1, 2], "z": [0.1, 0.2], "low": [0, 2.5]}' >cut.json
status 1 ./cut --data cut.json --quiet
says 'y\[2\] = 2 is outside the bounds \[2\.5, inf\] of y\[i\] ~ dnorm\(m, 1\)T\(low\[i\], \)'
echo '{"y": [1, 2], "z": [0.1, -0.2], "low": [0, 0]}' >cut.json
status 1 ./cut --data cut.json --quiet
says 'z\[2\] = -0\.2 is outside the bounds \[0, \.\.\.\] of z\[i\] ~ dexp\(1\)T\( , m\)'

# Bounds that leave nothing say so by themselves, of data and of what is drawn.
cat >none.gbm <<'E2'
model {
  for (i in 1:2) { y[i] ~ dnorm(m, 1)T(low[i], high[i]) }
  m ~ dnorm(0, 1)
  k ~ dpois(3)T(2, most)
}
E2
status 0 "$GBMC" none.gbm -o none
echo '{"y": [1, null], "low": [0, 3], "high": [2, 2.5], "most": 4}' >none.json
status 1 ./none --data none.json --quiet
says 'none.gbm:2:20: nothing is left for y\[2\] between the bounds \[3, 2\.5\] of y\[i\] ~'
echo '{"y": [1, null], "low": [0, 3], "high": [2, 4], "most": 1}' >none.json
status 1 ./none --data none.json --quiet
says 'none.gbm:4:3: nothing is left for k between the bounds \[2, 1\] of k ~'
echo '{"y": [1, null], "low": [0, 3], "high": [2, 4], "most": 2}' >none.json
status 0 ./none --data none.json --quiet --warmup 10 --draws 10
