"""How arrays lie in memory: NumPy reshapes without a copy what strides can say, and gives what it computes the order
of its operands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import captured_array
from transkern.frontend.state import aliasing
from transkern.frontend.values.broadcasting import may_stretch
from transkern.frontend.values.values import Array
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import REAL, has_part
from transkern.ir.expr import Apply, Axis, Expr, Load, Reduce, Var
from transkern.ir.polynomials import polynomial
from transkern.ir.traverse import buffers_read, variables_read, walk_expr

Group = tuple[list[int], list[int]]


def reshaped_view(ctx: Context, value: Array, axes: tuple[Axis, ...]) -> Array | None:
    """`value`, a view that is not contiguous, over `axes` in the same memory; None where NumPy makes a copy."""
    assert isinstance(value.body, Load)
    dims = tuple(a.extent for a in axes)
    groups = _groups(value.dims, dims)
    if groups is None:
        return None
    together = [(old, new) for old, new in groups if len(old) > 1]
    if not together:
        index: list[Expr] = [b.ZERO] * value.ndim
        for old, new in groups:
            for d in old:
                index[d] = b.ravel([axes[p].var for p in new], [dims[p] for p in new])
        return Array(axes, value.at(tuple(index)), view=True, readonly=value.readonly)
    strides = steps_in_memory(ctx, value)
    if strides is None or not all(_follow(ctx, strides[0], value.dims, old) for old, _ in together):
        for old, new in together:
            _must_be_shortest(ctx, value.dims, dims, old, new)
        return None
    along, offset = strides
    linear = offset
    for old, new in groups:
        if old:
            inside = b.ravel([axes[p].var for p in new], [dims[p] for p in new])
            linear = b.add(linear, b.mul(along[old[-1]], inside))
    return Array(axes, Load(value.body.buffer, (linear,), value.dtype), view=True, readonly=value.readonly)


def _groups(old: Sequence[Expr], new: Sequence[Expr]) -> list[Group] | None:
    """Dimensions that go over into each other: runs of both with one product, as short as can be told."""
    mine = [d for d, extent in enumerate(old) if b.constant(extent) != 1]
    theirs = [p for p, extent in enumerate(new) if b.constant(extent) != 1]
    groups: list[Group] = []
    while mine or theirs:
        found = _first_group(old, new, mine, theirs)
        if found is None:
            return None
        groups.append(found)
        mine, theirs = mine[len(found[0]) :], theirs[len(found[1]) :]
    return groups


def _first_group(old: Sequence[Expr], new: Sequence[Expr], mine: list[int], theirs: list[int]) -> Group | None:
    sizes: list[Expr] = [b.ONE]
    for d in mine:
        sizes.append(b.mul(sizes[-1], old[d]))
    total: Expr = b.ONE
    for count, p in enumerate(theirs, 1):
        total = b.mul(total, new[p])
        if total in sizes[1:]:
            return mine[: sizes.index(total, 1)], theirs[:count]
    return (mine, theirs) if mine and theirs else None


def _must_be_shortest(
    ctx: Context, old: Sequence[Expr], new: Sequence[Expr], mine: Sequence[int], theirs: Sequence[int]
) -> None:
    """A call where the sizes of a group fall apart into shorter ones, or are 1, gets code of its own."""
    for size in (*(old[d] for d in mine), *(new[p] for p in theirs)):
        may_stretch(ctx, size)
    first: Expr = b.ONE
    for d in mine[:-1]:
        first = b.mul(first, old[d])
        second: Expr = b.ONE
        for p in theirs[:-1]:
            second = b.mul(second, new[p])
            _equal(ctx, first, second)


def in_memory(ctx: Context, value: Array, name: str) -> Array:
    """`value` where NumPy has it: what was computed and then turned, reversed or sliced is a view of what was computed,
    and what is computed of turned arrays alone is turned as they are. What stands in C order stays as it is."""
    if value.view or value.mask is not None:
        return value
    array, index = _origin(value) or _ordered_as_operands(ctx, value) or (value, ())
    if array is value or _is_in_order(array, value.axes, index):
        return value
    if (shown := from_outside(ctx, value)) is not None:
        return shown
    made = ctx.define(replace(array, origin=None, identity=""), name)
    return Array(value.axes, made.at(index), view=True, empty=value.empty)


def from_outside(ctx: Context, value: Array) -> Array | None:
    """What shows an array from outside whose elements are constants, as a view of its memory; None of others."""
    origin = None if value.view or value.mask is not None else _origin(value)
    constant = next((c for made, c in ctx.inputs.outside if origin is not None and made is origin[0]), None)
    if origin is None or constant is None:
        return None
    return Array(value.axes, captured_array(ctx, constant).at(origin[1]), view=True)


def copied(ctx: Context, value: Array, name: str) -> Array:
    """A copy of `value` in NumPy's order "K", that of what is copied."""
    made = in_memory(ctx, replace(value, view=False, identity=""), name)
    return made if made.view else ctx.define(made, name)


