"""Calls while JAX or PyTorch records what a program does: the compiled function becomes an operation of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def call_traced(compiled: Any, values: Sequence[Any], kind: str) -> Any:
    """The result of such a call, with a value for each parameter."""
    if kind == "jax":
        from transkern.frameworks import jax

        return jax.traced(compiled, values)
    from transkern.frameworks import torch

    return torch.traced(compiled, values)
