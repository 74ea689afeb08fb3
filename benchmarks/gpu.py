"""Everything that wants a GPU, in one command on a machine that has one; one JSON, within ten minutes.

    PYTHONPATH=. python3 benchmarks/gpu.py [--output gpu.json] [--minutes 9]

It runs, each in a process of its own and none able to stop the others:

1. the GPU tests on the device;
2. compute-sanitizer (memcheck, racecheck) over all examples at small sizes;
3. timings of the examples: transkern (cuda) against CuPy, JAX, PyTorch and torch.compile, in turn,
   synchronised around each call.

Needs CuPy; what else is missing (pytest, JAX, PyTorch, compute-sanitizer) is noted in the JSON and left out.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
EXAMPLES = ("sigmoid", "residual", "adam", "lstm", "softmax", "layernorm")
FORMS = ("nms", "nms_descending", "nms_delete", "nms_flags")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("gpu.json"))
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--part", choices=["examples", "time"], help=argparse.SUPPRESS)  # what a child does
    parser.add_argument("--name", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT), str(ROOT / "examples"), str(ROOT / "benchmarks")]
    if options.part == "examples":
        return run_examples()
    if options.part == "time":
        print(json.dumps(time_example(options.name)))
        return 0

    end = time.monotonic() + 60 * options.minutes
    record: dict[str, Any] = {"date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")}

    def write() -> None:  # after each part: what is known is kept whatever happens next
        options.output.write_text(json.dumps(record, indent=1) + "\n")

    record["machine"] = child([sys.executable, "-c", _MACHINE], 60)
    write()
    record["tests"] = child(
        [sys.executable, "-m", "pytest", "-q", "-x", "--maxfail=20", "-p", "no:cacheprovider", "tests/cuda",
         "tests/test_examples.py", "-k", "not simulator and not pallas"],
        min(180, left(end)), TRANSKERN_TESTS_PARTIAL="1",
    )  # fmt: skip
    write()
    record["timings"] = {}
    for name in (*FORMS, *EXAMPLES):
        record["timings"][name] = child([*_SELF, "--part", "time", "--name", name], min(60, left(end)))
        write()
    sanitizer = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
    record["sanitizer"] = {} if sanitizer else "no compute-sanitizer on this machine"
    for tool in ("memcheck", "racecheck") if sanitizer else ():
        command = [str(sanitizer), "--tool", tool, "--error-exitcode", "9", *_SELF, "--part", "examples"]
        record["sanitizer"][tool] = child(command, min(120, left(end)))
        write()
    print(json.dumps(record, indent=1))
    parts = [record["tests"], *record["timings"].values()]
    parts += list(record["sanitizer"].values()) if sanitizer else []
    return int(any(part["status"] != 0 for part in parts))


_SELF = (sys.executable, str(Path(__file__).resolve()))
_MACHINE = """
import json, platform, sys, importlib.metadata as m
found = {"python": platform.python_version(), "system": platform.platform()}
for name in ("numpy", "cupy-cuda13x", "cupy-cuda12x", "jax", "torch", "numba"):
    try: found[name] = m.version(name)
    except m.PackageNotFoundError: pass
import cupy
found["device"] = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
found["driver"] = cupy.cuda.runtime.driverGetVersion()
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


# ---- what the children do --------------------------------------------------------------------------------------------


def _loaded(name: str) -> tuple[Callable[..., Any], Callable[..., tuple[Any, ...]]]:
    """A function of the examples, and what makes its arguments."""
    if name in FORMS:
        import nms

        function = getattr(nms, name)
        return function, lambda n=8192: nms.arguments(n)[function]
    module = __import__(name)
    return getattr(module, name), module.arguments


def _outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> list[Any]:
    import numpy as np

    args = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)
    result = function(*args)
    results = result if isinstance(result, tuple) else () if result is None else (result,)
    return [np.asarray(a) for a in (*results, *args)]


_SMALL: dict[str, dict[str, int]] = {
    "sigmoid": {"n": 10_007}, "adam": {"n": 10_007}, "lstm": {"batch": 37, "hidden": 101},
    "residual": {"batch": 2, "channels": 3, "height": 31, "width": 33}, "softmax": {"rows": 37, "columns": 1003},
    "layernorm": {"rows": 37, "columns": 1003},
}  # fmt: skip


