"""What stands around a program's kernels, from the text of XLA's compiled program.

    copy(...)                          copy: 1
    fusion(...), calls=%slices         move: 1        slices and reshapes alone, fused
    fusion(...), calls=%product        product: 1     a step of XLA's own, that no kernel is meant to replace
    multiply(f32[] ..., f32[] ...)     number: 1      of single elements

XLA fuses what only moves data as well as what computes, puts arrays together by `pad` and `maximum`, and takes an axis
of one element away by a `reduce`: the operation's name does not tell which of these it is, its computation does.
"""

from __future__ import annotations

import collections
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

MOVES = {"copy", "reshape", "transpose", "pad", "slice", "broadcast", "concatenate", "reverse", "move"}
"""Operations that give each element of a result the bits of an operand's element, at a place that is known."""
NUMBERS = {"number"}
"""Arithmetic of single elements."""
STEPS = {"sort", "product"}
"""What XLA has a unit or a network for, and no kernel is meant to replace: products of matrices, and sorts."""
_FREE = {
    "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "custom-call", "after-all", "opt-barrier",
    "partition-id", "iota", "copy-start", "copy-done", "slice-start", "slice-done", "async-start", "async-done",
}  # fmt: skip
"""Instructions that compute nothing by themselves: names, and copies ahead into VMEM. Copies into another layout do."""
_HEAD = re.compile(r"^(?:ENTRY )?%([\w.-]+) \(.*\{$")
_INSTRUCTION = re.compile(r"^\s*(ROOT )?%?([\w.-]+) = (\(.*?\)|\S+) ([\w-]+)\((.*)$")
_NAME = re.compile(r"%([\w.-]+)")
_LAYOUT = re.compile(r"\{[^{}]*\}")
_CALLED = re.compile(r"\b(?:calls|body|condition|true_computation|false_computation)=%([\w.-]+)")
_BRANCHES = re.compile(r"\bbranch_computations=\{([^}]*)\}")
_DIMS = re.compile(r"\bdimensions=\{([\d,]*)\}")
_SHAPE = re.compile(r"\w+\[([\d,]*)\]")


@dataclass(frozen=True, slots=True)
class _Instruction:
    """`rest`: operands and attributes, as they are printed."""

    name: str
    shape: str
    op: str
    rest: str

    @property
    def operands(self) -> list[str]:
        depth = 1
        for at, letter in enumerate(self.rest):
            depth += (letter == "(") - (letter == ")")
            if depth == 0:
                return _NAME.findall(self.rest[:at])
        return _NAME.findall(self.rest)

    @property
    def called(self) -> list[str]:
        branches = [name for found in _BRANCHES.findall(self.rest) for name in _NAME.findall(found)]
        return _CALLED.findall(self.rest) + branches

    @property
    def elements(self) -> int:
        """Of the largest array that it makes."""
        return max((math.prod(map(int, filter(None, d.split(",")))) for d in _SHAPE.findall(self.shape)), default=0)


_Computation = dict[str, _Instruction]


def outside(text: str) -> dict[str, int]:
    """The operations of a compiled program that are in no Pallas kernel, by kind, those of loops and branches too."""
    computations = dict(_computations(text))
    found: collections.Counter[str] = collections.Counter()
    waiting = [name for name, _ in _heads(text) if name == "ENTRY"]
    seen = set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in computations:
            continue
        seen.add(name)
        block = computations[name]
        for i in block.values():
            if i.op not in _FREE and not _is_kernel(i, computations) and not _is_of_no_data(i, block):
                found[_kind(i, block, computations)] += 1
            if i.op != "fusion":
                waiting += i.called
    return dict(sorted(found.items()))


def _heads(text: str) -> Iterator[tuple[str, int]]:
    for number, line in enumerate(text.splitlines()):
        if made := _HEAD.match(line):
            yield ("ENTRY" if line.startswith("ENTRY") else made[1]), number


