"""What libraries own: sorts, searches, matrix products, decompositions. One row a step.

A step is spelled in Python over an array module: expressions over the input arrays ``{0}``, ``{1}``, … and the step's
attributes. Its value fills the output; several values (a tuple) fill several outputs. The outputs themselves, of the
shape and dtype to be filled, are ``{out}``, ``{out1}``, ….
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Step:
    """`numpy`: how it is spelled with NumPy; `cupy`, `jax`: with those, where they have it (empty: they have not)."""

    numpy: str
    cupy: str = ""
    jax: str = ""


def _everywhere(text: str) -> Step:
    return Step(text, text, text)


FAILING = frozenset((
    "cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "least_squares", "lstsq", "pinv", "qr", "slogdet",
    "solve", "svd", "svdvals",
))  # fmt: skip
"""Steps that may raise LinAlgError."""

RAISING = FAILING | {"partition", "argpartition"}
"""Steps that may raise an error, and so are done also where nobody reads what they give."""

_ATTEMPT = """
def attempt(values, *outs):
    try:
        found = values()
    except np.linalg.LinAlgError:
        return *outs, True
    return *(found if len(outs) > 1 else (found,)), False
"""
# an expression, as all steps are

LIBRARY: Mapping[str, Step] = {
    "argsort": Step(
        "{np}.argsort({0}, axis={axis}, kind={kind!r})",
        "{np}.argsort({0}, axis={axis}, kind={kind!r})",
        "{np}.argsort({0}, axis={axis}, stable=True).astype({np}.int32)",
    ),
    "sort": Step(
        "{np}.sort({0}, axis={axis}, kind={kind!r})",
        "{np}.sort({0}, axis={axis}, kind={kind!r})",
        "{np}.sort({0}, axis={axis})",
    ),
    "matmul": Step("{np}.matmul({0}, {1})", "{np}.matmul({0}, {1})", "{np}.matmul({0}, {1}, precision='highest')"),
    "dot": Step("{np}.dot({0}, {1})", "{np}.dot({0}, {1})", "{np}.dot({0}, {1}, precision='highest')"),
    "partition": Step("{np}.partition({0}, {1}, axis={axis})"),
    "select": Step(  # of a sort (`selecting.py`); NumPy sorts few elements faster than it selects several of them
        "{np}.partition({0}, {1}, axis={axis}) if {0}.shape[{axis}] > 1000 else {np}.sort({0}, axis={axis})",
        "{np}.sort({0}, axis={axis})",
        "{np}.sort({0}, axis={axis})",
    ),
    "argpartition": Step("{np}.argpartition({0}, {1}, axis={axis})"),
    "lexsort": Step("{np}.lexsort({0})", "{np}.lexsort({0})", "{np}.lexsort({0})"),
    "searchsorted": _everywhere("{np}.searchsorted({0}, {1}, side={side!r})"),
    "transform": _everywhere("{np}.fft.{call}({0}, n={out}.shape[{axis}], axis={axis}, norm={norm!r})"),
    "transforms": _everywhere("{np}.fft.{call}({0}, s=[{out}.shape[k] for k in {axes}], axes={axes}, norm={norm!r})"),
    "halved": _everywhere("{np}.fft.{call}({0}, axis={axis}, norm={norm!r})"),
    "halved_all": _everywhere("{np}.fft.{call}({0}, axes={axes}, norm={norm!r})"),
    "discarded": _everywhere(  # no array: what NumPy says where a cast leaves imaginary parts out
        "__import__('warnings').warn('Casting complex values to real discards the imaginary part', "
        "__import__('numpy').exceptions.ComplexWarning, stacklevel=2)"
    ),
    "eigvals": Step("{np}.linalg.eigvals({0})"),
    "eig": Step("{np}.linalg.eig({0})"),
    "solve": _everywhere("{np}.linalg.solve({0}, {1})"),
    "inv": _everywhere("{np}.linalg.inv({0})"),
    "det": _everywhere("{np}.linalg.det({0})"),
    "slogdet": _everywhere("{np}.linalg.slogdet({0})"),
    "cholesky": _everywhere("{np}.linalg.cholesky({0})"),
    "eigvalsh": _everywhere("{np}.linalg.eigvalsh({0}, UPLO={uplo!r})"),
    "eigh": _everywhere("{np}.linalg.eigh({0}, UPLO={uplo!r})"),
    "qr": _everywhere("{np}.linalg.qr({0}, mode={mode!r})"),
    "svd": _everywhere("{np}.linalg.svd({0}, full_matrices={full})"),
    "svdvals": _everywhere("{np}.linalg.svd({0}, compute_uv=False)"),
    "pinv": Step("{np}.linalg.pinv({0}, rcond={rcond})"),
    "least_squares": Step("{np}.linalg.lstsq({0}, {1}, rcond=float({2}))[0]"),
    "lstsq": Step("{np}.linalg.lstsq({0}, {1}, rcond={rcond})[::2]"),  # the solution and the rank
}

INTO: Mapping[str, str] = {"matmul": "np.matmul", "dot": "np.dot"}
"""Steps that are one function of NumPy's, which takes its outputs behind its operands."""


