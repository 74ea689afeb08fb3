"""One function and the types of its arguments to one program of array statements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TypeVar

from transkern import limits, refusals
from transkern.errors import CompileError, InternalError, NeedsConstant, TranskernError
from transkern.frontend.anew import MustDraw, MustGrow, MustLoop, NotKnown, PutOff, Site, Terminated
from transkern.frontend.containers import making, objects
from transkern.frontend.context import Context
from transkern.frontend.numpy.random import shared
from transkern.frontend.sources.source import frame_of, span_of
from transkern.frontend.state.inputs import Change
from transkern.frontend.state.learned import Learned, plain
from transkern.frontend.syntax.syntax import parameter_names
from transkern.frontend.translate.binding import outside
from transkern.frontend.translate.parameters import argument
from transkern.frontend.translate.translate import Translator
from transkern.frontend.values import large
from transkern.frontend.values.types import ArgType
from transkern.frontend.values.values import Function, Value
from transkern.ir import nodes as n
from transkern.ir.traverse import (
    buffers_written,
    own_exprs,
    result_buffers,
    scalars_set,
    variables_read,
    walk,
    with_bodies,
)  # fmt: skip

_Made = TypeVar("_Made")


def specialise(
    function: Function, types: Sequence[ArgType], reserves: bool = True, left_out: Collection[ast.stmt] = (),
    grows: bool = True, lends: bool = False,
) -> n.Program:  # fmt: skip
    """The array statements of `function` for arguments of `types`; raises CompileError, NeedsConstant.

    `reserves`: whether the target has memory for arrays that loops make longer; without it, such loops are written out
    where their number of iterations can be known. `left_out`: statements that are not translated, nor what depends on
    them (`refused`). `grows`: whether lists may grow without a bound there, as the stacks of recursions do; without it,
    functions that call themselves are written out, for a depth that is known. `lends`: whether calls lend the states of
    random generators that others share.
    """
    given_up: set[Site] = set()
    by_library: set[str] | None = set() if lends else None
    try:
        return _specialise(function, types, reserves, left_out, Learned(grows, given_up), by_library)
    except (CompileError, NeedsConstant):
        if not given_up:
            raise
        limits.budget().begin_again()  # written out, however long that is
        return _specialise(function, types, reserves, left_out, Learned(grows, None), by_library)


def _specialise(
    function: Function, types: Sequence[ArgType], reserves: bool, left_out: Collection[ast.stmt], learned: Learned,
    by_library: set[str] | None,
) -> n.Program:  # fmt: skip
    changes: list[Change] = []
    while True:
        learned.begin()
        try:
            translated = partial(_translated, function, types, learned, changes, reserves, left_out, by_library)
            program, found = _of_use(learned, translated)
        except PutOff as found_more:
            learned.learn_put_off()
            if found_more.must is not None and found_more.must.site not in learned.growing:
                learned.grow(found_more.must)
            continue
        except NotKnown as problem:
            known = problem.finding is None or not learned.learn(problem.finding)
            if known and not learned.otherwise(problem):
                raise plain(problem) from None
            continue
        except limits.Exhausted:
            raise
        except CompileError as problem:
            if not learned.otherwise(problem):
                raise
            continue
        except NeedsConstant as need:
            if learned.otherwise(need):
                continue
            raise NeedsConstant(need.demand, plain(need.problem), need.few, need.more) from None
        except MustDraw:
            continue
        except MustLoop as must:
            learned.loop(must)
            continue
        except MustGrow as must:
            learned.grow(must)
            continue
        if found == changes and learned.held.is_settled():
            return program
        changes = found  # what one `return` changes, every other one hands back too


def _of_use(learned: Learned, translated: Callable[[], _Made]) -> _Made:
    """What `translated` makes, if a finding has not been put off in it: it is for nobody then, whatever it ends by."""
    try:
        made = translated()
    except limits.Exhausted:
        raise
    except (TranskernError, NeedsConstant, MustDraw, MustGrow, MustLoop) as error:
        if learned.held.put_off:
            raise PutOff(error if isinstance(error, MustGrow) else None) from None
        raise
    if learned.held.put_off:
        raise PutOff
    return made


def _translated(
    function: Function, types: Sequence[ArgType], learned: Learned, changes: list[Change], reserves: bool,
    left_out: Collection[ast.stmt], by_library: set[str] | None,
) -> tuple[n.Program, list[Change]]:  # fmt: skip
    """One translation, whose errors of our own name the line that they came up at."""
    ctx = Context(function.scope.lines, function.scope.file, learned)
    ctx.inputs.changes, ctx.session.reserves, ctx.session.steps_take_views = list(changes), reserves, reserves
    ctx.session.left_out, ctx.session.by_library = left_out, by_library
    ctx.session.span, ctx.session.frame = span_of(function.node, function.scope.file), frame_of(function)
    try:
        return _translate(ctx, function, types), ctx.inputs.changes
    except (TranskernError, NeedsConstant, MustDraw, MustGrow, MustLoop, PutOff):
        raise
    except RecursionError:
        raise _too_deep(ctx) from None
    except Exception as error:
        raise InternalError.of(error, function.name, ctx.session.span, ctx.session.lines) from error


def _too_deep(ctx: Context) -> Exception:
    """What to raise where Python's own stack has ended."""
    if ctx.session.too_deep is None:
        problem = "expressions, blocks or calls are nested too deeply here"
        return ctx.error(refusals.TOO_LARGE_TO_COMPILE, problem, limits.SHALLOWER)
    ctx.session.span, by_calls = ctx.session.too_deep
    if not by_calls:
        problem = "expressions and blocks are nested too deeply here"
        return ctx.error(refusals.TOO_LARGE_TO_COMPILE, problem, limits.SHALLOWER)
    problem = f"a function calls itself too deeply{ctx.learned.not_looping}"
    error = ctx.error(refusals.TOO_LARGE_TO_COMPILE, problem, "write a loop")
    if (node := ctx.learned.recursion(ctx.session.called_there)) is not None:
        return MustLoop(node, error)
    return next((NeedsConstant(size, error) for size in sorted(ctx.inputs.dims)), error)  # it may depend on a size


