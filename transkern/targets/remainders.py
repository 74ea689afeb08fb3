"""Vectors of what divisions of floats leave: remainders, quotients rounded down, `fmod`.

A loop has no vectors where one of its iterations calls a function without any. GCC takes functions that others have
made for vectors under the names of the x86-64 vector ABI (as those of glibc's libmvec), in loops with choices only for
the C library's own functions. So there is an `fmod` here: it takes the quotient of every lane, which is exact where it
has no more digits than a number has, and goes lane by lane, by long division, for a vector with another one.
"""

from __future__ import annotations

import re

_HERE = (
    "#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__ELF__) "
    "&& defined(FP_FAST_FMA{F})"
)
_FMOD = (
    _HERE
    + """  // `fmod{f}` of this file, and of vectors
static inline T rest_of_T(T a, T b, U *odd) {
    const T size = fabs{f}(a), by = fabs{f}(b);
    const bool plain = (by > LEAST) & (by < MOST) & ((size < by * DIGITS) | (size == INFINITY));
    *odd |= !(plain | (size != size) | (by != by) | (by == 0));
    const T rest = fma{f}(-trunc{f}(size / by), by, size);  // exact: below `by`, a multiple of its last digit
    return copysign{f}(rest + (rest < 0 ? by : 0), a);  // below 0 where the quotient was rounded up to a whole number
}
T one_fmod{f}(T, T) __asm__("fmod{f}") __attribute__((visibility("hidden")));
T one_fmod{f}(T a, T b) {
    U odd = 0;
    const T r = rest_of_T(a, b, &odd);
    return odd ? (T)fmodl(a, b) : r;
}
#define FMOD{F}_OF(isa, bytes, lanes) \\
typedef T v##isa##_T __attribute__((vector_size(bytes))); \\
__attribute__((visibility("hidden"))) v##isa##_T _ZGV##isa##N##lanes##vv_fmod{f}(v##isa##_T a, v##isa##_T b) { \\
    T x[lanes], y[lanes], z[lanes]; \\
    U odd = 0; \\
    memcpy(x, &a, bytes), memcpy(y, &b, bytes); \\
    _Pragma("omp simd reduction(|: odd)") \\
    for (int k = 0; k < lanes; ++k) z[k] = rest_of_T(x[k], y[k], &odd); \\
    if (odd) for (int k = 0; k < lanes; ++k) z[k] = one_fmod{f}(x[k], y[k]); \\
    memcpy(&a, z, bytes); \\
    return a; \\
}
FMOD{F}_OF(b, 16, SSE)
#ifdef __AVX__
FMOD{F}_OF(c, 32, AVX)
FMOD{F}_OF(d, 32, AVX)
#endif
#ifdef __AVX512F__
FMOD{F}_OF(e, 64, ZMM)
#endif
#pragma omp declare simd notinbranch
T fmod{f}(T, T);
#endif"""
)
_INLINE = {
    "fremainder": """
    union { T value; U bits; } other = {b};  // no `?:`, of which GCC makes a jump
    other.bits &= -(U)((r != 0) & ((b < 0) != (r < 0)));
    return copysign{f}(r + other.value, b);""",
    "ffloordiv": """
    const T q = (a - r) / b - ((r != 0) & ((b < 0) != (r < 0)) ? 1 : 0), w = floor{f}(q);
    const T whole = q - w > (T)0.5 ? w + 1 : w, at = a / b;
    return b == 0 ? at : q == 0 ? copysign{f}((T)0, at) : whole;""",
    "fmod": """
    return r;""",
}
_OTHERS = (
    _HERE
    + """
static inline T NAME(T a, T b)
{
    const T r = fmod{f}(a, b);@rest@
}
#else
#define NAME SCALAR
#endif"""
)


def fmod_of_vectors(dtype: str) -> str:
    """C text of `fmod` of a type for vectors."""
    single = dtype == "float32"
    lanes = 4 if single else 2
    return _of(dtype, _FMOD, {
        "LEAST": "0x1p-20f" if single else "0x1p-100", "MOST": "0x1p100f" if single else "0x1p900",
        "DIGITS": "0x1p23f" if single else "0x1p52", "INFINITY": "INFINITY" if single else "(double)INFINITY",
        "SSE": str(lanes), "AVX": str(2 * lanes), "ZMM": str(4 * lanes),
    })  # fmt: skip


def of_vectors(name: str, scalar: str, dtype: str) -> str:
    """C text of ``vector_NAME_DTYPE`` of two floats; where there are no vectors, it is the function `scalar`."""
    text = _OTHERS.replace("@rest@", _INLINE[name])
    return _of(dtype, text, {"NAME": f"vector_{name}_{dtype}", "SCALAR": scalar})


def _of(dtype: str, text: str, words: dict[str, str]) -> str:
    single = dtype == "float32"
    kind, bits = ("float", "uint32_t") if single else ("double", "uint64_t")
    text = text.replace("{f}", "f" if single else "").replace("{F}", "F" if single else "").replace("_T", f"_{kind}")
    words |= {"T": kind, "U": bits}
    return "".join(words.get(part, part) for part in re.findall(r"\w+|\W", text))
