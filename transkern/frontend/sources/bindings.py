"""What the statements of a module's text bind to its names, as far as that can be told without running them.

A name means what its last binding gives it, where all its bindings are sure to run. What a branch, a loop or a
function's `global` may bind differently is a name that is not known, and so is a list or an array that some statement
of the module may change after it was made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from transkern.frontend.sources.effects import effects_of, imported_path, is_main
from transkern.frontend.sources.pure import METHODS
from transkern.parsing import all_nodes, child_nodes

_BLOCKS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@dataclass(frozen=True, slots=True)
class Imported:
    """A name that an import binds: a dotted path, with leading dots where it is relative."""

    path: str


@dataclass(slots=True)
class Binding:
    """What a name is bound to: `meaning` is an expression, a function, an import, or None where that is not known;
    `why` says why that is so. So many `stars` have been imported before it."""

    node: ast.AST
    meaning: ast.expr | ast.FunctionDef | Imported | None
    why: str = ""
    times: int = 1
    stars: int = 0


@dataclass(slots=True)
class Bindings:
    """The names of a module; `changed` are those whose lists, dicts and arrays a statement may change, and which one;
    `linked` the constants that one is made of, and those made of it; `stars` the modules whose names are all imported;
    `rebound` what may bind any name, and `patched` the libraries and modules that are given other attributes, `used`
    what the import reads (`effects`).
    """

    names: dict[str, Binding] = field(default_factory=dict)
    changed: dict[str, ast.AST] = field(default_factory=dict)
    linked: dict[str, set[str]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    rebound: ast.AST | None = None
    patched: dict[str, ast.AST] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    module: ast.Module = field(default_factory=lambda: ast.Module([], []))

    def changed_by(self, called: frozenset[str]) -> dict[str, ast.AST]:
        """The names whose values functions of the module may change that others call."""
        return effects_of(self.module, called).changed


def bindings_of(module: ast.Module) -> Bindings:
    """What the statements of a module bind."""
    found = Bindings()
    for statement in module.body:
        _bind(found, statement, True)
    for node in all_nodes(module):
        if isinstance(node, ast.Global):
            for name in node.names:
                _put(found, name, Binding(node, None, "a function binds it anew (`global`)"), True)
    for name, binding in found.names.items():
        if isinstance(binding.meaning, ast.expr):
            for x in all_nodes(binding.meaning):
                if isinstance(x, ast.Name):
                    found.linked.setdefault(name, set()).add(x.id)
                    found.linked.setdefault(x.id, set()).add(name)
    effects = effects_of(module)
    found.module, found.rebound, found.patched, found.used = module, effects.rebound, effects.patched, effects.used
    for name, node in effects.changed.items():
        found.changed.setdefault(name, node)
    return found


def _bind(found: Bindings, node: ast.stmt, sure: bool) -> None:
    match node:
        case ast.FunctionDef(name=name):
            _put(found, name, Binding(node, node), sure)
        case ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            kind = "class" if isinstance(node, ast.ClassDef) else "coroutine"
            _put(found, name, Binding(node, None, f"a {kind}"), sure)
        case ast.Import(names=names):
            for alias in names:
                path = alias.name if alias.asname else alias.name.split(".")[0]
                _put(found, alias.asname or path, Binding(node, Imported(path)), sure)
        case ast.ImportFrom(names=[ast.alias(name="*")]):
            found.stars.append(f"{'.' * node.level}{node.module or ''}")
        case ast.ImportFrom(names=names):
            for alias in names:
                _put(found, alias.asname or alias.name, Binding(node, Imported(imported_path(node, alias))), sure)
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                _assign(found, target, value, sure)
            _evaluated(found, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            _assign(found, target, value, sure)
            _evaluated(found, value)
        case ast.If(test=test) if is_main(test):
            for child in node.orelse:
                _bind(found, child, sure)
        case ast.If(test=test):
            _evaluated(found, test)
            for child in [*node.body, *node.orelse]:
                _bind(found, child, False)
        case ast.Try():
            before = {name: found.names[name] for name in _stored(node) if name in found.names}
            for child in [*node.body, *node.orelse]:
                _bind(found, child, sure)
            _handled(found, node, before)
            for child in node.finalbody:
                _bind(found, child, sure)
        case ast.Expr(value=value):
            _evaluated(found, value, used=False)
        case ast.AnnAssign() | ast.Pass() | ast.Global():
            pass
        case _:
            _unknown(found, node, "how it is bound is not read")


def _assign(found: Bindings, target: ast.expr, value: ast.expr, sure: bool) -> None:
    match target, value:
        case ast.Name(id=name), _:
            _put(found, name, Binding(value, value), sure)
        case (ast.Tuple(elts=targets) | ast.List(elts=targets)), (ast.Tuple(elts=values) | ast.List(elts=values)) if (
            len(targets) == len(values) and not any(isinstance(e, ast.Starred) for e in (*targets, *values))
        ):
            for part, item in zip(targets, values, strict=True):
                _assign(found, part, item, sure)
        case _:
            _unknown(found, target, "how it is bound is not read")


def _put(found: Bindings, name: str, binding: Binding, sure: bool) -> None:
    before = found.names.get(name)
    binding.stars = len(found.stars)
    if before is not None:
        binding.times = before.times + 1
        if not sure or before.why.startswith("bound in"):
            binding.meaning, binding.why = None, "bound in several ways, of which a condition chooses"
    elif not sure and isinstance(binding.meaning, ast.expr):
        binding.meaning, binding.why = None, "bound in a branch, which may not run"
    found.names.pop(name, None)
    found.names[name] = binding


def _unknown(found: Bindings, node: ast.AST, why: str, but: set[str] | None = None) -> None:
    """All names that a statement binds in a way that is not read, or may change."""
    for x in _outside_functions(node):
        match x:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if but is None or name not in but:
                _put(found, name, Binding(x, None, why), True)
            case ast.Name(id=name):
                found.changed.setdefault(name, x)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name) if (
                but is None or name not in but
            ):
                _put(found, name, Binding(x, None, why), True)
            case ast.alias() if but is None or (x.asname or x.name) not in but:
                _put(found, (x.asname or x.name).split(".")[0], Binding(node, None, why), True)
            case ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name):
                _put(found, name, Binding(x, None, why), True)


def _evaluated(found: Bindings, value: ast.expr, used: bool = True) -> None:
    """What evaluating an expression of the module, whose value is used or not, may bind and change."""
    for x in _outside_functions(value):
        match x:
            case ast.NamedExpr(target=ast.Name(id=name)):
                _put(found, name, Binding(x, None, "how it is bound is not read"), True)
            case ast.Call() if not _only_reads(found, x, used):
                for inside in all_nodes(x):
                    if isinstance(inside, ast.Name):
                        found.changed.setdefault(inside.id, x)


def _only_reads(found: Bindings, call: ast.Call, used: bool) -> bool:
    """Whether a call is one of Python's functions, or of NumPy's for their results, which do not change arguments."""
    if any(keyword.arg in (None, "out") for keyword in call.keywords):
        return False
    if used and isinstance(call.func, ast.Attribute) and call.func.attr in METHODS:
        return True
    root = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    bound = found.names.get(root.id)
    if bound is None:
        return root is call.func and root.id not in ("eval", "exec", "next", "setattr", "delattr")
    if not isinstance(bound.meaning, Imported):
        return False
    library = bound.meaning.path.partition(".")[0]
    return used and library in ("numpy", "math", "cmath")


def _stored(node: ast.AST) -> set[str]:
    """The names that a statement may bind."""
    found = {x.id for x in all_nodes(node) if isinstance(x, ast.Name)}
    found |= {(x.asname or x.name).split(".")[0] for x in all_nodes(node) if isinstance(x, ast.alias)}
    return found | {x.name for x in all_nodes(node) if isinstance(x, _BLOCKS) and not isinstance(x, ast.Lambda)}


def _handled(found: Bindings, node: ast.Try, before: dict[str, Binding]) -> None:
    """After the body of a `try`: how much of it has run is not known, but that imports of what is there succeed. What
    a handler binds instead of a library is there where that is not installed, which nobody could compile anyway."""
    new = {name: found.names[name] for name in _stored(node) if found.names.get(name) is not before.get(name)}
    imported = {name for name, binding in new.items() if isinstance(binding.meaning, Imported)}
    for handler in node.handlers:
        _unknown(found, handler, "bound by an exception's handler", imported)
        if isinstance(handler.body[-1], ast.Raise):
            continue
        for name in new.keys() - imported:
            binding = Binding(new[name].node, None, "bound in a `try` statement, of which not all may run")
            _put(found, name, binding, True)


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is in it, without the bodies of functions and classes."""
    pending = [node]
    while pending:
        x = pending.pop()
        yield x
        if not isinstance(x, _BLOCKS) or x is node:
            pending.extend(child_nodes(x))
