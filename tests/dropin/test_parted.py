"""Functions that are refused as a whole ask in parts under `run`: what they give, and what is seen, is Python's.

`python -m tests.dropin.test_parted SEED` tries the whole corpus.
"""

from __future__ import annotations

import importlib.util
import random
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.corpus.registry import Case, difference, outcome
from tests.dropin.test_scripts import run
from tests.dropin.tracing import tracer_of
from tests.partial.test_random import MODULES, probed
from tests.tools import require
from transkern.dropin import attempt
from transkern.dropin.declining import COMPILED, PARTED, PYTHON, UNDECIDED
from transkern.dropin.functions import Watched
from transkern.dropin.sessions import Session

require("cc")

TEXT = '''
import gc
import sys
import warnings
import numpy as np


def smooth(x, log):
    y = np.empty_like(x)
    for k in range(len(x)):
        y[k] = x[k - 1] + 2 * x[k]
    log.append(sys._getframe().f_lineno)
    total = 0.0
    for v in y:
        total += v * v
    return total, y


def early(x, limit):
    s = 0.0
    for v in x:
        s += v
    if s > limit:
        return "more"
    gc.isenabled()
    for v in x:
        s -= v * v
    if s > 0: return s
    return -s, limit


def beyond(x, k):
    gc.isenabled()
    total = 0.0
    for i in range(len(x)):
        x[i] = x[i] + 1
        total += (x[i] /
                  x[i + k])
    return total


def caught(x, k):
    try:
        gc.isenabled()
        return beyond(x, k)
    except IndexError as error:
        tb = error.__traceback__
        lines = []
        while tb is not None:
            lines.append((tb.tb_frame.f_code.co_name, tb.tb_lineno, sorted(tb.tb_frame.f_locals)))
            tb = tb.tb_next
        return lines


def warned(x):
    warnings.warn("of the caller", stacklevel=2)
    s = 0.0
    for v in x:
        s += np.sqrt(v)
    return s


def loops(x, n):
    kept = []
    for k in range(n):
        if gc.isenabled():
            x = x * 0.5 + np.roll(x, k)
        else:
            x = -x
        for i in range(len(x)):
            if x[i] > 1e9:
                break
            x[i] += k
        if k % 3 == 2: continue
        kept.append(float(x.sum()))
    return kept, x


def nested(x):
    gc.isenabled()
    total = 0.0
    for v in x:
        total += v
    def inner(z): return z + 1
    return inner(total) + sum(v * v for v in x), [k * total for k in range(3)]


class Model:
    def __init__(self, rate):
        self.__rate, self.steps = rate, 0

    def advance(self, x):
        gc.isenabled()
        for k in range(len(x)):
            x[k] *= self.__rate
        self.steps += len(x)
        print("advanced", self.steps)
        s = 0.0
        for v in x:
            s += v * self.__rate
        return s

    @staticmethod
    def cut(x, *, below=0.5):
        gc.isenabled()
        out = []
        for v in x:
            if v < below:
                out.append(float(v))
        return out
'''

CALLS: dict[str, Callable[[dict[str, Any], Any], Any]] = {
    "smooth": lambda m, x: (log := [], m["smooth"](x, log), log),
    "early": lambda m, x: [m["early"](x, 5.0), m["early"](x, 1e9), m["early"](np.zeros(0), 1.0)],
    "beyond": lambda m, x: m["beyond"](x, 1),
    "caught": lambda m, x: (m["caught"](x, 1), m["caught"](x, -1), x),
    "warned": lambda m, x: m["warned"](x - 0.5),
    "loops": lambda m, x: m["loops"](x, 7),
    "nested": lambda m, x: m["nested"](x),
    "advance": lambda m, x: ((made := m["Model"](0.5)).advance(x), made.advance(x), made.steps, x),
    "cut": lambda m, x: m["Model"].cut(x, below=0.7),
}


RAISING = ("beyond",)
"""Whose compiled parts never end."""


def module_of(path: Path) -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    made = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return vars(made)


def seen(call: Callable[[dict[str, Any], Any], Any], module: dict[str, Any], trace: bool = False) -> list[str]:
    """What a call gives, or how its error is printed; what it warns of, and what a tracer sees."""
    events: list[Any] = []

    x = np.random.default_rng(0).random(60)
    before = sys.gettrace()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            if trace:
                sys.settrace(tracer_of(module["__file__"], events))
            told = repr(call(module, x))
        except Exception:
            sys.settrace(before)
            told = "".join(line for line in traceback.format_exc() if "test_parted" not in line)
        finally:
            sys.settrace(before)
    return [told, *(f"{w.filename}:{w.lineno}: {w.category.__name__}: {w.message}" for w in found), repr(events)]


def states(session: Session) -> dict[str, Watched]:
    return {one.site.name: one for one in session.watch.functions}


