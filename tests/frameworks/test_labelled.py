"""Arrays with labels, masks and ragged rows: refused with what to pass instead, which works, and costs no copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import optional, require

require("cc")


def standardised(x: Any) -> Any:
    return (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True)


def waves(x: Any) -> Any:
    return np.sin(x) * 2


compiled = {f: transkern.compile(f) for f in (standardised, waves)}


def refused(value: Any, told: str, function: Any = waves) -> None:
    with pytest.raises(transkern.CompileError, match=told) as caught:
        compiled[function](value)
    assert caught.value.kind.code == "TK1302"


def test_masked_arrays() -> None:
    x = np.ma.array([1.0, 2.0, 4.0], mask=[False, False, True])
    refused(x, r"without its mask, x\.filled\(0\), or both, x\.data and np\.ma\.getmaskarray\(x\)")
    mean = transkern.compile(lambda x, mask: x[~mask].mean())
    assert mean(x.data, np.ma.getmaskarray(x)) == x.mean()


def test_pandas() -> None:
    pd = optional("pandas")
    frame = pd.DataFrame({"a": np.arange(4.0), "b": np.arange(4)})
    refused(frame["a"], r"x\.to_numpy\(\); labels and missing values")
    refused(frame, r"f\(x\['a'\]\.to_numpy\(\)\)")
    refused(frame.index, r"x\.to_numpy\(\)")
    frame["c"] = compiled[standardised](frame["a"].to_numpy())
    np.testing.assert_allclose(frame["c"], standardised(np.arange(4.0)))
    assert np.shares_memory(frame["a"].to_numpy(), frame["a"].to_numpy())
    with pytest.warns(UserWarning, match="runs in NumPy"):
        found = transkern.compile(lambda s: s[1:] - s[:-1], fallback="numpy")(frame["a"])
    assert isinstance(found, pd.Series) and np.isnan(found.iloc[0])  # by labels, as pandas has it


def test_xarray() -> None:
    xr = optional("xarray")
    x = xr.DataArray(np.arange(6.0).reshape(2, 3), dims=("place", "time"), coords={"place": [10, 20]}, name="x")
    refused(x, r"xarray\.apply_ufunc\(f, x\)(.|\n)*input_core_dims")
    refused(xr.Dataset({"x": x}), r"xarray\.apply_ufunc\(f, x\['a'\]\)")
    xr.testing.assert_allclose(xr.apply_ufunc(compiled[waves], x), np.sin(x) * 2)
    found = xr.apply_ufunc(compiled[standardised], x, input_core_dims=[["time"]], output_core_dims=[["time"]])
    assert found.dims == ("place", "time") and found.coords["place"].values.tolist() == [10, 20]
    np.testing.assert_allclose(found, standardised(x.values))


def test_awkward() -> None:
    ak = optional("awkward")
    x = ak.Array([[1.0, 2.0], [], [3.0]])
    refused(x, r"ak\.to_numpy\(ak\.flatten\(x\)\), ak\.to_numpy\(ak\.num\(x\)\)")

    def totals(values: Any, counts: Any) -> Any:
        made, start = np.zeros(len(counts)), 0
        for k, count in enumerate(counts):
            made[k] = values[start : start + count].sum()
            start += count
        return made

    found = transkern.compile(totals)(ak.to_numpy(ak.flatten(x)), ak.to_numpy(ak.num(x)))
    assert found.tolist() == ak.sum(x, axis=1).tolist()
    regular = ak.Array(np.ones((2, 3)))
    assert compiled[waves](ak.to_numpy(regular)).shape == (2, 3)
