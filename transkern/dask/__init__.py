"""Compiled functions on dask's arrays: `apply` cuts where a function's text allows it, and says why where it does not.

Needs ``pip install 'transkern[dask]'``.
"""

from __future__ import annotations

from transkern.dask.applying import apply
from transkern.dask.plans import explain

__all__ = ["apply", "explain"]
