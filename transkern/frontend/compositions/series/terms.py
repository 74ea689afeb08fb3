"""What all series begin with."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.frontend.compositions.primitives import refuse


def coefficients(c: Any, x: Any, tensor: Any, like: bool) -> Any:
    """Those of one series, as floats or complex numbers; if `like`, they must have the type of the values."""
    if isinstance(x, np.ndarray) and np.ndim(tensor) > 0:
        refuse("a flag `tensor=` that is an array", "write tensor=True or tensor=False")
    c = np.atleast_1d(c)
    if c.ndim > 1:
        refuse("the values of several series at once", "call it for each")
    c = c if c.dtype.kind in "fc" else c.astype(np.float64)
    if like and c.shape[0] > 2 and np.result_type(c, x) != c.dtype:
        refuse("coefficients of a smaller type than the values of their series", "convert them with .astype first")
    return c


def filled(x: Any, value: Any) -> Any:
    """A value for each of `x`."""
    return value if np.ndim(x) == 0 else np.full(np.shape(x), value)
