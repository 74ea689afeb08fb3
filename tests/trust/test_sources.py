"""What is compiled is what Python would run: the text that has the function's bytecode, or none."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import linecache
import os
import subprocess
import sys
import textwrap
import types
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from transkern.errors import CompileError
from transkern.frontend.sources.written import written


@pytest.fixture
def module(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Writes a module and imports it, anew where it is there already."""
    names: list[str] = []

    def made(name: str, text: str, run: bool = True) -> Any:
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(text))
        known = os.stat(path)
        os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns + len(names) * 10**9))  # never the time of the last one
        names.append(name)
        if not run:
            return path
        importlib.invalidate_caches()
        if name in sys.modules:
            return importlib.reload(sys.modules[name])
        return importlib.import_module(name)

    sys.path.insert(0, str(tmp_path))
    try:
        yield made
    finally:
        sys.path.remove(str(tmp_path))
        for name in names:
            sys.modules.pop(name, None)


ONE = """
    def scaled(x):
        return x * 2.0
"""


def test_a_file_that_is_edited_after_its_import_is_refused(module: Any) -> None:
    found = module("edited", ONE.replace("2.0", "2.125"))
    module("edited", ONE.replace("2.0", "3.0"), run=False)
    with pytest.raises(CompileError, match="no function there has its bytecode") as error:
        transkern.compile(found.scaled)(1.0)
    assert "changed after it was imported" in str(error.value)


def test_a_file_that_is_edited_after_it_was_decorated_is_compiled_as_it_was(module: Any) -> None:
    text = f"import transkern\n@transkern.compile{textwrap.dedent(ONE)}"
    found = module("decorated_then_edited", text)
    module("decorated_then_edited", text.replace("2.0", "3.0"), run=False)
    linecache.checkcache()  # as whoever prints a traceback does
    assert found.scaled(1.0) == 2.0


def test_lines_that_move_do_no_harm(module: Any) -> None:
    found = module("moved", ONE)
    module("moved", "\n\n# new lines\ndef other(x):\n    return x - 1\n" + textwrap.dedent(ONE), run=False)
    assert transkern.compile(found.scaled)(1.0) == 2.0


def test_a_module_that_is_loaded_again(module: Any) -> None:
    found = module("reloaded", ONE)
    old = transkern.compile(found.scaled)
    assert old(1.0) == 2.0
    kept = found.scaled
    found = module("reloaded", ONE.replace("2.0", "3.0"))
    assert transkern.compile(found.scaled)(1.0) == 3.0
    assert old(1.0) == 2.0
    assert transkern.compile(kept)(1) == 2.0  # of other types: translated anew, from the text of its time


def test_functions_that_are_called_are_compared_too(module: Any) -> None:
    module("called", ONE.replace("2.0", "2.5"))
    main = module("caller", "from called import scaled\ndef f(x):\n    return scaled(x) + 1\n")
    module("called", ONE.replace("*", "+"), run=False)
    with pytest.raises(CompileError, match="the source of `scaled` was not found"):
        transkern.compile(main.f)(1.0)


def test_no_process_runs_what_another_edited(module: Any, tmp_path: Path) -> None:
    """What was compiled of the edited text was kept by the bytecode of the old one."""
    script = """
        import os, pathlib, drifting, transkern
        path = pathlib.Path(drifting.__file__)
        old = path.read_text()
        path.write_text(old.replace("2.0", "3.0"))
        try:
            transkern.compile(drifting.scaled)(1.0)
        except transkern.CompileError:
            pass
        path.write_text(old)
    """
    module("drifting", ONE, run=False)
    later = "import drifting, transkern; assert transkern.compile(drifting.scaled)(1.0) == 2.0"
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "TRANSKERN_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join(paths)}
    for text in (textwrap.dedent(script), later):
        subprocess.run([sys.executable, "-B", "-c", text], check=True, env=environment)


def test_code_that_comes_from_elsewhere_is_no_text_of_here(module: Any) -> None:
    """As cloudpickle sends it: a code whose file is another one on this machine."""
    path = module("elsewhere", ONE.replace("2.0", "5.0"), run=False)
    space: dict[str, Any] = {"__name__": "elsewhere"}
    exec(compile(textwrap.dedent(ONE.replace("2.0", "2.25")), str(path), "exec"), space)
    with pytest.raises(CompileError, match="no function there has its bytecode"):
        transkern.compile(space["scaled"])(1.0)


