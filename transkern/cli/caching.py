"""``transkern cache``: what is on disk, whether it is whole, and functions compiled into it."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from transkern.cli.objects import file_and_function
from transkern.cli.progress import bar
from transkern.cli.show import plain
from transkern.runtime.caching import bound, cache
from transkern.runtime.caching.contents import Part, contents, verified

NOWHERE = "nowhere: there is no home directory, and TRANSKERN_CACHE_DIR is not set"


def size() -> tuple[int, int]:
    """How many files there are, and how many bytes."""
    sizes = []
    for path in cache.files():
        with suppress(FileNotFoundError):  # another process has deleted it meanwhile
            sizes.append(path.lstat().st_size)
    return len(sizes), sum(sizes)


def info() -> None:
    """Tells where the cache is, what is in it, and how much of what it may take."""
    folder = cache.directory()
    rows: list[tuple[str, str]] = [("place", str(folder or NOWHERE))]
    if why := cache.problem():
        rows.append(("not used", why))
    elif folder is not None:
        found = contents(folder)
        most = bound.limit()
        limit = "no limit" if most is None else f"of {_bytes(most)}"
        rows.append(("size", f"{_bytes(found.size)} {limit} ({bound.VARIABLE})"))
        rows += [(target, _part(part, "entr", "y", "ies")) for target, part in sorted(found.targets.items())]
        rows += [(name, _part(part, "file", "", "s")) for name, part in sorted(found.others.items())]
        if found.oldest is not None and found.newest is not None:
            rows.append(("last used", f"between {_date(found.oldest)} and {_date(found.newest)}"))
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        click.echo(f"{click.style(f'{name:{width}}', bold=True)}  {plain(text)}")


def _part(part: Part, noun: str, one: str, many: str) -> str:
    return f"{part.count} {noun}{one if part.count == 1 else many}, {_bytes(part.size)}"


def _bytes(count: int) -> str:
    value, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


def _date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def verify() -> bool:
    """Looks at all of it, deletes what does not serve, and tells what that was; whether all was well."""
    folder = cache.usable()
    if folder is None:
        click.echo("there is no cache")
        return True
    with bar("verifying") as step:
        count, broken = verified(folder, step)
    for path, why in broken:
        click.echo(f"{click.style('deleted', fg='red')} {plain(str(path))}: {plain(why)}")
    click.echo(f"{count} entries serve, {len(broken)} files did not")
    return not broken


def warm(
    source: str, types: Sequence[str], recorded: Path | None, target: str, jobs: int | None, imports: bool
) -> bool:  # fmt: skip
    """Compiles the functions of a file or module, side by side, and tells what became of each; whether there is code
    for all."""
    from transkern.runtime.caching import warming

    if not imports:
        source = str(file_and_function(source, None)[0])
    wanted = warming.Wanted(source, tuple(types), recorded, target, imports)
    found = []
    with bar("compiling") as step:
        for one in warming.warmed(wanted, jobs or os.cpu_count() or 1, step):
            found.append(one)
    for one in sorted(found, key=lambda one: (one.name, one.types)):
        state = "no " if one.problem else "old" if one.from_cache else "new"
        shown = click.style(state, fg={"no ": "red", "new": "green"}.get(state))
        more = f": {one.problem}" if one.problem else f" in {one.seconds:.2f} s" if not one.from_cache else ""
        click.echo(f"{shown} {plain(f'{one.name}{one.types} on {one.target}{more}')}")
    new = sum(not one.problem and not one.from_cache for one in found)
    old, none = sum(one.from_cache for one in found), sum(bool(one.problem) for one in found)
    click.echo(f"{new} compiled, {old} there already, {none} without code")
    return not none
