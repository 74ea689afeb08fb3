"""Calls: of functions, which are translated in place, of methods and library functions, and the making of objects."""

from __future__ import annotations

import ast
import collections
import functools as tools
import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np

from transkern import limits, refusals
from transkern.errors import CompileError
from transkern.frontend.anew import MustLoop, NotKnown
from transkern.frontend.bodies import At
from transkern.frontend.compositions import compose
from transkern.frontend.containers import growing, hashed, ordering, rows, tuples
from transkern.frontend.context import Context
from transkern.frontend.loops import folds, iterating
from transkern.frontend.loops.trips import condition_of
from transkern.frontend.numpy.functions import vectorizing
from transkern.frontend.python import accumulated, spelling
from transkern.frontend.python.truth import truth
from transkern.frontend.sources import memoised
from transkern.frontend.sources.decorators import decorated
from transkern.frontend.sources.module_names import as_written
from transkern.frontend.sources.source import frame_of
from transkern.frontend.sources.texts import TextScope
from transkern.frontend.state import evaluating
from transkern.frontend.subscripts.keys import constant_object
from transkern.frontend.syntax import composed_iterators, generators, iterators
from transkern.frontend.syntax.sharing import may_show
from transkern.frontend.syntax.syntax import local_names, stored_names
from transkern.frontend.translate import attributes, functions, special_methods, starred
from transkern.frontend.translate.conditions import told
from transkern.frontend.translate.constructing import CLASSES, Constructions
from transkern.frontend.translate.parameters import bind_arguments, leaves_the_user
from transkern.frontend.translate.waiting import waiting
from transkern.frontend.values.describing import describe
from transkern.frontend.values.reach import shows
from transkern.frontend.values.values import (
    ITEM,
    Array,
    Bound,
    Dict,
    Function,
    GrowingList,
    Hashed,
    Iterated,
    Known,
    Maybe,
    Method,
    Object,
    Partial,
    Record,
    Row,
    Scalar,
    Seq,
    Static,
    Unbound,
    Value,
    is_list,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.expr import Expr, Var, variables_read
from transkern.ir.traverse import is_longer

INLINE_DEPTH = 32
_ENDLESS = 8  # calls in each other that nothing known could end, where a loop cannot be had
_ASKED = INLINE_DEPTH // 4  # conditions on one size around a call: a recursion by that size
_PARTS = 64  # of an argument of a lambda
_OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "matmul": "matmul", "and_": "bitwise_and", "or_": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
_COMPARISONS_NAMED: dict[str, type[ast.cmpop]] = {
    "lt": ast.Lt, "le": ast.LtE, "gt": ast.Gt, "ge": ast.GtE, "eq": ast.Eq, "ne": ast.NotEq,
}  # fmt: skip
_ARRANGING = frozenset(
    f"itertools.{name}" for name in ("product", "combinations", "permutations", "combinations_with_replacement")
)
_CONTAINERS = (Seq, Dict, GrowingList, Hashed)
_CALLED = "call a function, or an object whose class has a `__call__`"
_CHANGING = frozenset(["append", "extend", "pop", "insert", "remove", "clear", "sort", "reverse"])


_TAKING_ALL = [Known(name) for name in ("builtins.list", "builtins.tuple", "numpy.array", "numpy.asarray")]
"""What no tuple of numbers is wrong for, so that it may be called where Python would not come to it."""


def _is_of_rows(call: ast.Call) -> bool:
    """Whether a call is given all that is in something, and nothing else."""
    return len(call.args) == 1 and isinstance(call.args[0], ast.Starred) and not call.keywords


class Calls(Constructions):
    """The translation of calls."""

    # --- calls

    def _of_base(self, node: ast.expr) -> Value | None:
        """``super().name`` in a method."""
        match node:
            case ast.Attribute(ast.Call(ast.Name("super"), [], []), name):
                kind, arguments = self.scope.lookup("__class__"), self.node.args
                parameters = [*arguments.posonlyargs, *arguments.args]
                if not isinstance(kind, Static) or not parameters:
                    return None
                receiver = self.env.get(parameters[0].arg)
                if receiver is None or not isinstance(self.ctx.deref(receiver), Record):
                    return None
                return special_methods.of_base(self.ctx, kind.value, receiver, name)
            case _:
                return None

    def call(self, node: ast.Call) -> Value:
        if (of_base := self._of_base(node.func)) is not None:
            return self._called(of_base, node)
        return self._called(self.meant(node.func), node)

    def _given(self, function: Value, node: ast.Call) -> tuple[Value, list[Value], dict[str, Value]]:
        """What is called, and with what: evaluated one after the other."""
        ctx = self.ctx
        names: list[str] = []
        with waiting(ctx) as those:
            those.put(function)
            for argument in node.args:
                if isinstance(argument, ast.Starred):
                    for value in self.elements(self.expr(argument.value), None, argument):
                        those.put(value)
                else:
                    those.put(self.expr(argument))
            positional = len(those.values)
            for keyword in node.keywords:
                if keyword.arg is None:
                    given = ctx.deref(self.expr(keyword.value))
                    if not isinstance(given, Dict) or not all(isinstance(k, str) for k in given.keys):
                        of_dict = isinstance(given, (Dict, Hashed))
                        why = refusals.RUN_TIME_KEYS if of_dict else refusals.WRONG_ARGUMENTS
                        help = "give a dict whose keys are texts, or the arguments by their names"
                        ctx.fail(why, f"`**` of {describe(given)} in a call", help, node)
                    for name, value in zip(given.keys, given.items, strict=True):
                        names.append(name)
                        those.put(value)
                else:
                    names.append(keyword.arg)
                    those.put(self.expr(keyword.value))
        values = those.values
        return values[0], values[1:positional], dict(zip(names, values[positional:], strict=True))

    def _called(self, function: Value, node: ast.Call) -> Value:
        ctx = self.ctx
        if isinstance(function, Known) and (source := folds.used_up(function.path, node)) is not None:
            folded = folds.folded(self, function.path, source, node)
            if folded is not None:
                return folded
        if function == Known("builtins.zip") and _is_of_rows(node):
            return self._unzipped(node)
        if (best := starred.best_of(self, function, node)) is not None:
            return best
        function, positional, keywords = self._given(function, node)
        if isinstance(function, Partial):
            function, positional, keywords = function.called(positional, keywords)
        if function in (Known("builtins.map"), Known("builtins.filter")) and len(positional) > 1 and not keywords:
            is_map = function == Known("builtins.map")
            return self._mapped(is_map, positional, node)
        if isinstance(function, Known) and len(positional) == 1 and not keywords:
            with At(ctx, node, self.scope.file):
                made = special_methods.builtin(ctx, function.path, positional[0])
            if made is not None:
                return made
        key = keywords.get("key")
        if isinstance(function, Known) and function.path in ("builtins.min", "builtins.max", "builtins.sorted") and key:
            return self.by_key(function.path.removeprefix("builtins."), positional, keywords, node)
        with At(ctx, node, self.scope.file):
            match function:
                case Function():
                    return self.inline(function, positional, keywords)
                case Known(accumulated.CHARACTERS):
                    return spelling.listed(ctx, positional[0])
                case Known("transkern.sequence"):
                    return iterating.sequence(ctx, positional[0])
                case Known(path) if path in _ARRANGING:
                    kind = getattr(itertools, path.removeprefix("itertools."))
                    return self.construct(kind, positional, keywords, node)
                case Known("functools.reduce") if 2 <= len(positional) <= 3:
                    positional[1] = iterating.all_of(ctx, positional[1])
                    return compose(ctx, "lists", "reduced" if positional[2:] else "reduced_from_first", positional, {})
                case Known("functools.partial") if positional:
                    held = [self.kept(p, ITEM) for p in positional]
                    return Partial(held[0], tuple(held[1:]), tuple((k, self.kept(v, k)) for k, v in keywords.items()))
                case Known("numpy.vectorize"):
                    return vectorizing.made(ctx, positional, keywords)
                case Known(vectorizing.VECTORIZED):
                    return vectorizing.called(self, positional, keywords, node)
                case Known(path) if (made := self._operator(path, positional)) is not None:
                    return made
                case Known(path) if (made := composed_iterators.called(ctx, path, positional, keywords)) is not None:
                    return made
                case Known(path) if (kind := CLASSES.get(path)) is not None:
                    return self.construct(kind, positional, keywords, node)
                case Known(path):
                    return functions.call(ctx, path, positional, keywords)
                case Method(receiver, name):
                    if name in _CHANGING and isinstance(node.func, ast.Attribute):
                        self._lists_apart(node.func.value, receiver)
                    if isinstance(ctx.deref(receiver), _CONTAINERS):  # what goes into it is as it is now
                        positional = [self.kept(p, ITEM) for p in positional]
                        keywords = {k: self.kept(v, ITEM) for k, v in keywords.items()}
                    return functions.call_method(ctx, receiver, name, positional, keywords)
                case Bound(inner, receiver):
                    return self.inline(inner, [receiver, *positional], keywords, node)
                case Static(type() as kind) if issubclass(kind, np.generic):
                    return functions.scalar_type(ctx, kind, [ctx.deref(p) for p in positional])
                case Static(type() as kind) if issubclass(kind, BaseException):
                    problem = "an exception that is made, but not raised"
                    ctx.fail(refusals.MESSAGE, problem, f"make it where it is raised: raise {kind.__name__}(…)", node)
                case Static(type() as kind):
                    return self.construct(kind, positional, keywords, node)
                case Object() if (called := attributes.of_class(ctx, function, "__call__")) is not None:
                    assert isinstance(called, Bound)
                    return self.inline(called.function, [function, *positional], keywords, node)
                case Static() if (written := special_methods.method(ctx, function, "__call__")) is not None:
                    return self.inline(written.function, [function, *positional], keywords, node)
                case _:
                    ctx.fail(refusals.PYTHON_CALL, f"a call of {describe(function)}", _CALLED)

    def _mapped(self, is_map: bool, given: list[Value], node: ast.Call) -> Value:
        """``map(function, *iterables)``, ``filter(function, iterable)``."""
        function, source = given[:2]
        some = source.some if is_map and isinstance(source, Iterated) and function in _TAKING_ALL else None
        if some is not None and isinstance(source, Iterated):
            given[1] = replace(source, some=None)
        make = tools.partial(self.mapped, is_map, function, given[1:], node)
        made = iterators.made_now(self.ctx, map if is_map else filter, make, iterators.names_read(function))
        return made if some is None or not isinstance(made, Iterated) else replace(made, some=some)

    def _unzipped(self, node: ast.Call) -> Value:
        """``zip(*rows)``."""
        rows = node.args[0]
        assert isinstance(rows, ast.Starred)
        given = self.expr(rows.value)
        with At(self.ctx, node, self.scope.file):
            columns = tuples.unzipped(self.ctx, given)
        if columns is not None:
            return columns
        return functions.call(self.ctx, "builtins.zip", self.elements(given, None, rows), {})

    def _lists_apart(self, node: ast.expr, receiver: Value) -> None:
        """``lists[k].append(value)`` where each list has a length of its own, and `k` is known at run time."""
        if not isinstance(node, ast.Subscript) or isinstance(receiver, (Object, Row)):
            return
        ctx, owner = self.ctx, self.expr(node.value)
        contents, problem = ctx.deref(owner), "a list in a list that changes its length"
        if isinstance(contents, GrowingList) and isinstance(receiver, (Seq, GrowingList)):
            rows.wanted(ctx, contents, problem)
        if isinstance(contents, Seq) and isinstance(owner, Object):
            lists = [ctx.deref(i) for i in contents.items]
            if all(map(is_list, lists)):
                ctx.learned.ragged.add(ctx.heap.sites[owner.token])
                ctx.must_grow(owner.token, problem)

    def inline(
        self, function: Function, positional: Sequence[Value], keywords: dict[str, Value], node: ast.AST | None = None
    ) -> Value:
        """A call of a plain function, its body translated in place."""
        ctx = self.ctx
        function = function if ctx.scopes.managing is None else replace(function, node=as_written(function.node))
        read = isinstance(function.scope, TextScope) and not function.decorated
        if read and getattr(function.node, "decorator_list", []):
            outside = type(self)(ctx, function.scope, function.node, dict(function.closure), True)
            made = decorated(function, outside.meant, lambda of, given, at: self.apply_function(of, [given], at))
            if not isinstance(made, Function):
                problem = f"a call of `{function.name}`, which its decorators make {describe(made)}"
                ctx.fail(refusals.DECORATOR, problem, "call a function without them, or let them return a function")
            return self.inline(made, positional, keywords, node)
        if function.cached:
            plain = replace(function, cached=False)
            return memoised.called(
                ctx, function, positional, keywords, lambda: self.inline(plain, positional, keywords, node)
            )
        given = tuple(told(ctx, v) for v in (*positional, *keywords.values()))
        called = zip(ctx.session.called, ctx.session.told, strict=True)
        before = [known for f, known in called if f.node is function.node]
        problem, help = f"`{function.name}` calls itself too deeply", "write the recursion as a loop"
        is_endless = bool(before) and (before[-1][0] == given or before[-1][1] == ctx.session.decisions())
        if is_endless or ctx.session.depth >= INLINE_DEPTH:  # nothing that is known here could end it
            self._loop_instead(function, ctx.error(refusals.TOO_LARGE_TO_COMPILE, problem, help))
        is_endless = is_endless and len(before) >= _ENDLESS and all(
            known[0] == given or known[1] == ctx.session.decisions() for known in before[-_ENDLESS:]
        )
        if is_endless or ctx.session.depth >= INLINE_DEPTH:  # sizes of parts of parts become twice as long in each call
            problem += ctx.learned.not_looping
            kind = refusals.TOO_LARGE_TO_COMPILE
            integers = ctx.inputs.integers
            numbers = [name for name in sorted(ctx.facts.entry) if not b.is_size_name(name) and name in integers]
            # what it may depend on
            for name in (*_asked_on_the_way(ctx), *numbers, *sorted(ctx.facts.entry & ctx.inputs.dims)):
                ctx.must_be_known(Scalar(Var(name), True), problem, help, kind)
            ctx.fail(kind, problem, help)
        if not ctx.session.pinned and (why := ctx.session.budget.call()):
            many = limits.exhausted(
                f"a call of `{function.name}`: {why}{ctx.learned.not_looping}", ctx.session.span, ctx.session.lines
            )
            self._loop_instead(function, many)
            raise many
        if generators.is_generator(function.node):
            problem = f"the generator `{function.name}`, which is not used up where it is called"
            ctx.fail(refusals.ITERATOR, problem, "write it where it is used: for x in f(…), list(f(…))")
        env = bind_arguments(ctx, function, positional, keywords, self)
        iterators.check_given(ctx, function.node, env)
        closure = {k: v for k, v in function.closure.items() if k not in local_names(function.node)}
        inner = type(self)(ctx, function.scope, function.node, {**closure, **env}, True)
        if isinstance(function.node, ast.FunctionDef):
            settled = {k: inner.settle(v, k) for k, v in env.items()}
            inner.env.update(settled)
            apart = self._share(env, settled, function.node)
        else:  # what a lambda computes twice is not to be as long as all that it was made of
            long = {k: v for k, v in env.items() if is_longer(_expr_of(v), _PARTS)}
            inner.env.update({k: inner.settle(v, k) for k, v in long.items()})
            apart = {}
        outer = (ctx.session.lines, ctx.session.file, ctx.session.span, ctx.session.frame)
        if not ctx.session.pinned:
            ctx.session.lines, ctx.session.file = function.scope.lines, function.scope.file
            ctx.session.frame = frame_of(function, ctx.session.place())
        ctx.session.depth += 1
        ctx.session.called.append(function)
        ctx.session.told.append((given, ctx.session.decisions(), set()))
        try:
            result = inner.run()
            if isinstance(result, (Unbound, Maybe)):
                why = result.why if isinstance(result, Unbound) else "it returns a value on one of two paths only"
                why = f"`{function.name}`: {why}".replace("`return`", "its result")
                help = "return one type on every path"
                ctx.session.span = inner.returned_at or ctx.session.span
                if isinstance(result, Unbound) and result.decides is not None:
                    ctx.must_be_known(Scalar(result.decides), why, help, refusals.TYPE_DIFFERS)
                ctx.fail(refusals.TYPE_DIFFERS, why, help)
            if apart and shows(ctx.heap.contents, result, lambda array: array.base in apart):
                self._held_apart(next(iter(apart.values())))
            return result
        except CompileError as error:
            if isinstance(error, NotKnown) or not leaves_the_user(self.scope, function.scope):
                raise
            owner = function.scope.owner  # type: ignore[attr-defined]
            public = ".".join(part for part in owner.__module__.split(".") if not part.startswith("_"))
            problem = f"cannot compile a call of `{public}.{owner.__qualname__}`: {error.problem}"
            help = 'keep it outside the compiled function, or use fallback="numpy"'
            raise CompileError(error.kind, problem, help, outer[2], outer[0]) from error
        finally:
            ctx.session.depth -= 1
            ctx.session.called.pop()
            ctx.session.told.pop()
            ctx.session.lines, ctx.session.file, ctx.session.span, ctx.session.frame = outer

    def _loop_instead(self, function: Function, problem: CompileError) -> None:
        """Begins anew with a function as a loop over a stack: the innermost one that is called again and again."""
        node = self.ctx.learned.recursion([f.node for f in (*self.ctx.session.called, function)])
        if node is not None:
            raise MustLoop(node, problem)

    def _share(self, given: dict[str, Value], settled: dict[str, Value], node: ast.FunctionDef) -> dict[str, str]:
        """What a function is given and has put into memory, as it stores into it, is what the caller's names stand for
        from now on. What a function of NumPy's only reads may have memory for it alone, told with names elsewhere."""
        apart: dict[str, str] = {}
        for name, value in given.items():
            made = settled[name]
            if not isinstance(value, Array) or not isinstance(made, Array) or value.view or not made.view:
                continue
            reads = self.ctx.session.pinned and stored_names(node).isdisjoint(may_show(name, node.body, ()))
            for frame in self.ctx.scopes.frames:
                for held in [k for k, v in frame.items() if v is value]:
                    if frame is self.env:
                        if any(state.before.get(held) is value for state in self.loops):
                            evaluating.must_be_early(self.ctx, held, "by a function that a loop calls, into")
                        frame[held] = made
                    elif reads and made.base:
                        apart[made.base] = held
                    else:
                        self._held_apart(held)
        return apart

    def _held_apart(self, held: str) -> NoReturn:
        problem = f"a store into `{held}`, by a function that a function calls"
        self.ctx.fail(refusals.SHARED_MEMORY, problem, f"copy it first: {held} = {held}.copy()")

    def by_key(
        self, name: str, positional: Sequence[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        """``min(items, key=f)`` and the like, of items that are known one by one."""
        ctx = self.ctx
        function = keywords["key"]
        items = iterating.iteration(ctx, positional[0]) if len(positional) == 1 else list(positional)
        source: Value = Static(None)
        if not isinstance(items, list):
            source = ctx.deref(iterating.all_of(ctx, positional[0]))
            source = hashed.keys(ctx, source) if isinstance(source, Hashed) else functions.listed(ctx, source)
            items = list(source.items) if isinstance(source, Seq) else items
        if not isinstance(items, list):
            if name != "sorted":
                if keywords.get("default") is not None:
                    help = f"test the length first: {name}(x, key=f) if len(x) else …"
                    ctx.fail(refusals.OPTION, f"`{name}` with `key=` and `default=`", help, node)
                return compose(ctx, "lists", f"{name}_by", [source, function], {})
            found = ctx.deref(compose(ctx, "lists", "keys_of", [source, function], {}))
            found = growing.from_items(ctx, found, self.site("keys")) if isinstance(found, Seq) else found
            reverse = constant_object(ctx, keywords.get("reverse", Static(False)), "`reverse=`")
            return ordering.sorted_list(ctx, source, found, bool(reverse))
        if not items:  # which no function is asked for
            others = {k: v for k, v in keywords.items() if k == "default"}
            return functions.call(ctx, f"builtins.{name}", [Seq((), "list")], others)
        keys = [self.apply_function(function, [item], node) for item in items]
        if name == "sorted":
            reverse = constant_object(ctx, keywords.get("reverse", Static(False)), "`reverse=`")
            if not all(isinstance(k, Static) for k in keys):
                source = growing.from_items(ctx, Seq(tuple(items), "list"), self.site("sorted"))
                decide = growing.from_items(ctx, Seq(tuple(keys), "list"), self.site("keys"))
                return ordering.sorted_list(ctx, source, decide, bool(reverse))
            known = {k: v.value for k, v in enumerate(keys) if isinstance(v, Static)}
            order = sorted(known, key=lambda k: known[k], reverse=bool(reverse))
            return Seq(tuple(items[k] for k in order), "list")
        return self._best(name, items, keys, node)

    def _best(self, name: str, items: Sequence[Value], keys: Sequence[Value], node: ast.Call) -> Value:
        """The first of several values whose key is the least (greatest)."""
        ctx = self.ctx
        best: Value = items[0]
        best_key = keys[0]
        for item, value in zip(items[1:], keys[1:], strict=True):
            better = truth(ctx, self.compared(ast.Lt() if name == "min" else ast.Gt(), value, best_key))
            if isinstance(better, Static):
                best, best_key = (item, value) if better.value else (best, best_key)
                continue
            held = ctx.let(condition_of(better), "better")
            best = self.either(held, item, best, [], [], node)
            best_key = self.either(held, value, best_key, [], [], node)
        return best

    def apply_function(self, function: Value, args: Sequence[Value], node: ast.expr) -> Value:
        """A call of a function that is a value."""
        keywords: dict[str, Value] = {}
        if isinstance(function, Partial):
            function, args, keywords = function.called(args, {})
        match function:
            case Function():
                return self.inline(function, args, keywords, node)
            case Bound(inner, receiver):
                return self.inline(inner, [receiver, *args], keywords, node)
            case Known(path) if (made := self._operator(path, args)) is not None:
                return made
            case Known(path):
                return functions.call(self.ctx, path, args, keywords)
            case Method(receiver, name) if name not in _CHANGING:
                return functions.call_method(self.ctx, receiver, name, args, keywords)
            case _:
                self.ctx.fail(refusals.PYTHON_CALL, f"a call of {describe(function)}", _CALLED, node)

    def _operator(self, path: str, args: Sequence[Value]) -> Value | None:
        """A function of the module `operator` that stands for an operator of two operands."""
        module, _, name = path.rpartition(".")
        if module != "operator" or len(args) != 2:
            return None
        if name in _COMPARISONS_NAMED:
            return self.compared(_COMPARISONS_NAMED[name](), *args)
        return self.operate(_OPERATORS[name], *args) if name in _OPERATORS else None

    # --- instances of classes


def _expr_of(value: Value) -> Expr:
    match value:
        case Scalar(expr):
            return expr
        case Array(_, body):
            return body
        case _:
            return b.ZERO


def _asked_on_the_way(ctx: Context) -> list[str]:
    """The sizes that conditions around a call ask for again and again."""
    made_of: dict[str, frozenset[str]] = {}  # sizes with names of their own: the arguments' sizes

    def sizes(name: str) -> frozenset[str]:
        if name not in ctx.facts.extent_values:
            return frozenset((name,))
        if name not in made_of:
            made_of[name] = frozenset[str]().union(*map(sizes, variables_read(ctx.facts.extent_values[name])))
        return made_of[name]

    read = (variables_read(term) for terms, _ in ctx.facts.conditions for term, _ in terms)
    asked = collections.Counter(size for names in read for size in frozenset[str]().union(*map(sizes, names)))
    return sorted(name for name in ctx.facts.entry & ctx.inputs.dims if asked[name] >= _ASKED)
