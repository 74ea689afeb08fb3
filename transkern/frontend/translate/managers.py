"""``with``: NumPy's error state, what is done with warnings, and managers of the user's that set globals for a while.

What `__exit__` does has to hold on all ways out of the block: so it may do nothing but bind globals again, to what they
stood for before. Then it is enough that what is translated behind the block finds them so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from transkern import refusals
from transkern.frontend.anew import Terminated
from transkern.frontend.context import Context
from transkern.frontend.subscripts.keys import constant_object
from transkern.frontend.translate import special_methods
from transkern.frontend.translate.arguments import Arguments, handles
from transkern.frontend.translate.binding.outside import found_in, space_of
from transkern.frontend.values.describing import describe
from transkern.frontend.values.values import Bound, Function, Known, Scope, Static, Value
from transkern.parsing import all_nodes

if TYPE_CHECKING:
    from transkern.frontend.translate.translate import Translator

_STATES = ("numpy.errstate", "numpy.printoptions")
_SILENT = ("ignore", "always", "default", "module", "once")  # what a filter does with a warning, short of raising it


def with_(t: Translator, items: Sequence[ast.withitem], body: Sequence[ast.stmt]) -> None:
    """The block of the first manager, with the others inside it."""
    ctx = t.ctx
    if not items:
        if t.block(body):
            raise Terminated
        return
    given, *others = items
    call = given.context_expr
    function = t.expr(call.func) if isinstance(call, ast.Call) else None
    if isinstance(function, Known) and function.path in _STATES and isinstance(call, ast.Call):
        _state(t, call, function.path)
        with_(t, others, body)
    elif function == Known("warnings.catch_warnings") and isinstance(call, ast.Call):
        if call.keywords or call.args or given.optional_vars is not None:
            problem = "`warnings.catch_warnings` that keeps the warnings, or has arguments"
            help = 'use it without: with warnings.catch_warnings(): warnings.simplefilter("ignore")'
            ctx.fail(refusals.WARNINGS, problem, help, call)
        held, ctx.scopes.filters = ctx.scopes.filters, [*(ctx.scopes.filters or ()), ""]
        try:
            with_(t, others, body)
        finally:
            ctx.scopes.filters = held
    else:
        manager = t.expr(call)
        enter, leave = (special_methods.method(ctx, manager, name) for name in ("__enter__", "__exit__"))
        if enter is None or leave is None or given.optional_vars is not None:
            known = "known are np.errstate, warnings.catch_warnings and managers of classes that set globals"
            bound = " that is bound by `as`" if given.optional_vars is not None else ""
            problem = f"`with` of {describe(ctx.deref(manager))}{bound}"
            ctx.fail(refusals.STATEMENT, problem, f"write what it does before and after the block; {known}", call)
        if _asks_what_was_raised(leave.function):
            problem = f"`with` of {describe(ctx.deref(manager))}, whose `__exit__` looks at what was raised"
            ctx.fail(refusals.STATEMENT, problem, "catch it by name: try: … except ValueError: …", call)
        with _entered(t, enter, leave, call):
            with_(t, others, body)


def _asks_what_was_raised(leave: Function) -> bool:
    """Whether an `__exit__` reads what it is told of an exception: compiled code runs it where there is none."""
    args = leave.node.args
    told = [*args.posonlyargs, *args.args][1:] + [a for a in (args.vararg, args.kwarg) if a is not None]
    names = {a.arg for a in told}
    return any(isinstance(x, ast.Name) and x.id in names for x in all_nodes(leave.node))


def _state(t: Translator, call: ast.Call, path: str) -> None:
    """``with np.errstate(…)``: there are no warnings here, so that ``ignore`` and ``warn`` are what happens."""
    for keyword in call.keywords:
        mode = t.expr(keyword.value)
        if path == "numpy.printoptions":
            help = 'format the numbers one by one: f"{v:.3f}"'
            t.ctx.fail(refusals.OPTION, "np.printoptions, which changes how arrays are printed", help, call)
        if mode not in (Static("ignore"), Static("warn"), Static(None)):
            help = 'use "ignore", and test the result: np.isfinite(…).all()'
            t.ctx.fail(refusals.WARNINGS, "np.errstate that raises, calls or prints", help, call)


@contextmanager
def _entered(t: Translator, enter: Bound, leave: Bound, call: ast.expr) -> Iterator[None]:
    ctx = t.ctx
    before = ctx.scopes.globals_now
    problem = "a manager whose `__exit__` does more than to bind globals again"
    help = "write what it does before and after the block"

    def restored() -> bool:
        ctx.scopes.globals_now = before
        return False

    outer, ctx.scopes.managing = ctx.scopes.managing, (ctx.control.loop_path, len(ctx.emitter.around))
    try:
        t.inline(enter.function, [enter.receiver], {}, call)
        inside = ctx.scopes.globals_now
        heap = dict(ctx.heap.contents)
        with ctx.emitter.block() as out:
            ctx.scopes.managing = (ctx.control.loop_path, len(ctx.emitter.around))
            told = t.inline(leave.function, [leave.receiver, *[Static(None)] * 3], {}, call)
        if (
            out or not isinstance(told, Static) or told.value or _bound_anew(ctx, before)
            or _changed(heap, ctx.heap.contents)
        ):
            ctx.fail(refusals.STATEMENT, problem, help, call)
    finally:
        ctx.scopes.managing, ctx.scopes.globals_now = outer, before
    ctx.scopes.globals_now = inside
    t.pending.append(restored)  # before what comes after the block
    try:
        yield
    finally:
        t.pending.pop()
        ctx.scopes.globals_now = before


def _bound_anew(ctx: Context, before: dict[tuple[int, str], Value]) -> bool:
    return any(before.get(key, ctx.scopes.globals_first[key]) != value for key, value in ctx.scopes.globals_now.items())


def _changed(before: dict[int, Value], after: dict[int, Value]) -> bool:
    return any(after.get(token) is not value for token, value in before.items())


def bind_global(ctx: Context, scope: Scope, name: str, value: Value) -> None:
    """``global name; name = value``, in what a manager does on entering or leaving its block."""
    if not isinstance(value, Static) or ctx.scopes.managing != (ctx.control.loop_path, len(ctx.emitter.around)):
        ctx.fail(refusals.OUTSIDE_CHANGED, "assigning a global name at run time", "pass the value in and return it")
    key = (space_of(scope), name)
    if found_in(ctx, *key) is not None and key not in ctx.scopes.globals_now:  # it is an argument
        problem = f"`{name}`, which a manager binds for its block, and a function binds, too"
        ctx.fail(refusals.OUTSIDE_CHANGED, problem, "pass the value in and return it")
    ctx.scopes.globals_first.setdefault(key, scope.lookup(name))
    ctx.scopes.globals_now = {**ctx.scopes.globals_now, key: value}


@handles("warnings.simplefilter", names="action category lineno append")
@handles("warnings.filterwarnings", names="action message category module lineno append")
def _filter(ctx: Context, a: Arguments) -> Value:
    """Within ``with warnings.catch_warnings()``, of warnings that compiled code does not give."""
    action = constant_object(ctx, a.need("action"), "a filter of warnings that is known at run time only")
    if ctx.scopes.filters is None:
        help = "put it into a block of `with warnings.catch_warnings():`"
        ctx.fail(refusals.WARNINGS, "a filter of warnings that outlasts the call", help)
    if action not in _SILENT:
        ctx.fail(refusals.WARNINGS, f"a filter of warnings with {action!r}", 'use "ignore", and test the result')
    ctx.scopes.filters = [*ctx.scopes.filters, action if len(a.given) == 1 else "some"]
    return Static(None)
