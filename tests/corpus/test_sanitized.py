"""The corpus on the CPU under AddressSanitizer and UndefinedBehaviorSanitizer: clean, and planted faults are found.

Every eighth case; all of them with `TRANSKERN_CORPUS=all` (`make corpus`).
"""

from __future__ import annotations

import pytest

from tests.corpus.sanitized import found_in
from tests.corpus.test_corpus import ASKED, cases
from tests.tools import require

require("cc", "sanitizers")

NAMES = [name for name, case in cases() if "cpu" not in case.refused]
_CHECKED = NAMES if ASKED == "all" else NAMES[::12]
_PARTS = 3  # a process each: enough for workers to share, few to start


def test_planted_faults_are_found() -> None:
    found = found_in(NAMES[:4], ("; ++i) {", "+ 1; ++i) {"))
    assert any("heap-buffer-overflow" in text for text in found.values())
    shift = "__attribute__((constructor)) static void planted(void) { volatile int n = 40, m = 1 << n; (void)m; }"
    found = found_in(NAMES[:2], ("#include <math.h>", f"#include <math.h>\n{shift}"))
    assert any("shift exponent" in text for text in found.values())


@pytest.mark.parametrize("part", range(_PARTS))
def test_clean(part: int) -> None:
    found = found_in(_CHECKED[part::_PARTS])
    assert not found, "\n".join(f"{name}:\n{text}" for name, text in found.items())
