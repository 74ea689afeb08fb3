"""What runs a loop in order over blocks of arrays in SMEM."""

from __future__ import annotations

NEEDS: dict[str, tuple[str, ...]] = {"_stream": ("_Here", "_Stream", "_interpret")}
"""What else a function calls."""

HELPERS: dict[str, str] = {
    "_in_smem": '''
def _in_smem(tables):
    """Whether SMEM holds tables beside the blocks of a stream."""
    return sum(int(np.prod(s)) for s in tables) <= 2 ** 16 and all(min(s) > 0 for s in tables)
''',
    "_Stream": '''
class _Stream:
    """A block of an array, and what is beside it: the blocks before and behind, or the last elements of the one that
    the loop has written before."""

    def __init__(self, here, base, before=None, behind=None):
        self.here, self.base, self.before, self.behind = here, base, before, behind

    def read(self, i):
        size, k = self.here.shape[0], i - self.base
        beside = self.before is not None or self.behind is not None
        value = self.here[jnp.clip(k, 0, size - 1) if beside else k]
        if self.before is not None:
            value = jnp.where(k < 0, self.before[k & (self.before.shape[0] - 1)], value)
        if self.behind is not None:
            value = jnp.where(k >= size, self.behind[k & (self.behind.shape[0] - 1)], value)
        return value

    def write(self, i, value):
        self.here[i - self.base] = value

    def start(self, i, value):
        """An element that is set before the loop, by the block that has it."""
        @pl.when((i >= self.base) & (i < self.base + self.here.shape[0]))
        def _():
            self.here[i - self.base] = value
''',
    "_Here": '''
class _Here:
    """The part of a loop from `start` to `stop` whose steps write to the block at `base`; what it carries from block to
    block lies in `held`."""

    def __init__(self, start, stop, step, base, size, moved, first, held, kinds):
        low, high = (start, stop) if step > 0 else (stop + 1, start + 1)
        self.low, self.high = jnp.maximum(base - moved, low), jnp.minimum(base + size - moved, high)
        self.turned, self.first, self.held, self.kinds = step < 0, first, held, kinds

    def loop(self, body, state):
        words = [jnp.where(self.first, x.astype(r.dtype), r[0]) for r, x in zip(self.held, state)]
        state = tuple(x != 0 if k == jnp.bool_ else x for x, k in zip(words, self.kinds))
        if self.turned:
            state = lax.fori_loop(0, self.high - self.low, lambda k, s: body(self.high - 1 - k, s), state)
        else:
            state = lax.fori_loop(self.low, self.high, body, state)
        for ref, x in zip(self.held, state):
            ref[0] = x.astype(ref.dtype)
        return state
''',
    "_stream": '''
def _stream(kernel, numbers, tables, ins, outs, scalars, bounds, moved, kinds):
    """A loop over blocks of arrays: `ins` are an array, and how far the loop looks back and ahead in it; `outs` are
    what one begins as, its size and type, and whether the loop looks back in it."""
    start, stop, step = bounds
    beside = sum(1 + (back < 0) + (ahead > 0) for _, back, ahead in ins) + sum(1 + (s is not None) for s, *_ in outs)
    length = max([n for _, n, *_ in outs] + [max(start, stop + 1 if step < 0 else stop) + moved])
    size = 8192
    while size > 1024 and (2 * beside * size > 2 ** 17 or size >= 2 * length):
        size //= 2
    if length + size >= 1 << 31:
        raise OverflowError("positions in arrays have 32 bits")
    blocks = pl.cdiv(length, size)

    def spec(n, more=0):
        most = max(pl.cdiv(n, size) - 1, 0)
        return pl.BlockSpec((size,), lambda k: (jnp.clip((blocks - 1 - k if step < 0 else k) + more, 0, most),),
                            memory_space=pltpu.SMEM)

    smem = pl.BlockSpec(memory_space=pltpu.SMEM)
    given, specs, aliases = [jnp.reshape(x, (1,)) for x in numbers] + list(tables), [], {}
    specs += [smem] * len(given)
    for x, back, ahead in ins:
        x = x if x.size else jnp.zeros(1, x.dtype)
        for more in [0] + [-1] * (back < 0) + [1] * (ahead > 0):
            given.append(x)
            specs.append(spec(x.size, more))
    for k, (begin, n, *_) in enumerate(outs):
        if begin is not None:
            aliases[len(given)] = k
            given.append(begin)
            specs.append(spec(n))
    held = [jnp.int32 if k == jnp.bool_ else k for k in kinds]

    def body(*refs):
        refs = iter(refs)
        at = pl.program_id(0)
        base = (blocks - 1 - at if step < 0 else at) * size
        one = [next(refs)[0] for _ in numbers] + [next(refs) for _ in tables]
        streams = []
        for _, back, ahead in ins:
            here = next(refs)
            before = next(refs) if back < 0 else None
            streams.append(_Stream(here, base, before, next(refs) if ahead > 0 else None))
        begun = [None if begin is None else next(refs) for begin, *_ in outs]
        made = [next(refs) for _ in outs]
        found = [next(refs) for _ in scalars]
        carried = [next(refs) for _ in kinds]
        ends = [next(refs) for _ in outs]
        for ref, begin, end, (*_, back) in zip(made, begun, ends, outs):
            if begin is not None:
                def copied(k, _):
                    ref[k] = begin[k]
                    return 0
                lax.fori_loop(0, size, copied, 0)
            beside = {('behind' if step < 0 else 'before'): end} if back else {}
            streams.append(_Stream(ref, base, **beside))
        here = _Here(start, stop, step, base, size, moved, at == 0, carried, kinds)
        kernel(*one, here, *streams, *found)
        for ref, end, (*_, back) in zip(made, ends, outs):
            for k in range(8 if back else 0):
                end[k] = ref[k if step < 0 else size - 8 + k]

    made = jax.custom_batching.sequential_vmap(pl.pallas_call(
        body, grid=(blocks,), name=kernel.__name__, in_specs=specs,
        out_specs=[spec(n) for _, n, *_ in outs] + [smem] * len(scalars),
        out_shape=[jax.ShapeDtypeStruct((n,), t) for _, n, t, _ in outs]
        + [jax.ShapeDtypeStruct((1,), t) for t in scalars],
        scratch_shapes=[pltpu.SMEM((1,), t) for t in held] + [pltpu.SMEM((8,), t) for _, _, t, _ in outs],
        input_output_aliases=aliases, interpret=_interpret()))(*given)
    return [*made[:len(outs)], *(m[0] for m in made[len(outs):])]
''',
}
