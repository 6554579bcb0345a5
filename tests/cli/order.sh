#!/usr/bin/env bash
# The graph of elements where only the data show it: cycles and second
# definitions are reported; what is computed in turns is computed in order.
source "$GBM_ROOT/tests/cli/lib"

# model TEXT DATA: compiles it into ./m
model() {
    printf '%s\n' "$1" >m.gbm
    printf '%s\n' "$2" >m.json
    status 0 "$GBMC" m.gbm -o m
}
rejects() { # TEXT DATA PATTERN
    model "$1" "$2"
    status 1 ./m --data m.json --quiet --out fit.nc
    says "$3"
    absent fit.nc
}
# draws VARIABLES 'PYTHON ON d': each draw, a dictionary, is as it should be
draws() {
    status 0 ./m check --data m.json
    status 0 ./m --data m.json --quiet --chains 1 --warmup 5 --draws 20 \
        --monitor "$1" --out fit.csv
    python3 - "$2" <<'PY' || fail "draws of $1"
import csv, sys
with open("fit_1.csv") as f:
    rows = list(csv.DictReader(r for r in f if not r.startswith("#")))
assert len(rows) == 20
for row in rows:
    d = {k: float(v) for k, v in row.items()}
    near = lambda a, b: abs(a - b) < 1e-6 * (1 + abs(b))
    assert eval("(" + sys.argv[1] + ")"), d
PY
}

# cycles
printf 'model {\n a ~ dnorm(b, 1)\n b ~ dnorm(c, 1)\n c <- a + 1\n}\n' >c.gbm
status 1 "$GBMC" c.gbm -o c
says 'c\.gbm:2:2: error: a cycle in the graph: a depends on itself \(a <- c <- b <- a\)'
absent c
rejects 'model { for (i in 1:N) { x[i] ~ dnorm(x[adj[i]], 1) } }' \
    '{"N": 3, "adj": [2, 3, 1]}' \
    'm\.gbm:1:26: a cycle in the graph: x\[1\] depends on itself \(x\[1\] <- x\[2\] <- x\[3\] <- x\[1\]\)'
rejects 'model { for (i in 1:N) { x[i] ~ dnorm(y[adj[i]], 1)
                                  y[i] <- 2 * x[i] } }' \
    '{"N": 2, "adj": [2, 1]}' 'x\[1\] <- x\[2\] <- x\[1\]'
rejects 'model { x[1] ~ dnorm(x[N], 1)
                 for (i in 2:N) { x[i] ~ dnorm(x[i-1], 1) } }' \
    '{"N": 3}' 'm\.gbm:1:9: a cycle .*x\[1\] <- x\[3\] <- x\[2\] <- x\[1\]'
rejects 'model { for (i in 1:N) { x[i] ~ dnorm(sum(x[1:N]), 1) } }' '{"N": 2}' \
    'x\[.\] depends on itself'
rejects 'model { for (i in 1:N) { c[i] <- c[adj[i]] + 1
                                  y[i] ~ dnorm(c[i], 1) } }' \
    '{"N": 2, "adj": [2, 1], "y": [1, 2]}' 'c\[1\] <- c\[2\] <- c\[1\]'
rejects 'model { for (i in 1:N) { x[i] ~ dnorm(x[2], 1) } }' '{"N": 3}' \
    'x\[2\] depends on itself \(x\[2\] <- x\[2\]\)'
rejects 'model { for (i in 1:N) { x[i] ~ dnorm(x[adj[i]], 1) } }' \
    '{"N": 3, "adj": [2, 3, 3]}' 'x\[3\] <- x\[3\]'
# the same statement without a cycle
model 'model { x[1] ~ dnorm(0, 1)
               for (i in 2:N) { x[i] ~ dnorm(x[adj[i]], 1) } }' \
    '{"N": 4, "adj": [0, 1, 1, 2]}'
