"""Iterators that have a name: `g = (f(v) for v in x)`, `map(f, x)`, `zip(x, y)`.

Python makes their elements when they are asked for, each once. Here those of a generator expression, of `map` and
`filter` are made where it stands, which is the same where its one use comes before anything that could change what they
are made of. An iterator that is used again has nothing left, or what a loop has left of it: that is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.loops.iterating import is_lazy
from transkern.frontend.syntax.sharing import is_read_in_a_loop
from transkern.frontend.values.values import Bound, Dict, Function, Iterated, Method, Partial, Value
from transkern.ir.traverse import buffers_read, exprs, variables_read, walk
from transkern.parsing import all_nodes

_LATE = frozenset(["map", "filter", "reversed"])
_BESIDE = frozenset(["zip", "enumerate"])
"""Iterators over what is looked at when the loop comes to it, here as there."""
_CHANGES = frozenset(["clear", "pop", "popitem", "setdefault", "update"])
_HARMLESS = frozenset([
    "abs", "all", "any", "bool", "complex", "divmod", "float", "int", "len", "list", "max", "min", "pow", "range",
    "round", "sorted", "str", "sum", "tuple",
])  # fmt: skip
_OF_NUMPY = frozenset(["np", "numpy", "math"])


def made_now(ctx: Context, kind: type, make: Callable[[], Value], names: frozenset[str] = frozenset()) -> Value:
    """An iterator whose elements are made at once, and what they were made of; `names` are read for each element."""
    tokens = set[int]()
    ctx.heap.opening.append(tokens)
    begun, before = len(ctx.emitter.out), frozenset(ctx.heap.contents)
    try:
        made = make()
    finally:
        ctx.heap.opening.remove(tokens)
    if isinstance(made, Method):
        return made
    read = {name for e in exprs(walk(ctx.emitter.out[begun:])) for name in (*buffers_read(e), *variables_read(e))}
    return Iterated(kind, made, frozenset(read), frozenset(tokens) & before, names)

def names_late(node: ast.GeneratorExp, env: Mapping[str, Value]) -> frozenset[str]:
    """The names of its surroundings that a generator expression, and what it calls, read for each element."""
    first, *others = node.generators
    late = [node.elt, *first.ifs, *others]
    own = {x.id for g in node.generators for x in all_nodes(g.target) if isinstance(x, ast.Name)}
    read = {x.id for part in late for x in all_nodes(part) if isinstance(x, ast.Name)} - own
    return frozenset(read).union(*(names_read(env[name]) for name in read if name in env))


def names_read(function: Value) -> frozenset[str]:
    """The names of its surroundings that a function reads when it is called, and those that it calls read."""
    found, pending, seen = set[str](), [function], set[int]()
    while pending:
        match pending.pop():
            case Function(node=node, closure=closure) if id(node) not in seen:
                seen.add(id(node))
                read = {x.id for x in all_nodes(node) if isinstance(x, ast.Name)} & set(closure)
                found |= read
                pending.extend(closure[name] for name in read)
            case Partial() as partial:
                pending.append(partial.function)
            case Bound() as bound:
                pending.append(bound.function)
            case _:
                pass
    return frozenset(found)


def check_given(ctx: Context, function: ast.FunctionDef | ast.Lambda, given: Mapping[str, Value]) -> None:
    """Refuses an iterator that a function is given and reads more than once: it has nothing left then."""
    for name, value in given.items():
        if not isinstance(value, Iterated) and not is_lazy(value):
            continue
        reads = [x for x in all_nodes(function) if isinstance(x, ast.Name) and x.id == name]
        if len(reads) > 1 or (reads and is_read_in_a_loop(function, name, 0)):
            problem = f"the iterator `{name}` that a function is given, and reads more than once"
            ctx.fail(refusals.EXPRESSION, problem, "give it a list: list(…)")


def check_iterator(ctx: Context, function: ast.AST, statement: ast.Assign, env: Mapping[str, Value]) -> None:
    """Refuses an iterator under a name that does not do what a list of its elements does; what `env` names is none of
    Python's functions."""
    match statement:
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
            pairs = list(zip(targets, values, strict=True))
        case _:
            pairs = [(target, statement.value) for target in statement.targets]
    for target, made in pairs:
        if isinstance(target, ast.Name):
            _check_named(ctx, function, statement, env, target.id, made)


