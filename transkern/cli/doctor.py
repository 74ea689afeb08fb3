"""``transkern doctor``: what this machine can run. Each question is asked in a process of its own, all at once."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.metadata
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from transkern import private
from transkern.errors import TargetUnavailable
from transkern.runtime.caching import cache
from transkern.targets.cpu import build, compiler

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
    with warnings.catch_warnings(), ThreadPoolExecutor(len(_QUESTIONS)) as pool:
        warnings.simplefilter("ignore")  # what they are about has a row
        return [pending.result() for pending in [pool.submit(_ask, question) for question in _QUESTIONS]]


def _ask(question: Callable[[], Finding]) -> Finding:
    try:
        return question()
    except Exception as error:  # whatever is broken here: the other rows must still be shown
        return Finding(_NAMES[question], "", "", f"could not be examined: {error}")


# ---- the CPU ---------------------------------------------------------------------------------------------------------


def _compiler() -> Finding:
    try:
        words = compiler.command()
    except TargetUnavailable as error:
        named = f"{_first_line(str(error))}; " if compiler.chosen() else ""
        return Finding("C compiler", "cpu", "", named + _install("gcc"))
    version = _first_line(_run([*words, "--version"]))
    made = _probe("int probe(void) { return 1; }\n", *(f for f in compiler.flags() if f != "-fopenmp"))
    if made.result == "1":
        return Finding("C compiler", "cpu", f"{shlex.join(words)}: {version}")
    advice = f"{shlex.join(words)} is there, and does not build what runs: {made.said}"
    return Finding("C compiler", "cpu", "", advice)


def _openmp() -> Finding:
    source = """
    int probe(void) {
        int threads = 0;
    #ifdef _OPENMP
        #pragma omp parallel reduction(+: threads)
        threads += 1;
    #endif
        return threads;
    }
    """
    threads = int(_probe(source, "-fopenmp").result or 0)
    return Finding("OpenMP", "cpu: threads", f"works, {threads} threads" if threads else "", _install("libgomp1"))


def _libmvec() -> Finding:
    # The way generated code gets at it: a redeclaration says that a vector version exists.
    source = """
    #pragma omp declare simd notinbranch
    extern float expf(float);
    int probe(void) {
        float x[64];
        for (int i = 0; i < 64; i++) x[i] = (float)(i % 3);
        #pragma omp simd
        for (int i = 0; i < 64; i++) x[i] = expf(x[i]);
        return x[1] > 2.7182f && x[1] < 2.7184f;
    }
    """
    made = _probe(source, "-O2", "-fopenmp", "-march=native", "-fno-math-errno")
    works = made.result == "1" and b"_ZGV" in made.built  # how the vector versions' names begin
    return Finding(
        "libmvec", "cpu: exp, sin, …", "vector functions of the C library" if works else "",
        "GCC and glibc on x86-64 or AArch64 have it; without it these functions are computed one number at a time",
    )  # fmt: skip


def _cache() -> Finding:
    folder = cache.directory()
    problem = cache.problem()
    if not problem and cache.scratch() is None:
        problem = f"{folder} cannot be written"
    advice = f"{problem}; what is compiled is compiled again in each process"
    return Finding("disk cache", "cpu: later processes", "" if problem else str(folder), advice)


@dataclass(frozen=True, slots=True)
class _Probe:
    """What C text returned, where it compiled and ran, the shared object, and what the compiler said."""

    result: str = ""
    built: bytes = b""
    said: str = ""


def _probe(source: str, *flags: str) -> _Probe:
    """Builds C text with a function `probe` where functions are built, and calls it from a Python of its own."""
    said = "no folder to work in"
    for place in build.places(cache.scratch()):
        with suppress(OSError, TargetUnavailable), private.scratch(place) as folder:
            text, out = folder / "probe.c", folder / "probe.so"
            text.write_text(source, encoding="utf-8")
            said = build.run_compiler(["-fPIC", "-shared", *flags], (text,), out)
            result = "" if said else _python(f"import ctypes; print(ctypes.CDLL({str(out)!r}).probe())")
            if result:
                return _Probe(result, out.read_bytes())
    return _Probe(said=" ".join(said.split()) or "it cannot be loaded")


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
    words = _cxx_command()
    version = _first_line(_run([*words, "--version"])) if words else ""
    works = version and _builds(words, "int main() { return 0; }\n")
    return Finding(
        "C++ compiler", "cuda: the simulator", f"{shlex.join(words)}: {version}" if works else "", _install("g++")
    )


def _cxx_command() -> list[str]:
    """As the simulator calls it: `CXX`, and never another one where that is not there."""
    first, *others = shlex.split(os.environ.get("CXX") or "g++")
    found = shutil.which(first)
    return [found, *others] if found else []


def _sanitizers() -> Finding:
    words = _cxx_command()
    source = "int main() { return 0; }\n"
    kinds = [
        name for name, flag in (("memory", "address,undefined"), ("race", "thread"))
        if words and _builds(words, source, f"-fsanitize={flag}")
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
    _compiler, _openmp, _libmvec, _cache, _device, _cupy, _nvrtc, _cxx, _sanitizers, _jax, _accelerator, _astor,
    _libtpu,
)  # fmt: skip
_NAMES = dict(zip(_QUESTIONS, (
    "C compiler", "OpenMP", "libmvec", "disk cache", "CUDA device", "CuPy", "NVRTC", "C++ compiler", "sanitizers",
    "JAX", "accelerator for JAX", "astor", "libtpu",
), strict=True))  # fmt: skip


# ---- how questions are asked -----------------------------------------------------------------------------------------


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


def _builds(command: Sequence[str], source: str, *flags: str) -> bool:
    """Whether C++ text compiles, links and runs."""
    with tempfile.TemporaryDirectory() as folder:
        path, program = Path(folder, "probe.cpp"), Path(folder, "probe")
        path.write_text(source, encoding="utf-8")
        for words in ([*command, *flags, str(path), "-o", str(program)], [str(program)]):
            try:
                if subprocess.run(words, capture_output=True, timeout=_SECONDS, check=False).returncode != 0:
                    return False
            except (OSError, subprocess.TimeoutExpired):
                return False
    return True


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
        case "win32":
            return f"install {package.partition(' ')[0]} (MinGW-w64), or pip install 'transkern[compiler]'"
        case _:
            return f"install {package.partition(' ')[0]} and set CC and CXX"
