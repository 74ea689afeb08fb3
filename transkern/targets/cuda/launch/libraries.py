"""Library steps on the device: CuPy's functions, and buffers as they take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transkern import refusals
from transkern.errors import CompileError
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.containers import print_text
from transkern.ir.expr import Expr
from transkern.ir.library import has, spell
from transkern.ir.storage import storage
from transkern.targets.cuda import host

if TYPE_CHECKING:
    from transkern.targets.cuda.launcher import Launcher


def call_library(launcher: Launcher, s: n.Library) -> None:
    if s.name != "print" and not has(s.name, "cp"):
        problem = f"cannot compile for CUDA: CuPy has no `{s.name}` like NumPy's"
        help, lines = 'use target="cpu" for this function', launcher.program.lines_of(s.span)
        raise CompileError(refusals.CUDA, problem, help, s.span, lines)
    ins = []
    for name, view in s.operands:
        info = launcher.program.buffers[name]
        text = whole(launcher, name, cut(launcher, name, info.dims[:-1] if info.element else info.dims))
        ins.append(text if view is None else f"{text}.T")  # the one view that there is: `turn_operands`
    attributes = s.attributes
    if s.name == "print":
        launcher.line(print_text([f"{x}.get()" for x in ins], dict(attributes)))
        return
    if s.name in ("argsort", "sort"):  # CuPy's sorts are stable, and know no other kind; NumPy has two names for it
        kind = "stable" if dict(attributes).get("kind") in ("stable", "mergesort") else None
        attributes = tuple((k, kind if k == "kind" else v) for k, v in attributes)
    outs = (("out" if not k else f"out{k}", host.name(o)) for k, o in enumerate(s.outs))
    text = spell(s.name, "cp", tuple(ins), (*attributes, *outs)).replace(", kind=None", "")
    if s.name in ("argsort", "sort") and len(launcher.program.buffers[s.ins[0]].dims) > 1:
        dtype = host.dtype(storage(launcher.program.buffers[s.outs[0]].dtype))
        text = f"{text} if {ins[0]}.size else cp.empty({ins[0]}.shape, {dtype})"  # CuPy divides by the size
    if not s.outs:
        launcher.line(text)
        return
    if len(s.outs) > 1:
        held = [f"{host.name(out)}{'[...]' if _is_argument(launcher, out) else ''}" for out in s.outs]
        launcher.line(f"{', '.join(held)} = map(cp.ascontiguousarray, {text})")
        for out in s.outs:
            if launcher.program.buffers[out].element:
                launcher.line(f"{host.name(out)} = {launcher.use('_parts')}({host.name(out)})")
        return
    (out,) = s.outs
    if launcher.program.buffers[out].element:
        text = f"{launcher.use('_parts')}(cp.ascontiguousarray({text}))"
    if _is_argument(launcher, out):
        launcher.line(f"{host.name(out)}[...] = {text}")
    else:
        launcher.line(f"{host.name(out)} = cp.ascontiguousarray({text})")


def _is_argument(launcher: Launcher, buffer: str) -> bool:
    """Whether what is written into a buffer is the caller's: its memory is kept."""
    return launcher.program.buffers[buffer].role == "argument"


def cut(launcher: Launcher, buffer: str, dims: Sequence[Expr]) -> str:
    """What makes an array of `dims` of a buffer, whose memory is as long as these may be: along the first axis a
    part of it; where others have such lengths, its elements stand close together at the beginning."""
    info = launcher.program.buffers[buffer]
    room = launcher.room.get(buffer, tuple(map(launcher.bounded, info.dims)))
    own = room[:-1] if info.element else room
    shorter = [k for k, (x, y) in enumerate(zip(own, dims, strict=True)) if x != launcher.known(y)]
    if not shorter:
        return ""
    if shorter == [0]:
        return f"[:{launcher.value(dims[0])}]"
    parts = (*dims, b.index(2)) if info.element else tuple(dims)
    return f".reshape(-1)[:{launcher.value(b.product(parts))}].reshape({', '.join(map(launcher.value, parts))})"


def whole(launcher: Launcher, buffer: str, cut: str = "") -> str:
    """A buffer as the caller and libraries see it."""
    element = launcher.program.buffers[buffer].element
    text = host.name(buffer) + cut
    return f"{launcher.use('_whole')}({text}, {host.dtype(element)})" if element else text
