"""The CUDA simulator: each part of the execution model against NumPy, and each kind of planted bug found."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from transkern.targets.cuda.simulator import device as cp
from transkern.targets.cuda.simulator.check import Launch, check
from transkern.targets.cuda.simulator.compile import CompileError, LaunchError, Module
from transkern.targets.cuda.simulator.source import SourceError, find_kernels, lower_shared, waits


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def run(text: str, name: str, grid: Any, block: Any, *args: object, cooperative: bool = False, **options: Any) -> None:
    module = cp.RawModule(code=text, backend="nvrtc", enable_cooperative_groups=cooperative)
    kernel = module.get_function(name)
    limit = options.get("shared_mem", 0)
    kernel.max_dynamic_shared_size_bytes = max(limit, kernel.max_dynamic_shared_size_bytes)
    kernel(
        grid if isinstance(grid, tuple) else (grid,), block if isinstance(block, tuple) else (block,), args, **options
    )


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
    assert lower_shared(f"void f() {{ {before} }} // __shared__ int x;") == f"void f() {{ {after} }} // __shared__ int x;"


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
        (lambda x: (x.astype(np.float64), x, np.float32(1), 4), TypeError, r"`x` is a const float32\*; got an array of float64"),
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


# ---- barriers, warps, shared memory ----------------------------------------------------------------------------------

BLOCKS = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ __forceinline__ float warp_sum(float value) {
    #pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1) value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

// Sums in double order: warps, then the warps' sums.
extern "C" __global__ void block_sum(const float* x, float* out) {
    __shared__ float partial[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    float value = warp_sum(x[blockIdx.x * blockDim.x + threadIdx.x]);
    if (lane == 0) partial[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = warp_sum(lane < blockDim.x / 32 ? partial[lane] : 0.0f);
        if (lane == 0) out[blockIdx.x] = value;
    }
}

extern "C" __global__ void block_scan(int* x) {
    extern __shared__ __align__(16) unsigned char shared[];
    int* tile = reinterpret_cast<int*>(shared);
    const int t = threadIdx.x;
    tile[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int step = 1; step < (int)blockDim.x; step <<= 1) {
        const int left = t >= step ? tile[t - step] : 0;
        __syncthreads();
        tile[t] += left;
        __syncthreads();
    }
    x[blockIdx.x * blockDim.x + t] = tile[t];
}

extern "C" __global__ void shuffles(int* out) {
    const int lane = threadIdx.x;
    out[lane] = __shfl_sync(0xffffffffu, lane * 10, 5);
    out[32 + lane] = __shfl_sync(0xffffffffu, lane, 3, 8);
    out[64 + lane] = __shfl_up_sync(0xffffffffu, lane, 1);
    out[96 + lane] = __shfl_down_sync(0xffffffffu, lane, 2, 16);
    out[128 + lane] = __shfl_xor_sync(0xffffffffu, lane, 7);
    const long long wide = __shfl_xor_sync(0xffffffffu, (1ll << 40) + lane, 1);
    out[160 + lane] = (int)(wide - (1ll << 40));
    out[192 + lane] = (int)__shfl_sync(0xffffffffu, lane + 0.5, 31);
}

extern "C" __global__ void votes(unsigned* out) {
    const unsigned lane = threadIdx.x & 31;
    unsigned result = __ballot_sync(0xffffffffu, lane % 3 == 0);
    if (lane == 0) out[0] = result;
    result = __any_sync(0xffffffffu, lane == 7) + 2 * __all_sync(0xffffffffu, lane < 31) + 4 * __all_sync(0xffffffffu, 1);
    if (lane == 0) out[1] = result;
    // Two halves of a warp on their own ways.
    if (lane < 16) result = __ballot_sync(0x0000ffffu, lane & 1);
    else result = __ballot_sync(0xffff0000u, 1);
    if (lane % 16 == 0) out[2 + lane / 16] = result;
    __syncwarp();
    result = __reduce_add_sync(0xffffffffu, lane);
    if (lane == 9) out[4] = result;
    result = __syncthreads_count(threadIdx.x % 5 == 0) + 1000 * __syncthreads_or(threadIdx.x == 63)
        + 2000 * __syncthreads_and(threadIdx.x < 63);
    if (threadIdx.x == 40) out[5] = result;
    if (threadIdx.x == 0) out[6] = __activemask();
}

extern "C" __global__ void lanes_leave(int* out) {
    if (threadIdx.x >= 20) return;
    out[threadIdx.x] = __shfl_sync(0xffffffffu, (int)threadIdx.x, 19);
}

extern "C" __global__ void stale(int* out) {
    __shared__ int kept;
    if (blockIdx.x == 0 && threadIdx.x == 0) kept = 1;
    __syncthreads();
    out[blockIdx.x] = kept;
}

template <int N>
__device__ int tiled(int value) {
    __shared__ int tile[N];
    tile[threadIdx.x % N] = value;
    __syncthreads();
    return tile[(threadIdx.x + 1) % N];
}
extern "C" __global__ void templates(int* out) {
    const int a = tiled<32>(threadIdx.x), b = tiled<16>(threadIdx.x % 16);
    out[threadIdx.x] = a * 100 + b;
}

extern "C" __global__ void many_barriers(int* x, int n) {
    __shared__ int turn;
    if (threadIdx.x == 0) turn = 0;
    for (int i = 0; i < n; i++) {
        __syncthreads();
        if (threadIdx.x == (i & 1023)) turn += 1;
    }
    __syncthreads();
    x[threadIdx.x] = turn;
}

// Each round, each block adds its neighbour's value of the round before.
extern "C" __global__ void grid_rounds(long long* x, int rounds) {
    cg::grid_group grid = cg::this_grid();
    __shared__ long long next;
    for (int i = 0; i < rounds; i++) {
        if (threadIdx.x == 0) next = x[blockIdx.x] + x[(blockIdx.x + 1) % gridDim.x];
        grid.sync();
        if (threadIdx.x == 0) x[blockIdx.x] = next;
        grid.sync();
    }
}

__device__ void spin_barrier(unsigned* arrived, unsigned goal) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1u);
        while (*(volatile unsigned*)arrived < goal) __nanosleep(32);
        __threadfence();
    }
    __syncthreads();
}
extern "C" __global__ void spin_rounds(long long* x, unsigned* arrived, int rounds) {
    unsigned goal = 0;
    __shared__ long long next;
    for (int i = 0; i < rounds; i++) {
        if (threadIdx.x == 0) next = x[blockIdx.x] + x[(blockIdx.x + 1) % gridDim.x];
        spin_barrier(arrived, goal += gridDim.x);
        if (threadIdx.x == 0) x[blockIdx.x] = next;
        spin_barrier(arrived, goal += gridDim.x);
    }
}

extern "C" __global__ void spin_by_atomics(int* flag, int* out) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        while (atomicAdd(flag, 0) == 0) { }
        out[0] = 42;
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) atomicExch(flag, 1);
}

extern "C" __global__ void some_skip(int* x) {
    if (threadIdx.x < 16) __syncthreads();
}
extern "C" __global__ void two_barriers(int* x) {
    if (threadIdx.x < 16) __syncthreads();
    else
        __syncthreads();
}
extern "C" __global__ void crossed(int* x) {
    if (threadIdx.x < 16) __syncwarp(0xffffffffu);
    else __syncthreads();
}
extern "C" __global__ void not_in_mask(int* x) { __syncwarp(1u); }
extern "C" __global__ void endless(int* x) {
    while (atomicAdd(x, 0) == 0) __nanosleep(100);
}
extern "C" __global__ void deep(int* x) {
    volatile char local[200000];
    for (int i = 0; i < 200000; i++) local[i] = 1;
    x[0] = local[5];
    __syncthreads();
}
extern "C" __global__ void too_much(int* x) {
    __shared__ int tile[20000];
    tile[threadIdx.x] = 1;
    __syncthreads();
}
"""


