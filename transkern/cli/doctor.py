"""``transkern doctor``: what this machine can run. Each question is asked in a process of its own, all at once."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_SECONDS = 60
"""After which a question counts as unanswered: the first import of JAX on a slow disk takes ten."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One row: `found` says what there is, or is empty; `advice` says what to install."""

    what: str
    serves: str
    found: str
    advice: str = ""


def report() -> None:
    """Prints the table, then a line a target."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    with console.status("looking around …"):
        findings = examine()
    table = Table(title=f"Python {platform.python_version()} on {platform.system()} {platform.machine()}")
    for heading in ("", "what", "serves", "found, or what to do"):
        table.add_column(heading, overflow="fold")
    for one in findings:
        mark, text = ("[green]yes", one.found) if one.found else ("[yellow]no", one.advice)
        table.add_row(mark, one.what, one.serves, escape(text))  # 'transkern[cuda]' is no markup
    console.print(table)
    for line in verdicts({one.what: bool(one.found) for one in findings}):
        console.print(line, highlight=False)


def verdicts(there: dict[str, bool]) -> list[str]:
    """What the findings mean for each target."""
    compiler = there["C compiler"]
    if there["CUDA device"] and there["CuPy"] and there["NVRTC"]:
        cuda = "runs on the device"
    elif there["C++ compiler"]:
        cuda = "runs in the simulator (TRANSKERN_CUDA_SIM=1), for tests and debugging"
    else:
        cuda = "emits code only"
    if not there["JAX"]:
        pallas = "needs JAX"
    elif there["accelerator for JAX"]:
        pallas = "runs on the accelerator"
    else:
        pallas = "runs interpreted on the CPU" + ("; compiles for TPU ahead of time" if there["libtpu"] else "")
    return [
        f"cpu     {'runs' if compiler else 'needs a C compiler'}"
        + ("" if not compiler or there["OpenMP"] else ", on one thread: the compiler has no OpenMP"),
        f"cuda    {cuda}",
        f"pallas  {pallas}",
    ]


def examine() -> list[Finding]:
    """All findings, in the table's order. Nothing that is missing or broken raises."""
    with ThreadPoolExecutor(len(_QUESTIONS)) as pool:
        return [pending.result() for pending in [pool.submit(_ask, question) for question in _QUESTIONS]]


def _ask(question: Callable[[], Finding]) -> Finding:
    try:
        return question()
    except Exception as error:  # whatever is broken here: the other rows must still be shown
        return Finding(_NAMES[question], "", "", f"could not be examined: {error}")


# ---- the CPU ---------------------------------------------------------------------------------------------------------


def _compiler() -> Finding:
    path = _find("CC", "cc", "gcc", "clang")
    version = _first_line(_run([path, "--version"])) if path else ""
    return Finding("C compiler", "cpu", f"{path}: {version}" if path and version else "", _install("gcc"))


def _openmp() -> Finding:
    source = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"
    path = _find("CC", "cc", "gcc", "clang")
    works = path is not None and _builds(path, source, "-fopenmp")
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return Finding("OpenMP", "cpu: threads", f"works, {threads} threads" if works else "", _install("libgomp1"))


def _libmvec() -> Finding:
    # The way generated code gets at it: a redeclaration says that a vector version exists.
    source = """
    #pragma omp declare simd notinbranch
    extern float expf(float);
    void f(float *x, int n) {
        #pragma omp simd
        for (int i = 0; i < n; i++) x[i] = expf(x[i]);
    }
    int main(void) { return 0; }
    """
    path = _find("CC", "cc", "gcc")
    flags = ("-O2", "-fopenmp", "-march=native", "-fno-math-errno", "-lmvec", "-lm")
    works = path is not None and _builds(path, source, *flags)
    return Finding(
        "libmvec", "cpu: exp, sin, …", "vector functions of the C library" if works else "",
        "glibc on x86-64 or AArch64 has it; without it these functions are computed one number at a time",
    )  # fmt: skip


# ---- CUDA ------------------------------------------------------------------------------------------------------------


def _device() -> Finding:
    """Asked of the driver itself: no package is needed for the answer."""
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    advice = "an NVIDIA GPU with its driver; without one: TRANSKERN_CUDA_SIM=1 runs the same text on the CPU"
    try:
        driver = ctypes.CDLL(name)
    except OSError:
        return Finding("CUDA device", "cuda", "", advice)
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value < 1:
        return Finding("CUDA device", "cuda", "", f"the driver is there, but finds no device: {advice}")
    device, label = ctypes.c_int(0), ctypes.create_string_buffer(256)
    driver.cuDeviceGet(ctypes.byref(device), 0)
    driver.cuDeviceGetName(label, 256, device)
    more = f" and {count.value - 1} more" if count.value > 1 else ""
    return Finding("CUDA device", "cuda", label.value.decode(errors="replace") + more)


