"""What runs loops over arrays as they are in VMEM, pass by pass."""

from __future__ import annotations

NEEDS: dict[str, tuple[str, ...]] = {
    "_by_rows": ("_Rows", "_earlier"),
    "_rolled": ("_Rows", "_moved"),
    "_column": ("_interpret",),
    "_lane": ("_column", "_windows_of"),
    "_set_lane": ("_windows_of",),
    "_fits": ("_vmem",),
    "_whole": ("_vmem", "_interpret"),
}
"""What else a function calls."""

HELPERS: dict[str, str] = {
    "_column": '''
def _column(block, j):
    """Lane j of each row, as a column; j moves as the kernel runs, and beyond the lanes nothing is found."""
    least = -jnp.inf if jnp.issubdtype(block.dtype, jnp.floating) else jnp.iinfo(block.dtype).min
    lane = lax.broadcasted_iota(jnp.int32, block.shape, block.ndim - 1)
    if _interpret():  # where reductions lose what is no number
        found = lax.dynamic_slice_in_dim(block, jnp.clip(j, 0, block.shape[-1] - 1), 1, block.ndim - 1)
        return jnp.where((j >= 0) & (j < block.shape[-1]), found, jnp.asarray(least, block.dtype))
    return jnp.max(jnp.where(lane == j, block, least), axis=-1, keepdims=True)
''',
    "_windows_of": '''
def _windows_of(width, at, j):
    """The 128 lanes around lane j, and what lanes are left at the end: where they begin, and their slices; all of them
    of a row that moves, too."""
    if not all(isinstance(x, slice) for x in at):
        return [(0, slice(0, width))]
    whole = width // 128 * 128
    found = []
    if whole:
        first = pl.multiple_of((jnp.minimum(j, whole - 1) >> 7) << 7, 128)
        found.append((first, pl.ds(first, 128)))
    return found + [(whole, slice(whole, width))] if width > whole else found
''',
    "_lane": '''
def _lane(ref, at, j):
    """Lane j of rows, as a column; j moves as the kernel runs."""
    found = [_column(ref[(*at, lanes)], j - first) for first, lanes in _windows_of(ref.shape[-1], at, j)]
    return functools.reduce(jnp.maximum, found)
''',
    "_set_lane": '''
def _set_lane(ref, at, j, value, keep):
    """Store a column to lane j of rows, where `keep` holds; j moves as the kernel runs."""
    for first, lanes in _windows_of(ref.shape[-1], at, j):
        old = ref[(*at, lanes)]
        here = lax.broadcasted_iota(jnp.int32, old.shape, old.ndim - 1) == j - first
        ref[(*at, lanes)] = jnp.where(here if keep is None else here & keep, value, old)
''',
    "_filled": '''
def _filled(ref, value):
    """One number in all of an array."""
    rows, columns = ref.shape
    height = max(32 // -(-columns // 128), 1) * 8

    def some(c, _):
        ref[pl.ds(pl.multiple_of(c * height, 8), height), :] = jnp.broadcast_to(value, (height, columns))
        return 0
    if rows >= height:
        lax.fori_loop(0, rows // height, some, 0)
    if rows % height:
        ref[rows // height * height:, :] = jnp.broadcast_to(value, (rows % height, columns))
''',
    "_fits": '''
def _fits(arrays, elements, work, unrolled):
    """Whether a kernel can hold its arrays in VMEM and SMEM, and each of its passes is short enough to be unrolled."""
    def words(*shape):
        return int(np.prod(shape[:-2])) * (-(-shape[-2] // 8) * 8) * (-(-shape[-1] // 128) * 128)

    vmem = sum(4 * words(1, *s) for s in arrays)
    smem = sum(-(-int(np.prod(s)) // 1024) * 1024 for s in elements)
    return (vmem <= _vmem() // 16 * 11 and smem <= 2 ** 18 - 4096 and all(words(1, *w) <= 2 ** 18 for w in work)
            and all(min(s) > 0 for s in [*arrays, *elements, *work]) and all(len(range(*u)) <= 64 for u in unrolled))
''',
    "_Rows": '''
class _Rows:
    """Some rows of a pass, from its `first` on. In an array that begins `origin` rows before the pass does, that is a
    multiple of eight, unless Python knows it: the compiler wants to see where a row of registers begins."""

    def __init__(self, first, count, origin):
        self.first, self.count, self.origin = first, count, origin

    def place(self, offset, count):
        if isinstance(self.first, int):
            return pl.ds(self.first + offset, count)
        return pl.ds(pl.multiple_of(self.first + self.origin, 8) + (offset - self.origin), count)

    def read(self, ref, offset, at):
        """The rows of `ref` that begin `offset` rows further; `at` says where in its other dimensions."""
        rest = 0 if isinstance(self.first, int) else (offset - self.origin) % 8
        if not rest:
            return ref[(*at[:-1], self.place(offset, self.count), at[-1])]
        more = ref[(*at[:-1], self.place(offset - rest, self.count + 8), at[-1])]
        return more[..., rest:rest + self.count, :]

    def write(self, ref, offset, at, value):
        ref[(*at[:-1], self.place(offset, self.count), at[-1])] = value
''',
    "_moved": '''
def _moved(x, shift, ends, axis=-1):
    """The elements along an axis that stand `shift` further; behind its end, the last one, or it begins anew."""
    axis %= x.ndim
    width = x.shape[axis]
    if not width:
        return x

    def part(start, stop):
        return lax.slice_in_dim(x, start, stop, axis=axis)

    if not ends:
        shift %= width
        if not isinstance(shift, int):
            return lax.dynamic_slice_in_dim(jnp.concatenate([x, x], axis), shift, width, axis)
        return jnp.concatenate([part(shift, width), part(0, shift)], axis) if shift else x
    shift = max(min(shift, width), -width)
    if not shift:
        return x
    end = part(width - 1, width) if shift > 0 else part(0, 1)
    end = jnp.broadcast_to(end, (*x.shape[:axis], abs(shift), *x.shape[axis + 1:]))
    if abs(shift) == width:
        return end
    return jnp.concatenate([part(shift, width), end] if shift > 0 else [end, part(0, width + shift)], axis)
''',
    "_rolled": '''
def _rolled(ref, down, across, rows, ends=(False, False)):
    """All columns of some `rows`, or of all, of an array whose dimensions turn by so much, or are moved and end."""
    height, width = ref.shape
    down, across = down if ends[0] else down % height, across if ends[1] else across % width

    def columns(x):
        if ends[1]:
            return _moved(x, across, True)
        return jnp.concatenate([x[:, across:], x[:, :across]], 1) if across else x

    if rows is None:
        rows = _Rows(0, height, 0)
    if not isinstance(rows.first, int):  # neither the first nor the last
        return columns(rows.read(ref, down if ends[0] or down <= height // 2 else down - height, (slice(None),)))
    if ends[0]:
        begin, end = rows.first + down, rows.first + down + rows.count
        first, last = min(max(begin, 0), height), min(max(end, 0), height)
        before, behind = min(max(-begin, 0), rows.count), min(max(end - height, 0), rows.count)
        parts = [jnp.broadcast_to(ref[0:1, :], (before, width))] if before else []
        parts += [ref[first:last, :]] if last > first else []
        parts += [jnp.broadcast_to(ref[height - 1:height, :], (behind, width))] if behind else []
        return columns(jnp.concatenate(parts, 0) if len(parts) > 1 else parts[0])
    begin = (rows.first + down) % height
    more = begin + rows.count - height
    if more <= 0:
        return columns(ref[begin:begin + rows.count, :])
    return columns(jnp.concatenate([ref[begin:, :], ref[:more, :]], 0))
''',
    "_by_rows": '''
def _by_rows(body, rows, widths, origin, kinds):
    """`body` over all rows, as many at a time as make 32 registers; what it returns of each part, folded by `kinds`."""
    height = max(32 // max(*(-(-w // 128) for w in widths), 1), 1) * 8
    begin = -origin % 8 + height  # the first rows and the last are known to Python: reads may turn to the other end,
    times = (rows - begin - 8) // height - 1  # and what is left at the end is more than they reach beyond their rows
    if times < 1:
        return body(_Rows(0, rows, origin))
    folds = [{'max': jnp.maximum, 'last': jnp.maximum, 'min': jnp.minimum, 'first': _earlier}.get(k, jnp.add)
             for k in kinds]

    def folded(so_far, part):
        return tuple(f(s, p) for f, s, p in zip(folds, so_far, part or ()))

    def some(c, so_far):
        return folded(so_far, body(_Rows(begin + c * height, height, origin)))
    so_far = lax.fori_loop(0, times, some, tuple(body(_Rows(0, begin, origin)) or ()))
    return folded(so_far, body(_Rows(begin + times * height, rows - begin - times * height, origin)))
''',
    "_whole": '''
def _whole(kernel, numbers, tables, arrays, lists, results, scalars, scratch):
    """One kernel with whole arrays in VMEM, and arrays of which it uses single elements flat in SMEM."""
    smem, block = pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec(memory_space=pltpu.VMEM)

    def laid_out(shape):
        return (1, *shape) if len(shape) == 1 else tuple(shape)

    def body(*refs):
        kernel(*(r[0] for r in refs[:len(numbers)]), *refs[len(numbers):])

    made = pl.pallas_call(
        body, name=kernel.__name__,
        in_specs=[smem] * (len(numbers) + len(tables)) + [block] * len(arrays),
        out_specs=[smem] * len(lists) + [block] * len(results) + [smem] * len(scalars),
        out_shape=[jax.ShapeDtypeStruct((int(np.prod(s)),), t) for s, t in lists]
        + [jax.ShapeDtypeStruct(laid_out(s), t) for s, t in results] + [jax.ShapeDtypeStruct((1,), t) for t in scalars],
        scratch_shapes=[pltpu.VMEM(laid_out(s), t) for s, t in scratch],
        compiler_params=pltpu.CompilerParams(vmem_limit_bytes=_vmem() // 8 * 7),
        interpret=_interpret())(
            *(jnp.reshape(x, (1,)) for x in numbers), *(x.reshape(-1) for x in tables),
            *(x.reshape(laid_out(x.shape)) for x in arrays))
    shaped = [m.reshape(s) for m, (s, _) in zip(made, [*lists, *results])]
    return [*shaped, *(m[0] for m in made[len(shaped):])]
''',
}