def in_order_of(ctx: Context, made: Array, operand: Array) -> Array:
    """What has been made of each element of an array, however it was computed, where NumPy has it: in order "K"."""
    found = _ordered_as_operands(ctx, in_memory(ctx, operand, "operand"))
    order = list(range(made.ndim)) if found is None else [operand.axes.index(a) for a in found[0].axes]
    turned = replace(made.turned(order), origin=None)
    if isinstance(made.body, Load) and made.body.index != tuple(a.var for a in turned.axes):
        turned = ctx.define(replace(turned, view=False, identity=""), "made")
    return turned if found is None else turned.turned([order.index(d) for d in range(made.ndim)])


def _origin(value: Array) -> tuple[Array, tuple[Expr, ...]] | None:
    """Of what, and where in it, a computed array is a view; None where something has been computed with it since."""
    if value.origin is None or value.origin[0].at(value.origin[1]) != value.body:
        return None
    return value.origin


def _is_in_order(array: Array, axes: Sequence[Axis], index: Sequence[Expr]) -> bool:
    """Whether the elements of a view of an array in C order are in C order too, without gaps."""
    steps = [b.product(array.dims[d + 1 :]) for d in range(array.ndim)]
    along = _steps_along(index, steps, axes)
    return along is not None and _are_of_line(list(along[0].values()), [a.extent for a in axes])


def _ordered_as_operands(ctx: Context, value: Array) -> tuple[Array, tuple[Expr, ...]] | None:
    """NumPy's order "K": an elementwise result lies in memory as its operands do where they agree, else in C order."""
    if value.ndim < 2:
        return None
    strides = _strides_of_operands(ctx, value)
    if not strides:
        return None
    order = list(range(value.ndim))
    for k in range(1, value.ndim):  # as NumPy's iterator sorts them: C order wins where operands differ
        for p in range(k, 0, -1):
            outer, inner = order[p - 1], order[p]
            both = [(s[outer], s[inner]) for s in strides if b.ZERO not in (s[outer], s[inner])]
            if not both or not all(_is_shorter(one, two) for one, two in both):
                break
            order[p - 1], order[p] = inner, outer
    if order == list(range(value.ndim)):
        return None
    return replace(value, axes=tuple(value.axes[d] for d in order)), tuple(value.axes[d].var for d in order)


def _strides_of_operands(ctx: Context, value: Array) -> list[list[Expr]]:
    """How far apart the operands of an elementwise result are along its axes, in memory; empty where that is not known,
    or where there are none."""
    operands = ctx.aliasing.operands.get(value.axes)
    if operands is not None:
        return [_strides_over(ctx, operand, value.axes) for operand in operands if operand.mask is None]
    parts = list(walk_expr(value.body))
    if any(isinstance(x, Reduce) for x in parts):
        return []
    loads = [_whole_element(x) for x in parts if isinstance(x, Load)]
    found = [steps_in_memory(ctx, Array(value.axes, x, view=True)) for x in loads]
    return [x[0] for x in found if x is not None] if all(found) else []


def _whole_element(load: Load) -> Load:
    """What is loaded, or the complex element of which that is a part: they are as far apart from each other."""
    return replace(load, index=load.index[:-1]) if has_part(load.index) else load


