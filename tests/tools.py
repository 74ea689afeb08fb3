"""What some tests need besides Python: `require("nvrtc")` at the top of a test or of a test file.

On Linux x86-64, where the `dev` extra installs all of it, a missing tool fails the run; elsewhere the tests are left
out, and the run says so at its end. `TRANSKERN_TESTS_PARTIAL=1` leaves out there too (a borrowed GPU machine).
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import inspect
import mmap
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

LEFT_OUT = "left out: "
"""How the reason of a test begins that was skipped for want of a tool."""

COMPLETE = sys.platform == "linux" and platform.machine() == "x86_64" and not os.environ.get("TRANSKERN_TESTS_PARTIAL")
"""Whether every tool must be there."""


def require(*tools: str) -> None:
    """Skips the test, or the whole file at import, where one of `tools` is missing; fails where it must be there."""
    for tool in tools:
        missing = _missing(tool)
        if not missing:
            continue
        if COMPLETE and tool not in _OPTIONAL:
            pytest.fail(f"{tool}: {missing}", pytrace=False)
        pytest.skip(f"{LEFT_OUT * (tool not in _OPTIONAL)}{tool}: {missing}", allow_module_level=True)


def optional(module: str) -> Any:
    """A module that no extra installs, for it is large or for few; without it the test, or the whole file, is left out
    without a word."""
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed", allow_module_level=True)
    return importlib.import_module(module)


def has(tool: str) -> bool:
    """Whether the tool is there."""
    return not _missing(tool)


@functools.cache
def _missing(tool: str) -> str:
    return _TOOLS[tool]()


def _module(name: str, install: str) -> Callable[[], str]:
    def look() -> str:
        try:
            found = importlib.util.find_spec(name) is not None
        except ModuleNotFoundError:  # the parent package
            found = False
        return "" if found else f"no module {name} (pip install {install})"

    return look


def _program(name: str, install: str) -> Callable[[], str]:
    return lambda: "" if shutil.which(name) else f"no program {name} (install {install})"


def _in_environment(name: str, install: str) -> Callable[[], str]:
    """A program that a Python package brings: beside the interpreter, or somewhere in site-packages."""

    def look() -> str:
        if shutil.which(name) or Path(sys.executable).with_name(name).exists():
            return ""
        for folder in map(Path, sys.path):
            if folder.name == "site-packages" and any(folder.glob(f"nvidia/**/bin/{name}")):
                return ""
        return f"no program {name} (pip install {install})"

    return look


def _nvrtc() -> str:
    if missing := _module("cupy", "'transkern[cuda]'")():
        return missing
    code = "from cupy.cuda import nvrtc; print(nvrtc.getVersion())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return "" if run.returncode == 0 else f"NVRTC cannot be loaded: {run.stderr.strip().splitlines()[-1:]}"


def _sanitizers() -> str:
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        return "no C++ compiler"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "empty.cpp")
        source.write_text("int main() { return 0; }\n")
        for kind in ("address,undefined", "thread"):
            command = [compiler, f"-fsanitize={kind}", str(source), "-o", str(Path(folder, "empty"))]
            run = subprocess.run(command, capture_output=True, text=True)
            if run.returncode != 0:
                return f"{compiler} cannot link -fsanitize={kind}"
    return ""


def _gomp() -> str:
    try:
        ctypes.CDLL("libgomp.so.1")
    except OSError as error:
        return f"no GCC OpenMP runtime ({error})"
    return ""


def _device() -> str:
    if _module("cupy", "")():
        return "no CUDA device"
    code = "import cupy; assert cupy.cuda.runtime.getDeviceCount() > 0; cupy.arange(3).sum().item()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True)
    return "" if run.returncode == 0 else "no CUDA device"


def _browser() -> str:
    from tests.site.browser import PROGRAMS, program

    if (found := program()) is None:
        return f"no Chromium ({', '.join(PROGRAMS)}, or what TRANSKERN_CHROMIUM names)"
    run = subprocess.run([found, "--version"], capture_output=True, text=True)
    return "" if run.returncode == 0 else f"{found} does not start: {run.stderr.strip().splitlines()[-1:]}"


_TOOLS: dict[str, Callable[[], str]] = {
    "cc": _program(os.environ.get("CC", "cc"), "a C compiler"),
    "c++": _program(os.environ.get("CXX", "g++"), "a C++ compiler"),
    "gomp": _gomp,
    "nvrtc": _nvrtc,
    "cupy": _module("cupy", "'transkern[cuda]'"),
    "nvdisasm": _in_environment("nvdisasm", "nvidia-cuda-nvdisasm"),
    "cuobjdump": _in_environment("cuobjdump", "nvidia-cuda-cuobjdump"),
    "jax": _module("jax", "'transkern[pallas]'"),
    "astor": _module("astor", "'transkern[pallas]'"),
    "libtpu": _module("libtpu", "'transkern[tpu]'"),
    "sanitizers": _sanitizers,
    "skimage": _module("skimage", "'transkern[demo]'"),
    "hatchling": _module("hatchling", "hatchling"),
    "dask": _module("dask", "'transkern[dask]'"),
    "torch": _module("torch", "torch"),
    "mkdocs": _module("mkdocstrings_handlers.python", "'transkern[docs]'"),
    "browser": _browser,
    "device": _device,
}
# Hardware, which no package installs, a package that takes a gigabyte, and what only the documents need.
_OPTIONAL = {"device", "torch", "mkdocs", "browser"}


# ---- targets and examples --------------------------------------------------------------------------------------------

TARGET_TOOLS = {"cpu": ("cc",), "cuda": ("c++",), "pallas": ("jax", "astor")}
"""What running on a target needs here: CUDA in the simulator, Pallas interpreted."""


@contextmanager
def between_closed_pages(values: np.ndarray) -> Iterator[np.ndarray]:
    """`values` as float64, a whole page of them, in memory before and behind which nothing may be touched."""
    page = mmap.PAGESIZE
    if values.size * 8 != page:
        pytest.skip(f"pages are of {page} bytes here")
    whole = np.frombuffer(mmap.mmap(-1, 3 * page), np.float64)
    held = whole[page // 8 : 2 * page // 8].reshape(values.shape)
    held[:] = values
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    ends = whole.ctypes.data, whole.ctypes.data + 2 * page
    try:
        for at in ends:
            assert protect(at, page, 0) == 0
        yield held
    finally:
        for at in ends:
            protect(at, page, mmap.PROT_READ | mmap.PROT_WRITE)


def on_target(target: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Prepares a test for a target, or skips it."""
    require(*TARGET_TOOLS[target])
    if target == "cuda" and not has("device"):
        monkeypatch.setenv("TRANSKERN_CUDA_SIM", "1")
    return target


@functools.cache
def example(name: str) -> ModuleType:
    """A file of `examples/` as a module."""
    path = Path(__file__).parents[1] / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"transkern_example_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


def source_of(function: Callable[..., Any]) -> str:
    """The text of a function, as a module that has NumPy."""
    return "import numpy as np\n" + textwrap.dedent(inspect.getsource(function))
