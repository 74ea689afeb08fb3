"""``transkern check``: which functions of files and folders would compile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from transkern.cli.show import plain
from transkern.errors import CompileError
from transkern.runtime.emitting import check_file

_SKIPPED = {"__pycache__", "node_modules", "build", "dist", "site-packages"}


def check(paths: Iterable[Path]) -> bool:
    """Prints a line a function and the messages of those that would not compile; True where all would."""
    good = bad = untyped = 0
    for path, folder in _files(paths):
        try:
            results = check_file(path, folder)
        except CompileError as error:  # the file is not Python, or not to be read
            results = [("", False, str(error))]
        for name, compiles, message in results:
            message = plain(message)
            shown = plain(click.format_filename(path))
            place = click.style(shown + (f"::{name}" if name else ""), bold=True)
            if not compiles:
                bad += 1
                click.echo(f"{click.style('no ', fg='red')} {place}")
                click.echo("    " + message.replace("\n", "\n    "))
            elif message:
                untyped += 1
                click.echo(f"{click.style('?  ', fg='yellow')} {place}: {message}")
            else:
                good += 1
                click.echo(f"{click.style('yes', fg='green')} {place}")
    click.echo(f"{good} would compile, {bad} would not, {untyped} without types")
    return not bad


def python_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files of `paths`, and the Python files below its folders, hidden ones and environments left out."""
    return (path for path, _ in _files(paths))


def _files(paths: Iterable[Path]) -> Iterator[tuple[Path, Path | None]]:
    """The same, with the folders that those were found in which nobody has named."""
    for path in paths:
        if not path.is_dir():
            yield path, None
            continue
        for found in sorted(path.rglob("*.py")):
            folders = found.relative_to(path).parts[:-1]
            if not found.is_dir() and not any(f in _SKIPPED or f.startswith(".") for f in folders):
                yield found, path
