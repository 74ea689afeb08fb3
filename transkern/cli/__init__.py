"""The command line. No logic of its own; what a command needs is imported inside it, so that ``--help`` is quick."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import click

from transkern import __version__
from transkern.errors import TranskernError
from transkern.options import Options
from transkern.targets.table import TARGETS

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_OUT = click.Path(dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)
_TYPES = "Argument types, such as 'nms(float32[n,4], float32[n], int, float)'; annotations give them as well."


class _Refusal(click.ClickException):
    """An error of transkern, shown as it is: place, line with a caret, help."""

    def show(self, file: IO[Any] | None = None) -> None:
        from transkern.cli.show import refusal

        refusal(self.message)


class Group(click.Group):
    """Commands whose refusals are shown as they are."""

    def invoke(self, ctx: click.Context) -> Any:
        from transkern.cli.show import coloured

        ctx.color = coloured()
        try:
            return super().invoke(ctx)
        except TranskernError as error:
            raise _Refusal(str(error)) from error
        except UnicodeDecodeError as error:
            raise _Refusal(f"not a text file in UTF-8: {error}") from error


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="transkern")
def cli() -> None:
    """Compile plain NumPy functions to kernels for the CPU (C with OpenMP), CUDA and Pallas."""


_then: list[Callable[[], None]] = []
"""What runs when the command line has been read and all of its frames are gone: a user's script."""


def main() -> None:
    """The entry point."""
    try:
        cli(prog_name="transkern")
    except SystemExit as end:
        if end.code or not _then:
            raise
    _then[0]()


@cli.command()
@click.argument("file", type=_FILE)
@click.option("--function", "-f", metavar="NAME", help="Which function; the only one of the file needs no name.")
@click.option("--target", "-t", type=click.Choice([*TARGETS]), default="cpu", show_default=True)
@click.option("--types", metavar="TYPES", help=_TYPES)
@click.option("--output", "-o", metavar="DIR", type=_FOLDER, help="Write files there that need no transkern.")
@click.option("--print-after", metavar="PASS", help="Show the program after a pass instead ('help' lists them).")
@click.option("--allow-float32", is_flag=True, help="Compute float64 in float32 where the target has no float64.")
@click.option("--no-boundscheck", is_flag=True, help="Leave out the checks of subscripts.")
@click.option("--fastmath", is_flag=True, help="Add up loops in any order; round products and sums once.")
@click.option("--timings", "timed", is_flag=True, help="Tell on stderr how long each stage of the compilation took.")
def emit(
    file: Path, function: str | None, target: str, types: str | None, output: Path | None, print_after: str | None,
    allow_float32: bool, no_boundscheck: bool, fastmath: bool, timed: bool,
) -> None:  # fmt: skip
    """Show the code of a function of FILE, or write it with -o; what is written runs without transkern.

    FILE is read, not run.
    """
    from transkern.cli import show
    from transkern.debug.timing import Timings
    from transkern.runtime import emitting

    if print_after == "help":
        click.echo("\n".join(emitting.pass_names(target)))
        return
    if print_after is not None:
        click.echo(emitting.print_after(file, function, types, print_after, target).rstrip("\n"))
        return
    options = Options(allow_float32, not no_boundscheck, fastmath)
    timings = Timings() if timed else None
    texts = emitting.emit_files(file, function, target, types, options, timings)
    if timings is not None:
        click.echo(timings.table(), err=True)
    if output is None:
        # The code alone, so that it can be piped into a file or a compiler; what starts it is written by -o.
        (name, text), *others = texts.items()
        show.code(text, name)
        if others:
            click.echo(f"with -o DIR also: {', '.join(other for other, _ in others)}", err=True)
        return
    for path in emitting.write_files(texts, output):
        click.echo(str(path))