def _cupy() -> Finding:
    for package in ("cupy-cuda13x", "cupy-cuda12x", "cupy"):
        with suppress(importlib.metadata.PackageNotFoundError):
            return Finding("CuPy", "cuda: arrays, launches", f"{package} {importlib.metadata.version(package)}")
    return Finding("CuPy", "cuda: arrays, launches", "", "pip install 'transkern[cuda]'")


def _nvrtc() -> Finding:
    said = _python("from cupy.cuda import nvrtc; print('CUDA %d.%d' % nvrtc.getVersion())")
    return Finding("NVRTC", "cuda: compiles the text", said, "pip install 'transkern[cuda]'")


def _cxx() -> Finding:
    path = _find("CXX", "g++", "c++", "clang++")
    version = _first_line(_run([path, "--version"])) if path else ""
    found = f"{path}: {version}" if path and version else ""
    return Finding("C++ compiler", "cuda: the simulator", found, _install("g++"))


def _sanitizers() -> Finding:
    path = _find("CXX", "g++", "c++", "clang++")
    source = "int main() { return 0; }\n"
    kinds = [
        name for name, flag in (("memory", "address,undefined"), ("race", "thread"))
        if path and _builds(path, source, f"-fsanitize={flag}", suffix=".cpp")
    ]  # fmt: skip
    found = f"{' and '.join(kinds)} checks" if len(kinds) == 2 else ""
    return Finding("sanitizers", "cuda: checks in the simulator", found, _install("libasan8 libubsan1 libtsan2"))


# ---- Pallas ----------------------------------------------------------------------------------------------------------

_JAX = """
import jax, sys
print(jax.__version__)
try:
    print(', '.join(f'{d.platform}: {d.device_kind}' for d in jax.devices() if d.platform != 'cpu'))
except Exception as error:
    print(error, file=sys.stderr)
"""


def _jax() -> Finding:
    found = _version("jax")
    if found and not _python("import jax.experimental.pallas; print('yes')"):
        return Finding("JAX", "pallas", "", f"jax {found} is installed, but cannot be imported")
    return Finding("JAX", "pallas", found, "pip install 'transkern[pallas]'")


def _accelerator() -> Finding:
    lines = _python(_JAX).splitlines() if importlib.util.find_spec("jax") else []
    found = lines[1] if len(lines) > 1 else ""
    advice = "a TPU or GPU that JAX sees; without one, kernels are interpreted"
    return Finding("accelerator for JAX", "pallas", found, advice)


def _astor() -> Finding:
    return Finding("astor", "pallas: prints the code", _version("astor"), "pip install 'transkern[pallas]'")


def _libtpu() -> Finding:
    advice = "pip install 'transkern[tpu]' (Linux on x86-64)"
    return Finding("libtpu", "pallas: compiles for TPU", _version("libtpu"), advice)


_QUESTIONS: tuple[Callable[[], Finding], ...] = (
    _compiler, _openmp, _libmvec, _device, _cupy, _nvrtc, _cxx, _sanitizers, _jax, _accelerator, _astor, _libtpu,
)  # fmt: skip
_NAMES = dict(zip(_QUESTIONS, (
    "C compiler", "OpenMP", "libmvec", "CUDA device", "CuPy", "NVRTC", "C++ compiler", "sanitizers", "JAX",
    "accelerator for JAX", "astor", "libtpu",
), strict=True))  # fmt: skip


# ---- how questions are asked -----------------------------------------------------------------------------------------


def _find(variable: str, *names: str) -> str | None:
    for name in (os.environ.get(variable), *names):
        if name and (found := shutil.which(name)):
            return found
    return None


def _run(command: list[str]) -> str:
    """What a command prints, or nothing where it fails."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.strip() if run.returncode == 0 else ""


def _python(code: str) -> str:
    """What Python code prints in a process of its own: a broken package may take that down, not this one."""
    return _run([sys.executable, "-c", code])


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _builds(compiler: str, source: str, *flags: str, suffix: str = ".c") -> bool:
    """Whether `source` compiles, links and runs."""
    with tempfile.TemporaryDirectory() as folder:
        path, program = Path(folder, f"probe{suffix}"), Path(folder, "probe")
        path.write_text(source, encoding="utf-8")
        # Libraries come after what needs them.
        libraries = [flag for flag in flags if flag.startswith("-l")]
        others = [flag for flag in flags if not flag.startswith("-l")]
        command = [compiler, *others, str(path), "-o", str(program), *libraries]
        try:
            if subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False).returncode != 0:
                return False
            return subprocess.run([str(program)], capture_output=True, timeout=_SECONDS, check=False).returncode == 0
        except (OSError, subprocess.TimeoutExpired):
            return False


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _install(package: str) -> str:
    match sys.platform:
        case "linux":
            return f"install {package} (Debian, Ubuntu: apt install {package})"
        case "darwin":
            return "xcode-select --install; OpenMP: brew install gcc, then CC=gcc-14"
        case _:
            return f"install {package.partition(' ')[0]} and set CC and CXX"
