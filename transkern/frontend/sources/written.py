"""The text that a live function was made of: of what stands in its file, that which has the function's bytecode.

A file may have changed since it was imported, hold several functions of one name, or several lambdas on one line; code
may have been sent here from a machine where the file is another. So a tree is taken only where Python makes the very
bytecode of it that the function runs.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import copy
import dataclasses
import dis
import functools
import inspect
import itertools
import tokenize
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from transkern import refusals
from transkern.errors import CompileError
from transkern.frontend.sources.module_names import through_module
from transkern.parsing import all_nodes, child_nodes, parse
from transkern.standing_in import plain_code
from transkern.texts_read import texts_of

Node = ast.FunctionDef | ast.Lambda

_FUTURES = functools.reduce(
    lambda flags, name: flags | getattr(__future__, name).compiler_flag,
    (name for name in __future__.all_feature_names if name not in ("nested_scopes", "generators")), 0,
)  # fmt: skip
_KINDS = (
    inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR | inspect.CO_COROUTINE
    | inspect.CO_ITERABLE_COROUTINE | inspect.CO_ASYNC_GENERATOR
)  # fmt: skip
_CLASS = "_" * 16  # what private names get of a class begins with its first letter


@dataclass(frozen=True, slots=True)
class Written:
    """A function's tree and the lines of its file. `exact`: Python makes the function's bytecode of it; else it has
    other `assert` statements in it, as pytest writes them."""

    node: Node
    file: str
    lines: tuple[str, ...]
    exact: bool = True


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in a text a function's tree was found: from a line on, or as the n-th function in all of it."""

    file: str
    lines: tuple[str, ...]
    first: int
    number: int | None
    kind: str
    exact: bool


_PLACES: dict[int, tuple[types.CodeType, _Place]] = {}  # by the identity of the code
_MANY = 4096
_GIVEN: dict[int, tuple[types.CodeType, Written]] = {}  # texts that stand in no file, by the identity of the code


def given(code: types.CodeType, text: Written) -> None:
    """That a function's text is this, wherever its code says that it stands."""
    _GIVEN[id(code)] = code, text


def written(target: types.FunctionType) -> Written:
    """The text of a live function; raises CompileError where there is none of its bytecode."""
    code = plain_code(target.__code__)
    if (made := _GIVEN.get(id(code))) is not None and made[0] is code:
        return dataclasses.replace(made[1], node=copy.deepcopy(made[1].node))
    file = inspect.getsourcefile(target) or code.co_filename
    known = _PLACES.get(id(code))
    if known is None or known[0] is not code:
        place, node = _place(target, file)
        if len(_PLACES) >= _MANY:
            _PLACES.clear()
        _PLACES[id(code)] = code, place
    else:
        place, again = known[1], _tree_at(known[1])
        assert again is not None
        node = again
    mangle(node, place.kind)
    through_module(node)
    return Written(node, place.file, place.lines, place.exact)


def _place(target: types.FunctionType, file: str) -> tuple[_Place, Node]:
    """Where the function stands, and the tree that was found there."""
    code, name = plain_code(target.__code__), target.__code__.co_name
    rewritten = _is_rewritten(code)
    some = False
    for found, text in texts_of(file, target.__globals__):
        some, lines = some or found == file, tuple(line.rstrip("\n") for line in text)
        for exact in (True, False) if rewritten else (True,):
            for place in _places(found, lines, code, exact):
                node = _tree_at(place)
                if node is not None and _is_of(node, code, place.kind, exact):
                    return place, node
    if not some:
        problem = f"the source of `{name}` cannot be read"
        raise CompileError(refusals.NO_SOURCE, problem, "put the function into a file, or a notebook cell")
    raise CompileError(
        refusals.NO_SOURCE,
        f"{file}:{code.co_firstlineno}: the source of `{name}` was not found: no function there has its bytecode",
        "the file was changed after it was imported (import it again, or start anew), or what imports it rewrites it",
    )


# --- where it may stand


def _places(file: str, lines: tuple[str, ...], code: types.CodeType, exact: bool) -> Iterator[_Place]:
    """Where in a text the function may stand: first where its code says, then wherever else."""
    if code.co_name != "<lambda>" and 0 < code.co_firstlineno <= len(lines):
        yield _Place(file, lines, code.co_firstlineno, None, _class_of(code.co_qualname), exact)
    functions = _functions("\n".join(lines))
    here = [k for k, (node, _) in enumerate(functions) if _has_parameters(node, code)]
    for k in sorted(here, key=lambda k: abs(_first_line(functions[k][0]) - code.co_firstlineno)):
        yield _Place(file, lines, _first_line(functions[k][0]), k, functions[k][1], exact)


