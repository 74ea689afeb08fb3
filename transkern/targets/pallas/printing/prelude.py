"""Small functions that emitted modules carry with them, each only where it is used."""

from __future__ import annotations

from transkern.targets.pallas.helpers import arguments, arrays, grid, lanes, lookups, numbers, packing, streams, whole

IMPORTS = """
import functools
import numpy as np
import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

INTERPRET = None
"""

_ROOMS = (numbers, arguments, arrays, packing, lookups, grid, lanes, whole, streams)

HELPERS: dict[str, str] = {name: text for room in _ROOMS for name, text in room.HELPERS.items()}
NEEDS: dict[str, tuple[str, ...]] = {name: calls for room in _ROOMS for name, calls in room.NEEDS.items()}


def needed(used: set[str]) -> list[str]:
    """The used helpers and what they call, in the order of the table."""
    todo = list(used)
    found: set[str] = set()
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += NEEDS.get(one, ())
    return [h for h in HELPERS if h in found]
