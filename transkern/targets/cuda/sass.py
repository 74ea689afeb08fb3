"""Machine code without a device: NVRTC compiles a text, and its disassembly is counted.

    for kernel in inspect(text, "sm_90"): print(kernel)

says of each kernel how many registers it takes, whether registers are spilled, how wide its loads and stores are, how
many barriers and atomics it has, and of its innermost loops how many instructions an iteration takes and how much it
asks of memory before it waits. What the compiler made of the text, not how fast it is.

Needs the packages cupy-cuda13x and nvidia-cuda-nvrtc to compile, and nvidia-cuda-nvdisasm and nvidia-cuda-cuobjdump
to look.
"""

from __future__ import annotations

import collections
import re
import shutil
import subprocess
import sysconfig
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from transkern.errors import BuildError, TargetUnavailable

OPTIONS = ("--std=c++17", "--fmad=false")
"""As the launchers compile."""

_LINE = re.compile(r"^(\.L_x_\w+):|/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)([^;\n]*);", re.MULTILINE)
"""A label, or an instruction and its operands."""
_TARGET = re.compile(r"\((\.L_x_\w+)\)")
_REGISTER = re.compile(r"\bR(\d+)")
_FUNCTION = re.compile(r"\.section\s+\.text\.(\S+?),(.*?)(?=\t\.section\t|\Z)", re.DOTALL)
_WIDTH = re.compile(r"\.(128|64|U16|S16|U8|S8)\b")
_KINDS = {
    "LDG": "load", "STG": "store", "LDS": "shared_load", "STS": "shared_store", "LDL": "local", "STL": "local",
    "ATOM": "atomic", "ATOMG": "atomic", "ATOMS": "atomic", "RED": "atomic", "REDG": "atomic", "BAR": "barrier",
    "SHFL": "shuffle", "REDUX": "warp_reduction", "VOTE": "vote", "MUFU": "special",
    "DADD": "double", "DMUL": "double", "DFMA": "double", "DSETP": "double", "FFMA": "fused",
}  # fmt: skip
_SIZED = ("LDG", "STG", "LDS", "STS")
_GLOBAL = ("load", "store", "atomic")
"""What goes to memory that all blocks see; atomics of shared memory are counted apart from it nowhere."""
_ARITHMETIC = {
    **dict.fromkeys(("FADD", "FMUL", "FFMA", "FMNMX", "FMNMX3", "FSETP", "FSET", "FADD2", "FMUL2", "FFMA2"), "float32"),
    **dict.fromkeys(("DADD", "DMUL", "DFMA", "DSETP", "DMNMX"), "float64"), "MUFU": "special",
}  # fmt: skip
"""Instructions on floats, by the unit that takes them."""


@dataclass(frozen=True, slots=True)
class LoopCode:
    """A loop without another inside, or a stretch of code without any: `instructions` an iteration.

    `accesses` of global memory among them, the widest of `width` bits; `in_flight`: the most bytes that a thread has
    loads under way for before an instruction needs one of them, which is how long a scoreboard lets it go on.
    `arithmetic`: instructions on floats, of the units ``float32``, ``float64`` and ``special``.
    """

    instructions: int
    accesses: int
    in_flight: int
    width: int = 0
    arithmetic: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KernelCode:
    """What one kernel's machine code is made of.

    `registers` a thread; `stack` and `local` in bytes (spilled registers, arrays indexed at run time); `shared` in
    bytes a block; `counts` instructions by kind, loads and stores with their width in bits (``load_128``); `loops` the
    innermost ones; `around` what is in none of these, without what stands behind the kernel's end: the slow paths of
    divisions and roots.
    """

    name: str
    instructions: int
    registers: int
    stack: int
    local: int
    shared: int
    counts: dict[str, int] = field(default_factory=dict)
    loops: tuple[LoopCode, ...] = ()
    around: LoopCode = field(default_factory=lambda: LoopCode(0, 0, 0))

    @property
    def spills(self) -> bool:
        """Whether a thread's values do not fit its registers."""
        return bool(self.stack or self.local or self.counts.get("local"))


def compile_cubin(text: str, arch: str = "sm_90", options: tuple[str, ...] = OPTIONS) -> bytes:
    """The machine code of the CUDA C++ `text` for `arch`.

    Raises:
        BuildError: NVRTC refuses the text; the message is its log.
        TargetUnavailable: NVRTC is not installed.
    """
    try:
        from cupy.cuda import nvrtc
    except ImportError as error:
        raise TargetUnavailable(f"NVRTC is needed: pip install cupy-cuda13x nvidia-cuda-nvrtc ({error})") from error
    program = nvrtc.createProgram(text, "kernel.cu", [], [])
    try:
        nvrtc.compileProgram(program, [f"--gpu-architecture={arch}", *options])
        return bytes(nvrtc.getCUBIN(program)) + b"\0"  # CuPy drops the last byte, which the ELF section table needs
    except nvrtc.NVRTCError as error:
        raise BuildError(str(nvrtc.getProgramLog(program))) from error
    finally:
        nvrtc.destroyProgram(program)