SEVERAL = """
    import numpy as np
    FAST = False

    if FAST:
        def chosen(x):
            return x * 2.0
    else:
        def chosen(x):
            return x * 3.0

    def again(x):
        return x + 1.0

    first = again

    def again(x):
        return x + 2.0

    pair = (lambda x: x * 2.0, lambda x: x * 3.0)
    nested = lambda x: (lambda y: y * 4.0)(x)

    def maker(k):
        def made(x):
            return x * k
        return made, lambda x, k=k: x + k

    made, added = maker(7.0)

    class Kind:
        def __init__(self, v):
            self.__v = v

        def value(self, x):
            __y = x * self.__v
            def inside(z):
                return z + __y
            return inside(x)

    kind = Kind(3.0)

    def of_kind(x):
        return kind.value(x)

    if True:
        def of_text(x):
            text = '''one
            two'''
            return x + len(text)
"""


def test_which_of_several(module: Any) -> None:
    """Two definitions of one name, lambdas on one line, closures and private names."""
    m = module("several", SEVERAL)
    for f in (m.chosen, m.first, m.again, *m.pair, m.nested, m.made, m.added, m.of_kind, m.of_text):
        assert transkern.compile(f)(2.0) == f(2.0), f


def test_texts_of_other_kinds(module: Any, tmp_path: Path) -> None:
    """Cells, what `exec` made with lines in `linecache`, archives, files with a coding, annotations as texts."""
    cell = "def f(x):\n    return x - 1.0\n"
    linecache.cache["<cell 1>"] = (len(cell), None, cell.splitlines(True), "<cell 1>")
    space: dict[str, Any] = {"__name__": "cells"}
    exec(compile(cell, "<cell 1>", "exec"), space)
    assert transkern.compile(space["f"])(3.0) == 2.0
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("from_archive.py", textwrap.dedent(ONE))
    sys.path.insert(0, str(tmp_path / "packed.zip"))
    try:
        found = importlib.import_module("from_archive")
        assert transkern.compile(found.scaled)(3.0) == 6.0
    finally:
        sys.path.remove(str(tmp_path / "packed.zip"))
        sys.modules.pop("from_archive")
    later = "from __future__ import annotations\ndef f(x: Nowhere) -> Never:\n    y: Nothing = x\n    return y * 2\n"
    assert transkern.compile(module("annotated", later).f)(3.0) == 6.0
    path = tmp_path / "latin.py"
    path.write_bytes("# coding: latin-1\ndef f(x):\n    return x * len('äö')\n".encode("latin-1"))
    assert transkern.compile(importlib.import_module("latin").f)(3.0) == 6.0
    sys.modules.pop("latin")
    with pytest.raises(CompileError, match="cannot be read"):
        transkern.compile(eval("lambda x: x"))(1.0)


def with_asserts(x: Any, k: Any) -> Any:
    assert k > 0, "k"
    y = x * k
    assert y.shape == x.shape and k < 10
    z = [y + 1.0 for _ in range(1)]
    return z[0]


def test_functions_whose_asserts_pytest_rewrites() -> None:
    assert any(n.startswith("@py") for n in with_asserts.__code__.co_names)  # else this tests nothing
    compiled = transkern.compile(with_asserts)
    np.testing.assert_array_equal(compiled(np.arange(3.0), 2), [1.0, 3.0, 5.0])
    with pytest.raises(AssertionError):
        compiled(np.arange(3.0), 0)
    assert not written(with_asserts).exact
    text = "\n".join(written(with_asserts).lines)
    for old, new in (("x * k", "x + k"), ("y + 1.0", "y + 2.0"), ("[y", "[k"), ("range(1)", "range(2)")):
        other = types.FunctionType(with_asserts.__code__.replace(co_filename=f"<edited {new}>"), {})
        linecache.cache[f"<edited {new}>"] = (0, None, text.replace(old, new).splitlines(True), f"<edited {new}>")
        with pytest.raises(CompileError, match="no function there has its bytecode"):
            written(other)


