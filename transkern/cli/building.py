"""``transkern build``: what it shows while it works, and what it says at the end."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from transkern.options import Options
from transkern.shipping.writing import build as written


def build(
    path: Path, folder: Path, name: str, version: str, names: Sequence[str], types: Sequence[str],
    levels: Sequence[str], variants: bool, options: Options,
) -> None:  # fmt: skip
    """Writes the package, and tells how it is installed."""
    from rich.console import Console
    from rich.progress import Progress

    with ExitStack() as stack:
        console = Console(stderr=True)
        bar: Any = None
        if console.is_terminal:
            bar = stack.enter_context(Progress(console=console, transient=True))
            task = bar.add_task("reading", total=None)

        def progress(what: str, done: int, of: int) -> None:
            if bar is not None:
                bar.update(task, description=f"compiling {what}", completed=done, total=of)

        files, notes = written(
            path, folder, name=name, version=version, names=names, types=types, chosen=levels, variants=variants,
            options=options, progress=progress,
        )  # fmt: skip
    for note in notes:
        click.echo(f"note: {note}", err=True)
    package = next(file for file in files if file.name == "__init__.py").parent.name
    native = [file for file in files if file.suffix == ".so" and file.name != "level.so"]
    size = sum(file.stat().st_size for file in files)
    click.echo(f"{folder}: package `{package}`, {len(native)} shared objects, {size / 2**20:.1f} MB")
    place = f"{folder}" if folder.is_absolute() else f".{os.sep}{folder}"  # pip takes a bare word for a package's name
    click.echo(f"  pip install {place}             installs it")
    click.echo(f"  pip wheel --no-deps {place}     makes a wheel of it")
