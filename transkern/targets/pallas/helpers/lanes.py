"""What runs a loop in order over rows of 128 lanes, in VMEM or through windows of it."""

from __future__ import annotations

NEEDS: dict[str, tuple[str, ...]] = {
    "_over": ("_neutral", "_windows", "_Far"),
    "_element": ("_splat",),
    "_splat": ("_Far",),
    "_set": ("_Far",),
    "_copy": ("_Far",),
    "_block": ("VMEM", "_vmem", "_rows", "_Far", "_interpret"),
}
"""What else a function calls."""

HELPERS: dict[str, str] = {
    "_encode": '''
def _encode(position):
    """A position as the float 2**23 + position: those order as positions do, and a TPU compares floats fastest."""
    return lax.bitcast_convert_type(position.astype(jnp.int32) + jnp.int32(0x4b000000), jnp.float32)
''',
    "_decode": '''
def _decode(number):
    """The position that `_encode` made a float of."""
    return lax.bitcast_convert_type(number, jnp.int32) - jnp.int32(0x4b000000)
''',
    "_rows": '''
def _rows(n):
    """Rows of 128 lanes for n elements: whole registers, whole chunks where there are many, whole windows of HBM."""
    rows = max(pl.cdiv(n, 1024), 1) * 8
    unit = 8 if rows <= 64 else 32 if rows <= 8192 else 1024
    return pl.cdiv(rows, unit) * unit
''',
    "_Far": '''
class _Far:
    """Rows in HBM: passes see them in a window in VMEM, of three places; single rows come in groups of eight."""

    def __init__(self, ref, window, group, semaphores):
        self.ref, self.window, self.group, self.semaphores = ref, window, group, semaphores
        self.shape, self.dtype, self.here = ref.shape, ref.dtype, None

    def __getitem__(self, where):
        return self.window[self.here]

    def __setitem__(self, where, value):
        self.window[self.here] = value

    def fetch(self, w):
        """Window w on its way in."""
        rows, place = self.place(w)
        return pltpu.make_async_copy(rows, self.window.at[place], self.semaphores.at[place])

    def put(self, w):
        """Window w on its way back."""
        rows, place = self.place(w)
        return pltpu.make_async_copy(self.window.at[place], rows, self.semaphores.at[3 + place])

    def place(self, w):
        size = self.window.shape[1]
        return self.ref.at[pl.ds(pl.multiple_of(w * size, size), size), :], lax.rem(w, jnp.int32(3))

    def row(self, i):
        """The row with element i, as a reference into its group, and the group's place in HBM."""
        first = pl.multiple_of(jnp.clip(i >> 10, 0, self.shape[0] // 8 - 1) * 8, 8)
        rows = self.ref.at[pl.ds(first, 8), :]
        self.copy(rows, self.group)
        return self.group.at[pl.ds((i >> 7) & 7, 1), :], rows

    def copy(self, source, target):
        moving = pltpu.make_async_copy(source, target, self.semaphores.at[6])
        moving.start()
        moving.wait()
''',
    "_positions": '''
def _positions(at):
    """The positions in a chunk of rows."""
    row = lax.broadcasted_iota(jnp.int32, (at.size, 128), 0)
    return (row + at.start) * 128 + lax.broadcasted_iota(jnp.int32, (at.size, 128), 1)
''',
    "_over": '''
def _over(rows, body, kinds, reads, writes, start=None, stop=None):
    """`body` over all rows, or the chunks from that with `start` to that with `stop`; folds the values by `kinds`."""
    far = any(isinstance(r, _Far) for r in (*reads, *writes))
    height = rows if rows <= 64 else 32
    if rows <= 64 and not far:
        return body(pl.ds(0, rows))
    first = 0 if start is None or rows <= 64 else start >> 12
    last = rows // height if stop is None or rows <= 64 else (stop >> 12) + 1
    fold = {'max': jnp.maximum, 'min': jnp.minimum, 'sum': jnp.add}
    kinds, types = zip(*kinds) if kinds else ((), ())

    def chunk(c, so_far):
        values = body(pl.ds(pl.multiple_of(c * height, height), height))
        parts = [functools.reduce(fold[k], [v[q:q + 8] for q in range(0, height, 8)]) for k, v in zip(kinds, values)]
        return tuple(fold[k](s, p) for k, s, p in zip(kinds, so_far, parts))

    bounds = jnp.int32(first), jnp.int32(last)
    neutral = tuple(map(_neutral, kinds, types))
    if not far:
        return lax.fori_loop(*bounds, chunk, neutral)
    if start is not None or stop is not None:  # what the pass leaves out of a window goes back as it came
        reads = [*reads, *(r for r in writes if r not in reads)]
    return _windows(*bounds, chunk, height, neutral, reads, writes)
''',
    "_windows": '''
def _windows(first, last, chunk, height, so_far, reads, writes):
    """A pass over rows in HBM: while one window is worked on, the next comes in and those before go back."""
    far = list(dict.fromkeys([*reads, *writes]))
    size = far[0].window.shape[1] // height
    begin, end = lax.div(first, jnp.int32(size)), lax.div(last + (size - 1), jnp.int32(size))

    def all_of(copies, w, act):
        for ref in copies:
            act(ref, w)

    @pl.when(begin < end)
    def _():
        all_of(reads, begin, lambda ref, w: ref.fetch(w).start())

    def window(w, so_far):
        @pl.when(w + 1 < end)
        def _():
            @pl.when(w - 2 >= begin)  # the place of the next window
            def _():
                all_of(writes, w - 2, lambda ref, w: ref.put(w).wait())
            all_of(reads, w + 1, lambda ref, w: ref.fetch(w).start())
        all_of(reads, w, lambda ref, w: ref.fetch(w).wait())

        def one(c, so_far):
            for ref in far:
                ref.here = (ref.place(w)[1], pl.ds(pl.multiple_of(c * height, height), height), slice(None))
            return chunk(w * size + c, so_far)

        so_far = lax.fori_loop(jnp.maximum(first - w * size, 0), jnp.minimum(last - w * size, size), one, so_far)
        all_of(writes, w, lambda ref, w: ref.put(w).start())
        return so_far

    so_far = lax.fori_loop(begin, end, window, so_far)
    for back in (3, 2, 1):
        @pl.when(end - back >= begin)
        def _():
            all_of(writes, end - back, lambda ref, w: ref.put(w).wait())
    return so_far
''',
    "_neutral": '''
def _neutral(kind, dtype):
    """What folding changes nothing of."""
    floating = jnp.issubdtype(dtype, jnp.floating)
    least, most = (-jnp.inf, jnp.inf) if floating else (jnp.iinfo(dtype).min, jnp.iinfo(dtype).max)
    return jnp.full((8, 128), {'max': least, 'min': most, 'sum': 0}[kind], dtype)
''',
    "_element": '''
def _element(ref, i):
    """Element i, a scalar, of an array in SMEM or of rows in VMEM."""
    return ref[i] if len(ref.shape) == 1 else jnp.max(_splat(ref, i))
''',
    "_splat": '''
def _splat(ref, i):
    """Element i, to be spread over a block, of an array in SMEM or of rows in VMEM."""
    if len(ref.shape) == 1:
        return ref[i]
    lane = lax.broadcasted_iota(jnp.int32, (1, 128), 1)
    row = ref.row(i)[0][...] if isinstance(ref, _Far) else ref[pl.ds(i >> 7, 1), :]
    least = -jnp.inf if jnp.issubdtype(row.dtype, jnp.floating) else jnp.iinfo(row.dtype).min
    return jnp.max(jnp.where(lane == (i & 127), row, least), axis=1, keepdims=True)
''',
    "_set": '''
def _set(ref, i, value):
    """Store element i of an array in SMEM or of rows in VMEM."""
    if len(ref.shape) == 1:
        ref[i] = value
    elif isinstance(ref, _Far):
        row, rows = ref.row(i)
        lane = lax.broadcasted_iota(jnp.int32, (1, 128), 1)
        row[...] = jnp.where(lane == (i & 127), value, row[...])
        ref.copy(ref.group, rows)
    else:
        lane = lax.broadcasted_iota(jnp.int32, (1, 128), 1)
        row = pl.ds(i >> 7, 1)
        ref[row, :] = jnp.where(lane == (i & 127), value, ref[row, :])
''',
    "_copy": '''
def _copy(source, target):
    """An array as it starts."""
    rows = target.shape[0]
    if len(target.shape) == 1:
        def one(i, _):
            target[i] = source[i]
            return 0
        lax.fori_loop(0, rows, one, 0)
    elif isinstance(target, _Far):
        target.copy(source.ref, target.ref)
    elif rows <= 64 or rows % 32 or len(target.shape) > 2:
        target[...] = source[...]
    else:
        def chunk(c, _):
            at = pl.ds(pl.multiple_of(c * 32, 32), 32)
            target[at, :] = source[at, :]
            return 0
        lax.fori_loop(0, rows // 32, chunk, 0)
''',
    "_block": '''
def _block(kernel, numbers, tables, arrays, lists, results, scalars, scratch):
    """One kernel: arrays as rows of 128, in VMEM while they fit there, else in HBM.

    `tables` and `lists`, of single elements, lie in SMEM while they fit there, else with the arrays.
    """
    sizes = [x.shape[0] for x in arrays] + [s[0] for s, _ in [*results, *scratch]]
    elements = [x.size for x in tables] + [int(np.prod(s)) for s, _ in lists]
    fits = sum(-(-e // 1024) * 1024 for e in elements) <= 2 ** 18 - 4096
    in_vmem = [_rows(s) for s in sizes + ([] if fits else elements)]
    vmem = 4 * 128 * sum(in_vmem)
    most = _vmem() // 8 * 7
    far = vmem > (most // 8 * 7 if VMEM is None else VMEM)
    smem, block = pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec(memory_space=pl.ANY if far else pltpu.VMEM)

    def in_rows(x):
        return jnp.pad(x.reshape(-1), (0, _rows(x.size) * 128 - x.size)).reshape(-1, 128)

    def flat(x):
        return jnp.pad(x.reshape(-1), (0, max(-x.size % 128, 128 - x.size)))

    def laid_out(shape, dtype):
        return jax.ShapeDtypeStruct((_rows(int(np.prod(shape))), 128), dtype)

    def listed(shape, dtype):
        return jax.ShapeDtypeStruct((max(int(np.prod(shape)), 1),), dtype) if fits else laid_out(shape, dtype)

    spec = smem if fits else block
    ins = [smem] * len(numbers) + [spec] * len(tables) + [block] * len(arrays)
    made_arrays = [listed(*x) for x in lists] + [laid_out(*x) for x in results]
    outs = [spec] * len(lists) + [block] * len(results) + [smem] * len(scalars)
    held = [laid_out(*x) for x in scratch]
    extra = [pltpu.VMEM(x.shape, x.dtype) for x in held]
    if far:  # what would be scratch is a result that nobody looks at; each array has a window, a group of rows
        outs, extra = outs + [block] * len(held), []
        share = most // 3 // (3 * 512 * len(in_vmem))
        for x in [*([] if fits else tables), *arrays, *(x for x in made_arrays if len(x.shape) > 1), *held]:
            rows = _rows(x.shape[0]) if len(x.shape) == 1 else x.shape[0]
            size = next((s for s in (1024, 512, 256, 128, 64, 32) if rows % s == 0 and s <= max(share, 32)), rows)
            extra += [pltpu.VMEM((3, size, 128), x.dtype), pltpu.VMEM((8, 128), x.dtype), pltpu.SemaphoreType.DMA((7,))]

    def body(*refs):
        given, windows = list(refs), []
        if far:
            given, rest = given[:-len(extra)], iter(given[-len(extra):])
            given = [_Far(r, *(next(rest) for _ in range(3))) if s is block else r for r, s in zip(given, ins + outs)]
        kernel(*(r[0] for r in given[:len(numbers)]), *given[len(numbers):])

    made = pl.pallas_call(
        body, name=kernel.__name__, in_specs=ins, out_specs=outs,
        out_shape=made_arrays + [jax.ShapeDtypeStruct((1,), t) for t in scalars] + (held if far else []),
        scratch_shapes=extra,
        compiler_params=pltpu.CompilerParams(
            vmem_limit_bytes=most if far else min(max(vmem + (8 << 20), 16 << 20), _vmem())),
        interpret=_interpret())(
            *(jnp.reshape(x, (1,)) for x in numbers), *((flat if fits else in_rows)(x) for x in tables),
            *map(in_rows, arrays))
    whole = [m.reshape(-1)[:int(np.prod(s))].reshape(s) for m, (s, _) in zip(made, [*lists, *results])]
    return [*whole, *(m[0] for m in made[len(whole):len(whole) + len(scalars)])]
''',
}
