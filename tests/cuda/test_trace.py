"""What a launch asks of memory, as the simulator counts it; loops as the machine code has them; the time of both."""

from __future__ import annotations

import numpy as np
import pytest

from tests.tools import require
from transkern.targets import chips
from transkern.targets.cuda.sass import inspect
from transkern.targets.cuda.simulator import device, paths, trace
from transkern.targets.cuda.simulator.trace import Launched, TracedModule, Watch

COPY = """
struct alignas(16) Four { float at[4]; };
extern "C" __global__ void strided(const float *x, float *y, const int step, const int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i * step];
}
extern "C" __global__ void words(const float *x, float *y, const int n) {
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) *(Four *)(y + i) = *(const Four *)(x + i);
}
extern "C" __global__ void alone(const float *x, float *y, const int n) {
    if (blockIdx.x == 0 && threadIdx.x == 0)
        for (int i = 0; i < n; i++) y[0] += x[i];
}
extern "C" __global__ void twice(const float *x, float *y, const int n) {
    __shared__ float first[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    first[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = first[63 - threadIdx.x] + x[i];
    __syncthreads();
}
"""
SOME = """
extern "C" __global__ void some(const float *x, float *y, const unsigned char *mask, const int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (mask[i]) {
            y[i] = 2 * x[i];
        }
    }
}
extern "C" __global__ void rows(const float *x, float *y, const int *count, const int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float sum = 0;
        for (int k = 0; k < count[i]; k++) {
            sum += x[k * n + i];
        }
        y[i] = sum;
    }
}
extern "C" __global__ void versions(const float *x, float *y, const int n) {
    const int i = threadIdx.x;
    if (n < 64) {
        y[i] = sqrtf(x[i]) / (1 + expf(x[i]) / x[i]);
    } else {
        y[i] = x[i];
    }
}
"""
N = 4096


def launch(kernel: str, grid: int, block: int, *args: object, watch: Watch | None = None) -> Launched:
    watch = watch or Watch()
    TracedModule(SOME if f" {kernel}(" in SOME else COPY, watch).launch(kernel, (grid,), (block,), args)
    (found,) = watch.launches
    return found


def arrays(n: int = N) -> tuple[np.ndarray, np.ndarray]:
    return np.ones(n, np.float32), np.zeros(n, np.float32)


@pytest.mark.parametrize(("step", "sectors"), [(0, 1), (1, 4), (2, 8), (8, 32), (100, 32)])
def test_sectors_are_those_of_the_addresses(step: int, sectors: int) -> None:
    x, y = arrays(101 * N)
    load, store = sorted(launch("strided", 4, 128, x, y, np.int32(step), np.int32(N)).sites, key=lambda s: s.write)
    assert (load.parameter, load.element, load.size, load.write) == ("x", 4, 4, False)
    assert load.lanes == store.lanes == N and load.requests == store.requests == N // 32
    assert load.sectors == sectors * load.sampled and store.sectors == 4 * store.sampled
    assert np.array_equal(y[:N], x[:N])


