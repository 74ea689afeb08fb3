"""The memory of arrays between kernels and of large results: kept for the next call, and let go of."""

import gc
import resource
import subprocess
import sys
import threading
from typing import Any

import numpy as np

import transkern
from transkern.targets.cpu.printing.glue import ROOMS, TEMPORARIES


def ranked(x: Any) -> Any:
    y = np.sort(x * 2)
    z = np.cumsum(y[::-1])
    return np.sort(z - y)[:3]


def large(x: Any) -> Any:
    return np.sort(x)[::-1] + 1


def _faults(function: Any, x: Any, calls: int) -> int:
    """Pages that calls touched for the first time."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(calls):
        function(x)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_no_fresh_pages() -> None:
    x = np.random.default_rng(0).standard_normal(200_000)
    for function in (ranked, large):
        compiled = transkern.compile(function, target="cpu", threads=1)
        for _ in range(5):
            compiled(x)
        pages = x.nbytes // 4096
        assert _faults(compiled, x, 20) < 20 * pages // 4  # NumPy's sort inside may touch some
        assert np.array_equal(compiled(x), function(x))


def halves(x: Any) -> Any:
    parts = []
    while len(x) > 1000:
        parts.append(x[::2] - x[1::2])
        x = x[::2] + x[1::2]
    total = 0.0
    for part in parts:
        total += part[-1]
    return total, x, parts[1]


def test_no_fresh_pages_for_what_grows() -> None:
    """What is reserved keeps its first pages, and what stood there before is not read."""
    compiled = transkern.compile(halves, target="cpu", threads=1)
    for size in (1 << 15, 1 << 12, 1 << 14):
        x = np.random.default_rng(size).standard_normal(size)
        for _ in range(3):
            mine, numpys = compiled(x), halves(x)
            assert mine[0] == numpys[0] and all(map(np.array_equal, mine[1:], numpys[1:]))
    assert _faults(compiled, np.ones(1 << 15), 20) < 20 * 10


def test_results_outlive_their_calls() -> None:
    """What a result lives in is not given away while it, or a view of it, is there."""
    compiled = transkern.compile(large, target="cpu")
    inputs = [np.random.default_rng(k).standard_normal(300_000) for k in range(6)]
    kept = [compiled(x)[10:] for x in inputs]
    gc.collect()
    for x in inputs:
        compiled(x * 3)
    for x, view in zip(inputs, kept, strict=True):
        assert np.array_equal(view, large(x)[10:])


def test_from_several_threads() -> None:
    compiled = transkern.compile(ranked, target="cpu")
    wrong: list[int] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(15):
            x = rng.standard_normal(int(rng.integers(10_000, 120_000)))
            if not np.array_equal(compiled(x), ranked(x)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_what_is_kept_has_a_bound(tmp_path: Any) -> None:
    """Sixteen pieces at most, together no more than `most`; the oldest goes; a fit is at most twice as long."""
    text = f"""
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
struct py_pool;
typedef struct {{ struct py_pool *pool; }} py_shares;
static py_shares py_own, *py_shared = &py_own;
{ROOMS}{TEMPORARIES}
int main(void) {{
    void *held[40];
    for (int k = 0; k < 40; ++k) held[k] = py_array((k + 1) << 18);
    for (int k = 0; k < 40; ++k) {{
        if ((uintptr_t)held[k] % 64) return 1;
        py_clear(held[k]);
    }}
    py_pool *pool = py_rooms();
    size_t total = 0;
    int pieces = 0;
    for (int k = 0; k < PY_KEPT; ++k) {{ total += pool->kept[k].size; pieces += pool->kept[k].memory != NULL; }}
    if (pieces != PY_KEPT || total != pool->bytes || total > pool->most) return 2;
    if (py_array(40 << 18) == NULL || pool->bytes >= total) return 3;  // the longest was among them
    size_t size = 1 << 18;
    void *fresh = py_take(&size);  // what is kept is more than twice as long
    if (!fresh || size > 1 << 19) return 4;
    pool->most = 1 << 20;
    py_give(fresh, size);
    if (pool->bytes > pool->most) return 5;
    if (py_array((size_t)PTRDIFF_MAX) || py_array(SIZE_MAX)) return 6;
    py_clear(NULL);
    puts("kept");
    return 0;
}}
"""
    (tmp_path / "rooms.c").write_text(text)
    program = tmp_path / "rooms"
    subprocess.run(["cc", "-O1", "-std=gnu11", "-w", str(tmp_path / "rooms.c"), "-o", str(program)], check=True)
    assert subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout == "kept\n"


def test_one_store_for_all_modules(tmp_path: Any) -> None:
    """What one function keeps, another takes."""
    (tmp_path / "two.py").write_text("""
import resource
import numpy as np
import transkern

def first(x):
    return np.sort(x * 2)[::7].sum()

def second(x):
    return np.sort(x * 3)[::5].sum()

x = np.random.default_rng(0).standard_normal(100_000)
f, g = transkern.compile(first), transkern.compile(second)
g(x[:100])
if __import__("sys").argv[1] == "both":
    f(x)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
g(x)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
""")
    touched = [
        int(subprocess.run([sys.executable, str(tmp_path / "two.py"), which], check=True, capture_output=True).stdout)
        for which in ("one", "both")
    ]
    assert touched[1] < touched[0] - 100_000 * 8 // 4096 // 2
