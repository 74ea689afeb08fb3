"""What libraries own: sorts and matrix products. One row a step, spelled in Python over an array module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LIBRARY: Mapping[str, str] = {
    "argsort": "{np}.argsort({0}, axis={axis}, kind={kind!r})",
    "sort": "{np}.sort({0}, axis={axis}, kind={kind!r})",
    "matmul": "{np}.matmul({0}, {1})",
}
"""Expressions over the input arrays `{0}`, `{1}`, … and the step's attributes; the value fills the output."""


def spell(name: str, module: str, ins: tuple[str, ...], attributes: tuple[tuple[str, Any], ...]) -> str:
    """The Python expression of a library step."""
    return LIBRARY[name].format(*ins, np=module, **dict(attributes))