def inspect(text: str, arch: str = "sm_90", options: tuple[str, ...] = OPTIONS) -> list[KernelCode]:
    """The kernels of `text`, compiled for `arch`; raises as `compile_cubin`."""
    return read_cubin(compile_cubin(text, arch, options))


def read_cubin(image: bytes) -> list[KernelCode]:
    """The kernels in machine code."""
    usage = _run("cuobjdump", "-res-usage", image)
    resources = {
        name: {kind: int(size) for kind, size in re.findall(r"(REG|STACK|SHARED|LOCAL):(\d+)", line)}
        for name, line in re.findall(r"Function (\S+):\n(.*)", usage)
    }
    kernels = []
    for name, body in _FUNCTION.findall(disassemble(image)):
        lines, labels = _read(body)
        used = resources.get(name, {})
        end = max((k for k, (operation, _) in enumerate(lines) if operation == "EXIT"), default=len(lines))
        inner = [(low, high) for low, high in _innermost(lines, labels) if high <= end]  # slow paths jump back
        inside = {k for low, high in inner for k in range(low, high)}
        kernels.append(
            KernelCode(
                name, len(lines), used.get("REG", 0), used.get("STACK", 0), used.get("LOCAL", 0),
                used.get("SHARED", 0), _count([operation for operation, _ in lines]),
                tuple(_loop(lines[low:high]) for low, high in inner),
                _loop([line for k, line in enumerate(lines[: end + 1]) if k not in inside], again=False),
            )
        )  # fmt: skip
    return kernels


def disassemble(image: bytes) -> str:
    """The disassembly of machine code."""
    return _run("nvdisasm", "", image)


_Line = tuple[str, str]


def _read(body: str) -> tuple[list[_Line], dict[str, int]]:
    """The instructions, each with its operands, and before which of them the labels stand."""
    lines: list[_Line] = []
    labels: dict[str, int] = {}
    for label, operation, operands in _LINE.findall(body):
        if label:
            labels[label] = len(lines)
        else:
            lines.append((operation, operands))
    return lines, labels


def _innermost(lines: list[_Line], labels: dict[str, int]) -> list[tuple[int, int]]:
    """The ranges that a branch at their end jumps back to the start of, those that hold no other."""
    found: set[tuple[int, int]] = set()
    for k, (operation, operands) in enumerate(lines):
        target = _TARGET.search(operands) if operation.startswith("BRA") else None
        if target is not None and labels.get(target[1], k) < k:  # the last branch of a function jumps to itself
            found.add((labels[target[1]], k + 1))
    return sorted(x for x in found if not any(y != x and x[0] <= y[0] and y[1] <= x[1] for y in found))


def _loop(lines: list[_Line], again: bool = True) -> LoopCode:
    """What an iteration is made of; `again`: loads of an iteration may still be under way in the next. Of code that is
    gone through once, only the widest loads count as under way: others stand in another branch, for the rest."""
    counts = _count([operation for operation, _ in lines])
    accesses = sum(count for kind, count in counts.items() if kind.split("_")[0] in _GLOBAL)
    most, waiting, width = 0, dict[int, int](), 0
    least = 0 if again else max((_bits(o) for o, _ in lines if o.startswith("LDG")), default=0)
    for operation, operands in lines * (2 if again else 1):
        registers = [int(r) for r in _REGISTER.findall(operands)]
        if operation.startswith("LDG"):
            needed, made = registers[1:], registers[:1] if _bits(operation) >= least else []
        else:
            needed, made = registers, []
        if any(r in waiting for r in needed):
            waiting, width = {}, 0  # loads come back in order
        for r in made:
            size = _bits(operation) // 8
            waiting |= dict.fromkeys(range(r, r + max(1, size // 4)), size)
            width += size
        most = max(most, width)
    units = collections.Counter(_ARITHMETIC.get(operation.split(".")[0]) for operation, _ in lines)
    widest = max((_bits(operation) for operation, _ in lines if operation.startswith(("LDG", "STG"))), default=0)
    return LoopCode(len(lines), accesses, most, widest, {unit: count for unit, count in units.items() if unit})


def _bits(operation: str) -> int:
    width = _WIDTH.search(operation)
    return int(width[1].lstrip("US")) if width else 32


def _count(operations: list[str]) -> dict[str, int]:
    counts: collections.Counter[str] = collections.Counter()
    for operation in operations:
        root = operation.split(".")[0]
        kind = _KINDS.get(root)
        if kind is None:
            continue
        counts[f"{kind}_{_bits(operation)}" if root in _SIZED else kind] += 1
    return dict(sorted(counts.items()))


def _run(tool: str, option: str, image: bytes) -> str:
    packaged = sorted(Path(sysconfig.get_path("purelib")).glob(f"nvidia/*/bin/{tool}"))
    program = str(packaged[0]) if packaged else shutil.which(tool)
    if program is None:
        raise TargetUnavailable(f"{tool} is needed: pip install nvidia-cuda-{tool}")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(image)
        file.flush()
        command = [program, *([option] if option else []), file.name]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
