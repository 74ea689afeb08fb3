"""What assignments put into attributes of objects."""

from __future__ import annotations

import ast
import inspect
import types
from typing import TYPE_CHECKING

from transkern import refusals
from transkern.frontend.containers import (
    objects,
)
from transkern.frontend.numpy import flats, outputs, shaping
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.elementwise import part
from transkern.frontend.sources.source import live_function
from transkern.frontend.state import handing
from transkern.frontend.subscripts import storing
from transkern.frontend.values.describing import describe
from transkern.frontend.values.values import (
    Array,
    Flat,
    Instance,
    Object,
    Record,
    Slice,
    Static,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.complexes import is_complex

if TYPE_CHECKING:
    from transkern.frontend.translate.assigning import Assignments


def put_attribute(body: Assignments, target: ast.Attribute, owner: Value, value: Value) -> None:
    """Give an object whose attribute it is a value for it, as its class says."""
    ctx = body.ctx
    if set_by_property(body, owner, target.attr, value):
        return
    if isinstance(owner, Instance) and not _is_frozen(owner.pool.kind):
        objects.store(ctx, owner, target.attr, body.kept(value, target.attr))
        return
    base = ctx.deref(owner)
    if isinstance(base, Record) and isinstance(owner, (Object, Instance)):
        found = inspect.getattr_static(base.kind, target.attr, None)
        if hasattr(type(found), "__set__") and not isinstance(found, types.MemberDescriptorType):
            problem = f"`{target.attr}` of the class `{base.kind.__name__}`, a descriptor"
            ctx.fail(refusals.OBJECT, problem, "make it a property")
        if base.kind.__dictoffset__ == 0 and not isinstance(found, types.MemberDescriptorType):
            text = f"'{base.kind.__name__}' object has no attribute '{target.attr}'"
            ctx.guard(b.FALSE, "AttributeError", text)
        check_frozen(body, base, target)
        ctx.change(owner, base.put(target.attr, body.kept(value, target.attr)))
    elif target.attr in ("real", "imag") and isinstance(base, Array) and is_complex(base.dtype):
        if not base.view and isinstance(target.value, ast.Name):
            base = body.own(target.value.id, base)
        if base.view:
            storing.write(ctx, part(ctx, base, target.attr), [Static(Ellipsis)], value)
    elif target.attr == "flat" and isinstance(base, Array):
        if not base.view and isinstance(target.value, ast.Name):
            base = body.own(target.value.id, base)
        outputs.check_readonly(ctx, base, "array")
        flats.store(ctx, Flat(shaping.flat(ctx, base)), [Slice(None, None, None)], value)
    elif target.attr == "shape" and isinstance(target.value, ast.Name):
        if isinstance(base, Array) and base.identity:
            ctx.fail(refusals.TARGET, "assigning the shape of an argument", "make a view: y = x.reshape(…)", target)
        body.env[target.value.id] = shaping.reshape(ctx, as_array(ctx, base), [ctx.deref(value)])
    else:
        problem = f"an assignment to `.{target.attr}` of {describe(base)}"
        error = ctx.error(refusals.TARGET, problem, "assign to a name or a subscript", target)
        handing.ask_for_name(ctx, base.value if isinstance(base, Static) else base, error)
        raise error


def set_by_property(body: Assignments, owner: Value, name: str, value: Value) -> bool:
    """Whether the class of an object sets the attribute by a function, which has been called then."""
    contents = body.ctx.deref(owner) if isinstance(owner, Object) else owner
    kind = contents.kind if isinstance(contents, Record) else None
    kind = owner.pool.kind if isinstance(owner, Instance) else kind
    found = inspect.getattr_static(kind, name, None)
    if kind is None or not isinstance(found, property):
        return False
    if found.fset is None:
        text = f"property '{name}' of '{kind.__name__}' object has no setter"
        body.ctx.guard(b.FALSE, "AttributeError", text)
    else:
        body.inline(live_function(found.fset), [owner, value], {})
    return True


def check_frozen(body: Assignments, base: Value, target: ast.Attribute) -> None:
    if isinstance(base, Record) and _is_frozen(base.kind):
        text = f"cannot assign to field '{target.attr}'"
        body.ctx.guard(b.FALSE, "dataclasses:FrozenInstanceError", text)


def _is_frozen(kind: type) -> bool:
    parameters = getattr(kind, "__dataclass_params__", None)
    return bool(parameters is not None and parameters.frozen)
