"""What the import of a module may change beside what its statements bind: lists and arrays that a function changes
which is called meanwhile, names that are bound by way of `globals()` or `exec`, attributes of other modules.

Nothing is run: names are followed. What may be one object as another name's, a part of it or what holds it, is an edge
from name to name, without regard to the order of statements. What changes an object changes those that it can be; what
changes a part of one, also those that it can hold.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from transkern.frontend.sources import identity
from transkern.frontend.sources.bound import Written, bound_names, captured_names, defaults_of, parameters_of
from transkern.parsing import all_nodes, child_nodes

_Ref = tuple[str, str]
"""A name, and how something stands to its object: it may be that, `_PART` of it, or what `_HOLDS` it."""
_STEPS = 100_000
_IS, _PART, _HOLDS = "is", "part", "holds"
_FRESH = frozenset([
    "all", "any", "argmax", "argmin", "argsort", "astype", "copy", "count", "cumprod", "cumsum", "flatten", "format",
    "index", "item", "items", "join", "keys", "max", "mean", "min", "prod", "round", "std", "sum", "tobytes", "tolist",
    "values", "var",
])  # fmt: skip
_READING = _FRESH | frozenset(["clip", "get", "ravel", "reshape", "squeeze", "swapaxes", "transpose", "view"])
"""Methods that change nothing; what `_FRESH` ones give shares no memory with the object that they are of."""
_WRITERS = frozenset([
    "at", "copyto", "fill_diagonal", "nditer", "place", "put", "put_along_axis", "putmask", "setfield", "shuffle",
])  # fmt: skip
"""NumPy's functions that write into an argument."""
_SCALAR = frozenset([
    "abs", "all", "any", "bool", "complex", "divmod", "float", "format", "hash", "id", "int", "isinstance", "len",
    "pow", "print", "range", "repr", "round", "str", "sum", "type",
])  # fmt: skip
"""Python's functions of which the result shares nothing with an argument."""
_PLAIN_ATTRIBUTES = frozenset(["dtype", "itemsize", "nbytes", "ndim", "shape", "size", "strides"])
_WRITING = frozenset(
    {*dir(list), *dir(dict), *dir(set), *dir(np.ndarray)} - _READING - _PLAIN_ATTRIBUTES - {*dir(object), "T", "real"}
)
"""Methods that may change what they are of, also where they are handed on."""
_SPACES = frozenset(["globals", "exec", "eval"])
_INNER = frozenset([
    "__globals__", "__code__", "__defaults__", "__kwdefaults__", "__closure__", "f_globals", "f_locals",
])  # fmt: skip


@dataclass(slots=True)
class Effects:
    """`changed` are names whose objects may be changed, `rebound` what may bind any name of the module, `patched` the
    libraries and modules, by the first name of their path, that are given other attributes; each with a place. `used`
    are the names that are read on the way."""

    changed: dict[str, ast.AST] = field(default_factory=dict)
    rebound: ast.AST | None = None
    patched: dict[str, ast.AST] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)


