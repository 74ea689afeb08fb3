"""Which names loops carry: a table of functions, and for each loop the names live at its head and after it."""

from __future__ import annotations

import ast
import textwrap

import pytest

from transkern.frontend.syntax.liveness import live_names

TABLE = {
    "parameters and names of a nested function": (
        """
        def g(s):
            t = s + c
            return [u for u in t]
        for i in a:
            s = i
            t = g(s)
            u = t
        """,
        [("c g", "c")],  # what a comprehension inside it binds is its own
    ),
    "a nested function's own comprehension does not bind what it reads besides": (
        """
        def g(x):
            return [t for t in x], t
        for i in a:
            t = i
        return g(a)
        """,
        [("a g t", "a g t")],
    ),
    "a name bound anew in each iteration": (
        """
        for i in a:
            t = i
            b = t
        for i in a:
            t = i
            b = t
        return b
        """,
        [("a b", "a b"), ("b", "b")],  # the second loop may make no iteration: the first one's `b` counts then
    ),
    "sums": (
        """
        s = 0
        for i in a:
            s += i
            for j in a:
                r = s
        return s
        """,
        [("a s", "s"), ("a s", "a s")],
    ),
    "bound under a condition": (
        """
        t = 0
        while c(x):
            if x > 0:
                t = x
            x = t
        """,
        [("c t x", "")],
    ),
    "left early": (
        """
        for i in a:
            t = i
            if t:
                break
            u = t
            if u:
                continue
            t = 0
        return t
        """,
        [("t", "t")],
    ),
    "a loop with else": (
        """
        for i in a:
            if i:
                break
        else:
            t = i
        return t
        """,
        [("i t", "i t")],
    ),
    "targets that read": (
        """
        for k, x[n] in a:
            y[k] = 1
            x = y
        """,
        [("n x y", "")],
    ),
    "nested functions": (
        """
        def g():
            return t
        for i in a:
            t = i
        return g()
        """,
        [("g t", "g t")],
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_live_names(name: str) -> None:
    text, expected = TABLE[name]
    (function,) = ast.parse("def f(a, x, y):\n" + textwrap.indent(textwrap.dedent(text), "    ")).body
    assert isinstance(function, ast.FunctionDef)
    loops = [x for x in ast.walk(function) if isinstance(x, (ast.For, ast.While))]
    found = [live_names(function, loop) for loop in sorted(loops, key=lambda x: x.lineno)]
    assert found == [(set(head.split()), set(after.split())) for head, after in expected]


def test_a_loop_made_of_a_comprehension_carries_what_is_read_anywhere() -> None:
    (function,) = ast.parse("def f(x):\n    return x + y").body
    (loop,) = ast.parse("for i in z: t = i").body
    assert isinstance(function, ast.FunctionDef)
    assert live_names(function, loop) == ({"x", "y", "z"}, {"x", "y", "z"})
