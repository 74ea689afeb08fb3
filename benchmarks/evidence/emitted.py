"""What is emitted for a call: the texts for its types, as a compiled function would find them."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.evidence.store import remembered
from transkern.errors import NeedsConstant
from transkern.frontend.values.types import is_array, types_of
from transkern.options import Options
from transkern.runtime import arrays
from transkern.runtime.caching.building import texts
from transkern.runtime.caching.cache import compiler_version
from transkern.runtime.specialisation import settled


@dataclasses.dataclass(frozen=True)
class Emitted:
    """The files of a function for a call's types, and the value of each parameter."""

    name: str
    texts: dict[str, str]
    values: tuple[Any, ...]

    @functools.cached_property
    def kernels(self) -> str:
        """The text in CUDA C++."""
        return next(text for file, text in self.texts.items() if file.endswith(".cu"))

    @functools.cached_property
    def module(self) -> str:
        """The launcher, or the module for JAX."""
        return next(text for file, text in self.texts.items() if file.endswith(".py"))


def emitted(function: Callable[..., Any], args: tuple[Any, ...], target: str, sizes: bool = False) -> Emitted:
    """Raises CompileError where the target does not compile it. `sizes`: code for the sizes of this call alone."""
    bound = inspect.signature(function).bind(*args)
    bound.apply_defaults()
    values = tuple(bound.arguments.values())
    source = Path(inspect.getfile(function)).read_text(encoding="utf-8")
    described = ",".join(f"{v.dtype}{v.shape}{v.strides}" if isinstance(v, np.ndarray) else repr(v) for v in values)
    parts = ("emitted", source, function.__qualname__, target, compiler_version(), described)
    names = list(bound.arguments)
    demands = set(settled(names, values, set())) if sizes else set()
    made = remembered((*parts, repr(sizes)), lambda: _emitted(function, names, values, target, demands))
    return Emitted(next(iter(made)).rpartition(".")[0], made, values)


def _emitted(
    function: Callable[..., Any], names: list[str], values: tuple[Any, ...], target: str, demands: set[str]
) -> dict[str, str]:
    seen = [arrays.described(v) for v in values]
    while True:
        types = types_of(names, seen, demands, (), frozenset())
        types = tuple(dataclasses.replace(t, aligned=True) if is_array(t) else t for t in types)
        try:
            return texts(function, types, target, Options(allow_float32=target == "pallas"))
        except NeedsConstant as need:
            if need.demand in demands:
                raise need.problem from None
            demands.add(need.demand)