@pytest.fixture(scope="module")
def blocks() -> cp.RawModule:
    return cp.RawModule(code=BLOCKS)


def test_block_reduction(blocks: cp.RawModule) -> None:
    x = np.random.default_rng(0).integers(0, 100, (3, 256)).astype(np.float32)
    out = cp.empty(3, np.float32)
    blocks.get_function("block_sum")((3,), (256,), (cp.asarray(x), out))
    np.testing.assert_array_equal(out.get(), x.sum(1))


def test_block_scan_in_dynamic_shared_memory(blocks: cp.RawModule) -> None:
    x = np.random.default_rng(1).integers(-9, 9, (4, 512)).astype(np.int32)
    on_device = cp.asarray(x)
    blocks.get_function("block_scan")((4,), (512,), (on_device,), shared_mem=512 * 4)
    np.testing.assert_array_equal(on_device.get(), x.cumsum(1))


def test_shuffles(blocks: cp.RawModule) -> None:
    out = cp.empty((7, 32), np.int32)
    blocks.get_function("shuffles")((1,), (32,), (out,))
    lane = np.arange(32)
    expected = [
        np.full(32, 50),
        lane // 8 * 8 + 3,
        np.maximum(lane - 1, 0),
        np.where(lane % 16 < 14, lane + 2, lane),
        lane ^ 7,
        lane ^ 1,
        np.full(32, 31),
    ]
    np.testing.assert_array_equal(out.get(), expected)


