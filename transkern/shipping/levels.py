"""Instruction sets that a package is built for, and the choice among them when it is imported.

The levels of x86-64 are those of its psABI (https://gitlab.com/x86-psABIs/x86-64-ABI): v2 is any processor since about
2009, v3 has AVX2 and FMA (2013), v4 has AVX-512. Other machines have one build, for what their compiler takes.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass

from transkern.targets.cpu.compiler import FLAGS


@dataclass(frozen=True)
class Level:
    """A build: its `name`, the `rank` that a processor must have for it, and what the compiler is told."""

    name: str
    rank: int
    flags: tuple[str, ...] = ()

    def all_flags(self) -> tuple[str, ...]:
        """Everything the compiler is called with, but for what a program asks for."""
        return (*self.flags, *(f for f in FLAGS if f != "-march=native"))


X86_64 = (
    Level("v2", 2, ("-march=x86-64-v2", "-mtune=generic")),
    Level("v3", 3, ("-march=x86-64-v3", "-mtune=generic")),
    Level("v4", 4, ("-march=x86-64-v4", "-mtune=generic", "-mprefer-vector-width=512")),
)

GENERIC = (Level("generic", 0),)


def is_x86_64() -> bool:
    return platform.machine() in ("x86_64", "AMD64")


def levels(names: tuple[str, ...] = ()) -> tuple[Level, ...]:
    """The levels of this kind of machine that are named, all where none is; the best first."""
    known = X86_64 if is_x86_64() else GENERIC
    return tuple(level for level in reversed(known) if not names or level.name in names)


RANK_OF_PROCESSOR = """\
/* The level of x86-64 of the processor that this runs on: 1 to 4. Compiled for every one of them. */

int level(void) {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("ssse3") || !__builtin_cpu_supports("popcnt"))
        return 1;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi")
        || !__builtin_cpu_supports("bmi2"))
        return 2;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw")
        || !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq")
        || !__builtin_cpu_supports("avx512vl"))
        return 3;
    return 4;
}
"""

RANK_FLAGS = ("-O1", "-fPIC", "-shared", "-march=x86-64")
