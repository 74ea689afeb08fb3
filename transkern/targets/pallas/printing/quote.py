"""Python syntax trees from templates, and their text: ``quote("jnp.exp(_0)", x)`` is a tree with `x` for ``_0``.

Comments do not exist in a tree: `comment` makes a marker statement, and `text` prints it as a comment.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from transkern.parsing import parse_expression

with warnings.catch_warnings():  # astor 0.8.1 looks up node classes that Python is about to drop
    warnings.simplefilter("ignore", DeprecationWarning)
    import astor
    import astor.string_repr

_MARK = "#: "
_HOLE = re.compile(r"_\d+\Z")
_SHARED = (ast.Name, ast.Attribute, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
_MARKED = re.compile(r"""^(?P<pad>\s*)(?:\(?(?P<q>\"\"\"|'''|'|\")#: (?P<body>.*?)(?P=q)\)?)$""")


Made = Callable[[tuple[ast.expr, ...]], Any]
"""What fills a part of a template."""


def quote(template: str, *args: ast.expr) -> ast.expr:
    """The expression of `template` with ``_0``, ``_1``, … replaced by `args`."""
    return _template(template)(args)  # type: ignore[no-any-return]


@cache
def _template(text: str) -> Made:
    body = parse_expression(text)
    return _filling(body) or (lambda args: body)


def _filling(part: Any) -> Made | None:
    """What makes `part` of a template, be it a node or a list of them, with holes filled; None where all may share it.

    astor notes on operations whether they stand in parentheses: only names without holes, dotted ones too, are shared.
    """
    if isinstance(part, ast.Name) and _HOLE.match(part.id):
        hole = int(part.id[1:])
        return lambda args: args[hole]
    if isinstance(part, list):
        fillings = [(item, _filling(item)) for item in part]
        if not any(fill for _, fill in fillings):
            return None
        return lambda args: [fill(args) if fill else item for item, fill in fillings]
    if not isinstance(part, ast.AST):
        return None
    fields = [(field, value, _filling(value)) for field, value in ast.iter_fields(part)]
    kind = type(part)
    if issubclass(kind, _SHARED) and not any(fill for _, _, fill in fields):
        return None
    return lambda args: kind(**{field: fill(args) if fill else value for field, value, fill in fields})


def name(identifier: str) -> ast.Name:
    return ast.Name(identifier, ast.Load())


def constant(value: Any) -> ast.expr:
    """A literal; infinities and NaN, which Python cannot write, as NumPy's names."""
    if isinstance(value, complex):
        return quote("complex(_0, _1)", constant(value.real), constant(value.imag))
    if isinstance(value, float):
        if value != value:
            return quote("jnp.nan")
        if value in (float("inf"), float("-inf")):
            return quote("jnp.inf" if value > 0 else "-jnp.inf")
    if isinstance(value, (int, float)) and not isinstance(value, bool) and str(value).startswith("-"):
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def names(identifiers: list[str] | tuple[str, ...], store: bool = False) -> ast.expr:
    """One name, or a tuple of them."""
    context: ast.expr_context = ast.Store() if store else ast.Load()
    if len(identifiers) == 1:
        return ast.Name(identifiers[0], context)
    return ast.Tuple([ast.Name(i, context) for i in identifiers], context)


def sequence(items: list[ast.expr]) -> ast.expr:
    return ast.Tuple(items, ast.Load())


def assign(target: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(target, ast.Store())], value, lineno=0)


def call(function: ast.expr | str, args: list[ast.expr], **keywords: ast.expr) -> ast.expr:
    callee = name(function) if isinstance(function, str) else function
    return ast.Call(callee, args, [ast.keyword(k, v) for k, v in keywords.items()])


def function(
    identifier: str, args: list[str], body: list[ast.stmt], decorators: list[ast.expr] | None = None,
    perhaps: Sequence[str] = (),
) -> ast.stmt:  # fmt: skip
    """``def identifier(args): body``; `perhaps` are arguments more, which may be left out."""
    every, defaults = [ast.arg(a) for a in (*args, *perhaps)], [ast.Constant(None) for _ in perhaps]
    arguments = ast.arguments([], every, None, [], [], None, list(defaults))
    return ast.FunctionDef(identifier, arguments, body or [ast.Pass()], decorators or [], lineno=0)


def comment(line: str) -> ast.stmt:
    """A statement that `text` prints as the comment ``# line``."""
    return ast.Expr(
        ast.Constant(_MARK + line.encode("unicode_escape").decode("ascii").replace("'", "\\x27").replace('"', "\\x22"))
    )


def size(node: ast.AST, known: dict[int, int]) -> int:
    """How many nodes are printed of a tree whose parts may stand in it at many places: each is counted once."""
    found = known.get(id(node))
    if found is None:
        found = known[id(node)] = 1 + sum(size(child, known) for child in ast.iter_child_nodes(node))
    return found


def text(module: list[ast.stmt]) -> str:
    """The program text of the statements."""
    tree = ast.fix_missing_locations(ast.Module(module, []))
    printed: str = astor.to_source(tree, pretty_string=_plain_string, pretty_source=_wide_source)
    lines = []
    for line in printed.splitlines():
        found = _MARKED.match(line)
        if found:
            body = found["body"].replace("\\\\", "\\").encode("ascii").decode("unicode_escape")
            line = f"{found['pad']}# {body}".rstrip()
        lines.append(line)
    return "\n".join(lines) + "\n"


def _plain_string(
    s: str, embedded: Any, current_line: str, uni_lit: bool = False, min_trip_str: int = 20, max_line: int = 100
) -> str:
    """Docstrings as written, everything else in one piece (astor breaks long strings over lines)."""
    if "\n" in s and not current_line.strip():
        return '"""' + s.replace("\\", "\\\\").replace('"""', '\\"\\"\\"') + '"""'
    return repr(s)


def _wide_source(source: Any) -> str:
    """The pieces of the text, lines broken where they are wider than this project's own."""
    from astor.source_repr import split_lines

    return "".join(split_lines(source, maxline=110))
