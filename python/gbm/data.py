"""Data of Python's kinds, as a sampler reads them: JSON, and .npy for large
arrays. None, NaN, pandas' NA and masked elements are missing values; text and
categories become codes 1, 2, ..., whose labels are coordinates."""
from __future__ import annotations

import json
import math
import numbers
from dataclasses import dataclass, field
from pathlib import Path
from typing import (
    Any,
    Dict,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
)

import numpy as np

from .errors import DataError

LARGE = 20_000  # elements, from which an array is a file of its own


@dataclass
class Variable:
    """An array of numbers and what is known of its dimensions."""

    values: np.ndarray  # of float64 or int64
    missing: Optional[np.ndarray] = None  # where; None: nowhere
    dims: Optional[List[str]] = None
    coords: Dict[str, List[Any]] = field(default_factory=dict)
    levels: Optional[List[Any]] = None  # of codes


Dims = Mapping[str, Union[str, Sequence[Optional[str]]]]
Coords = Mapping[str, Sequence[Any]]


@dataclass
class Labels:
    """Names of dimensions, by variable, and the labels along them."""

    dims: Dict[str, List[Optional[str]]] = field(default_factory=dict)
    coords: Dict[str, List[Any]] = field(default_factory=dict)

    def add(self, dims: Optional[Dims], coords: Optional[Coords]) -> None:
        """What the caller says, before what data tell. Levels of data that
        are no dimension's labels go."""
        for name, given in (dims or {}).items():
            self.dims[name] = [given] if isinstance(given, str) else list(given)
        used = {d for names in self.dims.values() for d in names}
        self.coords = {k: v for k, v in self.coords.items() if k in used}
        for name, labels in (coords or {}).items():
            self.coords[name] = list(labels)

    def members(self) -> Dict[str, Any]:
        """As a sampler reads them."""
        coords = {
            k: [x if isinstance(x, str) else str(x) for x in v]
            for k, v in self.coords.items()
        }
        out = {"dims": self.dims, "coords": coords}
        return {k: v for k, v in out.items() if v}


def _is_missing(x: Any) -> bool:
    """
    >>> [_is_missing(x) for x in (None, float("nan"), 0.0, "")]
    [True, True, False, False]
    """
    if x is None:
        return True
    if isinstance(x, numbers.Real):
        return math.isnan(float(x))
    return type(x).__name__ in ("NAType", "NaTType")


def _codes(name: str, values: np.ndarray) -> Variable:
    """Text as codes, by the sorted levels, as R's factor() has them."""
    flat = values.ravel()
    gone = np.array([_is_missing(x) for x in flat], dtype=bool)
    there = flat[~gone]
    if not all(isinstance(x, str) for x in there):
        raise DataError(f"{name}: text and other values are mixed")
    levels = sorted({str(x) for x in there})
    number = {x: i + 1 for i, x in enumerate(levels)}
    codes = np.array(
        [0 if m else number[str(x)] for x, m in zip(flat, gone)], dtype=np.int64
    ).reshape(values.shape)
    gone = gone.reshape(values.shape)
    return Variable(codes, gone if gone.any() else None, levels=levels)


def _objects(name: str, values: np.ndarray) -> Variable:
    """An array of Python objects: numbers, text, what is missing."""
    flat = values.ravel()
    if any(isinstance(x, str) for x in flat):
        return _codes(name, values)
    gone = np.array([_is_missing(x) for x in flat], dtype=bool)
    for x in flat[~gone]:
        if isinstance(x, (list, tuple, np.ndarray)):
            raise DataError(
                f"{name}: rows are of different lengths; an array must be "
                "rectangular"
            )
        if not isinstance(x, (numbers.Real, np.bool_)):
            raise DataError(f"{name}: {x!r} is not a number")
    there = [x for x, m in zip(flat, gone) if not m]
    whole = all(isinstance(x, (numbers.Integral, np.bool_)) for x in there)
    kind = np.int64 if whole else np.float64
    out = np.zeros(flat.shape, dtype=kind)
    try:
        out[~gone] = [int(x) if whole else float(x) for x in there]
    except OverflowError:
        raise DataError(f"{name}: an integer is too large") from None
    gone = gone.reshape(values.shape)
    return Variable(out.reshape(values.shape), gone if gone.any() else None)


