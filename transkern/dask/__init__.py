"""Compiled functions on dask's arrays: `apply` cuts where a function's text allows it, and says why where it does not.

Needs ``pip install 'transkern[dask]'``.
"""

from __future__ import annotations

import importlib.util

if importlib.util.find_spec("dask") is None:
    raise ModuleNotFoundError("transkern.dask needs dask: pip install 'transkern[dask]'", name="dask")

from transkern.dask.applying import apply
from transkern.dask.plans import explain

__all__ = ["apply", "explain"]
