"""Scripts as people write them, whose results are known."""
import runpy
from pathlib import Path

import pytest

import gbm
from gbm.result import reads_netcdf

SCRIPTS = sorted(
    p
    for p in (Path(__file__).parent / "workflows").glob("*.py")
    if p.stem != "checking"
)


class Quick(gbm.Model):
    """Compiled quickly."""

    def __init__(self, model, **options):
        super().__init__(model, compiler_options=["-O1"], **options)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_workflow(script, monkeypatch):
    if "arviz" in script.read_text() and not reads_netcdf():
        pytest.skip("xarray cannot read netCDF-4 here")
    monkeypatch.setattr(gbm, "Model", Quick)
    try:
        runpy.run_path(str(script))
    except ModuleNotFoundError as e:
        if e.name not in ("arviz", "pandas", "xarray"):
            raise
        pytest.skip(f"no {e.name}")
