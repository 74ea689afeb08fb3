"""Linear constraints over integers, against trying all numbers."""

from __future__ import annotations

import itertools
import random

import pytest

from transkern.analysis import integers
from transkern.analysis.integers import Condition, Constraint, Either, Form, solution

NAMES = "abcd"
RANGE = range(-3, 4)


def drawn(rng: random.Random, names: str) -> Constraint:
    count = rng.choice((1, 2, 2, 2, 3))
    factors = (1, -1, 1, -1, 2, -2, 3)
    form: Form = {name: rng.choice(factors) for name in rng.sample(names, min(count, len(names)))}
    constant = rng.randint(-4, 4)
    return Constraint(form | ({"": constant} if constant else {}), rng.choice((">=", ">=", ">=", "=", "!=")))


def conditions(rng: random.Random, names: str) -> list[Condition]:
    found: list[Condition] = []
    for _ in range(rng.randint(2, 7)):
        if rng.random() < 0.2:
            found.append(Either(tuple((drawn(rng, names), drawn(rng, names)) for _ in range(2))))
        else:
            found.append(drawn(rng, names))
    return found


def holds(c: Condition, values: dict[str, int]) -> bool:
    if isinstance(c, Either):
        return any(all(holds(x, values) for x in case) for case in c.cases)
    total = sum(k * (values.get(name, 0) if name else 1) for name, k in c.form.items())
    return {">=": total >= 0, "=": total == 0, "!=": total != 0}[c.op]


@pytest.mark.parametrize("seed", range(400))
def test_answers_are_those_of_trying_all_numbers(seed: int) -> None:
    rng = random.Random(seed)
    names = NAMES[: rng.randint(2, 4)]
    asked = conditions(rng, names)
    bounds: list[Condition] = [
        c for v in names
        for c in (integers.at_least({v: 1}, {"": RANGE[0]}), integers.at_least({"": RANGE[-1]}, {v: 1}))
    ]  # fmt: skip
    points = (dict(zip(names, point, strict=True)) for point in itertools.product(RANGE, repeat=len(names)))
    inside = next((p for p in points if all(holds(c, p) for c in asked)), None)
    found = solution([*asked, *bounds])
    assert (found is None) == (inside is None)
    assert found is None or (isinstance(found, dict) and all(holds(c, found) for c in [*asked, *bounds]))
    free = solution(asked)  # without bounds there may be more, and never less
    assert free is not None or inside is None
    assert free is None or (isinstance(free, dict) and all(holds(c, free) for c in asked))


def test_without_bounds_nothing_is_missed() -> None:
    assert solution([Constraint({"a": -1, "n": -1, "": -1}, ">="), integers.at_least({"n": 1}, {})]) is not None
    assert solution([Constraint({"a": 2, "b": -2, "": 1}, "=")]) is None
    assert solution([integers.less({"a": 1}, {"b": 1}), integers.less({"b": 1}, {"a": 1})]) is None


@pytest.mark.parametrize("seed", range(100))
def test_what_has_no_solution_near_zero_is_asked_of_isl_alike(seed: int) -> None:
    islpy = pytest.importorskip("islpy")
    rng = random.Random(1000 + seed)
    asked = [drawn(rng, NAMES) for _ in range(6)]
    text = " and ".join(
        " + ".join(f"{k}*{name}" if name else str(k) for name, k in c.form.items()) + f" {c.op} 0" for c in asked
    )
    whole = islpy.Set.read_from_str(integers.context(), f"{{ [{', '.join(NAMES)}] : {text} }}")
    assert (solution(asked) is None) == whole.is_empty()
