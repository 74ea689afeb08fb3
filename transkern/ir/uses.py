"""What happens first to a scalar: whether statements read it before they give it a value of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from transkern.ir import nodes as n
from transkern.ir.traverse import own_exprs, variables_read


def reads_before_set(body: Sequence[n.Stmt], name: str) -> bool:
    """Whether the statements may read the scalar before they give it a value."""
    return _first_use(body, name) == "read"


def _first_use(body: Iterable[n.Stmt], name: str) -> str:
    """What happens first to the scalar: ``read``, ``set`` on every path, or neither for certain."""
    for s in body:
        found = ""
        match s:
            case n.Assign(value=value) | n.Let(value=value) if s.name == name:
                return "read" if name in variables_read(value) else "set"
            case n.Accumulator() if s.name == name:
                return "set"
            case n.Accumulate() if s.name == name:
                return "read"
            case n.If(condition, then, orelse):
                one, two = _first_use(then, name), _first_use(orelse, name)
                found = (
                    "read" if "read" in (one, two) or name in variables_read(condition) else one if one == two else ""
                )
            case n.While(head, condition, inner):
                found = _first_use(head, name)
                if not found and (name in variables_read(condition) or _first_use(inner, name) == "read"):
                    found = "read"
            case n.Loop() | n.Scanning() | n.Compact():
                reads = any(name in variables_read(e) for e in own_exprs(s)) and not isinstance(s, n.Compact)
                inside = _first_use(s.body, name) == "read"
                if isinstance(s, n.Compact):
                    reads = any(name in variables_read(e) for e in (s.start, s.stop))
                    inside |= _first_use(s.body, name) == "" and any(
                        name in variables_read(e) for e in (s.mask, *s.values)
                    )
                    found = "set" if s.count == name and not s.append else ""
                    reads |= s.count == name and s.append
                found = "read" if reads or inside else found
            case _:
                found = "read" if any(name in variables_read(e) for e in own_exprs(s)) else ""
        if found:
            return found
    return ""
