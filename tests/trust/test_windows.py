"""C code for Windows, where this machine has none: it asks for nothing that only POSIX systems have, and compiles with
their headers out of reach; with zig's compiler, where that is installed, it is cross-compiled and linked."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require
from transkern.targets.cpu import build, compiler
from transkern.targets.cpu.library import without_headers

HIDES_LINUX = ("-D_WIN32", "-U__linux__", "-U__linux", "-Ulinux", "-U__unix__", "-D__declspec(x)=")


def halves(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        k = x[i]
        while k > 0.5:
            out.append(k)
            k *= 0.5
    return np.array(out)


def heat(u: Any, steps: int) -> Any:
    for _ in range(steps):
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] - 2 * u[1:-1, 1:-1])
    return u


def table(a: Any, b: Any) -> Any:
    d = np.zeros((len(a) + 1, len(b) + 1))
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            d[i, j] = max(d[i - 1, j - 1] + (a[i - 1] == b[j - 1]), d[i - 1, j], d[i, j - 1])
    return d[len(a), len(b)]


def library(a: Any, b: Any) -> Any:
    return np.sort((a @ b).ravel()), np.exp(a), a.sum(axis=0), np.argsort(a[0]), np.cumsum(b)


def counted(words: Any) -> Any:
    found: dict[int, int] = {}
    for word in words:
        found[word] = found.get(word, 0) + 1
    return max(found.values()), len(found)


def failing(x: Any, k: int) -> Any:
    if k < 0:
        raise ValueError("k is below zero")
    return x[k] / x.sum()


A, B = np.arange(12.0).reshape(3, 4), np.arange(8.0).reshape(4, 2)
FUNCTIONS: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
    (halves, (A[1],), {}),
    (heat, (np.ones((50, 50)), 3), {}),
    (heat, (np.ones((50, 50)), 3), {"profile": True}),
    (heat, (np.ones((50, 50)), 3), {"warnings": "numpy"}),
    (table, (np.arange(5), np.arange(4)), {"threads": 2}),
    (library, (A, B), {}),
    (counted, (np.arange(5),), {}),
    (failing, (A[1], 2), {}),
]


def texts() -> list[str]:
    found = []
    for function, args, options in FUNCTIONS:
        compiled = transkern.compile(function, target="cpu", **options)
        compiled(*args)
        found.append(compiled.emit().partition('\n"""`')[0])  # its C file; the one behind it builds that
    return found


def test_code_for_windows_includes_and_calls_nothing_of_posix(tmp_path: Path) -> None:
    require("cc")
    cc = compiler.command()
    if "__clang__" in subprocess.run([*cc, "-dM", "-E", "-xc", "/dev/null"], capture_output=True, text=True).stdout:
        pytest.skip("the headers of GCC alone are known to be in a folder of their own")
    own = subprocess.run([*cc, "-print-file-name=include"], capture_output=True, text=True, check=True).stdout.strip()
    (tmp_path / "fenv.h").write_text(
        "int fetestexcept(int), feclearexcept(int);\nenum { FE_INVALID = 1, FE_DIVBYZERO = 4, FE_OVERFLOW = 8, "
        "FE_UNDERFLOW = 16 };\n"
    )
    for k, text in enumerate(texts()):
        source = tmp_path / f"module_{k}.c"
        text = re.sub(r"^void \*aligned_alloc\(.*\n", "", without_headers(text), flags=re.MULTILINE)  # not there
        assert "_WIN32" in text
        source.write_text(text)
        run = subprocess.run(
            [*cc, "-fsyntax-only", "-std=gnu11", "-ffreestanding", "-nostdinc", "-isystem", own, "-isystem",
             str(tmp_path), *HIDES_LINUX, "-w", "-Werror=implicit-function-declaration", str(source)],
            capture_output=True, text=True,
        )  # fmt: skip
        assert run.returncode == 0, run.stderr[:2000]


def test_flags_and_libraries_for_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(compiler, "command", lambda: (r"C:\msys64\ucrt64\bin\gcc.EXE",))
    assert "-fPIC" not in compiler.flags() and "-mno-avx" in compiler.flags() and "-shared" in compiler.flags()
    library, static = compiler.libraries()
    assert library.endswith(f"python3{sys.version_info.minor}.lib") and static == "-static"
    for clang in ((r"C:\Program Files\LLVM\bin\clang.exe",), ("python.exe", "-m", "ziglang", "cc")):
        monkeypatch.setattr(compiler, "command", lambda clang=clang: clang)
        assert "-mno-avx" not in compiler.flags() and "-fPIC" not in compiler.flags()


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="zig's compiler (transkern[compiler])")
@pytest.mark.parametrize("system", ["x86_64-windows-gnu", "aarch64-macos", "x86_64-macos", "aarch64-linux-gnu"])
def test_code_is_cross_compiled(system: str, tmp_path: Path) -> None:
    zig = [sys.executable, "-m", "ziglang"]
    flags = [f for f in compiler.FLAGS if f not in ("-march=native", "-shared", "-fPIC", "-fopenmp", "-w")]
    for k, text in enumerate(texts()):
        source, made = tmp_path / f"module_{k}.c", tmp_path / f"module_{k}.o"
        source.write_text(text)
        command = [*zig, "cc", "-target", system, *flags, "-Wno-everything", build.STRICT, "-c", str(source)]
        run = subprocess.run([*command, "-o", str(made)], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr[:2000]
    if "windows" not in system:
        return
    # a library of Python's with the names that the code asks for stands in for the one of an installation
    names = sorted(set(re.findall(r"\b_?Py[A-Z_]\w*(?=\()", "".join(texts()))))
    data = ["_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct", "_Py_NotImplementedStruct", "_Py_EllipsisObject"]
    data += ["PyLong_Type", "PyFloat_Type", "PyBool_Type", "PyComplex_Type"]
    listed = [*(n for n in names if not n.startswith("PyInit")), *(f"{n} DATA" for n in data)]
    (tmp_path / "python.def").write_text("LIBRARY python3.dll\nEXPORTS\n" + "\n".join(listed) + "\n")
    library = tmp_path / "python.lib"
    made_by = [*zig, "dlltool", "-m", "i386:x86-64", "-d", str(tmp_path / "python.def"), "-l", str(library)]
    subprocess.run(made_by, check=True)
    for k in range(len(FUNCTIONS)):
        out = tmp_path / f"module_{k}.dll"
        command = [*zig, "cc", "-target", system, "-shared", str(tmp_path / f"module_{k}.o"), str(library)]
        run = subprocess.run([*command, "-o", str(out)], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr[:2000]
        assert b"PyInit_" in out.read_bytes()
