"""The corpus on the CPU under AddressSanitizer and UndefinedBehaviorSanitizer: clean, and planted faults are found."""

from __future__ import annotations

import pytest

from tests.corpus.sanitized import found_in
from tests.corpus.test_corpus import cases
from tests.tools import require

require("cc", "sanitizers")

NAMES = [name for name, case in cases() if "cpu" not in case.refused]


def test_planted_faults_are_found() -> None:
    found = found_in(NAMES[:4], ("; ++i) {", "+ 1; ++i) {"))
    assert any("heap-buffer-overflow" in text for text in found.values())
    shift = "__attribute__((constructor)) static void planted(void) { volatile int n = 40, m = 1 << n; (void)m; }"
    found = found_in(NAMES[:2], ("#include <math.h>", f"#include <math.h>\n{shift}"))
    assert any("shift exponent" in text for text in found.values())


@pytest.mark.parametrize("field", sorted({name.partition("-")[0] for name in NAMES}))
def test_clean(field: str) -> None:
    found = found_in(name for name in NAMES if name.startswith(f"{field}-"))
    assert not found, "\n".join(f"{name}:\n{text}" for name, text in found.items())
