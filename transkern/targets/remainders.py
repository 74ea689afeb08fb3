"""Vectors of what divisions of floats leave: remainders, quotients rounded down, `fmod`.

A loop has no vectors where one of its iterations calls `fmod`. GCC takes functions that others have made for vectors
under the names of the x86-64 vector ABI (as those of glibc's libmvec): these take the quotient of every lane, which is
exact where it has no more digits than a number has, and ask the scalar function only for a vector with another lane.
"""

from __future__ import annotations

import re

_RESULTS = {
    "fremainder": "r == 0 ? copysign{f}((T)0, y[k]) : r + other.value",
    "ffloordiv": "y[k] == 0 ? x[k] / y[k] : q == 0 ? copysign{f}((T)0, x[k] / y[k]) : q - w > (T)0.5 ? w + 1 : w",
    "fmod": "r",
}  # fmt: skip
"""What is returned, by the remainder `r` that has the sign of ``x[k]``, and for quotients the exact one `q`."""
_QUOTIENT = """
        const T q = (x[k] - r) / y[k] - ((r != 0) & ((y[k] < 0) != (r < 0)) ? 1 : 0), w = floor{f}(q); \\"""
_SIGN = """
        union { T value; U bits; } other = {y[k]}; \\
        other.bits &= -(U)((y[k] < 0) != (r < 0)); \\"""
_TEXT = """
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(FP_FAST_FMA{F})
// Vectors of `@scalar@`, which is asked for those with a quotient of more digits than a number has.
#define @name@_OF(isa, lanes) \\
__attribute__((visibility("hidden"))) @name@_##isa _ZGV##isa##N##lanes##vv_@name@_one(@name@_##isa a, @name@_##isa b) { \\
    T x[lanes], y[lanes], z[lanes]; \\
    U odd = 0; \\
    memcpy(x, &a, sizeof a), memcpy(y, &b, sizeof b); \\
    _Pragma("omp simd reduction(|: odd)") \\
    for (int k = 0; k < lanes; ++k) { \\
        const T size = fabs{f}(x[k]), by = fabs{f}(y[k]); \\
        const bool plain = (by > LEAST) & (by < MOST) & ((size < by * DIGITS) | (size == INFINITY)); \\
        odd |= !(plain | (size != size) | (by != by) | (by == 0)); \\
        const T rest = fma{f}(-trunc{f}(size / by), by, size); \\
        const T r = copysign{f}(rest + (rest < 0 ? by : 0), x[k]); \\@more@
        z[k] = @result@; \\
    } \\
    if (odd) for (int k = 0; k < lanes; ++k) z[k] = @scalar@(x[k], y[k]); \\
    memcpy(&a, z, sizeof a); \\
    return a; \\
}
typedef T @name@_b __attribute__((vector_size(16)));
@name@_OF(b, @few@)
#ifdef __AVX__
typedef T @name@_c __attribute__((vector_size(32))), @name@_d __attribute__((vector_size(32)));
@name@_OF(c, @more_lanes@)
@name@_OF(d, @more_lanes@)
#endif
#ifdef __AVX512F__
typedef T @name@_e __attribute__((vector_size(64)));
@name@_OF(e, @most@)
#endif
__attribute__((visibility("hidden"))) T @name@_scalar(T, T) __asm__("@name@_one");
T @name@_scalar(T a, T b) { return @scalar@(a, b); }
#pragma omp declare simd notinbranch
__attribute__((visibility("hidden"))) T @name@(T, T) __asm__("@name@_one");
#else
#define @name@ @scalar@
#endif
"""


def of_vectors(name: str, scalar: str, dtype: str) -> str:
    """C text that declares ``vector_NAME_DTYPE`` of two floats of a type, and what it is for vectors; `scalar` is what
    the function is called that takes two numbers."""
    single = dtype == "float32"
    lanes = 4 if single else 2
    more = {"fremainder": _SIGN, "ffloordiv": _QUOTIENT}.get(name, "")
    text = _TEXT.replace("@more@", more).replace("@result@", _RESULTS[name])
    for word, meant in {
        "@name@": f"vector_{name}_{dtype}", "@scalar@": scalar, "@few@": str(lanes), "@more_lanes@": str(2 * lanes),
        "@most@": str(4 * lanes), "{f}": "f" if single else "", "{F}": "F" if single else "",
        "LEAST": "0x1p-20f" if single else "0x1p-100", "MOST": "0x1p100f" if single else "0x1p900",
        "DIGITS": "0x1p23f" if single else "0x1p52", "INFINITY": "INFINITY" if single else "(double)INFINITY",
    }.items():  # fmt: skip
        text = text.replace(word, meant)
    types = {"T": "float" if single else "double", "U": "uint32_t" if single else "uint64_t"}
    return "".join(types.get(part, part) for part in _words(text))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+|\W", text)
