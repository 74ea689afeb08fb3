"""`make evidence`: its figures of some functions get no worse, and docs/evidence.md says what was found."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.evidence import __main__ as evidence
from benchmarks.evidence import page, tpu
from benchmarks.evidence.functions import subjects
from tests.tools import require
from transkern.targets.pallas.module.around import outside
from transkern.targets.pallas.module.measure import Made, from_json
from transkern.targets.pallas.module.schedule import KernelSchedule, LoopSchedule

ARCH = "sm_90"


@dataclass(frozen=True)
class Limits:
    """What a function's figures are at most, and (`load`, `in_flight` in bytes, `busy` threads) at least."""

    registers: int
    instructions: float
    load: int
    sectors: float
    in_flight: float
    busy: int
    moved: float = 1.0
    launches: int = 1
    barriers: float = 0.0


LIMITS = {
    "sigmoid": Limits(40, 56, 128, 4, 64 << 10, 1 << 17),
    "softmax": Limits(56, 64, 128, 4, 30 << 10, 1024, barriers=2),
    "max pool, loops": Limits(32, 185, 32, 8, 24 << 10, 1 << 18),
    "add.at": Limits(56, 80, 32, 32, 1 << 10, 4096, moved=7.0, launches=6),  # 32 terms of a place are under way
}  # fmt: skip
"""As they are; who makes one better makes its limit so. Nothing here is what an expert would sign."""


@pytest.mark.parametrize("name", LIMITS)
def test_figures_get_no_worse(name: str) -> None:
    require("nvrtc", "nvdisasm", "cuobjdump")
    from benchmarks.evidence import cuda

    (subject,) = (s for s in subjects() if s.name == name)
    row, most = cuda.row(subject, ARCH), LIMITS[name]
    assert not row["spills"] and row["registers"] <= most.registers
    assert row["launches"] <= most.launches and row["barriers"] <= most.barriers
    assert row["moved bytes"] <= most.moved * row["fewest bytes"] * 1.01
    assert row["load"] >= most.load and row["sectors"] <= most.sectors
    assert row["in flight"] >= most.in_flight and row["busy"] >= most.busy
    assert row["instructions"] <= most.instructions


@pytest.mark.slow
def test_bundles_get_no_more() -> None:
    pytest.importorskip("libtpu")
    from benchmarks.evidence import tpu

    most = {"sigmoid": 700, "softmax": 700, "column sums": 1200}
    mine = [s for s in subjects() if s.name in most]
    found = {row["function"]: row for row in tpu.rows(mine, "v5e", 60.0)}
    for name, bundles in most.items():
        row = found[name]
        assert row["wholly"] and row["bundles"] <= bundles, row
        assert row["temporaries"] == row["plain"]["temporaries"] == 0 and row["vmem"] < 16 << 20


def test_there_are_sixty_functions_and_their_names_are_their_own() -> None:
    names = [s.name for s in subjects()]
    assert len(names) >= 60 and len(set(names)) == len(names)
    assert [s.name for s in subjects("softmax")] == ["softmax"]


def test_the_page_says_what_was_found() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.page()


def test_chips_that_a_run_leaves_out_have_the_rows_of_another(tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    rows = [{"function": "f", "arch": arch, "launches": 1} for arch in ("sm_80", "sm_90", "v5e")]
    old.write_text(json.dumps({"date": "2026-11-01T00:00:00", "evidence": rows, "clock": []}))
    rest = evidence._rest(old, ["sm_80", "sm_90"])
    assert rest["chips"] == ["v5e"] and [row["arch"] for row in rest["evidence"]] == ["v5e"]


def test_the_page_leaves_empty_what_is_not_known() -> None:
    row: dict[str, Any] = {
        "function": "f", "arch": "sm_90", "launches": 1, "calls": {"sort": 1}, "waits": 0, "registers": 20,
        "spills": [],
        "moved bytes": 10, "fewest bytes": 5, "meetings": 0, "instructions": None,
    }  # fmt: skip
    failed = {"function": "g", "arch": "sm_90", "failed": "CompileError: no\nmore"}
    lines = list(page._gpus([row, failed], ["f", "g"]))
    assert lines[-3].startswith("| f | 1 | 1 |  | 20 |  |  |") and "2" in lines[-3]
    assert set(lines[-2].replace("g", "").replace("|", "").strip()) == set()
    assert page.share(row) is None and page._short(failed["failed"]) == "CompileError: no"


def test_what_a_child_owes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence.sys, "executable", "/bin/false")
    (row,) = evidence._child("gpu", "sigmoid", "sm_90", 10.0)
    assert row["function"] == "sigmoid" and row["arch"] == "sm_90" and "failed" in row


def test_operations_around_kernels() -> None:
    text = """HloModule m
%fused_computation.1 (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %add = f32[8]{0} add(%p, %p)
}

ENTRY %main (a: f32[8]) -> (f32[8], s32[]) {
  %a = f32[8]{0} parameter(0)
  %f = f32[8]{0:T(128)} fusion(%a), kind=kLoop, calls=%fused_computation.1
  %k = f32[8]{0} custom-call(%f), custom_call_target="tpu_custom_call"
  %c = f32[8]{0} copy(%k)
  %w = (f32[8]{0}, s32[]) while(%t), condition=%cond, body=%body
  ROOT %r = (f32[8]{0}, s32[]) tuple(%c, %n)
}
"""
    assert outside(text) == {"copy": 1, "fusion": 1, "while": 1}


