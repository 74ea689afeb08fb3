"""Machine code without a device: NVRTC compiles a text, and its disassembly is counted.

    for kernel in inspect(text, "sm_90"): print(kernel)

says of each kernel how many registers it takes, whether registers are spilled, how wide its loads and stores are, how
many barriers and atomics it has. What the compiler made of the text, not how fast it is.

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

_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)")
_FUNCTION = re.compile(r"\.section\s+\.text\.(\S+?),(.*?)(?=\t\.section\t|\Z)", re.DOTALL)
_WIDTH = re.compile(r"\.(128|64|U16|S16|U8|S8)\b")
_KINDS = {
    "LDG": "load", "STG": "store", "LDS": "shared_load", "STS": "shared_store", "LDL": "local", "STL": "local",
    "ATOM": "atomic", "ATOMG": "atomic", "ATOMS": "atomic", "RED": "atomic", "REDG": "atomic", "BAR": "barrier",
    "SHFL": "shuffle", "REDUX": "warp_reduction", "VOTE": "vote", "MUFU": "special",
    "DADD": "double", "DMUL": "double", "DFMA": "double", "DSETP": "double", "FFMA": "fused",
}  # fmt: skip
_SIZED = ("LDG", "STG", "LDS", "STS")


@dataclass(frozen=True, slots=True)
class KernelCode:
    """What one kernel's machine code is made of.

    `registers` a thread; `stack` and `local` in bytes (spilled registers, arrays indexed at run time); `shared` in
    bytes a block; `counts` instructions by kind, loads and stores with their width in bits (``load_128``).
    """

    name: str
    instructions: int
    registers: int
    stack: int
    local: int
    shared: int
    counts: dict[str, int] = field(default_factory=dict)

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
        operations = _INSTRUCTION.findall(body)
        used = resources.get(name, {})
        kernels.append(
            KernelCode(
                name, len(operations), used.get("REG", 0), used.get("STACK", 0), used.get("LOCAL", 0),
                used.get("SHARED", 0), _count(operations),
            )
        )  # fmt: skip
    return kernels


def disassemble(image: bytes) -> str:
    """The disassembly of machine code."""
    return _run("nvdisasm", "", image)


def _count(operations: list[str]) -> dict[str, int]:
    counts: collections.Counter[str] = collections.Counter()
    for operation in operations:
        root = operation.split(".")[0]
        kind = _KINDS.get(root)
        if kind is None:
            continue
        if root in _SIZED:
            width = _WIDTH.search(operation)
            kind = f"{kind}_{width[1].lstrip('US') if width else '32'}"
        counts[kind] += 1
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
