"""What goes to a terminal: code in colour, refusals in plain words."""

from __future__ import annotations

import os
import sys

import click


def coloured() -> bool | None:
    """What click is to do about colours: none where `NO_COLOR` is set (https://no-color.org), else as it sees fit."""
    return False if os.environ.get("NO_COLOR") else None


def plain(text: str) -> str:
    """Lines of a file that nobody knows, as a terminal may show them: without the characters that control it."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def code(text: str, name: str) -> None:
    """`text`, coloured by the language of the file `name` where stdout is a terminal."""
    if not sys.stdout.isatty() or coloured() is False:
        click.echo(text.rstrip("\n"))
        return
    from pygments import highlight
    from pygments.formatters import TerminalFormatter
    from pygments.lexers import CLexer, CppLexer, PythonLexer

    suffix = name.rpartition(".")[2]
    lexer = {"c": CLexer, "cu": CppLexer, "py": PythonLexer}[suffix]()
    click.echo(highlight(text, lexer, TerminalFormatter()).rstrip("\n"))


def refusal(message: str) -> None:
    """An error message to stderr: its first line stands out, the line of source stays as it is."""
    first, _, rest = plain(message).partition("\n")
    click.secho(first, fg="red", bold=True, err=True, color=coloured())
    for line in rest.splitlines():
        click.secho(line, fg="cyan" if line.lstrip().startswith("help:") else None, err=True, color=coloured())
