"""Kernels that are the same but for their names are one C function:

    static double f_total_1(const double *restrict a_1, …) { … }     to     static double f_total_1(…) { … }
    static double f_total_2(const double *restrict a_2, …) { … }            (both calls are calls of it)

A function of the user's that is called in several places, and a loop whose iterations stand there one by one,
become a kernel for each place; what the C compiler does with them grows with their number.
"""

from __future__ import annotations

import re

from transkern.targets.cpu.printing.functions import Function
from transkern.targets.cpu.printing.types import TYPES

_KINDS = "|".join(sorted({*TYPES.values(), "int", "bool", "char", "size_t", "py_pace", "py_deal"}))
_DECLARED = re.compile(rf"\b(?:{_KINDS})\s+(?:\*\s*)?(?:const\s+|restrict\s+)*([A-Za-z_]\w*)\s*(?=[=;,)\[:])")
"""A name of the function's own: what is not found here counts as another function's, and is to be the same in both."""

_TOGETHER = re.compile(rf"^\s*(?:{_KINDS})\s+\w+ = [^;,(){{}}]*,[^;(){{}}]*;", re.MULTILINE)
"""A declaration of several names, which are initialised without calls."""

_FURTHER = re.compile(r",\s*([A-Za-z_]\w*)\s*=")
_TOKEN = re.compile(r"[A-Za-z_]\w*")


def canonical(function: Function) -> str:
    """The text of a kernel with numbers in place of its own name and of the names that it declares: kernels are the
    same where these are."""
    text = function.text
    further = (name for found in _TOGETHER.finditer(text) for name in _FURTHER.findall(found[0]))
    own = {function.name, *_DECLARED.findall(text), *further}
    numbers: dict[str, str] = {}

    def numbered(found: re.Match[str]) -> str:
        name = found[0]
        return numbers.setdefault(name, f"${len(numbers)}") if name in own else name

    return _TOKEN.sub(numbered, text)
