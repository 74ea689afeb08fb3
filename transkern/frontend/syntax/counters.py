"""Counters of `itertools` as numbers that count:

    number = count()                        number = 0
    f(next(number))                ->       f((number, number := number + 1)[0])

    for k in count(1):                      number = 1
        body                       ->       while True:
                                                k, number = number, number + 1
                                                body

Such a counter with a name may do nothing but be asked for its next number, in the function itself.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable

from transkern.frontend.syntax.desugar import listed, load, placed
from transkern.frontend.syntax.liveness import captured_names
from transkern.parsing import own_nodes, written_once

_COUNTED = "_transkern_counted"
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def counted(
    node: ast.FunctionDef | ast.Lambda, is_count: Callable[[ast.expr], bool], python: Callable[[str], bool]
) -> ast.FunctionDef | ast.Lambda:
    """The function without counters; itself where there are none. `is_count` tells whether an expression means
    `itertools.count`, `python` whether a name means Python's own function. The same function twice is the same tree
    twice."""
    if isinstance(node, ast.Lambda):
        return node

    def body() -> list[ast.stmt] | None:
        if not any(_start_and_step(x, is_count) for x in own_nodes(node.body)):
            return None
        written = _Counters(_counters(node, is_count) if python("next") else {}, is_count)
        return [one for s in copy.deepcopy(node.body) for one in listed(written.visit(s))]

    return written_once(node, _COUNTED, body)


def _start_and_step(node: ast.AST, is_count: Callable[[ast.expr], bool]) -> tuple[ast.expr, ast.expr] | None:
    """What `count(start, step)` counts from, and by; None of anything else."""
    if not isinstance(node, ast.Call) or not is_count(node.func) or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    names = dict(zip(("start", "step"), node.args, strict=False)) | {k.arg: k.value for k in node.keywords if k.arg}
    if len(names) < len(node.args) + len(node.keywords) or not set(names) <= {"start", "step"}:
        return None
    start, step = names.get("start", ast.Constant(0)), names.get("step", ast.Constant(1))
    number = step.operand if isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub) else step
    return (start, step) if isinstance(number, ast.Constant) and type(number.value) is int else None


def _counters(node: ast.FunctionDef, is_count: Callable[[ast.expr], bool]) -> dict[str, ast.expr]:
    """The names of counters, and what each counts by."""
    own = own_nodes(node.body)
    found: dict[str, ast.expr] = {}
    fine: set[int] = set()  # the names that stand where one of a counter may
    inside = {id(x) for c in own if isinstance(c, _COMPREHENSIONS) for x in ast.walk(c)}
    for x in own:
        match x:
            case ast.Assign([ast.Name(name) as target], value) if (of := _start_and_step(value, is_count)) is not None:
                if name not in found:
                    found[name] = of[1]
                    fine.add(id(target))
            case ast.Call(ast.Name("next"), [ast.Name() as counter], []) if id(counter) not in inside:
                fine.add(id(counter))
            case _:
                pass
    captured = frozenset[str]().union(*map(captured_names, node.body))
    others = {x.id for x in own if isinstance(x, ast.Name) and id(x) not in fine}
    return {name: step for name, step in found.items() if name not in captured | others}


class _Counters(ast.NodeTransformer):
    def __init__(self, names: dict[str, ast.expr], is_count: Callable[[ast.expr], bool]) -> None:
        self.names, self.is_count, self.loops = names, is_count, 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        match node.targets:
            case [ast.Name(name)] if name in self.names and (of := _start_and_step(node.value, self.is_count)):
                return placed(ast.Assign(node.targets, of[0]), node)
            case _:
                return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(ast.Name("next"), [ast.Name(name)], []) if name in self.names:
                step = self.names[name]
                further = ast.BinOp(load(name), ast.Add(), step)
                counting = ast.NamedExpr(ast.Name(name, ast.Store()), further)
                both = ast.Tuple([load(name), counting], ast.Load())
                return placed(ast.Expr(ast.Subscript(both, ast.Constant(0), ast.Load())), node).value
            case _:
                return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        of = _start_and_step(node.iter, self.is_count)
        self.generic_visit(node)
        if of is None:
            return node
        self.loops += 1
        number = f"counted {self.loops}"
        begun = ast.Assign([ast.Name(number, ast.Store())], of[0])
        taken = ast.Assign([node.target], load(number))
        further = ast.AugAssign(ast.Name(number, ast.Store()), ast.Add(), of[1])
        loop = ast.While(ast.Constant(True), [placed(taken, node), placed(further, node), *node.body], [])
        return [placed(begun, node), placed(loop, node)]  # what stands in its `else` is never reached