def _program(fused: str, *lines: str) -> str:
    head = "HloModule m\n%fused_computation (p: f32[8,1], q: f32[8,1]) -> f32[8] {\n"
    begin = "  %p = f32[8,1]{1,0} parameter(0)\n  %q = f32[8,1]{1,0} parameter(1)\n  %least = f32[] constant(-inf)\n"
    return f"{head}{begin}{fused}}}\nENTRY %main (a: f32[8,1]) -> f32[8] {{\n{chr(10).join(lines)}\n}}\n"


_FUSION = "  %f = f32[8]{0} fusion(%a, %a), kind=kLoop, calls=%fused_computation"
_PADS = "  %x = f32[8,2] pad(%p, %least), padding=0_0x0_1\n  %y = f32[8,2] pad(%q, %least), padding=0_0x1_0\n"


@pytest.mark.parametrize("fused, kind", [
    ("  %s = f32[4,1] slice(%p), slice={[0:4], [0:1]}\n  ROOT %b = f32[4]{0} bitcast(%s)\n", "move"),
    (_PADS + "  ROOT %m = f32[8,2] maximum(%x, %y)\n", "move"),
    (_PADS + "  ROOT %m = f32[8,2] maximum(%x, %p)\n", "fusion"),
    ("  ROOT %m = f32[8,1] maximum(%p, %q)\n", "fusion"),
    ("  ROOT %m = f32[8,1] add(%p, %q)\n", "fusion"),
    ("  ROOT %m = f32[8,1] dynamic-slice(%p, %i)\n", "fusion"),
    ("  ROOT %m = f32[8,8] convolution(%p, %q), dim_labels=bf_oi->bf\n", "product"),
    ("  %x = f32[] reduce(%p, %least), dimensions={0,1}, to_apply=%add\n", "fusion"),
])  # fmt: skip
def test_what_a_fusion_comes_to(fused: str, kind: str) -> None:
    assert outside(_program(fused, _FUSION)) == {kind: 1}


def test_reductions_of_one_element_are_reshapes_and_numbers_are_told() -> None:
    lines = [
        "  %a = f32[8,1]{1,0} parameter(0)", "  %z = f32[] constant(0)",
        "  %r = f32[8]{0} reduce(%a, %z), dimensions={1}, to_apply=%add",
        "  %s = f32[] reduce(%a, %z), dimensions={0,1}",
        "  %n = f32[] multiply(%s, %z)", "  %m = f32[8]{0} multiply(%r, %r)",
    ]  # fmt: skip
    assert outside(_program("", *lines)) == {"multiply": 1, "number": 1, "reduce": 1, "reshape": 1}


def test_positions_count_as_iotas_do() -> None:
    lines = [
        "  %a = f32[8]{0} parameter(0)", "  %z = s32[] constant(1)", "  %b = s32[8]{0} broadcast(%z), dimensions={}",
        "  %i = s32[8]{0} iota(), iota_dimension=0", "  %p = s32[8]{0} add(%i, %b)", "  %q = f32[8]{0} add(%a, %a)",
        "  %k = (f32[8]{0}) fusion(%a), kind=kCustom, calls=%kernel",
    ]  # fmt: skip
    kernel = "%kernel (p: f32[8]) -> f32[8] {\n  %p = f32[8] parameter(0)\n  ROOT %c = f32[8] custom-call(%p)\n}\n"
    text = _program("", *lines)
    assert outside(text.replace("ENTRY", f"{kernel}ENTRY")) == {"add": 1}


def test_operations_of_loops_and_branches_count() -> None:
    text = """HloModule m
%body (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %add = f32[8]{0} add(%p, %p)
}
%unused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %add = f32[8]{0} subtract(%p, %p)
}
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  ROOT %w = f32[8]{0} while(%a), condition=%cond, body=%body
}
"""
    assert outside(text) == {"add": 1, "while": 1}


def test_steps_that_are_left_on_purpose() -> None:
    made = Made(calls=1, outside={"sort": 1, "copy": 2, "number": 1})
    assert made.steps == ["sort"] and not made.wholly
    assert Made(calls=0, outside={"product": 1}).steps == ["product"]
    assert Made(calls=1, outside={"sort": 1, "fusion": 1}).steps == [] and Made("no").steps == []
    assert Made(calls=1, outside={"number": 1, "move": 2}).wholly


def test_sizes_that_data_decide_are_found_by_a_run() -> None:
    text = """
import jax.numpy as jnp
def _f(x, n=None):
    return {"asked_n": x.max() + 1} if n is None else {"result": jnp.zeros(n)}
def f(x):
    out = _f(jnp.asarray(x))
    n = int(out["asked_n"])
    return _f(jnp.asarray(x), n)
"""
    case = tpu._of_sizes(text, "f", [np.array([3, 6], np.int64)])
    assert case.shapes == [((2,), "int32")] and case.name == "of_sizes" and "*(7,)" in case.text


def test_reasons_are_those_of_the_text() -> None:
    said = {"a": "a gather", "b": "it only moves data", "c": "a gather"}
    text = "".join(f"    # f_{name}: left to XLA ({why})\n" for name, why in said.items())
    assert tpu.reasons(text) == ["a gather"]


def test_outcomes_survive_json() -> None:
    made = Made("", [KernelSchedule("k", True, 7, [LoopSchedule(1, 5)])], 1, {"copy": 2}, 8, 8, 0, 0, 100, 0.5)
    assert from_json(json.loads(json.dumps(made.as_json()))) == made and made.wholly
    assert not Made(calls=1, outside={"fusion": 1}).wholly and not Made().wholly
