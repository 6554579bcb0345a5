#!/usr/bin/env bash
# A name that is given and never has brackets has the shape that it has in the
# data named at compilation; so a text without brackets is the one with them.
source "$GBM_ROOT/tests/cli/lib"

cat >bare.gbm <<'E'
model {
  eta <- a + b * x + u
  for (i in 1:n) {
    y[i] ~ dpois(exp(eta[i]))
    u[i] ~ dnorm(0, 4)
  }
  q <- t(v) %*% S %*% v
  z ~ dnorm(b * q[1,1], 1)
  a ~ dnorm(0, 1)
  b ~ dnorm(0, 1)
}
E
sed 's/\* x/* x[]/; s/t(v)/t(v[])/; s/\* v/* v[]/; s/\* S/* S[,]/' bare.gbm >brackets.gbm
cat >data.json <<'E'
{"n": 3, "x": [-1, 0, 2], "y": [1, 0, 4], "v": [1, 2], "S": [[2, 1], [1, 3]], "z": 5}
E
status 0 "$GBMC" bare.gbm --data data.json -o bare
status 0 "$GBMC" brackets.gbm -o brackets
for s in bare brackets; do
    status 0 ./$s --data data.json --draws 50 --quiet --out $s.csv
done
for s in bare brackets; do grep -v "^#" ${s}_2.csv >$s.draws; done
same bare.draws brackets.draws

# a single number stays one, and takes no array
echo '{"n": 3, "x": 2, "y": [1, 0, 4], "S": [[2, 1], [1, 3]], "z": 5, "v": [1, 2]}' >one.json
status 0 "$GBMC" bare.gbm --data one.json -o one
status 0 ./one --data one.json --draws 5 --quiet --out one.csv
status 1 ./one --data data.json --quiet --out no.csv
says 'x is a single number in the model'
says 'x\[\].* or name the data when'
absent no_1.csv

# a square in the expression changes nothing of who has its shape
cat >power.gbm <<'E'
model {
  for (i in 1:n) {
    lambda[i, 1:J] <- K * exp(-x[i, 1:J]^2 / 2)
    for (j in 1:J) { y[i, j] ~ dpois(b * lambda[i, j]) }
  }
  b ~ dgamma(1, 1)
}
E
echo '{"n": 2, "J": 3, "K": 4, "x": [[1, 0, 2], [0, 1, 1]], "y": [[1, 3, 0], [4, 2, 2]]}' >power.json
status 0 "$GBMC" power.gbm -o power
status 0 ./power --data power.json --draws 5 --quiet --out power.csv

# no rows of a matrix are [], as JSON has them; a row that is read is missed
echo '{"n": 0, "J": 3, "K": 4, "x": [], "y": []}' >none.json
status 0 ./power --data none.json --draws 5 --quiet --out none.csv
echo '{"n": 1, "J": 3, "K": 4, "x": [], "y": [[1, 3, 0]]}' >missed.json
status 1 ./power --data missed.json --quiet --out missed.csv
says 'subscript 1 of x is 1, but its extent is 0'
echo '{"n": 1, "J": 3, "K": 4, "x": [[1, 0, 2]], "y": []}' >missed.json
status 1 ./power --data missed.json --quiet --out missed.csv
says 'y has extent 0 in dimension 1'
