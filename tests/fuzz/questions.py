"""Questions asked of values: programs of three lines, each a value, another one and what is asked of both.

    make questions QUESTIONS=6000 OPTIONS="--first 1"

Larger programs (`programs.py`) ask few things of many values; here each kind of value meets each question sooner or
later, also the ones that nobody would write. What is compiled is run by the interpreter of the IR, which waits for no C
compiler and sees each read outside of an array: some hundred programs a second and core.
"""

from __future__ import annotations

import linecache
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fuzz.oracle import call, difference, refused_at_run_time
from tests.fuzz.seeds import run
from tests.fuzz.stages import interpreted
from transkern import InternalError, TranskernError


@dataclass(frozen=True)
class Kind:
    """Statements that set `v`, expressions for `w`, and what is asked: expressions, or statements that set `y`."""

    values: tuple[str, ...]
    others: tuple[str, ...]
    questions: tuple[str, ...]
    stores: tuple[str, ...]


ARRAYS = Kind(
    values=(
        "v = x[x > 0]", "v = x[k > 1]", "v = np.where(x > 0)[0]", "v = np.flatnonzero(x > 0)", "v = np.unique(k)",
        "v = np.arange(n)", "v = np.arange(1, n, 2)", "v = A[1]", "v = A[:, 1]", "v = x[k]", "v = np.delete(x, 2)",
        "v = np.repeat(x, 2)", "v = x[::-1]", "v = x[::2]", "v = np.concatenate((x, x[:2]))", "v = A.ravel()",
        "v = A.T.ravel()", "v = A.T.flatten()", "v = np.diag(B)", "v = np.argsort(x)", "v = np.cumsum(x)",
        "v = A.sum(axis=1)", "v = A.max(axis=0)", "v = np.linspace(0, 1, n)", "v = np.array([t * 2 for t in x])",
        "w0 = []\n    for t in x:\n        if t > 0:\n            w0.append(t)\n    v = np.array(w0)", "v = x > 0",
        "v = x\n    while v.size > 3:\n        v = v[1:][v[1:] != v[0]]", "v = x[1:] if n > 3 else x[:-2]",
        "v = A[A[:, 0] > 0]", "v = A.T", "v = A", "v = np.outer(x, x)", "v = x[:, None] - x",
        "v = np.zeros((n, 2))", "v = np.lib.stride_tricks.sliding_window_view(x, 2)",
        "v = x[: n // 2 * 2].reshape(-1, 2)", "v = A[:, k[:2] % 3]", "v = k * 2", "v = k.astype(np.int8)",
        "v = x.astype(np.float32)", "v = np.take(A, k % 3, axis=0)", "v = np.sort(A, axis=0)", "v = A[:, A[0] > 0]",
        "v = x[None]", "v = np.broadcast_to(x, (2, n))",
    ),
    others=(
        "v", "v[:]", "v[::1]", "v[::-1]", "v[1:]", "v[:-1]", "v.copy()", "v + 0", "v[v > 0]", "np.zeros_like(v)",
        "v[:, None]", "v.T", "v.ravel()", "v[..., ::2]", "np.arange(v.size)", "np.arange(len(v))", "v.reshape(-1)",
        "np.sort(v)", "x", "k", "A", "x[: len(v)]", "np.ones(v.shape)", "v[:2]", "v[0]", "v.sum()", "v.astype(int)",
        "-v", "list(v)", "np.flip(v)", "v[len(v) - 1 :]", "v[[0, -1]]", "1", "v[v.shape[0] // 2 :]",
    ),
    questions=(
        "np.stack((v, w))", "np.stack((w, v), axis=-1)", "np.concatenate((v, w))", "np.hstack((v, w))",
        "np.vstack((v, w))", "np.column_stack((v, w))", "np.dstack((v, w))", "v + w", "v * w", "v @ w",
        "np.dot(v, w)", "np.outer(v, w)", "np.maximum(v, w)", "np.where(v > w, v, w)", "v[w]",
        "np.array_equal(v, w)", "np.allclose(v, w)", "np.array([v, w])", "np.append(v, w)", "np.isin(v, w)",
        "np.searchsorted(v, w)", "np.kron(v, w)", "np.inner(v, w)", "np.cross(v, w)", "np.meshgrid(v, w)", "v == w",
        "np.convolve(v, w)", "np.setdiff1d(v, w)", "np.broadcast_to(v, np.shape(w))", "np.tensordot(v, w, 1)",
        "np.take(v, w)", "np.copyto(v.copy(), w)", "np.minimum.outer(v, w)", "np.cov(v, w)", "np.corrcoef(v, w)",
        "np.divmod(v, w)", "np.clip(v, w, 2)", "[*v, *w]", "max(len(v), len(w))", "np.histogram(v, w)",
        "np.digitize(v, w)", "np.bincount(v, w)", "np.average(v, weights=w)", "np.select([v > 0], [w], v)",
        "np.choose(v > 0, (v, w))", "np.insert(v, 1, w)", "np.put_along_axis(v.copy(), w, 3, -1)",
        "np.lexsort((v, w))", "np.trapezoid(v, w)", "np.split(v, w)", "np.roll(v, w)", "np.repeat(v, w)",
        "np.full(np.shape(w), v)", "np.block([v, w])", "np.broadcast_arrays(v, w)",
        "np.einsum('...i,...i->...', v, w)", "np.vdot(v, w)", "np.heaviside(v, w)", "np.delete(v, w)",
        "np.piecewise(v, [v > 0], [w, 0])", "np.extract(v > 0, w)", "np.compress(w > 0, v)",
        "np.place(v, v > 0, w)", "np.union1d(v, w)", "np.intersect1d(v, w)", "np.polyval(v, w)",
        "np.gradient(v, w)", "np.diff(v, append=w)", "np.pad(v, 1)+0*np.sum(w)",
        "np.apply_along_axis(np.sum, 0, v)", "np.linspace(v, w, 3)", "v[1:] - w[:-1]", "v - w.mean()", "v.dot(w)",
        "np.isclose(v, w).all()", "np.median(v) - np.median(w)", "v.reshape(np.shape(w))", "np.array([v, w]).T",
        "np.lib.stride_tricks.sliding_window_view(v, len(w))", "isinstance(w, np.ndarray)",
        "v.size == np.size(w) and v.shape == np.shape(w)", "np.squeeze(v) + np.squeeze(w)",
        "np.resize(v, np.shape(w))", "np.atleast_2d(v) - np.atleast_2d(w)", "np.swapaxes(v, 0, -1) * w",
        "v.tolist() + np.ravel(w).tolist()", "np.flatnonzero(v) [: len(w)]",
    ),
    stores=(
        "y = v.copy(); y[:] = w", "y = v.copy(); y[w > 0] = 3", "y = v.copy(); y += w",
        "y = np.empty_like(v); y[...] = w", "y = v.copy(); y[1:] = w[:-1]",
        "y = np.zeros((2, *v.shape)); y[0] = v; y[1] = w", "y = v.copy(); y[::2] = w[::2]",
        "y = v.copy(); w2 = y[::-1]; w2[0] = 7", "y = v.copy(); y[0], y[-1] = y[-1], y[0].copy()",
        "v[0] = 5; y = w", "v[:] = w; y = v", "v *= 2; y = w", "w[0] = 5; y = v",
    ),
)  # fmt: skip