@cli.command()
@click.argument("source", metavar="FILE|MODULE:FUNCTION")
@click.option("--function", "-f", metavar="NAME", help="Which function; the only one of the file needs no name.")
@click.option("--types", metavar="TYPES", help=_TYPES)
@click.option("--dot", "as_dot", is_flag=True, help="Draw statements and dependences: a graph for graphviz.")
@click.option("--svg", type=_OUT, help="The same, as a picture in this file.")
@click.option("--html", type=_OUT, help="A page in this file: source beside generated code, line by line.")
@click.option("--target", "-t", type=click.Choice([*TARGETS]), default="cpu", help="Of which kernels.")
@click.option("--profile", metavar="FILE", type=_FILE, help="Tell the times of a run: transkern run --profile FILE.")
def explain(
    source: str, function: str | None, types: str | None, as_dot: bool, svg: Path | None, html: Path | None,
    target: str, profile: Path | None,
) -> None:  # fmt: skip
    """Say what becomes of a function: its kernels, what was fused, what runs in order, and why.

    The function is one of FILE, FILE:FUNCTION, or MODULE:FUNCTION, as `import` finds it; all is read, and nothing run
    or imported.
    """
    from transkern.cli.objects import file_and_function
    from transkern.runtime import emitting

    file, function = file_and_function(source, function)
    if html is not None:
        html.write_text(emitting.html_page(file, function, types, target, profile), encoding="utf-8")
        click.echo(str(html))
        return

    if svg is not None:
        from transkern.cli.drawing import draw

        draw(emitting.dot_text(file, function, types), svg)
        click.echo(str(svg))
        return
    if as_dot:
        click.echo(emitting.dot_text(file, function, types), nl=False)
        return
    click.echo(emitting.explain_text(file, function, types, target, profile).rstrip("\n"))


@cli.command()
@click.argument("file", type=_FILE)
@click.option("--output", "-o", metavar="DIR", type=_FOLDER, required=True, help="Where the package goes.")
@click.option("--name", default="", help="The package's name; that of FILE without one.")
@click.option("--package-version", default="0.1.0", show_default=True, help="The package's version.")
@click.option("--function", "-f", "functions", metavar="NAME", multiple=True, help="A function; may be given again.")
@click.option("--types", metavar="TYPES", multiple=True, help=f"{_TYPES} May be given again, also for one function.")
@click.option("--level", type=click.Choice(["v2", "v3", "v4"]), multiple=True, help="Of x86-64; may be given again.")
@click.option("--stated-only", is_flag=True, help="Not for strided arrays and axes of size 1, which types leave out.")
@click.option("--no-boundscheck", is_flag=True, help="Leave out the checks of subscripts.")
@click.option("--fastmath", is_flag=True, help="Add up loops in any order; round products and sums once.")
def build(
    file: Path, output: Path, name: str, package_version: str, functions: tuple[str, ...], types: tuple[str, ...],
    level: tuple[str, ...], stated_only: bool, no_boundscheck: bool, fastmath: bool,
) -> None:  # fmt: skip
    """Compile functions of FILE ahead of time into a package that needs NumPy alone: no transkern and no compiler.

    The package has stubs, and a build for each of several instruction sets, of which it takes the best when it is
    imported. FILE is read, not run. Without --function and --types, all of its functions are built whose decorators or
    annotations state types.
    """
    from transkern.cli import building

    options = Options(boundscheck=not no_boundscheck, fastmath=fastmath)
    building.build(file, output, name, package_version, functions, types, level, not stated_only, options)


@cli.command()
@click.argument("paths", type=click.Path(exists=True, path_type=Path), nargs=-1, required=True)
@click.option("--types", metavar="TYPES", multiple=True, help=f"{_TYPES} For several functions: several times.")
@click.option("--recorded", metavar="FILE", type=_FILE, help="Types of a run: transkern run --record FILE.")
@click.option("--decorated", is_flag=True, help="Check only functions that are decorated with transkern.compile.")
@click.option("--strict", is_flag=True, help="Exit with 1 also where a function is refused for likely types.")
@click.option("--advice", is_flag=True, help="Say also what compiles and could be faster.")
@click.option("--json", "form", flag_value="json", help="Print all that was found as JSON.")
@click.option("--sarif", "form", flag_value="sarif", help="Print the refusals as a SARIF log, for code hosts.")
@click.option("--text", "form", flag_value="text", default=True, hidden=True)
def check(
    paths: tuple[Path, ...], types: tuple[str, ...], recorded: Path | None, decorated: bool, strict: bool, advice: bool,
    form: str,
) -> None:  # fmt: skip
    """List which functions below PATHS would compile, and what is in the way of the others.

    Nothing is run. Where no types are stated, likely ones are taken, and told. Of a function that would not compile it
    is said how many parts of it would (docs/partial.md). Exit code 1 where a function whose types are stated would not
    compile, or a file cannot be read.
    """
    from transkern.cli.checking import check as check_paths

    if not check_paths(paths, types, form, decorated, strict, recorded, advice):
        raise SystemExit(1)


@cli.command("explain-error")
@click.argument("code")
def explain_error(code: str) -> None:
    """Say what a code such as TK1203 in a message means, and what to write instead."""
    from transkern.explanations import explanation

    if (text := explanation(code)) is None:
        raise click.UsageError(f"there is no code {code!r}; messages have one in brackets, such as [TK1201]")
    click.echo(text)


