"""Small functions that emitted modules carry with them, each only where it is used."""

from transkern.targets.rooms import NO_ROOM, begin_anew

IMPORTS = """
import functools
import numpy as np
import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

INTERPRET = None
"""

NEEDS: dict[str, tuple[str, ...]] = {
    "_grid": ("_tile", "_vmem", "_interpret", "_Block", "_is_column", "_turned", "_earlier"),
    "_tile": ("_vmem",),
    "_kept": ("_interpret",),
    "_unsigned": ("_kept",),
    "_rounded": ("_interpret",),
    "_larger": ("_interpret",),
    "_scan": ("_interpret",),
    "_running": ("_interpret", "_scan"),
    "_cumsum": ("_interpret", "_running"),
    "_cummax": ("_interpret", "_running", "_last_zeros"),
    "_cummin": ("_interpret", "_running", "_last_zeros"),
    "_smaller": ("_interpret",),
    "_quotient": ("_interpret", "_kept"),
    "_floored": ("_quotient",),
    "_max": ("_interpret",),
    "_min": ("_interpret",),
    "_begin_anew": ("_NoRoom",),
    "_over": ("_neutral", "_windows", "_Far"),
    "_wrapped": ("_truncated",),
    "_element": ("_splat",),
    "_splat": ("_Far",),
    "_set": ("_Far",),
    "_arcsin": ("_interpret",),
    "_arccos": ("_interpret",),
    "_arctan": ("_interpret",),
    "_laid_out": ("_interpret",),
    "_picked": ("_interpret",),
    "_stored": ("_interpret", "_kept"),
    "_copy": ("_Far",),
    "_block": ("VMEM", "_vmem", "_rows", "_Far", "_interpret"),
    "_by_rows": ("_Rows", "_earlier"),
    "_rolled": ("_Rows",),
    "_column": ("_interpret",),
    "_lane": ("_column", "_windows_of"),
    "_set_lane": ("_windows_of",),
    "_fits": ("_vmem",),
    "_whole": ("_vmem", "_interpret"),
}
"""What else a function calls."""