def run_examples() -> int:
    """Every example once at a small size, compared with NumPy: what the sanitizers watch."""
    import numpy as np

    import transkern

    for name in (*FORMS, *EXAMPLES):
        function, arguments = _loaded(name)
        args = arguments(n=500) if name in FORMS else arguments(**_SMALL[name])
        found, expected = _outcome(transkern.compile(function, target="cuda"), args), _outcome(function, args)
        for mine, theirs in zip(found, expected, strict=True):
            if name in FORMS:
                np.testing.assert_array_equal(mine, theirs)
            else:
                np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)
    print("all examples agree with NumPy")
    return 0


def time_example(name: str) -> dict[str, Any]:
    """Milliseconds a call of each peer, arrays on the device: medians of interleaved samples."""
    import cupy
    import numpy as np

    import transkern

    function, arguments = _loaded(name)
    args = arguments()
    expected = _outcome(function, args)
    peers: dict[str, Callable[[], Any]] = {}
    notes: dict[str, str] = {}

    on_device = [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
    compiled = transkern.compile(function, target="cuda")
    checked = _outcome(compiled, args)
    exact = name in FORMS
    agrees = all(
        np.array_equal(a, b) if exact else np.allclose(a, b, rtol=1e-4, atol=1e-4)
        for a, b in zip(checked, expected, strict=True)
    )
    peers["transkern"] = lambda: compiled(*on_device)
    if not exact:
        _add_peers(name, args, on_device, peers, notes)
    for peer in list(peers):
        try:
            for _ in range(3):
                peers[peer]()
            cupy.cuda.runtime.deviceSynchronize()
        except Exception as error:  # a peer that fails must not take the others along
            notes[peer] = f"{type(error).__name__}: {str(error)[:300]}"
            del peers[peer]
    samples: dict[str, list[float]] = {peer: [] for peer in peers}
    until = time.monotonic() + 8
    while time.monotonic() < until and min(map(len, samples.values()), default=100) < 50:
        for peer, call in peers.items():
            cupy.cuda.runtime.deviceSynchronize()
            start = time.perf_counter()
            call()
            cupy.cuda.runtime.deviceSynchronize()
            samples[peer].append(1e3 * (time.perf_counter() - start))
    start = time.perf_counter()
    function(*(a.copy() if isinstance(a, np.ndarray) else a for a in args))
    return {
        "agrees with NumPy": agrees,
        "kernels": compiled.kernels,
        "temporaries": len(compiled.temporaries),
        "milliseconds": {peer: statistics.median(taken) for peer, taken in samples.items() if taken},
        "NumPy on the host": 1e3 * (time.perf_counter() - start),
        "notes": notes,
    }


def _add_peers(
    name: str, args: tuple[Any, ...], on_device: list[Any], peers: dict[str, Callable[[], Any]], notes: dict[str, str]
) -> None:
    """CuPy with the same text (NumPy's functions dispatch to it), JAX and PyTorch with the benchmark's own forms."""
    import cases
    import numpy as np

    function, _ = _loaded(name)
    peers["cupy"] = lambda: function(*on_device)
    if importlib.util.find_spec("jax"):
        import jax

        form = cases._jax_forms()[name]
        numbers = tuple(k for k, a in enumerate(args) if not isinstance(a, np.ndarray))
        jitted = jax.jit(form, static_argnums=numbers)
        in_jax = [jax.numpy.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
        peers["jax"] = lambda: jax.block_until_ready(jitted(*in_jax))
    else:
        notes["jax"] = "not installed"
    if importlib.util.find_spec("torch"):
        import torch

        plain = cases._torch_forms()[name]
        in_torch = [torch.from_numpy(a.copy()).cuda() if isinstance(a, np.ndarray) else a for a in args]
        peers["torch"] = lambda: plain(*in_torch)
        optimised = torch.compile(plain, dynamic=False)
        peers["torch.compile"] = lambda: optimised(*in_torch)
    else:
        notes["torch"] = "not installed"


if __name__ == "__main__":
    sys.exit(main())
