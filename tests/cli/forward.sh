#!/usr/bin/env bash
# Forward draws whose parameters allow none: simulate fails and names the node
# and its statement; among draws of the posterior they are NaN, of counts too,
# and the run says so when all is written.
source "$GBM_ROOT/tests/cli/lib"

echo '{"y": [-1, 0, 1]}' >y.json
for last in 'z ~ dnorm(0, mu)' 'z ~ dpois(mu)' 'z ~ dbin(mu, 3)'; do
    cat >model.gbm <<END
model {
  for (i in 1:3) { y[i] ~ dnorm(mu, 1) }
  mu ~ dnorm(0, 0.001)
  $last
}
END
    status 0 "$GBMC" model.gbm -o model
    status 2 ./model simulate --data y.json --draws 30 --chains 2 --out a.csv
    says 'model.gbm:4:3: z, draw [0-9]+ of chain [12], is not a number'
    says "${last//[()]/.}"
    absent a.csv
    status 2 ./model --data y.json --device cpu --draws 100 --out b.csv
    says "^failed: [0-9]+ draws are not a number, the first z, draw"
    prints '1 quantity had a draw that is not a number \(z\)'
    cat b*.csv | grep -q 2147483648 && fail "a count is no number: -2147483648"
    rm -f b*.csv
done

# What a statement computes from forward draws, in an array of which others are
# drawn, is older than they are after a sweep: the joint test leaves it.
cat >beside.gbm <<'EOF'
model {
  v[1] ~ dbeta(1, 1)
  v[2] <- p
  p <- a * b
  b ~ dnorm(a, 1)
  a ~ dunif(-1.4, 2)
}
EOF
echo '{"v": [0.2, null]}' >beside.json
status 0 "$GBMC" beside.gbm -o beside
status 0 ./beside geweke --data beside.json --draws 1000
exit 0
