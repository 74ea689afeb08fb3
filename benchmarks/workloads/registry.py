"""What a workload is: a function in array statements, its inputs, and the form of it that suits each peer best."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Inputs = Callable[[np.random.Generator, int], tuple[Any, ...]]
Form = Callable[..., Any]


def _installed(name: str) -> Any:
    return importlib.import_module(name) if importlib.util.find_spec(name.partition(".")[0]) else None


numba, ne, jax, jnp = (_installed(name) for name in ("numba", "numexpr", "jax", "jax.numpy"))
prange: Any = numba.prange if numba is not None else range


@dataclass(frozen=True)
class Workload:
    """One function.

    `inputs` makes the arguments for a size; `size` is what the benchmark takes, `small` what the tests take. `forms`:
    loops over `prange` for Numba (plain Python until a case is made of them), expressions for numexpr, `jax.numpy` for
    JAX. `written` are the positions of the arguments that it changes. `exact`: all peers must give NumPy's bits.
    """

    name: str
    function: Form
    inputs: Inputs
    size: int
    small: int
    forms: dict[str, Form]
    written: tuple[int, ...] = ()
    exact: bool = False


WORKLOADS: dict[str, Workload] = {}


def register(
    name: str,
    function: Form,
    inputs: Inputs,
    size: int,
    small: int,
    *,
    loops: Form | None = None,
    expressions: Form | None = None,
    arrays: Form | None = None,
    written: tuple[int, ...] = (),
    exact: bool = False,
) -> None:
    """Adds a workload to `WORKLOADS`; each name once. `loops` is Numba's form, `expressions` numexpr's, `arrays` JAX's.

    A form for a peer that is not installed is dropped.
    """
    assert name not in WORKLOADS, name
    given = {"numba parallel": (numba, loops), "numexpr": (ne, expressions), "jax": (jnp, arrays)}
    forms = {peer: form for peer, (installed, form) in given.items() if installed is not None and form is not None}
    WORKLOADS[name] = Workload(name, function, inputs, size, small, forms, written, exact)


def inlined(function: Form) -> Form:
    """A part of several forms for Numba, compiled into them."""
    return numba.njit(inline="always")(function) if numba is not None else function
