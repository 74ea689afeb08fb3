"""Packages whose functions take dicts, dataclasses and named tuples: taken apart at the border, as Python sees them."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.tools import require
from transkern.cli import cli

SOURCE = '''
import dataclasses as dc
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 0.0

    def norm(self):
        return (self.x**2 + self.y**2) ** 0.5


class Box(NamedTuple):
    low: Point
    sizes: "float64[n]"


@dc.dataclass(slots=True)
class Grid:
    cells: "float64[:, :]"
    steps: int
    wrap: bool = False


def inside(box: Box, p: Point):
    return box.low.x <= p.x <= box.low.x + box.sizes[0] and p.y <= box.low.y + box.sizes[-1]


def smooth(g: Grid):
    u = g.cells.copy()
    for _ in range(g.steps):
        u[1:-1] = (u[:-2] + u[2:]) / 2
    return u, g.wrap


def line(o, x: "float64[n]"):
    s = 0.0
    for key, v in o.items():
        s += v[0] if key == "w" else v
    return x * o["a"] + s


def equal(p: Point, q: Point):
    return p == q, p != q, p.x < q.x
'''

USE = SOURCE + '''
import importlib, json, sys

sys.modules["transkern"] = None
own = dict(globals())
sys.path.insert(0, sys.argv[1])
package = importlib.import_module("functions")
x, squares = np.arange(8.0), np.arange(20.0).reshape(4, 5) ** 2
P, nan = Point, float("nan")


class Other:
    def __init__(self):
        self.x, self.y = 1.0, 2.0


class Further(Point):
    pass


calls = [
    ("inside", Box(P(0.0), np.ones(2)), P(0.5, 0.5)), ("inside", Box(P(0.0, nan), np.ones(1)), P(0.5, 0.5)),
    ("inside", Box(P(0.0), x[::-2]), P(0.5, 9.0)), ("inside", Box(P(0.0), x[:0]), P(0.5, 0.5)),
    ("smooth", Grid(squares, 3)), ("smooth", Grid(squares.T, 3, True)),
    ("smooth", Grid(np.ones((1, 1)), 2)), ("smooth", Grid(np.ones((0, 3)), 2)),
    ("line", {"a": 2.0, "w": x, 3: 1}, x), ("line", {"a": 2.0, "w": x[::3], 3: 1}, x[:1]),
    ("equal", P(1.0, 2.0), P(1.0, 2.0)), ("equal", P(-0.0, 2.0), P(0.0, 2.0)), ("equal", P(nan, 2.0), P(1.0, 2.0)),
]
wrong = [
    ("line", {"a": 2.0, 3: 1, "w": x}, x), ("line", {"a": 2.0, "w": x}, x), ("line", {"a": 2.0, "w": x, True: 1}, x),
    ("line", [2.0], x), ("smooth", Grid(np.ones((3, 3), np.float32), 1)), ("equal", P(1, 2.0), P(1.0, 2.0)),
    ("equal", Other(), P(1.0, 2.0)), ("equal", Further(1.0, 2.0), P(1.0, 2.0)), ("equal", (1.0, 2.0), P(1.0, 2.0)),
]


def outcome(f, *args):
    try:
        return repr(f(*args))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


print(json.dumps({
    "wanted": [outcome(own[name], *args) for name, *args in calls],
    "found": [outcome(getattr(package, name), *args) for name, *args in calls],
    "wrong": [outcome(getattr(package, name), *args) for name, *args in wrong],
}))
'''


def _built(folder: Path, source: str, *options: str) -> tuple[int, str]:
    (folder / "functions.py").write_text(source)
    command = ["build", str(folder / "functions.py"), "-o", str(folder / "out"), "--level", "v2", *options]
    found = CliRunner().invoke(cli, command)
    return found.exit_code, found.output


def test_dicts_and_objects_of_fields_are_taken_apart(tmp_path: Path) -> None:
    require("cc")
    names = [word for name in ("inside", "smooth", "equal") for word in ("-f", name)]
    code, said = _built(tmp_path, SOURCE, *names, "--types", "line({'a': float, 'w': float64[m], 3: int}, float64[n])")
    assert code == 0, said
    run = subprocess.run(
        [sys.executable, "-c", USE, str(tmp_path / "out")], capture_output=True, text=True, check=False, cwd=tmp_path,
        env={"PATH": "/nowhere", "TRANSKERN_LEVEL": "2"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["found"] == found["wanted"]
    assert all(text.startswith("TypeError: ") and " was compiled for (" in text for text in found["wrong"]), found
    stub = (tmp_path / "out" / "functions" / "__init__.pyi").read_text()
    ast.parse(stub)
    assert "def line(o: dict[str | int, float | NDArray[np.float64] | int], x: NDArray[np.float64])" in stub


POINT = """from dataclasses import dataclass

@dataclass{}
class P:
    x: float
    y: float
{}

def f(p: P, q: P):
"""


@pytest.mark.parametrize(
    ("options", "more", "body", "said"),
    [
        ("", "    def norm(self):\n        return 1.0\n", "return p.norm()", "`P.norm` of a class"),
        ("", "    @property\n    def far(self):\n        return 1.0\n", "return p.far", "`P.far` of a class"),
        ("", "    def __eq__(self, other):\n        return True\n", "return p == q", "nothing states the types"),
        ("(eq=False)", "", "return p == q", "nothing states the types"),
        ("", "    z: list\n", "return p.x", "nothing states the types"),
        ("", "", "p.x = 2.0", "`f` changes a list, dict or object that it is given"),
        ("", "", "return p", "`f` hands on a list, tuple, dict or object that it was given, itself"),
        ("", "", "return p is q", "its file asks with `is` which"),
        ("", "", "return P(1.0, 2.0)", "`P` is a class"),
    ],
)
def test_what_nobody_knows_of_a_class_is_refused(
    tmp_path: Path, options: str, more: str, body: str, said: str
) -> None:
    code, output = _built(tmp_path, POINT.format(options, more) + f"    {body}\n", "-f", "f")
    assert code == 1 and said in output and "Traceback" not in output, output


EDGES = """
def inner(u: "float64[n, m]"):
    u = u.copy()
    u[1:-1] = (u[:-2] + u[2:]) / 2
    return u
"""
USE_EDGES = EDGES + """
import importlib, sys
import numpy as np

sys.path.insert(0, sys.argv[1])
package = importlib.import_module("functions")


def outcome(f, u):
    try:
        return repr(f(u))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


for n in range(6):
    for m in (0, 1, 2, 3):
        u = np.arange(float(n * m)).reshape(n, m) ** 2
        for one in (u, np.asfortranarray(u)):
            assert outcome(inner, one) == outcome(package.inner, one), (n, m, outcome(package.inner, one))
"""


@pytest.mark.parametrize("options", [(), ("--stated-only",)])
def test_all_sizes_that_the_types_allow_are_served(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Of three rows `u[1:-1]` has one, which NumPy would stretch: that is another program."""
    require("cc")
    code, said = _built(tmp_path, EDGES, *options)
    assert code == 0 and f"{2 if options else 7} shared objects" in said, said
    if not options:
        run = subprocess.run(
            [sys.executable, "-c", USE_EDGES, str(tmp_path / "out")], capture_output=True, text=True, check=False,
            cwd=tmp_path, env={"TRANSKERN_LEVEL": "2"},
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
