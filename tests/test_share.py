"""Which tests `make test` and `make test-fast` leave out."""

from __future__ import annotations

import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest


class _Item:
    def __init__(self, path: str, name: str, target: str | None = None, slow: bool = False) -> None:
        self.path, self.nodeid, self.slow = Path(path), f"{path}::{name}", slow
        self.callspec = SimpleNamespace(params={} if target is None else {"target": target})

    def get_closest_marker(self, name: str) -> object:
        return True if name == "slow" and self.slow else None


@pytest.fixture
def select(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    plugins = request.config.pluginmanager.get_plugins()
    (conftest,) = (x for x in plugins if getattr(x, "__file__", "") == str(Path(__file__).with_name("conftest.py")))

    def selected(items: list[_Item], devices: str = "", share: str = "") -> list[_Item]:
        monkeypatch.setenv("TRANSKERN_DEVICES", devices)
        monkeypatch.setenv("TRANSKERN_SHARE", share)
        left, out = list(items), []
        config = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda items: out.extend(items)))
        conftest.pytest_collection_modifyitems(config, left)
        assert [x for x in items if x not in out] == left and len(out) + len(left) == len(items)
        return left

    return selected


def test_all_run_where_nothing_is_said(select: Any) -> None:
    items = [_Item("tests/loops/test_a.py", str(k), "cuda") for k in range(100)]
    assert select(items) == items


def test_half_of_what_devices_are_asked(select: Any) -> None:
    items = [_Item("tests/loops/test_a.py", f"{k}-{t}", t) for k in range(100) for t in ("cpu", "cuda", "pallas")]
    kept = select(items, "half")
    assert [x for x in kept if x.callspec.params["target"] == "cpu"] == items[::3]
    left_out = {x.nodeid for x in items} - {x.nodeid for x in kept}
    assert left_out and all(zlib.crc32(name.encode()) % 2 for name in left_out)
    others = [_Item("tests/cuda/test_a.py", str(k), "cuda") for k in range(50)]
    assert select(others, "half") == others, "of what no other target is asked, all"


def test_every_other_or_third_case_of_a_test_that_has_many(select: Any) -> None:
    most = [_Item("tests/loops/test_a.py", f"most[{k}]") for k in range(90)]
    many = [_Item("tests/loops/test_a.py", f"many[{k}]") for k in range(15)]
    some = [_Item("tests/loops/test_a.py", f"some[{k}]") for k in range(3)]
    kept = select([*most, *many, *some], share="most")
    assert set(some) <= set(kept) and 4 <= len(set(kept) & set(many)) < 12
    assert 20 <= len(set(kept) & set(most)) < 40
    assert select([*most, *many, *some], share="most") == kept, "the same each time"
    on_devices = [_Item("tests/loops/test_b.py", f"b[{k}-cuda]", "cuda") for k in range(120)]
    assert 10 <= len(select(on_devices, "half", "most")) < 30, "of what one share leaves, the other one leaves some"


def test_a_share_of_each_file(select: Any) -> None:
    large = [_Item("tests/loops/test_a.py", f"large_{k}") for k in range(200)]
    small = [_Item("tests/trust/test_b.py", f"small_{k}") for k in range(2)]
    slow = [_Item("tests/trust/test_c.py", f"slow_{k}", slow=True) for k in range(9)]
    kept = select([*slow, *large, *small], share="fast")
    assert len(set(kept) & set(large)) == 5 and len(set(kept) & set(small)) == 1 and not set(kept) & set(slow)
    assert select([*slow, *large, *small], share="fast") == kept, "the same each time"
