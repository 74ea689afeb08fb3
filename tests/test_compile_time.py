"""What compiling takes grows as a function's length does: Python's calls are counted, which no other work disturbs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import transkern
from transkern import limits, pipeline
from transkern.analysis.dependence import Carried
from transkern.errors import NeedsConstant
from transkern.frontend import specialise as front
from transkern.frontend.loops import looping
from transkern.frontend.loops.carried.state import LoopState
from transkern.frontend.sources.annotations import types_from_annotations
from transkern.frontend.sources.texts import TextScope
from transkern.frontend.specialise import specialise
from transkern.frontend.state.learned import Learned
from transkern.frontend.translate.calling import Calls
from transkern.frontend.values.values import Function as Written
from transkern.fuse import passes as pass_lists
from transkern.fuse.passes import BEFORE_LOOPS, PASSES
from transkern.fuse.scalars.promote import promote_elements
from transkern.ir.expr import NOWHERE, Apply, Expr, Var
from transkern.targets.clike import CPrinter
from transkern.targets.cpu.printing import module
from transkern.targets.cpu.printing.functions import Function
from transkern.targets.cpu.printing.merging import canonical
from transkern.targets.cpu.printing.module import emit
from transkern.targets.cpu.printing.types import TYPES

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
KINDS: tuple[Callable[[int], str], ...] = importlib.import_module("lengths").KINDS
sys.path.pop(0)


def calls(text: str) -> int:
    """How many functions of Python's are entered while `f` becomes C."""
    function = TextScope(text, "<text>").function("f")
    types = types_from_annotations(function)
    assert types is not None
    return counted(lambda: emit(pipeline.run(specialise(function, types))))