status 0 ./m check --data m.json
status 1 ./m --data <(echo '{"N": 4, "adj": [0, 1, 4, 3]}') --quiet
says 'x\[3\] <- x\[4\] <- x\[3\]'

# second definitions
printf 'model {\n a ~ dnorm(0, 1)\n a <- 3 * b\n b ~ dnorm(0, 1)\n}\n' >c.gbm
status 1 "$GBMC" c.gbm -o c
says 'c\.gbm:3:2: error: a is defined twice'
says 'c\.gbm:2:2: note: the first definition is here'
absent c
rejects 'model { for (i in 1:N) { x[i] ~ dnorm(0, 1) }
                 x[3] ~ dnorm(2, 1) }' '{"N": 3}' \
    'm\.gbm:2:18: x\[3\] is defined twice: by .* at m\.gbm:1:26'
rejects 'model { for (i in 1:N) { x[g[i]] ~ dnorm(0, 1) } }' \
    '{"N": 3, "g": [1, 2, 1]}' 'x\[1\] is defined twice by x\[g\[i\]\]'
rejects 'model { for (i in 1:N) { x ~ dnorm(0, 1) } }' '{"N": 2}' \
    "x is defined twice by .*; in a loop it needs the loop's subscript"
rejects 'model { for (i in 1:N) { m[i] <- i }
                 m[2] <- 3
                 y ~ dnorm(m[2], 1) }' '{"N": 3, "y": 1}' \
    'm\[2\] is defined twice'
# a data block and the model may both define a node
model 'data { for (i in 1:N) { y[i] <- log(x[i]) } }
       model { for (i in 1:N) { y[i] ~ dnorm(m, 1) }
               m ~ dnorm(0, 1) }' '{"N": 2, "x": [1, 2]}'
status 0 ./m --data m.json --quiet --draws 20 --warmup 20

# orders: backwards, in turns, through a permutation
model 'model { for (i in 1:(N-1)) { x[i] <- x[i+1] + 1 }
               x[N] <- 5
               y ~ dnorm(x[1], 1.0E8) }' '{"N": 4}'
draws y 'abs(d["y"] - 8) < 0.01'
model 'model { for (i in 1:(N-1)) { x[i] <- x[i+1] + 1 }
               x[N] <- a
               a ~ dnorm(5, 1)
               y ~ dnorm(x[1], 1) }' '{"N": 4, "y": 9}'
draws a,x 'near(d["x.1"], d["a"] + 3) and near(d["x.3"], d["a"] + 1)'
model 'model { for (t in 2:T) {
                   S[t] <- S[t-1] - b * S[t-1] * I[t-1]
                   I[t] <- I[t-1] + b * S[t-1] * I[t-1] - g * I[t-1]
                   cases[t] ~ dpois(100 * I[t]) }
               S[1] <- 0.9
               I[1] <- 0.1
               b ~ dunif(0, 2)
               g ~ dunif(0, 1) }' \
    '{"T": 5, "cases": [null, 14, 18, 21, 22]}'
draws b,g,S,I 'all(near(d["S.%d" % t], d["S.%d" % (t-1)] * (1 - d["b"] *
    d["I.%d" % (t-1)])) and near(d["I.%d" % t], d["I.%d" % (t-1)] * (1 + d["b"]
    * d["S.%d" % (t-1)] - d["g"])) for t in range(2, 6))'
model 'model { for (i in 1:N) { v[i] <- 2 * v[p[i]] }
               v[N+1] <- a / 2
               a ~ dnorm(0, 1)
               y ~ dnorm(v[1], 1) }' \
    '{"N": 4, "p": [3, 4, 2, 5], "y": 4}'
draws a,v 'near(d["v.4"], d["a"]) and near(d["v.2"], 2 * d["a"]) and
    near(d["v.3"], 4 * d["a"]) and near(d["v.1"], 8 * d["a"])'
