"""Compiled functions in other processes: forked, spawned, and sent there by pickle, joblib and Dask."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.trust.functions import wide

ROOT = Path(__file__).parents[2]

FORKED = """
import os, threading
import numpy as np
import transkern
from tests.trust.functions import wide
from transkern.targets.cpu.printing import waking

waking.ALWAYS = True
f = transkern.compile(wide, target="cpu")
x = np.arange(2_000_000.0)
wanted = wide(x)

def check(who):
    assert np.array_equal(f(x), wanted), who
    print(who, len(os.listdir("/proc/self/task")), flush=True)

def fork(who, child):
    if not (pid := os.fork()):
        try:
            child(who)
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0, who

check("parent")
fork("child", lambda who: (check(who), fork("grandchild", check)))
check("parent again")
other = threading.Thread(target=lambda: fork("child of a thread", check))
other.start()
other.join()
stop = False
def busy():
    while not stop:
        f(x)
threads = [threading.Thread(target=busy) for _ in range(2)]
for t in threads:
    t.start()
for k in range(5):
    fork("beside kernels", check)
stop = True
for t in threads:
    t.join()
"""


def run(command: list[str], **env: str) -> list[str]:
    """The lines that a program prints, in a process of its own that must come to its end."""
    made = subprocess.run(
        command, capture_output=True, text=True, timeout=240, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore", **env},
    )  # fmt: skip
    assert made.returncode == 0, made.stderr[-3000:]
    return made.stdout.splitlines()


def test_a_forked_process_runs_kernels_on_threads_of_its_own(tmp_path: Path) -> None:
    # A cache of its own: what others have built of `wide` shares loops where that pays.
    lines = run([sys.executable, "-c", FORKED], OMP_NUM_THREADS="3", TRANSKERN_CACHE_DIR=str(tmp_path))
    counts = dict(line.rsplit(" ", 1) for line in lines)
    assert counts.keys() == {
        "parent", "child", "grandchild", "parent again", "child of a thread", "beside kernels"
    }  # fmt: skip
    assert {counts[who] for who in ("child", "grandchild", "child of a thread")} == {"3"}


SCRIPT = """
import numpy as np
import transkern

SHIFT = 2.0

@transkern.compile(target="cpu")
def f(x):
    y = np.sqrt(x) * SHIFT
    for i in range(1, len(y)):
        y[i] += y[i - 1] * 0.5
    return y

@transkern.compile(target="cpu", threads=1)
def g(x):
    return f(x) + 1

class Model:
    def __init__(self):
        self.rate = 3.0

    @transkern.compile(target="cpu")
    def step(self, x):
        return x * self.rate

xs = [np.arange(4.0) + k for k in range(3)]
wanted = [f.function(x) for x in xs]

def check(found, wanted=wanted):
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))

if __name__ == "__main__":
    BODY
    print("done")
"""

BODIES = {
    "fork": """
    import multiprocessing
    f(xs[0])
    with multiprocessing.get_context("fork").Pool(2) as pool:
        check(pool.map(f, xs))
        check(pool.map(g, xs), [w + 1 for w in wanted])
""",
    "spawn": """
    import multiprocessing
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        check(pool.map(f, xs))
""",
    "forkserver": """
    import multiprocessing
    with multiprocessing.get_context("forkserver").Pool(2) as pool:
        check(pool.map(f, xs))
""",
    "concurrent.futures": """
    from concurrent.futures import ProcessPoolExecutor
    with ProcessPoolExecutor(2) as pool:
        check(pool.map(f, xs))
        check([pool.submit(Model().step, x).result() for x in xs], [x * 3 for x in xs])
""",
    "joblib": """
    import joblib
    f(xs[0])
    check(joblib.Parallel(2)(joblib.delayed(f)(x) for x in xs))
    check(joblib.Parallel(2)(joblib.delayed(g)(x) for x in xs), [w + 1 for w in wanted])
    check(joblib.Parallel(2)(joblib.delayed(Model().step)(x) for x in xs), [x * 3 for x in xs])
    check(joblib.Parallel(2, prefer="threads")(joblib.delayed(f)(x) for x in xs))
""",
    "dask": """
    import dask
    check(dask.compute(*[dask.delayed(f)(x) for x in xs], scheduler="processes", num_workers=2))
    check(dask.compute(*[dask.delayed(f)(x) for x in xs], scheduler="threads"))
""",
}


@pytest.mark.parametrize("way", BODIES)
def test_a_script_sends_its_functions(way: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT.replace("    BODY\n", BODIES[way].lstrip("\n")))
    assert run([sys.executable, str(tmp_path / "script.py")]) == ["done"]


CELLS = {
    "<cell 1>": "import numpy as np\nimport transkern\n\ndef helper(x):\n    return np.sqrt(x) + OFFSET\n",
    "<cell 2>": "OFFSET = 2.0\ndef maker(by):\n    return transkern.compile(lambda x: helper(x) * by, target='cpu')\n",
    "<cell 3>": "@transkern.compile\ndef outer(x):\n    return helper(x) - maker_made(x)\nmaker_made = maker(3)\n",
}
NOTEBOOK = """
import linecache, sys, cloudpickle
for name, text in CELLS.items():
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    exec(compile(text, name, "exec"), globals())
del __file__
with open(sys.argv[1], "wb") as file:
    cloudpickle.dump(outer, file)
print(outer(np.arange(5.0)).tolist())
"""


def test_a_notebook_sends_the_texts_of_its_cells(tmp_path: Path) -> None:
    """Neither the cells nor their names are known where their functions arrive."""
    (tmp_path / "notebook.py").write_text(f"CELLS = {CELLS!r}\n{NOTEBOOK}")
    sent = tmp_path / "sent.pickle"
    wanted = run([sys.executable, str(tmp_path / "notebook.py"), str(sent)])
    program = "import pickle, sys, numpy as np; print(pickle.load(open(sys.argv[1], 'rb'))(np.arange(5.0)).tolist())"
    assert run([sys.executable, "-c", program, str(sent)]) == wanted


decorated = transkern.compile(wide, target="cpu")


@transkern.compile(target="cpu", threads=2, fastmath=True)
def named(x: Any) -> Any:
    return x * 2


class Holder:
    @transkern.compile(target="cpu")
    def method(self, x: Any) -> Any:
        return x * 2


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_compiled_functions_are_pickled_as_functions_are(protocol: int) -> None:
    assert pickle.loads(pickle.dumps(named, protocol)) is named
    assert pickle.loads(pickle.dumps(Holder.method, protocol)) is Holder.method
    again = pickle.loads(pickle.dumps(decorated, protocol))  # another name than its function's
    assert again is not decorated and again.function is wide and again.options == decorated.options
    assert copy.copy(named) is named and copy.deepcopy([decorated])[0] is decorated


def test_cloudpickle_sends_the_code_of_closures(tmp_path: Path) -> None:
    import cloudpickle

    by = 3.0
    sent = tmp_path / "sent.pickle"
    sent.write_bytes(cloudpickle.dumps([transkern.compile(lambda x: x * by, target="cpu", threads=2), named]))
    program = (
        "import pickle, sys; import numpy as np\n"
        "f, g = pickle.load(open(sys.argv[1], 'rb'))\n"
        "print(f(np.arange(3.0)).tolist(), f.options.threads, g(np.arange(3.0)).tolist())"
    )
    assert run([sys.executable, "-c", program, str(sent)]) == ["[0.0, 3.0, 6.0] 2 [0.0, 2.0, 4.0]"]
    assert np.array_equal(named(np.arange(3.0)), [0.0, 2.0, 4.0])
