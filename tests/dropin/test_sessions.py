"""Functions of modules that exist already: they stay the objects that they are, and are as they were afterwards."""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.dropin.shells import Shell
from tests.tools import require
from transkern.dropin import deciding
from transkern.dropin.cells import Cells

TEXT = '''
import functools
import numpy as np


def norms(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(x.shape[1]):
            out[i] += x[i, j] * x[i, j]
    return np.sqrt(out)


@functools.lru_cache(maxsize=None)
def triangle(n):
    return sum(k for k in range(n))


class Grid:
    def __init__(self, n):
        self.cells = np.arange(n * 1.0)

    def step(self):
        for k in range(1, len(self.cells)):
            self.cells[k] += 0.5 * self.cells[k - 1]

    @property
    def mean(self):
        return sum(v for v in self.cells) / len(self.cells)

    @staticmethod
    def scaled(x, by):
        return [by * v for v in x]


def fails(x, k):
    for i in range(len(x)):
        x[i] = x[i + k]
    return x


handed = norms
'''


@pytest.fixture
def module(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[types.ModuleType]:
    path = tmp_path / "shapes_of_users.py"
    path.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("shapes_of_users", path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[made.__name__] = made
    spec.loader.exec_module(made)
    yield made
    del sys.modules[made.__name__]


def all_of_it(m: types.ModuleType) -> Any:
    grid = m.Grid(50)
    grid.step()
    x = np.arange(12.0).reshape(4, 3)
    values = np.arange(5.0)
    with pytest.raises(IndexError) as error:
        m.fails(values, 2)
    frames = [(entry.name, entry.lineno) for entry in error.traceback][1:]
    return (
        m.norms(x).tolist(), m.triangle(10), grid.cells.tolist(), grid.mean, m.Grid.scaled([1, 2], 3), frames,
        values.tolist(), m.handed is m.norms,
    )  # fmt: skip


def codes(m: types.ModuleType) -> list[types.CodeType]:
    functions = [m.norms, m.triangle.__wrapped__, m.Grid.step, m.Grid.mean.fget, m.Grid.scaled, m.fails]
    return [f.__code__ for f in functions]


def test_functions_are_compiled_inside_and_are_as_they_were_afterwards(
    module: types.ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    require("cc")
    before, objects = codes(module), dict(vars(module))
    wanted = all_of_it(module)
    module.triangle.cache_clear()
    with transkern.session(module, eager=True, target="cpu", report=True):
        assert all(now is not was for now, was in zip(codes(module), before, strict=True))
        assert all(vars(module)[name] is value for name, value in objects.items())
        assert all_of_it(module) == wanted
    assert codes(module) == before
    told = capsys.readouterr().err
    for name in ("norms", "triangle", "Grid.step", "Grid.mean", "Grid.scaled", "fails"):
        assert name in told
    assert told.count(" compiled") >= 5
    assert all_of_it(module) == wanted


def test_a_module_installs_itself(module: types.ModuleType) -> None:
    exec("import transkern\nsession = transkern.install(target='cpu')", vars(module))
    session = vars(module)["session"]
    changed = codes(module)
    assert session.add(module) == 0  # they ask already
    assert codes(module) == changed
    session.close()
    session.close()
    assert plain(module) == codes(module)


def plain(m: types.ModuleType) -> list[types.CodeType]:
    space: dict[str, Any] = {"__name__": m.__name__}
    exec(compile(TEXT, str(m.__file__), "exec", dont_inherit=True), space)
    return codes(types.SimpleNamespace(**space))  # type: ignore[arg-type]


def test_time_decides(module: types.ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short calls stay in Python, long ones do not."""
    require("cc")
    monkeypatch.setattr(deciding, "LEAST", 60.0)  # a machine that is busy with other tests takes its time
    x = np.ones((300, 300))
    with transkern.session(module, target="cpu") as session:
        for _ in range(3):
            module.triangle.__wrapped__(3)
        wanted = module.norms(x)
        states: dict[str, str] = {}
        for _ in range(400):  # of some milliseconds, on a fast machine
            assert np.array_equal(module.norms(x), wanted)
            states = {f.site.name: f.state for f in session.watch.functions}
            if states["norms"] == "compiled":
                break
    assert states["norms"] == "compiled" and states["triangle"] == "undecided"


def test_a_module_that_has_changed_stays_as_it_is(module: types.ModuleType) -> None:
    Path(str(module.__file__)).write_text("# another\n" + TEXT.replace("0.5", "0.25"))
    before = codes(module)
    with transkern.session(module, eager=True):
        assert codes(module) == before


def test_what_was_found_out_is_kept_also_where_a_session_is_closed_twice(module: types.ModuleType) -> None:
    """As one that is installed is, by its user and when the process ends."""
    require("cc")
    session = transkern.install(module, eager=True, target="cpu")
    module.norms(np.ones((3, 3)))
    session.close()
    session.close()
    with transkern.session(module, target="cpu") as again:
        (norms,) = (f for f in again.watch.functions if f.site.name == "norms")
        assert norms.state == "undecided" and norms.record.cached


def test_unknown_targets_are_told(module: types.ModuleType) -> None:
    with pytest.raises(ValueError, match="target must be one of"):
        transkern.install(module, target="gpu")


def test_cells_of_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    require("cc")
    monkeypatch.setattr(deciding, "LEAST", 60.0)
    shell = Shell()
    shell.run_cell("def before(n):\n    return [k * k for k in range(n)]\n")
    transkern.load_ipython_extension(shell)
    shell.run_cell("def total(n):\n    s = 0\n    for k in range(n):\n        s += k % 7\n    return s\n")
    session = shell.user_ns["transkern_session"]
    assert {f.site.name for f in session.watch.functions} == {"before", "total"}
    shell.run_cell("results = [total(2_000_000) for _ in range(30)]")
    assert shell.user_ns["results"] == [sum(k % 7 for k in range(2_000_000))] * 30
    assert {f.site.name: f.state for f in session.watch.functions}["total"] == "compiled"
    shell.run_cell("def total(n):\n    return n\nresult = total(4)\n")
    assert shell.user_ns["result"] == 4
    transkern.unload_ipython_extension(shell)
    assert not shell.called and isinstance(Cells(shell), Cells)
