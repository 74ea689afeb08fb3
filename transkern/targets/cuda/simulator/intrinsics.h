// CUDA's vector types, casts, bit and mathematical functions that a C++ compiler on the CPU does not have.
#pragma once

#define TRANSKERN_VECTORS(T, name, a2, a4)                                                             \
    struct name##1 { T x; };                                                                           \
    struct alignas(a2) name##2 { T x, y; };                                                            \
    struct name##3 { T x, y, z; };                                                                     \
    struct alignas(a4) name##4 { T x, y, z, w; };                                                      \
    inline name##1 make_##name##1(T x) { return {x}; }                                                 \
    inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                         \
    inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                                 \
    inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
TRANSKERN_VECTORS(signed char, char, 2, 4)
TRANSKERN_VECTORS(unsigned char, uchar, 2, 4)
TRANSKERN_VECTORS(short, short, 4, 8)
TRANSKERN_VECTORS(unsigned short, ushort, 4, 8)
TRANSKERN_VECTORS(int, int, 8, 16)
TRANSKERN_VECTORS(unsigned, uint, 8, 16)
TRANSKERN_VECTORS(long long, longlong, 16, 16)
TRANSKERN_VECTORS(unsigned long long, ulonglong, 16, 16)
TRANSKERN_VECTORS(float, float, 8, 16)
TRANSKERN_VECTORS(double, double, 16, 16)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

using half = _Float16;
using __half = _Float16;
inline half __float2half(float x) { return static_cast<half>(x); }
inline half __float2half_rn(float x) { return static_cast<half>(x); }
inline float __half2float(half x) { return static_cast<float>(x); }

// ---- loads and stores with a cache hint ----------------------------------------------------------------------------

template <class T> T __ldg(const T* p) { return *p; }
template <class T> T __ldca(const T* p) { return *p; }
template <class T> T __ldcg(const T* p) { return *p; }
template <class T> T __ldcs(const T* p) { return *p; }
template <class T> void __stcg(T* p, T value) { *p = value; }
template <class T> void __stcs(T* p, T value) { *p = value; }

// ---- casts ---------------------------------------------------------------------------------------------------------

namespace transkern_sim {

template <class To, class From>
To bit_cast(From value) {
    static_assert(sizeof(To) == sizeof(From));
    To result;
    memcpy(&result, &value, sizeof result);
    return result;
}

// What the GPU's conversion does outside the range of T: the nearest end, and 0 (INT64_MIN for 64 bits) for NaN.
template <class T>
T saturate(double x) {
    constexpr T low = std::is_signed_v<T> ? T(T(1) << (sizeof(T) * 8 - 2)) * T(-2) : T(0), high = T(~low);
    if (x != x) return sizeof(T) == 8 ? T(1ull << 63) : T(0);
    if (x <= static_cast<double>(low)) return low;
    if (x >= static_cast<double>(high)) return high;
    return static_cast<T>(x);
}

}  // namespace transkern_sim

