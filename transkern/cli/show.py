"""What goes to a terminal: code in colour, refusals in plain words."""

from __future__ import annotations

import sys

import click


def code(text: str, name: str) -> None:
    """`text`, coloured by the language of the file `name` where stdout is a terminal."""
    if not sys.stdout.isatty():
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
    first, _, rest = message.partition("\n")
    click.secho(first, fg="red", bold=True, err=True)
    for line in rest.splitlines():
        click.secho(line, fg="cyan" if line.lstrip().startswith("help:") else None, err=True)
