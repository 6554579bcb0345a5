#!/usr/bin/env python3
"""Writes criteria_values.h: what ArviZ 0.22 (NumPy 2.2) makes of draws that
test_criteria.c makes, too.

    pip install 'arviz<0.23'; criteria_values.py | clang-format > criteria_values.h
"""
import warnings

import arviz as az
import numpy as np
from arviz.stats.stats import _gpdfit

warnings.simplefilter("ignore")
CHAINS, DRAWS, Y = 4, 250, [0.3, -1.1, 2.9, 0.0, 1.4, 5.2, -0.2]
state = 12345


def uniform():
    global state
    state = (state * 1103515245 + 12345) % 2 ** 31
    return (state % 10007 + 0.5) / 10007


def draws():
    """mu: an autoregression; its log likelihoods."""
    mu = np.empty((CHAINS, DRAWS))
    for c in range(CHAINS):
        x = 0.0
        for i in range(DRAWS):
            x = 0.5 * x + uniform() + uniform() + uniform() - 1.5
            mu[c, i] = x
    y = np.array(Y)
    return mu, -0.3 * (y - mu[..., None]) ** 2 - 0.25


def put(name, values):
    values = np.atleast_1d(values)
    body = ",\n    ".join(f"{float(v)!r}" for v in values)
    print(f"static const double {name}[{len(values)}] = {{\n    {body}}};")


mu, log_lik = draws()
fit = az.from_dict({"mu": mu}, log_likelihood={"y": log_lik})
loo, waic = (f(fit, pointwise=True) for f in (az.loo, az.waic))
other = az.from_dict({"mu": mu}, log_likelihood={"y": log_lik * 0.75 - 0.1})
table = az.compare({"a": fit, "b": other}, ic="loo")
tail = np.sort(np.exp(3 * np.array([uniform() for _ in range(60)])) - 1)
print("/* Written by criteria_values.py. */")
put("arviz_mu", [mu[0, 0], mu[3, 249]])
put("arviz_fit", _gpdfit(tail))
put("arviz_loo", [loo.elpd_loo, loo.se, loo.p_loo])
put("arviz_loo_i", loo.loo_i.values)
put("arviz_k", loo.pareto_k.values)
put("arviz_waic", [waic.elpd_waic, waic.se, waic.p_waic])
put("arviz_waic_i", waic.waic_i.values)
put("arviz_good_k", [loo.good_k])
put("arviz_difference", [table.elpd_diff.max(), table.dse.max()])