model 'model { for (i in 1:N) { y[i] ~ dnorm(u[i,2], 1)
                                u[i,1] <- low
                                u[i,2] ~ dnorm(u[i,1], 1) }
               low <- half / 2
               half <- 0.5 }' '{"N": 2, "y": [1, 2]}'
draws u 'd["u.1.2"] != 0'

# what is read must be defined, or given
rejects 'model { mu[3] <- z
                 z ~ dnorm(0, 1)
                 for (i in 1:N) { y[i] ~ dnorm(mu[i], 1) } }' \
    '{"N": 3, "y": [1, 2, 3]}' \
    'm\.gbm:3:35: mu\[1\] is read here for y\[1\], but no statement'
rejects 'model { x[1] ~ dnorm(0, 1)
                 for (t in 3:N) { x[t] ~ dnorm(x[t-1], 1) } }' '{"N": 4}' \
    'x\[2\] is read here for x\[3\]'
rejects 'model { for (i in 1:2) { m[3,i] ~ dnorm(0, 1) }
                 for (k in 2:3) { y[k] ~ dnorm(sum(m[k,]), 1) } }' \
    '{"y": [null, 2, 3]}' 'm\[2,1\] is read here for y\[2\]'
rejects 'data { w[1] <- 2 * x[1]
                w[3] <- 2 * x[3] }
         model { m ~ dnorm(0, 1)
                 for (i in 1:3) { y[i] ~ dnorm(m * w[i], 1) } }' \
    '{"x": [1, 2, 3], "y": [1, 2, 3]}' 'w\[2\] is read, but no statement'
model 'model { for (t in 3:N) { x[t] ~ dnorm(x[t-1] + x[k[t]], 1) }
               k[3] ~ dcat(p[])
               for (t in 4:N) { k[t] <- 3 } }' \
    '{"N": 4, "x": [1, 2, null, null], "p": [0.5, 0.5]}'
status 0 ./m check --data m.json

# Two arrays, one computed and one whose first element is drawn, that feed each
# other, with the later element first.
model 'model { e[4] <- 3 - a[3]
               e[2] <- 2 * a[1]
               a[3] <- e[2] + 1
               a[1] ~ dnorm(0, 1)
               y ~ dnorm(e[4], 1) }' '{"y": 2}'
draws a,e 'near(d["e.2"], 2 * d["a.1"]) and near(d["a.3"], d["e.2"] + 1) and
    near(d["e.4"], 3 - d["a.3"])'

# Two arrays whose elements feed each other by statements of one element each:
# a[1], then p[2] from a[1], then a[2] from p[2]. Each draw obeys the statements,
# and the posterior is that of the weights written out.
cat >stick.gbm <<'END'
model {
  for (i in 1:2) { v[i] ~ dbeta(2, 3) }
  a[1] <- v[1]
  for (i in 2:2) { a[i] <- a[i-1] + p[i] }
  p[3] <- 1 - sum(p[1:2])
  for (i in 2:2) { p[i] <- v[i] * (1 - a[i-1]) }
  p[1] <- v[1]
  y ~ dbin(a[2], 10)
  new ~ dnorm(p[2], 1)
}
END
echo '{"y": 3}' >stick.json
status 0 "$GBMC" -O0 stick.gbm -o stick
status 0 ./stick --data stick.json --quiet --digits 12 --draws 50 --warmup 20 \
    --out stick.csv
python3 - <<'PY' || fail "stick: draws that break the statements"
import csv
for row in csv.DictReader(l for l in open("stick_1.csv") if l[0] != "#"):
    x = {k: float(v) for k, v in row.items()}
    assert abs(x["p.2"] - x["v.2"] * (1 - x["a.1"])) < 1e-9, row
    assert abs(x["a.2"] - x["a.1"] - x["p.2"]) < 1e-9, row
    assert abs(x["p.3"] - 1 + x["p.1"] + x["p.2"]) < 1e-9, row
PY
