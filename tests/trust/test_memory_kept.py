"""What a compilation leaves behind in the process: the code, and nothing that it was made through."""

import ast
import gc
import os
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np

import transkern
from transkern.ir import nodes as n


def picks(x, y):
    order = np.argsort(x, kind="stable")
    found = []
    while order.size > 0:
        found.append(order[0])
        order = order[1:][y[order[1:]] != y[order[0]]]
    return np.array(found), [k * 2 for k in found]


def _alive(kind):
    gc.collect()
    return sum(isinstance(o, kind) for o in gc.get_objects())


def neither_statements_nor_syntax_trees_stay():
    x = np.array([3.0, 1.0, 2.0])
    transkern.compile(picks, target="cpu")(x.astype(np.float32), x)  # what is made once a process
    statements, trees = _alive(n.Node), _alive(ast.FunctionDef)
    found, _ = transkern.compile(picks, target="cpu")(x, x)
    assert found.tolist() == [1, 2, 0]
    assert _alive(n.Node) <= statements
    assert _alive(ast.FunctionDef) <= trees


def a_compiled_function_goes_with_the_last_name_for_it():
    compiled = transkern.compile(picks, target="cpu")
    compiled(np.arange(3.0), np.arange(3.0))
    seen = weakref.ref(compiled)
    del compiled
    gc.collect()
    assert seen() is None


def test_nothing_stays(tmp_path):
    """In a process of its own: in that of other tests there are millions of objects to look at."""
    done = subprocess.run(
        [sys.executable, __file__], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False,
        env={**os.environ, "TRANSKERN_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    neither_statements_nor_syntax_trees_stay()
    a_compiled_function_goes_with_the_last_name_for_it()
