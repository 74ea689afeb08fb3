"""The pieces of Python that launchers stand on; a launcher gets those that it uses."""

from __future__ import annotations

from collections.abc import Iterable

from transkern.errors import CHANGES
from transkern.ir.nodes import RESERVED
from transkern.targets.cuda.launches import COLUMNS, DOWN, MANY_STEPS, SHORT_ROWS, TILED, Launch
from transkern.targets.cuda.prelude import MOST_SHARED, SHARING
from transkern.targets.rooms import begin_anew

BLOCK = 1024  # threads of a block that works alone, at most, and of each block of a cooperative grid
ROOM = 1 << 14  # elements of a list without a bound, at first; of one of arrays, fewer
SHARED_FROM = 131_072  # threads with which a device is busy: points of which there are fewer share them
ROWS_FILL = 524_288  # threads of all rows that are more than a device has at a time
TOUCHED = 20  # bytes that a position asks memory for, or fewer: one multiprocessor gets 64 a cycle
GRID_FROM = 32_768  # positions from which a cooperative grid, with its dearer barriers, beats one block

OPTIONS = '_OPTIONS = ("--std=c++17", "--fmad=false")  # no fused products: they would round differently from NumPy'
FAST_OPTIONS = '_OPTIONS = ("--std=c++17", "--fmad=true")  # asked for with `fastmath`'

MODULE = (
    "",
    "",
    "@functools.cache",
    "def _kernel(name, cooperative=False):",
    "    return _module(cooperative).get_function(name)",
    "",
    "",
    "@functools.cache",
    "def _module(cooperative):",
    '    return cp.RawModule(code=_CODE, backend="nvrtc", options=_OPTIONS, enable_cooperative_groups=cooperative)',
)

