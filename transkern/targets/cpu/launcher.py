"""The Python module beside an emitted C file: builds it once with the system's compiler and hands on its function."""

from __future__ import annotations

from transkern.ir import nodes as n
from transkern.targets.cpu.build import FLAGS
from transkern.targets.cpu.module import param_text

_TEXT = '''"""{name}({params}): builds {name}.c with the system's C compiler at the first import. Needs NumPy."""

import importlib.machinery
import importlib.util
import os
import subprocess
from pathlib import Path

_SOURCE = Path(__file__).with_name("{name}.c")
_BUILT = _SOURCE.with_suffix(".so")
_FLAGS = {flags!r}

if not _BUILT.exists() or _BUILT.stat().st_mtime < _SOURCE.stat().st_mtime:
    subprocess.run([os.environ.get("CC", "cc"), *_FLAGS, str(_SOURCE), "-o", str(_BUILT), "-lm"], check=True)

_loader = importlib.machinery.ExtensionFileLoader("{name}", str(_BUILT))
_module = importlib.util.module_from_spec(importlib.util.spec_from_loader("{name}", _loader))
_loader.exec_module(_module)


def {name}({params}):
    """{name}({types})"""
    result = _module.{name}({params})
    if result is NotImplemented:
        raise TypeError("{name} was compiled for ({types})")
    return result
'''


def launcher(program: n.Program) -> str:
    """The text of ``<name>.py``."""
    return _TEXT.format(
        name=program.name, params=", ".join(p.name for p in program.params), flags=tuple(FLAGS),
        types=", ".join(param_text(p) for p in program.params),
    )  # fmt: skip