def test_votes(blocks: cp.RawModule) -> None:
    out = cp.empty(7, np.uint32)
    blocks.get_function("votes")((1,), (64,), (out,))
    thirds = sum(1 << i for i in range(0, 32, 3))
    assert out.get().tolist() == [thirds, 5, 0xAAAA, 0xFFFF0000, 496, 1013, 0xFFFFFFFF]


def test_collectives_do_not_wait_for_lanes_that_left(blocks: cp.RawModule) -> None:
    out = cp.zeros(32, np.int32)
    blocks.get_function("lanes_leave")((1,), (32,), (out,))
    assert out.get().tolist() == [19] * 20 + [0] * 12


def test_shared_memory_is_poisoned_anew_for_each_block(blocks: cp.RawModule) -> None:
    out = cp.empty(2, np.int32)
    blocks.get_function("stale")((2,), (32,), (out,))
    assert out.get().view(np.uint32).tolist() == [1, 0xCDCDCDCD]


def test_each_instantiation_has_its_shared_memory(blocks: cp.RawModule) -> None:
    out = cp.empty(32, np.int32)
    blocks.get_function("templates")((1,), (32,), (out,))
    t = np.arange(32)
    np.testing.assert_array_equal(out.get(), (t + 1) % 32 * 100 + (t + 1) % 16)


def test_barriers_are_fast(blocks: cp.RawModule) -> None:
    x = cp.empty(1024, np.int32)
    kernel = blocks.get_function("many_barriers")
    kernel((1,), (1024,), (x, 1))
    start = time.perf_counter()
    kernel((1,), (1024,), (x, 2000))
    seconds = time.perf_counter() - start
    assert x.get().tolist() == [2000] * 1024
    assert seconds < 0.3


def _rounds(x: np.ndarray[Any, Any], rounds: int) -> np.ndarray[Any, Any]:
    for _ in range(rounds):
        x = x + np.roll(x, -1)
    return x


def test_cooperative_groups() -> None:
    x = np.arange(8)
    on_device = cp.asarray(x)
    run(BLOCKS, "grid_rounds", 8, 64, on_device, 5, cooperative=True)
    np.testing.assert_array_equal(on_device.get(), _rounds(x, 5))


def test_spinning_grid_barrier() -> None:
    x = np.arange(8)
    on_device, arrived = cp.asarray(x), cp.zeros(1, np.uint32)
    run(BLOCKS, "spin_rounds", 8, 64, on_device, arrived, 5, cooperative=True)
    np.testing.assert_array_equal(on_device.get(), _rounds(x, 5))


