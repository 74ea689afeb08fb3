"""Everything that wants a GPU, in one command on a machine that has one; one JSON, within ten minutes.

    make gpu                                                   or, in an environment that has all peers,
    PYTHONPATH=. python3 benchmarks/gpu.py [--output FILE] [--minutes 9] [--only tests,timings,sanitizers]

It runs, none able to stop the others:

1. all tests that can run on a CUDA device, on the device: the corpus, the language's cases, examples, loops;
2. every workload, loop kernel and example, each in a process of its own, many of which get ready side by side and
   are measured then, one at a time and with nobody beside: transkern (cuda) with arrays on the device against the same
   text on CuPy, the form for JAX and the form for PyTorch (plain and compiled), in turn, synchronised around each
   call; against torchvision's suppression; and the call with NumPy's arrays, transfers included, against NumPy on the
   host;
3. compute-sanitizer (memcheck, racecheck) over all examples at small sizes.

Needs CuPy; what else is missing (pytest, JAX, PyTorch, compute-sanitizer) is noted in the JSON and left out.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import fcntl
import importlib.util
import json
import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
EXAMPLES = ("sigmoid", "residual", "adam", "lstm", "softmax", "layernorm")
FORMS = ("nms", "nms_descending", "nms_delete", "nms_flags")
PARTS = ("tests", "timings", "sanitizers")
ALONE = "transkern with NumPy's arrays"
"""A peer that is no other."""
LONG = 2000.0
"""Milliseconds that NumPy takes, from which on CuPy is left out, which launches a kernel for each operation."""
LONG_LOOPS = 250.0
"""The same where its operations are of few elements: loops around array statements."""
PREPARING = 45.0
"""Seconds that a batch gets to compile and to make its first calls, before the first of it is measured."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("gpu.json"))
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--only", default=",".join(PARTS), help="which parts, with commas between")
    parser.add_argument("--cases", default="", help="only what is timed and has this in its name")
    parser.add_argument("--seconds", type=float, default=0.4, help="how long a peer is timed, at most, about")
    parser.add_argument("--part", choices=["examples", "time"], help=argparse.SUPPRESS)  # what a child does
    parser.add_argument("--name", default="", help=argparse.SUPPRESS)
    parser.add_argument("--folder", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT), str(ROOT / "examples"), str(ROOT / "benchmarks")]
    if options.part == "examples":
        return run_examples()
    if options.part == "time":
        print(json.dumps(timed(options.name, options.seconds, options.folder)))
        return 0

    end = time.monotonic() + 60 * options.minutes
    record: dict[str, Any] = {"date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")}

    def write() -> None:  # after each part: what is known is kept whatever happens next
        options.output.write_text(json.dumps(record, indent=1) + "\n")

    asked = options.only.split(",")
    record["machine"] = child([sys.executable, "-c", _MACHINE], 60)
    write()
    if "timings" in asked:
        record["timings"] = {}
        for name, found in time_all(options.cases, options.seconds, end - 20):
            record["timings"][name] = found
            write()
        print(table(record["timings"]), flush=True)
    if "sanitizers" in asked:
        record["sanitizer"] = sanitize(end)
        write()
        print("sanitizer:", json.dumps(record["sanitizer"]), flush=True)
    if "tests" in asked:
        record["tests"] = test(left(end), options.output.with_name("gpu-tests.log"))
        write()
        print("tests:", json.dumps(record["tests"]), flush=True)
    parts = [record.get("tests"), *record.get("timings", {}).values(), *record.get("sanitizer", {}).values()]
    return int(any(part is not None and part["status"] != 0 for part in parts))


