"""Who is measured: each peer turns a case into a call that has finished when it returns."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from cases import Case

ORDER = ("numpy", "transkern", "numba", "numba parallel", "numexpr", "jax", "torch.compile")


class Runner:
    """A peer with arguments of its own kind; `step` is what is timed."""

    def __init__(
        self,
        case: Case,
        call: Callable[..., Any],
        to: Callable[[Any], Any] = lambda a: a,
        back: Callable[[Any], Any] = np.asarray,
        functional: bool = False,
    ) -> None:
        self.case, self.call, self.to, self.back = case, call, to, back
        self.functional = functional and bool(case.written)
        self.args = self._fresh()

    def _fresh(self) -> list[Any]:
        return [self.to(a.copy()) if isinstance(a, np.ndarray) else a for a in self.case.inputs]

    def step(self) -> Any:
        result = self.call(*self.args)
        if self.functional:  # no arrays that can be written: the new ones take the place of the old
            for position, value in zip(self.case.written, result, strict=True):
                self.args[position] = value
        return result

    def answer(self) -> list[np.ndarray[Any, Any]]:
        """All results on fresh inputs, the written arguments included."""
        args = self._fresh()
        result = self.call(*args)
        if self.functional:
            return [self.back(r) for r in result]
        results = result if isinstance(result, tuple) else () if result is None else (result,)
        return [self.back(r) for r in (*results, *(args[p] for p in self.case.written))]


def runner(peer: str, case: Case) -> Runner | None:
    """The peer ready for the case, or None where it is not installed or has no form of it."""
    return _MAKERS[peer](case)


def _numpy(case: Case) -> Runner:
    return Runner(case, case.function)


def _transkern(case: Case) -> Runner:
    import transkern

    return Runner(case, transkern.compile(case.function, target="cpu"))


def _numba(case: Case) -> Runner | None:
    if not importlib.util.find_spec("numba"):
        return None
    import numba

    return Runner(case, numba.njit(case.function))


def _numba_parallel(case: Case) -> Runner | None:
    form = case.forms.get("numba parallel")
    if form is None and case.exact and importlib.util.find_spec("numba"):
        import numba

        warnings.filterwarnings("ignore", category=numba.NumbaPerformanceWarning)
        form = numba.njit(parallel=True)(case.function)
    return Runner(case, form) if form is not None else None


def _numexpr(case: Case) -> Runner | None:
    form = case.forms.get("numexpr")
    return Runner(case, form) if form is not None else None


def _jax(case: Case) -> Runner | None:
    form = case.forms.get("jax")
    if form is None:
        return None
    import jax

    numbers = tuple(k for k, a in enumerate(case.inputs) if not isinstance(a, np.ndarray))
    jitted = jax.jit(form, donate_argnums=case.written, static_argnums=numbers)

    def call(*args: Any) -> Any:
        return jax.block_until_ready(jitted(*args))

    # `copy=True`: a donated array must not be NumPy's memory.
    return Runner(case, call, lambda a: jax.numpy.array(a, copy=True), np.asarray, functional=True)


def _torch(case: Case) -> Runner | None:
    form = case.forms.get("torch.compile")
    if form is None:
        return None
    import torch

    torch._dynamo.reset()
    compiled = torch.compile(form, dynamic=False)

    def call(*args: Any) -> Any:
        with torch.no_grad():
            return compiled(*args)

    return Runner(case, call, torch.from_numpy, lambda t: t.numpy())


_MAKERS: dict[str, Callable[[Case], Runner | None]] = {
    "numpy": _numpy,
    "transkern": _transkern,
    "numba": _numba,
    "numba parallel": _numba_parallel,
    "numexpr": _numexpr,
    "jax": _jax,
    "torch.compile": _torch,
}


def versions() -> dict[str, str]:
    """The versions of everything that takes part."""
    found = {}
    for name in ("numpy", "transkern", "numba", "llvmlite", "numexpr", "jax", "jaxlib", "torch"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


