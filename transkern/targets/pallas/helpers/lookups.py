"""What looks elements up in a table, or changes them, at places that data choose."""

from __future__ import annotations

NEEDS: dict[str, tuple[str, ...]] = {
    "_looked_up": ("_interpret", "_from_rows", "_taken", "_has_bytes"),
    "_from_rows": ("_interpret",),
    "_updated": ("_interpret", "_in_any_order", "_one_by_one", "_larger", "_smaller"),
    "_in_any_order": ("_interpret",),
    "_one_by_one": ("_interpret", "_larger", "_smaller"),
}
"""What else a function calls."""

HELPERS: dict[str, str] = {
    "_looked_up": '''
def _looked_up(table, *index):
    """table[index]: in a kernel where the table has up to 65536 elements of 32 bits, which it goes over for each block
    of places, 128 at a time; where it has more XLA's gather, which goes over the places."""
    shape = jnp.broadcast_shapes(*(i.shape for i in index))
    fits = 0 < table.size <= 1 << 16 and table.dtype.itemsize <= 4
    if _interpret() or int(np.prod(shape)) < 2:
        return table[index]
    if not fits:
        return _taken(table, index, shape)
    at, stride = 0, 1
    for i, size in zip(index[::-1], table.shape[::-1]):
        at, stride = at + i.astype(jnp.int32) * stride, stride * size
    given, integer = table.dtype, jnp.issubdtype(table.dtype, jnp.integer) and _has_bytes()
    words = table if integer or given.itemsize == 4 else table.astype(
        jnp.float32 if jnp.issubdtype(given, jnp.floating) else jnp.int32)
    return _from_rows(words, jnp.broadcast_to(at, shape)).astype(given)
''',
    "_taken": '''
def _taken(table, index, shape):
    """table[index] by XLA, along one dimension after the other where places of each have an axis of their own: rows
    move at once, and XLA takes half a minute to compile a gather of each element of an image."""
    axes = [k for i in index for k, size in enumerate(i.shape) if size > 1]
    if table.ndim < 2 or len(axes) > table.ndim or axes != sorted(set(axes)) or 0 in (*table.shape, *shape):
        return table[index]
    for k, i in enumerate(index):
        table = jnp.take(table, i.reshape(-1), axis=k, mode='clip')
    return table.reshape(shape)
''',
    "_from_rows": '''
def _from_rows(table, at):
    """The words of a table at places, in one kernel: of each row of 128 what is in it, in lanes; of short integers as
    words, which they are from the first block on."""
    height = pl.cdiv(table.size, 1024) * 8
    rows = jnp.pad(table.reshape(-1), (0, height * 128 - table.size)).reshape(height, 128)
    given = at.shape
    if len(given) > 1 and given[-1] >= 128:
        at = at.reshape(-1, given[-1])
    else:
        at = jnp.pad(at.reshape(-1), (0, -at.size % 1024)).reshape(-1, 128)
    tall = min(256, pl.cdiv(at.shape[0], 8) * 8)
    many = pl.cdiv(table.size, 128)

    def kernel(places, given, out, *held):
        rows = held[0] if held else given
        if held:
            @pl.when((pl.program_id(0) == 0) & (pl.program_id(1) == 0))
            def _():
                rows[...] = given[...].astype(jnp.int32)
        for begin in range(0, tall, 64):
            part = slice(begin, min(begin + 64, tall))
            where = places[part, :]
            row, lane = where >> 7, where & 127

            def step(k, found):
                line = jnp.broadcast_to(rows[pl.ds(k, 1), :], lane.shape)
                return jnp.where(row == k, jnp.take_along_axis(line, lane, axis=1), found)
            out[part, :] = lax.fori_loop(0, many, step, jnp.zeros(lane.shape, rows.dtype)).astype(out.dtype)

    block = pl.BlockSpec((tall, 128), lambda a, b: (a, b))
    made = pl.pallas_call(
        kernel, grid=(pl.cdiv(at.shape[0], tall), pl.cdiv(at.shape[1], 128)), name='looked_up',
        in_specs=[block, pl.BlockSpec((height, 128), lambda a, b: (0, 0))], out_specs=block,
        out_shape=jax.ShapeDtypeStruct(at.shape, table.dtype),
        scratch_shapes=[pltpu.VMEM((height, 128), jnp.int32)] * (table.dtype.itemsize < 4),
        compiler_params=pltpu.CompilerParams(allow_input_fusion=[True, False]), interpret=_interpret())(at, rows)
    if len(given) > 1 and given[-1] >= 128:
        return made.reshape(given)
    return made.reshape(-1)[:int(np.prod(given))].reshape(given)
''',
    "_updated": '''
def _updated(table, index, value, op):
    """`table` with a value combined into the element at each of many places; what is no place changes nothing. In a
    kernel where it has up to 32768 elements of 32 bits, which SMEM holds; where it has more XLA's scatter."""
    shape = jnp.broadcast_shapes(jnp.shape(value), *(i.shape for i in index))
    fits = 0 < table.size <= 1 << 15 and table.dtype in (jnp.float32, jnp.int32) and 0 not in shape
    in_order = op != 'add' and jnp.issubdtype(table.dtype, jnp.floating)  # zeros and NaN as np.maximum has them
    if not in_order and (_interpret() or not fits):
        return getattr(table.at[index], op)(value, mode='drop')
    at, stride = 0, 1
    for i, size in zip(index[::-1], table.shape[::-1]):
        at, stride = at + i * stride, stride * size
    if _interpret() or not fits:
        at, value = (jnp.broadcast_to(x, shape).reshape(-1) for x in (at, value))
        combine, given = _larger if op == 'max' else _smaller, table.shape
        if not table.size:
            return table
        return lax.fori_loop(0, at.size, lambda k, t: t.at[at[k]].set(
            combine(t[at[k]], value[k]), mode='drop'), table.reshape(-1)).reshape(given) if at.size else table

    def rows(x, rest):
        x = jnp.broadcast_to(x, shape).reshape(-1)
        return jnp.pad(x, (0, -x.size % 1024), constant_values=rest).reshape(-1, 128)
    form = _in_any_order if table.dtype == jnp.int32 and table.size <= 512 else _one_by_one
    made = form(table.reshape(-1), rows(at.astype(jnp.int32), table.size), rows(jnp.asarray(value, table.dtype), 0), op)
    return made.reshape(table.shape)
''',
    "_in_any_order": '''
def _in_any_order(table, places, values, op):
    """Updates of integers, whose order nobody sees: each element of the table takes all of a block at once."""
    combine, fold, start = {'add': (jnp.add, jnp.sum, 0), 'max': (jnp.maximum, jnp.max, -1 << 31),
                            'min': (jnp.minimum, jnp.min, (1 << 31) - 1)}[op]
    height, tall = pl.cdiv(table.size, 1024) * 8, min(256, places.shape[0])
    lines = jnp.pad(table, (0, height * 128 - table.size)).reshape(height, 128)
    blocks, last = pl.cdiv(places.shape[0], tall), places.shape[0] % tall

    def kernel(at, new, begin, out, found):
        @pl.when(pl.program_id(0) == 0)
        def _():
            found[...] = jnp.full(found.shape, start, jnp.int32)

        def one(b, _):
            parts = [jnp.where(at[k:k + 8, :] == b, new[k:k + 8, :], start) for k in range(0, tall, 8)]
            if last:  # what is behind the end of the last block is nothing
                ahead = pl.program_id(0) < blocks - 1
                parts = [p if 8 * k < last else jnp.where(ahead, p, start) for k, p in enumerate(parts)]
            own = pl.ds(pl.multiple_of(b * 8, 8), 8)
            found[own, :] = functools.reduce(combine, parts, found[own, :])
            return 0
        lax.fori_loop(0, table.size, one, 0)

        @pl.when(pl.program_id(0) == blocks - 1)
        def _():
            out[...] = begin[...]
            lane = lax.broadcasted_iota(jnp.int32, (1, 128), 1)

            def end(b, _):
                total = fold(found[pl.ds(pl.multiple_of(b * 8, 8), 8), :])
                line = out[pl.ds(b >> 7, 1), :]
                out[pl.ds(b >> 7, 1), :] = jnp.where(lane == (b & 127), combine(line, total), line)
                return 0
            lax.fori_loop(0, table.size, end, 0)

    block, whole = pl.BlockSpec((tall, 128), lambda k: (k, 0)), pl.BlockSpec((height, 128), lambda k: (0, 0))
    made = jax.custom_batching.sequential_vmap(pl.pallas_call(
        kernel, grid=(blocks,), name='updated', in_specs=[block, block, whole], out_specs=whole,
        out_shape=jax.ShapeDtypeStruct((height, 128), jnp.int32),
        scratch_shapes=[pltpu.VMEM((table.size * 8, 128), jnp.int32)],
        compiler_params=pltpu.CompilerParams(allow_input_fusion=[True, True, False]), interpret=_interpret()))(
            places, values, lines)
    return lax.optimization_barrier(made.reshape(-1)[:table.size])  # else XLA makes a choice of this and a pad
''',
    "_one_by_one": '''
def _one_by_one(table, places, values, op):
    """Updates in their order, as NumPy makes them: the table is in SMEM, and blocks of places and values go there."""
    combine = {'add': jnp.add, 'max': _larger, 'min': _smaller}[op]
    tall, size = min(64, places.shape[0]), table.size
    rows, blocks = places.shape[0], pl.cdiv(places.shape[0], tall)

    def kernel(at, new, begin, out, at_here, new_here, at_near, new_near, moving):
        step = pl.program_id(0)

        @pl.when(step == 0)
        def _():
            def copied(k, _):
                out[k] = begin[k]
                return 0
            lax.fori_loop(0, size, copied, 0)
        at_here[...], new_here[...] = at[...], new[...]
        copies = [pltpu.make_async_copy(at_here, at_near, moving.at[0]),
                  pltpu.make_async_copy(new_here, new_near, moving.at[1])]
        for copy in copies:
            copy.start()
        for copy in copies:
            copy.wait()

        def row(r, _):
            def one(k, _):
                place = at_near[r, k]
                there = (place >= 0) & (place < size)
                own = jnp.where(there, place, 0)
                old = out[own]
                out[own] = jnp.where(there, combine(old, new_near[r, k]), old)
                return 0
            return lax.fori_loop(0, 128, one, 0)
        lax.fori_loop(0, jnp.minimum(tall, rows - step * tall), row, 0)

    block, smem = pl.BlockSpec((tall, 128), lambda k: (k, 0)), pl.BlockSpec(memory_space=pltpu.SMEM)
    kinds = jnp.int32, table.dtype
    return jax.custom_batching.sequential_vmap(pl.pallas_call(
        kernel, grid=(blocks,), name='updated', in_specs=[block, block, smem], out_specs=smem,
        out_shape=jax.ShapeDtypeStruct((size,), table.dtype),
        scratch_shapes=[pltpu.VMEM((tall, 128), k) for k in kinds] + [pltpu.SMEM((tall, 128), k) for k in kinds]
        + [pltpu.SemaphoreType.DMA((2,))],
        compiler_params=pltpu.CompilerParams(allow_input_fusion=[True, True, False]), interpret=_interpret()))(
            places, values, table)
''',
}
