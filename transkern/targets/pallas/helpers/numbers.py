"""Numbers with NumPy's bits and signs on JAX: rounding, extremes, running sums, conversions; what a chip has."""

from __future__ import annotations

from transkern.targets.rooms import NO_ROOM, begin_anew

NEEDS: dict[str, tuple[str, ...]] = {
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
    "_wrapped": ("_truncated",),
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
    "_has_bytes": '''
def _has_bytes():
    """Whether this chip stores parts of registers of 8 and 16 bits; v4 does not."""
    try:
        return pltpu.get_tpu_info().generation >= 5
    except ValueError:  # no TPU
        return True
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
        compiler_params=pltpu.CompilerParams(allow_input_fusion=[True]), interpret=_interpret())(x)
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
    "_floor_divided": '''
def _floor_divided(x, y):
    """x // y of integers in words that a kernel has; by 0 it is 0."""
    kind = jnp.result_type(x, y)
    x, y = jnp.broadcast_arrays(jnp.asarray(x, kind), jnp.asarray(y, kind))
    by = jnp.where(y == 0, 1, y)
    whole = lax.div(x, by)
    if jnp.issubdtype(kind, jnp.signedinteger):
        whole = jnp.where(((x ^ by) < 0) & (whole * by != x), whole - 1, whole)
    return jnp.where(y == 0, 0, whole)
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
}
