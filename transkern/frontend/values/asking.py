"""What Python and NumPy say of what is known while a function is translated: asked, not written out again."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from transkern.frontend.context import Context
from transkern.frontend.sources.measures import check_call
from transkern.ir import build as b
from transkern.ir.containers import with_text


def asked(ctx: Context, function: Callable[..., Any], *values: Any, **keywords: Any) -> Any:
    """What a function of Python's or NumPy's gives for these; an exception of its is the compiled function's.

    Raises NotComputed where that is larger than what is computed while translating.
    """
    check_call(function, values)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*values, **keywords)
        except Exception as error:  # whatever it raises
            raised(ctx, error)


def raised(ctx: Context, error: Exception) -> NoReturn:
    """The compiled function raises an exception here."""
    ctx.guard(b.FALSE, *told(error))
    raise AssertionError(error)


def told(error: Exception) -> tuple[str, str]:
    """The public class of an exception, and its text, as a guard's."""
    kind = next(c for c in type(error).__mro__ if not c.__module__.startswith("numpy._"))
    name = kind.__name__ if kind.__module__ == "builtins" else f"np.exceptions.{kind.__name__}"
    text = error.args[0] if isinstance(error, KeyError) and error.args else error
    return with_text(name, str(text)) if error.args else (name, "")
