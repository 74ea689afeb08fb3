"""The CUDA simulator: the text is read, plain kernels run, arguments and launches are checked, CuPy's shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from transkern.targets.cuda.simulator import device as cp
from transkern.targets.cuda.simulator.compile import CompileError, LaunchError, Module
from transkern.targets.cuda.simulator.source import SourceError, find_kernels, lower_shared, waits

# ---- reading the text ------------------------------------------------------------------------------------------------


def test_kernels_are_found() -> None:
    text = """
    // __global__ void comment(int n) {}
    extern "C" __global__ void __launch_bounds__(256, 2) first(const float* __restrict__ x, long long n) {}
    extern "C" __global__ __launch_bounds__(128)
    void second(float (&y)[4], Pair<int, float> pair) {}
    template <class T> __global__ void third(T x) {}
    __global__ void fourth() { int x = 3; f(x); }
    """
    assert [(kernel.name, kernel.parameters) for kernel in find_kernels(text)] == [
        ("first", ("x", "n")),
        ("second", ("y", "pair")),
        ("fourth", ()),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("__shared__ float t[32][33];", "auto& t = ::transkern_sim::shared<float [32][33], (1)>([] {});"),
        ("__shared__ volatile int flag;", "auto& flag = ::transkern_sim::shared<volatile int , (1)>([] {});"),
        ("static __shared__ __align__(16) A<int, 2> a;", "auto& a = ::transkern_sim::shared<A<int, 2> , (16)>([] {});"),
        (
            "__shared__ float *p, q[2];",
            "auto& p = ::transkern_sim::shared<float* , (1)>([] {}); "
            "auto& q = ::transkern_sim::shared<float [2], (1)>([] {});",
        ),
        (
            "extern __shared__ __align__(16) unsigned char s[];",
            "unsigned char* const s = (unsigned char*)::transkern_sim::dynamic_shared();",
        ),
    ],
)
def test_shared_declarations(before: str, after: str) -> None:
    assert (
        lower_shared(f"void f() {{ {before} }} // __shared__ int x;") == f"void f() {{ {after} }} // __shared__ int x;"
    )


def test_shared_declarations_keep_the_lines() -> None:
    assert lower_shared("{\n__shared__ int\n a[2]; x").split("\n")[2] == " x"


@pytest.mark.parametrize("text", ["__shared__ int x;", 'extern "C" { extern __shared__ int x[]; }'])
def test_shared_outside_a_function_is_refused(text: str) -> None:
    with pytest.raises(SourceError, match=r"kernel\.cu:1: a __shared__ variable outside functions"):
        lower_shared(text)


def test_waits() -> None:
    assert waits("__syncthreads();")
    assert waits("v = __shfl_down_sync(m, v, 1);")
    assert not waits("// __syncthreads();\natomicAdd(p, 1);")


# ---- threads without barriers ----------------------------------------------------------------------------------------

PLAIN = r"""
#include <cuda_runtime.h>
#define REAL float

extern "C" __global__ void __launch_bounds__(256)
saxpy(const REAL* __restrict__ x, REAL* __restrict__ y, const REAL a, const long long n) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __fadd_rn(__fmul_rn(a, x[i]), y[i]);
}

extern "C" __global__ void indices(int* out) {
    const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}

extern "C" __global__ void atomics(int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
    atomicAdd(&i[0], 2);
    atomicMax(&i[1], (int)threadIdx.x);
    atomicMin(&i[2], -(int)threadIdx.x);
    atomicExch(&i[3], 7);
    atomicCAS(&i[4], 0, (int)threadIdx.x + 1);
    atomicSub(&i[5], 1);
    atomicOr(&u[0], 1u << (threadIdx.x & 31));
    atomicAnd(&u[1], ~(1u << (threadIdx.x & 31)));
    atomicXor(&u[2], 3u);
    atomicInc(&u[3], 9u);
    atomicAdd(&l[0], 1ull << 33);
    atomicAdd(&f[0], 0.5f);
    atomicAdd(&d[0], 0.25);
}

extern "C" __global__ void vectors(const float4* x, float2* y, int4* z, uchar4* w, double2* v) {
    const float4 a = __ldg(&x[0]);
    y[0] = make_float2(a.x + a.y, a.z + a.w);
    z[0] = make_int4(1, 2, 3, 4);
    w[0] = make_uchar4(1, 2, 3, 255);
    v[0] = make_double2(a.x, a.w);
}

