"""``transkern check``: which functions of files and folders would compile."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

import click

from transkern.checking.formats import as_json, as_sarif
from transkern.checking.functions import Checked, Known, check_file
from transkern.cli.progress import bar
from transkern.cli.show import plain
from transkern.dropin.recording import read
from transkern.errors import CompileError
from transkern.frontend.values.types import parse_signature

_SKIPPED = {"__pycache__", "node_modules", "build", "dist", "site-packages"}

_EXAMPLES = 3  # of a kind of reasons

_WIDTH = 100  # characters of an example

Found = list[tuple[Path, Checked]]


def check(
    paths: Sequence[Path], types: Sequence[str] = (), form: str = "text", decorated: bool = False, strict: bool = False,
    recorded: Path | None = None, advised: bool = False,
) -> bool:  # fmt: skip
    """Tells what would become of the functions below `paths`; True where none is refused whose types are stated.

    Args:
        paths: files and folders.
        types: of the arguments of some functions, as `emit` takes them.
        form: `text` has a line a function, the messages of those that would not compile, and the reasons at the end;
            `json` and `sarif` are for programs.
        decorated: look only at functions that transkern's decorators compile.
        strict: it counts as well what is refused for types that are only likely.
        advised: what could be faster is told as well.
        recorded: where a run has written the types that functions were called with.
    """
    stated: Known = {name: (found, "stated") for name, found in map(parse_signature, types)}
    runs = {} if recorded is None else read(recorded)

    def known(path: Path) -> Known:
        found = runs.get(os.path.realpath(path), {})
        return {name: (parse_signature(f"({', '.join(t)})")[1], "recorded") for name, t in found.items()} | dict(stated)

    found: Found = []
    for path, one in _with_progress(list(_files(paths)), known, decorated, advised):
        found.append((path, one))
        if form == "text":
            _show(path, one)
    if form == "text":
        _summary(found)
    else:
        click.echo(json.dumps(as_json(found) if form == "json" else as_sarif(found), indent=2))
    return not any(one.refusals and (strict or one.origin != "likely") for _, one in found)


def _with_progress(
    files: Sequence[tuple[Path, Path | None]], known: Callable[[Path], Known], decorated: bool,
    advised: bool,
) -> Iterator[tuple[Path, Checked]]:  # fmt: skip
    """What is found, while a bar on stderr shows how far it is; where results go to the same terminal, they do that."""
    shown = len(files) > 1 and not sys.stdout.isatty()
    with bar("checking") if shown else nullcontext(lambda done, of: None) as step:
        for k, (path, folder) in enumerate(files):
            try:
                for one in check_file(path, folder, known(path), decorated, advised):
                    yield path, one
            except CompileError as error:  # the file is not Python, or not to be read
                yield path, Checked("", 0, refusals=(error,))
            step(k + 1, len(files))


def _show(path: Path, one: Checked) -> None:
    """One function."""
    shown = plain(click.format_filename(path))
    place = click.style(shown + (f"::{one.name}" if one.name else ""), bold=True)
    likely = f" for {_types(one)}" if one.origin == "likely" else ""
    match one.outcome:
        case "compiles":
            click.echo(f"{click.style('yes', fg='green')} {place}{likely}")
            for error in one.advice:
                click.echo("    " + plain(str(error)).replace("\n", "\n    "))
        case "unknown":
            click.echo(f"{click.style('?  ', fg='yellow')} {place}: {plain(one.unknown)}")
        case "refused":
            parts = f", but for {one.parts} part{'s' * (one.parts > 1)} of it" if one.parts else ""
            click.echo(f"{click.style('no ', fg='red')} {place}{likely}{parts}")
            for error in one.refusals:
                click.echo("    " + plain(str(error)).replace("\n", "\n    "))


def _types(one: Checked) -> str:
    """The likely types of the arguments, with sizes that nobody has named."""
    sizes = {name: re.compile(rf"\b{name}(_\d+)+\b") for name in one.types}
    shown = [f"{name}: {sizes[name].sub(':', kind)}" for name, kind in one.types.items()]
    return plain(f"({', '.join(shown)})")


def _summary(found: Found) -> None:
    """How many, and the reasons, most frequent first."""
    examples: defaultdict[str, Counter[str]] = defaultdict(Counter)
    titles: dict[str, str] = {}
    for _, one in found:
        for error in one.refusals:
            titles[error.kind.code] = error.kind.title
            examples[error.kind.code][error.problem] += 1
    for code, problems in sorted(examples.items(), key=lambda item: -item[1].total()):
        click.echo(f"{problems.total():>5}  {click.style(code, bold=True)}  {titles[code]}")
        for problem, times in problems.most_common(_EXAMPLES if len(examples) > 1 or len(problems) > 1 else 0):
            click.echo(f"{times:>14}  {plain(problem)[:_WIDTH]}")
    if titles:
        click.echo(f"`transkern explain-error {min(titles)}` says more about a code.")
    outcomes = Counter(one.outcome for _, one in found)
    guessed = sum(one.outcome == "compiles" and one.origin == "likely" for _, one in found)
    likely = f" ({guessed} of them for likely types)" if guessed else ""
    parted = sum(one.parts > 0 for _, one in found)
    parts = f" ({parted} of them would in parts)" if parted else ""
    click.echo(
        f"{outcomes['compiles']} would compile{likely}, {outcomes['refused']} would not{parts}, "
        f"{outcomes['unknown']} not checked"
    )


def python_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files of `paths`, and the Python files and notebooks below its folders; not hidden ones, nor environments."""
    return (path for path, _ in _files(paths))


def _files(paths: Iterable[Path]) -> Iterator[tuple[Path, Path | None]]:
    """The same, with the folders that those were found in which nobody has named."""
    for path in paths:
        if not path.is_dir():
            yield path, None
            continue
        for found in sorted([*path.rglob("*.py"), *path.rglob("*.ipynb")]):
            folders = found.relative_to(path).parts[:-1]
            if not found.is_dir() and not any(f in _SKIPPED or f.startswith(".") for f in folders):
                yield found, path