def test_words_are_one_access() -> None:
    x, y = arrays()
    found = launch("words", 8, 128, x, y, np.int32(N))
    assert sorted((s.size, s.element, s.lanes) for s in found.sites) == [(16, 4, N // 4)] * 2
    assert all(s.sectors == 16 * s.sampled for s in found.sites)
    assert found.read == found.written == 4 * N and found.longest == 2 and found.busy == N // 4


def test_a_thread_that_does_it_all_is_seen() -> None:
    x, y = arrays()
    found = launch("alone", 4, 64, x, y, np.int32(N))
    assert found.busy == 1 and found.longest == sum(s.lanes for s in found.sites) >= N
    assert found.read >= 4 * N and found.written == 32


def test_bytes_count_once_a_launch_and_barriers_once_a_block() -> None:
    x, y = arrays()
    found = launch("twice", N // 64, 64, x, y, np.int32(N))
    assert (found.read, found.written) == (4 * N, 4 * N)
    assert found.barriers == 2 * N // 64 and found.meetings == 0
    assert sum(s.lanes for s in found.sites if not s.write) in (N, 2 * N)  # x[i] is loaded again, or kept


@pytest.mark.parametrize("share", [0.02, 0.3, 1.0])
def test_lanes_that_parted_make_a_request_by_iteration(share: float) -> None:
    x, y = arrays()
    mask = (np.random.default_rng(0).random(N) < share).astype(np.uint8)
    found = launch("some", 1, 128, x, y, mask, np.int32(N))
    for site in found.sites:
        taken = mask if site.parameter != "mask" else np.ones(N)
        requests = taken.reshape(-1, 32).any(axis=1).sum()
        touched = taken.reshape(-1, 8).any(axis=1).sum() if site.parameter != "mask" else N // 32
        assert site.lanes == taken.sum() and site.requests == pytest.approx(requests, rel=0.2)
        assert site.requests * site.sectors / site.sampled == pytest.approx(touched, rel=0.2)


def test_inner_loops_of_different_lengths_meet_by_iteration() -> None:
    n = 256
    count = np.arange(n, dtype=np.int32) % 7
    found = launch("rows", 1, 64, np.ones(7 * n, np.float32), np.zeros(n, np.float32), count, np.int32(n))
    (load,) = (s for s in found.sites if s.parameter == "x")
    assert load.lanes == count.sum() and load.requests == 6 * n // 32
    assert load.sectors <= 4 * load.sampled


def test_versions_that_nobody_enters_are_left_out() -> None:
    require("nvrtc", "nvdisasm", "cuobjdump")
    whole = next(k for k in inspect(SOME, "sm_90") if k.name == "versions")
    left = {}
    for n in (32, 64):
        watch = Watch()
        launch("versions", 1, 32, *arrays(32), np.int32(n), watch=watch)
        text = paths.only(SOME, watch.entered)
        assert len(text.split("\n")) == len(SOME.split("\n")) and text.count("__trap()") == 5
        left[n] = next(k for k in inspect(text, "sm_90") if k.name == "versions").around.instructions
    assert left[64] < left[32] / 2 and left[32] <= whole.around.instructions


def test_what_the_host_waits_for_and_calls() -> None:
    launcher = (
        "import cupy as cp\n\ndef f(x):\n    order = cp.argsort(x)\n    y = cp.linalg.norm(x) + cp.maximum(x, 0)[0]\n"
        "    return order[0].item(), float(y), cp.zeros(3)\n"
    )
    with trace.watching() as watch:
        f = trace.launched("f", "", launcher, watch)
        f(device.asarray(np.arange(5.0)))
    assert watch.waited >= 2
    assert watch.calls == {"argsort": 1, "linalg.norm": 1, "maximum": 1, "zeros": 1} and watch.bytes > 100
    assert "get" in vars(device.ndarray) and "item" not in vars(device.ndarray)


def test_loops_of_the_machine_code() -> None:
    require("nvrtc", "nvdisasm", "cuobjdump")
    source = """
    extern "C" __global__ void four(const float *__restrict__ x, float *__restrict__ y, const int n) {
    #pragma unroll 1
        for (int i = threadIdx.x; i < n; i += 256) y[i] = x[i] + x[i + n] * x[i + 2 * n] * __sinf(x[i + 3 * n]);
    }
    extern "C" __global__ void nest(const float *__restrict__ x, float *__restrict__ y, const int n, const int m) {
    #pragma unroll 1
        for (int i = threadIdx.x; i < n; i += 256) {
            float t = 0;
    #pragma unroll 1
            for (int k = 0; k < m; k++) t += x[k * n + i];
            y[i] = t;
        }
    }
    extern "C" __global__ void word(const float4 *__restrict__ x, float4 *__restrict__ y) {
        y[threadIdx.x] = x[threadIdx.x];
    }
    """
    kernels = {k.name: k for k in inspect(source, "sm_90")}
    (loop,) = kernels["four"].loops
    assert (loop.accesses, loop.in_flight, loop.width) == (5, 16, 32)
    assert loop.arithmetic["float32"] >= 2 and loop.arithmetic["special"] == 1 and loop.instructions < 60
    inner = max(kernels["nest"].loops, key=lambda x: x.in_flight)  # another one stores zeros where m is 0
    assert (inner.accesses, inner.in_flight) == (1, 4) and inner.arithmetic == {"float32": 1}
    assert all(x.accesses == 1 for x in kernels["nest"].loops)  # the loop around it is none of them
    assert kernels["nest"].around.accesses == 1
    assert not kernels["word"].loops
    around = kernels["word"].around
    assert (around.accesses, around.in_flight, around.width) == (2, 16, 128)


GPU = chips.GPUS["sm_90"]
WORK = chips.Work(
    moved=1e9, read=1e9, sectors=1e9 / 32, instructions=1e6, blocks=10_000, threads=256, busy=256, resident=8,
    in_flight=16, longest=1, barriers=0, meetings=0,
)  # fmt: skip


def time(**changes: object) -> float:
    import dataclasses

    return chips.estimate(chips.least_time(GPU, dataclasses.replace(WORK, **changes)))


def test_as_many_blocks_as_registers_threads_and_shared_memory_allow() -> None:
    assert GPU.resident(256, 32, 0) == 8
    assert GPU.resident(1024, 64, 0) == 1 and GPU.resident(1024, 65, 0) == 1
    assert GPU.resident(256, 128, 0) == 2
    assert GPU.resident(32, 16, 0) == 32
    assert GPU.resident(128, 32, 100 << 10) == 2


def test_time_is_the_bytes_where_many_are_under_way() -> None:
    assert chips.bytes_in_flight(GPU, WORK) == 8 * 256 * 16
    assert 1e9 / GPU.memory < time() < 1.25 * 1e9 / GPU.memory


def test_time_grows_with_what_is_in_the_way() -> None:
    for changes in (
        {"in_flight": 1}, {"blocks": 4}, {"sectors": 1e9}, {"instructions": 1e11}, {"longest": 1e6}, {"meetings": 1000},
        {"barriers": 1e6}, {"moved": 2e9}, {"busy": 1}, {"instructions": 1e9, "resident": 1, "threads": 32},
    ):  # fmt: skip
        assert time(**changes) > 1.5 * time(), changes


def test_arithmetic_takes_its_units() -> None:
    cycle = 1 / (GPU.multiprocessors * GPU.clock)
    assert chips.arithmetic_time(GPU, {}) == 0
    assert chips.arithmetic_time(GPU, {"float32": 4, "special": 1}) == pytest.approx(2 * cycle)
    assert chips.arithmetic_time(GPU, {"float64": 4, "special": 0.5}) == pytest.approx(2 * cycle)
