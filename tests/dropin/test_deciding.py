"""When functions are compiled: programs played through, with the seconds that Python and compiled code would take."""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass

import numpy as np
import pytest

from transkern.dropin.deciding import (
    ADVANCE,
    AGAIN_COST,
    COST,
    IMPORTS,
    ITERATION,
    LOADING,
    OPERATION,
    SHARE,
    SURE,
    TIMES,
    Account,
    Record,
    guessed,
    size_class,
)
from transkern.dropin.rewriting import Nest, Site
from transkern.dropin.trials import Trial


@dataclass
class Played:
    """How a program of calls of one function has run."""

    seconds: float
    python: float  # seconds without compiling anything
    compiled_at: int | None


def play(
    times: list[float], code: float, *, guess: float = 0.0, record: Record | None = None,
    account: Account | None = None, refused: bool = False,
) -> Played:  # fmt: skip
    """Calls that take `times` in Python, and `code` where they are compiled."""
    record, account = record or Record(), account or Account(0.0)
    now, compiled_at = 0.0, None
    hopeless = False
    for number, python in enumerate(times):
        if compiled_at is None and not hopeless and record.is_worth(guess, 0.0, account, now):
            cost = account.next_cost(record)
            now += cost
            account.charge(cost, record.cached)
            compiled_at = number
            hopeless = refused
        if compiled_at is not None and not refused:
            now += code
            account.saved += record.add_compiled(1, code, guess)
        else:
            now += python
            record.add_python(1, python)
    return Played(now, sum(times), compiled_at)


def test_short_programs_are_left_alone() -> None:
    assert play([0.001] * 300, 1e-5).compiled_at is None


def test_a_long_loop_is_compiled_at_its_first_call() -> None:
    played = play([20.0], 0.1, guess=10.0)
    assert played.compiled_at == 0 and played.seconds < 2.0


def test_many_calls_are_compiled_after_some() -> None:
    played = play([0.01] * 10_000, 1e-4)
    assert played.compiled_at is not None and played.seconds < 0.1 * played.python


@pytest.mark.parametrize("length", [0.2, 0.9, 1.7, 2.5, 4.0, 9.0, 30.0])
@pytest.mark.parametrize("calls", [1, 3, 20, 400])
def test_little_is_lost_where_nothing_can_be_gained(length: float, calls: int) -> None:
    """A function that is refused after all of the cost of compiling it."""
    played = play([length / calls] * calls, 0.0, refused=True)
    assert played.seconds - played.python <= ADVANCE + (SHARE + 1 / SURE) * played.python


def test_ten_such_functions_lose_no_more() -> None:
    account = Account(0.0)
    lost = 0.0
    for _ in range(10):
        played = play([0.05] * 40, 0.0, refused=True, account=account)
        lost += played.seconds - played.python
    assert lost <= ADVANCE + SHARE * 20.0 + 2 * COST


def test_what_the_last_run_took_is_known() -> None:
    assert play([1.5], 0.01, record=Record(before=1.5)).compiled_at == 0
    assert play([0.05], 0.01, record=Record(before=0.05)).compiled_at is None
    again = play([0.3], 0.01, record=Record(before=0.3, cached=True))
    assert again.compiled_at == 0 and again.seconds < 0.25


def test_savings_pay_for_more() -> None:
    account = Account(0.0)
    play([5.0] * 3, 0.1, guess=5.0, account=account)
    assert account.credit(1.0) > 3 * COST


def test_slower_code_is_left() -> None:
    record = Record()
    for _ in range(3):
        record.add_python(4, 1e-3)
    for _ in range(3):
        record.add_compiled(4, 3e-3, 0.0)
        assert not record.has_lost(4)
    assert _by_turns(record, [1e-3] * 8, [3e-3] * 8)
    assert not record.has_lost(9)


def _by_turns(record: Record, python: list[float], code: list[float]) -> bool:
    """Calls that take so long in Python and in code, each where its turn puts it; whether code has lost."""
    for in_python, in_code in zip(python, code, strict=True):
        if record.wants_python(4):
            record.add_python(4, in_python)
        else:
            record.add_compiled(4, in_code, 0.0)
        if record.has_lost(4):
            return True
    return False


@pytest.mark.parametrize("times", [0.8, 0.98, 1.2])
def test_calls_of_other_phases_say_nothing(times: float) -> None:
    record = Record()
    for _ in range(3):  # searches that are left early
        record.add_python(4, 1e-3)
    random = np.random.default_rng(0)
    python = [float(1e-2 * 4.0**x) for x in random.normal(size=3000)]
    assert _by_turns(record, python, [times * x for x in python]) is (times > 1.05)
    assert not record.trials, "one that has told is over"


def test_a_trial_takes_no_longer_than_it_must() -> None:
    random = np.random.default_rng(0)
    python = [float(1e-4 * x) for x in random.uniform(0.9, 1.1, size=100)]
    for times, calls in ((4.0, 10), (1.02, 70), (0.2, 10)):
        trial = Trial()
        for seconds in python[:calls]:
            is_python = trial.is_pythons_turn()
            trial.add(seconds if is_python else times * seconds, is_code=not is_python)
        assert trial.has_lost() is (times > 1.5)