def _by_counts(step: str) -> str:
    """The step that puts `out` in order, or integers of few values by how often there is each."""
    return (
        "(lambda low, high: np.copyto(out, np.repeat(np.add(np.arange(high - low + 1), low, dtype=out.dtype, "
        "casting='unsafe'), np.bincount(np.subtract(out, low, dtype='int64')))) if high - low < out.size else "
        f"{step})(int(out.min()), int(out.max())) if out.size > 500 and out.ndim == 1 and out.dtype.kind in 'iu' and "
        f"out.dtype != 'uint64' else {step}"
    )


_ONE_BY_ONE = (
    "(lambda rows, places: [rows[..., first:].partition(k - first) for first, k in zip([0, *(k + 1 for k in places)], "
    "places)])(np.moveaxis(out, {axis}, -1), sorted({{*a1.tolist()}}))"
)
"""Selects places from the lowest on, each among what is behind the one before: for one place NumPy has vectors, for
several it has not. It sorts by vectors, too: few elements faster than this."""

IN_PLACE: Mapping[str, str] = {
    "sort": _by_counts("out.sort(axis={axis}, kind={kind!r})"),
    "select": _by_counts(
        "(out.partition(a1, axis={axis}) if a1.size == 1 and out.shape[{axis}] > 1000 else "
        f"{_ONE_BY_ONE} if out.shape[{{axis}}] > 4000 * a1.size else out.sort(axis={{axis}}))"
    ),
}
"""Steps that NumPy does with a copy of their first operand: it is made in the output."""

_STABLE = """
def order(out, a, axis):
    bits = len(a).bit_length()
    down = np.count_nonzero(a[1:] < a[:-1]) if a.ndim == 1 and len(a) > 1000 and a.dtype.kind in 'iuf' else 0
    if not len(a) < 16 * down < 15 * len(a) or a.itemsize < 4 or bits > 40:
        return np.copyto(out, np.argsort(a, axis=axis, kind='stable'))
    if a.dtype.kind != 'f' and a.dtype != 'uint64':
        low, high = int(a.min()), int(a.max())
        if high - low < 1 << 63 - bits:
            np.left_shift(np.subtract(a, low, dtype='int64'), bits, out=out)
            np.bitwise_or(out, np.arange(len(a)), out=out)
            out.sort()
            return np.bitwise_and(out, (1 << bits) - 1, out=out)
    np.copyto(out, np.argsort(a))
    found = a[out]
    same = found[1:] == found[:-1]
    if found[-1] != found[-1]:
        same |= (found[1:] != found[1:]) & (found[:-1] != found[:-1])
    if same.any():
        np.bitwise_or(out[1:], np.cumsum(~same) << bits, out=out[1:])
        out.sort()
        np.bitwise_and(out, (1 << bits) - 1, out=out)

def by_keys(out, keys):
    if keys.ndim != 2 or keys.shape[1] <= 1000:
        return np.copyto(out, np.lexsort(keys))
    order(out, keys[0], 0)
    for key in keys[1:]:
        later = np.empty_like(out)
        order(later, key[out], 0)
        np.copyto(out, out[later])
"""


