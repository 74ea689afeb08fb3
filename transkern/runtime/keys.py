"""All compiled functions by their keys, for graphs, which hold texts and no objects."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from transkern.runtime.compiled import Compiled

BY_KEY: weakref.WeakValueDictionary[str, Compiled] = weakref.WeakValueDictionary()


def is_compiled(value: Any) -> TypeGuard[Compiled]:
    """Whether it is one of them."""
    key = getattr(value, "key", None)
    return isinstance(key, str) and BY_KEY.get(key) is value