def _check_named(
    ctx: Context, function: ast.AST, statement: ast.Assign, env: Mapping[str, Value], name: str, made: ast.expr
) -> None:
    match made:
        case ast.GeneratorExp():
            late = True
        case ast.Call(ast.Name(called)) if called in _LATE | _BESIDE and called not in env:
            late = called in _LATE
        case ast.Call(ast.Attribute(ast.Name(owner), "keys" | "values" | "items"), [], []):
            if isinstance(ctx.deref(env[owner]) if owner in env else None, Dict):
                _check_view(ctx, function, statement, name, owner)
            return
        case _:
            return
    reads = [x for x in all_nodes(function) if isinstance(x, ast.Name) and x.id == name and isinstance(x.ctx, ast.Load)]
    if len(reads) > 1 or is_read_in_a_loop(function, name, statement.lineno):
        problem = f"the iterator `{name}`, which is read more than once"
        ctx.fail(refusals.ITERATOR, problem, f"make a list: {name} = list(…)", statement)
    if reads and late and not _comes_next(function, statement, reads[0], made):
        problem = f"the iterator `{name}`, whose elements are made when they are asked for, behind other statements"
        help = f"make a list: {name} = list(…), or write it where it is used"
        ctx.fail(refusals.ITERATOR, problem, help, statement)


def _check_view(ctx: Context, function: ast.AST, statement: ast.Assign, name: str, owner: str) -> None:
    """A view of a dict shows what it holds later, too: here it is a list."""
    again = is_read_in_a_loop(function, name, statement.lineno)
    for x in all_nodes(function):
        match x:
            case ast.Subscript(ast.Name(found), ctx=ast.Store() | ast.Del()) if found == owner:
                pass
            case ast.Call(ast.Attribute(ast.Name(found), attr)) if found == owner and attr in _CHANGES:
                pass
            case _:
                continue
        if again or x.lineno > statement.lineno:
            problem = f"`{name}`, a view of the dict `{owner}`, which changes behind it"
            help = f"write it where it is read, or make a list of what is there now: {name} = list(…)"
            ctx.fail(refusals.ITERATOR, problem, help, statement)


def _comes_next(function: ast.AST, statement: ast.stmt, read: ast.Name, made: ast.expr) -> bool:
    """Whether nothing between a statement and the one that reads a name can change what `made` is made of."""
    used = {x.id for x in all_nodes(made) if isinstance(x, ast.Name)}
    for block in _blocks(function):
        if statement in block:
            for behind in block[block.index(statement) + 1 :]:
                if any(x is read for x in all_nodes(behind)):
                    return not isinstance(behind, (ast.While, ast.FunctionDef))
                if not _is_harmless(behind, used):
                    return False
    return False


def _blocks(function: ast.AST) -> Iterator[Sequence[ast.stmt]]:
    for x in all_nodes(function):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(x, name, None)
            if isinstance(block, list):
                yield block


def _is_harmless(statement: ast.stmt, used: set[str]) -> bool:
    """Whether a statement binds only other names, to what is computed without an effect."""
    match statement:
        case ast.Assign(targets, value) if all(isinstance(t, ast.Name) and t.id not in used for t in targets):
            pass
        case ast.Expr(ast.Constant()) | ast.Pass():
            return True
        case _:
            return False
    for x in all_nodes(value):
        match x:
            case ast.Call(ast.Name(name)) if name in _HARMLESS:
                pass
            case ast.Call(ast.Attribute(ast.Name(name)), keywords=keywords) if name in _OF_NUMPY:
                if any(k.arg in (None, "out") for k in keywords):
                    return False
            case ast.Call() | ast.NamedExpr() | ast.Yield() | ast.YieldFrom() | ast.Await():
                return False
            case _:
                pass
    return True