def _strides_over(ctx: Context, operand: Array, axes: Sequence[Axis]) -> list[Expr]:
    """The strides of an operand along the axes of a result, 0 where it is stretched."""
    steps: Sequence[Expr] | None = None
    if operand.view:
        assert isinstance(operand.body, Load)
        found = steps_in_memory(ctx, replace(operand, body=_whole_element(operand.body)))
        steps = found[0] if found is not None else None
    else:
        array, index = (operand.is_turned and operand.origin) or (operand, tuple(a.var for a in operand.axes))
        made = _ordered_as_operands(ctx, array) if array.mask is None else None
        order = [array.axes.index(a) for a in (array if made is None else made[0]).axes]
        lengths = {d: b.product(tuple(array.dims[x] for x in order[k + 1 :])) for k, d in enumerate(order)}
        along = _steps_along(index, [lengths[d] for d in range(array.ndim)], operand.axes)
        steps = list(along[0].values()) if along is not None else None
    if steps is None:
        steps = [b.product(operand.dims[d + 1 :]) for d in range(operand.ndim)]
    beyond: list[Expr] = [b.ZERO] * (len(axes) - operand.ndim)
    stretched = zip(steps, operand.axes, axes[len(beyond) :], strict=True)
    return beyond + [b.ZERO if b.constant(a.extent) == 1 != b.constant(x.extent) else s for s, a, x in stretched]


def _is_shorter(one: Expr, two: Expr) -> bool:
    """Whether a stride is surely shorter than another, or as long where a size of 1 makes it one that is never used."""
    mine, theirs = _factors(one), _factors(two)
    if mine is None or mine == theirs:
        return False
    if theirs is None:  # that of a diagonal: longer than each of those it is the sum of
        terms, total = b.affine(two)
        parts = [b.mul(b.index(count), term) for term, count in terms.items()]
        return total >= 0 and min(terms.values()) > 0 and any(one == x or _is_shorter(one, x) for x in parts)
    return mine[0] <= theirs[0] and not mine[1] - theirs[1]


def _factors(stride: Expr) -> tuple[int, Counter[Expr]] | None:
    """A stride without its sign, as a number and sizes whose product it is."""
    terms, total = b.affine(stride)
    if not terms:
        return abs(total), Counter()
    if len(terms) > 1 or total:
        return None
    ((term, count),) = terms.items()
    return abs(count), Counter(term.args if isinstance(term, Apply) and term.op == "multiply" else (term,))


def is_contiguous(ctx: Context, value: Array) -> bool:
    """Whether the elements of a view stand in C order without gaps (a computed value is as good as that)."""
    if not value.view:
        return True
    strides = steps_in_memory(ctx, value)
    if strides is None:
        return False
    long = [d for d, extent in enumerate(value.dims) if b.constant(extent) != 1]
    along = strides[0]
    if not long or (_equal(ctx, along[long[-1]], b.ONE) and _follow(ctx, along, value.dims, long)):
        return True
    for d in long:
        may_stretch(ctx, value.dims[d])  # a size of 1 has no stride: such a call gets code of its own
    return False


def contiguous(ctx: Context, value: Array, what: str, dims: Sequence[Expr] = ()) -> Array:
    """A copy of a view that is not known to be contiguous; where it depends on a call whether NumPy's `what` makes one,
    one that can only be read. `dims` are the new shape's."""
    made = ctx.define(replace(value, identity=""), "contiguous")
    is_sure = all(_is_decided(ctx, d, d) for d in dims) and not depends_on_strides(ctx, value)
    is_sure = is_sure and not (value.view and lies_elsewhere(ctx, value.base))
    if not value.view or (what != "reshape" and is_argument(ctx, value)) or is_sure:
        return replace(made, view=False)
    is_named = value.base in ctx.names.buffers and value.base not in ctx.inputs.memories
    whose = f"`{value.base}`" if is_named else "the arguments"
    whose = "what it was computed of" if lies_elsewhere(ctx, value.base) else whose
    problem = f"whether `{what}` gives a view depends on the strides of {whose}"
    aliasing.note_doubtful(
        ctx, made.base, value.base, problem, "pass np.ascontiguousarray(…) of it, or go on with a .copy()"
    )
    return made