inline int __float_as_int(float x) { return transkern_sim::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return transkern_sim::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return transkern_sim::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return transkern_sim::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return transkern_sim::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return transkern_sim::bit_cast<double>(x); }
inline double __hiloint2double(int high, int low) {
    return transkern_sim::bit_cast<double>(static_cast<uint64_t>(static_cast<unsigned>(high)) << 32 |
                                           static_cast<unsigned>(low));
}
inline int __double2hiint(double x) { return static_cast<int>(transkern_sim::bit_cast<uint64_t>(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(transkern_sim::bit_cast<uint64_t>(x)); }

#define TRANSKERN_TO_INTEGER(From, from, To, to)                                                             \
    inline To __##from##2##to##_rn(From x) { return transkern_sim::saturate<To>(rint(double(x))); }          \
    inline To __##from##2##to##_rz(From x) { return transkern_sim::saturate<To>(trunc(double(x))); }         \
    inline To __##from##2##to##_rd(From x) { return transkern_sim::saturate<To>(floor(double(x))); }         \
    inline To __##from##2##to##_ru(From x) { return transkern_sim::saturate<To>(ceil(double(x))); }
TRANSKERN_TO_INTEGER(float, float, int, int)
TRANSKERN_TO_INTEGER(float, float, unsigned, uint)
TRANSKERN_TO_INTEGER(float, float, long long, ll)
TRANSKERN_TO_INTEGER(float, float, unsigned long long, ull)
TRANSKERN_TO_INTEGER(double, double, int, int)
TRANSKERN_TO_INTEGER(double, double, unsigned, uint)
TRANSKERN_TO_INTEGER(double, double, long long, ll)
TRANSKERN_TO_INTEGER(double, double, unsigned long long, ull)
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }

// ---- bits ----------------------------------------------------------------------------------------------------------

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline unsigned long long __brevll(unsigned long long x) {
    x = (x >> 1 & 0x5555555555555555ull) | (x & 0x5555555555555555ull) << 1;
    x = (x >> 2 & 0x3333333333333333ull) | (x & 0x3333333333333333ull) << 2;
    x = (x >> 4 & 0x0F0F0F0F0F0F0F0Full) | (x & 0x0F0F0F0F0F0F0F0Full) << 4;
    return __builtin_bswap64(x);
}
inline unsigned __brev(unsigned x) { return static_cast<unsigned>(__brevll(x) >> 32); }
inline int __mulhi(int x, int y) { return static_cast<int>((static_cast<long long>(x) * y) >> 32); }
inline unsigned __umulhi(unsigned x, unsigned y) { return static_cast<unsigned>((1ull * x * y) >> 32); }
inline long long __mul64hi(long long x, long long y) {
    return static_cast<long long>((static_cast<__int128>(x) * y) >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return static_cast<unsigned long long>((static_cast<unsigned __int128>(x) * y) >> 64);
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>(((static_cast<uint64_t>(high) << 32 | low) << (shift & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) >> (shift & 31));
}

// ---- arithmetic: the CPU rounds to nearest, and -ffp-contract=off keeps products and sums apart --------------------

#define TRANSKERN_ROUNDED(T, f, fused)                                    \
    inline T __##f##add_rn(T x, T y) { return x + y; }                  \
    inline T __##f##sub_rn(T x, T y) { return x - y; }                  \
    inline T __##f##mul_rn(T x, T y) { return x * y; }                  \
    inline T __##f##div_rn(T x, T y) { return x / y; }                  \
    inline T __##f##sqrt_rn(T x) { return sqrt(x); }                    \
    inline T __##f##rcp_rn(T x) { return T(1) / x; }                    \
    inline T fused##_rn(T x, T y, T z) { return fma(x, y, z); }
TRANSKERN_ROUNDED(float, f, __fmaf)
TRANSKERN_ROUNDED(double, d, __fma)

inline float rsqrtf(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float __frsqrt_rn(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float sinpif(float x) { return static_cast<float>(sin(M_PI * fmod(double(x), 2.0))); }
inline float cospif(float x) { return static_cast<float>(cos(M_PI * fmod(double(x), 2.0))); }
inline double sinpi(double x) { return sin(M_PI * fmod(x, 2.0)); }
inline double cospi(double x) { return cos(M_PI * fmod(x, 2.0)); }
inline float normcdff(float x) { return static_cast<float>(0.5 * erfc(-double(x) * M_SQRT1_2)); }
inline double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float fdividef(float x, float y) { return x / y; }

// CUDA has these overloads and no template: a call that is ambiguous here is ambiguous there.
#define TRANSKERN_MIN_MAX(T, A, B)                                                                     \
    inline T min(A a, B b) { return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(a) : static_cast<T>(b); } \
    inline T max(A a, B b) { return static_cast<T>(a) > static_cast<T>(b) ? static_cast<T>(a) : static_cast<T>(b); }
#define TRANSKERN_MIN_MAX_INTEGERS(S, U) \
    TRANSKERN_MIN_MAX(S, S, S)           \
    TRANSKERN_MIN_MAX(U, U, U)           \
    TRANSKERN_MIN_MAX(U, S, U)           \
    TRANSKERN_MIN_MAX(U, U, S)
TRANSKERN_MIN_MAX_INTEGERS(int, unsigned)
TRANSKERN_MIN_MAX_INTEGERS(long, unsigned long)
TRANSKERN_MIN_MAX_INTEGERS(long long, unsigned long long)
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(a, b); }
inline double max(float a, double b) { return fmax(a, b); }
inline double min(double a, float b) { return fmin(a, b); }
inline double max(double a, float b) { return fmax(a, b); }
