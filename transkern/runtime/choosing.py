"""Which target a call is for where nobody says."""

from __future__ import annotations

import functools
import os
from pathlib import Path


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