NUMBERS_AND_LISTS = Kind(
    values=(
        "v = float(x[0])", "v = x[0]", "v = int(k[0])", "v = k[0]", "v = n", "v = bool(k[0])", "v = x[0] > 0",
        "v = complex(x[0], 1)", "v = k[0].astype(np.int8)", "v = np.float32(x[0])", "v = min(x[0], 2)",
        "v = max(k[0], 1.5)", "v = k[0] or 2.5", "v = x[0] if n > 3 else 2", "v = len(k)", "v = sum(k)",
        "v = sum([float(t) for t in x])", "v = None if n > 3 else x[0]", "v = str(k[0])", "v = [1, 2, k[0]]",
        "v = [float(t) for t in x]", "v = [int(t) for t in k]", "v = [t for t in x]", "v = (x[0], k[0])", "v = []",
        "v = []\n    for t in k:\n        if t > 0:\n            v.append(t)",
        "v = []\n    for t in range(n):\n        if k[t] > 0:\n            v.append(t)", "v = {1: x[0], 2: 3.0}",
        "v = {1, 2, 2}", "v = range(n)", "v = range(n, 0, -2)", "v = x", "v = k", "v = x > 0", "v = A",
        "v = list(enumerate(x))", "v = list(zip(x, k))", "v = [[1, 2], [3, 4]]", "v = [r for r in A]",
        "v = np.array(x[0])", "v = np.uint64(k[0])", "v = 0\n    for t in k:\n        v += t",
        "v = 0\n    for t in x:\n        v = v + t",
        "v = 0\n    for t in x:\n        if t > 0:\n            v += 1",
        "v = -1\n    for j in range(n):\n        if x[j] > 2:\n            v = j", "v = sorted(x)",
        "v = sorted(k, reverse=True)", "v = list(reversed(k))", "v = 2 ** 62 + n", "v = slice(1, n)", "v = x.dtype",
        "v = A.shape", "v = abs(x[0])", "v = round(x[0])", "v = -k[0]", "v = ~k[0]", "v = not n", "v = k[0] < n",
        "v = [0] * n", "v = [x[0]] * 3", "v = divmod(k[0], 3)", "v = np.zeros(n)", "v = x.mean()", "v = k.argmax()",
        "v = (x > 0).any()", "v = x.size", "v = k.tolist()", "v = k[0].item()",
    ),
    others=(
        "v", "x[0]", "k[0]", "2", "2.5", "n", "x", "k", "A", "[1, 2]", "(1, 2)", "None", "True", "'a'", "[v, v]",
        "(v,)", "1j", "k[-1] > 0", "len(x)", "range(3)", "-1", "0", "np.float32(2)", "np.int8(3)", "float(x[-1])",
        "int(k[-1])", "x[:2]", "[]", "np.array(v)", "[x[0], 1]", "x[k[0]]", "list(k)",
    ),
    questions=(
        "v + w", "v - w", "v * w", "v / w", "v // w", "v % w", "v ** w", "v == w", "v != w", "v < w", "v >= w",
        "v and w", "v or w", "not v", "v in w", "w in v", "v is w", "v[w]", "v[w:]", "v[:w]", "v[-1]", "v[0]",
        "len(v)", "abs(v)", "round(v)", "round(v, 1)", "int(v)", "float(v)", "bool(v)", "str(v)", "f'{v}'",
        "f'{v!r}'", "repr(v)", "min(v, w)", "max(v, w)", "min(v)", "max(v)", "sum(v)", "sorted(v)", "list(v)",
        "tuple(v)", "set(v)", "any(v)", "all(v)", "list(reversed(v))", "list(enumerate(v))", "list(zip(v, w))",
        "[t for t in v]", "[t + w for t in v]", "{t: 1 for t in v}", "range(v)", "list(range(v))", "divmod(v, w)",
        "pow(v, w)", "isinstance(v, int)", "isinstance(v, float)", "isinstance(v, (np.ndarray, list))",
        "isinstance(v, np.floating)", "hasattr(v, 'shape')", "np.array(v)", "np.asarray(v, float)",
        "np.array([v, w])", "np.sqrt(v)", "np.add(v, w)", "np.maximum(v, w)", "np.where(v, w, 0)", "np.zeros(v)",
        "np.full(3, v)", "np.arange(v)", "np.arange(v, w)", "np.linspace(v, w, 3)", "np.sum(v)", "np.mean(v)",
        "np.dot(v, w)", "np.isnan(v)", "np.concatenate((v, w))", "np.stack([v, w])", "np.repeat(x, v)",
        "np.clip(x, v, w)", "np.power(v, w)", "np.floor(v)", "np.sign(v)", "np.round(v, 1)", "x[v]", "x[v:w]",
        "A[v, w]", "A[v]", "x[v] + w", "k.reshape(v, w)", "x * v", "v * x", "x + v - w", "k // v", "x ** v",
        "k & v", "k << v", "v & w", "v | w", "v ^ w", "~v", "-v", "+v", "v << w", "v >> w", "v @ w",
        "v if w else x", "1 if v else 2", "v == v", "(v, w)", "[v, w]", "{'a': v, 'b': w}", "type(v) is type(w)",
        "v.real", "v.item()", "v.sum()", "v.mean()", "v.tolist()", "v.astype(float)", "v.dtype", "v.shape",
        "v.ndim", "v.T", "v.copy()", "v.index(w)", "v.count(w)", "math.sqrt(v)", "math.floor(v)", "math.isnan(v)",
        "math.hypot(v, w)", "math.atan2(v, w)", "np.float32(v)", "np.int64(v)", "np.bool_(v)", "np.shape(v)",
        "np.size(v)", "np.ndim(v)", "np.isclose(v, w)", "np.array_equal(v, w)", "np.searchsorted(x, v)",
        "np.argmax(v)", "np.cumsum(v)", "np.diff(v)", "np.unique(v)", "np.hypot(v, w)", "np.isfinite(v)",
        "np.logical_and(v, w)", "np.mod(v, w)", "np.eye(v)", "np.take(x, v)", "np.count_nonzero(v)",
        "np.broadcast_to(v, (2, 3))", "np.outer(v, w)", "complex(v, w)", "hash(v) == hash(w)", "sum(v, w)",
        "max(v, default=w)", "min(v, key=abs)", "sorted(v, key=lambda t: -t)", "list(map(abs, v))",
        "list(filter(None, v))", "'%s' % v", "'%d' % v", "'%.2f' % v", "format(v, '.3f')", "str(v) + 'x'",
        "(lambda t: t * 2)(v)", "[*v, w]", "v is None", "x[:, v]", "x[..., v]", "x[[v, w]]", "x[v, None]",
        "sum(t * w for t in v)", "[i for i, t in enumerate(v) if t]", "np.prod(v)", "np.max(v, initial=w)",
        "np.sum(v, axis=0)", "np.sort(v)", "v.append(w)", "v.sort()", "v.pop()", "v.extend(w)", "v.insert(0, w)",
        "v.get(w)", "v.keys()", "v.fill(w)",
    ),
    stores=(
        "y = v; y += w", "y = x.copy(); y[v] = w", "y = x.copy(); y[0] = v", "y = k.copy(); y[0] = v",
        "y = x.copy(); y[v:w] = 0", "y = k.copy(); y += v", "y = k.copy(); y *= v", "y = k.copy(); y[:] = v",
        "y = x.copy(); y[:2] = v", "y = np.zeros(2, np.int8); y[0] = v; y[1] = w", "y = A.copy(); y[v] = w",
        "y = A.copy(); y[0] = v", "y = v; y -= w", "y = v; y *= w", "y = v; y /= w", "y = v; y //= w",
        "y = v; y **= w", "y = [v]; y += [w]", "y = 0; y = y + v if w else y", "a, b = v; y = a", "y = v; y = y[0]",
        "y = x[0]; y += v",
    ),
)  # fmt: skip

