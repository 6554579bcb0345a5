#!/usr/bin/env bash
# Effects are multiplied by a number that their scale is divided by: the joint
# distribution stays what it is, of few effects, of each column of a table, of
# chains and vectors; host and device draw the same; what is data stays.
source "$GBM_ROOT/tests/cli/lib"

cat >few.gbm <<'E'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(mu + sigma * e[g[i]] + inprod(b[g[i],], x[i,])
                 + rho * f[g[i]] + om * z[g[i]], 1)
  }
  for (j in 1:J) {
    e[j] ~ dnorm(0.3, 1.5)
    for (k in 1:2) {
      b[j,k] <- s[k] * h[k,j]
      h[k,j] ~ dnorm(0, 1)
    }
  }
  f[1] ~ dnorm(0, 1)
  for (t in 2:J) { f[t] ~ dnorm(0.5 * f[t-1], 1) }
  z[1:J] ~ dmnorm(zero[], Q[,])
  for (k in 1:2) { s[k] ~ dt(0, 4, 5)T(0,) }
  mu ~ dnorm(0, 4)
  sigma ~ dunif(0.1, 1.5)
  rho ~ dnorm(0.5, 6)
  om ~ dexp(2)
}
E
echo '{"N": 12, "J": 3, "g": [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3],
  "x": [[0.5, 1], [-0.2, 0.3], [0.1, -0.6], [0.4, 0.2], [0.9, -0.4], [-0.7, 0],
    [0.3, 0.3], [0.2, -0.1], [-0.5, 0.8], [0, 0.6], [0.1, 0.1], [0.6, -0.9]],
  "y": [1, 0, 2, 1, 3, 0, 0, 1, 1, 2, 0, 1], "zero": [0, 0, 0],
  "Q": [[2, -0.5, 0], [-0.5, 2, -0.5], [0, -0.5, 2]]}' >few.json
status 0 "$GBMC" --explain few.gbm
[ "$(grep -c 'opposite scales' .out)" = 4 ] || fail "not four moves"
status 0 "$GBMC" -O 1 few.gbm -o few
status 0 ./few check --data few.json
[ "$(grep -c 'common scale .*pass' .out)" = 4 ] || fail "not all checked"
status 0 ./few geweke --data few.json --draws 4000

# Nodes of an array that are read by their numbers, of a plate and of statements
# of their own.
sed 's/\<sigma ~.*/for (k in 2:3) { w[k-1] ~ dunif(0.1, top[k]) }/; s/\<mu +/w[1] + mu +/
     s/\<sigma\>/w[2]/; s/\<rho\>/r[1]/; s/\<om\>/r[2]/' few.gbm >numbers.gbm
sed 's/"N"/"top": [9, 0.7, 1.5], "N"/' few.json >numbers.json
status 0 "$GBMC" --explain numbers.gbm
prints '^[0-9]+ +e, w .* opposite scales'
[ "$(grep -c 'opposite scales' .out)" = 4 ] || fail "not four moves by numbers"
prints 'e, w: multiplied by a number that w\[2\] is divided by'
status 0 "$GBMC" -O 1 numbers.gbm -o numbers
status 0 ./numbers check --data numbers.json
[ "$(grep -c 'common scale .*pass' .out)" = 4 ] || fail "not all checked by numbers"
status 0 ./numbers geweke --data numbers.json --draws 4000
moves() { # HOW MANY SED
    sed "$2" numbers.gbm >other.gbm
    cmp -s numbers.gbm other.gbm && fail "nothing is other: $2"
    status 0 "$GBMC" --explain other.gbm
    [ "$(grep -c 'opposite scales' .out)" = "$1" ] || fail "not $1 moves: $2"
}
moves 3 's/w\[2\] \* e/w[which[i]] * e/'
moves 3 's/^  mu ~.*/&  for (i in 1:J) { v[i] ~ dnorm(e[i] \/ w[which[i]], 1) }/'
moves 3 's/^  mu ~.*/&  for (k in 1:2) { v[k] ~ dnorm(w[k], 1) }/'
moves 3 's/^  mu ~.*/&  v ~ dnorm(sum(w[]), 1)/'
moves 4 's/^  mu ~.*/&  v ~ dnorm(w[1], 1)/'

# Where an effect or the node is data, or no statement draws it, nothing moves.
cat >held.gbm <<'E'
model {
  for (i in 1:6) { y[i] ~ dpois(exp(sigma * e[k[i]])) }
  for (j in 1:3) { e[row[j]] ~ dnorm(0, 1) }
  sigma ~ dexp(1)
}
E
status 0 "$GBMC" -O0 held.gbm -o held
for more in '"e": [0.4, null, 0.2, null]' '"sigma": 0.7, "e": [null, null, 0.1, null]' \
    '"e": [null, null, 0.3, null]'; do
    echo '{"k": [1, 2, 3, 4, 1, 2], "row": [1, 2, 4], "y": [0, 1, 1, 0, 2, 1],' \
        "$more}" >data.json
    status 0 ./held check --data data.json
    grep -q 'e, sigma .*it never moved' .out || fail "moves: $more"
    status 0 ./held --data data.json --draws 20 --quiet
done

# Warm-up tells whether a move pays: of effects that the data say little of,
# sigma and the effects are drawn well without; much said ties them.
cat >pays.gbm <<'E'
model {
  for (j in 1:8) {
    y[j] ~ dnorm(sigma * e[j], precision)
    e[j] ~ dnorm(0, 1)
  }
  sigma ~ dexp(1)
}
E
status 0 "$GBMC" --emit=c pays.gbm
mv .out pays.c
for sees in pass learn; do # both see the scale by its logarithm
    grep -q "gbm_carried_$sees(tuning, adapting, real_log(real_fabs(" pays.c ||
        fail "$sees: another measure of the scale"
done
# without the moves behind warm-up
sed 's/gbm_carried_pays(tuning, adapting, true)/(adapting > 0 \&\& &)/' \
    pays.c >off.c
cmp -s pays.c off.c && fail "nothing tells whether a move pays"
for program in pays off; do
    compile_c $program.c $program
    for precision in 0.1 1000; do
        echo '{"y": [1, 0.2, -1.3, 2, -0.4, 0.6, 1.7, -0.9],' \
            "\"precision\": $precision}" >data.json
        status 0 ./$program --data data.json --device cpu --quiet --draws 50 \
            --out draws.csv
        grep -v '^#' draws_1.csv >$program.$precision
    done
done
cmp -s pays.0.1 off.0.1 || fail "moves that do not pay"
cmp -s pays.1000 off.1000 && fail "moves that pay are left out"

# A device's draws are the host's, step by step and in one kernel.
device_draws_as_host few few.json