def _translate(ctx: Context, function: Function, types: Sequence[ArgType]) -> n.Program:
    scope, node = function.scope, function.node
    own = parameter_names(node)
    names = own + outside.parameters(types[len(own) :], own)
    if len(types) != len(names):
        given = f"{len(types)} type{'' if len(types) == 1 else 's'} given"
        problem = f"`{function.name}` takes {len(names)} arguments ({', '.join(names)}), {given}"
        ctx.fail(refusals.WRONG_ARGUMENTS, problem, "give one type for each, as in `f(float64[n], int)`", node)
    ctx.names.taken.update(names)
    ctx.inputs.parameters = frozenset(names)
    params: list[n.Param] = []
    env: dict[str, Value] = {}
    translator = Translator(ctx, scope, node, env, inlined=False)  # some arguments are made of what is passed for them
    for name, kind in zip(names, types, strict=True):
        value = argument(ctx, params, name, kind)
        if name in own:
            env[name] = value
        else:
            outside.take(ctx, kind, value)
    ctx.names.taken |= ctx.inputs.sizes
    ctx.lists.pools = {kind: objects.pool(ctx, kind, fields) for kind, fields in ctx.learned.pooled.items()}
    for first in sorted(set(ctx.learned.together.values()), key=repr):
        ctx.lists.together[first] = making.new_rows(ctx, "lists", ("together", *first))
    ctx.control.changes_now = translator.changes_now
    if isinstance(node, ast.Lambda):
        ctx.scopes.frames.append(env)
        ctx.scopes.called_in.append(ctx.emitter.out)
        with suppress(Terminated):  # it raises, whatever happens
            translator.hand_back(translator.expr(node.body))
    else:
        translator.run()
    _check_lent(ctx)
    shared.check(ctx)
    params = [
        replace(
            p, written=(p.base or p.name) in ctx.inputs.written and p.name not in ctx.inputs.readonly,
            in_place=ctx.inputs.in_place.get(p.base or p.name, False),
        ) if isinstance(p, n.ArrayParam) else p for p in params
    ]
    for buffer in ctx.aliasing.stored & set(ctx.names.buffers):  # what was known of its first values
        ctx.names.buffers[buffer] = replace(ctx.names.buffers[buffer], low=None, high=None, permutation=False)
    params += [n.ObjectParam(name) for name in sorted(ctx.inputs.returned)]
    # else what needed it was translated otherwise
    ctx.inputs.captured = [(k, v) for k, v in ctx.inputs.captured if k in ctx.names.buffers]
    memories = [ctx.names.buffers[name] for name, _ in ctx.inputs.captured]
    params += [
        n.ArrayParam(m.name, m.dtype, m.dims, m.layout, written=m.name in ctx.inputs.written, aligned=m.aligned)
        for m in memories
    ]
    made = [n.Alloc(ctx.inputs.global_generator)] if ctx.inputs.global_generator in ctx.names.buffers else []
    program = n.Program(
        "lambda_" if function.name == "<lambda>" else function.name, tuple(params), ctx.names.buffers,
        ctx.names.variables,
        ctx.names.bounds,
        (
            *(n.Let(size.name, value) for value, size in ctx.facts.extents.items()), *made,
            *_of_memory(_allocations(ctx, _read(ctx)), ctx.names.buffers),
        ),
        scope.lines,
        scope.file, tuple(ctx.facts.assumptions), tuple(ctx.inputs.changes), tuple(v for _, v in ctx.inputs.captured),
    )  # fmt: skip
    large.check_constants(ctx, program)
    return program