def test_spinning_on_atomics_alone() -> None:
    flag, out = cp.zeros(1, np.int32), cp.zeros(1, np.int32)
    run(BLOCKS, "spin_by_atomics", 2, 32, flag, out, cooperative=True)
    assert int(out[0]) == 42


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ("some_skip", r"divergent barrier: thread \(16, 0, 0\) of block \(0, 0, 0\) left the kernel, while 16 of the 32 "
         r"threads wait: thread \(0, 0, 0\) of block \(0, 0, 0\) at __syncthreads\(\) in line LINE"),
        ("two_barriers", r"divergent barrier in block .*: thread \(0, 0, 0\) waits at __syncthreads\(\) in line LINE, "
         r"thread \(16, 0, 0\) at __syncthreads"),
        ("crossed", r"deadlock: 16 thread\(s\) wait at __syncwarp\(\) in line LINE, the first is thread \(0, 0, 0\).*; "
         r"16 thread\(s\) wait at __syncthreads"),
        ("not_in_mask", "a lane that is not in the mask of the warp collective in line LINE"),
        ("endless", "livelock: thread"),
        ("deep", "stack overflow"),
        ("too_much", "80000 bytes of static shared memory: the limit is 48 KB"),
    ],
)  # fmt: skip
def test_what_would_hang_or_fail_is_an_error(blocks: cp.RawModule, kernel: str, message: str) -> None:
    line = BLOCKS[: BLOCKS.index(f"void {kernel}(")].count("\n") + (1 if kernel == "not_in_mask" else 2)
    with pytest.raises(LaunchError, match=message.replace("LINE", str(line))):
        blocks.get_function(kernel)((1,), (32,), (cp.zeros(64, np.int32),))
    # The next launch starts from a clean state.
    test_collectives_do_not_wait_for_lanes_that_left(blocks)


def test_grid_sync_needs_a_cooperative_launch(blocks: cp.RawModule) -> None:
    with pytest.raises(LaunchError, match=r"grid\.sync\(\) needs a cooperative launch"):
        blocks.get_function("grid_rounds")((2,), (32,), (cp.zeros(2, np.int64), 1))
    with pytest.raises(LaunchError, match="200 blocks are too many for a cooperative launch: at most 132"):
        run(BLOCKS, "grid_rounds", 200, 1024, cp.zeros(200, np.int64), 1, cooperative=True)


def test_contexts_of_ucontext(tmp_path: Path) -> None:
    """The portable switch runs the same kernels (a process has one runtime, so a sanitized program is used)."""
    text = BLOCKS.replace("#include <cooperative_groups.h>", "")
    x = np.arange(64, dtype=np.int32)
    with pytest.MonkeyPatch.context() as patch:
        from transkern.targets.cuda.simulator import compile as building

        defines = {kind: f"{flag} -DTRANSKERN_UCONTEXT".split() for kind, flag in building._RUNTIME_DEFINES.items()}
        patch.setattr(building, "_RUNTIME_DEFINES", defines)
        report = check(text, [("block_scan", 2, 32, ("x",), 128)], {"x": x}, cache=tmp_path)
    assert report.ok, report.text
    np.testing.assert_array_equal(report.arrays["x"].reshape(2, 32), x.reshape(2, 32).cumsum(1))


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


# ---- the sanitizers --------------------------------------------------------------------------------------------------

MEMORY = r"""
extern "C" __global__ void reads(const float* x, float* y, int n) {
    y[0] = x[n];
}
extern "C" __global__ void writes(const float* x, float* y, int n) {
    y[n] = 1.0f;
}
extern "C" __global__ void shared_static(const float* x, float* y, int n) {
    __shared__ float tile[32];
    __shared__ float other[32];
    float* p = tile;
    other[threadIdx.x] = 1.0f;
    p[threadIdx.x + n] = 1.0f;
    __syncthreads();
    y[0] = tile[0] + other[0];
}
extern "C" __global__ void shared_dynamic(const float* x, float* y, int n) {
    extern __shared__ float scratch[];
    scratch[threadIdx.x + n] = 1.0f;
    __syncthreads();
    y[0] = scratch[0];
}
extern "C" __global__ void local(const float* x, float* y, int n) {
    float mine[4] = {1, 2, 3, 4};
    float* p = mine;
    __syncthreads();
    y[0] = p[n & 7];
}
extern "C" __global__ void overflows(const float* x, float* y, int n) {
    y[0] = n + 2147483647;
}
extern "C" __global__ void shifts(const float* x, float* y, int n) {
    y[0] = 1 << (n + 28);
}
extern "C" __global__ void misaligned(const float* x, float* y, int n) {
    y[0] = reinterpret_cast<const float4*>(x + n % 4)[0].x;
}
"""