def stable_order(name: str, axis: int = 0, kind: str = "stable") -> str:
    """The function of a step that gives the stable order of elements, or of keys, of which there is but one: NumPy's
    fast sorts are not stable, and its stable one takes five times as long and more where elements are in no order yet.
    So positions are sorted with what they are of, behind it in the same words; where these have no room, those of equal
    elements are sorted afterwards. Nothing for another step or another kind of order."""
    if name not in ("argsort", "lexsort") or kind not in ("stable", "mergesort"):
        return ""
    call = f"order(out, a0, {axis})" if name == "argsort" else "by_keys(out, a0)"
    return f"(lambda n: (exec({_STABLE!r}, n), eval('lambda out, a0: {call}', n))[1])({{'np': np}})"


_STATE = (
    "(lambda b, a, shape: (lambda g: (g.{call}, (lambda s: np.array([s['state']['state'] >> 64, "
    "s['state']['state'] % 2**64, s['state']['inc'] >> 64, s['state']['inc'] % 2**64, s['has_uint32'], "
    "s['uinteger']], 'uint64'))(b.state)))(np.random.Generator(b)))"
    "((lambda b, s: (setattr(b, 'state', dict(bit_generator='PCG64', state=dict(state=s[0] << 64 | s[1], "
    "inc=s[2] << 64 | s[3]), has_uint32=s[4], uinteger=s[5])), b)[1])(np.random.PCG64(0), {state}.tolist()), "
    "[{parameters}], {out}.shape)"
)
"""A draw from a generator whose state is six words: what was drawn, and the state afterwards."""

_LEGACY_WORDS = (
    "(lambda s: np.concatenate((s['state']['key'], (s['state']['pos'], s['has_gauss']), "
    "np.array([s['gauss']]).view('uint64')), dtype='uint64', casting='unsafe'))(r.get_state(legacy=False))"
)
_LEGACY_STATE = (
    "(lambda r, a, shape: (r.{call}, " + _LEGACY_WORDS + "))((lambda r, s: (r.set_state(dict(bit_generator='MT19937', "
    "state=dict(key=s[:624].astype('uint32'), pos=int(s[624])), has_gauss=int(s[625]), "
    "gauss=s[626:].view('float64')[0])), r)[1])(np.random.RandomState(0), {state}), [{parameters}], {out}.shape)"
)
"""A draw from a `RandomState`: 624 words, a position, and the second number of a pair of normal ones."""

_LEGACY_IN_PLACE = (
    "(lambda r, w, s, a, shape: (np.copyto(w, s[:625], casting='unsafe'), r.{call}, np.concatenate((w, s[625:])))[1:])"
    "(*(lambda r: (r, np.frombuffer((__import__('ctypes').c_uint32 * 625).from_address("
    "r._bit_generator.ctypes.state_address), 'uint32')))(np.random.RandomState(0)), "
    "{state}, [{parameters}], {out}.shape)"
)
"""The same of what takes no normal numbers: words and position are written where the generator has them (NumPy's
`mt19937_state` is ``uint32_t key[624]; int pos``), as to set and to read its state takes longer than a few draws."""

WITHOUT_PAIRS = ("choice", "permutation", "randint", "random_sample", "uniform")

_GLOBAL_STATE = "(lambda a, shape: ({of}.{call}, 0))([{parameters}], {out}.shape)"
"""A draw from a generator that others share: NumPy's one for all, or a module's; its memory only says in what order."""