def test_asserts_that_python_leaves_out(module: Any, tmp_path: Path) -> None:
    path = module("optimised", """
        '''A module.'''
        import transkern
        def f(x):
            '''Says what it does.'''
            assert x > 10, "small"
            return x * 2
        assert_runs = False
        if __name__ == "__main__":
            print(transkern.compile(f)(1.0))
    """, run=False)  # fmt: skip
    for option in ("-O", "-OO"):
        done = subprocess.run([sys.executable, option, path], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "2.0"


def test_every_function_of_some_modules() -> None:
    """Of the standard library and NumPy: what is found is the text of its bytecode."""
    count = 0
    for name in ("statistics", "fractions", "colorsys", "heapq", "numpy.lib._nanfunctions_impl", "numpy.ma.extras"):
        for value in vars(importlib.import_module(name)).values():
            for f in [value, *(vars(value).values() if isinstance(value, type) else ())]:
                f = getattr(f, "__func__", getattr(f, "fget", f))
                if isinstance(f, types.FunctionType) and not f.__code__.co_filename.startswith("<"):
                    assert written(f).exact
                    count += 1
    assert count > 300


# --- decorators and defaults


def twice(function: Any) -> Any:
    @functools.wraps(function)
    def inner(*args: Any, **keywords: Any) -> Any:
        return 2 * function(*args, **keywords)

    return inner


@twice
def one_more(x: Any) -> Any:
    return x + 1


@functools.lru_cache
def remembered(x: Any) -> Any:
    return x + 1


@np.errstate(divide="ignore")
def inverse(x: Any) -> Any:
    return 1 / x


def calls_decorated(x: Any) -> Any:
    return one_more(x) * 1.0 + remembered(x) + inverse(x)


def decorates_inside(x: Any) -> Any:
    @twice
    def inner(y: Any, s: Any = 3.0) -> Any:
        return y * s

    return inner(x)


def test_a_decorator_is_part_of_the_function() -> None:
    """`functools.wraps` was seen through, so that what the decorator did was lost."""
    for f in (one_more, calls_decorated, decorates_inside):
        assert transkern.compile(f)(2.0) == f(2.0), f


K = 2.0


def with_default(x: Any, s: Any = K, *, t: Any = K) -> Any:
    return x * s + t


K = 5.0
LAMBDAS = [lambda x, k=k: x * k for k in range(4)]
LAST = LAMBDAS[3]


def calls_with_default(x: Any) -> Any:
    return with_default(x) + LAST(x)


def defaults_inside(x: Any) -> Any:
    k = 1.0

    def inner(y: Any, s: Any = k) -> Any:
        return y * s

    first = lambda y, s=k: y + s  # noqa: E731
    k = 7.0
    return inner(x) + k * first(x)


def test_defaults_are_those_of_the_definition() -> None:
    """They were evaluated where the function is called."""
    for f in (calls_with_default, defaults_inside, LAST):
        assert transkern.compile(f)(2.0) == f(2.0), f


def more(y: Any) -> Any:
    return y + 1


def tenfold(y: Any) -> Any:
    return y * 10


def bound_in_a_loop(x: Any, n: Any) -> Any:
    h = more
    for _ in range(n):
        x = h(x)
        h = tenfold
    return x


def defined_in_a_loop(x: Any, n: Any) -> Any:
    h = more
    for _ in range(n):

        def h(y: Any) -> Any:  # noqa: F811
            return y * 10

    return h(x)


def bound_on_a_path(x: Any, n: Any) -> Any:
    h = more
    for _ in range(n):
        x = h(x)
        if x > 5:
            h = tenfold
    return x


def used_in_the_loop(x: Any, n: Any) -> Any:
    for k in range(n):

        def h(y: Any) -> Any:
            return y * k  # noqa: B023

        x = h(x) + 1
    return x


def test_a_name_that_stands_for_another_function_later() -> None:
    """The function from before a loop was called in all its iterations, and after it."""
    for f in (bound_in_a_loop, defined_in_a_loop, bound_on_a_path):
        with pytest.raises(CompileError, match="stands for one function before a loop and for another in it"):
            transkern.compile(f)(2.0, 3)
    assert transkern.compile(used_in_the_loop)(2.0, 3) == used_in_the_loop(2.0, 3)