extern "C" __global__ void bits(int* out, long long* wide, float* real) {
    out[0] = __popc(0xF0F0u);
    out[1] = __popcll(~0ull);
    out[2] = __ffs(8);
    out[3] = __ffs(0);
    out[4] = __clz(1);
    out[5] = __clz(0);
    out[6] = __clzll(1);
    out[7] = (int)__brev(1u);
    out[8] = __float_as_int(1.0f);
    out[9] = (int)__umulhi(0xFFFFFFFFu, 16u);
    out[10] = __float2int_rn(2.5f);
    out[11] = __float2int_rz(1e30f);
    out[12] = __float2int_rz(NAN);
    out[13] = min(3, 5) + max(3u, 7);
    wide[0] = __double_as_longlong(1.0);
    wide[1] = __ffsll(1ll << 40);
    real[0] = __uint_as_float(0x40490FDBu);
    real[1] = rsqrtf(4.0f);
    real[2] = max(NAN, 1.0f);
    real[3] = __fsqrt_rn(2.0f);
    real[4] = __fdiv_rn(1.0f, 3.0f);
    real[5] = (float)__longlong_as_double(0x3FF8000000000000ll);
    real[6] = fmaf(2.0f, 3.0f, 1.0f);
    real[7] = __half2float(__float2half(0.1f));
}

extern "C" __global__ void scalars(double* out, bool b, signed char c, unsigned char u, short s, unsigned long long l,
                                   float f, double d, half h) {
    out[0] = b; out[1] = c; out[2] = u; out[3] = s; out[4] = (double)l; out[5] = f; out[6] = d; out[7] = (float)h;
}

