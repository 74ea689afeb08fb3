"""What a call gives, as JAX takes it: arrays, numbers, sizes."""

from __future__ import annotations

NEEDS: dict[str, tuple[str, ...]] = {}
"""What else a function calls."""

HELPERS: dict[str, str] = {
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
}
