"""What a kernel of this collection is: a function in plain loops, the same in array statements, and its inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Inputs = Callable[[np.random.Generator, int], tuple[Any, ...]]


@dataclass(frozen=True)
class Kernel:
    """One kernel.

    `loops` is the function in plain loops, `slices` the same in array statements, where that makes sense. `inputs`
    makes the arguments for a size. `written` are the positions of the arguments that it changes. `size` is what the
    benchmark takes. `exact`: `slices` adds in the order in which `loops` does, so that both give the same bits.
    """

    name: str
    loops: Callable[..., Any]
    slices: Callable[..., Any] | None
    inputs: Inputs
    size: int
    written: tuple[int, ...] = ()
    exact: bool = True


KERNELS: dict[str, Kernel] = {}


def register(
    name: str,
    loops: Callable[..., Any],
    slices: Callable[..., Any] | None,
    inputs: Inputs,
    size: int,
    written: tuple[int, ...] = (),
    exact: bool = True,
) -> None:
    """Adds a kernel to `KERNELS`; each name once."""
    assert name not in KERNELS, name
    KERNELS[name] = Kernel(name, loops, slices, inputs, size, written, exact)
