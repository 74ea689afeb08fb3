"""What runs a grid kernel's function over all blocks."""

from __future__ import annotations

NEEDS: dict[str, tuple[str, ...]] = {
    "_grid": ("_tile", "_vmem", "_interpret", "_Block", "_is_column", "_turned", "_earlier", "_surpasses",
              "_has_bytes"),
    "_tile": ("_vmem",),
}
"""What else a function calls."""

HELPERS: dict[str, str] = {
    "_Block": '''
class _Block:
    """Where a block lies: its `start` and `shape` along each axis."""

    def __init__(self, start, shape):
        self.start, self.shape = start, shape
''',
    "_tile": '''
def _tile(extents, tiled, arrays):
    """The block of a grid kernel: bounded by VMEM, a multiple of (8, 128) in the last axes; None where nothing fits."""
    if 0 in extents:
        return None
    room = min(2 ** 19, _vmem() // 64) // max(arrays, 2)
    tile = list(extents)
    if len(tile) > 1:  # of eight rows some would lie empty
        room //= 8 // min(extents[-2], 8)
    unit = [1] * (len(tile) - 2) + [8, 128] if len(tile) > 1 else [1024]
    for axis, on in enumerate(tiled):
        if on:
            rest = int(np.prod(tile)) // tile[axis]
            most = max(room // rest // unit[axis], 1) * unit[axis]
            if len(tile) > 1 and axis == len(tile) - 2:
                most = min(most, 256) if most < 128 else min(most, 256) // 128 * 128
            tile[axis] = min(tile[axis], most)
    return tuple(tile) if int(np.prod(tile)) <= 8 * room else None
''',
    "_earlier": '''
def _earlier(a, b):
    """The first of two positions, of which -1 is none."""
    return jnp.where((a < 0) | ((b >= 0) & (b < a)), b, a)
''',
    "_surpasses": '''
def _surpasses(op, new, place, old, before):
    """Whether an extreme at a place counts, and not an older one: NaN comes first, then the first place of equals;
    a place of -1 is none."""
    more = new > old if op == 'argmax' else new < old
    none, neither = old != old, new != new
    return (place >= 0) & ((before < 0) | jnp.where(
        none, neither & (place < before), neither | more | ((new == old) & (place < before))))
''',
    "_turned": '''
def _turned(shape):
    """A shape with its last two dimensions exchanged."""
    return (*shape[:-2], shape[-1], shape[-2])
''',
    "_is_column": '''
def _is_column(shape, tile):
    """Whether blocks of an array are columns that lie along the lanes of HBM: each number would take a row of 128."""
    return len(shape) > 1 and shape[-1] == 1 and shape[-2] > 1 and (tile[-2] % 128 == 0 or shape[-2] == tile[-2])
''',
    "_grid": '''
def _grid(body, extents, tiled, scalars, operands, results, aliases):
    """`body` over blocks of `extents`, in one kernel; an axis that is not `tiled` lies whole in each block.

    `results` are (shape, dtype) of arrays, then ((), dtype, op) of numbers that `op` combines over the blocks.
    """
    short = [x.dtype.itemsize < 4 and x.dtype != bool for x in operands]
    asked = [r[1] for r in results]
    less = [bool(r[0]) and jnp.dtype(r[1]).itemsize < 4 and r[1] != jnp.bool_ for r in results]
    tile = _tile(extents, tiled, len(operands) + len(results) + sum(short) + sum(less))  # in words as well
    if tile is not None and not _has_bytes():
        operands = [x.astype(jnp.int32) if s else x for x, s in zip(operands, short)]
        results = [(r[0], jnp.int32, *r[2:]) if s else r for r, s in zip(results, less)]
    if tile is None:
        return body(_Block((0,) * len(extents), extents), *scalars, *operands)
    grid = tuple(pl.cdiv(e, t) for e, t in zip(extents, tile))
    arrays = [r for r in results if r[0]]
    first = len(scalars) + len(operands)
    turned = [_is_column(x.shape, tile) for x in operands]
    columns = [_is_column(r[0], tile) for r in arrays]

    def spec(shape, column):
        cut = [on and d == e for d, e, on in zip(shape, extents, tiled)]
        block = tuple(t if c else d for d, t, c in zip(shape, tile, cut))
        return pl.BlockSpec(_turned(block) if column else block, lambda *at: (
            _turned if column else tuple)([a if c else 0 for a, c in zip(at, cut)]))

    def kernel(*refs):
        numbers, ins = refs[:len(scalars)], refs[len(scalars):first]
        at = [pl.program_id(k) for k in range(len(grid))]
        block = _Block(tuple(a * t for a, t in zip(at, tile)), tile)
        given = [jnp.swapaxes(r[...], -1, -2) if c else r[...] for r, c in zip(ins, turned)]
        values = body(block, *(r[0] for r in numbers), *given)
        for ref, value, column in zip(refs[first:], values[:len(arrays)], columns):
            ref[...] = (jnp.swapaxes(value, -1, -2) if column else value).astype(ref.dtype)
        start = functools.reduce(lambda a, b: a & b, [a == 0 for a in at])
        found = list(zip(refs[first + len(arrays):], values[len(arrays):], results[len(arrays):]))
        for k, (ref, value, (_, _, op)) in enumerate(found):
            if op in ('argmax', 'argmin'):  # the extreme comes behind its place
                better = start | _surpasses(op, found[k + 1][1], value, found[k + 1][0][0], ref[0])
            if op in ('argmax', 'argmin', 'extreme'):
                ref[0] = jnp.where(better, value, ref[0])
                continue
            combine = {'max': jnp.maximum, 'last': jnp.maximum, 'min': jnp.minimum, 'first': _earlier}.get(op, jnp.add)
            ref[0] = jnp.where(start, value, combine(ref[0], value))

    smem = pl.BlockSpec(memory_space=pltpu.SMEM)
    made = pl.pallas_call(
        kernel, grid=grid, name=body.__name__,
        in_specs=[smem] * len(scalars) + [spec(x.shape, c) for x, c in zip(operands, turned)],
        out_specs=[spec(r[0], c) for r, c in zip(arrays, columns)] + [smem] * (len(results) - len(arrays)),
        out_shape=[jax.ShapeDtypeStruct(_turned(r[0]) if c else r[0], r[1]) for r, c in zip(arrays, columns)]
        + [jax.ShapeDtypeStruct((1,), r[1]) for r in results[len(arrays):]],
        input_output_aliases={len(scalars) + i: o for i, o in aliases.items()},
        compiler_params=pltpu.CompilerParams(
            vmem_limit_bytes=max(_vmem() // 2, 16 << 20),
            allow_input_fusion=[False] * len(scalars) + [
                len(extents) > 1 and k not in aliases for k in range(len(operands))]),
        interpret=_interpret())(
            *(jnp.reshape(s, (1,)) for s in scalars),
            *(x.reshape(_turned(x.shape)) if c else x for x, c in zip(operands, turned)))
    shaped = [m.reshape(r[0]).astype(kind) for m, r, kind in zip(made, arrays, asked)]
    return [*shaped, *(m[0] for m in made[len(arrays):])]
''',
}
