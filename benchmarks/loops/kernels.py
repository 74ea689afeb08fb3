"""All kernels: importing the themes fills the registry."""

from __future__ import annotations

from . import dynamic, matrices, signals, solvers, stencils  # noqa: F401
from .registry import KERNELS, Kernel

__all__ = ["KERNELS", "Kernel"]
