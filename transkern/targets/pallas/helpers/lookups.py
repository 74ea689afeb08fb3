"""What looks elements up in a table, at places that data choose."""

from __future__ import annotations

NEEDS: dict[str, tuple[str, ...]] = {"_looked_up": ("_interpret", "_from_rows"), "_from_rows": ("_interpret",)}
"""What else a function calls."""

HELPERS: dict[str, str] = {
    "_looked_up": '''
def _looked_up(table, *index):
    """table[index]: in a kernel where the table has up to 65536 elements of 32 bits, which it goes over for each block
    of places, 128 at a time; where it has more XLA's gather, which goes over the places."""
    shape = jnp.broadcast_shapes(*(i.shape for i in index))
    fits = 0 < table.size <= 1 << 16 and table.dtype.itemsize <= 4
    if _interpret() or not fits or int(np.prod(shape)) < 1024:
        return table[index]
    at, stride = 0, 1
    for i, size in zip(index[::-1], table.shape[::-1]):
        at, stride = at + i.astype(jnp.int32) * stride, stride * size
    short = jnp.float32 if jnp.issubdtype(table.dtype, jnp.floating) else jnp.int32
    words = table if table.dtype.itemsize == 4 else table.astype(short)
    return _from_rows(words, jnp.broadcast_to(at, shape)).astype(table.dtype)
''',
    "_from_rows": '''
def _from_rows(table, at):
    """The words of a table at places, in one kernel: of each row of 128 what is in it, in lanes."""
    height = pl.cdiv(table.size, 1024) * 8
    rows = jnp.pad(table.reshape(-1), (0, height * 128 - table.size)).reshape(height, 128)
    given = at.shape
    if len(given) > 1 and given[-1] >= 128:
        at = at.reshape(-1, given[-1])
    else:
        at = jnp.pad(at.reshape(-1), (0, -at.size % 1024)).reshape(-1, 128)
    tall = min(256, pl.cdiv(at.shape[0], 8) * 8)
    many = pl.cdiv(table.size, 128)

    def kernel(places, rows, out):
        for begin in range(0, tall, 64):
            part = slice(begin, min(begin + 64, tall))
            where = places[part, :]
            row, lane = where >> 7, where & 127

            def step(k, found):
                line = jnp.broadcast_to(rows[pl.ds(k, 1), :], lane.shape)
                return jnp.where(row == k, jnp.take_along_axis(line, lane, axis=1), found)
            out[part, :] = lax.fori_loop(0, many, step, jnp.zeros(lane.shape, rows.dtype))

    block = pl.BlockSpec((tall, 128), lambda a, b: (a, b))
    made = pl.pallas_call(
        kernel, grid=(pl.cdiv(at.shape[0], tall), pl.cdiv(at.shape[1], 128)), name='looked_up',
        in_specs=[block, pl.BlockSpec((height, 128), lambda a, b: (0, 0))], out_specs=block,
        out_shape=jax.ShapeDtypeStruct(at.shape, table.dtype),
        compiler_params=pltpu.CompilerParams(allow_input_fusion=[True, False]), interpret=_interpret())(at, rows)
    if len(given) > 1 and given[-1] >= 128:
        return made.reshape(given)
    return made.reshape(-1)[:int(np.prod(given))].reshape(given)
''',
}