@pytest.mark.parametrize("name", list(CALLS))
def test_a_function_in_parts_is_the_same(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Called again and again; traced, once it is in parts, too."""
    path = tmp_path / "plain_parts.py"
    path.write_text(TEXT)
    plain, asking = module_of(path), module_of(path)
    session = Session("cpu", eager=True)
    session.add_functions(_functions(asking))
    for trace in (False, False, False, True, False):
        wanted = seen(CALLS[name], plain, trace), capsys.readouterr()
        assert (seen(CALLS[name], asking, trace), capsys.readouterr()) == wanted
    known = states(session)
    one = known[next(n for n in known if n.endswith(name if name != "caught" else "beyond"))]
    assert one.state is PARTED and one.parts is not None, one.why
    assert name in RAISING or any(part.state is COMPILED for part in one.parts.all_parts())
    session.close()
    assert seen(CALLS[name], asking) == seen(CALLS[name], plain)


def _functions(module: dict[str, Any]) -> list[types.FunctionType]:
    found = [f for f in module.values() if isinstance(f, types.FunctionType)]
    model = vars(module["Model"])
    return [*found, model["advance"], model["cut"].__func__]


def wrong(case: Case, function: Any) -> str:
    """What differs first between Python and `function`, a copy of the case's that asks; or nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for arguments in [a for a in case.arguments() for _ in range(2)]:
            wanted, found = outcome(case.function, arguments), outcome(function, arguments)
            if (type(found.error), str(found.error)) != (type(wanted.error), str(wanted.error)):
                return f"{found.error!r} instead of {wanted.error!r}"
            for f, w in ((found.result, wanted.result), (found.arguments, wanted.arguments)):
                differs = difference(f, w, case.ulps, case.scale, False)
                here, _, there = differs.rpartition("]")[2].partition(" instead of ")
                if differs and here != there:  # a class of the one module is none of the other
                    return differs
            if found.views != wanted.views:
                return "a view in one is a copy in the other"
    return ""


def corpus(module: str, seed: int, folder: Path, most: int | None, chosen: random.Random) -> tuple[list[str], int]:
    """What is wrong with functions of a module of the corpus, and how many of them ran in parts."""
    made, asking = probed(module, seed, folder), probed(module, seed, folder)
    cases = [c for c in made.CASES if "cpu" not in c.refused]
    cases = cases if most is None else chosen.sample(cases, min(len(cases), most))
    session = Session("cpu", eager=True)
    session.add(asking)
    told = [
        f"{module}.{name}: {differs}" for c in cases if (name := c.function.__name__) and hasattr(asking, name)
        and (differs := wrong(c, getattr(asking, name)))
    ]  # fmt: skip
    session.close()
    return told, sum(one.state is PARTED for one in session.watch.functions)


def test_parts_of_the_corpus(tmp_path: Path) -> None:
    chosen, parted = random.Random(5), 0
    for module in chosen.sample(MODULES, 3):
        told, count = corpus(module, 2, tmp_path, 6, chosen)
        assert not told
        parted += count
    assert parted > 3


SCRIPT = '''
import sys
import numpy as np

def levels(x, path):
    y = np.empty_like(x)
    for k in range(1, len(x) - 1):
        y[k] = max(x[k - 1], x[k], x[k + 1])
    with open(path, "a") as out:
        out.write(f"{len(y)} levels\\n")
    total = 0.0
    for k in range(1, len(x) - 1):
        total += (y[k] - x[k]) ** 2
    return total + x[int(sys.argv[1])]

x = np.random.default_rng(0).random(400_000)
for _ in range(6):
    print(levels(x, "levels.txt"))
levels(x[:1000], "levels.txt")
'''


def test_parts_are_remembered(tmp_path: Path) -> None:
    """From the second run on, the parts are compiled at their first calls; an error has Python's traceback."""
    (tmp_path / "script.py").write_text(SCRIPT)
    for argument in ("3", "5000"):
        wanted = run(["script.py", argument], tmp_path, tmp_path)
        for _ in range(2):
            assert run(["-m", "transkern", "run", "script.py", argument], tmp_path, tmp_path) == wanted
    told = run(["-m", "transkern", "run", "--report", "script.py", "3"], tmp_path, tmp_path)[2]
    assert "and 1 in parts" in told and "in parts; Python: line 9:10: cannot compile `open`" in told
    assert "lines 6-8" in told and "compiled (from the cache)" in told


def test_a_file_that_has_changed_stays_whole(tmp_path: Path) -> None:
    """What a file says now is not what the function was made of."""
    path = tmp_path / "changed_parts.py"
    path.write_text(TEXT)
    asking = module_of(path)
    session = Session("cpu", eager=True)
    session.add_functions(_functions(asking))
    path.write_text(TEXT.replace("2 * x[k]", "3 * x[k]"))
    for _ in range(3):
        _, (_, y), _ = CALLS["smooth"](asking, np.ones(5))
        assert y[0] == 3.0
    assert states(session)["smooth"].state in (PYTHON, PARTED)
    session.close()


def test_what_has_taken_too_long_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a run that has more to save; no statement is in the way, so there are no parts."""
    monkeypatch.setattr(attempt, "SECONDS", 1e-9)
    path = tmp_path / "plain_parts.py"
    path.write_text(TEXT)
    asking = module_of(path)
    session = Session("cpu", eager=True)
    session.add_functions(_functions(asking))
    CALLS["smooth"](asking, np.ones(5))
    one = states(session)["smooth"]
    assert one.state is PYTHON and one.gave_up and one.parts is None and "[TK1009]" in one.why
    session.close()
    again = Session("cpu")
    again.add_functions(_functions(asking))
    (two,) = (o for o in again.watch.functions if o.site.name == "smooth")
    assert two.state is UNDECIDED
    again.close()


if __name__ == "__main__":
    for name in MODULES:
        with tempfile.TemporaryDirectory() as folder:
            told, count = corpus(name, int(sys.argv[1]), Path(folder), None, random.Random(1))
        print(name, count, *told, sep="\n  " if told else " ", flush=True)
