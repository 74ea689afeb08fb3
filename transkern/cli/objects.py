"""``package.module:function``: the file of a module, and a function in it, found without importing anything.

Modules are looked for as Python looks for them, from the current folder on, each package in the folders of the one that
it is in; a package's own code, which might change where its modules are, does not run.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path

import click


def file_and_function(source: str, function: str | None) -> tuple[Path, str | None]:
    """The file, and the function where one is named, that a command line's ``FILE``, ``FILE:FUNCTION`` or
    ``MODULE:FUNCTION`` means; `function` is that of an option.

    Raises UsageError where there is no such file or module, or two functions are named.
    """
    if Path(source).is_file():
        return Path(source), function
    place, colon, name = source.rpartition(":")
    if not colon:
        place, name = source, ""
    if name and function not in (None, name):
        raise click.UsageError(f"{source!r} names the function {name!r}, and --function {function!r}")
    if colon and Path(place).is_file():
        return Path(place), name or function
    if not all(part.isidentifier() for part in place.split(".")):
        raise click.UsageError(f"there is no file {place!r}")
    return _file_of(place), name or function


def _file_of(module: str) -> Path:
    folders: list[str] | None = [os.getcwd(), *sys.path]
    spec, name = None, ""
    for part in module.split("."):
        name = f"{name}.{part}" if name else part
        spec = None if folders is None else PathFinder.find_spec(name, folders)
        if spec is None:
            missing = f", as there is no {name!r}" if name != module else ""
            raise click.UsageError(f"there is no file or module {module!r}{missing}")
        folders = None if spec.submodule_search_locations is None else list(spec.submodule_search_locations)
    assert isinstance(spec, ModuleSpec)
    if not isinstance(spec.loader, SourceFileLoader) or spec.origin is None:
        raise click.UsageError(f"the module {module!r} has no Python file of its own")
    path = Path(spec.origin)
    return Path(os.path.relpath(path)) if path.is_relative_to(Path.cwd()) else path