def _plain(name: str, value: Any) -> Variable:
    """A number, nested lists, or an array of NumPy's."""
    if isinstance(value, str):
        raise DataError(f"{name}: text where a number or an array is expected")
    if isinstance(value, np.ma.MaskedArray):
        v = _plain(name, value.filled())
        masked = np.ma.getmaskarray(value)
        gone = masked if v.missing is None else masked | v.missing
        return Variable(v.values, gone if gone.any() else None)
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        array = np.empty(1, dtype=object)
        array[0] = list(value)
    kind = array.dtype.kind
    if kind == "O" or (kind == "U" and not isinstance(value, np.ndarray)):
        # lists of mixed kinds: not as NumPy turns them all into text
        return _objects(name, np.array(value, dtype=object))
    if kind == "U":
        return _codes(name, array.astype(object))
    if kind in "bi" or (kind == "u" and array.dtype.itemsize < 8):
        return Variable(array.astype(np.int64))
    if kind == "u":
        if array.size and array.max() > np.iinfo(np.int64).max:
            raise DataError(f"{name}: an integer is too large")
        return Variable(array.astype(np.int64))
    if kind == "f":
        gone = np.isnan(array)
        return Variable(array.astype(np.float64), gone if gone.any() else None)
    raise DataError(f"{name}: values of type {array.dtype} are not numbers")


def _series(name: str, value: Any) -> Variable:
    """A Series of pandas'."""
    kind = type(value.dtype).__name__
    if kind == "CategoricalDtype":
        codes = np.asarray(value.cat.codes, dtype=np.int64) + 1
        gone = codes == 0
        v = Variable(
            codes,
            gone if gone.any() else None,
            levels=list(value.cat.categories),
        )
    elif value.dtype.kind in "biuf" and isinstance(value.dtype, np.dtype):
        v = _plain(name, value.to_numpy())
    elif value.dtype.kind in "Mm":
        raise DataError(f"{name}: times are not numbers; convert them")
    else:
        v = _objects(name, value.to_numpy(dtype=object))
    _add_index(v, name, 0, value.index)
    return v


def _add_index(v: Variable, name: str, axis: int, index: Any) -> None:
    """Labels of an axis, unless they only count."""
    if type(index).__name__ == "RangeIndex" or not index.is_unique:
        return
    dim = str(index.name) if index.name else f"{name}_dim_{axis}"
    if v.dims is None:
        v.dims = [f"{name}_dim_{d}" for d in range(v.values.ndim)]
    v.dims[axis] = dim
    v.coords[dim] = list(index)


def _frame(name: str, value: Any) -> Variable:
    """A DataFrame of pandas', as a matrix."""
    columns = [_series(name, value[c]) for c in value.columns]
    if any(c.levels is not None for c in columns):
        raise DataError(f"{name}: a matrix has numbers alone, no categories")
    values = np.column_stack([c.values for c in columns])
    gone = np.column_stack(
        [
            np.zeros(len(c.values), bool) if c.missing is None else c.missing
            for c in columns
        ]
    )
    v = Variable(values, gone if gone.any() else None)
    _add_index(v, name, 0, value.index)
    _add_index(v, name, 1, value.columns)
    return v


def _data_array(name: str, value: Any) -> Variable:
    """A DataArray of xarray's, with its dimensions and coordinates."""
    v = _plain(name, value.to_numpy())
    v.dims = [str(d) for d in value.dims]
    for d in value.dims:
        if d in value.coords:
            v.coords[str(d)] = list(value.coords[d].to_numpy().tolist())
    return v


