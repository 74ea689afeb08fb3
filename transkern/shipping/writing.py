"""A package of compiled functions, made in one go: nothing is written before all of it has compiled."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from transkern import refusals
from transkern.errors import CompileError
from transkern.options import Options
from transkern.shipping import native, package
from transkern.shipping.functions import Shipped, programs, wanted
from transkern.shipping.levels import Level, levels

Progress = Callable[[str, int, int], None]
"""What is told of each step: what is done, how many of it are, of how many."""


def build(
    path: Path, folder: Path, *, name: str = "", version: str = "0.1.0", names: Sequence[str] = (),
    types: Sequence[str] = (), chosen: Sequence[str] = (), variants: bool = True, options: Options,
    progress: Progress = lambda *_: None,
) -> tuple[list[Path], list[str]]:  # fmt: skip
    """Write a package of functions of the file at `path` into `folder`; the files in it, and what has to be told.

    Args:
        path: a Python file, which is read and not run.
        folder: where the package goes; what `build` has written there before is written over.
        name: of the package; the file's own without one.
        version: of the package.
        names: the functions; without `names` and `types`, all whose decorators or annotations state types.
        types: of the arguments, as `emit` takes them; several for one function make several builds of it.
        chosen: levels of x86-64, ``v2``, ``v3`` and ``v4``; all without any.
        variants: build also for arrays with strides of their own, or axes of size 1.
        options: of the code.
        progress: is told what is done.

    Raises:
        CompileError: a function cannot be compiled, or the folder holds something else.
        TypesNeeded: nothing states the types of a function that is asked for.
        BuildError, TargetUnavailable: the C compiler fails, or there is none.
    """
    name = package.checked_name(name or path.stem.replace("-", "_"))
    _check_folder(folder)
    asked = wanted(path, names, types)
    shipped: list[Shipped] = []
    for k, one in enumerate(asked):
        progress(one.function.name, k, len(asked))
        shipped.append(programs(one, options, variants))
    found, built_for = package.units(shipped), levels(tuple(chosen))
    texts: dict[str, str] = {
        f"c/{unit.stem}.c": unit.text for units in found.values() for unit in units
    }  # to be read; no wheel has them
    objects = _compiled([unit for units in found.values() for unit in units], built_for, progress)
    if built_for[0].rank:
        objects["level.so"] = native.rank_object()
    runtimes = native.runtimes(objects.values())
    objects |= runtimes
    texts |= {
        "pyproject.toml": package.project_text(name, version, path.name),
        "setup.cfg": package.setup_text(native.platform_tag(objects.values())),
        f"{name}/__init__.py": package.module_text(path.name, shipped, found, built_for, list(runtimes)),
        f"{name}/__init__.pyi": package.stub_text(path.name, shipped),
        f"{name}/py.typed": "",
    }
    files = _written(folder, texts, {f"{name}/_native/{where}": data for where, data in objects.items()})
    return files, [note for one in shipped for note in one.notes]


def _compiled(units: Sequence[package.Unit], built_for: Sequence[Level], progress: Progress) -> dict[str, bytes]:
    """The shared objects of all programs for all levels, by where they go, compiled side by side."""
    objects: dict[str, bytes] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {
            pool.submit(native.compiled, unit.program, unit.text, unit.stem, level): f"{level.name}/{unit.stem}.so"
            for unit in units
            for level in built_for
        }
        try:
            for done in as_completed(running):
                objects[running[done]] = done.result()
                progress(running[done], len(objects), len(running))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return objects


def _check_folder(folder: Path) -> None:
    """That nothing of others is written over."""
    if folder.exists() and any(folder.iterdir()):
        project = folder / "pyproject.toml"
        if not project.is_file() or package.MARK not in project.read_text(encoding="utf-8", errors="replace"):
            problem = f"{folder} holds something that `transkern build` has not written"
            raise CompileError(refusals.OPTIONS, problem, "choose another folder with -o")


def _written(folder: Path, texts: dict[str, str], objects: dict[str, bytes]) -> list[Path]:
    """The files, put in place of what is there once all of them are written."""
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    try:
        for where, text in texts.items():
            (part / where).parent.mkdir(parents=True, exist_ok=True)
            (part / where).write_text(text, encoding="utf-8")
        for where, data in objects.items():
            (part / where).parent.mkdir(parents=True, exist_ok=True)
            (part / where).write_bytes(data)
        if folder.exists():
            shutil.rmtree(folder)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return [folder / where for where in (*texts, *objects)]
