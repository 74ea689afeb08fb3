"""The corpus' CUDA kernels under AddressSanitizer and UndefinedBehaviorSanitizer: nothing outside an array is touched.

Every thirtieth case; all of them with `TRANSKERN_CORPUS=cuda` or `all` (`make corpus`).
"""

from __future__ import annotations

import pytest

from tests.corpus.registry import Case
from tests.corpus.test_corpus import ASKED, cases
from tests.cuda.corpus import findings
from tests.tools import on_target, require

require("c++", "sanitizers")

_EVERY = 1 if ASKED in ("cuda", "all") else 30
_CASES = [pytest.param(case, id=name) for name, case in cases() if "cuda" not in case.refused]


@pytest.mark.parametrize("case", _CASES[::_EVERY])
def test_nothing_is_found(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    assert not findings(case)


def test_a_planted_access_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    case = dict(cases())["arrays_finance-drawdown"]
    assert "AddressSanitizer" in findings(case, planted=("_out[0] =", "_out[-1] ="))
