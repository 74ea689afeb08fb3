"""Constants of modules that are read as text: the values that Python gives them, or a refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import transkern
from transkern.cli import cli
from transkern.frontend.sources.texts import TextScope, read_module

_HEAD = "import math\nfrom math import pi, sqrt\nimport numpy as np\nfrom numpy import array, float32 as f32\n"
GOOD = """
A = np.array([[0, 1], [1, 0]], dtype=complex)
B = np.float32(1) / 3
C = np.deg2rad(30)
D = np.sqrt(2) * np.eye(3)[:2, ::-1]
E = [[1, 0, 1], [0, 1, 1], [-1, -1, math.sqrt(2)]]
F = (np.arange(256) / 255.0) ** 2.2
G = np.float32
H = slice(1, 4)
I = {"low": -1.0, "in": {"a": [1, 2]}}
J = I["in"]["a"][1] + 3
K = (1 << 61) - 1
L = array([1, 2, 3], f32) * pi
M = sqrt(3)
N = np.linspace(0, 1, num=11, endpoint=False, dtype=np.float32)
O = np.full((2, 2), 7.0)
P = np.zeros((3, 4), np.int32)
Q = [0.0] * 8
R = np.pi if K > 3 else None
S = A.shape[0]
T = np.concatenate([F, N])
U = np.dtype("float32")
V = "abc" * 3 + "d"
W = tuple(range(5))
X = max(1, 2, 3)
Y = np.tile([1, 2], (2, 3))
Z = A.T.astype(np.complex64)
AA, AB = 3, not True
AC = AD = 5.0
AE = 2**64 - 1
AF = np.exp(-np.arange(5) ** 2 / 2.0).sum()
AG = float("inf")
AH = [*W, 9]
AI = {**I, "more": 3 + 4j}
AJ = frozenset([1, 2])
AK = np.hanning(8)
AL = np.array([1, 2, 3]).reshape(3, 1) * [1, 2]
AM = math.factorial(10) / math.comb(5, 2)
AN = 1 < J <= 10
AO = -(-7 // 2)
AP = np.newaxis
AQ = np.arange(3, 9, 2)
AR = np.random.default_rng if False else 3
AS = np.where(F > 0.5, F, 0)
print(A, K)
"""


def test_constants_are_pythons() -> None:
    scope, space = TextScope(_HEAD + GOOD, "<text>"), dict[str, Any]()
    exec((_HEAD + GOOD).replace("print(A, K)", "repr(A)"), space)
    names = [name for name in space if name.isupper()]
    assert len(names) > 40
    for name in names:
        made, wanted = scope.constants.value(name), space[name]
        assert (type(made), repr(made)) == (type(wanted), repr(wanted)), name


@pytest.mark.parametrize(("text", "name", "why"), [
    ("X = [1, 2]\nX.append(3)\n", "X", "may be changed here"),
    ("X = np.zeros(3)\nX[0] = 5\n", "X", "may be changed here"),
    ("X = np.zeros(3)\nY = X\nY[0] = 5\n", "X", "may be changed here"),
    ("X = np.zeros(3)\nY = (X, 1)\nnp.put(Y[0], 0, 3)\n", "X", "may be changed here"),
    ("def fill(a):\n    a[0] = 1\nX = np.zeros(3)\nfill(X)\n", "X", "may be changed here"),
    ("X = [3]\nfor k in range(3):\n    X.append(k)\n", "X", "may be changed here"),
    ("X = np.zeros(3)\nnp.add(1, 2, out=X)\n", "X", "may be changed here"),
    ("X = 1\nY = X\nX = 2\n", "Y", "bound more than once"),
    ("X = 1\nX += 1\n", "X", "how it is bound is not read"),
    ("X = 1\nif np.pi > 3:\n    X = 2\n", "X", "bound in several ways"),
    ("X = 1\ndef g():\n    global X\n    X = 2\n", "X", "a function binds it anew"),
    ("for X in range(3):\n    pass\n", "X", "how it is bound is not read"),
    ("class sum:\n    pass\n", "sum", "a class"),
    ("if np.pi > 4:\n    def X(x):\n        return x\nelse:\n    def X(x):\n        return 1\n", "X", "several ways"),
])  # fmt: skip
def test_what_may_be_otherwise_is_refused(text: str, name: str, why: str) -> None:
    scope = TextScope("import numpy as np\n" + text, "<text>")
    refusal = scope.refusal(name)
    assert scope.lookup(name) is None and refusal is not None and why in str(refusal), refusal


@pytest.mark.parametrize(("text", "told"), [
    ("x + len(sys.argv)", "it is not known what `sys.argv` is"),
    ("x if 'HOME' in os.environ else -x", "it is not known what `os.environ` is"),
    ("x * len(os.environ['HOME'])", "`os.environ`"),
    ("x * float(os.environ.get('GAIN', 2))", "`os.environ.get`"),
])  # fmt: skip
def test_what_the_process_has_is_no_constant(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(f"import os, sys\ndef f(x: float):\n    return {text}\n")
    made = CliRunner().invoke(cli, ["emit", str(file)])
    assert made.exit_code == 1 and told in made.output, made.output


def test_what_cannot_change_may_be_used() -> None:
    text = "import numpy as np\nN = 3\nX = np.zeros(N)\nprint(N, X)\nY = list(range(N))\nZ = [1]\nN2 = N\n"
    scope = TextScope(text + "if __name__ == '__main__':\n    X[0] = 1\n    N = 4\n", "<text>")
    assert all(scope.refusal(name) is None for name in ("N", "X", "Y", "Z", "N2"))


def test_names_of_star_imports_hide_pythons(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def max(x):\n    return x + 1\nE = 5\n")
    file = tmp_path / "a.py"
    file.write_text("from numpy import *\nfrom mine import *\nX = E + 1\ndef f(x: 'float64[n]'):\n    return sum(x)\n")
    scope = read_module(file)
    assert str(scope.lookup("sum")) == "Known(path='numpy.sum')"
    assert getattr(scope.lookup("max"), "name", "") == "max" and scope.constants.value("X") == 6
    other = TextScope("from elsewhere import *\n", str(tmp_path / "b.py"))
    assert other.lookup("sum") is None  # nobody knows whether that has one


def test_modules_are_found_as_python_finds_them(tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "inner").mkdir(parents=True)
    (tmp_path / "outside.py").write_text("X = 1\n")
    (package / "__init__.py").write_text("")
    (package / "inner" / "__init__.py").write_text("")
    (package / "values.py").write_text("import numpy as np\nX = np.ones(2)\nfrom .inner.deep import Y\n")
    (package / "inner" / "deep.py").write_text("from ..values import X as Y\n")
    (package / "inner" / "f.py").write_text("from ..values import X, Y\nfrom ... import outside\n")
    scope = read_module(package / "inner" / "f.py")
    for name in ("X", "Y"):
        assert np.array_equal(scope.lookup(name).value, [1, 1]), name  # type: ignore[union-attr]
    assert scope.lookup("outside") is None and "beyond the top-level package" in str(scope.refusal("outside"))


@pytest.mark.parametrize(("head", "encoding"), [
    (b"", "utf-8"), (b"\xef\xbb\xbf", "utf-8"), (b"# coding: latin-1\n", "latin-1"),
    (b"# -*- coding: cp1252 -*-\n", "cp1252"),
    (b"#!/usr/bin/python\n# vim: set fileencoding=iso-8859-15 :\n", "iso-8859-15"),
])  # fmt: skip
def test_files_are_decoded_as_python_decodes_them(head: bytes, encoding: str, tmp_path: Path) -> None:
    text = "W\xe4rme = 'gr\xfc\xdfe'\ndef f(x):\n    return x + len(W\xe4rme)\n"
    file = tmp_path / f"text_{encoding.replace('-', '_')}_{len(head)}.py"
    file.write_bytes(head + text.replace("\n", "\r\n").encode(encoding))
    scope = read_module(file)
    assert scope.constants.value("W\xe4rme") == "gr\xfc\xdfe"
    space: dict[str, Any] = {}
    exec(compile(file.read_bytes(), str(file), "exec"), space)
    assert transkern.compile(space["f"])(np.ones(2)).tolist() == [6.0, 6.0]


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "binary.py"
    file.write_bytes(b"X = '\xff\xfe'\n")
    with pytest.raises(transkern.CompileError, match="cannot be decoded"):
        read_module(file)
