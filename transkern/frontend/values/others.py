"""Arrays with ways of their own (labels, masks, rows of different lengths), and what to pass instead.

They are refused, as a function of them does something else than one of plain arrays: pandas and xarray align by labels,
a pandas standard deviation divides by n - 1, masks hide elements. Where that does not matter, the plain array costs no
copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def instead_of(name: str, value: Any) -> str:
    """What to pass in place of an argument that is not taken."""
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    if isinstance(value, np.ma.MaskedArray):
        both = f"{name}.data and np.ma.getmaskarray({name})"
        return f"pass what it is without its mask, {name}.filled(0), or both, {both}"
    if isinstance(value, np.ndarray):
        return "pass it as a plain array: np.asarray(a)"
    match library, kind.__name__:
        case "pandas", "DataFrame":
            return f"pass its columns, which costs no copy: f({name}['a'].to_numpy())"
        case "pandas" | "polars", _:
            return f"pass the array in it: {name}.to_numpy(); labels and missing values are the caller's affair"
        case "xarray", "Dataset":
            return f"pass its variables: f({name}['a'].data), or xarray.apply_ufunc(f, {name}['a'])"
        case "xarray", _:
            return (
                f"xarray.apply_ufunc(f, {name}) calls it with the array and keeps dims and coordinates "
                f"(input_core_dims= where the function needs a whole axis), or pass {name}.data"
            )
        case "awkward", _:
            return (
                f"pass ak.to_numpy({name}) where its rows are of one length, else its numbers and their counts: "
                f"ak.to_numpy(ak.flatten({name})), ak.to_numpy(ak.num({name}))"
            )
        case "dask", _:
            return f"transkern.dask.apply(f, {name}) computes it in chunks; f({name}.compute()) at once"
        case _ if hasattr(kind, "__dlpack__"):
            return f"pass its memory as NumPy's, without a copy: np.from_dlpack({name})"
        case _:
            return "convert it to an array with np.asarray outside the compiled function"
