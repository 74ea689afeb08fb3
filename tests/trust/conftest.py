"""What programs compute is asked here, not how fast: code is compiled in half the time."""

from __future__ import annotations

import pytest

from transkern.targets.cpu import compiler


@pytest.fixture(autouse=True)
def quick_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = tuple("-O1" if flag == "-O3" else flag for flag in compiler.flags())
    monkeypatch.setattr(compiler, "flags", lambda: flags)