ARGUMENTS: tuple[tuple[list[float], list[int]], ...] = (
    ([1.5, -2.0, 3.0, 0.5, -1.0, 4.0], [3, 0, 2, 2, 1, 5]),
    ([0.0, -1.0, -np.inf], [0, 1, 0]),
    ([2.5, 3.0, 1.0, np.nan, 7.0, 7.0], [1, 1, 1, 4, 4, 0]),
    ([2.0], [0]),
    ([], []),
)


def source(rng: random.Random) -> str:
    kind = rng.choice((ARRAYS, NUMBERS_AND_LISTS))
    asked = rng.choice(kind.questions + kind.stores)
    *statements, last = asked.split("; ") if asked in kind.stores else (asked,)
    lines = ["n = x.shape[0]", *rng.choice(kind.values).split("\n    "), f"w = {rng.choice(kind.others)}", *statements]
    lines += [last, "return y, v, w"] if asked in kind.stores else [f"return {last}"]
    return "import math\nimport numpy as np\n\n\ndef f(x, k, A, B):\n    " + "\n    ".join(lines) + "\n"


def function_of(text: str, name: str) -> Callable[..., Any]:
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    space: dict[str, Any] = {"math": math}
    exec(compile(text, name, "exec"), space)
    made: Callable[..., Any] = space["f"]
    return made


