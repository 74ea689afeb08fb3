"""What C text uses of the C library, declared: a compiler reads a few lines in place of three headers.

``<math.h>``, ``<stdlib.h>`` and ``<string.h>`` are a fifth of what a compiler does with a small module. A text that is
compiled at once and linked (`common.py`) has declarations of the functions that it names, and the macros of
``<math.h>`` as GCC and clang have them; a file for users includes the headers.
"""

from __future__ import annotations

import re
from itertools import product

HEADERS = "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n"
"""What all texts need; what else one needs, it includes itself."""

SCHEDULED = """\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-loop-unroll-and-jam")  // loops are blocked already
#pragma GCC optimize("no-code-hoisting")  // GCC 12 mixes up sums of choices within choices
#pragma GCC optimize("no-split-paths")  // a choice that the next iteration goes on with becomes a branch
#endif
"""
"""Behind the headers of a program.

GCC puts two iterations of an outer loop together where the inner one is a block of lanes that it keeps in registers
anyhow. That costs time there, a short outer loop its unrolling, and a third of the compiler's own time.

Of sums of choices within choices (``t += a[i] ? (b[i] ? x[i] : 0) : 0``) in a loop under ``omp simd``, GCC 12 hoists
parts out of the branches, and then, where the masks are bytes and vectors have 64 of them, adds memory that nobody has
set: a third of random loops of three such sums were wrong, none without hoisting; other loops are the same machine
code."""

STRICT = "-Werror=implicit-function-declaration"
"""Flag for a text with declarations, in place of ``-w``, which hides all warnings: none is missing."""

_SMALL_HEADERS = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"

_MACROS = """\
#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf_sign(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)
#ifdef __FP_FAST_FMA
#define FP_FAST_FMA 1
#endif
#ifdef __FP_FAST_FMAF
#define FP_FAST_FMAF 1
#endif
"""

_OF_FLOATS = {
    "T (T)": (
        "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 fabs floor log log10 log1p log2 "
        "nearbyint rint round sin sinh sqrt tan tanh tgamma trunc"
    ),
    "T (T, T)": "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder",
    "T (T, T, T)": "fma",
    "T (T, int)": "ldexp scalbn",
    "T (T, int *)": "frexp",
    "T (T, T *)": "modf",
    "int (T)": "ilogb",
    "long (T)": "lrint lround",
    "long long (T)": "llrint llround",
}
"""Functions by their types, of float64 by these names and of float32 with an `f` behind them."""

_OTHERS = {
    "long double (long double, long double)": "fmodl",
    "int (int)": "abs",
    "long (long)": "labs",
    "long long (long long)": "llabs",
    "void *(size_t)": "malloc",
    "void *(size_t, size_t)": "calloc aligned_alloc",
    "void *(void *, size_t)": "realloc",
    "void (void *)": "free",
    "void *(void *, const void *, size_t)": "memcpy memmove",
    "void *(void *, int, size_t)": "memset",
    "int (const void *, const void *, size_t)": "memcmp",
    "void *(const void *, int, size_t)": "memchr",
    "size_t (const char *)": "strlen",
    "int (const char *, const char *)": "strcmp",
    "void (void *, size_t, size_t, int (*)(const void *, const void *))": "qsort",
}


def _declarations() -> dict[str, str]:
    """The declaration of each function."""
    found: dict[str, str] = {}
    for (types, names), (of, suffix) in product(_OF_FLOATS.items(), (("double", ""), ("float", "f"))):
        found |= {name + suffix: _declaration(types.replace("T", of), name + suffix) for name in names.split()}
    for types, names in _OTHERS.items():
        found |= {name: _declaration(types, name) for name in names.split()}
    return found


def _declaration(types: str, name: str) -> str:
    result, _, given = types.partition("(")
    return f"{result}{name}({given};\n"


_DECLARATIONS = _declarations()

_WORD = re.compile(r"\b[a-z]\w*(?= ?\()")


def without_headers(text: str) -> str:
    """C text with declarations in place of `HEADERS`, which it begins with but for comments."""
    head, headers, rest = text.partition(HEADERS)
    assert headers, "a text without headers"
    named = sorted(set(_WORD.findall(rest)) & _DECLARATIONS.keys())
    return "".join([head, _SMALL_HEADERS, _MACROS, *(_DECLARATIONS[name] for name in named), rest])