_SELF = (sys.executable, str(Path(__file__).resolve()))
_MACHINE = """
import json, platform, statistics, sys, time, importlib.metadata as m
found = {"python": platform.python_version(), "system": platform.platform()}
for name in ("numpy", "cupy-cuda13x", "cupy-cuda12x", "jax", "torch", "torchvision", "numba"):
    try: found[name] = m.version(name)
    except m.PackageNotFoundError: pass
import cupy
found["device"] = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
found["driver"] = cupy.cuda.runtime.driverGetVersion()
x, taken = cupy.zeros(1), []  # what the least of calls takes: a kernel of one element, and waiting for it
for _ in range(200):
    start = time.perf_counter()
    x += 1
    cupy.cuda.runtime.deviceSynchronize()
    taken.append(1e3 * (time.perf_counter() - start))
found["milliseconds of a kernel of one element"] = round(statistics.median(taken), 4)
print(json.dumps(found))
"""


def left(end: float) -> float:
    return max(5.0, end - time.monotonic())


def child(command: list[str] | tuple[str, ...], seconds: float, **more: str) -> dict[str, Any]:
    """A command's status, its JSON where its last line is one, else the end of what it said."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))), **more)
    environment.pop("TRANSKERN_CUDA_SIM", None)
    # JAX would take most of the device's memory, which the peers share.
    environment.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    environment.setdefault("JAX_PLATFORMS", "cuda,cpu")
    start = time.monotonic()
    try:
        run = subprocess.run(
            list(command), cwd=ROOT, env=environment, text=True, errors="replace", timeout=seconds, check=False,
            capture_output=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"status": 124, "seconds": seconds, "said": "out of time"}
    result: dict[str, Any] = {"status": run.returncode, "seconds": round(time.monotonic() - start, 1)}
    try:
        result["result"] = json.loads(run.stdout.strip().rpartition("\n")[2])
    except ValueError:
        result["said"] = (run.stdout + run.stderr)[-3000:]
    return result


# ---- the tests -------------------------------------------------------------------------------------------------------


def test(seconds: float, log: Path) -> dict[str, Any]:
    """How the tests on the device end; what they say goes to `log`."""
    simulated = set((ROOT / "tests" / "cuda").glob("test_*.py")) - {ROOT / "tests" / "cuda" / "test_on_device.py"}
    files = [
        str(file.relative_to(ROOT)) for file in sorted((ROOT / "tests").rglob("test_*.py"))
        if file not in simulated and file.parent.name != "pallas" and "cuda" in file.read_text()
    ]  # fmt: skip
    command = [
        sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "--tb=short", "-r", "f", "--color=no",
        "-k", "cuda and not simulator and not sanitized and not pallas", *files,
    ]  # fmt: skip
    if importlib.util.find_spec("xdist"):
        command += ["-n", str(max(2, (os.cpu_count() or 2) - 2)), "--dist", "worksteal"]
    if importlib.util.find_spec("pytest_timeout"):
        command += ["--timeout=60", "--timeout-method=thread"]
    environment = dict(os.environ, TRANSKERN_TESTS_PARTIAL="1", TRANSKERN_CORPUS="cuda", OMP_NUM_THREADS="2")
    environment["PYTHONPATH"] = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))
    environment.pop("TRANSKERN_CUDA_SIM", None)
    start = time.monotonic()
    with log.open("w") as out:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=out)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)  # pytest tells what it has found so far
            status = 124
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(15)
            process.kill()
    text = log.read_text(errors="replace")
    failed = sorted(set(re.findall(r"\bFAILED (tests\S+)", text, re.MULTILINE)))
    said = text.strip().rpartition("\n")[2]
    return {"status": status, "seconds": round(time.monotonic() - start, 1), "failed": failed, "said": said[-300:]}


def sanitize(end: float) -> dict[str, Any]:
    """compute-sanitizer's tools over the examples."""
    found = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
    if not found:
        return {"compute-sanitizer": {"status": 0, "said": "not on this machine"}}
    with ThreadPoolExecutor(2) as side_by_side:
        jobs = {
            tool: side_by_side.submit(
                child, [found, "--tool", tool, "--error-exitcode", "9", *_SELF, "--part", "examples"],
                min(150, left(end)),
            )
            for tool in ("memcheck", "racecheck")
        }  # fmt: skip
        return {tool: job.result() for tool, job in jobs.items()}


# ---- the timings -----------------------------------------------------------------------------------------------------