_HELPERS = {
    "_check_array": """
def _check_array(name, x, dtype, ndim):
    if not isinstance(x, (np.ndarray, cp.ndarray)):
        raise TypeError(f"{name} is a {type(x).__name__}; an array is needed")
    if x.dtype != dtype or x.ndim != ndim:
        raise TypeError(
            f"{name} is an array of {x.dtype} with {x.ndim} dimensions; this code is for {np.dtype(dtype)} with {ndim}"
        )
""",
    "_check_number": """
def _check_number(name, x, kind):
    if type(x) is not kind:
        raise TypeError(f"{name} is of type {type(x).__name__}; this code is for {kind.__name__}")
    if kind is int and not -(2**63) <= x < 2**63:
        raise OverflowError(f"{name} = {x} does not fit 64 bits")
""",
    "_check_constant": """
def _check_constant(name, x, value):
    if type(x) is not type(value) or repr(x) != repr(value):  # NaN is not equal to itself, and 0.0 to -0.0
        raise TypeError(f"{name} is {x!r}; this code is for {value!r}")
""",
    "_check_size": """
def _check_size(name, x, axis, size):
    if x.shape[axis] != size:
        raise TypeError(f"axis {axis} of {name} has size {x.shape[axis]}; this code is for {size} here")
""",
    "_check_written": """
def _check_written(name, x, *others):
    if isinstance(x, np.ndarray) and not x.flags.writeable:
        raise ValueError("assignment destination is read-only")
    for other in others:
        if isinstance(other, type(x)) and (np if isinstance(x, np.ndarray) else cp).may_share_memory(x, other):
            raise ValueError(f"{name} is written and shares memory with another argument: pass a copy of one")
""",
    "_parts": '''
def _parts(x):
    """Complex numbers as floats, with the parts along a last axis."""
    if x.flags.c_contiguous:
        return x.reshape(-1).view(x.real.dtype).reshape(*x.shape, 2)
    return cp.stack((x.real, x.imag), axis=-1)
''',
    "_whole": '''
def _whole(x, dtype):
    """Floats with the parts along a last axis as complex numbers."""
    return cp.ascontiguousarray(x).view(dtype).reshape(x.shape[:-1])
''',
    "_device_of": '''
def _device_of(*arrays):
    """The device of the arguments, as a context."""
    for x in arrays:
        if isinstance(x, cp.ndarray):
            return x.device
    return cp.cuda.Device()
''',
    "_give_back": '''
def _give_back(given, x):
    """Copies what the kernels wrote into the caller's array, where that is another one (None: to nobody)."""
    if given is not None and x is not given:
        given[...] = x.get() if isinstance(given, np.ndarray) and not isinstance(given, cp.ndarray) else x
''',
    "_result": """
def _result(x, on_host, empty_dtype=None):
    if empty_dtype is not None and x.size == 0:
        x = x.astype(empty_dtype)
    return x.get() if on_host else x
""",
    "_view": '''
def _view(x, offset, shape, steps, **how):
    """The view of `x` from element `offset`; along its axis k it goes by `steps[k]` in `x`."""
    module, how = (cp, {}) if isinstance(x, cp.ndarray) else (np, how)
    strides = tuple(sum(s * by for s, by in zip(x.strides, step)) for step in steps)
    start = x[(..., *(slice(o, None) for o in offset))]
    return module.lib.stride_tricks.as_strided(start, shape, strides, **how)
''',
    "_begin_anew": begin_anew(ROOM, RESERVED),
    "_multiprocessors": """
@functools.cache
def _multiprocessors():
    return cp.cuda.Device().attributes["MultiProcessorCount"]
""",
    "_elements": '''
def _elements(count, each):
    """Blocks and threads for `count` elements, `each` for a thread at a time; large arrays are walked in strides."""
    return max(1, min(-(-count // (256 * each)), 32 * _multiprocessors())), 256
''',
    "_columns": f'''
def _columns(count, rows, columns):
    """As for elements of `count` tables, and how many rows of a column a thread goes down: one where neighbours would
    not have columns of one row, and few where there are not enough columns for all multiprocessors."""
    filled = count * rows * columns // (1024 * _multiprocessors())
    down = 1 << max(1, min({DOWN}, filled)).bit_length() - 1 if columns >= {COLUMNS} else 1
    return *_elements(count * -(-rows // down) * columns, 1), down
''',
    "_steps": '''
def _steps(count):
    """As for elements, of which each takes many steps: few of them are spread over all multiprocessors, down to as many
    in a block as share what memory gives at once."""
    threads = 256
    while threads > 4 and count <= threads // 2 * _multiprocessors():
        threads //= 2
    return max(1, min(-(-count // threads), 32 * _multiprocessors())), threads
''',
    "_binned": '''
def _binned(count):
    """As for elements, with few blocks: each adds to an array what it has counted by itself."""
    most = max(8 * _multiprocessors(), min(-(-count // 4096), 32 * _multiprocessors()))
    return max(1, min(-(-count // 256), most)), 256
''',
    "_reduced": '''
def _reduced(count, each):
    """As for elements, with few blocks, each of which leaves a part that the last one combines: as many as are resident
    at a time, and `each` element of a thread only where there are enough for all multiprocessors."""
    blocks = max(-(-count // (256 * each)), min(-(-count // 256), _multiprocessors()))
    return max(1, min(blocks, 4 * _multiprocessors())), 256
''',
    "_kept": '''
@functools.lru_cache(64)
def _zeros(device, stream, thread, count, dtype):
    return cp.zeros(count, dtype)


def _kept(count, dtype):
    """Memory in which the blocks of kernel after kernel count each other: they leave it at zero. A stream has its own,
    and a thread, as the streams of several may have one name; so has a graph, which runs on any stream."""
    stream = cp.cuda.get_current_stream()
    if stream.is_capturing():
        return cp.zeros(count, dtype)
    return _zeros(cp.cuda.Device().id, stream, threading.get_ident(), count, dtype)
''',
    "_arrived": '''
def _arrived():
    """Where blocks count which of them ends last."""
    return _kept(1, np.uint32)
''',
    "_spread": '''
def _spread(*counts):
    """Blocks and threads for loops of up to so many iterations: a power of two of blocks."""
    wanted = min(-(-max(counts) // 256), 32 * _multiprocessors())
    return 1 << (max(1, wanted) - 1).bit_length(), 256
''',
    "_blocks_of": f'''
def _blocks_of(blocks, steps):
    """How many blocks do the work of one, where there are so few, and each thread takes so many steps."""
    several = 1
    if steps >= {MANY_STEPS}:
        while 2 * several * blocks <= _multiprocessors() and {MANY_STEPS // 4} * several <= steps:
            several *= 2
    return several
''',
    "_sharing": f'''
def _sharing(points, length, along=False):
    """Blocks, threads, how many of these share a point whose reductions are so long, in how many blocks, and what these
    need to meet. `along`: a point's elements are neighbours in memory; else those of eight points are."""
    parts = 1
    if along and length >= {SHORT_ROWS}:
        parts = {SHARING}
    while parts < 64 and points * parts < {SHARED_FROM} and 4 * parts <= length:
        parts *= 2
    if parts == 64 and points * parts <= {SHARED_FROM // 4} and 32 * parts <= length:
        parts = 128  # few long ones, of which a block has eight in any case: neighbours in memory
        while parts < {SHARING} and points * parts <= {SHARING // 2}:
            parts *= 2
    threads = min({SHARING}, max(256, 8 * parts))
    blocks = max(1, min(-(-points * parts // threads), 32 * _multiprocessors()))
    several = _blocks_of(blocks, length // parts) if threads == {SHARING} else 1
    if several == 1:
        return blocks, threads, np.int32(parts), np.int32(1), _nothing()
    memory = _kept({8 * MOST_SHARED} + 256 * _multiprocessors(), np.uint8)  # 32 * k, which no grid's has
    return blocks * several, threads, np.int32(parts), np.int32(several), memory
''',
    "_rows": f'''
def _rows(rows, width, each=1):
    """A block for each row, with a thread for each element, or for `each` of them, within limits: fewer where there are
    so many rows that a device is busy anyway."""
    threads = _together(-(-width // each))
    if each > 1:
        threads = min({TILED}, threads)
    else:
        while threads > 64 and rows * threads > {ROWS_FILL}:
            threads //= 2
    return max(1, min(rows, 32 * _multiprocessors())), threads
''',
    "_together": f'''
def _together(*counts):
    """A power of two of threads for one block that works on up to so many positions at a time."""
    return min({BLOCK}, max(32, 1 << (max(counts) - 1).bit_length()))
''',
    "_nothing": """
@functools.cache
def _nothing():
    return cp.empty(0, np.uint8)
""",
    "_group": f'''
_GRID_FROM = {GRID_FROM}  # positions from which a cooperative grid, with its dearer barriers, beats one block


def _group(*counts, rarely=False, touched={TOUCHED}):
    """Blocks and threads that work together on up to so many positions, for each of which `touched` bytes are asked of
    memory, and what the blocks need to meet, `rarely` or in each step."""
    if max(counts) * touched < {TOUCHED} * (_GRID_FROM // 8 if rarely else _GRID_FROM):
        return 1, _together(*counts), _nothing()
    blocks = 1 << (min({BLOCK}, _multiprocessors()).bit_length() - 1)
    return blocks, {BLOCK}, _kept(16 + 32 * blocks, np.uint8)
''',
    "_raise_failed": '''
def _raise_failed(errors):
    """Raises what a check in a kernel found first."""
    for code, *numbers in errors.get().tolist():
        if code:
            kind, message, *types = _ERRORS[code]
            raise kind(message.format(*map(_shown, types, numbers)))
''',
    "_raise_changed": f'''
def _raise_changed(errors):
    """Raises what a check in a kernel found first, with what goes into the arguments before it is seen."""
    for code, *numbers in errors.get().tolist():
        if code:
            kind, message, *types = _ERRORS[code]
            told = [*map(_shown, types, numbers)]
            found = kind(message.format(*told))
            if code in _CHANGES:
                found.{CHANGES} = _CHANGES[code](*told)
            raise found
''',
    "_shown": '''
def _shown(is_a, bits):
    """A message's number, which comes as an integer of 64 bits."""
    if is_a is np.uint64:
        return bits % 2**64
    return is_a(np.int64(bits).view(np.float64) if issubclass(is_a, (float, np.floating)) else bits)
''',
}

_NEEDS = {
    "_steps": ("_multiprocessors",), "_columns": ("_multiprocessors", "_elements"),
    "_elements": ("_multiprocessors",), "_binned": ("_multiprocessors",), "_reduced": ("_multiprocessors",),
    "_rows": ("_multiprocessors", "_together"),
    "_group": ("_multiprocessors", "_together", "_kept", "_nothing"), "_blocks_of": ("_multiprocessors",),
    "_arrived": ("_kept",), "_spread": ("_multiprocessors",),
    "_sharing": ("_multiprocessors", "_blocks_of", "_kept", "_nothing"),
    "_raise_failed": ("_shown",), "_raise_changed": ("_shown",),
}  # fmt: skip


def how_often(launch: Launch) -> list[str]:
    """What `_group` is told beside the sizes."""
    rarely = ["rarely=True"] if launch.each > 1 else []
    return rarely + ([f"touched={launch.touched}"] if launch.touched > TOUCHED else [])


def helpers(used: Iterable[str]) -> str:
    """The functions in `used` and what they need, in a fixed order."""
    wanted = set(used)
    for name in list(wanted):
        wanted.update(_NEEDS.get(name, ()))
    return "".join(f"\n{text}" for name, text in _HELPERS.items() if name in wanted)
