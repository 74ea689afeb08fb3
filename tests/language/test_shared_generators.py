"""Loops that draw from NumPy's own generator, or a module's, which others draw from as well (`numpy/random/shared.py`)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require
from transkern.ir.generators import Lent, SharedGenerator, _is_laid_out, state_of, with_lent

require("cc")

RNG = np.random.default_rng(3)


def flips(s: Any, beta: float) -> Any:
    n = s.shape[0]
    for _ in range(n * n):
        i, j = np.random.randint(0, n), np.random.randint(0, n)
        change = 2 * s[i, j] * (s[(i + 1) % n, j] + s[i, (j + 1) % n])
        if change < 0 or np.random.rand() < np.exp(-change * beta):
            s[i, j] *= -1
    return s


def pairs(n: int) -> list[float]:
    return [np.random.randn() * 0.1 + np.random.normal(1, 2) for _ in range(n)]


def of_module(n: int) -> float:
    total = 0.0
    for _ in range(n):
        total += RNG.random() + RNG.integers(0, 10) + RNG.normal()
    return total


def of_both(n: int) -> tuple[Any, ...]:
    return [np.random.rand() for _ in range(n)], [RNG.random() * k for k in range(n)], np.random.choice([1, 2, 5])


def seeded(n: int, k: int) -> float:
    np.random.seed(k)
    total = 0.0
    for _ in range(n):
        total += np.random.uniform(-1, 1)
    return total


def beside_steps(n: int) -> Any:
    total = np.random.gamma(2.0) + np.random.standard_normal()
    for _ in range(n):
        total += np.random.exponential(2.0)
    return total, np.random.permutation(5)


def rows(n: int) -> Any:
    out = np.zeros((n, 3))
    for k in range(n):
        out[k] = np.random.rand(3)
    return out


def raising(n: int, at: int) -> float:
    total = 0.0
    for k in range(n):
        total += np.random.rand()
        if k == at:
            raise ValueError("here")
    return total


def by_steps(n: int) -> float:
    total = 0.0
    for _ in range(n):
        total += np.random.rand() + np.random.gamma(2.0)
    return total


def outside_loops(n: int) -> Any:
    return np.random.rand() + n


def _outcome(f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What three calls give, and the states that they leave."""
    np.random.seed(12)
    np.random.randn()
    RNG.bit_generator.state = np.random.default_rng(3).bit_generator.state
    RNG.integers(0, 5, dtype=np.int32)
    found: list[str] = []
    for _ in range(3):
        try:
            found.append(repr(f(*(a.copy() if isinstance(a, np.ndarray) else a for a in args))))
        except ValueError as error:
            found.append(str(error))
        np.random.randn()
    return found, repr(np.random.get_state()), repr(RNG.bit_generator.state)


@pytest.mark.parametrize(
    ("function", "args", "is_lent"),
    [
        (flips, (np.ones((6, 6), int), 0.3), True), (pairs, (31,), True), (of_module, (51,), True),
        (of_both, (6,), True), (seeded, (20, 5), True), (beside_steps, (9,), True), (rows, (5,), True),
        (raising, (20, 7), True), (raising, (20, 70), True), (by_steps, (20,), False), (outside_loops, (3,), False),
    ],
)  # fmt: skip
def test_draws_are_numpys_and_leave_its_states(function: Any, args: tuple[Any, ...], is_lent: bool) -> None:
    compiled = transkern.compile(function, target="cpu")
    assert _outcome(compiled, args) == _outcome(function, args)
    assert any("global_generator" in name for name in compiled.temporaries) != is_lent
    assert ("drawn by the library: global_generator" in compiled.explain()) != is_lent


def test_code_from_the_cache_draws_as_well() -> None:
    compiled = transkern.compile(pairs, target="cpu")
    compiled(3)
    again = transkern.compile(pairs, target="cpu")
    assert _outcome(again, (5,)) == _outcome(pairs, (5,))
    assert again.cache_info().from_disk


def test_threads_do_not_draw_the_same_numbers() -> None:
    compiled = transkern.compile(of_both, target="cpu")
    compiled(1)
    np.random.seed(1)
    found: list[float] = []

    def draw() -> None:
        for _ in range(100):
            found.extend(compiled(10)[0])

    threads = [threading.Thread(target=draw) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == len(found) == 3000


@pytest.mark.parametrize(("of", "kind"), [("np.random", "MT19937"), (f"__import__({__name__!r}, fromlist='x').RNG", "PCG64")])
@pytest.mark.parametrize("pairs", [False, True])
def test_states_are_taken_and_given_back(of: str, kind: str, pairs: bool) -> None:
    assert _is_laid_out(kind)
    lent = Lent(SharedGenerator(of, kind, pairs=pairs))
    generator = lent.shared.found()
    np.random.randn()
    before = state_of(generator)
    taken = with_lent(lambda: lent.words.copy(), [lent])()
    alike = slice(None) if kind == "PCG64" or pairs else slice(625)
    assert np.array_equal(taken[alike], before[alike]) and np.array_equal(state_of(generator), before)

    def drawn() -> None:
        lent.words[0] += 1
        raise KeyError

    with pytest.raises(KeyError):
        with_lent(drawn, [lent])()
    assert state_of(generator)[0] == before[0] + 1
    lent.words[0] -= 1


def test_another_generator_is_refused() -> None:
    lent = Lent(SharedGenerator("np.random.default_rng(1)", "MT19937"))
    with pytest.raises(transkern.CompileError, match="no generator of the kind that it was"):
        with_lent(lambda: None, [lent])()


def test_emitted_code_has_numpy_draw() -> None:
    """It is for other processes, in which nobody lends anything."""
    compiled = transkern.compile(flips, target="cpu")
    compiled(np.ones((6, 6), int), 0.3)
    assert "global_generator" in compiled.emit()


def test_verified_calls_draw_what_numpy_draws() -> None:
    """NumPy's run, which comes first, left the generators where the compiled one went on."""
    for function in (pairs, of_module, by_steps):
        compiled = transkern.compile(function, target="cpu", verify=True)
        assert _outcome(compiled, (7,)) == _outcome(function, (7,))