extern "C" __global__ void gamma(float* x) { x[0] = 5.0f; }
extern "C" __global__ void divide(int* x) { x[0] = x[0] / x[1]; }
extern "C" __global__ void wild(float** x) { **x = 1.0f; }
extern "C" __global__ void asserts(int* x) {
    assert(x[0] == 1);
}
"""


@pytest.fixture(scope="module")
def plain() -> cp.RawModule:
    return cp.RawModule(code=PLAIN)


def test_elementwise(plain: cp.RawModule) -> None:
    x, y = np.arange(1000, dtype=np.float32), np.linspace(0, 1, 1000, dtype=np.float32)
    on_device = cp.asarray(y)
    plain.get_function("saxpy")((4,), (256,), (cp.asarray(x), on_device, np.float32(3), np.int64(1000)))
    np.testing.assert_array_equal(cp.asnumpy(on_device), np.float32(3) * x + y)


def test_indices_in_three_dimensions(plain: cp.RawModule) -> None:
    out = cp.empty(2 * 3 * 4 * 24, np.int32)
    plain.get_function("indices")((2, 3, 4), (4, 3, 2), (out,))
    np.testing.assert_array_equal(cp.asnumpy(out).reshape(24, 24), np.arange(24)[:, None] * 1000 + np.arange(24))


def test_atomics(plain: cp.RawModule) -> None:
    i, u = cp.asarray(np.zeros(6, np.int32)), cp.asarray(np.array([0, 2**32 - 1, 0, 0], np.uint32))
    wide, single, double = cp.zeros(1, np.uint64), cp.zeros(1, np.float32), cp.zeros(1)
    plain.get_function("atomics")((2,), (64,), (i, u, wide, single, double))
    assert cp.asnumpy(i).tolist() == [256, 63, -63, 7, 1, -128]
    assert cp.asnumpy(u).tolist() == [2**32 - 1, 0, 0, 8]
    assert (int(wide[0]), float(single[0]), float(double[0])) == (128 << 33, 64.0, 32.0)


def test_vector_types(plain: cp.RawModule) -> None:
    x = cp.asarray(np.array([1, 2, 3, 4], np.float32))
    y, z, w, v = cp.empty(2, np.float32), cp.empty(4, np.int32), cp.empty(4, np.uint8), cp.empty(2)
    plain.get_function("vectors")((1,), (1,), (x, y, z, w, v))
    assert [a.get().tolist() for a in (y, z, w, v)] == [[3, 7], [1, 2, 3, 4], [1, 2, 3, 255], [1, 4]]


def test_intrinsics(plain: cp.RawModule) -> None:
    out, wide, real = cp.empty(14, np.int32), cp.empty(2, np.int64), cp.empty(8, np.float32)
    plain.get_function("bits")((1,), (1,), (out, wide, real))
    one = 0x3F800000
    assert out.get().tolist() == [8, 64, 4, 0, 31, 32, 63, -(2**31), one, 15, 2, 2**31 - 1, 0, 10]
    assert wide.get().tolist() == [0x3FF0000000000000, 41]
    half = float(np.float16(0.1))
    expected = np.array([np.pi, 0.5, 1, np.sqrt(2), 1 / 3, 1.5, 7, half], np.float32)
    np.testing.assert_array_equal(real.get(), expected)


def test_scalar_arguments(plain: cp.RawModule) -> None:
    out = cp.empty(8)
    values = (True, np.int8(-1), np.uint8(200), -300, np.uint64(2**63), np.float32(0.5), 0.25, np.float16(1.5))
    plain.get_function("scalars")((1,), (1,), (out, *values))
    assert out.get().tolist() == [1, -1, 200, -300, 2.0**63, 0.5, 0.25, 1.5]


def test_a_kernel_may_have_the_name_of_a_library_function(plain: cp.RawModule) -> None:
    x = cp.empty(1, np.float32)
    plain.get_function("gamma")((1,), (1,), (x,))
    assert float(x[0]) == 5.0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (lambda x: (x, x, np.float32(1)), TypeError, "takes 4 arguments; got 3"),
        (
            lambda x: (x.astype(np.float64), x, np.float32(1), 4),
            TypeError,
            r"`x` is a const float32\*; got an array of float64",
        ),
        (lambda x: (x, x, np.float64(1), 4), TypeError, "`a` is a float32; got .* of type float64"),
        (lambda x: (x, x, 1.0, 4), TypeError, "CuPy would pass the bytes of a Python float"),
        (lambda x: (x, x, 1, 4), TypeError, "CuPy would pass the bytes of a Python int"),
        (lambda x: (x, x, np.float32(1), 2**63), OverflowError, "too large"),
        (lambda x: (x, x, np.float32(1), x), TypeError, "`n` is a int64, not a pointer"),
        (lambda x: (x, 0, np.float32(1), 4), TypeError, r"`y` is a float32\*; got 0"),
        (lambda x: (cp.asnumpy(x), x, np.float32(1), 4), TypeError, "a NumPy array is not on the device"),
    ],
)
def test_wrong_arguments(plain: cp.RawModule, arguments: Any, error: type[Exception], message: str) -> None:
    x = cp.zeros(4, np.float32)
    with pytest.raises(error, match=message):
        plain.get_function("saxpy")((1,), (4,), arguments(x))


@pytest.mark.parametrize(
    ("grid", "block", "shared_mem", "message"),
    [
        ((1,), (32, 33), 0, "a block of 1056 threads: the limit is 1024"),
        ((1,), (2048,), 0, "block .* is not within"),
        ((0,), (32,), 0, "grid .* is not within"),
        ((1, 70000), (32,), 0, "grid .* is not within"),
        ((1,), (32,), 50000, "max_dynamic_shared_size_bytes is 49152"),
        ((1,), (32,), 300000, "max_dynamic_shared_size_bytes"),
    ],
)
def test_wrong_launches(plain: cp.RawModule, grid: Any, block: Any, shared_mem: int, message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        plain.get_function("gamma")(grid, block, (cp.zeros(1, np.float32),), shared_mem=shared_mem)


def test_faults_become_errors(plain: cp.RawModule) -> None:
    with pytest.raises(LaunchError, match="divide: integer division by zero in thread"):
        plain.get_function("divide")((1,), (1,), (cp.zeros(2, np.int32),))
    with pytest.raises(LaunchError, match="wild: memory fault at address"):
        plain.get_function("wild")((1,), (1,), (cp.zeros(1, np.uint64),))
    line = PLAIN[: PLAIN.index("assert(")].count("\n") + 1
    with pytest.raises(LaunchError, match=rf"assertion failed: x\[0\] == 1 in line {line}, thread \(0, 0, 0\)"):
        plain.get_function("asserts")((1,), (1,), (cp.zeros(1, np.int32),))


def test_compile_errors_name_the_line() -> None:
    with pytest.raises(CompileError, match=r"kernel\.cu:2:\d+: error"):
        Module('extern "C" __global__ void f(int* x) {\n    x[0] = nothing;\n}')


def test_options_and_missing_kernels() -> None:
    module = cp.RawModule(
        code='extern "C" __global__ void f(int* x) { x[0] = WIDTH; }', options=("-DWIDTH=9", "--fmad=false")
    )
    x = cp.empty(1, np.int32)
    module.get_function("f")((1,), (1,), (x,))
    assert int(x[0]) == 9
    with pytest.raises(LaunchError, match="no kernel `g`; it has f"):
        module.get_function("g")


# ---- CuPy's shape ----------------------------------------------------------------------------------------------------


def test_arrays_are_apart_from_the_hosts() -> None:
    host = np.arange(6.0)
    x = cp.asarray(host)
    x[0] = 7
    assert host[0] == 0
    assert cp.asarray(x) is not host
    assert np.shares_memory(cp.asarray(x), x)
    assert isinstance(x[1:], cp.ndarray)
    assert isinstance(x[1], cp.ndarray)
    assert x[1].shape == ()
    assert isinstance(x.sum(), cp.ndarray)
    assert isinstance(cp.argsort(x), cp.ndarray)
    assert isinstance(cp.dot(x, x), cp.ndarray)
    assert type(x.get()) is np.ndarray
    assert cp.float32 is np.float32
    assert cp.get_array_module(x) is cp
    assert cp.get_array_module(host) is np
    assert repr(x) == repr(x.get())
    cp.cuda.Stream.null.synchronize()


def test_new_memory_is_poisoned() -> None:
    assert np.isnan(cp.empty((2, 3), np.float32).get()).all()
    assert cp.empty(2, np.uint16).get().tolist() == [0xCDCD, 0xCDCD]
    assert cp.empty_like(np.zeros((2, 2), np.int32).T).get().view(np.uint32)[0, 0] == 0xCDCDCDCD
    assert cp.empty((0, 3), bool).shape == (0, 3)