def _check_lent(ctx: Context) -> None:
    """That nothing is put into lists of lists among the arguments, as the caller's own lists would not get it. Where
    something is put into a list of tuples, the translation begins anew with one that is put back."""
    for name, (start, buffers, kind) in ctx.inputs.lent.items():
        for s in walk(ctx.emitter.out[start:]):
            if buffers & {*buffers_written(s), *(name.removesuffix(".size") for name in scalars_set(s))}:
                problem = f"a change of `{name}`, a list of more than a few lists"
                error = ctx.error(refusals.NESTED_LIST, problem, "change a copy of it: [[*row] for row in rows]")
                raise error if kind == "ragged" else MustGrow(("argument", name), error)


def _read(ctx: Context) -> tuple[n.Stmt, ...]:
    """The statements without what has been evaluated in case somebody asks for it, and nobody has."""
    needed = {v for e in (*ctx.names.bounds.values(), *ctx.facts.assumptions) for v in variables_read(e)}
    needed |= {v for buffer in ctx.names.buffers.values() for e in buffer.dims for v in variables_read(e)}
    sources: dict[str, set[str]] = {}
    for s in walk(ctx.emitter.out):
        read = {v for e in own_exprs(s) for v in variables_read(e)}
        if isinstance(s, (n.Let, n.Assign)) and s.name in ctx.names.unsure:
            sources.setdefault(s.name, set()).update(read)
        else:
            needed |= read
    while more := {v for name in needed & sources.keys() for v in sources.pop(name)}:
        needed |= more
    left_out = sources.keys()

    def kept(block: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in block:
            if isinstance(s, (n.Let, n.Assign)) and s.name in left_out:
                continue
            made = with_bodies(s, kept)
            if not (isinstance(made, n.If) and made != s and not made.then and not made.orelse):
                out.append(made)
        return tuple(out)

    for name in left_out:
        ctx.names.variables.pop(name, None)
    return kept(ctx.emitter.out) if left_out else tuple(ctx.emitter.out)


def _of_memory(block: tuple[n.Stmt, ...], buffers: Mapping[str, n.Buffer]) -> tuple[n.Stmt, ...]:
    """The statements, where lists that have no memory are handed back empty: earlier translations have put something
    into them, in a loop that has no iterations."""

    def there(result: n.Result) -> n.Result:
        match result:
            case n.ListResult(buffer) if buffer not in buffers:
                return replace(result, buffer="")
            case n.TupleResult(items):
                return replace(result, items=tuple(map(there, items)))
            case _:
                return result

    def statement(s: n.Stmt) -> n.Stmt:
        if isinstance(s, n.Return) and not result_buffers(s.result) <= buffers.keys():
            return replace(s, result=there(s.result))
        return with_bodies(s, lambda body: tuple(map(statement, body)))

    return tuple(map(statement, block))


def _allocations(ctx: Context, block: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
    """The statements with the memory of lists of tuples as that of their columns, without that of lists into which
    nothing is put."""
    out: list[n.Stmt] = []
    for s in block:
        if isinstance(s, n.Alloc) and s.buffer in ctx.lists.columns:
            for c in ctx.lists.columns[s.buffer]:
                here = replace(s, buffer=c)
                if c != s.buffer:
                    out += _allocations(ctx, [here])
                elif c in ctx.names.buffers:
                    out.append(here)
        elif not isinstance(s, n.Alloc) or s.buffer in ctx.names.buffers:
            out.append(with_bodies(s, lambda body: _allocations(ctx, body)))
    return tuple(out)
