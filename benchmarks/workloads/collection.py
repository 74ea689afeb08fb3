"""All workloads: importing the subjects fills the registry."""

from __future__ import annotations

from . import biology, data, finance, geometry, learning, physics, signals, vision  # noqa: F401
from .registry import WORKLOADS, Workload

__all__ = ["WORKLOADS", "Workload"]
