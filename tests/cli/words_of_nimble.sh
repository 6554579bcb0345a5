#!/usr/bin/env bash
# What NIMBLE's models say in its own words: parametrisations that a value of an
# argument chooses (dmnorm's prec_param), R's Inf as an end, %%, chol, pmin, pmax.
source "$GBM_ROOT/tests/cli/lib"
command -v python3 >/dev/null || exit 77

# means A B: both spellings are one model.
means() {
    echo "nimbleCode({ $1 })" >a.bug
    echo "nimbleCode({ $2 })" >b.bug
    for m in a b; do
        status 0 "$GBMC" --emit=dag "$m.bug"
        sed 's/^family.*//' .out >"$m.said"
    done
    same a.said b.said
}
rest='; U[1:3,1:3] ~ dlkj_corr_cholesky(1.5, 3)'
means "y[1:3] ~ dmnorm(m[1:3], cholesky = U[1:3,1:3], prec_param = 0)$rest" \
    "y[1:3] ~ dmnorm(m[1:3], cov = crossprod(U[1:3,1:3]))$rest"
means "y[1:3] ~ dmnorm(m[1:3], cholesky = U[1:3,1:3], prec_param = FALSE)$rest" \
    "y[1:3] ~ dmnorm(m[1:3], cov = crossprod(U[1:3,1:3]))$rest"
means "y[1:3] ~ dmnorm(m[1:3], cholesky = U[1:3,1:3], prec_param = TRUE)$rest" \
    "y[1:3] ~ dmnorm(m[1:3], prec = crossprod(U[1:3,1:3]))$rest"
means "y[1:3] ~ dmnorm(m[1:3], cholesky = U[1:3,1:3])$rest" \
    "y[1:3] ~ dmnorm(m[1:3], prec = crossprod(U[1:3,1:3]))$rest"
means "y[1:3] ~ dmvt(m[1:3], cholesky = U[1:3,1:3], df = 4, prec_param = 0)$rest" \
    "y[1:3] ~ dmvt(m[1:3], scale = crossprod(U[1:3,1:3]), df = 4)$rest"
means "W[1:3,1:3] ~ dwish(cholesky = U[1:3,1:3], df = 4, scale_param = 0)$rest" \
    "W[1:3,1:3] ~ dwish(R = crossprod(U[1:3,1:3]), df = 4)$rest"
means "W[1:3,1:3] ~ dinvwish(cholesky = U[1:3,1:3], df = 4)$rest" \
    "W[1:3,1:3] ~ dinvwish(S = crossprod(U[1:3,1:3]), df = 4)$rest"
means "s ~ T(dt(0, 1, 3), 0, +Inf); y ~ dnorm(0, sd = s)" \
    "s ~ T(dt(0, 1, 3), 0, ); y ~ dnorm(0, sd = s)"
means "s ~ T(dnorm(0, 1), -Inf, 2); y ~ dnorm(s, 1)" \
    "s ~ T(dnorm(0, 1), , 2); y ~ dnorm(s, 1)"

# a value that chooses is a number, or TRUE or FALSE
echo 'nimbleCode({ y[1:3] ~ dmnorm(m[], cholesky = U[,], prec_param = p) })' >p.bug
status 1 "$GBMC" p.bug -o p
says 'arguments of dmnorm are .*\(mean, cholesky, prec_param = 0\)'

cat >f.bug <<'END2'
nimbleCode({
  x ~ dnorm(0, sd = 3)
  y ~ dnorm(x, sd = 3)
  rest <- x %% 2
  down <- (-x) %% -2
  twice <- 3 * x %% 2
  for (i in 1:3) { for (j in 1:3) { B[i,j] <- A[i,j] * exp(x) } }
  U[1:3,1:3] <- chol(B[1:3,1:3])
  C[1:3,1:3] <- t(U[1:3,1:3]) %*% U[1:3,1:3]
  off <- max(abs(C[1:3,1:3] - B[1:3,1:3])) / exp(x) + abs(U[3,1]) + abs(U[2,1])
  v[1:3] <- pmin(A[1:3,1], x) + pmax(A[1,1:3], x)
})
END2
echo '{"A": [[2, 0.5, -1], [0.5, 3, 0.4], [-1, 0.4, 1.5]], "y": 1}' >f.json
status 0 "$GBMC" -O1 f.bug -o f
status 0 ./f --data f.json --quiet --draws 50 --warmup 50 --chains 2 \
    --monitor x,rest,down,twice,off,v --digits 17 --out f.csv
python3 - <<'END2' || fail 'values'
import csv, math
n = 0
for k in (1, 2):
    lines = [l for l in open(f"f_{k}.csv") if not l.startswith("#")]
    for r in csv.DictReader(lines):
        g = {k: float(v) for k, v in r.items()}
        x = g["x"]
        assert math.isclose(g["rest"], x % 2, abs_tol=1e-12), g
        assert math.isclose(g["down"], -x % -2, abs_tol=1e-12), g
        assert math.isclose(g["twice"], 3 * (x % 2), abs_tol=1e-12), g
        assert 0 <= g["off"] < 1e-13, g
        for j, a in enumerate((2, 0.5, -1), 1):
            assert math.isclose(g[f"v.{j}"], min(a, x) + max(a, x)), g
        n += 1
assert n == 100
END2
