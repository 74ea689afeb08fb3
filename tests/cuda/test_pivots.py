"""Loops in order whose iterations act on those behind them, in blocks: NumPy's answers, on a block and on a grid."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.cuda.support import Recorder, recorder, small_grid
from tests.cuda.test_sanitized import run_checked
from tests.fuzz.stages import function_of, interpreted
from tests.suppression import spellings
from transkern.fuse.devices import pivots
from transkern.pipeline import passes_for, program_of
from transkern.targets.cuda import load as loading
from transkern.targets.cuda.emit import emit

__all__ = ["recorder"]

NEAR = """
def near(b, i, j, t):
    w = max(0.0, min(b[i, 2], b[j, 2]) - max(b[i, 0], b[j, 0]))
    h = max(0.0, min(b[i, 3], b[j, 3]) - max(b[i, 1], b[j, 1]))
    a = (b[i, 2] - b[i, 0]) * (b[i, 3] - b[i, 1]) + (b[j, 2] - b[j, 0]) * (b[j, 3] - b[j, 1])
    return w * h > t * (a - w * h)
"""
AREAS = """
    x1, y1, x2, y2 = b[:, 0], b[:, 1], b[:, 2], b[:, 3]
    areas = (x2 - x1) * (y2 - y1)
"""


def rows(over, i):
    """The condition for all of `over` at once."""
    return f"""w = np.maximum(0, np.minimum(x2[{i}], x2[{over}]) - np.maximum(x1[{i}], x1[{over}]))
{{pad}}h = np.maximum(0, np.minimum(y2[{i}], y2[{over}]) - np.maximum(y1[{i}], y1[{over}]))
{{pad}}close = w * h > t * (areas[{i}] + areas[{over}] - w * h)"""


def spelled(flags, leave, inner, order):
    """A suppression: of `flags` ("gone" or "kept"), left by `continue` or in an `if`, with an inner loop or an array
    statement ("loop", "rest", "all"), boxes sorted ahead or found through their order ("order", "flags of order")."""
    gone = flags == "gone"
    made = f"np.{'zeros' if gone else 'ones'}(n, dtype={'bool' if inner != 'all' else 'np.bool_'})"
    i, j = ("order[p]", "order[q]") if order != "sorted" else ("p", "q")
    own, other = (i, j) if order == "flags of order" else ("p", "q")
    text = NEAR + "def f(b, s, t):\n    order = np.argsort(-s)\n"
    text += "    b = b[order]\n" if order == "sorted" else ""
    text += (AREAS if inner != "loop" else "") + f"    n = len(order)\n    {flags} = {made}\n    picked = []\n"
    text += "    for p in range(n):\n"
    out = f"{flags}[{own}]" if gone else f"not {flags}[{own}]"
    stays = f"not {flags}[{own}]" if gone else f"{flags}[{own}]"
    pad = " " * 8
    if leave == "continue":
        text += f"{pad}if {out}:\n{pad}    continue\n"
    else:
        text += f"{pad}if {stays}:\n"
        pad += "    "
    text += f"{pad}picked.append(order[p])\n"
    if inner == "loop":
        text += f"{pad}for q in range(p + 1, n):\n"
        if leave == "continue":
            gone_already = f"{flags}[{other}]" if gone else f"not {flags}[{other}]"
            text += f"{pad}    if {gone_already}:\n{pad}        continue\n"
        text += f"{pad}    if near(b, {i}, {j}, t):\n"
        text += f"{pad}        {flags}[{other}] = {gone}\n"
    elif inner == "rest":
        over = "p + 1:" if order == "sorted" else "order[p + 1:]"
        at = "p + 1:" if order != "flags of order" else "order[p + 1:]"
        close = rows(over, i).replace("{pad}", pad)
        if at == "p + 1:":
            change = f"{flags}[p + 1:] |= close" if gone else f"{flags}[p + 1:] &= ~close"
        else:
            change = f"{flags}[order[p + 1:][close]] = {gone}"
        text += f"{pad}{close}\n{pad}{change}\n"
    else:
        over = ":" if order != "order" else "order"
        close = rows(over, i).replace("{pad}", pad)
        change = f"{flags} |= close" if gone else f"{flags} &= ~close"
        text += f"{pad}{close}\n{pad}{change}\n"
    return text + f"    return np.array(picked, dtype=np.int64), {flags}\n"


def boxes(n, seed=0, special=False):
    r = np.random.default_rng(seed)
    at = r.integers(0, 12, (n, 2)) * 8 + r.normal(0, 2, (n, 2))
    b = np.concatenate([at, at + r.uniform(4, 12, (n, 2))], axis=1).astype(np.float32)
    if special and n > 9:
        b[3, 1], b[5] = np.nan, b[4]
        b[7, 2] = np.inf
    return b, r.permutation(n).astype(np.float32)


def built(text, types, grid, blocked=True, name="f"):
    text = text if "import numpy" in text else "import numpy as np\n" + text
    program = program_of(text, name, types, passes_for("cuda"))
    code, launcher = emit(program)
    assert ("acts[" in code) == blocked, code
    return loading.function(program.name, code, small_grid(launcher) if grid else launcher, simulate=True)


def compare(text, types, argument_sets, grid, blocked=True, name="f"):
    function = built(text, types, grid, blocked, name)
    space = {"np": np}
    exec(text, space)
    for args in argument_sets:
        first, second = ([x.copy() if isinstance(x, np.ndarray) else x for x in args] for _ in range(2))
        with np.errstate(all="ignore"):
            expected = space[name](*first)
        found = function(*second)
        for e, f in zip(expected, found, strict=True) if isinstance(expected, tuple) else [(expected, found)]:
            np.testing.assert_array_equal(np.asarray(f), np.asarray(e))
        for e, f in zip(first, second, strict=True):
            np.testing.assert_array_equal(f, e)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(pivots, "BLOCK", 16)


SPELLED = list(itertools.product(["gone", "kept"], ["continue", "if"], ["loop", "rest", "all"],
                                 ["sorted", "order", "flags of order"]))  # fmt: skip
SIZES = (0, 1, 2, 15, 16, 17, 100)


@pytest.mark.parametrize("k", range(len(SPELLED)))
def test_spellings_of_flags(k):
    text = spelled(*SPELLED[k])
    sets = [(*boxes(n, seed=n, special=n == 100), t) for n in SIZES for t in (0.1, 0.5)]
    compare(text, "f(float32[n,4],float32[n],float)", sets, grid=k % 3 != 0)


LISTS = ("where_as_it_is", "where_after_shortening", "flat", "argwhere_column", "for_with_break", "masked")


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("grid", [False, True])
def test_arrays_that_are_filtered(name, grid):
    import inspect

    sets = [(*boxes(n, seed=n), 0.3, limit) for n in SIZES[1:] for limit in (5, 1000)]
    compare(inspect.getsource(spellings), f"{name}(float32[n,4],float32[n],float,int)", sets, grid, name=name)


SOFT = """
def f(x, s, low):
    n = len(s)
    s = s.copy()
    for i in range(n):
        if s[i] < low:
            continue
        for j in range(i + 1, n):
            d = abs(x[i] - x[j])
            if d < 1:
                s[j] = s[j] * d + s[i] * 0.125
    return s
