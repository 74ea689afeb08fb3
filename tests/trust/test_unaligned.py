"""Arrays that stand anywhere in memory, in turn on one compiled object: NumPy's answer, or a clear refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import transkern
from transkern.errors import CompileError
from transkern.runtime.calls.stated import types_for

Array = np.ndarray[Any, Any]


def at(offset: int, dtype: Any, count: int = 4) -> Array:
    """An array that begins `offset` bytes behind a multiple of 64."""
    memory = np.zeros(64 * 8, np.uint8)
    start = -memory.__array_interface__["data"][0] % 64 + offset
    made = np.ndarray((count,), dtype, memory, start)
    made[:] = np.arange(count) + 1
    return made


def packed(dtype: Any, count: int) -> Array:
    made: Array = np.zeros(count, np.dtype([("a", "i1"), ("b", dtype)]))["b"]
    made[:] = np.arange(count) + 1
    return made


def readonly(array: Array) -> Array:
    array.flags.writeable = False
    return array


def arrays() -> Iterator[tuple[str, Array]]:
    yield "plain", np.arange(4.0)
    yield "no axes", np.array(3.0)
    yield "unaligned", at(1, "f8")
    yield "half aligned", at(4, "f8")
    yield "packed record", packed("f8", 4)
    yield "one element of a packed record", packed("f8", 1)
    yield "packed record, backwards", packed("f8", 4)[::-1]
    yield "backwards", np.arange(4.0)[::-1]
    yield "other byte order", np.arange(4.0).astype(">f8")
    yield "nothing", np.zeros(0)
    yield "nothing, with odd steps", np.ndarray((0,), "f8", bytes(64), 3, (5,))
    yield "rows of nothing", np.ndarray((3, 0), "f8", bytes(64), 3, (5, 7))
    yield "dates", np.arange(4).astype("M8[s]")
    yield "records", np.zeros(3, [("a", "f8")])
    yield "objects", np.array([1, 2.5, None], object)
    yield "two axes", np.ones((2, 3))
    yield "complex", np.arange(3) + 1j
    yield "complex at half its size", at(8, "c16")
    yield "unaligned complex", at(3, "c16")
    yield "packed complex", packed("c8", 3)
    yield "unaligned halves", at(1, "f2")
    yield "unaligned integers", at(2, "i4")
    yield "steps of twelve bytes", np.ndarray((3,), "f8", bytearray(64), 0, (12,))
    yield "one place", np.ndarray((3,), "f8", bytearray(64), 0, (0,))
    yield "read-only", readonly(np.arange(3.0))
    yield "read-only and unaligned", readonly(at(1, "f8"))
    yield "broadcast", np.broadcast_to(np.ones(1), (3,))
    yield "long double", np.arange(3, dtype=np.longdouble)
    yield "long long", np.arange(3, dtype=np.longlong)
    yield "bool", np.ones(3, bool)


def scale(x: Array) -> Any:
    x *= 2
    return x


def flat(x: Array) -> Any:
    r = x.ravel()
    r[0] = 5
    return r


def rest(x: Array) -> Any:
    return x[1:]


def add_up(x: Array) -> None:
    for i in range(1, len(x)):
        x[i] = x[i - 1] + x[i]


def ordered(x: Array) -> Any:
    return np.sort(x, axis=0) + 1, x.sum()


REFUSED = {"other byte order", "dates", "records", "objects", "long double"}


def outcome(call: Callable[..., Any], *given: Array) -> Any:
    """What a call gives or raises, and what it leaves in its arguments' memory; None where it is refused."""
    with np.errstate(all="ignore"):
        try:
            result = repr(call(*given))
        except CompileError:
            return None
        except Exception as error:
            kind = TypeError if isinstance(error, TypeError) else type(error)
            result = f"{kind.__name__}: {error}"
    return result.replace(", dtype=int64", ""), [repr(g) for g in given]