@dataclass
class Subject:
    """What is timed: a function, its arguments, its form for peers, and which arguments it changes."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    forms: dict[str, Callable[..., Any]] = field(default_factory=dict)
    written: tuple[int, ...] = ()
    exact: bool = False
    text: Callable[..., Any] | None = None  # for CuPy; None: it has no form that would end


def names(containing: str = "") -> list[str]:
    """Everything that is timed."""
    from loops.kernels import KERNELS
    from workloads.collection import WORKLOADS

    found = [*(f"example {name}" for name in (*FORMS, *EXAMPLES)), *(f"workload {name}" for name in WORKLOADS)]
    found += [f"loops {name}" for name in KERNELS]
    return [name for name in found if containing in name]


def time_all(containing: str, seconds: float, end: float) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each subject's result. A batch of them gets ready side by side; when all are, or have taken long enough, each is
    measured, one at a time."""
    all_of_them, size = names(containing), max(1, 2 * (os.cpu_count() or 2) - 2)
    for begin in range(0, len(all_of_them), size):
        batch = all_of_them[begin : begin + size]
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(size) as side_by_side:

            def one(name: str, folder: str = folder) -> dict[str, Any]:
                if time.monotonic() > end - 10:
                    return {"status": 124, "said": "no time was left"}
                command = [*_SELF, "--part", "time", "--name", name, "--seconds", str(seconds), "--folder", folder]
                return child(command, min(120, left(end)), OMP_NUM_THREADS="2")

            jobs = [(name, side_by_side.submit(one, name)) for name in batch]
            latest = time.monotonic() + PREPARING
            while time.monotonic() < latest:
                time.sleep(0.2)
                if len(list(Path(folder).glob("*.ready"))) + sum(job.done() for _, job in jobs) >= len(batch):
                    break
            Path(folder, "lock").touch()
            for name, job in jobs:
                yield name, job.result()


def subject(name: str) -> Subject:
    kind, name = name.split(" ", 1)
    if kind == "workload":
        import numpy as np
        from workloads.collection import WORKLOADS

        one = WORKLOADS[name]
        args = one.inputs(np.random.default_rng(0), one.size)
        forms = {"jax": one.forms["jax"]} if "jax" in one.forms else {}
        return Subject(one.function, args, forms, one.written, one.exact, one.function)
    if kind == "loops":
        import numpy as np
        from loops.kernels import KERNELS

        kernel = KERNELS[name]
        args = kernel.inputs(np.random.default_rng(0), kernel.size)
        return Subject(kernel.loops, args, written=kernel.written, text=kernel.slices)
    if name in FORMS:
        import nms

        function = getattr(nms, name)
        return Subject(function, nms.arguments(8192)[function], exact=True)
    import cases

    module = __import__(name)
    forms = {"jax": cases._jax_forms()[name]} if importlib.util.find_spec("jax") else {}
    if importlib.util.find_spec("torch"):
        forms["torch"] = cases._torch_forms()[name]
    function = getattr(module, name)
    return Subject(function, module.arguments(), forms, (), False, function)