def lies_elsewhere(ctx: Context, base: str) -> bool:
    """Whether NumPy may have an array that was computed in another order than C, which it has here: in that of the
    arguments (order "K"), behind an axis that positions were taken from (``a[:, at]``), or between other numbers
    (``z.real``)."""
    info, made = ctx.names.buffers.get(base), ctx.facts.makers.get(base)
    # a copy in order C, which may be read only
    if info is None or info.role != "temporary" or base in ctx.aliasing.doubtful:
        return False
    if base in ctx.aliasing.spaced:
        return True
    if made is None:
        return _has_strided(ctx)
    if isinstance(made, Apply) and made.op in ("real", "imag"):
        return True
    loads = [x for x in walk_expr(made) if isinstance(x, Load)]
    return (not loads and ctx.aliasing.filled_like) or any(_is_turned(ctx, x) for x in loads)


def _is_turned(ctx: Context, load: Load) -> bool:
    """Whether what an expression reads may make its result lie in another order than C."""
    index = [i for i in load.index if variables_read(i) or buffers_read(i)]
    gathers = [any(isinstance(x, Load) or getattr(x, "op", "") == "where" for x in walk_expr(i)) for i in index]
    if any(gathers) and not gathers[0]:
        return True
    source = ctx.names.buffers.get(load.buffer)
    if source is None or len(index) < 2:
        return False
    return is_strided(source) if source.role == "argument" else lies_elsewhere(ctx, load.buffer)


def is_strided(info: n.Buffer) -> bool:
    """Whether only a call can tell in which order an argument's elements stand."""
    return info.role == "argument" and info.layout != "C" and len(info.dims) > 1


def note_model(ctx: Context, model: Array) -> None:
    """That an array is made in the order of another one."""
    loads = (x for x in walk_expr(model.body) if isinstance(x, Load))
    ctx.aliasing.filled_like = ctx.aliasing.filled_like or any(_is_turned(ctx, x) for x in loads)


def _has_strided(ctx: Context) -> bool:
    return any(is_strided(info) for info in ctx.names.buffers.values())


def laid_out(ctx: Context, value: Array, order: str, what: str, is_new: bool = False) -> Array:
    """`value` with its elements in C or Fortran `order` without gaps: itself where they stand so, unless `is_new`."""
    if not value.view and (found := _origin(value)) and not _is_in_order(found[0], value.axes, found[1]):
        value = replace(value, origin=None, readonly=False)  # NumPy makes it anew
    turned = value if order == "C" or value.ndim < 2 else value.turned(range(value.ndim)[::-1])
    if not is_new and (is_contiguous(ctx, turned) if value.view else turned is value):
        return value
    if is_new or not value.view:
        made = ctx.define(replace(turned, view=False, identity=""), "copy")
    else:
        made = contiguous(ctx, turned, what)
    return made if turned is value else replace(made.turned(range(value.ndim)[::-1]), view=True)


def is_argument(ctx: Context, value: Array) -> bool:
    """Whether a value is all of an argument that has its memory to itself: its layout is known, C or not contiguous."""
    return bool(value.identity) and value.base not in ctx.inputs.memories


def depends_on_strides(ctx: Context, value: Array) -> bool:
    """Whether only a call can tell how the elements of a view stand to each other, and no code of its own is made."""
    strides = steps_in_memory(ctx, value)
    if strides is None or any(may_stretch(ctx, d) for d in value.dims):
        return True
    along, long = strides[0], [d for d, extent in enumerate(value.dims) if b.constant(extent) != 1]
    gaps = [(along[d], b.mul(value.dims[e], along[e])) for d, e in pairwise(long)]
    gaps += [(along[d], b.ONE) for d in long[-1:]]
    return any(b.difference(one, two) is None and not _is_decided(ctx, one, two) for one, two in gaps)


