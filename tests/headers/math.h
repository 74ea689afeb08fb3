// What emitted C asks of the C library's <math.h>, for short compilations (tests/conftest.py): a fifth of their time is in
// the headers.
#pragma once

#define TRANSKERN_UNARY(X) \
    X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atanh) X(cbrt) X(ceil) X(cos) X(cosh) X(erf) X(erfc) X(exp) X(exp2) \
    X(expm1) X(fabs) X(floor) X(lgamma) X(log) X(log10) X(log1p) X(log2) X(logb) X(nearbyint) X(rint) X(round) X(sin) \
    X(sinh) X(sqrt) X(tan) X(tanh) X(tgamma) X(trunc)
#define TRANSKERN_BINARY(X) \
    X(atan2) X(copysign) X(fdim) X(fmax) X(fmin) X(fmod) X(hypot) X(nextafter) X(pow) X(remainder)

#define TRANSKERN_DECLARED(name) double name(double); float name##f(float);
TRANSKERN_UNARY(TRANSKERN_DECLARED)
#undef TRANSKERN_DECLARED
#define TRANSKERN_DECLARED(name) double name(double, double); float name##f(float, float);
TRANSKERN_BINARY(TRANSKERN_DECLARED)
#undef TRANSKERN_DECLARED
double fma(double, double, double), frexp(double, int *), ldexp(double, int), modf(double, double *), scalbn(double, int);
float fmaf(float, float, float), frexpf(float, int *), ldexpf(float, int), modff(float, float *), scalbnf(float, int);
long long llrint(double), llround(double);
long lrint(double), lround(double);
int ilogb(double), ilogbf(float);
long double fmodl(long double, long double);

#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
#define HUGE_VAL __builtin_huge_val()
#define M_PI 3.14159265358979323846
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf_sign(x)
#define isfinite(x) __builtin_isfinite(x)
#define isnormal(x) __builtin_isnormal(x)
#define signbit(x) __builtin_signbit(x)
