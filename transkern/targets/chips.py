"""What chips can do at most, and the least time that a launch takes on one: for estimates where there is no device.

A GPU's figures are NVIDIA's own (white papers of A100, H100, B200; CUDA's table of compute capabilities). The 480
cycles of a load from memory were measured by others on A100 and H100 (Luo et al., "Benchmarking and Dissecting the
Nvidia Hopper GPU Architecture", 2024), and are taken for B200 as well; what a launch, a meeting of all blocks and a
barrier cost are round figures, not measured here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

LATENCY = 480
"""Cycles until what is loaded from memory is there."""
LAUNCH = 2e-6
"""Seconds between the starts of two kernels that the host launches one after the other."""
MEETING = 1.5e-6
"""Seconds until all blocks of a grid know that all have come."""
BARRIER = 30
"""Cycles of a barrier of a block."""
RESULT = 4
"""Cycles until the next instruction of a warp can use a result: of these units since Volta."""


@dataclass(frozen=True, slots=True)
class GPU:
    """A GPU: `memory` in bytes a second, `clock` in Hz; what a multiprocessor holds at once: `registers` of 32 bits,
    `threads`, `blocks`, `shared` bytes; it issues `issues` instructions of a warp a cycle, its units take so many
    lanes of float32, float64 and special functions (`units`), and it takes `port` bytes a cycle from the L2 cache."""

    name: str
    arch: str
    multiprocessors: int
    clock: float
    memory: float
    shared: int
    units: Mapping[str, int]
    registers: int = 65_536
    threads: int = 2048
    blocks: int = 32
    issues: int = 4
    port: int = 64

    def resident(self, threads: int, registers: int, shared: int) -> int:
        """How many blocks a multiprocessor holds at once; registers are given to warps in units of 256."""
        warps = -(-threads // 32)
        for_registers = self.registers // (-(-registers * 32 // 256) * 256 or 256) // warps
        for_shared = self.shared // (shared + 1024)  # of which the system takes 1 KiB a block
        return max(1, min(self.threads // (32 * warps), self.blocks, for_registers, for_shared))


_UNITS = {"float32": 128, "float64": 64, "special": 16}
GPUS = {
    "sm_80": GPU("A100 SXM 80 GB", "sm_80", 108, 1.41e9, 2.039e12, 164 << 10, _UNITS | {"float32": 64, "float64": 32}),
    "sm_90": GPU("H100 SXM", "sm_90", 132, 1.98e9, 3.35e12, 228 << 10, _UNITS),
    "sm_100": GPU("B200", "sm_100", 148, 1.85e9, 8.0e12, 228 << 10, _UNITS),
}
"""By the architecture that NVRTC compiles for."""
H200 = replace(GPUS["sm_90"], name="H200", memory=4.8e12)

TPUS = {"v4": "v4:2x2x1", "v5e": "v5e:2x2", "v5p": "v5p:2x2x1", "v6e": "v6e:2x2", "v7x": "tpu7x:2x2x1"}
"""Generations of TPUs, and topologies of theirs that libtpu compiles for."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a launch asks for: `moved` bytes from and to memory, `read` of them from it, `sectors` of the L2 cache,
    `instructions` of warps (None: not known), `blocks` of `threads`, of which so many have work (`busy`), bytes that
    one of these has under way (`in_flight`), the `longest` chain of loads that wait for each other, `barriers` that one
    block passes, and `meetings` of all."""

    moved: float
    read: float
    sectors: float
    instructions: float | None
    blocks: int
    threads: int
    busy: float
    resident: int
    in_flight: float
    longest: float
    barriers: float
    meetings: int


def bytes_in_flight(gpu: GPU, work: Work) -> float:
    """Bytes that the loads under way on a multiprocessor are for, of all of them on average."""
    at_once = min(work.blocks, work.resident * gpu.multiprocessors)
    return at_once * work.busy * work.in_flight / gpu.multiprocessors


def least_time(gpu: GPU, work: Work) -> dict[str, float]:
    """Seconds that each part of the chip is busy for (`estimate` puts them together).

    ``memory``: bytes over the full rate, and the time that they wait for each other where few are under way (Little's
    law): ``moved / rate + read * latency / under way``. ``cache``: sectors through the ports of the multiprocessors
    that have a block. ``instructions``: issued by the multiprocessors that have a block, by a warp one in so many
    cycles as a result takes. ``chain``: loads of one thread that wait for each other, blocks that come after each other
    included. ``barriers``: of blocks and of the grid.
    """
    used = min(work.blocks, gpu.multiprocessors)
    at_once = min(work.blocks, work.resident * gpu.multiprocessors)
    waves = -(-work.blocks // at_once)
    under_way = bytes_in_flight(gpu, work) * gpu.multiprocessors
    found = {
        "memory": work.moved / gpu.memory + (work.read * LATENCY / gpu.clock / under_way if under_way else 0.0),
        "cache": 32 * work.sectors / (used * gpu.port * gpu.clock),
        "chain": waves * work.longest * LATENCY / gpu.clock,
        "barriers": waves * work.barriers * BARRIER / gpu.clock + work.meetings * MEETING,
    }
    if work.instructions is not None:
        warps = at_once / used * min(-(-work.threads // 32), max(1.0, work.busy))
        found["instructions"] = work.instructions / (used * min(gpu.issues, warps / RESULT) * gpu.clock)
    return found


def estimate(parts: Mapping[str, float]) -> float:
    """Parts work side by side, and nothing does at a barrier: the longest of the others, and the barriers."""
    return parts["barriers"] + max(time for part, time in parts.items() if part != "barriers")


def arithmetic_time(gpu: GPU, arithmetic: Mapping[str, float]) -> float:
    """Seconds that all multiprocessors take for so many instructions of warps, of each unit: the busiest unit's."""
    cycles = max((32 * n / gpu.units[unit] for unit, n in arithmetic.items()), default=0.0)
    return cycles / (gpu.multiprocessors * gpu.clock)
