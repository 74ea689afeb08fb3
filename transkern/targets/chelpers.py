"""The functions that C code calls: the C library's by op, and helpers of our own as text.

In a helper `T` is the type, `U` the unsigned one of its size, `W` a wide one, ``{f}`` and ``{F}`` the suffixes of
float32 (`clike.CPrinter.helper`).
"""

from __future__ import annotations

from transkern.ir.ops import COMPLEX_FUNCTIONS
from transkern.versions import NUMPY_2_5

MATH = {
    "sqrt": "sqrt", "cbrt": "cbrt", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2",
    "log10": "log10", "log1p": "log1p", "erf": "erf", "erfc": "erfc", "sin": "sin", "cos": "cos", "tan": "tan",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "hypot": "hypot", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "floor": "floor",
    "ceil": "ceil", "trunc": "trunc",
    "rint": "rint", "copysign": "copysign", "fmod": "fmod", "power": "pow",
    "nextafter": "nextafter",
}  # fmt: skip

VECTOR_MATH = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "atan2",
    "hypot", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt", "pow",
)  # fmt: skip

_REST = """
    T r;  // fmod{f}(a, b)
#ifdef FP_FAST_FMA{F}
    const T size = fabs{f}(a), by = fabs{f}(b);
    const T least = sizeof a == 4 ? 0x1p-20 : 0x1p-100, most = sizeof a == 4 ? 0x1p100 : 0x1p900;
    const bool plain = (size > least) & (size < most) & (by > least) & (by < most);
    if (plain && size < by * (sizeof a == 4 ? 0x1p23{f} : 0x1p52)) {
        const T rest = fma{f}(-trunc{f}(size / by), by, size);  // exact: below `by`, a multiple of its last digit
        r = copysign{f}(rest + (rest < 0 ? by : 0), a);  // below 0 where the quotient was rounded up to a whole number
    } else
#endif
        r = fmod{f}(a, b);
"""
"""What a division leaves, from the quotient where it has no more digits than a number has (glibc's `fmod` takes a loop
over the digits, GCC's one of the x87's), without a branch; no flag is set that `fmod` does not set."""

# NumPy's `npy_cpow` of a + bi to the c + di: small whole exponents are products, all others the library's
_POWER = """
    T real, imag;
    if (c == 0 && d == 0) { real = 1; imag = 0; }
    else if (a == 0 && b == 0) { real = imag = c > 0 ? (T)0 : (T)NAN; }
    else if (d == 0 && c > -100 && c < 100 && c == (int)c) {
        int n = c < 0 ? -(int)c : (int)c;
        T x = a, y = b, t;
        real = 1; imag = 0;
        if (c == 1) { real = a; imag = b; }
        else if (c == 2) { real = a * a - b * b; imag = a * b + b * a; }
        else if (c == 3) { x = a * a - b * b; y = a * b + b * a; real = a * x - b * y; imag = a * y + b * x; }
        else for (;;) {
            if (n & 1) { t = real * x - imag * y; imag = real * y + imag * x; real = t; }
            if (!(n >>= 1)) break;
            t = x * x - y * y; y = x * y + y * x; x = t;
        }
        if (c < 0) {
            if (fabs{f}(real) >= fabs{f}(imag)) {
                T r = imag / real, s = 1 / (real + imag * r);
                real = s; imag = (0 - r) * s;
            } else {
                T r = real / imag, s = 1 / (imag + real * r);
                real = r * s; imag = -s;
            }
        }
    } else {
        _Complex T z = __builtin_cpow{f}(__builtin_complex(a, b), __builtin_complex(c, d));
        real = __real__ z; imag = __imag__ z;
    }
"""

