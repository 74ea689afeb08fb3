"""What decisions need to know of the machine that compiles for itself."""

from __future__ import annotations

import functools
import os
import platform

VECTOR_FUNCTIONS = frozenset({
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan",
    "arctan2", "hypot", "power", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "cbrt",
})  # fmt: skip
"""Elementary functions of which a C library may have versions for vectors."""


@functools.cache
def vector_functions() -> frozenset[str]:
    """Those of which this machine's C library has: glibc's libmvec on x86-64 (since 2.35)."""
    try:
        library, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
        major, minor = map(int, version.split(".")[:2])
    except (AttributeError, OSError, ValueError):  # another system, or another library
        return frozenset()
    if library != "glibc" or platform.machine() not in ("x86_64", "AMD64"):
        return frozenset()
    return VECTOR_FUNCTIONS if (major, minor) >= (2, 35) else frozenset()
