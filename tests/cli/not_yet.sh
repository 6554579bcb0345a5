#!/usr/bin/env bash
# What no sampler can do yet, where only the data show it, is refused when they
# are read.
source "$GBM_ROOT/tests/cli/lib"

# model TEXT: compiled into ./m
model() {
    printf '%s\n' "$1" >m.bug
    status 0 "$GBMC" m.bug -o m
}
# refuses DATA PATTERN
refuses() {
    printf '%s\n' "$1" >d.R
    status 1 ./m --data d.R --quiet --out fit.nc
    says "$2"
    absent fit.nc
}

# A chain of sums: each inner node is in two.
model 'model {
  for (i in 1:2) { w[i] ~ dsum(u[i], u[i+1]) }
  for (i in 1:3) { u[i] ~ dnorm(0, 1) }
}'
refuses 'w <- c(1, 2)' 'm.bug:2:20: .*u\[2\] is in several observed sums'
printf 'w <- c(1, NA)\n' >d.R
status 0 ./m --data d.R --quiet

# Sums at two places of the model.
model 'model {
  for (i in 1:3) { x[i] ~ dpois(4) }
  a ~ dsum(x[1], x[2])
  b ~ dsum(x[2], x[3])
}'
refuses 'a <- 7
b <- 9' 'm.bug:4:3: .*x\[2\] is in several observed sums .see m.bug:3:3'
printf 'a <- 7\nb <- 9\nx <- c(NA, 3, NA)\n' >d.R
status 0 ./m --data d.R --quiet

# A latent vector of counts can be drawn, and is not taken for a normal block
# though the density of its child is quadratic.
model 'model {
  x ~ dsample(p, 2)
  y ~ dnorm(inprod(x, v), 1)
}'
printf '%s\n' 'p <- c(0.2, 0.3, 0.5, 0.1)' 'v <- c(1, 2, 3, 4)' 'y <- 4.2' >d.R
status 0 ./m check --data d.R
prints '^x +slice by component .* pass$'

# One of two numbers: observed or predicted, but no sampler would leave the one
# that a latent one is at.
model 'model {
  p ~ dbeta(1, 1)
  for (i in 1:3) { x[i] ~ dpick(p, 2.5, 4); y[i] ~ dnorm(x[i], 1) }
}'
refuses 'x <- c(4, NA, 4)
y <- c(3, 3, 3)' 'm.bug:3:20: .*x\[2\] has no data, and what values it may have'
printf 'x <- c(4, NA, 4)\ny <- c(3, NA, 3)\n' >d.R
status 0 ./m --data d.R --quiet --warmup 100 --draws 100
printf 'y <- c(3, 3, 3)\n' >d.R
status 0 ./m simulate --data d.R --out prior.nc

# A sum, or the interval that a number lies in, that is not observed but read by
# others: its parents could not move without it. Where its parents are data, or
# all is drawn from the prior, it is drawn like others.
cat >settled.gbm <<'M'
model {
  for (i in 1:2) { a[i] ~ dnorm(0, 1) }
  s ~ dsum(a[1], a[2])
  y ~ dnorm(s, 1)
  k ~ dinterval(t, c[])
  z ~ dnorm(k, 1)
  t ~ dnorm(0, 1)
}
M
status 0 "$GBMC" -O 0 settled.gbm -o settled
echo '{"c": [-0.5, 0.5], "y": 1, "t": 0}' >sum.json
status 1 ./settled --data sum.json --device cpu --draws 10
says 'settled.gbm:3:3: not supported yet: s has no data, though other nodes'
echo '{"c": [-0.5, 0.5], "s": 1, "z": 1}' >interval.json
status 1 ./settled --data interval.json --device cpu --draws 10
says 'settled.gbm:5:3: not supported yet: k has no data'
echo '{"c": [-0.5, 0.5], "s": 1, "z": 1, "t": 0}' >known.json
status 0 ./settled --data known.json --device cpu --draws 10 --quiet
status 0 ./settled simulate --data sum.json --device cpu --draws 10 --quiet
