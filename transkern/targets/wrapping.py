"""Lists of parameters in C and CUDA C++, over several lines where they are long."""

from __future__ import annotations

from collections.abc import Sequence


def wrapped(params: Sequence[str], width: int = 110, indent: int = 8, most: int | None = None) -> str:
    """Parameters, broken over lines of `width` where they are longer than `most`."""
    one = ", ".join(params)
    if len(one) <= (width - 50 if most is None else most):
        return one
    lines, current = [], ""
    for p in params:
        if current and len(current) + len(p) > width:
            lines.append(current.rstrip())
            current = ""
        current += p + ", "
    lines.append(current.rstrip().rstrip(","))
    pad = "\n" + " " * indent
    return pad + pad.join(lines)
