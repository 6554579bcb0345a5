#!/usr/bin/env bash
# The groups of netCDF files: what is simulated is no posterior, data anew are
# apart from parameters. The names are ArviZ's.
source "$GBM_ROOT/tests/cli/lib"
export PYTHONPATH=$GBM_ROOT/tests/cli

cat >model.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dnorm(mu + b * x[i], tau) }
  mu ~ dnorm(0, 0.01)
  b ~ dnorm(0, 0.01)
  tau ~ dgamma(2, 2)
  sigma <- 1 / sqrt(tau)
}
E
echo '{"N": 4, "x": [1, 2, 3, 4], "y": [1.1, null, 2.7, 4.2]}' >data.json
status 0 "$GBMC" -O 0 model.gbm -o model
go() {
    status 0 ./model "$@" --data data.json --quiet --warmup 10 --draws 20 \
        --chains 2 --device cpu
}
go run --lp --out fit.nc
go simulate --lp --out prior.nc
go simulate --posterior --out new.nc
go simulate --posterior --monitor mu,y --out both.nc
python3 - <<'E' || fail "groups"
import netcdf

sample = {"chain": 2, "draw": 20}
shape = dict(sample, y_dim_0=4)
own = lambda g: {n for n in g if n not in g[n][0]}
data = {"observed_data", "constant_data"}

fit = netcdf.read("fit.nc")
assert set(fit) == {"posterior", "sample_stats"} | data, set(fit)
assert own(fit["posterior"]) == {"mu", "b", "tau", "sigma", "y"}
assert fit["posterior"]["y"][0] == shape

prior = netcdf.read("prior.nc")
assert set(prior) == {"prior", "prior_predictive", "sample_stats_prior",
                      "constant_data"}, set(prior)
assert own(prior["prior"]) == {"mu", "b", "tau", "sigma"}
assert own(prior["prior_predictive"]) == {"y"}
assert prior["prior"]["mu"][0] == sample
assert prior["prior_predictive"]["y"][0] == shape

new = netcdf.read("new.nc")
assert set(new) == {"posterior_predictive"} | data, set(new)
assert own(new["posterior_predictive"]) == {"y"}
both = netcdf.read("both.nc")
assert own(both["posterior"]) == {"mu"}
assert both["posterior_predictive"] == new["posterior_predictive"]
E
# Read back, whatever the groups.
for file in fit prior new both; do
    status 0 ./model summary $file.nc
    prints '^y\['
    status 0 ./model summary $file.nc --quiet --out again.nc
    python3 -c '
import netcdf, sys
a, b = netcdf.read(sys.argv[1]), netcdf.read("again.nc")
for g in set(a) - {"constant_data", "observed_data"}:
    assert a[g] == b[g], g' $file.nc || fail "$file.nc read back"
done
