"""Estimates beside a clock: the functions of the newest `make gpu`, at its sizes, on the device that it ran on."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.evidence import cuda, functions
from benchmarks.evidence.functions import Subject
from transkern.targets.chips import H200

DEVICES = {"NVIDIA H200": (H200, "sm_90")}
_EXAMPLES = ("sigmoid", "residual", "adam", "lstm", "softmax", "layernorm")
_WORKLOADS = (
    "drawdown", "batch norm", "box blur", "black-scholes", "sobel", "rgb to hsv", "confusion", "iou matrix",
    "bilinear resize",
)  # fmt: skip
RECORDS = functions.FOLDER / "results"


def names() -> list[str]:
    """What is estimated at the sizes of `make gpu`: what the simulator goes through in some seconds."""
    return [*(f"example {name}" for name in _EXAMPLES), *(f"workload {name}" for name in _WORKLOADS)]


def newest() -> dict[str, Any] | None:
    """The newest record of a GPU that is known here, with its file's name."""
    for path in sorted(RECORDS.glob("2*gpu*.json"), reverse=True):
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if record.get("machine", {}).get("result", {}).get("device") in DEVICES:
            return record | {"file": path.name}
    return None


def row(name: str) -> dict[str, Any]:
    """The estimate of a function, and what the clock said, which has the host's time for the call in it; seconds."""
    record = newest()
    if record is None:
        return {"function": name, "arch": "clock", "failed": "no record of a device that is known"}
    machine = record["machine"]["result"]
    measured = (record["timings"].get(name, {}).get("result") or {}).get("milliseconds", {}).get("transkern")
    gpu, arch = DEVICES[machine["device"]]
    found = cuda.row(_subject(name), arch, gpu)
    if measured is None or "estimate" not in found:
        return {"function": name, "arch": "clock", "failed": "not measured, or no estimate"}
    return {
        "function": name, "arch": "clock", "estimate": found["estimate"], "measured": measured / 1e3,
        "file": record["file"],
        "device": machine["device"], "least": machine.get("milliseconds of a kernel of one element", 0.0) / 1e3,
        "bound": found["bound"],
    }  # fmt: skip


def _subject(name: str) -> Subject:
    kind, _, short = name.partition(" ")
    if kind == "example":
        import importlib

        module = importlib.import_module(short)
        written = (0, 2, 3) if short == "adam" else ()
        return Subject(name, getattr(module, short), lambda rng: module.arguments(), written)
    from workloads.collection import WORKLOADS

    one = WORKLOADS[short]
    inputs: Callable[[np.random.Generator], tuple[Any, ...]] = lambda rng: one.inputs(rng, one.size)  # noqa: E731
    return Subject(name, one.function, inputs, one.written)
