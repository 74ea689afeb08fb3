"""Which target a call is for where nobody says."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transkern.runtime import foreign


@functools.cache
def default_target() -> str:
    """``cuda`` where a device and CuPy are there (or the simulator is asked for), else ``cpu``."""
    if os.environ.get("TRANSKERN_CUDA_SIM") == "1":
        return "cuda"
    if not (Path("/dev/nvidiactl").exists() or Path("/dev/nvidia0").exists() or Path("/dev/dxg").exists()):
        return "cpu"
    try:
        import cupy

        return "cuda" if cupy.cuda.runtime.getDeviceCount() > 0 else "cpu"
    except Exception:  # whatever keeps CuPy from starting: the CPU serves
        return "cpu"


def chosen(target: str, kind: str | None, values: Sequence[Any] = ()) -> str:
    """The target of a call with `values`, arrays of the `kind` that `foreign.foreign_kind` tells, of a function that is
    compiled for `target`: with ``auto`` where the arrays are."""
    if target != "auto":
        return target
    if kind == "cupy" or kind == "torch_cuda":
        return "cuda"
    if kind == "torch":
        return "cpu"
    if kind == "jax":
        return "cpu" if foreign.on_cpu(values) else "pallas"
    return default_target()
