"""What the import of a module changes beside what its statements bind is told from its text: constants that may not be
what they were made as are refused, and others are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from transkern.errors import CompileError
from transkern.frontend.sources.texts import TextScope, read_module

_HEAD = "import math, sys, builtins\nimport numpy as np\n"


@pytest.mark.parametrize("text", [
    "class A:\n    X.append(7.0)\n",
    "class A:\n    X[0] = 7.0\n",
    "def g(a=X.append(7.0)):\n    pass\n",
    "def g(a: X.append(7.0)):\n    pass\n",
    "a: X.append(7.0)\n",
    "def d(f):\n    X.append(3.0)\n    return f\n@d\ndef g():\n    pass\n",
    "def init():\n    X[0] = 5.0\ninit()\n",
    "def init():\n    X[0] = 5.0\n    return 1\nY = init()\n",
    "def init():\n    def inner():\n        a = X\n        a += [3.0]\n    inner()\nY = [init() for k in range(3)]\n",
    "def first():\n    return X\ndef init():\n    first().append(3.0)\ninit()\n",
    "def fill(a):\n    a[0] = 1.0\ndef init():\n    fill(X)\ninit()\n",
    "def fill(*, a):\n    for b in a:\n        b.append(1.0)\ndef init():\n    fill(a=[X])\ninit()\n",
    "def get():\n    return X\nget().append(1.0)\n",
    "class A:\n    def __init__(self, a):\n        self.a = a\n    def go(self):\n        self.a.clear()\nA(X).go()\n",
    "class A:\n    a = X\nA.a.append(1.0)\n",
    "Y = list(map(X.append, [3]))\n",
    "g = lambda a: a.append(1.0)\ndef init():\n    g(X)\ninit()\n",
    "D = {}\nD['x'] = X\nD['x'].append(1.0)\n",
    "def init():\n    del X[0]\ninit()\n",
    "def init():\n    for X[0] in range(3):\n        pass\ninit()\n",
    "def init():\n    X.extend([1.0])\nsys.setprofile(init)\n",
])  # fmt: skip
def test_lists_that_are_changed_meanwhile(text: str) -> None:
    scope = TextScope(f"{_HEAD}X = [1.0, 2.0]\n{text}", "<text>")
    refusal = scope.refusal("X")
    assert scope.lookup("X") is None and refusal is not None and "may be changed here" in str(refusal)


@pytest.mark.parametrize("text", [
    "Y = X[1:]\nY += 4\n",
    "Y = np.add(X, 1, X)\n",
    "Y = np.add.at(X, [0], 1)\n",
    "Y = np.random.shuffle(X)\n",
    "Y = np.put(X, [0], 9.0)\n",
    "Y = np.place(X, X > 2, 9.0)\n",
    "Y = np.sum(np.ones((3, 3)), 0, None, X)\n",
    "Y = np.ndarray.sort(X)\n",
    "Y = np.nan_to_num(X, copy=False)\n",
    "def init():\n    np.copyto(X, 3.0)\ninit()\n",
    "def init():\n    a = np.asarray(X).reshape(3, 1)\n    a[0] = 1\ninit()\n",
])  # fmt: skip
def test_arrays_that_are_changed_meanwhile(text: str) -> None:
    scope = TextScope(f"{_HEAD}X = np.array([3.0, 1.0, 2.0])\n{text}", "<text>")
    refusal = scope.refusal("X")
    assert scope.lookup("X") is None and refusal is not None and "may be changed here" in str(refusal)


@pytest.mark.parametrize("text", [
    "globals()['X'] = 5.0\n",
    "globals().update(X=5.0)\n",
    "exec('X = 5.0')\n",
    "vars()['X'] = 5.0\n",
    "locals().__setitem__('X', 5.0)\n",
    "sys.modules[__name__].X = 5.0\n",
    "setattr(sys.modules[__name__], 'X', 5.0)\n",
    "def g():\n    globals()['X'] = 5.0\ng()\n",
    "def g():\n    pass\ng.__globals__['X'] = 5.0\n",
])  # fmt: skip
def test_names_that_are_bound_by_other_ways(text: str) -> None:
    scope = TextScope(f"{_HEAD}X = 1.0\n{text}", "<text>")
    assert scope.lookup("X") is None and "any name may be bound anew here" in str(scope.refusal("X"))


@pytest.mark.parametrize("text", [
    "if __name__ != '__main__':\n    X = 5.0\n",
    "if __name__ not in ('a',):\n    X = 5.0\n",
    "try:\n    X = 1 / 0\nexcept ZeroDivisionError:\n    pass\n",
    "try:\n    math.missing\n    X = 5.0\nexcept AttributeError:\n    pass\n",
    "try:\n    import missing\n    Y = 5.0\nexcept ImportError:\n    X = 7.0\n",
    "try:\n    import missing\n    W = 5.0\nexcept ImportError:\n    pass\nelse:\n    W = 9.0\nX = W\n",
    "try:\n    from math import nothing\n    W = 5.0\nexcept ImportError:\n    V = 1.0\nX = W\n",
    "from math import *\nX = pi\nfrom cmath import *\nX = 3\nfrom elsewhere import *\n",
])  # fmt: skip
def test_statements_that_may_not_run(text: str) -> None:
    scope = TextScope(f"{_HEAD}X = 1.0\n{text}", "<text>")
    assert scope.lookup("X") is None and scope.refusal("X") is not None


@pytest.mark.parametrize("text", [
    "try:\n    import missing\n    W = 5.0\nexcept ImportError:\n    pass\nelse:\n    W = 9.0\n",
    "try:\n    W = 1 / 0\nexcept ZeroDivisionError:\n    pass\n",
    "try:\n    import missing\nexcept ImportError:\n    V = 1.0\nelse:\n    W = 9.0\n",
])  # fmt: skip
def test_names_that_only_a_try_statement_binds(text: str) -> None:
    scope = TextScope(_HEAD + text, "<text>")
    assert scope.lookup("W") is None and "of which not all may run" in str(scope.refusal("W"))
    scope = TextScope(_HEAD + "try:\n    W = 9.0\nexcept ValueError:\n    raise\n", "<text>")
    assert str(scope.lookup("W")) == "Static(value=9.0)"


def test_what_stands_below_counts() -> None:
    scope = TextScope("pi = 3.0\nfrom math import *\n", "<text>")
    assert scope.lookup("pi") is None and "bound anew by a `from … import *`" in str(scope.refusal("pi"))
    scope = TextScope("from math import sqrt\nX = sqrt(4)\nfrom math import exp as sqrt\n", "<text>")
    assert scope.lookup("X") is None and "bound more than once" in str(scope.refusal("X"))


@pytest.mark.parametrize("text", [
    "np.sin = np.cos\n",
    "setattr(np, 'sin', np.cos)\n",
    "class A:\n    np.sin = np.cos\n",
    "def g():\n    np.sin = np.cos\ng()\n",
    "m = np\nm.sin = np.cos\n",
    "for np.sin in [np.cos]:\n    pass\n",
    "import numpy\nnumpy.linalg.norm = 3\n",
])  # fmt: skip
def test_modules_that_are_given_other_attributes(text: str) -> None:
    scope = TextScope(_HEAD + text, "<text>")
    assert scope.lookup("np") is None and "what `numpy` is was changed here" in str(scope.refusal("np"))
    assert str(scope.lookup("math")) == "Known(path='math')"


@pytest.mark.parametrize(("first", "second"), [
    ("X = 1.0\n", "import config\nconfig.X = 5.0\n"),
    ("X = [1.0]\n", "import config\nconfig.X[0] = 5.0\n"),
    ("X = [1.0]\n", "from config import X\nX[0] = 5.0\n"),
    ("X = [1.0]\n", "from config import *\nX.append(1.0)\n"),
    ("X = [1.0]\ndef go():\n    X.append(2.0)\n", "import config\nconfig.go()\n"),
    ("X = [1.0]\ndef go():\n    X.append(2.0)\n", "from config import X, go\ngo()\n"),
    ("X = [1.0]\ndef go():\n    X.append(2.0)\n", "from config import *\ngo()\n"),
])  # fmt: skip
def test_what_one_module_changes_in_another(first: str, second: str, tmp_path: Path) -> None:
    (tmp_path / "config.py").write_text(first)
    (tmp_path / "main.py").write_text(f"{second}from config import X as Y\n")
    scope = read_module(tmp_path / "main.py")
    assert scope.lookup("Y") is None and scope.refusal("Y") is not None


_ORDINARY = """
import functools, logging
from dataclasses import dataclass
log = logging.getLogger(__name__)
try:
    from numba import njit