def convert(name: str, value: Any) -> Variable:
    """A value of any of the kinds, as an array.

    >>> v = convert("y", [1, None, 3])
    >>> v.values, v.missing
    (array([1, 0, 3]), array([False,  True, False]))
    >>> v = convert("group", ["b", "a", "b"])
    >>> v.values, v.levels
    (array([2, 1, 2]), ['a', 'b'])
    >>> convert("y", [[1, 2], [3]])
    Traceback (most recent call last):
    ...
    gbm.errors.DataError: y: rows are of different lengths; an array must be rectangular
    """
    kind = type(value).__name__
    home = type(value).__module__.split(".")[0]
    if home == "pandas" and kind == "Series":
        return _series(name, value)
    if home == "pandas" and kind == "DataFrame":
        return _frame(name, value)
    if home == "pandas" and kind.endswith("Index"):
        return _series(name, value.to_series().reset_index(drop=True))
    if home == "pandas" and kind in ("Categorical",) or kind.endswith("Array"):
        if hasattr(value, "categories") or hasattr(value, "isna"):
            import pandas

            return _series(name, pandas.Series(value))
    if home == "xarray":
        return _data_array(name, value)
    if isinstance(value, Mapping) or isinstance(value, (set, bytes)):
        raise DataError(f"{name}: a {kind} is no array of numbers")
    return _plain(name, value)


def _json(v: Variable) -> Any:
    """Nested lists of numbers, None where missing."""

    def item(x: Any, gone: bool) -> Any:
        if gone:
            return None
        if isinstance(x, float) and math.isinf(x):
            return "Inf" if x > 0 else "-Inf"
        return x

    def nest(values: Any, gone: Any) -> Any:
        if isinstance(values, list):
            return [nest(x, g) for x, g in zip(values, gone)]
        return item(values, gone)

    gone = (
        np.zeros(v.values.shape, bool) if v.missing is None else v.missing
    )
    return nest(v.values.tolist(), gone.tolist())


@dataclass
class Prepared:
    """Data as files, and what is known of dimensions."""

    files: List[str]  # what --data takes
    variables: Dict[str, Variable]
    labels: Labels


def items_of(data: Any) -> List[Tuple[str, Any]]:
    """Names and values of a dict, a DataFrame (a vector each column) or a
    Dataset of xarray's."""
    if data is None:
        return []
    if type(data).__module__.split(".")[0] == "xarray":
        return [(str(k), data[k]) for k in data.data_vars]
    if isinstance(data, Mapping) or hasattr(data, "columns"):
        return [(str(k), data[k]) for k in data.keys()]
    raise DataError(
        f"data are a dict, a DataFrame or a Dataset, not a {type(data).__name__}"
    )


def _write_array(folder: Path, number: int, name: str, v: Variable) -> str:
    path = folder / f"array{number}.npy"
    np.save(path, np.ascontiguousarray(v.values))
    return f"{name}={path}"


def prepare(
    data: Any,
    folder: Path,
    stem: str = "data",
    dims: Optional[Dims] = None,
    coords: Optional[Coords] = None,
) -> Prepared:
    """Writes data and labels into the folder."""
    small: Dict[str, Any] = {}
    out = Prepared([], {}, Labels())
    for number, (name, value) in enumerate(items_of(data)):
        v = convert(name, value)
        out.variables[name] = v
        out.labels.coords.update(v.coords)
        if v.dims:
            out.labels.dims[name] = list(v.dims)
        if v.levels is not None:
            out.labels.coords[name] = v.levels
        if v.values.size >= LARGE and v.missing is None:
            out.files.append(_write_array(folder, number, name, v))
        else:
            small[name] = _json(v)
    out.labels.add(dims, coords)
    members = out.labels.members()
    for name in members.keys() & small.keys():
        raise DataError(f"a variable is called {name}, as are labels")
    small.update(members)
    if small or not out.files:
        path = folder / f"{stem}.json"
        path.write_text(json.dumps(small))
        out.files.insert(0, str(path))
    return out


def read_values(path: Path) -> Dict[str, np.ndarray]:
    """Arrays of a JSON file; what is null is NaN."""
    return {
        name: np.array(value, dtype=float)
        for name, value in json.loads(path.read_text()).items()
    }
