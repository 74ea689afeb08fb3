"""Names of modules that are arguments of a call: those that functions bind anew, and those that are others from call to
call. A module's names stand for an object's attributes, and the object is passed behind the function's own arguments:

    def step(x):                      def step(x, module):
        global count         ->           module.count = module.count + 1
        count = count + 1                 return x * module.RATE
        return x * RATE

So numbers, arrays and lists among them are passed, joined, changed and put back as those of any object in the arguments
(`runtime.structures`); nothing is compiled for the value that a name has at one call.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

from transkern.parsing import all_nodes, own_nodes

OF_MODULE = "names of the module"
"""What a function's text has them as attributes of."""

IN_A_PROGRAM = "use @transkern.compile in a program, where a call takes names of modules as they are then; here pass it"

_AS_WRITTEN = "_transkern_as_written"

_Node = TypeVar("_Node", bound=ast.FunctionDef | ast.Lambda)

_DEMAND = "global "
"""Before a module and a name of it, among what a translation asks for."""


class ModuleNames:
    """Names of a module as an object's attributes. What is `used` of them is passed."""

    __slots__ = ("__dict__", "__weakref__", "used")
    used: frozenset[str]


_SPACES: WeakKeyDictionary[type, dict[str, Any]] = WeakKeyDictionary()
_KINDS: WeakValueDictionary[int, type] = WeakValueDictionary()  # by the identity of the names


class Name(NamedTuple):
    """A name, and the module's names that it is one of."""

    space: dict[str, Any]
    name: str


def names_of(space: dict[str, Any], used: Iterable[str]) -> ModuleNames:
    """The names `used` of those of a module, which are bound where this object's attributes are."""
    kind = _KINDS.get(id(space))
    if kind is None:
        called = str(space.get("__name__", "module"))
        kind = _KINDS[id(space)] = type(f"names of {called}", (ModuleNames,), {"__module__": called, "__slots__": ()})
        _SPACES[kind] = space
    made: ModuleNames = kind()
    made.__dict__ = space
    made.used = frozenset(used)
    return made


def space_of_kind(kind: type | None) -> dict[str, Any] | None:
    """The module's names that arguments of a class are; None for other classes."""
    return None if kind is None else _SPACES.get(kind)


def parameters_for(kinds: Sequence[type], taken: Iterable[str]) -> list[str]:
    """What parameters for names of modules are called, behind those that a function has."""
    made = list(taken)
    for kind in kinds:
        called = kind.__module__.rpartition(".")[2].strip("_") or "module"
        free = (called + "_" * count for count in itertools.count())
        made.append(next(name for name in free if name not in made))
    return made[len(made) - len(kinds) :]


def demand_for(found: Name) -> str:
    """What a translation asks for that wants a name to be an argument."""
    return f"{_DEMAND}{found.space.get('__name__')}:{found.name}"


def demanded(demand: str) -> tuple[str, str] | None:
    """A module and a name of it that are asked for; None where something else is."""
    if not demand.startswith(_DEMAND):
        return None
    module, _, name = demand.removeprefix(_DEMAND).rpartition(":")
    return module, name


class ThroughModule(ast.Global):
    """A statement `global` of names that the function has as attributes."""


def through_module(node: ast.FunctionDef | ast.Lambda) -> None:
    """Has a function, and those in it, bind and read the names that they declare global as attributes of the module's
    names. Left as they are: generators, and functions that bind such names by more than assignments."""
    nodes = list(all_nodes(node))
    if any(isinstance(x, ast.Global) for x in nodes):
        for x in nodes:
            if isinstance(x, ast.FunctionDef):
                _rewrite(x)


def as_written(node: _Node) -> _Node:
    """A function with its names of modules as names: what managers bind for their block (`translate.managers`) is
    known, and no argument."""
    return getattr(node, _AS_WRITTEN, node)


def _rewrite(node: ast.FunctionDef) -> None:
    own = own_nodes(node.body)
    names = {name for x in own if isinstance(x, ast.Global) for name in x.names}
    if not names or _binds_otherwise(own, names):
        return
    setattr(node, _AS_WRITTEN, copy.deepcopy(node))
    for x in own:
        for field, value in ast.iter_fields(x):
            if isinstance(value, list):
                setattr(x, field, [_through(v, names) for v in value])
            else:
                setattr(x, field, _through(value, names))
    node.body = [_through(s, names) for s in node.body]


def _through(x: Any, names: set[str]) -> Any:
    match x:
        case ast.Name(id=name, ctx=where) if name in names:
            made: ast.AST = ast.Attribute(ast.copy_location(ast.Name(OF_MODULE, ast.Load()), x), name, where)
        case ast.Global(names=declared) if not isinstance(x, ThroughModule):
            made = ThroughModule(declared)
        case _:
            return x
    return ast.copy_location(made, x)


def _binds_otherwise(own: Sequence[ast.AST], names: set[str]) -> bool:
    """Whether one of the names is bound by something that an attribute cannot stand in, or the function is none that is
    run at once."""
    for x in own:
        match x:
            case ast.Yield() | ast.YieldFrom() | ast.Await() | ast.Nonlocal():
                return True
            case ast.Name(id=name, ctx=ast.Del()) if name in names:
                return True
            case ast.NamedExpr(target=ast.Name(id=name)) if name in names:
                return True
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if name in names:
                return True
            case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name) if name in names:
                return True
            case ast.MatchStar(name=str() as name) if name in names:
                return True
            case ast.alias() if (x.asname or x.name).partition(".")[0] in names:
                return True
            case ast.comprehension(target=target):
                if any(isinstance(t, ast.Name) and t.id in names for t in all_nodes(target)):
                    return True
            case _:
                pass
    return False
