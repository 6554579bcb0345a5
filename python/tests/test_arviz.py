"""Draws as ArviZ and xarray have them."""
import numpy as np
import pytest

import gbm
from conftest import QUICK
from gbm.result import inference_data, reads_netcdf

xr = pytest.importorskip("xarray")
if not reads_netcdf():
    pytest.skip("neither h5netcdf with h5py nor netCDF4", allow_module_level=True)

if hasattr(xr, "DataTree"):
    KINDS = ["datatree", "inferencedata"]
else:
    KINDS = ["inferencedata"]


def group(fit, name):
    found = fit[name]
    return found.to_dataset() if hasattr(found, "to_dataset") else found


@pytest.fixture(params=KINDS)
def kind(request):
    if request.param == "inferencedata":
        pytest.importorskip("arviz")
        if not inference_data():
            pytest.skip("this ArviZ has DataTrees")
    return request.param


def test_groups(line, kind, tmp_path):
    model, data = line
    path = tmp_path / "fit.nc"
    fit = model.sample(
        data,
        draws=200,
        log_lik=True,
        format=kind,
        save=path,
        dims={"mu": "site", "y": ["site"]},
        coords={"site": list("abcdefgh")},
        **QUICK,
    )
    posterior = group(fit, "posterior")
    assert posterior["mu"].dims == ("chain", "draw", "site")
    assert posterior["alpha"].shape == (4, 200)
    assert posterior.attrs["complete"] == 1
    plain = model.sample(data, draws=200, format="plain", **QUICK)
    assert np.array_equal(posterior["mu"].values, plain["mu"])
    assert np.array_equal(
        posterior["mu"].sel(site="c").values, plain["mu"][..., 2]
    )
    # five cells: the one that is missing has no likelihood
    assert group(fit, "log_likelihood")["site"].values.tolist() == list("abcdfgh")
    assert group(fit, "observed_data")["y"].dims == ("site",)
    assert "x" in group(fit, "constant_data")
    assert "lp" in group(fit, "sample_stats")
    assert path.stat().st_size > 1000


def test_labels_of_data(kind):
    pd = pytest.importorskip("pandas")
    model = gbm.Model(
        """model {
          for (i in 1:N) { y[i] ~ dnorm(mu[i], 1)  mu[i] <- theta[g[i]] }
          for (k in 1:K) { theta[k] ~ dnorm(0, 0.01) }
        }""",
        compiler_options=["-O1"],
    )
    frame = pd.DataFrame(
        {"y": [9.0, 1.1, 0.9, 9.2], "g": ["hi", "lo", "lo", "hi"]}
    )
    data = {**frame, "N": 4, "K": 2}
    fit = model.sample(data, dims={"theta": "g"}, format=kind, **QUICK)
    theta = group(fit, "posterior")["theta"].mean(("chain", "draw"))
    assert float(theta.sel(g="hi")) == pytest.approx(9.1 / 1.005, abs=0.1)
    assert float(theta.sel(g="lo")) == pytest.approx(1.0, abs=0.1)
    with pytest.raises(gbm.GbmError, match="dims: 2 named for theta"):
        model.sample(data, dims={"theta": ["g", "h"]}, format=kind, **QUICK)
    with pytest.raises(gbm.GbmError, match="k has 3 labels, but dimension 1 of theta"):
        model.sample(
            data, dims={"theta": "k"}, coords={"k": "abc"}, format=kind, **QUICK
        )
    fit = model.sample(data, coords={"K": ["p", "q"]}, format=kind, **QUICK)
    theta = group(fit, "posterior")["theta"]  # by its size in the model
    assert theta["K"].values.tolist() == ["p", "q"]


def test_simulated(line, kind):
    model, data = line
    prior = model.simulate({**data, "y": [None] * 8}, draws=20, format=kind)
    assert group(prior, "prior")["mu"].shape == (4, 20, 8)
    assert group(prior, "prior_predictive")["y"].shape == (4, 20, 8)
    new = model.simulate(data, posterior=True, draws=20, format=kind)
    assert group(new, "posterior_predictive")["y"].shape == (4, 20, 8)


def test_formats():
    with pytest.raises(ValueError, match="plain is wanted"):
        gbm.Model("model { x ~ dnorm(0, 1) }").sample(format="tree", **QUICK)
