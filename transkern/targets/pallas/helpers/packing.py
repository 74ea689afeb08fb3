"""What moves the elements that a filter keeps to the front."""

from __future__ import annotations

NEEDS: dict[str, tuple[str, ...]] = {
    "_packed": ("_interpret", "_compress", "_fitted"),
    "_compress": ("_interpret", "_kept"),
}
"""What else a function calls."""

HELPERS: dict[str, str] = {
    "_packed": '''
def _packed(keep, values, into, new):
    """`into` with the elements of each of `values` where `keep` holds in front, one behind the other, and how many;
    where it is `new`, nothing but zeros is behind them."""
    if _interpret() or not keep.size or any(v.dtype.itemsize > 4 for v in values):
        places = jnp.where(keep, jnp.cumsum(keep, dtype=jnp.int32) - 1, max(x.shape[0] for x in into))
        moved = [x.at[places].set(v, mode='drop') if x.size else x for x, v in zip(into, values)]
        return moved, jnp.sum(keep, dtype=jnp.int32)
    columns = [int(np.prod(v.shape[1:])) for v in values]
    if max(columns) > 8:  # rows are looked up
        (at,), count = _compress(keep, [lax.iota(jnp.int32, keep.size)])
        made = [v[at[:x.shape[0]]] for x, v in zip(into, values)]
    else:
        words = [v if v.dtype.itemsize == 4 else v.astype(
            jnp.float32 if jnp.issubdtype(v.dtype, jnp.floating) else jnp.int32) for v in values]
        tables = [w.reshape(keep.size, c) for w, c in zip(words, columns)]
        parts, count = _compress(keep, [t[:, k] for t in tables for k in range(t.shape[1])])
        parts = [iter(parts[sum(columns[:k]):sum(columns[:k + 1])]) for k in range(len(columns))]
        made = [jnp.stack([*p], -1).reshape(-1, *v.shape[1:]) for v, p in zip(values, parts)]
    made = [_fitted(m, x.shape[0]).astype(x.dtype) for x, m in zip(into, made)]
    if new and max(columns) <= 8:
        return made, count
    return [jnp.where(lax.broadcasted_iota(jnp.int32, x.shape, 0) < count, m, x) for x, m in zip(into, made)], count
''',
    "_fitted": '''
def _fitted(x, size):
    """As many elements as `size` says; what is not there is zero."""
    return x[:size] if x.shape[0] >= size else jnp.pad(x, [(0, size - x.shape[0])] + [(0, 0)] * (x.ndim - 1))
''',
    "_compress": '''
def _compress(keep, values, most=256):
    """The same for words of one axis, with anything behind them, in one kernel. In a block of rows of 128 each kept
    element goes as far to the left as there are others before it that are dropped, by powers of two from the least on:
    none meets another. The block is put behind what there is, and whole blocks go to memory, at last those of zeros."""
    rows = max(pl.cdiv(keep.size, 1024), 1) * 8
    height = min(rows, most if len(values) < 4 else most // 4)
    blocks = pl.cdiv(rows, height)

    def in_rows(x):
        return jnp.pad(x, (0, blocks * height * 128 - x.size)).reshape(-1, 128)

    def kernel(mask, *refs):
        ins, outs, total = refs[:len(values)], refs[len(values):2 * len(values)], refs[2 * len(values)]
        buffers, so_far, moving = refs[2 * len(values) + 1:-2], refs[-2], refs[-1]
        step = pl.program_id(0)

        @pl.when(step == 0)
        def _():
            so_far[0] = 0
            so_far[1] = 0
        row, lane = (lax.broadcasted_iota(jnp.int32, (height, 128), k) for k in (0, 1))
        kept = mask[...]
        count = kept  # of the row so far, then of the rows before
        for k in range(7):
            count = jnp.where(lane >= 1 << k, count + pltpu.roll(count, 1 << k, 1), count)
        ends = jnp.broadcast_to(count[:, 127:128], (height, 128))
        before = jnp.where(row >= 1, pltpu.roll(ends, 1, 0), 0)
        power = 1
        while power < height:
            before = jnp.where(row >= power, before + pltpu.roll(before, power, 0), before)
            power *= 2
        count = count + before
        far = jnp.where(kept > 0, row * 128 + lane + 1 - count, 0)
        found = [r[...] for r in ins]
        power = 1
        while power < height * 128:
            def left(x):
                if power >= 128:
                    return pltpu.roll(x, height - power // 128, 0)
                turned = pltpu.roll(x, 128 - power, 1)
                return jnp.where(lane < 128 - power, turned, pltpu.roll(turned, height - 1, 0))
            coming = _kept(left(far))
            comes = (coming & power) != 0
            found = [_kept(jnp.where(comes, left(v), v)) for v in found]
            far = _kept(jnp.where(comes, coming, jnp.where((far & power) != 0, 0, far)))
            power *= 2
        new = jnp.sum(kept)
        at, flushed = so_far[0], so_far[1]
        first = pl.multiple_of(((at >> 10) << 3) - flushed, 8)
        group = [lax.broadcasted_iota(jnp.int32, (8, 128), k) for k in (0, 1)]
        behind = lax.broadcasted_iota(jnp.int32, (height + 8, 128), 1) >= (at & 127)
        for value, buffer in zip(found, buffers):
            whole = jnp.concatenate([value, jnp.zeros((8, 128), value.dtype)], 0)
            whole = pltpu.roll(whole, at & 127, 1)
            whole = pltpu.roll(jnp.where(behind, whole, pltpu.roll(whole, 1, 0)), (at >> 7) & 7, 0)
            old = group[0] * 128 + group[1] < (at & 1023)
            start = jnp.where(old, buffer[pl.ds(first, 8), :], whole[:8])
            buffer[pl.ds(first, height + 8), :] = jnp.concatenate([start, whole[8:]], 0)
        at = at + new
        so_far[0] = at

        def put(more=0):
            for buffer, out in zip(buffers, outs):
                there = out.at[pl.ds(pl.multiple_of(so_far[1] + more, 8), height), :]
                copy = pltpu.make_async_copy(buffer.at[pl.ds(0, height), :], there, moving.at[0])
                copy.start()
                copy.wait()

        @pl.when(((at >> 10) << 3) - flushed >= height)
        def _():
            put()
            for buffer in buffers:
                buffer[pl.ds(0, height), :] = buffer[pl.ds(height, height), :]
            so_far[1] = flushed + height

        @pl.when(step == blocks - 1)
        def _():
            place = [lax.broadcasted_iota(jnp.int32, (height, 128), k) for k in (0, 1)]
            mine = place[0] * 128 + place[1] < at - so_far[1] * 128
            for buffer in buffers:
                there = buffer[pl.ds(0, height), :]
                buffer[pl.ds(0, height), :] = jnp.where(mine, there, jnp.zeros_like(there))
            put()
            for buffer in buffers:
                buffer[pl.ds(0, height), :] = jnp.zeros((height, 128), buffer.dtype)

            def rest(k, _):
                put(k * height)
                return 0
            lax.fori_loop(1, blocks + 1 - so_far[1] // height, rest, 0)
            total[0] = at

    block = pl.BlockSpec((height, 128), lambda k: (k, 0))
    far = pl.BlockSpec(memory_space=pl.ANY)
    made = jax.custom_batching.sequential_vmap(pl.pallas_call(
        kernel, grid=(blocks,), name='packed', in_specs=[block] * (1 + len(values)),
        out_specs=[far] * len(values) + [pl.BlockSpec(memory_space=pltpu.SMEM)],
        out_shape=[jax.ShapeDtypeStruct(((blocks + 1) * height, 128), v.dtype) for v in values]
        + [jax.ShapeDtypeStruct((1,), jnp.int32)],
        scratch_shapes=[pltpu.VMEM((2 * height + 8, 128), v.dtype) for v in values]
        + [pltpu.SMEM((2,), jnp.int32), pltpu.SemaphoreType.DMA((1,))],
        compiler_params=pltpu.CompilerParams(allow_input_fusion=[True] * (1 + len(values))),
        interpret=_interpret()))(in_rows(keep.astype(jnp.int32)), *map(in_rows, values))
    return [m.reshape(-1) for m in made[:-1]], made[-1][0]
''',
}