# name -> text
HELPERS: dict[str, str] = {
    "maximum": "(T a, T b) { return (a > b) | (a != a) ? a : b; }",  # of two zeros the second, as NumPy's vectors
    "minimum": "(T a, T b) { return (a < b) | (a != a) ? a : b; }",
    "number_maximum": "(T a, T b) { return a > b ? a : b; }",  # a is not NaN: one instruction
    "number_minimum": "(T a, T b) { return a < b ? a : b; }",
    "maximum_number": "(T a, T b) { return !(a <= b) ? a : b; }",  # b is not NaN
    "minimum_number": "(T a, T b) { return !(a >= b) ? a : b; }",
    "fmaximum": "(T a, T b) { return (a >= b) | (b != b) ? a : b; }",
    "fminimum": "(T a, T b) { return (a <= b) | (b != b) ? a : b; }",
    "sign": "(T a) { return a != a ? a : (T)((a > 0) - (a < 0)); }",
    "vector_sign": "(T a) { return a > 0 ? 1 : a < 0 ? -1 : a + 0; }",  # of zeros 0, of NaN itself
    "isign": "(T a) { return (T)((a > 0) - (a < 0)); }",
    "iabs": "(T a) { return a < 0 ? (T)(0 - (U)a) : a; }",
    "imax": "(T a, T b) { return a > b ? a : b; }",
    "imin": "(T a, T b) { return a < b ? a : b; }",
    "floordiv": (
        "(T a, T b) { if (b == 0) return 0; if (b == -1) return (T)(0 - (U)a); "
        "T q = (T)(a / b); return (a % b != 0) & ((a < 0) != (b < 0)) ? (T)(q - 1) : q; }"
    ),
    "floormod": (
        "(T a, T b) { if (b == 0 || b == -1) return 0; T r = (T)(a % b); "
        "return (r != 0) & ((r < 0) != (b < 0)) ? (T)(r + b) : r; }"
    ),
    "truncmod": "(T a, T b) { return b == 0 || b == -1 ? (T)0 : (T)(a % b); }",
    "udiv": "(T a, T b) { return b == 0 ? (T)0 : (T)(a / b); }",
    "umod": "(T a, T b) { return b == 0 ? (T)0 : (T)(a % b); }",
    "unsigned": (  # of negative numbers, infinities and NaN what NumPy's casts make of them
        "(double a) { return a >= 9223372036854775808.0 ? (T)(long long)(a - 9223372036854775808.0) ^ (T)1 << 63 "
        ": (T)(long long)a; }"
    ),
    # GCC 12 takes 0.0 - (double)x of an integer for -(double)x, which is -0.0 for 0
    "from_zero": "(T a) { return a == 0 ? (T)0 : a != a ? a : -a; }",  # a NaN keeps its sign, which `copysign` shows
    "minus": "(T a, T b) { return a - b; }",
    "plus": "(T a, T b) { return a + b; }",
    # of NaN the least integer, as x86 casts it; see also `FOR_GCC`
    "integer": "(double a) { return (T)a | (a != a ? (T)((U)1 << (8 * sizeof(T) - 1)) : (T)0); }",
    "integer_float": "(float a) { return (T)a | (a != a ? (T)((U)1 << (8 * sizeof(T) - 1)) : (T)0); }",
    "whole": "(double a) { return (T)a; }",  # of a number that has been found to fit
    "whole_float": "(float a) { return (T)a; }",
    "idiv1": (  # of 0, what x86 casts an infinity to
        "(T a) { return a == 1 || ((T)-1 < 0 && a == (T)-1) ? a : a == 0 && (T)-1 < 0 && sizeof(T) > 2 "
        "? (T)((U)1 << (8 * sizeof(T) - 1)) : (T)0; }"
    ),
    "fremainder": (
        "(T a, T b)\n{" + _REST + "    union { T value; U bits; } other = {b};  // no `?:`, of which GCC makes a jump\n"
        "    other.bits &= -(U)((b < 0) != (r < 0));\n    const T found = r + other.value;\n"
        "    return r == 0 ? copysign{f}((T)0, b) : found;\n}"
    ),
    "ffloordiv": (
        "(T a, T b)\n{\n    if (b == 0) return a / b;" + _REST + "    T q = (a - r) / b; "
        "if (r != 0 && (b < 0) != (r < 0)) q -= 1; if (q == 0) return copysign{f}((T)0, a / b); "
        "T w = floor{f}(q); return q - w > (T)0.5 ? w + 1 : w; }"
    ),
    "divided": (  # see `_by_constant`
        "(T a, T b, T inverse) {\n#ifdef FP_FAST_FMA{F}\n"
        "    const T q = a * inverse, rest = fma{f}(-q, b, a);  // what the quotient leaves, exactly\n"
        "    return rest < 0 || rest > 0 ? fma{f}(rest, inverse, q) : q;  // zeros, infinities and NaN stay\n"
        "#else\n    return a / b;\n#endif\n}"
    ),
    "half_after": (  # of two zeros, the first; since NumPy 2.5 the second, as for the other floats
        "(T a, T b) { union { T value; unsigned short bits; } x, y; x.value = a; y.value = b; "
        "const unsigned short u = x.bits & 0x7fff, v = y.bits & 0x7fff; "
        "if (u > 0x7c00 || v > 0x7c00) x.bits = 0x7e00; else if (u == 0 && v != 0) x.bits = (y.bits & 0x8000) + 1; "
        f"else if ((u | v) == 0) x.bits = {'y' if NUMPY_2_5 else 'x'}.bits; "
        "else if (x.bits != y.bits) x.bits += ((x.bits ^ y.bits) & 0x8000) || u > v ? -1 : 1; "
        "return x.value; }"
    ),
    "ipow": "(T a, T b) { U r = 1, x = (U)a; for (; b > 0; b >>= 1) { if (b & 1) r *= x; x *= x; } return (T)r; }",
    "gcd": "(T a, T b) { U x = a < 0 ? 0 - (U)a : (U)a, y = b < 0 ? 0 - (U)b : (U)b; "
    "while (x != 0) { U r = y % x; y = x; x = r; } return (T)y; }",
    "lcm": "(T a, T b) { U x = a < 0 ? 0 - (U)a : (U)a, y = b < 0 ? 0 - (U)b : (U)b, p = x, q = y; "
    "while (p != 0) { U r = q % p; q = p; p = r; } return q == 0 ? (T)0 : (T)(x / q * y); }",
    "bitcount": "(T a) { U x = a < 0 ? 0 - (U)a : (U)a; T c = 0; for (; x != 0; x &= x - 1) c += 1; return c; }",
    "fldexp": (
        "(T a, long long e) { return ldexp{f}(a, (int)(e > 9999 ? 9999 : e < -9999 ? -9999 : e)); }"
    ),
    "shl": "(T a, T b) { return (U)b < 8 * sizeof(T) ? (T)((U)a << b) : (T)0; }",
    "shr": "(T a, T b) { return (U)b < 8 * sizeof(T) ? (T)(a >> b) : (T)(a < 0 ? -1 : 0); }",
    "wrapadd": "(T a, T b) { return (T)((U)a + (U)b); }",
    "wrapsub": "(T a, T b) { return (T)((U)a - (U)b); }",
    "wrapmul": "(T a, T b) { return (T)((W)a * (W)b); }",
}  # fmt: skip

