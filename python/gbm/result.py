"""Draws, as ArviZ has them, or as plain arrays where it is not installed."""
from __future__ import annotations

import importlib.util
import json
import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from .data import Labels, Prepared, Variable

GROUPS = (
    "posterior",
    "posterior_predictive",
    "prior",
    "prior_predictive",
    "log_likelihood",
    "sample_stats",
    "sample_stats_prior",
    "observed_data",
    "constant_data",
    "moments",
)


# ---- with xarray


def _open_groups(path: Path) -> Dict[str, Any]:
    import xarray

    out = {}
    for group in GROUPS:
        try:
            with xarray.open_dataset(path, group=group, decode_times=False) as d:
                out[group] = d.load()
        except (OSError, KeyError):
            continue  # there is none
    return out


def _label_listed(dataset: Any, labels: Labels) -> Any:
    """Labels of lists of cells of a vector, which the file has by number."""
    for name in list(dataset.data_vars):
        v = dataset[name]
        dims = labels.dims.get(str(name), [])
        if np.size(v.attrs.get("shape", ())) != 1 or len(dims) != 1:
            continue
        dim = dims[0]
        given = labels.coords.get(dim) if dim else None
        if given is None or dim in dataset.variables:
            continue
        own = str(v.dims[-1])
        cells = dataset[own].values
        dataset = dataset.assign_coords(
            {own: np.array([str(given[int(i)]) for i in cells])}
        ).rename({own: dim})
    return dataset


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def reads_netcdf() -> bool:
    """Whether xarray can read netCDF-4 files here. h5netcdf does not bring
    h5py with it."""
    return _has("xarray") and (
        _has("netCDF4") or (_has("h5netcdf") and _has("h5py"))
    )


def inference_data() -> Any:
    """ArviZ's class of this name before version 1, when it became another name
    of xarray's DataTree; else None."""
    import arviz
    import xarray

    found = getattr(arviz, "InferenceData", None)
    return None if found is getattr(xarray, "DataTree", None) else found


def choose_format(wanted: str) -> str:
    """What "auto" is here: ArviZ's InferenceData before version 1, then
    xarray's DataTree; without both plain arrays."""
    if wanted in ("plain", "inferencedata", "datatree"):
        return wanted
    if wanted != "auto":
        raise ValueError(
            f"format {wanted!r}: auto, inferencedata, datatree or plain is "
            "wanted"
        )
    if not reads_netcdf():
        return "plain"
    if _has("arviz") and inference_data():
        return "inferencedata"
    import xarray

    return "datatree" if hasattr(xarray, "DataTree") else "plain"


def read_xarray(path: Path, labels: Labels, wanted: str) -> Any:
    """An InferenceData or a DataTree of a netCDF file."""
    groups = {
        name: _label_listed(dataset, labels)
        for name, dataset in _open_groups(path).items()
    }
    if wanted == "inferencedata" and inference_data():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a group that it does not know
            return inference_data()(**groups)
    import xarray

    return xarray.DataTree.from_dict(groups)


# ---- without


@dataclass
class Draws:
    """Draws as arrays [chain, draw, ...], where ArviZ is not installed.

    `stats` is the summary: a dict of mean, sd, mcse, quantiles, ess_bulk,
    ess_tail and rhat for each number, "theta[1]", ....
    """

    group: str  # what they are of: posterior, prior, posterior_predictive
    variables: Dict[str, np.ndarray]
    stats: Dict[str, Dict[str, float]] = field(default_factory=dict)
    labels: Labels = field(default_factory=Labels)
    complete: bool = True

    def __getitem__(self, name: str) -> np.ndarray:
        return self.variables[name]

    def __contains__(self, name: str) -> bool:
        return name in self.variables

    def keys(self) -> List[str]:
        """The variables' names."""
        return list(self.variables)

    @property
    def posterior(self) -> Dict[str, np.ndarray]:
        """The arrays, of draws from the posterior."""
        if self.group != "posterior":
            raise AttributeError(f"these are draws of {self.group}")
        return self.variables

    def __repr__(self) -> str:
        shapes = ", ".join(f"{k} {v.shape}" for k, v in self.variables.items())
        return f"<gbm.Draws of {self.group}: {shapes}>"


_CELL = re.compile(r"^(.*)\[([\d,]+)\]$")


def _assemble(
    columns: Sequence[Tuple[str, np.ndarray]],
    known: Mapping[str, Variable],
) -> Dict[str, np.ndarray]:
    """Arrays from columns that are named by cell. What is not there is data,
    if these are known, else NaN.

    >>> x = np.ones((2, 3))
    >>> a = _assemble([("m", x), ("t[1,1]", x), ("t[2,1]", 2 * x)], {})
    >>> a["m"].shape, a["t"].shape, float(a["t"][0, 0, 1, 0])
    ((2, 3), (2, 3, 2, 1), 2.0)
    """
    cells: Dict[str, List[Tuple[Tuple[int, ...], np.ndarray]]] = {}
    for name, values in columns:
        m = _CELL.match(name)
        place = tuple(int(i) - 1 for i in m.group(2).split(",")) if m else ()
        cells.setdefault(m.group(1) if m else name, []).append((place, values))
    out = {}
    for name, found in cells.items():
        shape = tuple(int(i) + 1 for i in np.max([p for p, _ in found], axis=0))
        data = known.get(name)
        sample = found[0][1].shape
        if data is not None and data.values.ndim == len(shape):
            whole = data.values.astype(float)
            if data.missing is not None:
                whole[data.missing] = np.nan
            array = np.broadcast_to(whole, sample + whole.shape).copy()
        else:
            array = np.full(sample + shape, np.nan)
        for place, values in found:
            array[(...,) + place] = values
        out[name] = array
    return out


def read_plain(
    stem: Path,
    summary: Optional[Path],
    group: str,
    data: Prepared,
) -> Draws:
    """Draws of CODA's files, STEMindex.txt, STEMchain1.txt, ...."""
    index = [
        line.rsplit(" ", 2)
        for line in Path(f"{stem}index.txt").read_text().splitlines()
        if not line.startswith("#")  # what is said of the run
    ]
    chains = []
    number = 1
    while (path := Path(f"{stem}chain{number}.txt")).exists():
        text = path.read_text()
        chains.append(np.array(text.split()[1::2], dtype=float))
        number += 1
    columns = [
        (
            name,
            np.stack([c[int(first) - 1 : int(last)] for c in chains]),
        )
        for name, first, last in index
    ]
    told = json.loads(summary.read_text()) if summary else {}
    return Draws(
        group,
        _assemble(columns, data.variables),
        told.get("parameters", {}),
        data.labels,
        bool(told.get("complete", True)),
    )
