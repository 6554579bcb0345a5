"""Models: what comes back, and what goes wrong."""
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import gbm
from checking import assert_mean
from conftest import QUICK, ROOT, compiled
from gbm import programs


def test_syntax_errors_have_their_place():
    with pytest.raises(gbm.CompileError) as e:
        gbm.Model("model {\n  y ~ dnorm(mu,, 1)\n}")
    first = e.value.errors[0]
    assert (first.file, first.line, first.column) == ("model.gbm", 2, 16)
    assert "^" in str(e.value)


def test_unknown_names_are_told():
    model = gbm.Model("model { y ~ dnrom(0, 1) }")
    with pytest.raises(gbm.CompileError, match="dnorm"):
        model.explain()


def test_plain(line):
    model, data = line
    fit = model.sample(data, format="plain", draws=500, thin=2, chains=3, **QUICK)
    assert set(fit.keys()) == {"alpha", "beta", "tau", "mu", "y"}
    assert fit["mu"].shape == (3, 250, 8)
    assert (fit["y"][..., 1] == 4.9).all()  # data in their places
    assert fit["y"][..., 4].std() > 0.1  # what is missing is drawn
    mu = fit["alpha"] + fit["beta"] * data["x"][2]
    assert np.allclose(mu, fit["mu"][..., 2], rtol=1e-12)  # all digits
    assert fit.stats["beta"]["mean"] == pytest.approx(fit["beta"].mean())
    assert fit.complete and fit.posterior is fit.variables
    again = model.sample(
        data, format="plain", draws=500, thin=2, chains=3, monitor=["beta"], **QUICK
    )
    assert again.keys() == ["beta"]
    assert (again["beta"] == fit["beta"]).all()  # the same seed


def test_init_and_options(line):
    model, data = line
    init = [{"tau": 4.0}, {"tau": 0.01}]
    run = dict(format="plain", chains=2, warmup=0, draws=1, **QUICK)
    one = model.sample(data, init=init, monitor="beta", **run)
    two = model.sample(data, init=init[0], monitor="beta", **run)
    assert one["beta"][0] == two["beta"][0]
    assert one["beta"][1] != two["beta"][1]
    with pytest.raises(gbm.RunError, match="did you mean --chains") as e:
        model.sample(data, options=["--chain"], **QUICK)
    assert e.value.status == 1


def test_bad_data(line):
    model, data = line
    with pytest.raises(gbm.GbmError, match=r"x is 3, but its extent is 2"):
        model.sample({**data, "x": [1, 2]}, **QUICK)
    with pytest.raises(gbm.GbmError, match="N.*needed|N.*suppl|N.*given"):
        model.sample({"x": [1, 2]}, **QUICK)


def test_simulate(line):
    model, data = line
    given = {"N": 8, "x": data["x"]}
    prior = model.simulate(given, format="plain", draws=100)
    assert prior.group == "prior" and prior["y"].shape == (4, 100, 8)
    assert_mean(prior["tau"], 20)
    predicted = model.simulate(data, posterior=True, format="plain", draws=500)
    assert predicted["y"].shape == (4, 500, 8)
    assert_mean(predicted["y"][..., 1], 5.05, 0.1)


def test_predict(line, tmp_path):
    model, data = line
    path = tmp_path / "fit.nc"
    model.sample(data, draws=300, save=path, monitor="alpha,beta,tau", **QUICK)
    new = {"N": 2, "x": np.array([0.0, 100.0])}
    found = model.simulate(
        new, fit=path, format="plain", options=["--monitor", "mu"]
    )
    assert found["mu"].shape == (4, 300, 2)


def test_optimize_and_check(line):
    model, data = line
    mode = model.optimize(data)
    x, y = data["x"], data["y"]
    there = ~np.isnan(y)
    slope = np.polyfit(x[there], y[there], 1)[0]
    assert mode["beta"] == pytest.approx(slope, rel=1e-4)
    assert "log posterior density" in repr(mode)
    check = model.check(data)
    assert check and "pass" in repr(check)


