"""Generated calls against Python's own: a short run; `make calls` is the long one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.calls.functions import FUNCTIONS
from tests.calls.outcomes import Outcome, difference
from tests.calls.run import supervised
from tests.tools import require


def _failures(first: int, count: int, calls: int, sanitized: bool) -> tuple[int, list[str]]:
    """How many calls gave Python's answer, and which neither did nor were refused."""
    right, failures = 0, []
    for event in supervised(first, count, calls, sanitized):
        right += event.get("right", 0)
        if event.get("verdict") in ("wrong", "broken", "crashed"):
            failures.append(f"seed {event['seed']}, call {event['call']}: {event['message']}")
    return right, failures


def test_calls_give_pythons_answer() -> None:
    right, failures = _failures(0, len(FUNCTIONS), 4, False)
    assert not failures, "\n".join(failures)
    assert right > 2 * len(FUNCTIONS)


def test_calls_under_sanitizers() -> None:
    require("sanitizers")
    right, failures = _failures(1000, 6, 10, True)
    assert not failures, "\n".join(failures)
    assert right > 25


@pytest.mark.parametrize(
    "found, wanted",
    [
        (1, 1.0), (np.float64(1), 2.0), (1.0, np.float64(1)), (0.0, -0.0), (np.zeros(2), np.zeros(2, np.float32)),
        ([1], (1,)), (np.zeros(2), np.zeros((2, 1))), ({"a": 1}, {"a": 2}), (True, 1),
        (np.array([0.0]), np.array([-0.0])),
    ],
)  # fmt: skip
def test_differences_are_seen(found: object, wanted: object) -> None:
    assert difference(Outcome(found, None, []), Outcome(wanted, None, []))
    assert not difference(Outcome(found, None, []), Outcome(found, None, []))


def test_exceptions_and_arguments_are_compared() -> None:
    error, other = ValueError("one"), ValueError("two")
    assert difference(Outcome(None, error, []), Outcome(None, other, []))
    assert difference(Outcome(None, error, []), Outcome(None, None, []))
    assert difference(Outcome(None, None, [np.zeros(1)]), Outcome(None, None, [np.ones(1)]))
    x = np.zeros(3)
    assert difference(Outcome(x, None, [x]), Outcome(x.copy(), None, [x]))