def _tree_at(place: _Place) -> Node | None:
    """A tree of its own, so that nobody else changes it."""
    if place.number is not None:
        return copy.deepcopy(_functions("\n".join(place.lines))[place.number][0])
    try:
        block = inspect.getblock([line + "\n" for line in place.lines[place.first - 1 :]])
    except (SyntaxError, tokenize.TokenError):
        return None
    indented = bool(block) and block[0][:1].isspace()  # dedented, texts of several lines would be other texts
    try:
        module = parse("".join(["if True:\n", *block] if indented else block))
    except SyntaxError:
        return None
    holder = module.body[0] if indented and module.body else module
    node = next((s for s in getattr(holder, "body", []) if isinstance(s, ast.FunctionDef)), None)
    if node is not None:
        ast.increment_lineno(node, place.first - 1 - indented)
    return node


@functools.lru_cache(maxsize=64)
def _functions(text: str) -> tuple[tuple[Node, str], ...]:
    """All functions of a module, each with the class that private names in it belong to."""
    try:
        module = parse(text)
    except SyntaxError:
        return ()
    found: list[tuple[Node, str]] = []
    left: list[tuple[ast.AST, str]] = [(module, "")]
    while left:
        node, kind = left.pop()
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            found.append((node, kind))
        inner = node.name if isinstance(node, ast.ClassDef) else kind
        left += [(child, inner) for child in child_nodes(node)]
    return tuple(found)


def _first_line(node: Node) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min(d.lineno for d in (node, *decorators))


def _has_parameters(node: Node, code: types.CodeType) -> bool:
    """Whether name and parameters of a function are those of the code, as far as their names are not private."""
    args = node.args
    names = [a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg] if a is not None]
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    own = code.co_varnames[:count]
    return getattr(node, "name", "<lambda>") == code.co_name and len(names) == count and all(
        one == two or one.startswith("__") for one, two in zip(names, own, strict=True)
    )


def _class_of(path: str) -> str:
    """The innermost class around a function: what stands in its path, and not before `<locals>`."""
    parts = path.split(".")
    around = [p for p, after in itertools.pairwise(parts) if p != "<locals>" and after != "<locals>"]
    return around[-1] if around else ""


def mangle(node: ast.AST, kind: str) -> None:
    """Gives private names (``self.__data``) in a method the name of the class, as Python does."""
    kind = kind.lstrip("_")
    if not kind:
        return

    def mangled(name: str) -> str:
        return f"_{kind}{name}" if name.startswith("__") and not name.endswith("__") and "." not in name else name

    for child in all_nodes(node):
        match child:
            case ast.Attribute():
                child.attr = mangled(child.attr)
            case ast.Name():
                child.id = mangled(child.id)
            case ast.FunctionDef() if child is not node:
                child.name = mangled(child.name)
            case ast.Global() | ast.Nonlocal():
                child.names = list(map(mangled, child.names))
            case ast.arg() | ast.keyword() if child.arg is not None:
                child.arg = mangled(child.arg)
            case _:
                pass


# --- whether it is the one


def _is_of(node: Node, code: types.CodeType, kind: str, exact: bool) -> bool:
    """Whether Python makes the code of the tree, where it finds the variables around it that the code has."""
    if not _has_parameters(node, code):
        return False
    made = _compiled(node if exact else _without_asserts(node), code, kind)
    return made is not None and (is_same_code(made, code) if exact else _is_within(made, code))


