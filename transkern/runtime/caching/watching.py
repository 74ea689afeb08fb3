"""Whether what compiled code was made with is still the same: one function of conditions, asked at each call.

    ("{0}['K'] is {1}", (the module's names, its value))   ->   def unchanged(): return a0['K'] is a1 and …
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

Condition = tuple[str, tuple[Any, ...]]
"""A template, and the objects that stand in it."""
Conditions = dict[Hashable, Condition]


def unchanged(conditions: Mapping[Hashable, Condition]) -> Callable[[], bool] | None:
    """Whether all of them hold, in one call; None where there are none."""
    if not conditions:
        return None
    names: dict[int, str] = {}
    given: list[Any] = []

    def named(value: Any) -> str:
        if id(value) not in names:
            names[id(value)] = f"a{len(names)}"
            given.append(value)
        return names[id(value)]

    tests = [template.format(*map(named, objects)) for template, objects in conditions.values()]
    text = "\n".join([
        f"def made({', '.join(names.values())}):",
        "    def unchanged():",
        "        try:",
        f"            return {' and '.join(tests)}",
        "        except (AttributeError, KeyError, ValueError):",  # what was there is gone
        "            return False",
        "    return unchanged",
    ])  # fmt: skip
    space: dict[str, Any] = {}
    exec(text, space)
    found: Callable[[], bool] = space["made"](*given)
    return found


def quoted(name: str) -> str:
    """A name as it stands in a template."""
    return repr(name).replace("{", "{{").replace("}", "}}")