@pytest.mark.parametrize(
    ("kernel", "n", "found", "line"),
    [
        ("reads", 4, "heap-buffer-overflow", 3),
        ("reads", -1, "heap-buffer-overflow", 3),
        ("writes", 4, "heap-buffer-overflow", 6),
        ("shared_static", 1, "heap-buffer-overflow", 13),
        ("shared_dynamic", 1, "heap-buffer-overflow", 19),
        ("local", 4, "stack-buffer-overflow", 27),
        ("overflows", 4, "signed integer overflow", 30),
        ("shifts", 4, "shift exponent 32 is too large", 33),
        ("misaligned", 5, "misaligned address", 36),
    ],
)
def test_memory_errors_are_found(kernel: str, n: int, found: str, line: int) -> None:
    arrays = {"x": np.ones(8, np.float32)[: 4 if kernel != "misaligned" else 8], "y": np.zeros(4, np.float32)}
    report = check(MEMORY, [(kernel, 1, 32, ("x", "y", n), 128)], arrays, kind="memory")
    assert not report.ok
    assert found in report.text
    assert f"kernel.cu:{line}" in report.text


def test_correct_kernels_pass_the_memory_check() -> None:
    arrays = {"x": np.arange(4, dtype=np.float32), "y": np.zeros(4, np.float32)}
    launches = [
        Launch(kernel, 2, 32, ("x", "y", 0), 128)
        for kernel in ("shared_static", "shared_dynamic", "local", "overflows", "shifts", "misaligned", "reads")
    ]
    report = check(MEMORY, [*launches, Launch("writes", 1, 1, ("x", "y", 3))], arrays, kind="memory")
    assert report.ok, report.text
    assert report.arrays["y"].tolist() == [0, 0, 0, 1]


RACES = r"""
extern "C" __global__ void neighbours(float* y, int barrier) {
    __shared__ float tile[64];
    tile[threadIdx.x] = threadIdx.x;
    if (barrier) __syncthreads();
    y[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x ^ 1];
}
extern "C" __global__ void reused(float* y, int barrier) {
    __shared__ float tile[64];
    for (int i = 0; i < 3; i++) {
        tile[threadIdx.x] = i;
        __syncthreads();
        y[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
        if (barrier) __syncthreads();
    }
}
extern "C" __global__ void counter(float* y, int atomic) {
    if (threadIdx.x == 0) {
        if (atomic) atomicAdd(y, 1.0f);
        else y[0] += 1.0f;
    }
}
extern "C" __global__ void warps(float* y, int barrier) {
    __shared__ float tile[64];
    tile[threadIdx.x] = __shfl_xor_sync(0xffffffffu, (float)threadIdx.x, 2);
    if (barrier) __syncwarp();
    y[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x ^ 1];
}
__device__ unsigned arrived;
extern "C" __global__ void grids(float* y, int fences) {
    y[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (fences) __threadfence();
        atomicAdd(&arrived, 1u);
        while (*(volatile unsigned*)&arrived < gridDim.x) __nanosleep(20);
        if (fences) __threadfence();
    }
    __syncthreads();
    const float other = y[(blockIdx.x + 1) % gridDim.x * 64 + threadIdx.x];
    if (other != threadIdx.x) __trap();
}
"""


@pytest.mark.parametrize(
    ("kernel", "lines", "cooperative"),
    [
        ("neighbours", (4, 6), False),
        ("reused", (11, 13), False),
        ("counter", (20,), False),
        ("warps", (25, 27), False),
        ("grids", (31, 40), True),
    ],
)
def test_races_are_found(kernel: str, lines: tuple[int, ...], cooperative: bool) -> None:
    arrays = {"y": np.zeros(128, np.float32)}
    report = check(RACES, [Launch(kernel, 2, 64, ("y", 0), 0, cooperative)], arrays, kind="race")
    assert not report.ok
    assert "data race" in report.text
    assert all(f"kernel.cu:{line}" in report.text for line in lines), report.text
    # The corrected kernel is clean, twice in a row: launches are ordered.
    launch = Launch(kernel, 2, 64, ("y", 1), 0, cooperative)
    report = check(RACES, [launch] if cooperative else [launch, launch], arrays, kind="race")
    assert report.ok, report.text


def test_the_report_has_the_simulators_own_errors() -> None:
    report = check(BLOCKS, [("crossed", 1, 32, ("x",))], {"x": np.zeros(1, np.int32)}, kind="memory")
    assert not report.ok
    assert "crossed: deadlock" in report.text