except ImportError:
    def njit(f):
        return f
X = [1.0, 2.0]
K = np.array([[1.0, 2.0], [3.0, 4.0]])
NAMES = {"a": 1, "b": X}
SIZE = len(X)
def helper(k, weights):
    total = 0.0
    for w in weights:
        total += w
    k = k / total
    k[0] = 0.0
    return k
@njit
def f(x):
    y = x * K[0]
    y[0] = X[0]
    y += K.sum()
    return helper(y, X) @ K.T
@functools.lru_cache
def g(n):
    return np.dot(K, K)[n, 0] + NAMES["b"][0]
@dataclass
class A:
    a: int = SIZE
    def go(self):
        self.a += 1
        self.b = np.zeros(self.a)
        return K.copy().sort()
def change():
    X.append(3.0)
log.info("%s", SIZE)
print(f(np.ones(2)), g(0), A().go())
Y = [*sorted(X), 3]
if __name__ == "__main__":
    change()
"""


def test_ordinary_modules_are_read() -> None:
    scope = TextScope(_HEAD + _ORDINARY, "<text>")
    for name in ("X", "K", "NAMES", "SIZE", "f", "g", "helper", "np"):
        assert scope.lookup(name) is not None, str(scope.refusal(name))


def test_defaults_are_made_once(tmp_path: Path) -> None:
    from transkern.frontend.specialise import specialise
    from transkern.frontend.values.types import parse_signature

    types = parse_signature("f(float64[n])")[1]
    for text, why in (
        ("def g(a=[]):\n    a.append(1.0)\n    return float(len(a))\n", "a change of a list or dict from outside"),
        ("D = 3.0\ndef g(a=D):\n    return a\nD = 4.0\n", "the default `D` is bound more than once"),
    ):
        scope = TextScope(text + "def f(x):\n    return x * g()\n", "<text>")
        with pytest.raises(CompileError, match=why):
            specialise(scope.function("f"), types)
