"""Calls whose code is not known yet: what arguments are made of, their types, and what these have to say of values."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from transkern import refusals
from transkern.errors import CompileError, NeedsConstant
from transkern.frontend.sources.module_names import Name, demand_for, demanded
from transkern.runtime import arrays, floating, foreign, structures
from transkern.runtime.boundary import internal_error, own_errors
from transkern.runtime.caching.few import ask
from transkern.runtime.calls.outside import Wanted, changed_in, data_held, share
from transkern.runtime.calls.taking import taker
from transkern.runtime.calls.uses import used_by
from transkern.runtime.foreign import chosen
from transkern.runtime.specialisation import Specialisation, guarded, run, settled
from transkern.targets.table import TARGETS

if TYPE_CHECKING:
    from transkern.runtime.compiled import Compiled

__tracebackhide__ = True  # pytest: what a user looks for is in the frames around


def call_slowly(compiled: Compiled, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """A call for which no code is known at once."""
    own = compiled._parameters.names
    while True:
        try:
            return _call(compiled, args, keywords)
        except Wanted as wanted:
            if not compiled.outside.take(wanted.demands, own):
                raise wanted.problem from None
        except CompileError:
            if not compiled.outside.refuse(own):
                raise
        compiled._forget()


def _call(compiled: Compiled, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    bind = compiled._variadic or keywords or len(args) != compiled._count
    values = [*(compiled._parameters.bind(args, keywords) if bind else args), *compiled.outside.values]
    if not structures.is_plain(values) or compiled.known.by_characters(zip(compiled._names, values, strict=True)):
        if compiled.in_numpy.is_brief:  # to take lists and objects apart takes longer than what it does with them
            return compiled._in_numpy(partial(compiled._parameters.call, compiled.function, values))
        return call_structured(compiled, values, lambda: compiled.function(*args, **keywords))
    kind = foreign.foreign_kind(values)
    target = chosen(compiled.target, kind, values)
    if kind is not None and foreign.is_traced(kind, values, target, compiled.gradient is not None):
        from transkern.frameworks.tracing import call_traced

        return call_traced(compiled, values, kind)
    if kind is not None and kind != TARGETS[target].own:
        known = partial(call_known, compiled)
        return foreign.call_foreign(known, values, kind, target, lambda: written(compiled, compiled._names))
    return call_numpy(compiled, values, target)


def call_numpy(
    compiled: Compiled, values: list[Any], target: str, shapes: tuple[structures.Shape, ...] | None = None,
    owners: Mapping[str, Any] | None = None, whole: Sequence[Any] = (), plain: Callable[[], Any] | None = None,
) -> Any:  # fmt: skip
    """A call with arrays and numbers; with `shapes`, `values` are what is in the arguments `whole`."""
    from transkern.frontend.values.types import is_array, structured, types_of

    owners = owners or {}
    demands = set(compiled.known.demands)
    shared: tuple[tuple[str, ...], ...] = ()
    readonly: frozenset[str] = frozenset()
    names = compiled._names
    first_error: CompileError | None = None
    more: set[str] = set()  # what is asked for to have no error
    for _ in range(64):
        if shapes is not None:
            wanted = structures.shapes_of(compiled._names, whole, demands, used_by(compiled.function))
            if wanted != shapes:  # a list whose numbers are constants is taken apart in another way
                try:
                    shapes, values = wanted, structures.taken_apart(wanted, whole)
                except CompileError as error:
                    raise first_error or error from None
                owners = structures.containers(shapes, whole)
            names = [name for shape in shapes for name in shape.leaves()]
            demands.update(structures.state_demands(shapes))
            demands |= {n for n in names if n.rpartition("_")[0] in demands}
        with own_errors(compiled.function):
            seen = [arrays.described(v) for v in values]
            key_types: tuple[Any, ...] = compiled.known.types(
                lambda asked: types_of(names, seen, asked, shared, readonly), demands  # noqa: B023
            )
        if texts := structures.texts_in(shapes or ()):  # short ones are no other than long ones
            key_types = tuple(
                dataclasses.replace(t, extents=()) if name in texts and is_array(t) else t
                for name, t in zip(names, key_types, strict=True)
            )  # fmt: skip
        if not TARGETS[target].in_place:  # elements are copied to a device: how they stand in memory is no matter
            key_types = tuple(dataclasses.replace(t, aligned=True) if is_array(t) else t for t in key_types)
        leaf_types = key_types
        if shapes is not None:
            remaining = iter(leaf_types)
            key_types = tuple(structured(shape, remaining) for shape in shapes)
        found = known = compiled.known.code.get((target, key_types))
        if found is None and (varying := compiled.known.varying(zip(names, values, strict=True))):
            compiled.known.demands |= varying
            demands |= varying
            if shapes is None:  # texts: from now on they are taken apart
                return call_structured(compiled, values, partial(compiled._parameters.call, compiled.function, values))
            continue
        try:
            if found is None:
                found = compiled._specialise(key_types, target)
            if found is not None and found.few:
                ask(found.few, leaf_types)
        except NeedsConstant as need:
            if demanded(need.demand) is not None:
                raise Wanted(need.problem, (need.demand, *need.more)) from None
            if need.demand in demands or not (need.demand in names or need.demand.rpartition(".")[0] in names):
                raise need.problem from None
            compiled.known.demands |= {need.demand, *need.more}
            demands |= {need.demand, *need.more}
            continue
        except CompileError as error:
            if back := compiled.known.refuse_small(demands) or compiled.known.refuse_texts(demands):
                demands -= back
                continue
            # What is True or False may decide what a list holds: there are few codes for that.
            new = {name for name, value in zip(names, values, strict=True) if type(value) is bool}
            if TARGETS[target].grows:
                new |= structures.in_columns(shapes or ())
            if not (new := new - demands):
                compiled.known.demands -= more
                raise first_error or error from None
            first_error, more = first_error or error, more | new
            compiled.known.demands |= new
            demands |= new
            continue
        if found is None and (
            back := compiled.known.refuse_small(demands) or compiled.known.refuse_texts(demands)
        ):  # fmt: skip
            demands -= back
            continue
        if found is None:
            instead = compiled.known.refused[target, key_types]
            if instead is compiled.function and plain is not None:
                return compiled._in_numpy(plain)
            given = whole if shapes is not None else values
            return compiled._in_numpy(partial(compiled._parameters.call, instead, given))
        if known is None:
            compiled.known.code[target, key_types] = found
            compiled.known.watch(found)
        else:
            compiled.known.info.hits += 1
        compiled.known.last = found
        if not TARGETS[target].in_place:
            if floating.asked():
                raise floating.refusal(compiled.function.__name__)
            if unwritable := arrays.readonly(found.written, names, values):
                readonly |= unwritable
                continue
            _check_device_call(compiled, found, names, values)
        if (held := data_held(found)) and (changed := changed_in(found, held, names, values, owners)):
            raise Wanted(_changed_outside(compiled, changed[0]), map(demand_for, changed))
        if shapes is not None and structures.has_generators(shapes):
            with structures.drawn_from(shapes, whole, values):
                result = run(found, found.call, values, owners)
        else:
            result = run(found, found.call, values, owners)
        if result is not NotImplemented:
            if target == "cpu" and not shared and not readonly:
                if shapes is None:
                    call = guarded(found, leaf_types, compiled.known.takes_small)
                    compiled._fast = compiled.known.faster(found, _changing_nothing_else(found, names, call))
                else:
                    _remember(compiled, found, leaf_types, shapes)
                compiled.known.watch(found)
            elif target == "cuda" and not shared and not readonly and shapes is None:
                if compiled._on_device.remember(values, demands, found):
                    compiled._fast = compiled._on_device.call
            return result
        reason = found.why() if found.why is not None else "types"
        if reason == "sizes":  # an assumption on derived sizes does not hold: settle all sizes
            demands |= settled(names, values, demands)
        elif reason == "overlap":
            shared = arrays.overlapping(names, values)
        elif reason == "readonly":
            readonly |= arrays.readonly(names, names, values)
        elif reason == "errors":
            raise floating.refusal(compiled.function.__name__)
        elif reason.startswith("itself "):
            raise _repeated(compiled, reason.removeprefix("itself "))
        else:
            told = ", ".join(map(str, key_types))
            raise internal_error(compiled.function, f"the code for ({told}) does not take what it was made for")
    raise internal_error(compiled.function, "the specialisation does not settle")


def call_structured(compiled: Compiled, values: list[Any], plain: Callable[[], Any], asks: bool = True) -> Any:
    """A call with arguments that are made up of others; `asks` whether a framework traces it."""
    if compiled._is_special:  # else it has been tried
        result = compiled._fast(*values)
        if result is not NotImplemented:
            return result
    shapes = structures.shapes_of(compiled._names, values, compiled.known.demands, used_by(compiled.function))
    leaves = structures.taken_apart(shapes, values)
    kind = foreign.foreign_kind(leaves)
    target = chosen(compiled.target, kind, leaves)
    if kind is not None and asks and foreign.is_traced(kind, leaves, target, compiled.gradient is not None):
        from transkern.frameworks.tracing import call_traced

        return call_traced(compiled, values, kind)
    if kind not in (None, "cupy") and (bound := compiled.outside.binds):
        raise _bound_to_foreign(compiled, bound, kind)
    owners = structures.containers(shapes, values)

    def call(inner: list[Any], target: str) -> Any:
        return call_numpy(compiled, inner, target, shapes, owners, values, plain)

    if kind is not None and kind != TARGETS[target].own:
        names = [name for shape in shapes for name in shape.leaves()]
        return foreign.call_foreign(call, leaves, kind, target, lambda: written(compiled, names))
    return call(leaves, target)


def call_known(compiled: Compiled, values: list[Any], target: str) -> Any:
    """A call with arrays of NumPy or CuPy that came as others."""
    if target != "pallas" and not compiled._is_special:
        result = compiled._fast(*values) if target == "cpu" else compiled._on_device.call(*values)
        if result is not NotImplemented:
            return result
    return call_numpy(compiled, values, target)


def written(compiled: Compiled, names: Sequence[str]) -> list[int]:
    """The positions of the arguments that the function writes into, as far as it has been called."""
    written = {name for made in list(compiled.known.code.values()) for name in made.written}
    return [k for k, name in enumerate(names) if name in written]


def _remember(
    compiled: Compiled, found: Specialisation, leaf_types: Sequence[Any], shapes: tuple[structures.Shape, ...]
) -> None:
    """The next call with arguments of this structure goes straight to the code."""
    call = guarded(found, leaf_types, compiled.known.takes_small)
    take, has_generators = taker(shapes), structures.has_generators(shapes)
    held, names = data_held(found), [name for shape in shapes for name in shape.leaves()]

    def again(*values: Any) -> Any:
        try:
            leaves, owners = take(values)
        except structures.Mismatch:
            return NotImplemented
        if held and changed_in(found, held, names, leaves, owners):
            return NotImplemented
        if has_generators:
            with structures.drawn_from(shapes, values, leaves):
                return run(found, call, leaves, owners)
        return run(found, call, leaves, owners)

    compiled._fast = compiled.known.faster(found, again)


def _changing_nothing_else(made: Specialisation, names: Sequence[str], call: Callable[..., Any]) -> Callable[..., Any]:
    """`call`, but where it would change what it was made with."""
    arrays = [a for one in data_held(made) for a in one.arrays]
    if not arrays:
        return call
    places = [k for k, name in enumerate(names) if name in made.written]

    def compare(*args: Any) -> Any:
        return NotImplemented if share(arrays, [args[k] for k in places]) else call(*args)

    return compare


def _check_device_call(compiled: Compiled, found: Specialisation, names: Sequence[str], values: Sequence[Any]) -> None:
    """Arguments are copied to a device one by one: what is written there must not be another argument's memory."""

    for name, value in zip(names, values, strict=True):
        if name in found.written and arrays.overlaps_itself(value):
            raise _repeated(compiled, name)
    for group in arrays.overlapping(names, values):
        if set(group) & set(found.written):
            named = ", ".join(f"`{g}`" for g in group)
            raise CompileError(
                refusals.SHARED_MEMORY,
                f"the arguments {named} share memory, and `{compiled.function.__name__}` writes to it",
                f'pass copies, or use target="cpu" instead of "{found.target}"',
            )


def _bound_to_foreign(compiled: Compiled, bound: str, kind: str | None) -> CompileError:
    return CompileError(
        refusals.OUTSIDE_CHANGED,
        f"`{compiled.function.__name__}` changes `{bound}` of its module, which would be of {kind}'s from then on",
        "pass the value in and return it, or call the function with NumPy arrays",
    )


def _changed_outside(compiled: Compiled, changed: Name) -> CompileError:
    return CompileError(
        refusals.SHARED_MEMORY,
        f"`{compiled.function.__name__}` changes `{changed.name}`, which it reads from outside, by way of an argument",
        "pass a copy of it",
    )


def _repeated(compiled: Compiled, name: str) -> CompileError:
    return CompileError(
        refusals.SHARED_MEMORY,
        f"elements of the argument `{name}` share memory with each other, and `{compiled.function.__name__}` writes to "
        "it",
        "pass a copy of it",
    )
