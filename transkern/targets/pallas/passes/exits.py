"""One way out of the function: JAX's loops and branches cannot be left by a `return`.

    for i: if a: return i         to         exit = 0
    x = …                                    for i: if a: exit = 1; value = i; break
    return x                                 if exit == 0: x = …; exit = 2
                                             if exit == 1: return value
                                             else: return x

What sizes decide stays as it is: Python leaves the function by it while JAX traces. So does what only decides what is
returned, at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Reduce, Var
from transkern.ir.names import Names
from transkern.ir.traverse import map_own, variables_read, walk, walk_expr, with_bodies
from transkern.targets.pallas.forms.values import scalar_params
from transkern.targets.pallas.passes.static import sizes_to_ask_for

Block = tuple[n.Stmt, ...]


def leave_once(program: n.Program) -> n.Program:
    """The program with a `return` at ends only, where data decides about it."""
    leaving = _Leaving(program)
    body = leaving.top(program.body)
    return replace(program, body=body, variables=leaving.variables)


class _Leaving:
    def __init__(self, program: n.Program) -> None:
        self.names, self.variables = Names.of(program), dict(program.variables)
        self.scalars = scalar_params(program)
        whole = {p.name for p in program.params if isinstance(p, n.ScalarParam) and not p.dtype.startswith("float")}
        self.whole = whole & self.scalars
        self.named: dict[str, list[Expr]] = {}
        for s in walk(program.body):
            if isinstance(s, n.Let):
                self.named.setdefault(s.name, []).append(s.value)
        self.sizes = set(sizes_to_ask_for(program))
        self.exit = ""
        self.results: list[n.Return] = []
        self.starts: list[n.Stmt] = []

    # --- what sizes decide

    def top(self, block: Block) -> Block:
        """A block that JAX's loops and branches are not around."""
        for position, s in enumerate(block):
            if not _returns(s):
                continue
            if decides(block[position:]):
                return block
            if isinstance(s, n.If) and self.is_static(s.condition):
                if all(_ends(side) or not any(map(_returns, side)) for side in (s.then, s.orelse)):
                    kept = replace(s, then=self.top(s.then), orelse=self.top(s.orelse))
                    return (*block[:position], kept, *self.top(block[position + 1 :]))
            return (*block[:position], *self.numbered(block[position:]))
        return block

    def is_static(self, e: Expr) -> bool:
        """Whether sizes and whole numbers among the arguments decide about `e`: they are known when JAX traces."""
        made = self.made_of(e, lambda v: v in self.whole | self.sizes)
        return made and all(is_pythons(x) for x in walk_expr(e) if isinstance(x, Apply))

    def is_outside(self, e: Expr) -> bool:
        """Whether `e` has the same value wherever the function is left."""
        return self.made_of(e, lambda v: v in self.scalars)

    def made_of(self, e: Expr, allowed: Callable[[str], bool]) -> bool:
        if any(isinstance(x, (Load, Reduce)) for x in walk_expr(e)):
            return False
        for v in variables_read(e):
            if not (allowed(v) or (b.is_size_name(v) and not v.endswith(".size"))):
                found = self.named.get(v, [])
                if len(found) != 1 or not self.made_of(found[0], allowed):
                    return False
        return True

    # --- what data decides

    def numbered(self, block: Block) -> Block:
        """The block without a `return` but at its end, where the number of the way out decides."""
        self.exit = self.names.fresh("exit")
        self.variables[self.exit] = "index"
        self.results, self.starts = [], [n.Assign(self.exit, b.ZERO, span=block[0].span)]
        body = self.leave(block, False)
        last: Block = () if _ends(block) else (n.Return(n.ConstantResult(None), span=block[-1].span),)
        for number, s in reversed(list(enumerate(self.results, 1))):
            last = (n.If(self.left_by(number), (s,), last, span=s.span),) if last else (s,)
        return (*self.starts, *body, *last)

    def left_by(self, number: int) -> Expr:
        return b.compare("equal", Var(self.exit, "index"), b.index(number))

    def leave(self, block: Block, inside: bool) -> Block:
        """The block, which a jump ends where the function is left from `inside` a loop."""
        out: list[n.Stmt] = []
        for position, s in enumerate(block):
            rest = block[position + 1 :]
            if isinstance(s, n.Return):
                return (*out, *self.by(s), *((n.Break(span=s.span),) if inside else ()))
            if not _returns(s):
                out.append(s)
            elif inside:
                loop = isinstance(s, (n.Loop, n.While))
                out.append(with_bodies(s, lambda body: self.leave(body, True)))
                if loop:
                    stays = self.left_by(0)
                    out.append(n.If(stays, (), (n.Break(span=s.span),), span=s.span))
            elif isinstance(s, n.If) and (_ends(s.then) or _ends(s.orelse)):
                then, orelse = ((*side, *(() if _ends(side) else rest)) for side in (s.then, s.orelse))
                return (*out, replace(s, then=self.leave(then, False), orelse=self.leave(orelse, False)))
            else:
                loop = isinstance(s, (n.Loop, n.While))
                out.append(with_bodies(s, lambda body, loop=loop: self.leave(body, loop)))  # type: ignore[misc]
                if left := self.leave(rest, False):
                    out.append(n.If(self.left_by(0), left, (), span=s.span))
                return tuple(out)
        return tuple(out)

    def by(self, s: n.Return) -> list[n.Stmt]:
        """Instead of a `return`: its number, and the numbers that it returns in variables of their own."""
        made: list[n.Stmt] = []

        def kept(e: Expr) -> Expr | None:
            if self.is_outside(e):
                return None
            held = self.names.fresh("returned")
            self.variables[held] = e.dtype
            self.starts.append(n.Assign(held, _nothing(e.dtype), span=s.span))
            made.append(n.Assign(held, e, span=s.span))
            return Var(held, e.dtype)

        changed = map_own(s, kept)
        assert isinstance(changed, n.Return)
        self.results.append(changed)
        return [*made, n.Assign(self.exit, b.index(len(self.results)), span=s.span)]


def is_pythons(e: Apply) -> bool:
    """Whether Python computes `e` by itself, where its operands are known when JAX traces."""
    return e.dtype == "index" if e.op == "cast" else all(a.dtype in ("index", "bool") for a in e.args)


def _nothing(dtype: str) -> Const:
    return Const(False if dtype == "bool" else 0.0 if dtype.startswith(("float", "complex")) else 0, dtype)


def _returns(s: n.Stmt) -> bool:
    return any(isinstance(x, n.Return) for x in walk((s,)))


def _ends(block: Block) -> bool:
    """Whether nothing comes behind the block."""
    return any(
        isinstance(s, n.Return) or (isinstance(s, n.If) and _ends(s.then) and _ends(s.orelse)) for s in block
    )


def decides(block: Block) -> bool:
    """Whether nothing is done but decided what is returned."""
    for position, s in enumerate(block):
        match s:
            case n.Return():
                return True
            case n.If(_, then, orelse):
                rest = block[position + 1 :]
                return decides((*then, *rest)) and decides((*orelse, *rest))
            case n.Let():
                pass
            case _:
                return False
    return False
