"""The files of a package: Python that chooses the build for the processor, stubs, and what makes a wheel of it."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from transkern import refusals
from transkern.errors import CompileError
from transkern.ir import nodes as n
from transkern.shipping.arguments import HELPERS, is_made_up, shape_text, told
from transkern.shipping.functions import Shipped
from transkern.shipping.levels import Level
from transkern.shipping.stubs import HEAD as STUB_HEAD
from transkern.shipping.stubs import stub
from transkern.targets.cpu.launcher import fresh
from transkern.targets.cpu.printing.module import emit, file_name, param_text
from transkern.targets.signature import constants, parameters
from transkern.version import __version__

MARK = "made by `transkern build`"
"""In the project file of a package: what may be written over."""


@dataclass(frozen=True)
class Unit:
    """A program of a package: the stem of its files, the function in it, its C text."""

    stem: str
    program: n.Program
    text: str


def units(shipped: Sequence[Shipped]) -> dict[str, list[Unit]]:
    """The programs of each function; no two files have one name, also where case makes no difference."""
    found: dict[str, list[Unit]] = {}
    taken: set[str] = set()
    for one in shipped:
        found[one.name] = []
        for program in one.programs():
            base = stem = file_name(program)
            count = 1
            while stem.lower() in taken:
                count += 1
                stem = f"{base}_{count}"
            taken.add(stem.lower())
            found[one.name].append(Unit(stem, program, emit(program)))
    return found


def checked_name(name: str) -> str:
    """A name of a package that Python can import. Raises CompileError."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or keyword.iskeyword(name):
        raise CompileError(refusals.OPTIONS, f"`{name}` is no name of a package", "choose another one with --name")
    return name


# ---- Python ----------------------------------------------------------------------------------------------------------

_HEAD = '''"""Functions of {file}, compiled by transkern {version} ahead of time. Needs NumPy, and no compiler."""

import importlib.machinery
import importlib.util
import os
from pathlib import Path
{more}
__all__ = {names!r}

_HERE = Path(__file__).parent / "_native"
_BUILDS = {builds!r}  # the best first: folders, and the level that a processor must have


def _level():
    """The processor's level of x86-64; TRANSKERN_LEVEL chooses a lower one."""
    import ctypes

    found = ctypes.CDLL(str(_HERE / "level.so")).level()
    return min(found, int(os.environ.get("TRANSKERN_LEVEL", found)))


def _build():
    """The folder of the best build that this processor can run."""
    level = _level() if _BUILDS[-1][1] else 0
    for folder, least in _BUILDS:
        if level >= least:
            return _HERE / folder
    raise ImportError(f"{{__name__}} is built for processors of level {{least}} of x86-64; this one has {{level}}")


_FOLDER = _build()


def _load(file, name):
    full = f"{{__name__}}._native.{{file}}.{{name}}"
    loader = importlib.machinery.ExtensionFileLoader(full, str(_FOLDER / f"{{file}}.so"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(full, loader))
    loader.exec_module(module)
    return module


def _only(call, known):
    """A function that is for some values of its arguments alone."""

    def checked(*given):
        for k, value in known.items():
            if type(given[k]) is not type(value) or repr(given[k]) != repr(value):
                return NotImplemented
        return call(*given)

    return checked
'''

_OPENMP = '''

def _openmp():
    """Loads OpenMP's runtime. It reads its environment then: idle threads shall sleep soon, and not spin on a core that
    NumPy wants next. A choice of the user's stays."""
    import ctypes

    wanted = {{"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "10000"}}
    new = {{}} if wanted.keys() & os.environ.keys() else wanted
    os.environ.update(new)
    try:
        for name in {runtimes!r}:
            try:
                ctypes.CDLL(name)  # the machine's own
            except OSError:
                ctypes.CDLL(str(_HERE / name))
    finally:
        for variable in new:
            os.environ.pop(variable, None)


_openmp()
'''

_TAKEN = {"Path", "importlib", "np", "os", *re.findall(r"^(?:def )?(\w+)(?: =|\()", _HEAD + _OPENMP + HELPERS, re.M)}
"""Names that ``__init__.py`` has for itself."""


def module_text(
    file: str, shipped: Sequence[Shipped], found: Mapping[str, Sequence[Unit]], levels: Sequence[Level],
    runtimes: Sequence[str],
) -> str:  # fmt: skip
    """``__init__.py``."""
    for one in shipped:
        if one.name in _TAKEN:
            problem = f"a function of a package cannot be called `{one.name}`: the package has that name of its own"
            raise CompileError(refusals.OPTIONS, problem, "give it another name")
    functions = [_function(one, found[one.name]) for one in shipped]
    if any(is_made_up(kind) for one in shipped for types in one.types for kind in types):
        functions.insert(0, HELPERS.strip("\n") + "\n")
    more = "\nimport numpy as np\n" if any("np." in text for text in functions) else ""
    names, builds = [one.name for one in shipped], tuple((level.name, level.rank) for level in levels)
    head = _HEAD.format(file=file, version=__version__, more=more, names=names, builds=builds)
    return "\n\n".join([head + (_OPENMP.format(runtimes=tuple(runtimes)) if runtimes else ""), *functions])