"""
OWNERS = """
def f(x, s, low):
    n = len(s)
    owner = np.full(n, -1)
    total = np.zeros(n, dtype=np.float32)
    found = 0
    for i in range(n):
        if owner[i] >= 0:
            continue
        owner[i] = i
        found += 1
        for j in range(i + 1, n):
            if owner[j] < 0 and abs(x[i] - x[j]) < low:
                owner[j] = i
            total[j] += s[i]
    return owner, total, found
"""
DOWNWARDS = """
def f(x, s, low):
    n = len(s)
    gone = np.zeros(n, dtype=np.int32)
    for i in range(n - 1, -1, -1):
        if gone[i] == 1:
            continue
        for j in range(i):
            if abs(x[i] - x[j]) < low:
                gone[j] = 1
    return gone
"""
LEFT = """
def f(x, s, low):
    n = len(s)
    gone = np.zeros(n, dtype=bool)
    found = 0
    for i in range(n):
        if gone[i]:
            continue
        if found == 20:
            break
        found += 1
        for j in range(i + 1, n):
            if abs(x[i] - x[j]) < low:
                gone[j] = True
    return gone, found
"""
EVERYBODY = """
def f(x, s, low):
    n = len(s)
    hit = np.zeros(n, dtype=np.int32)
    for i in range(n):
        if hit[i] > 3:
            continue
        for j in range(n):
            if abs(x[i] - x[j]) < low:
                hit[j] += 1
    return hit