def _compiled(node: Node, code: types.CodeType, kind: str) -> types.CodeType | None:
    """What Python makes of a tree in a function, which has the variables that the code takes from outside, and there in
    a class for private names.

    Decorators, defaults and annotations are no part of it: they belong to what is around.
    """
    args = ast.arguments(
        [ast.arg(a.arg) for a in node.args.posonlyargs], [ast.arg(a.arg) for a in node.args.args],
        node.args.vararg and ast.arg(node.args.vararg.arg), [ast.arg(a.arg) for a in node.args.kwonlyargs],
        [None] * len(node.args.kwonlyargs), node.args.kwarg and ast.arg(node.args.kwarg.arg), [],
    )  # fmt: skip
    bare = copy.copy(node)
    bare.args = args
    if isinstance(bare, ast.FunctionDef):
        bare.decorator_list, bare.returns = [], None
    free = [name for name in code.co_freevars if name.isidentifier() and name != "__class__"]
    text = f"def outer({', '.join(free)}):\n pass\n"
    if kind:
        text += f" class {_CLASS}{kind}:\n  pass"  # in which the function's own name is none of those around
    elif code.co_name.isidentifier() and code.co_name not in free:
        text += f" global {code.co_name}"
    module = parse(text)
    outer = module.body[0]
    assert isinstance(outer, ast.FunctionDef)
    holder = outer.body[1].body if kind and isinstance(outer.body[1], ast.ClassDef) else outer.body
    holder.append(bare if isinstance(bare, ast.FunctionDef) else ast.Expr(bare))
    if imported := _may_be_imported(code):
        module.body.insert(0, ast.Import([ast.alias(name) for name in sorted(imported)]))
    ast.fix_missing_locations(module)
    try:
        made = compile(module, code.co_filename, "exec", flags=code.co_flags & _FUTURES, dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    inner = _inner(_inner(made)[0])
    inner = _inner(inner[0]) if kind else inner
    while inner:
        for held in inner:
            if held.co_name == code.co_name:
                return held
        inner = [c for held in inner for c in _inner(held)]
    return None


def _may_be_imported(code: types.CodeType) -> set[str]:
    """The names that the module may import: methods of what it does not import are called in a way of their own."""
    return {name for name in _names(code) - _called_on(code) if name.isidentifier() and not hasattr(builtins, name)}


def _inner(code: types.CodeType) -> list[types.CodeType]:
    return [c for c in code.co_consts if isinstance(c, types.CodeType)]


def _names(code: types.CodeType) -> set[str]:
    own = {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    return own.union(*map(_names, _inner(code)))


def _called_on(code: types.CodeType) -> set[str]:
    """The names whose methods are called in the way of objects that are not imported."""
    found: set[str] = set()
    before = ""
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_METHOD" or (step.opname == "LOAD_ATTR" and "NULL|self" in step.argrepr):
            found.add(before)
        held = step.argval if "LOAD_" in step.opname else ""
        before = held[-1] if isinstance(held, tuple) and held else held if isinstance(held, str) else ""
    return found.union(*map(_called_on, _inner(code)))


def is_same_code(one: types.CodeType, two: types.CodeType) -> bool:
    """Whether two codes do the same, wherever they stand."""
    return (
        one.co_name == two.co_name and one.co_code == two.co_code and one.co_names == two.co_names
        and one.co_varnames == two.co_varnames and one.co_freevars == two.co_freevars
        and one.co_cellvars == two.co_cellvars and one.co_exceptiontable == two.co_exceptiontable
        and one.co_flags & _KINDS == two.co_flags & _KINDS
        and (one.co_argcount, one.co_posonlyargcount, one.co_kwonlyargcount)
        == (two.co_argcount, two.co_posonlyargcount, two.co_kwonlyargcount)
        and len(one.co_consts) == len(two.co_consts)
        and all(_is_same(a, b, one, two) for a, b in zip(one.co_consts, two.co_consts, strict=True))
    )  # fmt: skip


def _is_same(a: Any, b: Any, one: types.CodeType, two: types.CodeType) -> bool:
    """Whether two constants, of these codes, are one: 0.0 and -0.0, or 1 and True, are not."""
    if type(a) is not type(b):
        return False
    if isinstance(a, types.CodeType):
        return is_same_code(a, b)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(_is_same(x, y, one, two) for x, y in zip(a, b, strict=True))
    if isinstance(a, frozenset):
        return sorted(map(repr, a)) == sorted(map(repr, b))
    if isinstance(a, str):  # a class says in its code what its path is
        return bool(a == b or (a == one.co_qualname and b == two.co_qualname))
    return repr(a) == repr(b)


# --- functions whose `assert` statements pytest has written anew


def _is_rewritten(code: types.CodeType) -> bool:
    return any(name.startswith("@py") for name in _names(code))


class _WithoutAsserts(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return ast.copy_location(ast.Pass(), node)


def _without_asserts(node: Node) -> Node:
    made: Node = _WithoutAsserts().visit(copy.deepcopy(node))
    return made


def _is_within(made: types.CodeType, code: types.CodeType) -> bool:
    """Whether the code does all that another does, in its order, with more between."""
    left = _steps(code)
    return all(any(_is_step(step, other, made, code) for other in left) for step in _steps(made))


def _is_step(a: tuple[str, Any], b: tuple[str, Any], one: types.CodeType, two: types.CodeType) -> bool:
    if a[0] != b[0]:
        return False
    if isinstance(a[1], types.CodeType) and isinstance(b[1], types.CodeType):
        return a[1].co_name == b[1].co_name and _is_within(a[1], b[1])
    return _is_same(a[1], b[1], one, two)


_ASIDE = ("NOP", "RESUME", "CACHE", "EXTENDED_ARG", "PRECALL", "COPY_FREE_VARS", "RETURN_VALUE")
_NAMED = {"RETURN_CONST": "LOAD_CONST", "LOAD_FAST_CHECK": "LOAD_FAST"}
_TWO = {  # two in one, where nothing stands between
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"), "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}  # fmt: skip


def _steps(code: types.CodeType) -> Iterator[tuple[str, Any]]:
    """What a code does one after the other, but for jumps."""
    for step in dis.get_instructions(code):
        if step.opname in _TWO:
            yield from zip(_TWO[step.opname], step.argval, strict=True)
        elif step.opname not in _ASIDE and step.opcode not in dis.hasjrel and step.opcode not in dis.hasjabs:
            yield _NAMED.get(step.opname, step.opname), step.argval
