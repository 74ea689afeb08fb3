"""Taking the arguments of a call apart as code that is known wants them: a function written for their structure.

`structures.taken_apart` does the same for any structure and asks at each step what it is; a method that takes 20
microseconds in Python would be the slower for it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from transkern.ir import generators
from transkern.plain import dtype_of
from transkern.runtime.structures import (
    COLUMNS,
    Mismatch,
    Shape,
    attributes_of,
    codes_of,
    columns_in,
    type_of_numbers,
)  # fmt: skip

Taker = Callable[[Sequence[Any]], tuple[list[Any], dict[str, Any]]]
"""Gives the arrays and numbers in arguments, and their lists, dicts and objects by path; raises Mismatch."""


@functools.lru_cache(maxsize=256)
def taker(shapes: tuple[Shape, ...]) -> Taker:
    """What takes arguments of these structures apart."""
    made = _Function()
    values = [made.variable() for _ in shapes]
    made.lines.append(f"{', '.join(values)}, = values")
    for shape, value in zip(shapes, values, strict=True):
        made.take(shape, value)
    owners = ", ".join(f"{path!r}: {value}" for path, value in made.owners.items())
    text = "\n    ".join(["def take(values):", *made.lines, f"return [{', '.join(made.leaves)}], {{{owners}}}"])
    exec(text, made.space)
    found: Taker = made.space["take"]
    return found


class _Function:
    """A function that is being written: its lines, the names of what it gives back, and what it knows."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.leaves: list[str] = []
        self.owners: dict[str, str] = {}
        self.space: dict[str, Any] = {"Mismatch": Mismatch}

    def variable(self) -> str:
        return self.known(None)

    def known(self, value: Any) -> str:
        """The name of something that the function knows."""
        name = f"v{len(self.space)}"
        self.space[name] = value
        return name

    def check(self, condition: str) -> None:
        self.lines.append(f"if {condition}: raise Mismatch")

    def take(self, shape: Shape, value: str) -> None:
        """Takes `value`, the name of an argument or of a part of one, apart."""
        match shape.kind:
            case "leaf":
                self.leaves.append(value)
                return
            case "opaque":
                return
            case "generator":
                self.check(f"{self.known(generators.kind_of)}({value}) != {shape.keys[0]!r}")
                self.leaves.append(f"{self.known(generators.state_of)}({value})")
                return
            case "text":
                self.leaves.append(f"{self.known(codes_of)}({value})")
                return
        self.owners[shape.path] = value
        match shape.kind:
            case "appended":
                self.check(f"type({value}) is not list")
            case "numbers":
                kind = f"{self.known(type_of_numbers)}({value}) != {shape.keys[0]!r}"
                self.check(f"type({value}) is not list or len({value}) < 2 or {kind}")
                self.leaves.append(f"{self.known(np.array)}({value}, {self.known(np.dtype(dtype_of(shape.keys[0])))})")
            case kind if kind in COLUMNS:
                self.leaves.append(f"*{self.known(columns_in)}({self.known(shape)}, {value})")
            case "range":
                self.check(f"type({value}) is not range or {value}.step != {shape.keys[0]!r}")
                self.parts(shape, f"{value}.start, {value}.stop")
            case "tuple" | "list":
                self.check(f"type({value}) is not {shape.kind} or len({value}) != {len(shape.items)}")
                self.parts(shape, value)
            case "dict":
                self.check(f"type({value}) is not dict or tuple({value}) != {self.known(shape.keys)}")
                self.parts(shape, f"{value}.values()")
            case _:
                self.object(shape, value)

    def object(self, shape: Shape, value: str) -> None:
        of = shape.of
        assert of is not None
        self.check(f"type({value}) is not {self.known(of)}")
        if issubclass(of, tuple):
            self.parts(shape, value)
        elif shape.only is None or not of.__dictoffset__:
            found = self.variable()
            self.lines.append(f"{found} = {self.known(attributes_of)}({value}, {self.known(shape.only)})")
            self.check(f"tuple({found}) != {self.known(shape.keys)}")
            self.parts(shape, f"{found}.values()")
        else:
            found = self.variable()
            self.lines.append(f"{found} = {value}.__dict__")
            if others := shape.only - set(shape.keys):
                self.check(f"not {self.known(others)}.isdisjoint({found})")
            if shape.keys:
                self.lines.append("try:")
                names = [self.variable() for _ in shape.keys]
                self.lines += [f"    {n} = {found}[{k!r}]" for n, k in zip(names, shape.keys, strict=True)]
                self.lines.append("except KeyError: raise Mismatch from None")
                for item, name in zip(shape.items, names, strict=True):
                    self.take(item, name)

    def parts(self, shape: Shape, values: str) -> None:
        """Takes what is in a container apart."""
        if shape.items:
            names = [self.variable() for _ in shape.items]
            self.lines.append(f"{', '.join(names)}, = {values}")
            for item, name in zip(shape.items, names, strict=True):
                self.take(item, name)
