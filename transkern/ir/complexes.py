"""Complex numbers in the IR: their dtypes, and the subscript of a part."""

from __future__ import annotations

from transkern.ir.expr import Const, Expr

PART = "part"
"""The type of a last subscript that chooses the real (0) or the imaginary (1) part of a complex element."""

REAL, IMAG = Const(0, PART), Const(1, PART)


def is_complex(dtype: str) -> bool:
    return dtype.startswith("complex")


def float_of(dtype: str) -> str:
    """The dtype of a complex number's parts."""
    return {"complex128": "float64", "complex64": "float32"}[dtype]


def complex_of(dtype: str) -> str:
    """The complex dtype whose parts have this dtype."""
    return {"float64": "complex128", "float32": "complex64"}[dtype]


def has_part(index: tuple[Expr, ...]) -> bool:
    """Whether a subscript is that of a part of an element."""
    return bool(index) and index[-1].dtype == PART


def parts_of_scalar(name: str) -> tuple[str, str]:
    """The names of the parts of a complex scalar argument."""
    return f"{name}_real", f"{name}_imag"
