"""Functions as parts: the text before and after. `out()` stands for what is refused; a part prints as its body does."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from transkern.partial.splitting import split

CASES = {
    "a part before and a part behind": (
        """
        def f(x):
            y = x * 2
            out(y)
            z = y + 1
            return z
        """,
        """
        def f(x):
            y = part0(x)
            out(y)
            return part1(y)
        """,
    ),
    "a part in each block of a branch": (
        """
        def f(x, c):
            if c:
                y = x * 2
                out()
            else:
                y = x + 1
            return y * y
        """,
        """
        def f(x, c):
            if c:
                y = part0(x)
                out()
            else:
                y = part1(x)
            return part2(y)
        """,
    ),
    "a loop that stays": (
        """
        def f(x, n):
            s = 0.0
            for k in range(n):
                s += np.sum(x) * k
                out(s)
            return s
        """,
        """
        def f(x, n):
            s = 0.0
            for k in range(n):
                s = part0(k, s, x)
                out(s)
            return s
        """,
    ),
    "scalar steps in a loop that stays are left alone": (
        """
        def f(x, n):
            s = 0.0
            for k in range(n):
                s += k
                out(s)
            return s
        """,
        None,
    ),
    "a name that may be unbound": (
        """
        def f(x, c):
            if c:
                y = x * 2
                out()
            z = y + x
            out()
            return z
        """,
        """
        def f(x, c):
            if c:
                y = part0(x)
                out()
            z = y + x
            out()
            return z
        """,
    ),
    "an early return stays, one at the end does not": (
        """
        def f(x):
            if x[0] > 1:
                return None
            out()
            y = x.sum()
            if y > 2:
                return y
            y = y * x.mean()
            return y
        """,
        """
        def f(x):
            if x[0] > 1:
                return None
            out()
            return part0(x)
        """,
    ),
    "nothing is moved out of a try": (
        """
        def f(x):
            try:
                y = x * 2
                out()
            except ValueError:
                y = x
            z = y * 3
            return z
        """,
        None,
    ),
    "a break of the loop around": (
        """
        def f(x):
            for k in range(9):
                out()
                if x[k] > 0:
                    break
                x = np.sort(x)
            return x
        """,
        """
        def f(x):
            for k in range(9):
                out()
                if x[k] > 0:
                    break
                x = part0(x)
            return x
        """,
    ),
    "names that a nested function shares": (
        """
        def f(x):
            y = x * 2
            def g():
                return y
            out(g)
            y = x * 3
            z = x * 4
            return g() + z
        """,
        """
        def f(x):
            y = x * 2

            def g():
                return y
            out(g)
            y = x * 3
            return part0(g, x)
        """,
    ),
    "a manager that may swallow exceptions, and one that does not": (
        """
        def f(x, m):
            with open("a") as file:
                z = x * 2
                out(file)
            with m:
                y = x * 3
                out()
            return y * z
        """,
        """
        def f(x, m):
            with open('a') as file:
                z = part0(x)
                out(file)
            with m:
                y = x * 3
                out()
            return y * z
        """,
    ),
    "a name that is bound in a part on some path only": (
        """
        def f(x, c):
            y = 0
            out()
            if c:
                y = x * 2
            w = x * 3
            out()
            return y + w
        """,
        """
        def f(x, c):
            y = 0
            out()
            w, y = part0(c, x, y)
            out()
            return part1(w, y)
        """,
    ),
    "who looks at the frame": (
        """
        def f(x):
            y = x * 2
            out(locals())
            return y * 2
        """,
        None,
    ),
    "a generator": (
        """
        def f(x):
            for k in range(9):
                y = np.sort(x)
                yield y
        """,
        """
        def f(x):
            for k in range(9):
                y = part0(x)
                yield y
        """,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_split(name: str) -> None:
    text, wanted = CASES[name]
    (function,) = ast.parse(dedent(text)).body
    assert isinstance(function, ast.FunctionDef)
    calls = [x for x in ast.walk(function) if isinstance(x, ast.Call)]
    asked = {id(x) for x in calls if isinstance(x.func, ast.Name) and x.func.id == "out"}
    refused = [
        s for s in ast.walk(function)
        if isinstance(s, ast.Expr) and any(id(x) in asked or isinstance(x, ast.Yield) for x in ast.walk(s))
    ]  # fmt: skip
    before = ast.dump(function)
    found = split(function, refused, [{}])
    assert ast.dump(function) == before
    if wanted is None:
        assert found is None
        return
    assert found is not None
    assert ast.unparse(found.node).replace("transkern part ", "part") == dedent(wanted).strip("\n")
    assert [part.name for part in found.parts] == [f"transkern part {k}" for k in range(len(found.parts))]