def test_sbc(tmp_path):
    model = gbm.Model("model { y ~ dnorm(m, 1)  m ~ dnorm(0, 1) }")
    found = model.sbc(
        {"y": 0.0}, replicates=60, draws=19, options=["--device", "cpu"]
    )
    assert found and "m" in repr(found)
    assert found.ranks["m"].shape == (60,)
    assert 0 <= found.ranks["m"].min() < 6 and 13 < found.ranks["m"].max() <= 19
    assert abs(found.ranks["m"].mean() - 9.5) < 4 * 5.8 / 60**0.5
    found.save(tmp_path / "sbc.json")
    assert (tmp_path / "sbc.json").stat().st_size > 100
    with pytest.raises(gbm.RunError, match="absent"):
        gbm.Model("model { y ~ dnorm(absent, 1) }").sbc({"y": 0.0})


def test_report(line, tmp_path):
    model, data = line
    fit, page = tmp_path / "fit.nc", tmp_path / "fit.html"
    model.sample(data, format="plain", draws=100, save=fit, **QUICK)
    try:
        import matplotlib  # noqa: F401
        import netCDF4  # noqa: F401
    except ImportError:
        with pytest.raises(gbm.RunError, match="gbm report needs"):
            model.report(fit, page)
        assert not page.exists()
        return
    assert model.report(fit, page) == page
    assert "beta" in page.read_text()
    with pytest.raises(gbm.RunError, match="absent.nc"):
        model.report(tmp_path / "absent.nc", page)


def test_explain_and_dag(line, tmp_path):
    model, data = line
    assert "Gaussian block" in model.explain(data)
    assert repr(model.explain()) == str(model.explain())
    graph = model.dag()
    assert "digraph" in graph.dot
    graph.save(tmp_path / "x.dot")
    assert (tmp_path / "x.dot").read_text() == graph.dot
    if graph.svg is not None:
        assert "<svg" in graph._repr_svg_()


def test_large_arrays_are_files(tmp_path):
    model = compiled(
        """model {
          for (i in 1:N) { y[i] ~ dnorm(mu, 1) }
          mu ~ dnorm(0, 1.0E-6)
        }"""
    )
    y = np.random.default_rng(1).normal(3, 1, 30000)
    fit = model.sample({"N": y.size, "y": y}, format="plain", **QUICK)
    assert_mean(fit["mu"], y.mean())


def test_paths(tmp_path):
    path = tmp_path / "a model.bug"
    path.write_text("model { p ~ dbeta(a, 1) }")
    fit = compiled(path).sample({"a": 3}, format="plain", **QUICK)
    assert_mean(fit["p"], 0.75)
    with pytest.raises(FileNotFoundError):
        gbm.Model("absent.gbm")
    with pytest.raises(gbm.CompileError, match="is not a model file"):
        gbm.Model(__file__)


def test_executables(monkeypatch, tmp_path):
    monkeypatch.setenv("GBM_HOME", str(tmp_path))
    with pytest.raises(gbm.NotFoundError, match="GBM_HOME"):
        programs.compiler()
    monkeypatch.setenv("GBM_HOME", str(ROOT))
    assert programs.compiler() == str(ROOT / "build" / "gbmc")
    monkeypatch.delenv("GBM_HOME")
    assert os.access(programs.compiler(), os.X_OK)


INTERRUPTED = """
import sys, warnings, gbm
warnings.simplefilter("error", ResourceWarning)
m = gbm.Model("model { x ~ dnorm(0, 1) }", compiler_options=["-O1"])
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    fit = m.sample(chains=2, draws=2_000_000_000, thin=100000, device="cpu",
                   format="plain")
assert any(issubclass(w.category, gbm.IncompleteWarning) for w in told), told
assert not fit.complete and fit["x"].shape[1] > 0
print("kept", fit["x"].shape[1])
"""


def test_interrupt_keeps_the_draws(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        start_new_session=True,
    )
    for line in process.stderr:  # until it samples
        if line.startswith("warm-up"):
            break
    time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out.startswith("kept")


def test_nothing_is_left(line):
    model, data = line
    model.sample(data, format="plain", draws=10, warmup=10, **QUICK)
    folder = model._folder
    assert os.path.isdir(folder)
    model._finalizer()
    assert not os.path.exists(folder)
