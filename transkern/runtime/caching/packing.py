"""Arrays that belong to compiled code, as JSON: they stand in its entry in the disk cache."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from transkern.ir.generators import SharedGenerator
from transkern.runtime.caching.surveys import Survey


def packed(arrays: Sequence[Any], survey: Survey) -> list[Any]:
    """Arrays as JSON: of those that come anew with each call, which they are among all that the translation met."""
    places = {id(a): k for k, a in enumerate(survey.arrays)}
    return [places[id(a)] if id(a) in places else _packed(a) for a in arrays]


def _packed(a: Any) -> dict[str, Any]:
    if isinstance(a, SharedGenerator):
        return dataclasses.asdict(a)
    return {"dtype": a.dtype.str, "shape": list(a.shape), "bytes": base64.b64encode(a.tobytes()).decode()}


def unpacked(entries: Sequence[Any], survey: Survey) -> list[Any]:
    """The arrays that `packed` was given."""
    return [survey.arrays[e] if isinstance(e, int) else _unpacked(e) for e in entries]


def _unpacked(e: Mapping[str, Any]) -> Any:
    if "of" in e:
        return SharedGenerator(**e)
    return np.frombuffer(base64.b64decode(e["bytes"]), np.dtype(e["dtype"])).reshape(e["shape"]).copy()
