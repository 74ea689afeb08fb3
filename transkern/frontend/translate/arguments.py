"""A call's arguments by name, and the table that functions are registered in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.numpy import outputs
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.sources.signatures import takes_none
from transkern.frontend.subscripts.storing import as_result, write
from transkern.frontend.values.broadcasting import broadcast_to
from transkern.frontend.values.strides import from_outside
from transkern.frontend.values.values import Array, Seq, Static, Value
from transkern.ir import build as b

Keywords = dict[str, Value]


_CONVERTED = ("dtype", "order", "out")
"""What NumPy's converters take None for, whatever the default is."""


class Arguments:
    """A call's arguments by NumPy's parameter names."""

    def __init__(
        self, ctx: Context, name: str, names: Sequence[str], positional: Sequence[Value], keywords: Mapping[str, Value]
    ):
        self.ctx, self.name, self.names = ctx, name, names
        supported = f"supported here: {', '.join(names)}"
        if len(positional) > len(names):
            ctx.fail(refusals.OPTION, f"`{name}` with {len(positional)} arguments", supported)
        self.given: Keywords = dict(zip(names, positional, strict=False))
        for key, value in keywords.items():
            if key not in names:
                ctx.fail(refusals.OPTION, f"`{name}` with `{key}=`", supported)
            if key in self.given:
                ctx.fail(refusals.WRONG_ARGUMENTS, f"`{name}` with `{key}` by place and by name", "give it once")
            self.given[key] = value
        if "out" in self.given:
            self.given["out"] = kept_outputs(ctx, self.given["out"])
        if "subok" in self.given:  # which nobody asks for: there are no subclasses here
            self.get("subok")

    def get(self, name: str) -> Value | None:
        """An argument; None where there is none, or where None is given and is NumPy's own default."""
        value = self.given.get(name)
        if not (isinstance(value, Static) and value.value is None):
            return value
        check_nones(self.ctx, self.name, {name: value})
        return None

    def optional(self, name: str) -> Value | None:
        """An argument that NumPy takes None for, whatever its default is."""
        value = self.given.get(name)
        return None if isinstance(value, Static) and value.value is None else value

    def need(self, name: str) -> Value:
        value = self.given.get(name)
        if value is None:
            help = f"pass it; the arguments are: {', '.join(self.names)}"
            self.ctx.fail(refusals.WRONG_ARGUMENTS, f"`{self.name}` needs `{name}`", help)
        return value

    def array(self, name: str) -> Array:
        """An argument as an array, which may be a filter."""
        return as_array(self.ctx, self.need(name))

    def kept(self, name: str) -> Array:
        """An argument as an array that has dims."""
        return self.ctx.kept(self.array(name))

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.get(name)
        if value is None:
            return default
        if not isinstance(value, Static):
            help = f"write {name}=True or {name}=False"
            self.ctx.fail(refusals.NEEDS_CONSTANT, f"`{name}=` must be a constant", help)
        return bool(value.value)

    def text(self, name: str, default: str) -> str:
        value = self.get(name)
        if value is None:
            return default
        help = f'write a text, such as {name}="{default}"'
        if not isinstance(value, Static):
            self.ctx.fail(refusals.NEEDS_CONSTANT, f"`{name}=` must be a constant", help)
        if not isinstance(value.value, (str, type(None))):
            self.ctx.fail(refusals.OPTION, f"`{name}=` that is no text", help)
        text = str(value.value)
        return text.upper() if name == "order" and len(text) == 1 else text  # NumPy takes "c" for "C"

    def check_out(self) -> None:
        """NumPy's error where nobody may write what `out=` names."""
        outputs.check_writable(self.ctx, [self.get("out")])

    def result(self, value: Value) -> Value:
        """`value`, or what `out=` names with `value` in it."""
        out = self.get("out")
        return value if out is None else into(self.ctx, out, value, self.name)


def check_nones(ctx: Context, function: str, given: Mapping[str, Value]) -> None:
    """Refuses a None that NumPy does not take for nothing given, in the user's text."""
    if ctx.session.pinned:
        return
    for name, value in given.items():
        is_none = isinstance(value, Static) and value.value is None
        if is_none and name not in _CONVERTED and not takes_none(function, name):
            ctx.fail(refusals.OPTION, f"`{function}` with `{name}=None`", "leave it out")


def kept_outputs(ctx: Context, out: Value) -> Value:
    """What `out=` names, filters as arrays of their own."""
    if isinstance(out, Seq):
        return replace(out, items=tuple(kept_outputs(ctx, o) for o in out.items))
    return ctx.kept(out) if isinstance(out, Array) else out


def into(ctx: Context, out: Value, value: Value, name: str, casting: str | None = None) -> Value:
    """`value` stored into what `out=` names, which is the result then."""
    if isinstance(out, Seq) and len(out.items) == 1:
        out = out.items[0]
    if not isinstance(out, Array):
        help = "make an array for it before: out = np.empty(…)"
        ctx.fail(refusals.OUT, f"`{name}` with `out=` that is no array", help)
    out = from_outside(ctx, out) or out
    if not out.view:  # made in the call itself: nobody else sees it
        axes, body = broadcast_to(ctx, as_array(ctx, value), out.dims)
        return Array(axes, b.cast(body, out.dtype))
    write(ctx, out, [Static(Ellipsis)], as_result(value), casting=casting)
    return out


Handler: TypeAlias = Callable[[Context, Arguments], Value]

TABLE: dict[str, Callable[[Context, Sequence[Value], Mapping[str, Value]], Value]] = {}


def handles(*paths: str, names: str = "") -> Callable[[Handler], Handler]:
    """Registers a handler for NumPy functions with the parameters `names`."""

    def register(handler: Handler) -> Handler:
        for path in paths:

            def run(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value], path: str = path) -> Value:
                return handler(
                    ctx,
                    Arguments(
                        ctx, path.replace("numpy.", "np.").replace("builtins.", ""), names.split(), args, keywords
                    ),
                )

            TABLE[path] = run
        return handler

    return register
