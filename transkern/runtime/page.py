"""One page on what became of a function: its text beside the generated code, line by line, in one HTML file that needs
nothing else."""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import PurePath
from string import Template

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CLexer, CppLexer, PythonLexer

from transkern.runtime.profiling import Profile

_CITED = re.compile(r"^\s*(?://|#) (\d+): ")
"""The user's line above generated code, as `ir.nodes.Program.cited` writes it."""

_LEXERS = {"c": CLexer, "cu": CppLexer, "py": PythonLexer}

_TOLD = re.compile(r"\bline (\d+)\b")


def page(
    function: ast.FunctionDef | ast.Lambda, lines: Sequence[str], told: str, made: Mapping[str, str],
    measured: Sequence[Profile] = (),
) -> str:  # fmt: skip
    """The page.

    Args:
        function: the function in its file, whose lines are `lines`.
        told: what became of it, in words.
        made: generated files by their names.
        measured: what stands beside the lines of the source, where there is one: the times of a run.
    """
    name = getattr(function, "name", "<lambda>")
    head, _, rest = told.partition("\n")
    subtitle = html.escape(head.removeprefix(f"{name}: "))
    codes = {file: _generated(text) for file, text in made.items()}
    cited = {line for code in codes.values() for line, _ in code if line}
    return Template(files("transkern.runtime").joinpath("page.html").read_text(encoding="utf-8")).substitute(
        title=html.escape(name), subtitle=f"{subtitle}.",
        light=_style("default"), dark=_style("github-dark"),
        source="\n".join(_source(function, lines, cited, _times(measured))), told=_linked(rest, cited),
        made="\n".join(f"<h2>{html.escape(file)}</h2>\n{_code(code, file)}" for file, code in codes.items()),
    )  # fmt: skip


def _style(name: str) -> str:
    defined = HtmlFormatter(style=name).get_style_defs("pre")
    return "\n".join(line for line in defined.splitlines() if line.startswith("pre .") and "linenos" not in line)


def _generated(text: str) -> list[tuple[int, str]]:
    """The lines of generated code, each with the user's line that it is made of (0: none): a citation holds until the
    block ends that it stands in."""
    out: list[tuple[int, str]] = []
    holding: list[tuple[int, int]] = []  # lines that are cited, and how far they are indented
    for line in text.rstrip("\n").split("\n"):
        indent = len(line) - len(line.lstrip())
        if line.strip():
            while holding and indent < holding[-1][1]:
                holding.pop()
            if (found := _CITED.match(line)) is not None:
                while holding and indent <= holding[-1][1]:
                    holding.pop()
                holding.append((int(found[1]), indent))
            elif indent == 0:
                holding.clear()
        out.append((holding[-1][0] if holding else 0, line))
    return out


def _coloured(text: str, suffix: str) -> list[str]:
    """The lines of a text as HTML."""
    made: str = highlight(text, _LEXERS[suffix](stripnl=False, ensurenl=False), HtmlFormatter(nowrap=True))
    return made.rstrip("\n").split("\n")


def _code(code: Sequence[tuple[int, str]], file: str) -> str:
    coloured = _coloured("\n".join(line for _, line in code), PurePath(file).suffix[1:])
    rows = (_row(line, shown) for (line, _), shown in zip(code, coloured, strict=True))
    return f"<pre>{''.join(rows)}</pre>"


def _row(line: int, shown: str, number: int = 0, time: str = "") -> str:
    counted = f'<span class="number">{number}</span>' if number else ""
    at = f' data-line="{line}"' if line else ""
    return f'<span class="row"{at}>{time}{counted}{shown}\n</span>'


def _times(measured: Sequence[Profile]) -> Callable[[int], str]:
    """What stands before a line: what it has taken, or it together with others."""
    if not measured:
        return lambda line: ""
    marks = measured[0].marks()

    def time(line: int) -> str:
        own = marks.get(line, [])
        told = [f"{time}, {share} of the calls: line{'s' * (not of.isdecimal())} {of}" for time, share, of in own]
        title = "; ".join(told)
        return f'<span class="time" title="{html.escape(title)}">{" + ".join(time for time, _, _ in own)}</span>'

    return time


def _source(
    function: ast.AST, lines: Sequence[str], cited: Iterable[int], time: Callable[[int], str]
) -> Iterator[str]:
    """The function's lines, and those of other functions of its file that the code is made of."""
    known = {*cited}
    coloured = _coloured("\n".join(lines), "py")
    for first, last in _ranges(function, lines, known):
        numbers = range(first, min(last, len(coloured)) + 1)
        rows = (_row(k if k in known else 0, coloured[k - 1], k, time(k)) for k in numbers)
        yield f"<pre>{''.join(rows)}</pre>"


def _ranges(function: ast.AST, lines: Sequence[str], cited: Iterable[int]) -> list[tuple[int, int]]:
    first, last = function.lineno, function.end_lineno  # type: ignore[attr-defined]
    own, others = (first, last), set()
    outside = [k for k in cited if not first <= k <= last]
    if outside:
        try:
            tree = ast.parse("\n".join(lines))
        except SyntaxError:
            tree = ast.Module([], [])
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Assign)):
                span = node.lineno, node.end_lineno or node.lineno
                if span != own and any(span[0] <= k <= span[1] for k in outside):
                    others.add(span)
    return [own, *sorted(others)]


def _linked(told: str, cited: Iterable[int]) -> str:
    """What is told, with links at the lines that there is code of."""
    known = {str(k) for k in cited}

    def link(found: re.Match[str]) -> str:
        return f'<a href="#" data-line="{found[1]}">{found[0]}</a>' if found[1] in known else found[0]

    rows = (f'<span class="row">{_TOLD.sub(link, html.escape(line))}\n</span>' for line in told.rstrip().split("\n"))
    return "".join(rows)