@cli.command("docs")
@click.argument("page", required=False)
def show_page(page: str | None) -> None:
    """Show a PAGE of the documents, such as language; without one, say which there are."""
    from transkern.cli.documents import pages, title

    known = pages()
    if page is None:
        width = max(map(len, known), default=0)
        click.echo("\n".join(f"{name:{width}}  {title(path)}" for name, path in known.items()))
        return
    name = page.removeprefix("docs/").removesuffix(".md")
    if name not in known:
        raise click.UsageError(f"there is no page {page!r}; there are {', '.join(known)}")
    click.echo_via_pager(known[name].read_text(encoding="utf-8"))


@cli.command("run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("-m", "module", is_flag=True, help="SCRIPT is the name of a module, as for python -m.")
@click.option("--target", "-t", type=click.Choice(["auto", *TARGETS]), default="auto", show_default=True)
@click.option("--include", metavar="PACKAGE", multiple=True, help="Compile functions of this package as well.")
@click.option("--report", is_flag=True, help="Say at the end which functions were compiled, and why the others not.")
@click.option("--record", metavar="FILE", type=_OUT, help="Write the types of first calls, for check --recorded.")
@click.option("--profile", metavar="FILE", type=_OUT, help="Write what compiled code has taken, for explain.")
@click.option("--eager", is_flag=True, help="Compile what can be compiled at its first call, whether it pays or not.")
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGS]...")
def run_script(
    module: bool, target: str, include: tuple[str, ...], report: bool, record: Path | None, profile: Path | None,
    eager: bool, script: str, arguments: tuple[str, ...],
) -> None:  # fmt: skip
    """Run SCRIPT as python does; functions of it that gain by it are compiled when they are called.

    The file stays as it is, and so do its output, its errors and its exit code.
    """
    from transkern.dropin import running

    for package in include:
        if not all(part.isidentifier() for part in package.split(".")):
            raise click.BadParameter(f"{package!r} is not the name of a package", param_hint="--include")
    _then.append(running.prepared(script, arguments, module, target, include, report, eager, record, profile))


@cli.command()
def doctor() -> None:
    """Say what this machine can run, and what to install for the rest."""
    from transkern.cli.doctor import report

    report()


@cli.group()
def cache() -> None:
    """The disk cache of compiled functions."""


@cache.command("dir")
def cache_dir() -> None:
    """Where it is."""
    from transkern.cli.caching import NOWHERE
    from transkern.runtime.caching.cache import directory

    click.echo(str(directory() or NOWHERE))


@cache.command("size")
def cache_size() -> None:
    """How many files it has, and how large they are."""
    from transkern.cli.caching import size

    files, size_in_bytes = size()
    click.echo(f"{files} files, {size_in_bytes / 1e6:.1f} MB")


@cache.command("clear")
def cache_clear() -> None:
    """Delete what is in it."""
    from transkern.runtime.caching.cache import clear

    click.echo(f"{clear()} files deleted")


@cache.command("info")
def cache_info() -> None:
    """Where it is, what is in it for each target, how much it may take, and when it was used."""
    from transkern.cli.caching import info

    info()


@cache.command("verify")
def cache_verify() -> None:
    """Look at each entry, and delete those that are not what was written, or cannot be loaded.

    Exit code 1 where there were some.
    """
    from transkern.cli.caching import verify

    if not verify():
        raise SystemExit(1)


@cache.command("warm")
@click.argument("source", metavar="FILE|MODULE")
@click.option("--types", metavar="TYPES", multiple=True, help=f"{_TYPES} For several functions: several times.")
@click.option("--recorded", metavar="FILE", type=_FILE, help="Types of a run: transkern run --record FILE.")
@click.option("--target", "-t", type=click.Choice(["auto", *TARGETS]), default="auto", show_default=True,
              help="Of functions that are not decorated.")  # fmt: skip
@click.option("--jobs", "-j", type=click.IntRange(1), help="Processes; one for each core without it.")
@click.option("--import", "imports", is_flag=True, help="Import it, which runs its statements, as `import` does.")
def cache_warm(
    source: str, types: tuple[str, ...], recorded: Path | None, target: str, jobs: int | None, imports: bool
) -> None:  # fmt: skip
    """Compile the functions of FILE or MODULE whose types are known, in several processes, for those that run it later.

    It is read, not run; functions of which only an import tells all (their classes, your other modules) are named.
    Meant are functions that are decorated with transkern.compile, for the types that earlier runs have compiled them
    for, else for those that they state; and all that --types or --recorded name. Exit code 1 where there is no code
    for some.
    """
    from transkern.cli.caching import warm

    if not warm(source, types, recorded, target, jobs, imports):
        raise SystemExit(1)
