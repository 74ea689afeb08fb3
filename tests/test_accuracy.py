"""The bounds of docs/accuracy.md hold on a sample of all numbers (all of them: benchmarks/accuracy.py)."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import transkern
from tests.tools import require

require("cc")

TABLE = {
    name: bound for name, bound, _ in re.findall(
        r"^\| `(\w+)` \| ([\d.]+( \*)?)",
        (Path(__file__).parents[1] / "docs" / "accuracy.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
}
ONE = sorted(TABLE.keys() - {"power", "arctan2", "hypot"})


def test_the_table_is_read() -> None:
    assert {"exp", "log", "sin", "tanh", "sqrt"} <= set(ONE)


@pytest.mark.parametrize("name", ONE)
def test_float32(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}_alone.py"
    path.write_text(f"import numpy as np\n\n\ndef f(x):\n    return np.{name}(x)\n")
    names: dict[str, object] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    x = np.arange(0, 1 << 32, 65521, dtype=np.uint64).astype(np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        found = transkern.compile(names["f"], target="cpu")(x)  # type: ignore[arg-type]
        exact = getattr(np, name)(x.astype(np.float64))
        single = exact.astype(np.float32)
        special = ~np.isfinite(single)
        np.testing.assert_array_equal(found[special], single[special])
        error = np.abs(found.astype(np.float64) - exact)[~special] / np.spacing(np.abs(single[~special]))
    bound = TABLE[name]  # of a sample: what libmvec promises
    assert error.max(initial=0) <= (4.0 if "*" in bound else float(bound))
