"""Programs as text in index notation: ``e[i, j] = exp(x[i, j] - m[i, 0])  for i < n, j < m``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Const, Expr, Load, Reduce, Var

_INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "remainder": "%", "less": "<",
    "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!=", "and_then": "and",
    "or_else": "or", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "left_shift": "<<", "right_shift": ">>",
}  # fmt: skip


def text(expr: Expr) -> str:
    """One expression."""
    match expr:
        case Const(value, _):
            return repr(value)
        case Var(name):
            return name
        case Load(buffer, index, _):
            return f"{buffer}[{', '.join(map(text, index))}]"
        case Apply("cast", (x,), dtype):
            return f"{dtype}({text(x)})"
        case Apply("negative", (x,), _):
            return f"-{text(x)}"
        case Apply("logical_not", (x,), _):
            return f"not {text(x)}"
        case Apply("where", (c, x, y), _):
            return f"({text(x)} if {text(c)} else {text(y)})"
        case Apply(op, (x, y), _) if op in _INFIX:
            return f"({text(x)} {_INFIX[op]} {text(y)})"
        case Apply(op, args, _):
            return f"{op}({', '.join(map(text, args))})"
        case Reduce(op, axes, body, _):
            return f"{op}({text(body)} for {_axes(axes)})"


def _axes(axes: Iterable[Axis]) -> str:
    return ", ".join(f"{a.name} < {text(a.extent)}" for a in axes)


def program(p: n.Program) -> str:
    """A whole program."""
    lines = [f"program {p.name}({', '.join(_param(q) for q in p.params)})"]
    for buffer in p.buffers.values():
        if buffer.role != "argument":
            facts = (
                f"  in [{text(buffer.low)}, {text(buffer.high)})"
                if buffer.low is not None and buffer.high is not None
                else ""
            )
            dims = ", ".join(map(text, buffer.dims))
            lines.append(f"  {buffer.role} {buffer.name}: {buffer.dtype}[{dims}]{facts}")
    lines += block(p.body, 1)
    return "\n".join(lines)


def _param(param: n.Param) -> str:
    match param:
        case n.ArrayParam(name, dtype, dims, layout, written, aligned=aligned):
            return (
                f"{name}: {dtype}[{', '.join(map(text, dims))}]"
                + (" strided" if layout != "C" else "")
                + ("" if aligned else " unaligned")
                + (" written" if written else "")
            )
        case n.ScalarParam(name, dtype, python):
            return f"{name}: {python or dtype}"
        case n.ConstantParam(name, value):
            return f"{name} = {value!r}"
        case n.ObjectParam(name):
            return name


def block(statements: Iterable[n.Stmt], depth: int) -> list[str]:
    return [line for s in statements for line in _statement(s, depth)]


def _statement(s: n.Stmt, depth: int) -> Iterator[str]:
    pad = "  " * depth
    match s:
        case n.Define(buffer, axes, value):
            yield f"{pad}{buffer}[{', '.join(a.name for a in axes)}] = {text(value)}  for {_axes(axes)}"
        case n.Write(buffer, axes, index, value, mask):
            where = "" if mask is None else f" if {text(mask)}"
            yield f"{pad}write {buffer}[{', '.join(map(text, index))}] = {text(value)}{where}  for {_axes(axes)}"
        case n.Filter(outputs, count, axes, mask, values):
            becomes = f"{count} {'+' if s.append else ''}= {', '.join(map(text, values))}"
            where = f"if {text(mask)}  for {_axes((*axes, *s.inner))}"
            yield f"{pad}filter {', '.join(outputs)}; {becomes} {where}"
        case n.Scan(op, buffer, axes, value, along):
            made = f"{buffer}[{', '.join(a.name for a in axes)}]"
            yield f"{pad}scan {op} along {axes[along].name}: {made} of {text(value)}  for {_axes(axes)}"
        case n.Scatter(buffer, axes, index, value, mask):
            where = "" if mask is None else f" if {text(mask)}"
            yield f"{pad}scatter {buffer}[{', '.join(map(text, index))}] = {text(value)}{where}  for {_axes(axes)}"
        case n.Library(name, outs, _, attributes):
            given = ", ".join(_operand(buffer, view) for buffer, view in s.operands)
            yield f"{pad}{', '.join(outs)} = library {name}({given}) {dict(attributes) or ''}".rstrip()
        case n.Let(name, value):
            yield f"{pad}let {name} = {text(value)}"
        case n.Assign(name, value):
            yield f"{pad}{name} := {text(value)}"
        case n.Store(buffer, index, value):
            yield f"{pad}{buffer}[{', '.join(map(text, index))}] = {text(value)}"
        case n.Accumulator(name, op, dtype):
            yield f"{pad}accumulator {name}: {dtype} by {op}"
        case n.Accumulate(name, op, value, position):
            at = "" if position is None else f" at {text(position)}"
            yield f"{pad}{name} {op}= {text(value)}{at}"
        case n.Loop(axis, start, stop, step, kind, body):
            by = "" if text(step) == "1" else f" by {text(step)}"
            yield f"{pad}{kind} {axis} in {text(start)} .. {text(stop)}{by}:"
            yield from block(body, depth + 1)
        case n.While(head, condition, body):
            yield f"{pad}while:"
            yield from block(head, depth + 1)
            yield f"{pad}  and while {text(condition)}:"
            yield from block(body, depth + 1)
        case n.If(condition, then, orelse):
            yield f"{pad}if {text(condition)}:"
            yield from block(then, depth + 1)
            if orelse:
                yield f"{pad}else:"
                yield from block(orelse, depth + 1)
        case n.Compact(outputs, count, axis, start, stop, body, mask, values):
            yield f"{pad}compact {', '.join(outputs)}; {count} over {axis} in {text(start)} .. {text(stop)}:"
            yield from block(body, depth + 1)
            yield f"{pad}  keep {', '.join(map(text, values))} if {text(mask)}"
        case n.Scanning(op, buffer, axis, stop, body, value, index):
            yield f"{pad}scanning {op} {axis} < {text(stop)}: {buffer}[{', '.join(map(text, index))}] of {text(value)}"
            yield from block(body, depth + 1)
        case n.Guard(condition, error, message, args):
            yield f"{pad}guard {text(condition)} else {error}({message!r}, {', '.join(map(text, args))})"
        case n.Alloc(buffer):
            yield f"{pad}alloc {buffer}"
        case n.Kernel(name, body, placement):
            yield f"{pad}kernel {name} on {placement}:"
            yield from block(body, depth + 1)
        case n.Return(result):
            yield f"{pad}return {_result(result)}"
        case n.Fetch(buffer, index):
            yield f"{pad}fetch {buffer}[{', '.join(map(text, index))}]"
        case n.Break():
            yield f"{pad}break"
        case n.Continue():
            yield f"{pad}continue"


def _operand(buffer: str, view: n.View | None) -> str:
    if view is None:
        return buffer
    axes = [Var(f"p{k}", "index") for k in range(len(view.dims))]
    places = []
    for offset, along in zip(view.offset, view.steps, strict=True):
        place = offset
        for axis, step in zip(axes, along, strict=True):
            place = b.add(place, b.mul(axis, step))
        places.append(place)
    of = "".join(f" for {a.name} < {text(d)}" for a, d in zip(axes, view.dims, strict=True))
    return f"{buffer}[{', '.join(map(text, places))}]{'.' * bool(view.part)}{view.part}{of}"


def _result(result: n.Result) -> str:
    match result:
        case n.ArrayResult(buffer, dims, _):
            return f"{buffer}[:{', :'.join(map(text, dims))}]"
        case n.ViewResult(buffer):
            return f"view of {buffer}"
        case n.ScalarResult(value, python):
            return text(value) if not python else f"python {text(value)}"
        case n.ListResult(buffer, count, _):
            return f"list {buffer}[:{text(count)}]"
        case n.TupleResult(items, kind):
            return f"{kind}({', '.join(map(_result, items))})"
        case n.ArgumentResult(name):
            return name
        case n.ConstantResult(value):
            return repr(value)