def test_little_in_each_run_is_much_in_many() -> None:
    record = Record()
    record.add_python(4, TIMES * AGAIN_COST + LOADING)
    assert not record.is_worth_later()
    record.spent = COST + IMPORTS
    assert record.is_worth_later()
    brief = Record(spent=100.0)
    brief.add_python(4, AGAIN_COST)
    assert not brief.is_worth_later(), "code would take as long to load"


def test_a_call_in_which_something_was_loaded_is_no_usual_one() -> None:
    record = Record()
    for _ in range(3):
        record.add_python(4, 3e-5)
    record.add_compiled(4, 0.015, 0.0)
    for _ in range(40):
        record.add_compiled(4, 2e-6, 0.0)
        assert not record.has_lost(4)
    record.let_code_pass(4)
    assert record.passing


def test_short_compiled_calls_are_tried_in_python() -> None:
    record = Record()
    record.add_compiled(3, 1e-5, 0.0)
    assert not record.wants_python(3)
    record.add_compiled(3, 1e-5, 0.0)
    assert record.wants_python(3)
    record.add_python(3, 1e-5)
    record.add_python(3, 1e-5)
    assert not record.wants_python(3)
    record.add_compiled(8, 1.0, 0.0)
    record.add_compiled(8, 1.0, 0.0)
    assert not record.wants_python(8)


def test_the_first_calls_of_python_are_no_usual_ones() -> None:
    """Two calls in Python, of which the first loads what all others have, or a run before, whose calls took less: a
    trial tells."""
    for first, second, record in ((3e-4, 2.5e-5, Record()), (3e-4, 3e-4, Record(before=0.5, calls=20_000))):
        record.add_python(3, first)
        record.add_python(3, second)
        for _ in range(20):
            record.add_compiled(3, 2.8e-5, 0.0)
            assert not record.has_lost(3)
        assert 3 in record.trials
        while 3 in record.trials:
            if record.wants_python(3):
                record.add_python(3, 2.4e-5)
            else:
                record.add_compiled(3, 2.8e-5, 0.0)
            lost = record.has_lost(3)
        assert lost and record.wants_python(3)


def test_tiny_functions_are_hopeless() -> None:
    record = Record()
    for _ in range(1000):
        record.add_python(1, 1e-6)
    assert record.is_hopeless()


def test_most_of_many_brief_calls_go_by_untimed() -> None:
    """A call of 30 microseconds took 45: the ray tracer it was of ran for 1.7 times as long."""
    record = Record()
    for _ in range(63):
        record.add_python(1, 3e-5)
        record.let_pass()
        assert record.passing == 0
    for _ in range(10):
        record.add_python(1, 3e-5)
        record.let_pass()
        assert 1e-5 / record.passing < 0.03 * 3e-5
    assert record.in_python().calls > 63 + 9 * 16 and abs(record.in_python().mean - 3e-5) < 1e-9
    calls = record.in_python().calls
    record.add_python(1, 2.0)  # a long one stands for itself
    record.let_pass()
    assert record.in_python().calls == calls + 1 and record.passing == 0


def seconds(
    nests: list[tuple[tuple[str | int, ...], ...]], given: dict[str, object], space: dict[str, object] | None = None
) -> float:
    """The guess for loops of a function with four operations an iteration, as seconds an iteration."""
    site = Site("f", "f.py", 1, tuple(Nest(heads, 4) for heads in nests))
    return guessed(site, given, given.values(), space or {}) / (ITERATION + 4 * OPERATION)


def test_guesses() -> None:
    image = np.zeros((300, 500))
    by_n = ("range", "n")
    assert seconds([(by_n,), (by_n, by_n)], {"n": 1000}) == pytest.approx(1_001_000)
    assert seconds([(("rows",), ("columns",))], {"image": image}) == pytest.approx(300 * 500)
    assert seconds([(("range", "SIZE"),)], {"x": 0}, {"SIZE": 10**6}) == pytest.approx(10**6)
    assert seconds([(("range", 10**7),)], {}) == pytest.approx(10**7)
    assert seconds([(("range", "seed"),)], {"seed": 2**63}) <= 10  # no count
    assert guessed(Site("f", "f.py", 1, ()), ["a", "b"], [image, 3], {}) < 1e-3

    class Held:
        def __init__(self) -> None:
            self.grid = image

    assert seconds([(("range", "self"), ("range",))], {"self": Held()}) == pytest.approx(300 * 500)


def test_size_classes() -> None:
    assert size_class([np.zeros(1000)]) == size_class([np.zeros(1020)]) != size_class([np.zeros(2050)])
    assert size_class([3, "text", None]) == size_class([2])
    assert size_class([10**30]) == 0


def test_what_all_calls_have_saved() -> None:
    """Is known where none has run in Python: against what an earlier run took."""
    record = Record(before=2.0, calls=4)
    assert record.saved_by_all() is None
    for _ in range(4):
        record.add_compiled(3, 0.4, 0.0)
    assert record.saved_by_all() == pytest.approx(0.4)
    record.add_python(3, 0.5)
    assert record.saved_by_all() is None


def test_the_first_code_of_the_cache_costs_more() -> None:
    account, record = Account(0.0), Record(cached=True)
    first = account.next_cost(record)
    account.charge(first, True)
    assert first > account.next_cost(record) > 0


def test_what_queues_and_locks_hold_is_no_count() -> None:
    """`maxsize` of a queue between processes is the largest number that a semaphore takes: no call takes as long."""
    waiting = multiprocessing.get_context("spawn").Queue()
    assert seconds([()], {"q": waiting}) < 100
    waiting.close()