def _function(one: Shipped, found: Sequence[Unit]) -> str:
    """A function: its programs in turn, until one is for such arguments."""
    taken = [_taken(one, k, unit.program) for k, unit in enumerate(found)]
    params = {parameters(program) for program in taken}
    if len(params) > 1:
        problem = f"`{one.name}` finds other arrays outside for each of its types"
        raise CompileError(refusals.OUTSIDE_CHANGED, problem, "pass them as arguments")
    own = {p.name for p in taken[0].params}
    held, call, result = (fresh(name, own) for name in (f"_{one.name}", "call", "result"))
    lines = [f"{held} = ("]
    for number, unit in enumerate(found):
        known = constants(unit.program)
        at = ", ".join(f"{k}: {known[p.name]}" for k, p in enumerate(unit.program.params) if p.name in known)
        loaded = f'_load("{unit.stem}", "{file_name(unit.program)}").{unit.program.name}'
        loaded = f"_only({loaded}, {{{at}}})" if at else loaded
        if any(map(is_made_up, one.types[number])):
            shapes = ", ".join(map(shape_text, one.types[number]))
            loaded = f"_apart({loaded}, ({shapes},))"
        lines.append(f"    {loaded},")
    lines += [")", "", "", f"def {one.name}({params.pop()}):"]
    if one.doc:
        lines += [f"    {line}" if line else "" for line in _docstring(one.doc)]
    texts = [told(one.parameters, one.types[k], list(map(param_text, p.params))) for k, p in enumerate(one.stated)]
    wanted = " or ".join(f"({text})" for text in texts)
    lines += [
        f"    for {call} in {held}:",
        f"        {result} = {call}({', '.join(p.name for p in taken[0].params)})",
        f"        if {result} is not NotImplemented:",
        f"            return {result}",
        f"    raise TypeError({f'{one.name} was compiled for {wanted}'!r})",
        "",
    ]
    return "\n".join(lines)


def _taken(one: Shipped, number: int, program: n.Program) -> n.Program:
    """A program with the user's parameters, where its own stand for parts of these."""
    if not any(map(is_made_up, one.types[number])):
        return program
    return replace(program, params=tuple(n.ObjectParam(name) for name in one.parameters))


def _docstring(text: str) -> list[str]:
    quoted = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    first, *rest = quoted.splitlines()
    if not rest:
        return [f'"""{first}{" " if first.endswith(chr(34)) else ""}"""']
    return [f'"""{first}', *rest, '"""']


def stub_text(file: str, shipped: Sequence[Shipped]) -> str:
    """``__init__.pyi``."""
    head = STUB_HEAD.format(about=f"Functions of {file}, {MARK}.")
    names = ", ".join(f'"{one.name}"' for one in shipped)
    body = "\n".join(stub(one.stated, one.parameters, one.types) for one in shipped)
    used = [name for name in ("Any", "Literal", "overload") if re.search(rf"\b{name}\b", body)]
    typing = f"from typing import {', '.join(used)}\n\n" if used else ""
    head = re.sub(r"from typing import .*\n\n", typing, head)
    return f"{head}\n__all__ = [{names}]\n\n{body}\n"


# ---- what makes a wheel ----------------------------------------------------------------------------------------------

_PROJECT = '''# {mark}
[build-system]
requires = ["setuptools>=70.1"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "{version}"
description = "Functions of {file}, compiled by transkern"
requires-python = ">=3.11"
dependencies = ["numpy>=2.0"]

[tool.setuptools]
packages = ["{name}"]
include-package-data = false

[tool.setuptools.package-data]
{name} = ["*.pyi", "py.typed", "_native/**/*"]
'''

_SETUP = """# The shared objects are of CPython's stable ABI (3.11 and later), and of one platform.
[bdist_wheel]
python_tag = py3
plat_name = {tag}
"""


def project_text(name: str, version: str, file: str) -> str:
    """``pyproject.toml``."""
    return _PROJECT.format(mark=MARK, name=name, version=version, file=file.replace('"', "'"))


def setup_text(tag: str) -> str:
    """``setup.cfg``: the wheel's platform, for which ``pyproject.toml`` has no place."""
    return _SETUP.format(tag=tag)