@pytest.mark.parametrize("function", [scale, flat, rest, add_up, ordered])
def test_arrays_in_turn(function: Callable[..., Any]) -> None:
    compiled, refused = transkern.compile(function, target="cpu"), set()
    for _ in range(2):
        for (name, mine), (_, theirs) in zip(arrays(), arrays(), strict=True):
            got, wanted = outcome(compiled, mine), outcome(function, theirs)
            if got is None:
                refused.add(name)
            else:
                assert got == wanted, name
    assert refused - REFUSED <= {"one place", "steps of twelve bytes"}, refused


@pytest.mark.parametrize("target", ["cuda", "pallas"])
def test_arrays_in_turn_on_devices(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSKERN_CUDA_SIM", "1")
    names = ["plain", "unaligned", "packed record", "read-only and unaligned", "nothing, with odd steps"]
    for function in (scale, rest):
        compiled = transkern.compile(function, target=target)
        mine, theirs = (dict(arrays()) for _ in range(2))
        for name in names:
            assert outcome(compiled, mine[name]) == outcome(function, theirs[name]), name


def shift(x: Array, y: Array) -> Any:
    x[:] = y * 2
    return x.sum()


def step(x: Array, y: Array) -> None:
    for i in range(len(x)):
        x[i] = y[i] + 1


def overlapping() -> Iterator[tuple[str, Array, Array, Array]]:
    for dtype in ("f8", "c16"):
        size = np.dtype(dtype).itemsize
        for skew, gap in ((0, 0), (0, 4), (1, 0), (0, size // 2), (1, size), (1, 3), (3, -1)):
            memory = np.zeros(400, np.uint8)
            x, y = (np.ndarray((6,), dtype, memory, 64 + skew + more) for more in (0, gap))
            y[:] = 2
            x[:] = np.arange(6) + 1
            yield f"{dtype} {skew} {gap}", memory, x, y
        memory = np.zeros(400, np.uint8)
        records = memory[3 : 3 + 12 * (size + 1)].view([("a", "i1"), ("b", dtype)])["b"]
        records[:] = np.arange(12)
        yield f"{dtype} records", memory, records[:8], records[2:10]
        yield f"{dtype} records backwards", memory, records[:8], records[9:1:-1]


@pytest.mark.parametrize("function", [shift, step])
def test_overlapping_arrays_in_turn(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    for (name, mine, *given), (_, theirs, *same) in zip(overlapping(), overlapping(), strict=True):
        assert outcome(compiled, *given) == outcome(function, *same), name
        assert mine.tobytes() == theirs.tobytes(), name


def put(x: Array, flag: bool) -> float:
    total = float(x.sum())
    if flag:
        x[0] = 7
    return total


def test_a_read_only_array_raises_where_it_is_stored_into() -> None:
    compiled = transkern.compile(put, target="cpu")
    plain, fixed, unaligned = (lambda: np.arange(3.0)), (lambda: readonly(np.arange(3.0))), (lambda: at(1, "f8"))
    for make in (plain, fixed, plain, lambda: readonly(unaligned()), unaligned, fixed, plain):
        for flag in (False, True, False):
            mine, theirs = make(), make()
            assert outcome(lambda x, f=flag: compiled(x, f), mine) == outcome(lambda x, f=flag: put(x, f), theirs)


def test_windows_of_one_memory_are_not_written() -> None:
    """What NumPy makes of such a store depends on the order in which it goes through the windows."""
    windows = np.lib.stride_tricks.as_strided(np.arange(9.0), (7, 3), (8, 8))

    def double(x: Array) -> None:
        x[:, 1] = x[:, 0] * 2

    compiled = transkern.compile(double, target="cpu")
    compiled(np.ones((7, 6))[:, ::2])
    with pytest.raises(CompileError, match="`x` share memory with each other"):
        compiled(windows)
    assert np.array_equal(transkern.compile(lambda x: x.sum(axis=1), target="cpu")(windows), windows.sum(axis=1))


def test_the_types_of_unaligned_arrays_can_be_written_down() -> None:
    compiled = transkern.compile(scale, target="cpu")
    for array in (at(1, "f8"), packed("f8", 4), np.arange(8.0)[::2]):
        compiled(array)
        text = compiled.signature
        assert str(types_for(compiled, text)[0]) == text[len("scale(") : -1]
        assert compiled.emit(types=text)