def place_in_memory(ctx: Context, value: Array) -> n.View | None:
    """Where a view's elements stand in its buffer; None where no strides say it."""
    assert isinstance(value.body, Load)
    index, part = value.body.index, ""
    if has_part(index):
        part = "real" if index[-1] == REAL else "imag"
        index = index[:-1]
    base = ctx.names.buffers[value.base]
    if part and isinstance(index[-1], Apply) and b.unravel(index[-1].args[0], base.dims) == index:
        index = (index[-1].args[0],)  # as `part` has taken it apart
    if len(index) != len(base.dims) and (len(index) != 1 or base.layout != "C"):
        return None
    offset, steps = [], []
    for position in index:
        found = _steps_along((position,), (b.ONE,), value.axes)
        if found is None:
            return None
        offset.append(found[1])
        steps.append(tuple(found[0].values()))
    return n.View(value.dims, tuple(offset), tuple(steps), part)


def line_in_memory(ctx: Context, value: Array) -> Expr | None:
    """Where in its buffer what a contiguous value shows begins; None where only a call knows, or where it is computed
    or has gaps."""
    strides = steps_in_memory(ctx, value) if isinstance(value.body, Load) else None
    if strides is None:
        return None
    return strides[1] if _are_of_line(strides[0], value.dims) else None


def _are_of_line(strides: Sequence[Expr], dims: Sequence[Expr]) -> bool:
    """Whether strides are surely those of elements in C order without gaps."""
    wanted: Expr = b.ONE
    for stride, extent in zip(reversed(strides), reversed(dims), strict=True):
        if b.constant(extent) == 1:
            continue
        if b.difference(stride, wanted) != 0:
            return False
        wanted = b.mul(wanted, extent)
    return True


def _follow(ctx: Context, along: Sequence[Expr], dims: Sequence[Expr], axes: Sequence[int]) -> bool:
    """Whether each of some axes steps over just what the next one covers."""
    return all(_equal(ctx, along[d], b.mul(dims[e], along[e])) for d, e in pairwise(axes))


def steps_in_memory(ctx: Context, value: Array) -> tuple[list[Expr], Expr] | None:
    """The steps in memory along each axis of a view, in elements, and where it begins; None where only a call knows."""
    assert isinstance(value.body, Load)
    buffer, index = ctx.names.buffers[value.body.buffer], value.body.index
    if buffer.layout != "C" or has_part(index):
        return None
    steps = [b.ONE] if len(index) == 1 else [b.product(buffer.dims[d + 1 :]) for d in range(len(index))]
    found = _steps_along(index, steps, value.axes)
    return None if found is None else (list(found[0].values()), found[1])


def _steps_along(
    index: Sequence[Expr], steps: Sequence[Expr], axes: Sequence[Axis]
) -> tuple[dict[str, Expr], Expr] | None:
    """How far apart elements are along each axis, and where the first is, in memory with `steps` between elements."""
    along: dict[str, Expr] = dict.fromkeys((a.name for a in axes), b.ZERO)
    offset: Expr = b.ZERO
    for position, step in zip(index, steps, strict=True):
        terms = polynomial(position)
        if terms is None:
            return None
        for factors, count in terms.items():
            mine = [f.name for f in factors if isinstance(f, Var) and f.name in along]
            others = [f for f in factors if not (isinstance(f, Var) and f.name in along)]
            if any(variables_read(f) & set(along) for f in others) or len(mine) > 1:
                return None
            product = b.product((b.index(count), *others, step))
            if mine:
                along[mine[0]] = b.add(along[mine[0]], product)
            else:
                offset = b.add(offset, product)
    return along, offset


def _equal(ctx: Context, one: Expr, two: Expr) -> bool:
    """Whether two strides are equal; where sizes decide, a call in which they are gets code of its own."""
    gap = b.difference(one, two)
    if gap is not None:
        return gap == 0
    if _is_decided(ctx, one, two):
        ctx.facts.assume(b.compare("not_equal", one, two))
    return False


def _is_decided(ctx: Context, one: Expr, two: Expr) -> bool:
    """Whether what two sizes are made of is known when a call begins."""
    return not buffers_read(one) | buffers_read(two) and variables_read(one) | variables_read(two) <= ctx.facts.entry