def effects_of(module: ast.Module, called: Iterable[str] = ()) -> Effects:
    """What the import of a module may change, when others have called these functions of it meanwhile."""
    imported = imports_of(module)
    found = _Walk(imported, "annotations" not in imported)
    statements = list(_run(module.body))
    for statement in statements:
        for x in all_nodes(statement):
            if isinstance(x, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.functions.setdefault(x.name, []).append(x)
            elif isinstance(x, ast.ClassDef):
                found.classes.setdefault(x.name, []).append(x)
    try:
        for name in called:
            found.called(name)
        for statement in statements:
            found.run(statement, _Scope())
        while found.pending:
            found.body(found.pending.pop())
    except _TooMuch:
        found.rebound = found.rebound or statements[0]  # whoever cannot follow it knows nothing
    return found.result()


class _TooMuch(Exception):
    """More than `_STEPS` edges."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """The names that a function binds itself, and those that one within it binds, which others of it may mean, too."""

    prefix: str = ""
    own: frozenset[str] = frozenset()
    inner: frozenset[str] = frozenset()

    def nodes(self, name: str) -> list[str]:
        inside = [f"{self.prefix}:{name}"] if name in self.own or name in self.inner else []
        return inside if name in self.own else [*inside, name]


class _Walk:
    """What has been seen so far: edges from a name to those whose objects it may stand for, and what changes which."""

    def __init__(self, imported: Mapping[str, str], evaluated_annotations: bool) -> None:
        self.imported = imported
        self.evaluated_annotations = evaluated_annotations
        self.functions: dict[str, list[Written]] = {}
        self.classes: dict[str, list[ast.ClassDef]] = {}
        self.edges: dict[str, set[_Ref]] = {}
        self.changes: dict[_Ref, ast.AST] = {}
        self.patches: list[tuple[set[_Ref], ast.AST]] = []
        self.rebound: ast.AST | None = None
        self.pending: list[Written] = []
        self.seen: set[ast.AST] = set()
        self.used: set[str] = set()
        self.steps = 0

    def result(self) -> Effects:
        made = Effects(rebound=self.rebound, used=self.used)
        for name, at in self._reached(self.changes.items()):
            if "@" not in name:
                made.changed.setdefault(name, at)
        for name, at in self._reached((ref, at) for refs, at in self.patches for ref in refs):
            if name in self.imported:
                made.patched.setdefault(first_name(self.imported[name]), at)
        return made

    def _reached(self, refs: Iterable[tuple[_Ref, ast.AST]]) -> Iterator[tuple[str, ast.AST]]:
        """The names whose objects are changed where these are, and where that is."""
        pending = [(name, how == _PART, at) for (name, how), at in refs if how != _HOLDS]
        seen: set[tuple[str, bool]] = set()
        while pending:
            one, deep, at = pending.pop()
            if (one, deep) not in seen:
                seen.add((one, deep))
                yield one, at
                for name, how in self.edges.get(one, ()):
                    if deep or how != _HOLDS:
                        pending.append((name, deep or how == _PART, at))

    # --- statements

    def body(self, node: Written) -> None:
        """The body of a function that may be called."""
        own, inner = bound_names(node)
        scope = _Scope(_key(node), own, inner)
        for x in node.body:
            self.run(x, scope)

    def run(self, node: ast.AST, scope: _Scope) -> None:
        """All that stands in a node, but for the bodies of functions, which are run when they are called."""
        pending = [node]
        while pending:
            x = pending.pop()
            if isinstance(x, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if any(self._is_own(d) for d in x.decorator_list):
                    self.called(x.name)
                a = x.args
                for p, default in defaults_of(a):
                    self._edge([f"{_key(x)}:{p}"], self.refs(default, scope))
                annotations = [x.returns, *(p.annotation for p in parameters_of(a))] if self._annotated(scope) else []
                pending += [*x.decorator_list, *a.defaults, *filter(None, [*a.kw_defaults, *annotations])]
                continue
            if isinstance(x, ast.AnnAssign) and not self._annotated(scope):
                self._statement(x, scope)
                pending += [x.target, *filter(None, [x.value])]
                continue
            self._statement(x, scope)
            pending += child_nodes(x)

    def _annotated(self, scope: _Scope) -> bool:
        return self.evaluated_annotations and not scope.prefix

    def _is_own(self, decorator: ast.expr) -> bool:
        """Whether a decorator is the module's own: it may call the function."""
        root = _root(decorator.func if isinstance(decorator, ast.Call) else decorator)
        return root in self.functions or root in self.classes

    def _statement(self, x: ast.AST, scope: _Scope) -> None:
        match x:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, self.refs(value, scope), scope)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, self.refs(value, scope), scope)
            case ast.NamedExpr(target=target, value=value):
                self._bind(target, self.refs(value, scope), scope)
            case ast.AugAssign(target=target):
                self._bind(target, set(), scope)
                self._change(self.refs(target, scope), x)
            case ast.Delete(targets=targets):
                for target in targets:
                    self._bind(target, set(), scope)
            case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
                self._bind(target, _as(_PART, self.refs(value, scope)), scope)
            case ast.comprehension(target=target, iter=value):
                self._bind(target, _as(_PART, self.refs(value, scope)), scope)
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                self._bind(target, self.refs(value, scope), scope)
            case ast.Match(subject=value, cases=cases):
                for case in cases:
                    for name in captured_names(case.pattern):
                        self._edge(scope.nodes(name), _as(_PART, self.refs(value, scope)))
            case ast.Return(value=ast.expr() as value) | ast.Yield(value=ast.expr() as value) if scope.prefix:
                self._edge([scope.prefix], self.refs(value, scope))
            case ast.ClassDef():
                for inner in x.body:
                    for target in getattr(inner, "targets", [getattr(inner, "target", None)]):
                        if isinstance(target, ast.Name):
                            self._edge(scope.nodes(x.name), {(one, _HOLDS) for one in scope.nodes(target.id)})
            case ast.Name(id=name, ctx=ast.Load()):
                self.called(name)
                self.used.add(name)
                if name in _SPACES and name not in scope.own:
                    self.rebound = self.rebound or x
            case ast.Attribute(attr=name):
                self.called(name)
                if name in _WRITING and _root(x) not in self.imported:
                    self._change(self.refs(x.value, scope), x)
                if name in _INNER or self._is_modules(x):
                    self.rebound = self.rebound or x
            case ast.Call():
                self._call(x, scope)

    def _is_modules(self, node: ast.Attribute) -> bool:
        """``sys.modules``."""
        return node.attr == "modules" and self.imported.get(_root(node)) == "sys"

    def called(self, name: str) -> None:
        """A function, or a class, of this name may be called."""
        for kind in self.classes.get(name, ()):
            if kind not in self.seen:
                self.seen.add(kind)
                for method in kind.body:
                    if isinstance(method, ast.FunctionDef) and method.name.startswith("__"):
                        self.called(method.name)
        for function in self.functions.get(name, ()):
            if function not in self.seen:
                self.seen.add(function)
                self.pending.append(function)

    def _bind(self, target: ast.expr, refs: set[_Ref], scope: _Scope) -> None:
        match target:
            case ast.Name(id=name):
                self._edge(scope.nodes(name), refs)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                for e in elts:
                    self._bind(e, _as(_PART, refs), scope)
            case ast.Starred(value=value):
                self._bind(value, refs, scope)
            case ast.Subscript(value=owner):
                self._put(owner, refs, target, scope)
            case ast.Attribute(value=owner):
                self._put(owner, refs, target, scope)
                self.patches.append((self.refs(owner, scope), target))

    def _put(self, owner: ast.expr, refs: set[_Ref], at: ast.AST, scope: _Scope) -> None:
        """Something is put into what `owner` stands for."""
        into = self.refs(owner, scope)
        self._change(into, at)
        self._edge([name for name, _ in into], _as(_HOLDS, refs))

    def _change(self, refs: Iterable[_Ref], at: ast.AST) -> None:
        for ref in refs:
            self.changes.setdefault(ref, at)

    def _edge(self, names: Iterable[str], refs: Iterable[_Ref]) -> None:
        refs = set(refs)
        for name in names:
            self.steps += 1 + len(refs)
            self.edges.setdefault(name, set()).update(refs)
        if self.steps > _STEPS:
            raise _TooMuch

    # --- calls

    def _call(self, node: ast.Call, scope: _Scope) -> None:
        given = [*node.args, *(k.value for k in node.keywords)]
        root = _root(node.func)
        library = self.imported.get(root, "") if scope.nodes(root) == [root] else ""
        if root in ("vars", "locals", "dir") and not given and not scope.prefix and isinstance(node.func, ast.Name):
            if root != "dir":
                self.rebound = self.rebound or node
        elif root in ("setattr", "delattr") and isinstance(node.func, ast.Name) and given:
            self._put(given[0], set(), node, scope)
            self.patches.append((self.refs(given[0], scope), node))
        elif library.split(".")[0] in ("numpy", "math", "cmath"):
            self._numpys(node, library, scope)
        elif isinstance(node.func, ast.Name):
            self._function(node, node.func.id, scope)
        elif isinstance(node.func, ast.Attribute):
            self._method(node, node.func, scope)
        else:
            self._change(set().union(*(self.refs(g, scope) for g in given)), node)

    def _numpys(self, node: ast.Call, library: str, scope: _Scope) -> None:
        path = library + "".join(f".{name}" for name in _attributes(node.func))
        function, name = identity.resolved(path), path.rpartition(".")[2]
        outputs = [k.value for k in node.keywords if k.arg in (None, "out")]
        if isinstance(function, np.ufunc):
            outputs += node.args[function.nin :]
        elif name in _WRITERS or path.startswith("numpy.ndarray."):
            outputs += node.args
        elif any(k.arg == "copy" for k in node.keywords) or name == "nan_to_num":
            outputs += node.args[:1]
        else:
            outputs += node.args[_place_of_out(function) :]
        for output in outputs:
            self._change(self.refs(output, scope), node)

    def _function(self, node: ast.Call, name: str, scope: _Scope) -> None:
        """A call by a name: of a function of the module its arguments are the parameters."""
        known = [*self.functions.get(name, ())]
        for kind in self.classes.get(name, ()):
            known += [m for m in kind.body if isinstance(m, ast.FunctionDef) and m.name in ("__init__", "__new__")]
        own = [r for r in scope.nodes(name) if r != name]
        if not known and (own or name in self.imported or name not in _PYTHONS):
            self._change(set().union(*(self.refs(g, scope) for g in self._given(node))), node)
        for function in known:
            self._handed(node, function, scope, name in self.classes)

    def _method(self, node: ast.Call, called: ast.Attribute, scope: _Scope) -> None:
        owner = self.refs(called.value, scope)
        args = set().union(*(self.refs(g, scope) for g in self._given(node)))
        if called.attr not in _READING:
            self._change(owner, node)
            self._edge([name for name, _ in owner], _as(_HOLDS, args))
            if _root(called) in self.imported or called.attr in self.functions or not owner:
                self._change(args, node)
        for function in self.functions.get(called.attr, ()):
            self._handed(node, function, scope, True)
            first = next((p.arg for p in parameters_of(function.args)), None)
            self._edge([f"{_key(function)}:{first}"], owner)

    def _handed(self, node: ast.Call, function: Written, scope: _Scope, bound: bool) -> None:
        """The arguments of a call become a function's parameters."""
        names = [p.arg for p in (*function.args.posonlyargs, *function.args.args)][bound:]
        every = [f"{_key(function)}:{p.arg}" for p in parameters_of(function.args)]
        self._edge([_key(function)], ())  # a step
        starred = False
        for k, arg in enumerate(node.args):
            starred |= isinstance(arg, ast.Starred)
            to = every if starred or k >= len(names) else [f"{_key(function)}:{names[k]}"]
            self._edge(to, self.refs(arg, scope))
        for keyword in node.keywords:
            one = f"{_key(function)}:{keyword.arg}"
            self._edge([one] if one in every else every, self.refs(keyword.value, scope))

    def _given(self, node: ast.Call) -> Iterator[ast.expr]:
        yield from node.args
        yield from (k.value for k in node.keywords)

    # --- expressions

    def refs(self, node: ast.AST | None, scope: _Scope) -> set[_Ref]:
        """The names whose objects, or parts of them, the value of an expression may be, or hold."""
        parts: list[ast.expr]
        match node:
            case ast.Name(id=name):
                return {(one, _IS) for one in scope.nodes(name)}
            case ast.Attribute(value=value, attr=attr):
                return set() if attr in _PLAIN_ATTRIBUTES else _as(_PART, self.refs(value, scope))
            case ast.Subscript(value=value) | ast.Starred(value=value):
                return _as(_PART, self.refs(value, scope))
            case ast.NamedExpr(value=value) | ast.Await(value=value):
                return self.refs(value, scope)
            case ast.Lambda(body=body):
                return self.refs(body, scope)
            case ast.IfExp(body=body, orelse=orelse):
                return self.refs(body, scope) | self.refs(orelse, scope)
            case ast.BinOp(left=left, right=right):
                parts = [p for p in (left, right) if isinstance(p, (ast.List, ast.Tuple, ast.BinOp))]
            case ast.BoolOp(values=values):
                return set().union(*(self.refs(v, scope) for v in values))
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                pass
            case ast.Dict(keys=keys, values=values):
                parts = [*filter(None, keys), *values]
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                parts = [node.elt]
            case ast.DictComp():
                parts = [node.key, node.value]
            case ast.Call():
                return self._result(node, scope)
            case _:
                return set()
        return _as(_HOLDS, set().union(*(self.refs(p, scope) for p in parts)))

    def _result(self, node: ast.Call, scope: _Scope) -> set[_Ref]:
        func = node.func
        if isinstance(func, ast.Name) and func.id in _SCALAR and scope.nodes(func.id) == [func.id]:
            if func.id not in self.functions and func.id not in self.imported:
                return set()
        if isinstance(func, ast.Attribute) and func.attr in _FRESH and func.attr not in self.functions:
            return set()
        found = set().union(*(self.refs(g, scope) for g in self._given(node)))
        name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
        found |= {(_key(function), _IS) for function in self.functions.get(name, ())}
        return found | self.refs(func, scope)