HELPERS["multiply_add"] = (
    "(T a, T b, T c)\n{\n#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__CUDACC__)\n"
    "    return fma{f}(a, b, c);\n#else\n    return a * b + c;\n#endif\n}"
)
HELPERS |= {  # as NumPy writes them out
    "complex_log1p_real": "(T a, T b) { return log{f}(hypot{f}(a + 1, b)); }",
    "complex_log1p_imag": "(T a, T b) { return atan2{f}(b, a + 1); }",
    "complex_expm1_real": "(T a, T b) { T s = sin{f}(b / 2); return expm1{f}(a) * cos{f}(b) - 2 * s * s; }",
    "complex_expm1_imag": "(T a, T b) { return exp{f}(a) * sin{f}(b); }",
}
for _part, _read in (("real", "__real__"), ("imag", "__imag__")):
    for _name in COMPLEX_FUNCTIONS[:-2]:
        _call = "c" + MATH[_name]
        HELPERS[f"complex_{_name}_{_part}"] = (
            f"(T a, T b) {{ return {_read} __builtin_{_call}{{f}}(__builtin_complex(a, b)); }}"
        )
    HELPERS[f"complex_power_{_part}"] = f"(T a, T b, T c, T d) {{ {_POWER} return {_part}; }}"


_POSITIVE, _OTHER = "(a > 0) & (a < INFINITY)", "a == 0 ? -INFINITY : a < 0 ? -NAN : a"
_ORDINARY = {
    "exp": ("(a >= (sizeof a == 4 ? -104 : -746)) & (a <= (sizeof a == 4 ? 89 : 710))", "a < 0 ? 0 : a + INFINITY"),
    "log": (_POSITIVE, _OTHER), "log2": (_POSITIVE, _OTHER), "log10": (_POSITIVE, _OTHER),
}  # fmt: skip
"""Where these functions have values that must be computed, and what they are elsewhere. A vector function leaves the
whole vector to the scalar one where a single lane has a special value, as masked scores and logarithms of 0 have: ten
to twenty times slower (glibc 2.36)."""