_DRAWN = {"PCG64": _STATE, "MT19937": _LEGACY_STATE, "global": _GLOBAL_STATE}

_SEED = (
    "(lambda s: np.array([s['state']['state'] >> 64, s['state']['state'] % 2**64, s['state']['inc'] >> 64, "
    "s['state']['inc'] % 2**64, 0, 0], 'uint64'))(np.random.PCG64({seed}).state)"
)
_LEGACY_SEED = "(lambda r: " + _LEGACY_WORDS + ")(np.random.RandomState({seed}))"


def drawn_alone(
    outs: Sequence[str], ins: Sequence[str], call: str, kind: str, of: str = "", single: bool = False
) -> str:
    """The function of a step that draws one number from a generator that others share, with few calls; or nothing."""
    if not single or kind != "global":
        return ""
    for k, parameter in enumerate(ins[1:]):
        call = call.replace(f"a[{k}]", parameter)
    return f"lambda {', '.join([*outs, *ins])}: {outs[0]}.fill({of}.{call})"


_EMPTY = ("np.random.PCG64(0)", "np.random.RandomState(0)")


def keeping(text: str) -> str:
    """The function of a step that keeps the generator which it gives states to, one a thread: to make one takes longer
    than to draw from it."""
    for made in _EMPTY:
        if made in text:
            kept = text.replace(made, f"(held.__dict__.get(0) or held.__dict__.setdefault(0, {made}))")
            return f"(lambda held: {kept})(__import__('threading').local())"
    return text


def spell(name: str, module: str, ins: tuple[str, ...], attributes: tuple[tuple[str, Any], ...]) -> str:
    """The Python expression of a library step for a module named `module`: ``np``, ``cp`` or ``jnp``."""
    if name in ("seeded", "drawn"):  # on the host, whatever the device
        get = ".get()" if module == "cp" else ""
        given = {**dict(attributes), "get": get}
        if name == "drawn":
            given |= {"state": f"{ins[0]}{get}", "parameters": ", ".join(f"{i}{get}" for i in ins[1:])}
            in_place = given["kind"] == "MT19937" and given["call"].partition("(")[0] in WITHOUT_PAIRS
            text = (_LEGACY_IN_PLACE if in_place else _DRAWN[given["kind"]]).format(**given)
            return f"map(cp.asarray, {text})" if get else text
        text, seed = (_SEED, f"{get}.tolist()") if given["kind"] == "PCG64" else (_LEGACY_SEED, get)
        if given.get("listed"):  # a sequence of Python's, which is no number when it has one element
            seed = f"{get}.tolist()"
        known = repr(given["seed"]) if "seed" in given else ""  # no seed: the system's entropy
        seeded = text.format(seed=f"{ins[0]}{seed}" if ins else known)
        return f"cp.asarray({seeded})" if get else seeded
    if name == "attempt":  # a step whose LinAlgError is told by its last output
        given = dict(attributes)
        made = f"(lambda n: (exec({_ATTEMPT!r}, n), n['attempt'])[1])({{'np': {module}}})"
        outs = [key for key in given if key.startswith("out")]
        inner = spell(given["of"], module, ins, (*given["given"], *((o, given[o]) for o in outs)))
        return f"{made}(lambda: {inner}, {', '.join(given[o] for o in outs[:-1])})"
    row = LIBRARY[name]
    text = {"cp": row.cupy, "jnp": row.jax}.get(module, row.numpy)
    return text.format(*ins, np=module, **dict(attributes))


def has(name: str, module: str) -> bool:
    """Whether `module` (``cp``, ``jnp``) has the step."""
    if name == "attempt":
        return module == "np"
    if name in ("seeded", "drawn"):
        return module != "jnp"
    return bool({"cp": LIBRARY[name].cupy, "jnp": LIBRARY[name].jax}.get(module, True))
