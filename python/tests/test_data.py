"""Data of all kinds, as they are handed to a sampler."""
import json

import numpy as np
import pytest

import gbm
from gbm.data import LARGE, convert, prepare


def written(tmp_path, data):
    prepared = prepare(data, tmp_path)
    return json.loads((tmp_path / "data.json").read_text()), prepared


def test_numbers(tmp_path):
    found, _ = written(
        tmp_path,
        {
            "n": np.int32(3),
            "flag": True,
            "x": np.array([[1.5, np.nan], [np.inf, 1e-300]]),
            "u": np.arange(3, dtype=np.uint8),
            "t": (1, 2.5, None),
            "b": np.array([True, False]),
            "none": None,
            "m": np.ma.masked_array([1, 2, 3], mask=[0, 1, 0]),
            "empty": [],
        },
    )
    assert found == {
        "n": 3,
        "flag": 1,
        "x": [[1.5, None], ["Inf", 1e-300]],
        "u": [0, 1, 2],
        "t": [1.0, 2.5, None],
        "b": [1, 0],
        "none": None,
        "m": [1, None, 3],
        "empty": [],
    }
    assert isinstance(found["u"][0], int)


def test_digits_are_kept(tmp_path):
    x = np.array([0.1, 1 / 3, 2**53 - 1.0])
    assert written(tmp_path, {"x": x})[0]["x"] == x.tolist()


def test_order_of_memory_does_not_matter(tmp_path):
    x = np.arange(6.0).reshape(2, 3)
    found, _ = written(tmp_path, {"x": np.asfortranarray(x), "y": x.T})
    assert found == {"x": x.tolist(), "y": x.T.tolist()}
    large = np.arange(2.0 * LARGE).reshape(2, LARGE)
    prepared = prepare({"z": large.T}, tmp_path)
    path = prepared.files[0].partition("=")[2]
    assert (np.load(path) == large.T).all()


def test_text_becomes_codes(tmp_path):
    found, prepared = written(tmp_path, {"g": np.array(["b", "a", "b"])})
    assert found == {"g": [2, 1, 2]}
    assert prepared.variables["g"].levels == ["a", "b"]
    found = prepare(
        {"g": ["b", "a"]}, tmp_path, dims={"m": "g", "n": ["k", None]}, coords={"k": [1]}
    )
    assert json.loads((tmp_path / "data.json").read_text()) == {
        "g": [2, 1],
        "dims": {"m": ["g"], "n": ["k", None]},
        "coords": {"g": ["a", "b"], "k": ["1"]},
    }
    with pytest.raises(gbm.DataError, match="called dims"):
        prepare({"dims": 1}, tmp_path, dims={"m": "g"})


@pytest.mark.parametrize(
    "value, told",
    [
        ([[1, 2], [3]], "different lengths"),
        (["a", 1], "mixed"),
        ("abc", "text"),
        ({"a": 1}, "no array"),
        (1j, "not numbers"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "not numbers"),
        ([2**70], "too large"),
        ([object()], "not a number"),
    ],
)
def test_what_is_refused(value, told):
    with pytest.raises(gbm.DataError, match=told) as e:
        convert("theta", value)
    assert "theta" in str(e.value)


def test_data_are_named():
    with pytest.raises(gbm.DataError, match="not a list"):
        prepare([1, 2], None)


def test_pandas(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "y": [1.5, None, 3.0],
            "k": pd.array([1, None, 3], dtype="Int64"),
            "g": pd.Categorical(["lo", "hi", None], categories=["lo", "hi"]),
            "s": ["x", "z", "x"],
            "b": [True, False, True],
        }
    )
    found, prepared = written(tmp_path, frame)
    assert found == {
        "y": [1.5, None, 3.0],
        "k": [1, None, 3],
        "g": [1, 2, None],
        "s": [1, 2, 1],
        "b": [1, 0, 1],
    }
    assert prepared.variables["g"].levels == ["lo", "hi"]
    assert prepared.variables["s"].levels == ["x", "z"]
    assert prepared.labels.members() == {}


def test_index_gives_labels(tmp_path):
    pd = pytest.importorskip("pandas")
    y = pd.Series([1.0, 2.0], index=pd.Index(["A", "B"], name="school"))
    m = pd.DataFrame([[1, 2, 3], [4, 5, None]], columns=["a", "b", "c"])
    found, prepared = written(tmp_path, {"y": y, "m": m})
    assert found == {
        "y": [1.0, 2.0],
        "m": [[1, 2, 3], [4, 5, None]],
        "dims": {"y": ["school"], "m": ["m_dim_0", "m_dim_1"]},
        "coords": {"school": ["A", "B"], "m_dim_1": ["a", "b", "c"]},
    }
    with pytest.raises(gbm.DataError, match="times"):
        convert("t", pd.Series(pd.to_datetime(["2020-01-01"])))


def test_xarray(tmp_path):
    xr = pytest.importorskip("xarray")
    a = xr.DataArray(
        [[1.0, np.nan]], dims=("row", "col"), coords={"col": ["p", "q"]}
    )
    found, prepared = written(tmp_path, xr.Dataset({"a": a}))
    assert found == {
        "a": [[1.0, None]],
        "dims": {"a": ["row", "col"]},
        "coords": {"col": ["p", "q"]},
    }
