"""What the tests of the CUDA target share."""

from __future__ import annotations

import pytest

from tests.tools import on_target


@pytest.fixture
def on_simulator(monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA is there: the simulator, where no device is."""
    on_target("cuda", monkeypatch)
