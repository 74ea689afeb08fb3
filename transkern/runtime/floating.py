"""What a caller has NumPy say of numbers that overflow, divide by zero or are not valid.

Compiled code gives NumPy's numbers and no warnings. Where the caller wants more than a warning (``np.errstate`` with
``raise``, ``call``, ``print`` or ``log``), a call is refused: flags of the processor tell that something happened, and
not which of NumPy's operations would have raised it. With ``warnings="numpy"`` these flags are read once a call, and
where one is up, NumPy itself says what it warns of: the function runs once more, in Python, on copies.
"""

from __future__ import annotations

import copy
import importlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from transkern import refusals
from transkern.errors import CompileError

_BITS = {"divide": 1, "over": 2, "under": 4, "invalid": 8}  # as emitted code numbers them
_umath: Any = importlib.import_module("numpy._core.umath")
_raised = threading.local()
_answered: tuple[Any, bool] = (None, False)  # what was set when `asked` was called last, and its answer


def asked() -> bool:
    """Whether the caller wants errors, calls or prints where NumPy warns else."""
    global _answered
    of, answer = _answered
    now = _umath._extobj_contextvar.get()
    if of is not now:
        answer = any(mode not in ("ignore", "warn") for mode in np.geterr().values())
        _answered = now, answer
    return answer


def refusal(name: str) -> CompileError:
    """What a call is told then."""
    modes = ", ".join(f"{kind}={mode!r}" for kind, mode in np.geterr().items() if mode not in ("ignore", "warn"))
    return CompileError(
        refusals.WARNINGS,
        f"`{name}` is called while NumPy is told to do more than to warn ({modes}), which compiled code does not do",
        'call it within `with np.errstate(all="warn")` and test the result, or use fallback="numpy"',
    )


def listen(module: ModuleType) -> None:
    """Have a loaded module ask how NumPy is told to deal with errors, and tell of flags."""
    module.listen(asked, _umath._extobj_contextvar)
    module.__dict__["flagged"] = _note


def _note(bits: int) -> None:
    _raised.bits = bits


def lower() -> None:
    """Forget what has been told."""
    _raised.bits = 0


def raised() -> bool:
    """Whether code has told since then of something that NumPy would warn of."""
    if not _raised.bits:
        return False
    told = sum(_BITS[kind] for kind, mode in np.geterr().items() if mode != "ignore")
    return bool(_raised.bits & told)


@contextmanager
def numpys_warnings(function: Callable[[Sequence[Any]], Any], values: Sequence[Any]) -> Iterator[None]:
    """Behind what is done inside, NumPy's warnings, from `function` on copies of the arguments as they are before."""
    before = copy.deepcopy(tuple(values))
    lower()
    try:
        yield
    finally:
        if raised():
            try:
                function(before)
            except Warning:  # as the caller's filters make of them
                raise
            except Exception:
                pass  # the function's own: it has been raised above
