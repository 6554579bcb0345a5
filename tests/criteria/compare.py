"""LOO and WAIC of the eight models, as the sampler told them, beside those of
ArviZ, of either kind, from the same draws: to 1e-8. ArviZ 1 has no WAIC; before,
variances have n, of draws for WAIC and of observations for errors, where those
here, of R's loo and of ArviZ 1 have n - 1.

  compare.py FOLDER   with NAME.nc (draws), NAME.json (summary)"""
import glob
import json
import math
import os
import sys
import warnings

import arviz as az
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def near(a, b, what):
    a, b = np.asarray(a, float), np.asarray(b, float)
    assert a.shape == b.shape and np.all(np.abs(a - b) < 1e-8), (what, a, b)


def first(found, *names):
    return next(getattr(found, n) for n in names if hasattr(found, n))


def efficiency(r_eff, draws):
    """One of which ArviZ takes as many draws for the tail as R's loo, and ArviZ
    before 1, do of r_eff: the next integer, where ArviZ 1 takes the last."""
    if hasattr(az, "waic"):
        return r_eff
    tail = math.ceil(min(0.2 * draws, 3 * (draws / r_eff) ** 0.5))
    return 9 * draws / (tail + 0.5) ** 2


def compare(name, folder):
    with open(f"{folder}/{name}.json", encoding="utf-8") as f:
        told = json.load(f)
    loo = told["loo"]
    own = list(loo["observations"].values())
    fit = az.from_netcdf(f"{folder}/{name}.nc")
    old = hasattr(az, "waic")
    if not old: # it fails where all draws of one say the same
        own = [o for o in own if o["pareto_k"] is not None]
        drop_constant(fit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if old:
            waic = az.waic(fit, pointwise=True)
            draws = told["chains"] * told["draws"]
            more = np.array([o["p_waic"] for o in own]) / draws
            each = np.ravel(waic.waic_i) - more
            near(waic.elpd_waic - sum(more), told["waic"]["elpd"], "elpd_waic")
            near(waic.p_waic + sum(more), told["waic"]["p"], "p_waic")
            near(math.sqrt(len(each)) * np.std(each, ddof=1), told["waic"]["se"],
                 "its standard error")
        r = az.loo(fit, pointwise=True, reff=efficiency(
            loo["r_eff"], told["chains"] * told["draws"]))
    assert r.n_data_points == len(own) >= 5, r
    near(np.ravel(first(r, "loo_i", "elpd_i")), [o["elpd"] for o in own], "elpd_i")
    k = np.ravel(r.pareto_k)
    finite = [o["pareto_k"] is not None for o in own]
    near(k[finite], [o["pareto_k"] for o in own if o["pareto_k"] is not None], "k")
    if len(own) == len(loo["observations"]):
        near(first(r, "elpd_loo", "elpd"), loo["elpd"], "elpd_loo")
        grown = math.sqrt(len(own) / (len(own) - 1)) if old else 1
        near(r.se * grown, loo["se"], "its standard error")
    print(f"{name}: elpd_loo {loo['elpd']:.3f}, p_loo {loo['p']:.3f}, "
          f"se {loo['se']:.3f}")


def drop_constant(fit):
    group = fit["log_likelihood"].to_dataset()
    (name, values), = group.data_vars.items()
    own = [d for d in values.dims if d not in ("chain", "draw")]
    if len(own) == 1:
        over = ("chain", "draw")
        moves = (values.max(over) > values.min(over)).values
        fit["log_likelihood"] = type(fit)(group.isel({own[0]: moves}))


names = sorted(os.path.basename(f)[:-4] for f in glob.glob(f"{HERE}/*.bug"))
assert len(names) == 8, names
for n in names:
    compare(n, sys.argv[1])
print("eight models: LOO", "and WAIC" if hasattr(az, "waic") else
      "(this ArviZ has no WAIC)", "as ArviZ", az.__version__, "has them")