HELPERS: dict[str, str] = {
    "VMEM": '''
VMEM = None  # bytes; what takes more stays in HBM, and moves through windows in VMEM; None: as the chip has them
''',
    "_vmem": '''
def _vmem():
    """Bytes of VMEM that a core of this chip has, as JAX's table says; where kernels are interpreted, those of v5e."""
    try:
        return pltpu.get_tpu_info().vmem_capacity_bytes
    except ValueError:  # no TPU
        return 128 << 20
''',
    "_interpret": '''
def _interpret():
    """Whether kernels are interpreted: wherever the device is no TPU, unless INTERPRET says otherwise."""
    return jax.default_backend() != 'tpu' if INTERPRET is None else INTERPRET
''',
    "_kept": '''
def _kept(x):
    """`x`, of which XLA does not see how it came about: it would take x / y / z for x / (y * z), and x + 0.0 for x."""
    return lax.optimization_barrier(x) if _interpret() else x
''',
    "_NoRoom": NO_ROOM,
    "_begin_anew": begin_anew(1 << 10, 1 << 28),
    "_half": '''
def _half(x):
    """`x` as float16, rounded once: XLA goes by float32, which is rounded to an odd last bit here."""
    y = x.astype(jnp.float32)
    bits = lax.bitcast_convert_type(y, jnp.int32)
    rest = x - y.astype(jnp.float64)
    odd = jnp.where((rest > 0) == (y > 0), bits + 1, bits - 1)
    inexact = (rest != 0) & (bits & 1 == 0) & jnp.isfinite(y) & (y != 0)
    return lax.bitcast_convert_type(jnp.where(inexact, odd, bits), jnp.float32).astype(jnp.float16)
''',
    "_rounded": '''
def _rounded(product):
    """A product that is rounded before it is added to something, or a float16 before anything is done with it, as NumPy
    does; XLA's CPU code would fuse the two, unless the condition is one that no compiler knows to hold: b * (b - 1) is
    even for all bits b. (That a product of integers is never NaN is known.)"""
    if not _interpret():
        return product
    if jnp.iscomplexobj(product):
        return lax.complex(_rounded(product.real), _rounded(product.imag))
    bits = lax.bitcast_convert_type(product, f'int{8 * product.dtype.itemsize}')
    return jnp.where(bits * (bits - 1) != 1, product, jnp.nan)
''',
    "_quotient": '''
def _quotient(a, b):
    """a / b, rounded once: XLA would multiply by the reciprocal of what it knows, or divides a whole array by."""
    return a / _kept(jnp.broadcast_to(b, jnp.broadcast_shapes(jnp.shape(a), jnp.shape(b)))) if _interpret() else a / b
''',
    "_modulo": '''
def _modulo(a, b):
    """a % b of floats, with NumPy's signs: a zero has the sign of b."""
    rest = jnp.fmod(a, b)
    zero = jnp.where(b == 0, jnp.nan, jnp.where(b < 0, -0.0, 0.0)).astype(rest.dtype)
    return jnp.where(rest == 0, zero, jnp.where((rest < 0) != (b < 0), rest + b, rest))
''',
    "_floored": '''
def _floored(a, b):
    """a // b of floats, in NumPy's steps: exact quotients stay, a zero has the sign of a / b."""
    rest = jnp.fmod(a, b)
    whole = _quotient(a - rest, b)
    whole = jnp.where((rest != 0) & ((rest < 0) != (b < 0)), whole - 1, whole)
    floor = jnp.floor(whole)
    floor = jnp.where(whole - floor > 0.5, floor + 1, floor)
    ratio = _quotient(a, b)
    return jnp.where(b == 0, ratio, jnp.where(whole == 0, jnp.copysign(jnp.zeros_like(ratio), ratio), floor))
''',
    "_max": '''
def _max(x, **over):
    """The largest, or NaN where there is one: XLA's reductions on CPUs lose it."""
    largest = jnp.max(x, **over)
    over.pop('initial', None)
    return jnp.where(jnp.any(x != x, **over), jnp.nan, largest) if _interpret() else largest
''',
    "_min": '''
def _min(x, **over):
    """The smallest, or NaN where there is one: XLA's reductions on CPUs lose it."""
    smallest = jnp.min(x, **over)
    over.pop('initial', None)
    return jnp.where(jnp.any(x != x, **over), jnp.nan, smallest) if _interpret() else smallest
''',
    "_scan": '''
def _scan(x, axis, op):
    """Running sums and the like: one kernel over blocks, which hands on where it stands (of a million numbers in a row
    XLA's own takes minutes to compile)."""
    combine, start = {'sum': (jnp.add, 0), 'prod': (jnp.multiply, 1), 'max': (jnp.maximum, None),
                      'min': (jnp.minimum, None)}[op]
    if start is None:
        kind = jnp.finfo(x.dtype) if jnp.issubdtype(x.dtype, jnp.floating) else jnp.iinfo(x.dtype)
        start = kind.min if op == 'max' else kind.max
        if jnp.issubdtype(x.dtype, jnp.floating):
            start = -np.inf if op == 'max' else np.inf
    given, size = x.shape, x.shape[axis]
    before, behind = int(np.prod(given[:axis])), int(np.prod(given[axis + 1:]))
    line = before == behind == 1  # rows of 128 one behind the other
    across = behind > 1
    x = x.reshape((before, size, behind) if across else (1, 1, size) if line else (1, before, size))
    if line:
        x = jnp.pad(x.reshape(-1), (0, -size % 1024), constant_values=start).reshape(1, -1, 128)
    depth, rows, columns = x.shape
    height = min(512 if line or across else 256, -(-rows // 8) * 8)
    width = 128

    def fold(v, at, axis):
        step = 1
        while step < v.shape[axis]:
            v = jnp.where(at >= step, combine(v, pltpu.roll(v, step, axis)), v)
            step *= 2
        return v

    def kernel(ref, out, so_far):
        @pl.when(pl.program_id(2) == 0)
        def _():
            so_far[...] = jnp.full((height, width), start, x.dtype)
        row, lane = (lax.broadcasted_iota(jnp.int32, (height, width), k) for k in (0, 1))
        v = ref[0]
        if across:  # the ends of arrays may be cut: what is there stands behind all that counts
            v = combine(fold(v, row, 0), so_far[...])
            so_far[...] = jnp.broadcast_to(v[height - 1:height, :], (height, width))
        else:
            v = fold(v, lane, 1)
            if line:
                ends = fold(jnp.broadcast_to(v[:, width - 1:width], (height, width)), row, 0)
                first = combine(so_far[...], jnp.where(row >= 1, pltpu.roll(ends, 1, 0), start))
                so_far[...] = combine(so_far[...], jnp.broadcast_to(ends[height - 1:height, :], (height, width)))
            else:
                first = so_far[...]
                so_far[...] = combine(first, jnp.broadcast_to(v[:, width - 1:width], (height, width)))
            v = combine(first, v)
        out[0] = v

    down = across or line
    spec = pl.BlockSpec((1, height, width), (lambda a, b, c: (a, c, b)) if down else (lambda a, b, c: (a, b, c)))
    blocks = pl.cdiv(rows, height), pl.cdiv(columns, width)
    made = pl.pallas_call(
        kernel, grid=(depth, *(blocks[::-1] if down else blocks)), in_specs=[spec], out_specs=spec, name=f'cum{op}',
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), scratch_shapes=[pltpu.VMEM((height, width), x.dtype)],
        interpret=_interpret())(x)
    return (made.reshape(-1)[:size] if line else made).reshape(given)
''',
    "_running": '''
def _running(x, axis, op):
    """Running sums and the like of `op`."""
    if _interpret() or x.dtype not in (jnp.float32, jnp.int32) or 0 in x.shape:
        return {'sum': lax.cumsum, 'prod': lax.cumprod, 'max': lax.cummax, 'min': lax.cummin}[op](x, axis=axis)
    return _scan(x, axis, op)
''',
    "_cumsum": '''
def _cumsum(x, axis, dtype):
    """Running sums; what begins with zeros of negative sign keeps them, which XLA adds up to 0.0."""
    x = x.astype(dtype)
    if not _interpret():
        return _running(x, axis, 'sum')
    negative = lax.cummin(((x == 0) & jnp.signbit(x)).astype(jnp.int32), axis=axis)
    return jnp.where(negative == 1, x, lax.cumsum(x, axis=axis))
''',
    "_reciprocal": '''
def _reciprocal(x):
    """1 // x of integers; of 0, what C's cast makes of an infinity."""
    least = jnp.iinfo(x.dtype).min if x.dtype.itemsize > 2 else 0
    return jnp.where(x == 0, least, jnp.where((x == 1) | (x < 0) & (x == ~jnp.zeros_like(x)), x, 0)).astype(x.dtype)
''',
    "_larger": '''
def _larger(a, b):
    """np.maximum: of two zeros the second, on a TPU 0.0."""
    return jnp.where((a > b) | (a != a), a, b) if _interpret() else jnp.maximum(a, b)
''',
    "_smaller": '''
def _smaller(a, b):
    """np.minimum: of two zeros the second, on a TPU -0.0."""
    return jnp.where((a < b) | (a != a), a, b) if _interpret() else jnp.minimum(a, b)
''',
    "_cummax": '''
def _cummax(x, axis, dtype):
    """np.maximum.accumulate: of zeros the last."""
    x = x.astype(dtype)
    return _last_zeros(lax.cummax(x, axis=axis), x, axis) if _interpret() else _running(x, axis, 'max')
''',
    "_cummin": '''
def _cummin(x, axis, dtype):
    """np.minimum.accumulate: of zeros the last."""
    x = x.astype(dtype)
    return _last_zeros(lax.cummin(x, axis=axis), x, axis) if _interpret() else _running(x, axis, 'min')
''',
    "_last_zeros": '''
def _last_zeros(running, x, axis):
    """Running extremes of x, where these are zeros with the sign of the last zero before."""
    at = 2 * lax.broadcasted_iota(jnp.int32, x.shape, axis) + jnp.signbit(x)
    last = lax.cummax(jnp.where(x == 0, at, -1), axis=axis)
    return jnp.where(running == 0, jnp.where(last % 2 == 1, -0.0, 0.0).astype(x.dtype), running)
''',
    "_unsigned": '''
def _unsigned(x):
    """x with 0.0 for -0.0, as a sum with 0.0 has it."""
    return _kept(jnp.where(x == 0, jnp.zeros_like(x), x))
''',
    "_truncated": '''
def _truncated(x, dtype):
    """A float as an integer; what that does not hold is the least one, as C has it; XLA would take the nearest one."""
    least = float(jnp.iinfo(dtype).min)
    return jnp.where((x >= least) & (x < -least), x, least).astype(dtype)
''',
    "_wrapped": '''
def _wrapped(x, dtype):
    """A float as an integer of few bits or without sign, which wraps as C's does; XLA would cut it to the range."""
    x, bits = jnp.asarray(x), jnp.iinfo(dtype).bits
    signed = jnp.int32 if bits < 32 else jax.dtypes.canonicalize_dtype(jnp.int64)
    wrapped = _truncated(x, signed).astype(dtype)
    if bits < jnp.iinfo(signed).bits:
        return wrapped
    return jnp.where(x >= 2.0 ** (bits - 1), jnp.where(x < 2.0 ** bits, x, 0).astype(dtype), wrapped)
''',
    "_array": '''
def _array(of, value, dtype, dims):
    """`value` as a JAX array; TypeError where it is not what this module was made for."""
    found = jax.dtypes.canonicalize_dtype(value.dtype if hasattr(value, 'dtype') else jnp.result_type(value))
    if np.ndim(value) != dims or found != jax.dtypes.canonicalize_dtype(dtype):
        raise TypeError(f'{of}: expected a {dtype} array with {dims} dimensions, got {found} with {np.ndim(value)}')
    return jax.device_put(value, may_alias=False) if isinstance(value, np.ndarray) else jnp.asarray(value)
''',
    "_check_number": '''
def _check_number(of, value, kind):
    """TypeError where a number is not of the type that this module was made for; JAX's are told by their kinds."""
    kinds = {int: jnp.integer, bool: jnp.bool_, float: jnp.floating, complex: jnp.complexfloating}
    wanted = kinds[kind] if kind in kinds else jax.dtypes.canonicalize_dtype(kind)
    if not (isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, wanted)) and type(value) is not kind:
        raise TypeError(f'{of}: expected {kind.__name__}, got {type(value).__name__}')
''',
    "_index_array": '''
def _index_array(of, value, dims):
    """An array of positions as int32; OverflowError where one does not fit."""
    if np.ndim(value) != dims or not jnp.issubdtype(jnp.result_type(value), jnp.integer):
        raise TypeError(f'{of}: expected an integer array with {dims} dimensions')
    if isinstance(value, np.ndarray) and value.size and (value.max() > 0x7fffffff or value.min() < -0x80000000):
        raise OverflowError(f'{of}: an index beyond 32 bits')
    return jnp.asarray(value, dtype=jnp.int32)
''',
    "_module": '''
def _module(*scalars):
    """NumPy for plain numbers, jax.numpy while JAX traces them."""
    return jnp if any(isinstance(s, jax.Array) for s in scalars) else np
''',
    "_may_hold": '''
def _may_hold(condition):
    """Whether a condition holds, or is open because JAX traces what it depends on."""
    return isinstance(condition, jax.core.Tracer) or bool(condition)
''',
    "_limit": '''
def _limit(value, kind):
    """A number that is only compared with positions, cut to the bits of `kind`."""
    return value if isinstance(value, jax.Array) else kind(min(max(value, np.iinfo(kind).min), np.iinfo(kind).max))
''',
    "_int": '''
def _int(x):
    """int(x); of what has no such integer 0, which is not used: a check raises, where the place is reached."""
    if isinstance(x, jax.Array):
        return x.astype(jax.dtypes.canonicalize_dtype(jnp.int64))
    if not isinstance(x, (int, np.integer)) and not abs(x) < 2.0 ** 63:
        return 0
    return int(x) if -2 ** 63 <= int(x) < 2 ** 63 else 0
''',
    "_countable": '''
def _countable(*bounds):
    """OverflowError where Python's integers may come to need more than 32 bits."""
    if any(not isinstance(x, jax.Array) and x >= 2 ** 31 for x in bounds):
        raise OverflowError('an index beyond 32 bits')
''',
    "_divided": '''
def _divided(a, b, whole):
    """a // b or a % b; by 0 it is 0, which is not used: a check raises, where the place is reached."""
    if not isinstance(b, jax.Array) and b == 0:
        return 0
    return a // b if whole else a % b
''',
    "_integer": '''
def _integer(value, kind):
    """A Python integer as an index; OverflowError where it has more bits than `kind`."""
    if isinstance(value, jax.Array):
        return value
    if not np.iinfo(kind).min <= value <= np.iinfo(kind).max:
        raise OverflowError(f'an index beyond {np.iinfo(kind).bits} bits')
    return kind(value)
''',
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
    if below or above:
        inner = array[(slice(None),) * axis + (slice(0, 0),)]
        if below + above < len(places):
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
    tile = _tile(extents, tiled, len(operands) + len(results))
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
            ref[...] = jnp.swapaxes(value, -1, -2) if column else value
        for ref, value, (_, _, op) in zip(refs[first + len(arrays):], values[len(arrays):], results[len(arrays):]):
            start = functools.reduce(lambda a, b: a & b, [a == 0 for a in at])
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
        compiler_params=pltpu.CompilerParams(vmem_limit_bytes=max(_vmem() // 2, 16 << 20)),
        interpret=_interpret())(
            *(jnp.reshape(s, (1,)) for s in scalars),
            *(x.reshape(_turned(x.shape)) if c else x for x, c in zip(operands, turned)))
    shaped = [m.reshape(r[0]) for m, r in zip(made, arrays)]
    return [*shaped, *(m[0] for m in made[len(arrays):])]
''',
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
    "_rolled": '''
def _rolled(ref, down, across, rows):
    """All columns of some `rows`, or of all, of an array whose dimensions turn by so much."""
    height, width = ref.shape
    down, across = down % height, across % width

    def columns(x):
        return jnp.concatenate([x[:, across:], x[:, :across]], 1) if across else x

    if rows is None:
        rows = _Rows(0, height, 0)
    if not isinstance(rows.first, int):  # neither the first nor the last
        return columns(rows.read(ref, down if down <= height // 2 else down - height, (slice(None),)))
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


def needed(used: set[str]) -> list[str]:
    """The used helpers and what they call, in the order of the table."""
    todo = list(used)
    found: set[str] = set()
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += NEEDS.get(one, ())
    return [h for h in HELPERS if h in found]
