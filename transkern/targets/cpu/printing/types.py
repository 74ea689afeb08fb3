"""The types of C, by those of NumPy, and what NumPy sees of a buffer."""

from __future__ import annotations

from transkern.ir import nodes as n
from transkern.ir.expr import Expr
from transkern.ir.storage import storage

TYPES = {
    "bool": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t", "uint8": "uint8_t",
    "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t", "float16": "_Float16", "float32": "float",
    "float64": "double", "index": "int64_t",
}  # fmt: skip


def element_type(buffer: n.Buffer) -> str:
    """What a pointer to a buffer's memory points to: bytes where elements are not aligned."""
    return TYPES[buffer.dtype] if buffer.aligned else "char"


def seen_by_numpy(buffer: n.Buffer) -> tuple[str, tuple[Expr, ...]]:
    """The dtype and the dims of a buffer as NumPy sees it."""
    return (buffer.element, buffer.dims[:-1]) if buffer.element else (storage(buffer.dtype), buffer.dims)