_ORDINARY_ONE = """(T a)
{
    const bool within = @where@;
    // No `within ? a : 1` in the call: GCC would compute it of `a` on both paths
    union { T value; U bits; } x = {a}, one = {1};
    x.bits = (x.bits & -(U)within) | (one.bits & ~-(U)within);
    const T value = @name@{f}(x.value);
    return within ? value : @other@;
}"""
# GCC has no vectors of `signbit`
HELPERS["below_zero"] = "(T a) { union { T value; U bits; } x = {a}; return x.bits >> (8 * sizeof a - 1) & 1; }"
# GCC makes one call of the sine and the cosine of a number, of which there are no vectors
HELPERS["unlike"] = "(T a) { union { T value; U bits; } x = {a}; x.bits |= (U)py_zero; return x.value; }"
HELPERS["select"] = """(bool c, T a, T b)
{
    // No `c ? a : b`: GCC would call the functions of which `a` and `b` are on one path, where it has no vector of them
    union { T value; U bits; } x = {a}, y = {b};
    x.bits = (x.bits & -(U)c) | (y.bits & ~-(U)c);
    return x.value;
}"""
for _name, (_where, _other) in _ORDINARY.items():
    HELPERS[f"vector_{_name}"] = (
        _ORDINARY_ONE.replace("@where@", _where).replace("@other@", _other).replace("@name@", _name)
    )

PRODUCTS = range(3, 9)
"""Exponents of floats that are products (`_PRODUCT`)."""
_PRODUCT = """(T a)
{
#ifdef FP_FAST_FMA{F}
    T high = a * a, low = fma{f}(a, a, -high);  // what rounding takes goes along: the last digit is as good as pow's
    for (int k = 2; k < @k@; ++k) {
        const T more = high * a;
        low = fma{f}(high, a, -more) + low * a;
        high = more;
    }
    const T all = high + low;
    return (all - all == 0) & (all != 0) ? all : high;  // infinities, NaN, and zeros with their signs
#else
    return pow{f}(a, @k@);
#endif
}"""
for _k in PRODUCTS:
    HELPERS[f"power_{_k}"] = _PRODUCT.replace("@k@", str(_k))

_QUOTIENT = """(T a)
{
#ifdef FP_FAST_FMA{F}
    const T one = 1 / a, rest = fma{f}(-one, a, 1) * one;  // of what its own reciprocal is, to twice the digits
    T high = one, low = rest;
    for (int k = 1; k < @k@; ++k) {
        const T more = high * one;
        low = fma{f}(high, one, -more) + low * one + high * rest;
        high = more;
    }
    const T all = high + low;
    return (all - all == 0) & (all != 0) ? all : high;
#else
    return pow{f}(a, -@k@);
#endif
}"""
_HALVES = """(T a)
{
#ifdef FP_FAST_FMA{F}
    const T size = fabs{f}(a);  // infinity's power is no root's
    T high = sqrt{f}(size), low = fma{f}(-high, high, size);
    low *= (T)0.5;
    for (int k = 0; k < @k@; ++k) {  // the root's rest is low / high, its product with size low * high
        const T more = high * size;
        low = fma{f}(high, size, -more) + low * (k ? size : high);
        high = more;
    }
    const T all = high + low, power = (all - all == 0) & (all != 0) ? all : high;
    return (a < 0) & (a - a == 0) ? (a - a) / (a - a) : power;
#else
    return pow{f}(a, (T)@k@.5);
#endif
}"""
_HALF_QUOTIENT = """(T a)
{
#ifdef FP_FAST_FMA{F}
    const T size = fabs{f}(a), one = 1 / size, rest = fma{f}(-one, size, 1) * one;
    T high = sqrt{f}(one), low = (fma{f}(-high, high, one) + rest) * ((T)0.5 * high * size);
    for (int k = 0; k < @k@; ++k) {
        const T more = high * one;
        low = fma{f}(high, one, -more) + low * one + high * rest;
        high = more;
    }
    const T all = high + low, power = (all - all == 0) & (all != 0) ? all : high;
    return (a < 0) & (a - a == 0) ? (a - a) / (a - a) : power;
#else
    return pow{f}(a, (T)-@k@.5);
#endif
}"""
for _k in PRODUCTS:
    HELPERS[f"power_minus_{_k}"] = _QUOTIENT.replace("@k@", str(_k))
HELPERS["power_minus_2"] = _QUOTIENT.replace("@k@", "2")
for _k in (1, 2, 3):
    HELPERS[f"power_{_k}_half"] = _HALVES.replace("@k@", str(_k))
    HELPERS[f"power_minus_{_k}_half"] = _HALF_QUOTIENT.replace("@k@", str(_k))

ZERO = '__attribute__((visibility("hidden"))) int64_t py_zero;  // nothing sets it, which a compiler must not know'
FOR_GCC = {
    name: HELPERS[name].replace("(T)a", "(T)a | (T)py_zero", 1)
    for name in ("integer", "integer_float", "whole", "whole_float")
}
"""GCC 12 takes (double)(int)x for trunc(x), which is -0.0 for -0.5, on each path on which it knows the other terms."""
