"""Draws, as ArviZ has them, or as plain arrays where it is not installed."""
from __future__ import annotations

import importlib.util
import json
import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from .data import Variable
from .errors import GbmError

Dims = Mapping[str, Union[str, Sequence[str]]]
Coords = Mapping[str, Sequence[Any]]

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


@dataclass
class Labels:
    """Names of dimensions, by variable, and the labels along them."""

    dims: Dict[str, List[str]] = field(default_factory=dict)
    coords: Dict[str, List[Any]] = field(default_factory=dict)

    @staticmethod
    def of(
        known: Mapping[str, Sequence[str]],
        known_coords: Coords,
        dims: Optional[Dims],
        coords: Optional[Coords],
    ) -> "Labels":
        """What data tell, and what the caller says."""
        all_dims = {k: list(v) for k, v in known.items()}
        for name, given in (dims or {}).items():
            all_dims[name] = [given] if isinstance(given, str) else list(given)
        all_coords = {**known_coords, **(coords or {})}
        return Labels(all_dims, {k: list(v) for k, v in all_coords.items()})


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


def _along(cells: np.ndarray, given: Optional[List[Any]], told: str) -> Any:
    """The labels of cells that are counted from 0."""
    if given is None:
        return cells
    if cells.size and int(cells.max()) >= len(given):
        raise GbmError(
            f"coords: {len(given)} labels for {told}, which has "
            f"{int(cells.max()) + 1} elements"
        )
    return np.array([given[int(i)] for i in cells])


def _label_variable(v: Any, name: str, labels: Labels, taken: Dict[str, Any]) -> Any:
    """Dimensions x_dim_0, ... of x under the names that are given, with their
    labels. Of a list of some cells only if no other variable is in the way."""
    own = [str(d) for d in v.dims if d not in ("chain", "draw")]
    listed = "shape" in v.attrs  # by cell
    dims = labels.dims.get(name, own)
    if listed and (np.size(v.attrs["shape"]) != 1 or len(dims) != 1):
        return v
    if len(own) != len(dims):
        raise GbmError(
            f"dims of {name}: {len(dims)} named ({', '.join(dims)}), and it "
            f"has {len(own)}"
        )
    for old, new in zip(own, dims):
        index = _along(v[old].values, labels.coords.get(new), f"{new} ({name})")
        if not listed and new in labels.coords:
            if len(labels.coords[new]) != len(index):
                raise GbmError(
                    f"coords: {len(labels.coords[new])} labels for {new}, and "
                    f"{name} has {len(index)} elements along it"
                )
        if not np.array_equal(taken.setdefault(new, index), index):
            if listed:
                continue
            raise GbmError(f"dims: {new} is of another length for {name}")
        if old != new:
            v = v.rename({old: new})
        v = v.assign_coords({new: index})
    return v


def _label(dataset: Any, labels: Labels) -> Any:
    import xarray

    taken: Dict[str, Any] = {}
    order = sorted(dataset.data_vars, key=lambda n: "shape" in dataset[n].attrs)
    done = {
        name: _label_variable(dataset[name], name, labels, taken)
        for name in order
    }
    return xarray.Dataset(
        {name: done[name] for name in dataset.data_vars}, attrs=dataset.attrs
    )


def _engine() -> bool:
    return any(
        importlib.util.find_spec(m) for m in ("netCDF4", "h5netcdf")
    )


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


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
    if not (_has("xarray") and _engine()):
        return "plain"
    if _has("arviz"):
        import arviz

        if hasattr(arviz, "InferenceData"):
            return "inferencedata"
    import xarray

    return "datatree" if hasattr(xarray, "DataTree") else "plain"


def read_xarray(path: Path, labels: Labels, wanted: str) -> Any:
    """An InferenceData or a DataTree of a netCDF file."""
    groups = {
        name: _label(dataset, labels)
        for name, dataset in _open_groups(path).items()
    }
    if wanted == "inferencedata":
        import arviz

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a group that it does not know
            return arviz.InferenceData(**groups)
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
    known: Mapping[str, Variable],
    labels: Labels,
) -> Draws:
    """Draws of CODA's files, STEMindex.txt, STEMchain1.txt, ...."""
    index = [
        line.rsplit(" ", 2)
        for line in Path(f"{stem}index.txt").read_text().splitlines()
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
        _assemble(columns, known),
        told.get("parameters", {}),
        labels,
        bool(told.get("complete", True)),
    )
