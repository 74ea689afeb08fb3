"""Which of several errors of a statement comes first, found by generated calls and programs."""

from __future__ import annotations

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target
from tests.trust.against_python import function, outcome

STORED = function("x[k] = v\nreturn x", "x, k, v")
POSITIONS = (
    np.array([1]), [5], [0, 5], np.array([[5, 0]]), (np.array([[0]]), 2**64), (0, 2**64), (np.array([0]), 1), (0, [1]),
    (9, np.array([4])), (np.array([4]), 9), [True], (np.array([0]), 0, 0), (Ellipsis, 9), (Ellipsis, np.array([9])),
)  # fmt: skip
VALUES = ([2.0, -2.0, 0.0], [[1, 2, 3]], np.zeros(3), (np.zeros(2), np.zeros(3)), 2**70, 1j)


@pytest.mark.parametrize("x", (np.zeros(0, "f2"), np.arange(5, dtype="i4"), np.zeros((2, 3))))
@pytest.mark.parametrize("k", POSITIONS, ids=repr)
def test_values_go_before_bounds(x: np.ndarray, k: object) -> None:
    """Numbers, then whether the positions go together, then the value and its shape, then where the positions are."""
    compiled = transkern.compile(STORED, target="cpu")
    for v in VALUES:
        wanted, found = outcome(STORED, x, k, v), outcome(compiled, x, k, v)
        assert found == wanted or found[0] == "refused", v


def test_an_ellipsis_as_an_argument() -> None:
    """It was said that there are too many subscripts."""
    f = function("e, n = k\nreturn x[k], x[e, n], x[e], e is Ellipsis", "x, k")
    found = transkern.compile(f, target="cpu")(np.arange(20.0), (..., 9))
    assert found[0] == found[1] == 9 and found[2].shape == (20,) and found[3]


STEPS = {
    "z = np.linalg.inv(x)\nreturn z[k]": (np.zeros((3, 3)), 7),
    "z = np.linalg.solve(x, x[0])\nreturn z[k:k + 2].reshape(3, k)": (np.zeros((3, 3)), 1),
    "v = np.diff(np.partition(x, k)[:2])\nreturn v[v.shape[0] // 2]": (np.zeros(1), 1),
    "z = np.random.default_rng(0).normal(0, x[0], 3)\nreturn z[k]": (-np.ones(2), 7),
}


@pytest.mark.parametrize("text", STEPS)
def test_checks_stay_behind_steps_that_raise(text: str) -> None:
    f = function(text, "x, k")
    wanted, found = outcome(f, *STEPS[text]), outcome(transkern.compile(f, target="cpu"), *STEPS[text])
    assert wanted[0] != "value" and found == wanted


def test_lists_are_even_before_their_numbers_are_looked_at() -> None:
    f = function("np.put(x, [0], v)\nreturn x", "x, v")
    given = np.arange(7), [np.arange(7, dtype="u1"), 1.5 + 2j]
    assert outcome(transkern.compile(f, target="cpu"), *given) == outcome(f, *given)


@pytest.mark.parametrize("target", ("cpu", "pallas"))
def test_a_search_that_finds_nothing_once_another_is_gone(target: str) -> None:
    """Its loop was dropped and its result was not (an inner error)."""
    text = "for w in y:\n    a[1] = b[0, 1]\nx[1] += 1\nx[u % x.size] = 1\nreturn u[np.arange(len(x)) % 1]"
    f = function(text, "x, y, a, b, u")
    given = np.arange(5.0), np.ones(5), np.zeros((5, 3)), np.ones((3, 5)), np.arange(3)
    assert outcome(transkern.compile(f, target=target), *given) == outcome(f, *given)


def test_a_kernel_that_is_called_as_a_part_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels of `u` and of `u_at`: a part of the first was called as the second is."""
    monkeypatch.setenv("TRANSKERN_CUDA_SIM", "1")
    f = function("u[:] = np.where(u[::-1] == u, np.roll(u, 0), k)\nu[1:][u % (len(u) - 1)] = u ^ k\nreturn u", "u, k")
    u = np.arange(300) % 7
    assert np.array_equal(transkern.compile(f, target="cuda")(u.copy(), 3), f(u.copy(), 3))


def put_in_turn(x, at, v, scalar):
    for store in range(4):
        try:
            if store == 0:
                np.put(x, at, v)
            elif store == 1:
                x[::-1].flat[at] = v
            elif store == 2:
                x.flat[at[::-1]] = scalar
            else:
                np.put(x[::2], at, v + 1)
        except IndexError:
            x[0] += 10
    return x


PLACES = ([], [0], [3, -4], [1, 9, 2], [9], [-5, 0], [1, 1, -7, 2])


@pytest.mark.parametrize(
    "at, target", [*((at, "cpu") for at in PLACES), *((PLACES[3], target) for target in ("cuda", "pallas"))]
)
def test_what_stands_before_a_position_outside_is_stored(
    at: list[int], target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was, in ``np.put`` and ``x.flat[at] = v``; into what is no line in memory NumPy puts a copy."""
    on_target(target, monkeypatch)
    alike(put_in_turn, np.zeros(4), np.array(at, np.int64), np.array([5.0, 6.0, 7.0]), 2.5, target=target)
