#!/usr/bin/env bash
# z[i] <- log(y[i]) beside z[i] ~ dnorm(mu, tau), as BUGS has it, is a statement
# of data { } (syntax/transform.c): the same draws. What reads a node is none,
# nor is an array of which other elements are computed.
source "$GBM_ROOT/tests/cli/lib"

cat >apart.gbm <<'E'
data {
  for (i in 1:N) { for (j in 1:2) { z[i, j] <- log(y[i, j]) - m } }
  k <- round(w)
}
model {
  for (i in 1:N) { for (j in 1:2) { z[i, j] ~ dnorm(mu[j], tau) } }
  for (j in 1:2) { mu[j] ~ dnorm(0, 0.01) }
  k ~ dpois(tau)
  tau ~ dgamma(1, 1)
}
E
cat >beside.gbm <<'E'
model {
  for (i in 1:N) { for (j in 1:2) { z[i, j] <- log(y[i, j]) - m } }
  for (i in 1:N) { for (j in 1:2) { z[i, j] ~ dnorm(mu[j], tau) } }
  for (j in 1:2) { mu[j] ~ dnorm(0, 0.01) }
  k <- round(w)
  k ~ dpois(tau)
  tau ~ dgamma(1, 1)
}
E
echo '{"N": 4, "m": 0.5, "w": 2.2, "y": [[1.5, 2], [3, 0.4], [2.2, 5], [0.7, 1]]}' >data.json
for model in apart beside; do
    status 0 "$GBMC" -O 1 $model.gbm -o $model
    status 0 ./$model --data data.json --draws 50 --quiet --out $model.csv --chains 1
    found=$(ls $model*.csv)
    grep -v '^#' "$found" >$model.draws
done
exists apart.draws
same apart.draws beside.draws

cat >parts.gbm <<'E'
model {
  for (t in 1:2) { x[t] ~ dnorm(0, 1) }
  for (t in 3:4) { x[t] <- w[t] }
  for (t in 1:4) { y[t] ~ dnorm(x[t], 1) }
}
E
status 0 "$GBMC" --emit=dag parts.gbm
prints '^stochastic x'

cat >twice.gbm <<'E'
model {
  for (i in 1:N) { z[i] ~ dnorm(mu, 1); z[i] <- y[i] + mu }
  mu ~ dnorm(0, 1)
}
E
status 1 "$GBMC" twice.gbm -o twice
says 'z is defined twice'

# not the same loops: not data that the distribution has
cat >others.gbm <<'M'
model {
  for (i in 1:3) { z[i] <- 2 * i }
  for (i in 1:n) { z[i] ~ dnorm(mu, 1) }
  mu ~ dnorm(0, 1)
}
M
echo '{"n": 5}' >others.json
status 0 "$GBMC" -O 0 others.gbm -o others
status 1 ./others --data others.json --quiet --out others.csv
says 'z\[1\] is defined twice'