def counted(work: Callable[[], Any]) -> int:
    """How many functions of Python's are entered meanwhile."""
    count = 0

    def note(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_compile_time_is_linear(kind: Callable[[int], str]) -> None:
    calls(kind(20))  # what is done once in a process
    shorter, longer = calls(kind(60)), calls(kind(180))
    assert longer < 3 * 1.25 * shorter


@pytest.mark.parametrize("one", [pass_lists.lay_out, pass_lists.compute_chosen], ids=lambda one: one.__name__)
def test_passes_ask_each_statement_once(one: Callable[[Any], Any]) -> None:
    """Each array of the function's own was looked for in all statements."""

    def taken(count: int) -> int:
        lines = ["import numpy as np", "def f(x: 'float64[n]', a: 'float64[m,n]'):", "    s = 0.0"]
        for k in range(count):
            lines += [f"    t{k} = a * (s + {k}.5)", f"    t{k}[0] = x", f"    v{k} = x * t{k}[-1, 0]"]
            lines.append(f"    s = s + v{k}[np.argmin(v{k})]")
        function = TextScope("\n".join([*lines, "    return s"]), "<text>").function("f")
        types = types_from_annotations(function)
        assert types is not None
        before = PASSES[: PASSES.index(one)]
        program = pipeline.run(specialise(function, types), before)
        return counted(lambda: one(program))

    taken(5)  # what is done once in a process
    assert taken(45) < 3 * 1.25 * taken(15)


def test_types_of_a_list_that_grows_are_found_in_one_iteration() -> None:
    """All iterations were translated one by one, for the sake of types that the next translation knew."""

    def text(trips: int) -> str:
        lines = ["def f(x: 'float64[n]'):", "    out = [[0, 1]]", f"    for i in range({trips}):"]
        lines += ["        if x[i] > 0.5:", "            out.append([x[i], i])", "        for p in out:"]
        lines += ["            if p[0] > 3:", "                out.append([x[i], 1.5])", "    return out"]
        return "\n".join(lines)

    calls(text(20))  # what is done once in a process
    assert calls(text(60)) < 1.1 * calls(text(20))


def test_deep_conditions_are_printed_once() -> None:
    """Each part of a condition becomes text once, however deep it stands."""
    condition: Expr = Apply("less", (Var("x", "int64"), Var("y", "int64")), "bool")
    for k in range(60):
        condition = Apply("or_else" if k % 2 else "and_then", (condition, Var("z", "bool")), "bool")
    assert len(CPrinter({}, TYPES).expr(condition)) < 2000


def c_text(text: str) -> str:
    function = TextScope(text, "<text>").function("f")
    types = types_from_annotations(function)
    assert types is not None
    return emit(pipeline.run(specialise(function, types)))


@pytest.mark.parametrize("kind", ["for", "while"])
@pytest.mark.parametrize("statement", ["total += 1", "total += x[0]", "if x[0] > total: total = x[0]", "x[0] += 1.0"])
def test_loops_in_loops_are_not_translated_twice_for_each_around(
    kind: str, statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an iteration makes of a number is found out once, also where the loops around are translated again for it:
    of eight loops that was 255 translations."""
    begun = 0
    run_loop = looping.run_loop

    def counted(*given: Any) -> None:
        nonlocal begun
        begun += 1
        run_loop(*given)

    monkeypatch.setattr(looping, "run_loop", counted)
    text = "def f(n: int, x: 'float64[m]'):\n    total = 0\n"
    for k in range(8):
        inside = "    " * (k + 1)
        if kind == "for":
            text += f"{inside}for i{k} in range(n):\n"
        else:
            text += f"{inside}c{k} = 0\n{inside}while c{k} < n:\n{inside}    c{k} += 1\n"
    c_text(f"{text}{'    ' * 9}{statement}\n    return total\n")
    assert 8 <= begun < 160


def test_names_of_loops_that_are_read_behind_them_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a name is bound or not, depending on whether there are iterations: of eight loops that was 2 031
    translations of a body."""
    begun, enter = 0, LoopState.enter

    def counted(*given: Any) -> None:
        nonlocal begun
        begun += 1
        enter(*given)

    monkeypatch.setattr(LoopState, "enter", counted)
    text = "def f(n: int, x: 'float64[m]'):\n    total = 0\n    while total < n:\n        total += 1\n"
    for k in range(8):
        text += f"{'    ' * (k + 2)}for i{k} in range(n):\n"
    names = ", ".join(f"i{k}" for k in range(8))
    c_text(f"{text}{'    ' * 10}total += 1\n        if x[0] > 3: break\n    return total, {names}\n")
    assert 8 <= begun < 160


def test_lists_of_comprehensions_grow_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """That a list has another length each time is found out where its loop is translated: what stands before it is
    not translated again."""
    begun = 0
    translated = front._translated

    def counted(*args: Any) -> Any:
        nonlocal begun
        begun += 1
        return translated(*args)

    monkeypatch.setattr(front, "_translated", counted)

    def f(x):
        kept = [v for v in x if v > 0]
        return [k + len(kept) for k in range(len(x))], kept

    x = np.array([1.0, -2.0, 3.0])
    assert transkern.compile(f, target="cpu")(x) == f(x)
    assert begun == 1


SEVERAL_LISTS = {
    "in_a_loop": """
def f(x: 'float64[n]'):
    small, large, places = [], [], []
    for k in range(len(x)):
        small.append(x[k] - 1)
        large.append(x[k] + 1)
        places.append(k)
    return small, large, places
""",
    "on_one_of_two_paths": """
def f(x: 'float64[n]'):
    small, large, places = [], [], []
    if x[0] > 0:
        small.append(x[0] - 1)
        large.append(x[0] + 1)
        places.append(0)
    return small, large, places
""",
    "of_the_callers": """
def f(n: int, k: int):
    found = []

    def walk(level: int, taken: int, last: int):
        if level == n:
            found.append(taken + last)
            return
        walk(level + 1, taken, level)
        walk(level + 1, taken + level, last)

    walk(0, k, 0)
    return found
""",
}


@pytest.mark.parametrize("name", SEVERAL_LISTS)
def test_lists_that_grow_at_one_place_are_found_together(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One translation shows it of all of them: else there would be one for each."""
    text, begun, translated = SEVERAL_LISTS[name], 0, front._translated

    def counted(*args: Any) -> Any:
        nonlocal begun
        begun += 1
        return translated(*args)

    monkeypatch.setattr(front, "_translated", counted)
    made = c_text(text)
    assert begun <= (4 if name == "of_the_callers" else 2)
    names = ("small", "large", "places") if "small" in text else ("found", "level")
    assert all(name in made for name in names)


def test_a_recursion_asks_for_the_size_that_ends_it() -> None:
    """And not for whatever number there is among the arguments, which is another translation as deep."""
    text = """
import numpy as np

def halves(a):
    if a.shape[0] < 3:
        return a.sum()
    return halves(a[::2]) + a[1]

def f(x: 'float64[n]', count: int):
    return halves(x) * count
"""
    function = TextScope(text, "<text>").function("f")
    types = types_from_annotations(function)
    assert types is not None
    with pytest.raises(NeedsConstant) as caught:
        specialise(function, types, grows=False)  # else the recursion is a loop
    assert caught.value.demand == "n."


def test_another_look_into_a_dict_is_short() -> None:
    """A search is there for each use of a dict: one loop, without checks that always hold."""

    def lines(uses: int) -> int:
        found = "".join(f"        if x[i] + {k} in d: s += {k}\n" for k in range(uses))
        head = "def f(x: 'int64[n]'):\n    d = {}\n    s = 0\n    for i in range(x.shape[0]):\n        d[x[i]] = i\n"
        return c_text(f"{head}{found}    return s\n").count("\n")

    assert (lines(6) - lines(2)) / 4 < 45


def test_kernels_that_are_the_same_are_one_function() -> None:
    text = """
import numpy as np

def spread(a):
    m = a[0]
    for k in range(1, a.shape[0]):
        m = max(m * 0.5, a[k])
    return m

def f(x: 'float64[n]', y: 'float64[n]', z: 'float64[n]'):
    a = np.sort(x)
    p = spread(a)
    b = np.sort(y)
    q = spread(b)
    c = np.sort(z)
    return p, q, spread(c)
"""
    made = c_text(text)
    assert sum("0.5" in line for line in made.split("\n") if not line.lstrip().startswith("//")) == 1


def kernel(name: str, text: str) -> Function:
    return Function(name, text, [], [], [], [], Var("long", "bool"), False)


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("int f(const double *restrict a) { p(a[0]); }", "int f(const double *restrict b) { p(b[0]); }", True),
        ("int f(const double *restrict a) { p(a[0]); }", "int f(const double *restrict a) { q(a[0]); }", False),
        ("double f(double a) { return a * INFINITY; }", "double f(double a) { return a * NAN; }", False),
        ("double f(double a, double b) { return a - b; }", "double f(double a, double b) { return b - a; }", False),
        ("double f(double a, double b) { return a - b; }", "double f(double b, double a) { return b - a; }", True),
        ("void f(double *a, double *b) { a[0] = b[0]; }", "void f(double *a, double *b) { a[0] = a[0]; }", False),
        ("void f() {\n    double s = 0, s_low = 1;\n}", "void f() {\n    double t = 0, t_low = 1;\n}", True),
        ("void f() {\n    p(s, t = 0, a = 1);\n}", "void f() {\n    p(s, t = 0, b = 1);\n}", False),
        ("double f(double a) { return a * 2; }", "float f(float a) { return a * 2; }", False),
    ],
)  # fmt: skip
def test_what_is_the_same(one: str, two: str, same: bool) -> None:
    assert (canonical(kernel("f", one)) == canonical(kernel("g", two.replace(" f(", " g(")))) == same


def test_entries_that_are_compiled_as_they_stand_compute_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last bit: products and sums are rounded each, and integers wrap."""

    def f(a, b, c, x, k):
        return a * b + c, np.sort(x) * a + b, (k * 3 - k) // 2, np.int64(2**62) * k

    monkeypatch.setattr(module, "_LONG_ENTRY", 0)
    r = np.random.default_rng(5)
    compiled = transkern.compile(f, target="cpu")
    for k in range(20):
        a, b, c = r.normal(size=3).tolist()
        args = a, b, c, r.normal(size=7), np.int64(k - 9)
        with np.errstate(all="ignore"):
            wanted = f(*args)
        for found, one in zip(compiled(*args), wanted, strict=True):
            assert type(found) is type(one)
            assert np.array_equal(found, one)


_ONCE = ["count += 1", "if first is None: first = r", "count += np.bincount(np.arange(n)).size"]


@pytest.mark.parametrize("once", _ONCE)
def test_a_recursion_that_only_the_run_ends_becomes_a_loop_at_once(monkeypatch: pytest.MonkeyPatch, once: str) -> None:
    """Its argument is another known number in each call, and nothing that is known of it could end the calls: what
    is None in all of them cannot, nor what is known in the functions of a set, or of NumPy."""
    text = f"""
import numpy as np
def f(n: "int"):
    used, count, first = set(), 0, None
    def place(r):
        nonlocal count, first
        if r == n:
            {once}
            return
        for c in range(n):
            if c not in used:
                used.add(c)
                place(r + 1)
                used.remove(c)
    place(0)
    return count, first
"""
    begun, inline = [], Calls.inline

    def note(self: Calls, function: Written, *args: Any, **more: Any) -> Any:
        begun.extend([function.name] if function.name == "place" else [])
        return inline(self, function, *args, **more)

    monkeypatch.setattr(Calls, "inline", note)
    c_text(text)
    assert 2 <= len(begun) < 20


def test_types_of_several_lists_become_known_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each began the translation anew, of all that is before it once more."""
    text = """
def f(n: int, x: "float64[m]"):
    a, b, c, best = [], [], [], {}
    for k in range(n):
        a.append(k)
        b.append((k, 1))
        c.append(True)
        best[k % 3] = k
    for v in x:
        a.append(v)
        b.append((1, v))
        c.append(2)
        best[int(v)] = v
    return a, b, c, best
"""
    begun, begin = [], Learned.begin
    monkeypatch.setattr(Learned, "begin", lambda self: (begun.append(self), begin(self))[1])
    c_text(text)
    assert len(begun) <= 4  # lists that grow, dicts that do, types


def test_a_recursion_that_nothing_ends_is_not_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it cannot be a loop, either: the sizes of parts of parts are twice as long in each call."""
    text = """
def f(p: "float64[80,2]", tol: float):
    def simplified(p):
        if len(p) < 3:
            return p[:]
        at = 1
        for i in range(1, len(p) - 1):
            if p[i, 0] > p[at, 0]:
                at = i
        if p[at, 0] > tol:
            return simplified(p[: at + 1])[:-1] + simplified(p[at:])
        return [p[0], p[-1]]
    return simplified(p)
"""
    begun, inline = [], Calls.inline

    def note(self: Calls, function: Written, *args: Any, **more: Any) -> Any:
        begun.extend([function.name] if function.name == "simplified" else [])
        return inline(self, function, *args, **more)

    monkeypatch.setattr(Calls, "inline", note)
    with pytest.raises(transkern.CompileError, match="calls itself too deeply to be written out, and as a loop"):
        c_text(text)
    assert 2 <= len(begun) < 40


def test_accesses_that_are_alike_are_asked_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(count: int) -> int:
        updates = "\n".join("        x[0] = x[0] + x[k]" for _ in range(count))
        text = f"def f(x):\n    for k in range(1, len(x)):\n{updates}\n"
        program = pipeline.program_of(text, "f", "f(float64[40])", BEFORE_LOOPS)
        questions.clear()
        promote_elements(program)
        return len(questions)

    questions: list[Any] = []
    question = Carried.question

    def note(self: Carried, *accesses: Any) -> Any:
        questions.append(accesses)
        return question(self, *accesses)

    monkeypatch.setattr(Carried, "question", note)
    assert 0 < asked(4) == asked(16)


def test_lists_grow_where_all_iterations_would_be_long() -> None:
    """Each of nine iterations of nine made three sets, to know the length of the list: 139 000 steps of translation."""
    text = """
def f(g: "int64[9,9]"):
    def candidates(r, c):
        used = set(g[r]) | set(g[:, c]) | set(g[c])
        return [v for v in range(1, 10) if v not in used]
    best, at = 10, None
    for r in range(9):
        for c in range(9):
            k = candidates(r, c)
            if len(k) < best:
                best, at = len(k), (r, c)
    return best, at
"""
    with limits.compilation("f", NOWHERE):
        c_text(text)
        assert 1000 < limits.budget().steps < 70_000


def test_what_must_be_known_is_written_out_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list that would grow, as that is less code, is of a known length where it cannot be had otherwise."""
    monkeypatch.setattr(looping, "_FEW_PATIENCE", 0)

    def f(x):
        made = []
        for k in range(4):
            if k == 1:
                made.append("text")
            elif k > 1:
                made.append((x[:k], {"k": k}))
        return made, [len(m) for m in made]

    x = np.array([1.0, -2.0, 3.0])
    assert repr(transkern.compile(f, target="cpu")(x)) == repr(f(x))
