"""The simulator under the sanitizers: each kind of planted bug is found, and the corrected kernels are clean."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from transkern.targets.cuda.simulator import compile as building
from transkern.targets.cuda.simulator.check import Launch, check

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
extern "C" __global__ void scan(int* x) {
    extern __shared__ int tile[];
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
extern "C" __global__ void crossed(int* x) {
    if (threadIdx.x < 16) __syncwarp(0xffffffffu);
    else __syncthreads();
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
        ("local", 4, "insufficient space for an object", 27),
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
    report = check(MEMORY, [("crossed", 1, 32, ("x",))], {"x": np.zeros(1, np.int32)}, kind="memory")
    assert not report.ok
    assert "crossed: deadlock" in report.text


def test_a_kernel_that_never_ends_is_reported() -> None:
    text = 'extern "C" __global__ void f(volatile int* x) { while (*x == 0) {} }'
    report = check(text, [("f", 1, 1, ("x",))], {"x": np.zeros(1, np.int32)}, kind="memory", timeout=0.3)
    assert not report.ok
    assert report.text == "the kernels still ran after 0.3 s"


PLAIN = r"""
extern "C" __global__ void saxpy(const float* x, float* y, float a, long long n) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""


def test_kernels_without_barriers() -> None:
    arrays = {"x": np.arange(100, dtype=np.float32), "y": np.ones(100, np.float32)}
    kinds: tuple[Literal["memory", "race"], ...] = ("memory", "race")
    for kind in kinds:
        report = check(PLAIN, [("saxpy", 2, 64, ("x", "y", 2.0, 100))], arrays, kind=kind)
        assert report.ok, report.text
        np.testing.assert_array_equal(report.arrays["y"], arrays["x"] * 2 + 1)
    report = check(PLAIN, [("saxpy", 2, 64, ("x", "y", 2.0, 101))], arrays, kind="memory")
    assert "heap-buffer-overflow" in report.text


def test_contexts_of_ucontext(tmp_path: Path) -> None:
    """The portable switch runs the same kernels (a process has one runtime, so a sanitized program is used)."""
    x = np.arange(64, dtype=np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "_COMMON", (*building._COMMON, "-DTRANSKERN_UCONTEXT"))
        report = check(MEMORY, [("scan", 2, 32, ("x",), 128)], {"x": x}, cache=tmp_path)
    assert report.ok, report.text
    np.testing.assert_array_equal(report.arrays["x"].reshape(2, 32), x.reshape(2, 32).cumsum(1))
