"""What choices of lists, dicts and arrays are, of which one is changed behind the choice: the rest of the block on each
of the two paths.

    t = a if c else b                  if c: t = a; t.append(x); s
    t.append(x)                  ->    else: t = b; t.append(x); s
    s

Where two paths meet, a name that stands for one of two lists has a copy of it, which may only be read. Where one of
them is changed afterwards, the translation begins anew, with paths that meet at the end of the block: on each of them
the name is one of the two itself, whatever is done to it.
"""

from __future__ import annotations

import ast
import itertools

from transkern.frontend.anew import Site
from transkern.parsing import all_nodes, child_nodes

_EVALUATED_LATER = (
    ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.BoolOp, ast.IfExp, ast.NamedExpr,
)  # fmt: skip


def place_of(statement: ast.stmt, file: str) -> Site:
    """What a statement is known by in all translations of its text."""
    end = statement.end_lineno, statement.end_col_offset
    return ("choice", file, statement.lineno, statement.col_offset, *end, type(statement).__name__)


def as_branch(statement: ast.stmt) -> tuple[list[ast.stmt], ast.If] | None:
    """A statement that chooses, as an `if`: one that binds or uses ``a if c else b`` (or ``a or b``, of names), behind
    what gives names to the parts that are evaluated before the choice. None for others."""
    if isinstance(statement, ast.If):
        return [], statement
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr, ast.AugAssign, ast.Return)):
        return None
    earlier: list[ast.expr] = []
    chosen = _chosen(statement, earlier)
    if chosen is None:
        return None
    named: list[ast.stmt] = []
    taken = {x.id for x in all_nodes(statement) if isinstance(x, ast.Name)}  # those of a choice before this one, too
    free = (name for k in itertools.count() if (name := f"part {k} of {statement.lineno}") not in taken)
    for part, name in zip(earlier, free, strict=False):
        named.append(ast.copy_location(ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), part)], part), part))
        statement = _put(statement, part, ast.copy_location(ast.Name(name, ast.Load()), part))
    test, one, two = chosen[1:]
    paths = [ast.copy_location(_put(statement, chosen[0], value), value) for value in (one, two)]
    return named, ast.copy_location(ast.If(test, [paths[0]], [paths[1]]), statement)


_Choice = tuple[ast.expr, ast.expr, ast.expr, ast.expr]


def _chosen(
    statement: ast.Assign | ast.AnnAssign | ast.Expr | ast.AugAssign | ast.Return, earlier: list[ast.expr]
) -> _Choice | None:
    """The choice that a statement makes (`_first_choice`)."""
    if isinstance(statement, ast.AugAssign) and not isinstance(statement.target, ast.Name):
        return _first_choice(statement.target, earlier)  # its place is evaluated first
    of_value = None if statement.value is None else _first_choice(statement.value, earlier)
    if isinstance(statement, ast.AugAssign) and earlier:
        return None
    if of_value is None and isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        if not _is_plain(statement.value):
            earlier.append(statement.value)
        return _first_choice(statement.targets[0], earlier)
    return of_value


def _first_choice(node: ast.expr, earlier: list[ast.expr]) -> _Choice | None:
    """The choice that an expression evaluates before anything that others could see, but for the `earlier` parts:
    itself, its condition, and the two values."""
    match node:
        case ast.IfExp(test, one, two):
            return node, test, one, two
        case ast.BoolOp(op, [ast.Name() as first, *others]):
            rest = others[0] if len(others) == 1 else ast.copy_location(ast.BoolOp(op, others), node)
            one, two = (rest, first) if isinstance(op, ast.And) else (first, rest)
            return node, first, one, two
        case _ if isinstance(node, _EVALUATED_LATER):
            return None
    if isinstance(node, ast.Dict) or (isinstance(node, ast.Compare) and len(node.ops) > 1):
        return None
    before: list[ast.expr] = []
    for part in child_nodes(node):
        part = part.value if isinstance(part, ast.keyword) else part
        if not isinstance(part, ast.expr):
            continue
        inner: list[ast.expr] = []
        found = _first_choice(part, inner)
        if found is None and isinstance(part, (ast.Starred, ast.Slice)):
            return None
        if found is None:
            before.append(part)
            continue
        # what a choice calls may change what stands before it; else names, constants and functions are what they are
        calls = any(isinstance(x, (ast.Call, ast.NamedExpr)) for f in found for x in all_nodes(f))
        named = [p for p in before if not isinstance(p, ast.Constant) and (calls or not _is_plain(p))]
        if named and (isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Call) and node.func in named)):
            return None  # a part that is no expression by itself, a method that is computed
        earlier += named
        earlier += inner
        return found
    return None


def _is_plain(part: ast.expr) -> bool:
    """Whether it is a name, a constant, or an attribute of a name (`np.array`)."""
    return isinstance(part, (ast.Name, ast.Constant)) or (isinstance(part, ast.Attribute) and _is_plain(part.value))


def _put(node: ast.stmt, old: ast.expr, new: ast.expr) -> ast.stmt:
    """A statement with another expression in the place of one; what it does not stand in is shared."""

    def changed(x: ast.AST) -> ast.AST:
        if x is old:
            return new
        if not any(inner is old for inner in all_nodes(x)):
            return x
        fields = {
            name: [changed(v) if isinstance(v, ast.AST) else v for v in value] if isinstance(value, list)
            else changed(value) if isinstance(value, ast.AST) else value
            for name, value in ast.iter_fields(x)
        }  # fmt: skip
        return ast.copy_location(type(x)(**fields), x)

    made = changed(node)
    assert isinstance(made, ast.stmt)
    return made