def _computations(text: str) -> Iterator[tuple[str, _Computation]]:
    lines = text.splitlines()
    for name, begin in _heads(text):
        block: _Computation = {}
        for line in lines[begin + 1 :]:
            if line.startswith("}"):
                break
            if made := _INSTRUCTION.match(line):
                block[made[2]] = _Instruction(made[2], made[3], made[4], made[5])
        yield name, block


def _kind(i: _Instruction, block: _Computation, computations: dict[str, _Computation]) -> str:
    """An operation's name, or what it comes to."""
    if i.op in ("dot", "convolution"):
        return "product"
    if i.op == "fusion":
        inner = [x for name in i.called for x in _inside(name, computations)]
        kinds = {kind for name in i.called for kind in _kinds(name, computations)}
        if kinds <= MOVES:
            return "move"
        if any(x.op in ("dot", "convolution") for x in inner) or "dot_general" in _written(i):
            return "product"
        if i.elements == 1 and all(x.elements == 1 or x.op == "parameter" for x in inner):
            return "number"
    elif i.op == "reduce" and _takes_ones_away(i, block):
        return "reshape"
    elif i.op not in {*MOVES, "while", "conditional", "call"} and i.elements == 1 and _of_numbers(i, block):
        return "number"
    return i.op


def _is_kernel(i: _Instruction, computations: dict[str, _Computation]) -> bool:
    """Whether a fusion is a kernel, with what is computed of an operand's block when it is loaded."""
    return i.op == "fusion" and any(x.op == "custom-call" for name in i.called for x in _inside(name, computations))


def _is_of_no_data(i: _Instruction, block: _Computation) -> bool:
    """Whether an array is made of constants and positions alone, as iotas are."""
    if i.op in ("constant", "iota"):
        return True
    if i.op in ("parameter", "custom-call", "while", "conditional", "call", "get-tuple-element"):
        return False
    return all(x in block and _is_of_no_data(block[x], block) for x in i.operands)


def _written(i: _Instruction) -> str:
    """What JAX called the operation."""
    made = re.search(r'op_name="([^"]*)"', i.rest)
    return made[1].rpartition("/")[2] if made else ""


def _inside(name: str, computations: dict[str, _Computation]) -> Iterator[_Instruction]:
    """The instructions of a fusion, those of fusions in it too."""
    for i in computations.get(name, {}).values():
        yield i
        if i.op == "fusion":
            for inner in i.called:
                yield from _inside(inner, computations)


def _kinds(name: str, computations: dict[str, _Computation]) -> Iterator[str]:
    block = computations.get(name, {})
    for i in block.values():
        if i.op == "maximum" and _puts_together(i, block):
            yield "concatenate"
        elif i.op not in _FREE - {"iota", "custom-call"}:
            yield _kind(i, block, computations)


def _takes_ones_away(i: _Instruction, block: _Computation) -> bool:
    dims, operands = _DIMS.search(i.rest), i.operands
    shape = _SHAPE.match(block[operands[0]].shape) if len(operands) == 2 and operands[0] in block else None
    if dims is None or shape is None:
        return False
    sizes = [int(x) for x in shape[1].split(",") if x]
    return all(sizes[int(d)] == 1 for d in dims[1].split(",") if d)


def _of_numbers(i: _Instruction, block: _Computation) -> bool:
    return i.op == "dynamic-slice" or all(block[x].elements == 1 for x in i.operands if x in block)


def _puts_together(i: _Instruction, block: _Computation) -> bool:
    """Whether a maximum is of arrays that are padded with what is least, each element being one array's own."""
    for operand in i.operands:
        of = block.get(operand)
        if of is None:
            return False
        if of.op == "maximum":
            if not _puts_together(of, block):
                return False
            continue
        least = block.get(of.operands[1]) if of.op == "pad" and len(of.operands) == 2 else None
        if least is None or least.op != "constant" or not re.match(r"(-inf|-2147483648|-128|false|0)\)", least.rest):
            return False
    return True