_PYTHONS = _SCALAR | frozenset([
    "dict", "enumerate", "filter", "frozenset", "getattr", "hasattr", "iter", "list", "map", "max", "min", "reversed",
    "set", "slice", "sorted", "tuple", "zip", "super", "callable", "chr", "ord",
])  # fmt: skip
"""Python's functions that change nothing of their arguments."""


def _as(how: str, refs: Iterable[_Ref]) -> set[_Ref]:
    """What is a part of these, or holds them."""
    return {(name, how) for name, _ in refs}


def first_name(path: str) -> str:
    """The library or module that a dotted path begins with."""
    return path.lstrip(".").split(".")[0]


def _place_of_out(function: object) -> int:
    """Where `out` stands among the positional arguments of a function of NumPy's; far away where it has none."""
    try:
        names = list(inspect.signature(function).parameters) if callable(function) else []
    except (TypeError, ValueError):
        names = []
    return names.index("out") if "out" in names else 1 << 30


def _key(node: ast.AST) -> str:
    """What a function's own names begin with, and what stands for its result."""
    return f"{getattr(node, 'name', '')}@{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', 0)}"


def _root(node: ast.expr) -> str:
    """The name that an expression of attributes begins with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _attributes(node: ast.expr) -> list[str]:
    found: list[str] = []
    while isinstance(node, ast.Attribute):
        found.insert(0, node.attr)
        node = node.value
    return found


def _run(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run on import, and not in a script alone."""
    for statement in statements:
        if isinstance(statement, ast.If) and is_main(statement.test):
            yield from _run(statement.orelse)
        else:
            yield statement


def imports_of(module: ast.Module) -> dict[str, str]:
    """The paths of all names that are imported, wherever in the module."""
    found: dict[str, str] = {}
    for node in all_nodes(module):
        if isinstance(node, ast.Import):
            for a in node.names:
                path = a.name if a.asname else a.name.split(".")[0]
                found[a.asname or path] = path
        elif isinstance(node, ast.ImportFrom):
            found |= {a.asname or a.name: imported_path(node, a) for a in node.names}
    return found


def imported_path(node: ast.ImportFrom, alias: ast.alias) -> str:
    """The dotted path of a name that ``from … import …`` binds; leading dots where it is relative."""
    module = f"{node.module}." if node.module else ""
    return f"{'.' * node.level}{module}{alias.name}"


def is_main(test: ast.expr) -> bool:
    """``__name__ == "__main__"``: what only a script does."""
    match test:
        case ast.Compare(ast.Name("__name__"), [ast.Eq()], [ast.Constant("__main__")]):
            return True
        case ast.Compare(ast.Constant("__main__"), [ast.Eq()], [ast.Name("__name__")]):
            return True
        case _:
            return False
