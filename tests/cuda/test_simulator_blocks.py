"""The CUDA simulator: barriers, warps, shared memory and grids against NumPy, and errors for what would hang."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from transkern.targets.cuda.simulator import device as cp
from transkern.targets.cuda.simulator.compile import LaunchError

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
    out[6] = __activemask();
    unsigned result = __ballot_sync(0xffffffffu, lane % 3 == 0);
    if (lane == 0) out[0] = result;
    result = __any_sync(0xffffffffu, lane == 7) + 2 * __all_sync(0xffffffffu, lane < 31)
        + 4 * __all_sync(0xffffffffu, 1);
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


def run_cooperative(name: str, grid: int, block: int, *args: object) -> None:
    module = cp.RawModule(code=BLOCKS, backend="nvrtc", enable_cooperative_groups=True)
    module.get_function(name)((grid,), (block,), args)


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
    run_cooperative("grid_rounds", 8, 64, on_device, 5)
    np.testing.assert_array_equal(on_device.get(), _rounds(x, 5))


def test_spinning_grid_barrier() -> None:
    x = np.arange(8)
    on_device, arrived = cp.asarray(x), cp.zeros(1, np.uint32)
    run_cooperative("spin_rounds", 8, 64, on_device, arrived, 5)
    np.testing.assert_array_equal(on_device.get(), _rounds(x, 5))


def test_spinning_on_atomics_alone() -> None:
    flag, out = cp.zeros(1, np.int32), cp.zeros(1, np.int32)
    run_cooperative("spin_by_atomics", 2, 32, flag, out)
    assert int(out[0]) == 42


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ("some_skip", r"divergent barrier: thread \(16, 0, 0\) of block \(0, 0, 0\) left the kernel, while 16 of the "
         r"32 threads wait: thread \(0, 0, 0\) of block \(0, 0, 0\) at __syncthreads\(\) in line LINE"),
        ("two_barriers", r"divergent barrier in block .*: thread \(0, 0, 0\) waits at __syncthreads\(\) in line LINE, "
         r"thread \(16, 0, 0\) at __syncthreads"),
        ("crossed", r"deadlock: 16 thread\(s\) wait at __syncwarp\(\) in line LINE, the first is thread \(0, 0, 0\).*; "
         r"16 thread\(s\) wait at __syncthreads"),
        ("not_in_mask", "a lane that is not in the mask of the warp collective in line LINE"),
        ("endless", "livelock: thread"),
        ("deep", "stack overflow: the kernel's local variables take more than 128 KB a thread"),
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
    with pytest.raises(LaunchError, match="300 blocks are too many for a cooperative launch: at most 264"):
        run_cooperative("grid_rounds", 300, 1024, cp.zeros(300, np.int64), 1)
