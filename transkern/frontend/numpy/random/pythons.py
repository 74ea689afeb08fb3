"""`random.Random` of Python's standard library, with a seed: an object of a class that is translated as the user's are
(`compositions.random.twister`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from transkern import refusals
from transkern.frontend.compositions.random import twister
from transkern.frontend.context import Context
from transkern.frontend.values.describing import describe
from transkern.frontend.values.large import is_large
from transkern.frontend.values.values import Scalar, Static, Value


def seeded(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> type:
    """The class whose object stands for ``random.Random(*args)``, where there is a seed that it takes."""
    seed = ctx.deref(args[0]) if len(args) == 1 and not keywords else Static(None)
    known = isinstance(seed, Static) and isinstance(seed.value, int) and not is_large(seed)
    if not known and not (isinstance(seed, Scalar) and seed.python and seed.expr.dtype == "index"):
        problem = "`random.Random` without a seed" if seed == Static(None) else f"`random.Random` of {describe(seed)}"
        ctx.fail(refusals.RANDOM, problem, "give it an integer of up to 64 bits")
    return twister.Random
