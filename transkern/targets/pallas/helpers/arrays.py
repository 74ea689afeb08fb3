"""Parts of arrays that move, and what JAX's own functions round otherwise."""

from __future__ import annotations

NEEDS: dict[str, tuple[str, ...]] = {
    "_arcsin": ("_interpret",),
    "_arccos": ("_interpret",),
    "_arctan": ("_interpret",),
    "_laid_out": ("_interpret",),
    "_picked": ("_interpret",),
    "_stored": ("_interpret", "_kept"),
}
"""What else a function calls."""

HELPERS: dict[str, str] = {
    "_cut": '''
def _cut(array, count, axis=0):
    """The first `count` elements; while JAX traces, where shapes must be static, the padded array and the count."""
    return (array, count) if isinstance(count, jax.core.Tracer) else array[(slice(None),) * axis + (slice(int(count)),)]
''',
    "_either": '''
def _either(tag, one, two):
    """That of two results, which differ in type, that it is; while JAX traces, which needs one type, the first."""
    return one if isinstance(tag, jax.core.Tracer) or tag else two
''',
    "_nonempty": '''
def _nonempty(array, *axes):
    """`array`, with places along `axes`: JAX does not trace a read where there are none, even one that never runs."""
    shape = tuple(max(d, 1) if k in axes else d for k, d in enumerate(array.shape))
    return array if shape == array.shape else jnp.zeros(shape, array.dtype)
''',
    "_part": '''
def _part(array, axis, at):
    """The slice `at` along `axis`, with zeros where that leaves the array: under a mask, or behind a failed check."""
    size, step = array.shape[axis], at.step or 1
    places = range(at.start or 0, size if at.stop is None else at.stop, step)
    below = min(max(-(places.start // step), 0), len(places))
    above = min(max(len(places) + (places.start - size) // step, 0), len(places) - below)
    if below + above == len(places):
        return jnp.zeros(array.shape[:axis] + (len(places),) + array.shape[axis + 1:], array.dtype)
    if below or above:
        inside = places[below:len(places) - above]
        inner = array[(slice(None),) * axis + (slice(inside.start, inside.stop, step),)]
        return jnp.pad(inner, [(below, above) if k == axis else (0, 0) for k in range(array.ndim)])
    return array[(slice(None),) * axis + (at,)]
''',
    "_with": '''
def _with(array, at, value):
    """`array` with `value` at the place `at`; JAX does not trace that for an empty array, even if it never runs."""
    return array.at[at].set(value, mode='drop') if array.size else array
''',
    "_stored": '''
def _stored(array, at, value):
    """`array` with `value`, which has been made from it, at the place `at`. XLA's compiler for CPUs may do both in one
    loop, in place, and read what it has stored (openxla/xla#49176): a branch that it cannot decide is no part of that.
    """
    if not array.size:
        return array
    if not _interpret():
        return array.at[at].set(value)
    return lax.cond(_kept(True), lambda a, v: a.at[at].set(v), lambda a, v: a, array, value)
''',
    "_fill": '''
def _fill(value, shape):
    """`value` over all of `shape`."""
    return jnp.broadcast_to(value, shape)
''',
    "_laid_out": '''
def _laid_out(block):
    """A block of one number, of which the compiler does not see that it is one."""
    if _interpret() or block.dtype == jnp.bool_:
        return block
    places = [lax.broadcasted_iota(jnp.int32, block.shape, k) for k in range(max(block.ndim - 2, 0), block.ndim)]
    return jnp.where(sum(places) >= 0, block, jnp.ones_like(block))
''',
    "_arcsin": '''
def _arcsin(x):
    """np.arcsin, as XLA writes it out: a kernel has no such operation."""
    return jnp.arcsin(x) if _interpret() else 2 * jnp.arctan2(x, 1 + jnp.sqrt((1 - x) * (1 + x)))
''',
    "_arccos": '''
def _arccos(x):
    """np.arccos, as XLA writes it out: a kernel has no such operation."""
    if _interpret():
        return jnp.arccos(x)
    return jnp.where(x == -1, np.pi, 2 * jnp.arctan2(jnp.sqrt((1 - x) * (1 + x)), 1 + x)).astype(x.dtype)
''',
    "_arctan": '''
def _arctan(x):
    """np.arctan: a kernel has it of quotients only."""
    return jnp.arctan(x) if _interpret() else jnp.arctan2(x, jnp.ones_like(x))
''',
    "_picked": '''
def _picked(block, at, axis):
    """The element of each row along `axis` that is at the place `at`."""
    here = lax.broadcasted_iota(jnp.int32, block.shape, axis) == at
    if _interpret():  # where reductions lose what is no number
        return jnp.take_along_axis(block, jnp.argmax(here, axis, keepdims=True), axis)
    least = -jnp.inf if jnp.issubdtype(block.dtype, jnp.floating) else jnp.iinfo(block.dtype).min
    return jnp.max(jnp.where(here, block, least), axis, keepdims=True)
''',
    "_elements": '''
def _elements(array, start, walks, rank):
    """Elements in memory's order, from `start` on: `walks` are a stride, a number of steps, and the dimension of the
    result, for each of its dimensions; the others have one place. Where strides divide each other, that is a slice of
    the array in another shape."""
    flat, walks = array.reshape(-1), sorted(walks, key=lambda walk: (-walk[0], walk[1]))
    shape = [1] * rank
    for _, steps, axis in walks:
        shape[axis] = max(steps, 0)
    if 0 in shape or not flat.size:
        return jnp.zeros(shape, flat.dtype)
    moving = [walk for walk in walks if walk[1] > 1]
    strides = [stride for stride, _, _ in moving]
    sizes = [a // b if b > 0 and a % b == 0 else 0 for a, b in zip(strides, strides[1:] + [1])]
    at, rest = [], start
    for stride, _, _ in moving:
        at.append(rest // stride if stride > 0 else -1)
        rest -= at[-1] * stride
    count = flat.size // strides[0] if moving and strides[0] > 0 else 0
    room = [count] + sizes
    if moving and min(at) >= 0 and 0 <= rest < sizes[-1] and all(
        k + steps <= size for k, (_, steps, _), size in zip(at, moving, room)
    ):
        made = flat if count * strides[0] == flat.size else flat[:count * strides[0]]
        parts = tuple(slice(k, k + steps) for k, (_, steps, _) in zip(at, moving))
        made = made.reshape(room)[parts + (rest,)]
        order = sorted(range(len(moving)), key=lambda k: moving[k][2])
        return jnp.transpose(made, order).reshape(shape)
    places = start
    for stride, steps, axis in walks:
        along = [steps if k == axis else 1 for k in range(rank)]
        places = places + stride * lax.broadcasted_iota(jnp.int32, along, axis)
    return flat[places]
''',
    "_put": '''
def _put(array, axis, start, stop, value):
    """`array` with the part from `start` to `stop` along `axis` replaced: as much of it as there is."""
    start = min(start, array.shape[axis])
    stop = max(start, min(stop, array.shape[axis]))
    before = lax.slice_in_dim(array, 0, start, axis=axis)
    after = lax.slice_in_dim(array, stop, array.shape[axis], axis=axis)
    parts = [p for p in (before, value, after) if p.shape[axis]]
    return jnp.concatenate(parts, axis) if parts else array
''',
}
