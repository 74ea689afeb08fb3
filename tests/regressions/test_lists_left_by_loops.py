"""Lists that a loop makes in each iteration and leaves: their memory is the loop's, whoever reads them behind it."""

from __future__ import annotations

import pytest

from tests.fuzz.changes import arguments
from tests.regressions.bodies import both
from tests.trust.against_python import outcome

MADE = ("[v * 2 for v in x]", "[v for v in x if v > 0.2]", "list(x)", "sorted(x)", "list(x)[1:]")
READ = ("a, a[0], a[-1]", "sum(a), len(a)", "a, a.copy(), [v for v in a if v > 0.5]", "np.array(a).max()")
LOOPS = ("for _ in range(2):", "for _ in range(len(x) - 1):", "n = 3\nwhile n > 0:\n    n -= 1")


def _check(body: str) -> None:
    plain, compiled = both(body)
    for which in range(3):
        assert outcome(compiled, *arguments(which)) == outcome(plain, *arguments(which)), body


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("made", MADE)
def test_left_by_a_loop(made: str, loop: str) -> None:
    for read in READ:
        _check(f"{loop}\n    a = {made}\nreturn {read}")


@pytest.mark.parametrize("body", [
    "for _ in range(2):\n    a = [v * 2 for v in x if v > 0.2]\nfor _ in range(2):\n    b = a.copy()\nreturn a, b",
    "for _ in range(2):\n    a = []\n    for v in k: a.append(v)\n    a.append(1.5)\nreturn a",
    "a = [v for v in k]\na.append(1.5)\nfor _ in range(2):\n    a = [v for v in k]\n    a.append(1.5)\nreturn a",
    "a = [v for v in k]\na.append(1.5)\nb = [v for v in k]\n"
    "for i in range(3):\n    a, b = [v for v in b], [v for v in a]\nreturn a, b",
    "for i in range(3):\n    a = [v for v in k]\n    if x[i % 2] > 0.5: a.append(1.5)\nreturn a, a[0], a[-1]",
])  # fmt: skip
def test_numbers_of_several_types(body: str) -> None:
    _check(body)
