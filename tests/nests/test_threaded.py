"""ThreadSanitizer on the CPU's code of nests: no race, and a race that is planted is found.

Every other one; all of them with `TRANSKERN_CORPUS=all` (`make corpus`).
"""

from __future__ import annotations

import pytest

from tests.corpus.test_corpus import ASKED
from tests.nests.collected import NESTS
from tests.nests.random_nests import random_nest
from tests.nests.threaded import races
from tests.tools import require

require("cc", "sanitizers")

OTHER_PROCESSES = True  # they look for the code under the flags that users have

BY_NAME = {nest.name: nest for nest in NESTS}


def test_a_planted_race_is_found() -> None:
    loop = "for (int64_t i"
    planted = ["copied_down", "distance_ten", "into_the_next"]
    nests = [BY_NAME[name] for name in planted]
    found = races(nests, lambda text: text.replace(loop, f"\n#pragma omp parallel for\n{loop}"))
    assert set(found) == {nest.name for nest in nests}
    assert all("data race" in text for text in found.values())


def reported(found: dict[str, str]) -> str:
    return "\n".join(f"{name}:\n{text[:2000]}" for name, text in found.items())


def test_no_race_in_random_nests() -> None:
    found = races(random_nest(seed) for seed in range(10))
    assert not found, reported(found)


@pytest.mark.parametrize("theme", sorted({nest.theme for nest in NESTS}))
def test_no_race(theme: str) -> None:
    nests = [nest for nest in NESTS if nest.theme == theme]
    found = races(nests if ASKED == "all" else nests[::5])
    assert not found, reported(found)