"""
STATE = """
def f(x, s, low):
    n = len(s)
    p = np.zeros((n, 3), dtype=np.float32)
    p[:, 0] = x
    for i in range(n):
        m = p[i, 0] * 0.5 + p[i, 2]
        for j in range(i + 1, n):
            for k in range(3):
                p[j, k] += m * 0.01 * s[i]
    return p
"""
LONGER = """
def f(x, s, low):
    n = len(s)
    gone = np.zeros(n, dtype=bool)
    for i in range(n):
        if gone[i]:
            continue
        for j in range(i + 3, min(n, i + 40)):
            if abs(x[i] - x[j]) < low:
                gone[j] = True
    return gone
"""


SHORTER = """
def f(x, s, low):
    m = len(s) // 2
    gone = np.zeros(m, dtype=bool)
    found = 0
    for i in range(len(s) - 1, -1, -1):
        if i < m and gone[i]:
            continue
        found += 1
        for j in range(max(0, i - 30), min(i, m)):
            if abs(x[i] - x[j]) < low:
                gone[j] = True
    return gone, found
"""
AGAIN = """
def f(x, s, low):
    n = len(s)
    gone = np.zeros(n, dtype=bool)
    for turn in range(3):
        for i in range(n):
            if gone[i]:
                continue
            for j in range(n):
                if i != j and abs(x[i] - x[j]) < low * 0.1 * (turn + 1):
                    gone[j] = True
        if n:
            gone[turn % n] = False
    return gone
"""


@pytest.mark.parametrize("text", [SOFT, OWNERS, DOWNWARDS, LEFT, EVERYBODY, STATE, LONGER, SHORTER, AGAIN])
@pytest.mark.parametrize("grid", [False, True])
def test_other_loops_whose_iterations_act_on_others(text, grid):
    sets = []
    for n, low in itertools.product(SIZES, (0.05, 0.4)):
        r = np.random.default_rng(n)
        x = r.normal(0, 2, n).astype(np.float32)
        if n == 100:
            x[[3, 50]] = np.nan, np.inf
        sets.append((x, r.permutation(n).astype(np.float32), low))
    compare(text, "f(float32[n],float32[n],float)", sets, grid)


PLACED = """
def f(x, s, low):
    n = len(s)
    gone = np.zeros(n, dtype=bool)
    kept = np.zeros(7, dtype=np.int64)
    found = 0
    for i in range(n):
        if gone[i]:
            continue
        kept[found] = i
        found += 1
        for j in range(i + 1, n):
            if abs(x[i] - x[j]) < low:
                gone[j] = True
                s[j] = -s[j]
    return kept[:found]