def arguments(which: int) -> list[Any]:
    x, k = ARGUMENTS[which]
    return [np.array(x), np.array(k, int), np.arange(12.0).reshape(4, 3) - 4, np.arange(9.0).reshape(3, 3)]


def verdicts(seed: int) -> Iterator[tuple[str, str]]:
    """For one program and some arguments in turn: "right", "refused" or "wrong", and what is."""
    rng = random.Random(seed)
    text = source(rng)
    function = function_of(text, f"<questions {seed}>")
    compiled = interpreted(function, 0)
    for which in rng.sample(range(len(ARGUMENTS)), 3):
        wanted = call(function, arguments(which))
        try:
            found = call(compiled, arguments(which), TranskernError)
        except InternalError as error:
            yield "wrong", f"{text}{error}"
            return
        except TranskernError:
            yield "refused", ""
            return
        if refused_at_run_time(found.error):
            yield "refused", ""
            continue
        try:
            problem = difference(found, wanted)
            copied = "does not share memory" in problem  # one of two arrays is a copy of either
            problem = "" if copied or repr(found.result) == repr(wanted.result) else problem
        except (TypeError, ValueError):  # of what cannot be compared, as a `zip`
            problem = "" if repr(found.result) == repr(wanted.result) else f"{found.result!r}, not {wanted.result!r}"
        yield ("wrong", f"{text}of {arguments(which)[:2]}: {problem}") if problem else ("right", "")


if __name__ == "__main__":
    run(__doc__, verdicts, 6000)