def timed(name: str, seconds: float, folder: str) -> dict[str, Any]:
    """Milliseconds a call of each peer, arrays on the device: medians of interleaved samples."""
    import cupy
    import numpy as np

    import transkern

    one = subject(name)
    notes: dict[str, str] = {}
    start = time.perf_counter()
    if not name.startswith("loops"):
        reference = one.function
    else:  # plain loops would take Python minutes
        reference = one.text or transkern.compile(one.function, target="cpu")
    expected = outcome(reference, one.args)
    on_host = 1e3 * (time.perf_counter() - start)

    def to_device(args: tuple[Any, ...]) -> list[Any]:
        return [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in args]

    compiled = transkern.compile(one.function, target="cuda")
    start = time.perf_counter()
    wrong = difference(outcome(compiled, one.args), expected, one.exact)
    first_call = time.perf_counter() - start
    on_device = to_device(one.args)
    peers: dict[str, Callable[[], Any]] = {"transkern": lambda: compiled(*on_device)}
    if not one.written:
        peers[ALONE] = lambda: compiled(*one.args)
    if on_host > (LONG_LOOPS if name.startswith("loops") else LONG):
        notes["cupy"] = "left out, as NumPy takes seconds"
    elif one.text is not None:
        there, others = on_cupy(one.text), to_device(one.args)
        peers["cupy"] = lambda: there(*others)
    add_forms(one, peers, notes)
    if name.startswith("example nms"):
        add_suppression(one.args, peers, notes)
    taken: dict[str, float] = {}
    for peer in list(peers):
        try:
            for _ in range(2):  # the second is measured: one that takes seconds is not run again
                start = time.perf_counter()
                peers[peer]()
                cupy.cuda.runtime.deviceSynchronize()
                taken[peer] = time.perf_counter() - start
                if taken[peer] > 20:
                    break
        except Exception as error:  # a peer that fails must not take the others along
            notes[peer] = f"{type(error).__name__}: {str(error)[:200]}"
            del peers[peer]
    with turn(folder):
        samples = {peer: [1e3 * taken[peer]] for peer in peers if taken[peer] > 1.5}
        short = [peer for peer in peers if peer not in samples]
        for peer in short:
            peers[peer]()
            samples[peer] = []
        until = time.perf_counter() + seconds * len(short)
        while short and ((time.perf_counter() < until and len(samples[short[0]]) < 30) or len(samples[short[0]]) < 3):
            for peer in short:
                cupy.cuda.runtime.deviceSynchronize()
                start = time.perf_counter()
                peers[peer]()
                cupy.cuda.runtime.deviceSynchronize()
                samples[peer].append(1e3 * (time.perf_counter() - start))
    return {
        "wrong": wrong,
        "kernels": compiled.kernels,
        "temporaries": len(compiled.temporaries),
        "first call, seconds": round(first_call, 2),
        "milliseconds": {peer: round(statistics.median(found), 4) for peer, found in samples.items()},
        "NumPy on the host": round(on_host, 4),
        "notes": notes,
    }


@contextlib.contextmanager
def turn(folder: str) -> Iterator[None]:
    """Alone among those that are measured, when all are ready."""
    if not folder:
        yield
        return
    lock = Path(folder, "lock")
    Path(folder, f"{os.getpid()}.ready").touch()
    while not lock.exists():
        time.sleep(0.05)
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def on_cupy(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with CuPy in NumPy's place, in its module's other functions too."""
    import cupy
    import numpy as np

    made: dict[str, Any] = dict(function.__globals__)  # type: ignore[attr-defined]
    for name, value in list(made.items()):
        if value is np:
            made[name] = cupy
        elif isinstance(value, types.FunctionType) and value.__globals__ is function.__globals__:  # type: ignore[attr-defined]
            made[name] = types.FunctionType(value.__code__, made, name, value.__defaults__, value.__closure__)
    closure, defaults = function.__closure__, function.__defaults__  # type: ignore[attr-defined]
    return types.FunctionType(function.__code__, made, function.__name__, defaults, closure)  # type: ignore[attr-defined]


def add_forms(one: Subject, peers: dict[str, Callable[[], Any]], notes: dict[str, str]) -> None:
    """JAX and PyTorch with the benchmark's own forms."""
    import numpy as np

    if "jax" in one.forms:
        import jax

        jax.config.update("jax_enable_x64", True)
        numbers = tuple(k for k, a in enumerate(one.args) if not isinstance(a, np.ndarray))
        jitted = jax.jit(one.forms["jax"], static_argnums=numbers)
        in_jax = [jax.numpy.array(a, copy=True) if isinstance(a, np.ndarray) else a for a in one.args]
        peers["jax"] = lambda: jax.block_until_ready(jitted(*in_jax))
    if "torch" in one.forms:
        import torch

        plain = one.forms["torch"]
        in_torch = [torch.from_numpy(a.copy()).cuda() if isinstance(a, np.ndarray) else a for a in one.args]
        peers["torch"] = lambda: plain(*in_torch)
        optimised = torch.compile(plain, dynamic=False)
        peers["torch.compile"] = lambda: optimised(*in_torch)


def add_suppression(args: tuple[Any, ...], peers: dict[str, Callable[[], Any]], notes: dict[str, str]) -> None:
    """torchvision's own suppression of as many boxes: its threshold is ours, and its boxes have no + 1."""
    try:
        import torch
        import torchvision
    except ImportError:
        notes["torchvision"] = "not installed"
        return
    boxes = torch.from_numpy(args[0][:, :4].copy()).float().cuda()
    scores = torch.from_numpy((args[0][:, 4] if args[0].shape[1] == 5 else args[1]).copy()).float().cuda()
    threshold = next(float(a) for a in args if isinstance(a, float))
    peers["torchvision"] = lambda: torchvision.ops.nms(boxes, scores, threshold)


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> list[Any]:
    """The results and the arguments after the call, as NumPy's arrays."""
    import numpy as np

    args = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)
    result = function(*args)
    results = result if isinstance(result, (tuple, list)) else () if result is None else (result,)
    return [np.asarray(a) for a in (*results, *args)]