"""


@pytest.mark.parametrize("grid", [False, True])
def test_a_check_that_fails_in_a_block(grid):
    """It fails in the same iteration, with the same message."""
    function = built(PLACED, "f(float32[n],float32[n],float)", grid)
    space = {"np": np}
    exec(PLACED, space)
    for n, low in itertools.product((0, 5, 40, 100), (0.02, 0.4, 3.0)):
        r = np.random.default_rng(n)
        x, s = r.normal(0, 2, n).astype(np.float32), r.normal(0, 2, n).astype(np.float32)
        first, second = s.copy(), s.copy()
        try:
            expected = space["f"](x, first, low)
        except IndexError as error:
            with pytest.raises(IndexError, match=str(error)):
                function(x, second, low)
        else:
            np.testing.assert_array_equal(function(x, second, low), expected)
            np.testing.assert_array_equal(second, first)


NEIGHBOURS = EVERYBODY.replace("abs(x[i] - x[j]) < low", "abs(x[i] - x[j]) < low and hit[i] < 9")
CHAINED = LEFT.replace("abs(x[i] - x[j]) < low", "abs(x[i] - x[j]) < low and found < 12")
COUNTED = """
def f(x, s, low):
    n = len(s)
    gone = np.zeros(n, dtype=bool)
    seen = np.zeros(n, dtype=np.int32)
    for i in range(n):
        if gone[i]:
            continue
        seen[i // 2] += 1
        for j in range(i + 1, n):
            if abs(x[i] - x[j]) < low and seen[j // 2] == 0:
                gone[j] = True
    return gone, seen
"""


@pytest.mark.parametrize("text", [NEIGHBOURS, CHAINED, COUNTED])
def test_what_others_change_meanwhile_keeps_the_loop_in_order(text):
    """Its own element, on which others act as well; a number that goes on; an element of another iteration."""
    r = np.random.default_rng(5)
    sets = [(r.normal(0, 2, n).astype(np.float32), r.permutation(n).astype(np.float32), 0.4) for n in (0, 1, 40, 100)]
    compare(text, "f(float32[n],float32[n],float)", sets, grid=False, blocked=False)


OTHERS = {"soft": SOFT, "owners": OWNERS, "downwards": DOWNWARDS, "left": LEFT, "everybody": EVERYBODY, "state": STATE,
          "longer": LONGER, "shorter": SHORTER, "again": AGAIN}  # fmt: skip


@pytest.mark.parametrize("size", [5])
@pytest.mark.parametrize("case", [*SPELLED, *OTHERS], ids=str)
def test_the_interpreter_with_parallel_iterations_in_any_order(case, size, monkeypatch):
    monkeypatch.setattr(pivots, "BLOCK", size)
    boxed = isinstance(case, tuple)
    text = "import numpy as np\n" + (spelled(*case) if boxed else OTHERS[case])
    function, r = function_of(text), np.random.default_rng(3)
    run = interpreted(function, len(passes_for("cuda")), "cuda", r.shuffle)
    for n in (0, 1, 20, 70):
        x = r.normal(0, 2, n).astype(np.float32)
        args = (*boxes(n, seed=n), 0.3) if boxed else (x, r.permutation(n).astype(np.float32), 0.4)
        expected, found = function(*args), run(*args)
        for e, f in zip(expected, found, strict=True) if isinstance(expected, tuple) else [(expected, found)]:
            np.testing.assert_array_equal(np.asarray(f), np.asarray(e))


RACES = {
    "flags": (spelled("gone", "continue", "loop", "sorted"), "f(float32[n,4],float32[n],float)"),
    "all": (spelled("kept", "if", "all", "flags of order"), "f(float32[n,4],float32[n],float)"),
    "soft": (SOFT, "f(float32[n],float32[n],float)"),
    "downwards": (DOWNWARDS, "f(float32[n],float32[n],float)"),
    "left": (LEFT, "f(float32[n],float32[n],float)"),
    "everybody": (EVERYBODY, "f(float32[n],float32[n],float)"),
}


@pytest.mark.parametrize("kind", ["memory", "race"])
@pytest.mark.parametrize("name", RACES)
def test_no_race(name, kind, recorder: Recorder):
    text, types = RACES[name]
    program = program_of("import numpy as np\n" + text, "f", types, passes_for("cuda"))
    assert "acts" in program.buffers
    x = np.random.default_rng(1).normal(0, 2, 50).astype(np.float32)
    run_checked(program, (boxes(50) if "n,4" in types else (x, x[::-1].copy())) + (0.4,), recorder, kind)
