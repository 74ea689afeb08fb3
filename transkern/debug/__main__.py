"""``python -m transkern.debug``: what is wrong with a compilation. Unlike what `transkern` does, it runs the file."""

from __future__ import annotations

import inspect
import types
from pathlib import Path
from typing import Any

import click
import numpy as np

from transkern.cli import Group
from transkern.cli.progress import bar
from transkern.debug.arguments import drawn
from transkern.debug.staged import first_fault, names
from transkern.frontend.sources.source import live_function
from transkern.runtime.emitting import types_for, which
from transkern.targets.table import TARGETS
from transkern.texts_read import read_with
from transkern.wrappers import written_function

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
def main() -> None:
    """Find what is wrong with a compilation. Unlike the commands of transkern these run the user's file."""


@main.command()
@click.argument("file", type=_FILE)
@click.option("--function", "-f", metavar="NAME", help="Which function; the only one of the file needs no name.")
@click.option("--call", metavar="EXPRESSION", help="A call of the function: names of the file, np and rng are known.")
@click.option("--types", metavar="TYPES", help="Without a call: arguments of such types are drawn.")
@click.option("--target", "-t", type=click.Choice([*TARGETS]), default="cpu", show_default=True)
@click.option("--draws", type=click.IntRange(1), default=5, show_default=True, help="How many lists of arguments.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the arguments that are drawn, and of rng.")
def stages(
    file: Path, function: str | None, call: str | None, types: str | None, target: str, draws: int, seed: int
) -> None:
    """Find the first pass behind which the program has another answer than the function.

    FILE is run. The program runs in NumPy behind the front end and behind each pass.
    """
    space = _run(file)
    chosen = _chosen(space, function, file)
    rng = np.random.default_rng(seed)
    calls = [_arguments(chosen, call, space, rng)] if call else _drawn(chosen, types, draws, rng)
    count = len(names(target))
    with bar("running stages") as step:
        seen = iter(range(1, count + 1))
        fault = first_fault(chosen, calls, target, lambda _: step(next(seen), count))
    tried = f"{len(calls)} call{'s' * (len(calls) != 1)}"
    if fault is None:
        click.echo(f"right behind each of {count} stages, for {tried}")
        return
    last = names(target)[fault.stage - 1] if fault.stage else ""
    click.echo(f"wrong behind `{fault.name}`, stage {fault.stage + 1} of {count}: {fault.problem}")
    if last:
        click.echo(f"compare: transkern emit {file} -f {chosen.__name__} --print-after {last} (and {fault.name})")
    raise SystemExit(1)


def _run(file: Path) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": file.stem, "__file__": str(file)}
    exec(compile(file.read_bytes(), str(file), "exec"), space)
    return space


def _chosen(space: dict[str, Any], name: str | None, file: Path) -> types.FunctionType:
    functions = {
        key: found for key, value in space.items()
        if isinstance(found := written_function(value), types.FunctionType) and found.__globals__ is space
    }  # fmt: skip
    if name is None and len(functions) == 1:
        (name,) = functions
    if name not in functions:
        raise which(str(file), functions)
    read_with(functions[name])
    return functions[name]


def _arguments(
    function: types.FunctionType, call: str, space: dict[str, Any], rng: np.random.Generator
) -> list[Any]:
    """The arguments of a call, as the function gets them."""
    given: list[list[Any]] = []

    def noted(*args: Any, **keywords: Any) -> None:
        bound = inspect.signature(function).bind(*args, **keywords)
        bound.apply_defaults()
        given.append(list(bound.args))

    stands_in = {function.__name__: noted, "np": np, "rng": rng}
    eval(call, {**space, **stands_in})
    if len(given) != 1:
        raise click.UsageError(f"{call!r} calls {function.__name__} {len(given)} times: give one call of it")
    return given[0]


def _drawn(
    function: types.FunctionType, stated: str | None, draws: int, rng: np.random.Generator
) -> list[list[Any]]:
    kinds = types_for(live_function(function), stated)
    return [drawn(kinds, rng) for _ in range(draws)]


if __name__ == "__main__":
    main(prog_name="python -m transkern.debug")