def difference(found: list[Any], expected: list[Any], exact: bool) -> str:
    """What is wrong with an outcome, or nothing."""
    import numpy as np

    for mine, theirs in zip(found, expected, strict=True):
        if mine.shape != theirs.shape:
            return f"shape {mine.shape}, not {theirs.shape}"
        if not (np.array_equal(mine, theirs) if exact else np.allclose(mine, theirs, 1e-4, 1e-5, equal_nan=True)):
            return "other values"
    return ""


def table(timings: dict[str, Any]) -> str:
    """A line a subject, the furthest behind its best peer first, and the geometric mean."""
    rows, ratios = [], []
    for name, found in timings.items():
        if "result" not in found:
            rows.append((-1.0, f"{name:34} failed: {found.get('said', '').strip()[-160:]!r}"))
            continue
        result = found["result"]
        taken = dict(result["milliseconds"])
        mine, from_host = taken.pop("transkern", None), taken.pop(ALONE, None)
        best = min(taken, key=lambda peer: taken[peer], default=None)
        ratio = taken[best] / mine if best is not None and mine else None
        if ratio is not None:
            ratios.append(ratio)
        host = result["NumPy on the host"]
        line = f"{name:34} {mine or math.nan:10.3f} {result['kernels']!s:>3} kernels"
        line += f"  {best} {taken[best]:.3f} = {ratio:.2f}" if ratio is not None and best is not None else "  no peer"
        line += f"  host {host:.2f} / {from_host or math.nan:.3f}  {result['wrong']}"
        rows.append((ratio if ratio is not None else host / mine if mine else 0.0, line))
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan
    lines = [line for _, line in sorted(rows)]
    return "\n".join([*lines, f"geometric mean of the ratios to the best peer: {mean:.2f} ({len(ratios)})"])


# ---- the examples, for the sanitizers --------------------------------------------------------------------------------

_SMALL: dict[str, dict[str, int]] = {
    "sigmoid": {"n": 10_007}, "adam": {"n": 10_007}, "lstm": {"batch": 37, "hidden": 101},
    "residual": {"batch": 2, "channels": 3, "height": 31, "width": 33}, "softmax": {"rows": 37, "columns": 1003},
    "layernorm": {"rows": 37, "columns": 1003},
}  # fmt: skip


def run_examples() -> int:
    """Every example once at a small size, compared with NumPy: what the sanitizers watch."""
    import nms

    import transkern

    for name in (*FORMS, *EXAMPLES):
        if name in FORMS:
            function = getattr(nms, name)
            args = nms.arguments(500)[function]
        else:
            module = __import__(name)
            function, args = getattr(module, name), module.arguments(**_SMALL[name])
        found = outcome(transkern.compile(function, target="cuda"), args)
        assert not difference(found, outcome(function, args), name in FORMS), name
    print("all examples agree with NumPy")
    return 0


if __name__ == "__main__":
    sys.exit(main())
