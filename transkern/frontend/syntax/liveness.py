"""Which names a loop must carry: those whose values somebody may still read when an iteration begins, or at its end.

A name is live at a point if some path from there reads it before binding it anew. Paths are those of the syntax tree:
conditions are not evaluated. What a nested function reads is live everywhere, since it may be called anywhere (but for
the key of a sort).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from transkern.parsing import all_nodes, child_nodes, once_a_tree

Names = frozenset[str]

_NOTHING: Names = frozenset()
ORIGIN = "_transkern_origin"  # on a loop over the iterations behind the first: the loop in the function's text
AXIS_OF = "_transkern_axis_of"  # on a loop over one axis of what a loop in the function's text goes over


def live_names(function: ast.FunctionDef | ast.Lambda, loop: ast.stmt) -> tuple[Names, Names]:
    """The names live where an iteration of `loop` begins or ends, and those live after the loop.

    Of a loop that does not stand in the function's text (one made of a comprehension), all names that are ever read,
    but for those that it binds anew in each iteration, which are its own.
    """
    if (around := getattr(loop, AXIS_OF, None)) is not None:  # behind it, the next iteration may begin
        each, _ = live_names(function, around)
        return each, each
    found = _live_at_loops(function).get(getattr(loop, ORIGIN, loop))
    if found is None:
        every = _read(function) | _read(loop)
        if isinstance(loop, ast.For):
            every -= {x.id for x in all_nodes(loop.target) if isinstance(x, ast.Name)}
        return every, every
    return found


def live_after(function: ast.FunctionDef | ast.Lambda, branch: ast.If) -> Names | None:
    """The names live after a branch; None of one that does not stand in the function's text."""
    found = _analysis(function)
    return None if found is None else found.branches.get(branch)


def live_behind(function: ast.FunctionDef | ast.Lambda, statement: ast.stmt) -> Names | None:
    """The names live after a statement; None of one that does not stand in the function's text."""
    found = _analysis(function)
    return None if found is None else found.behind.get(statement)


def live_behind_each(function: ast.FunctionDef, lets_pass: Callable[[ast.With], bool]) -> Mapping[ast.stmt, Names]:
    """For each statement, the names live after it.

    `lets_pass`: whether a ``with`` lets exceptions pass; others may go on behind it from anywhere in it.
    """
    analysis = _Liveness(function, lets_pass)
    analysis.block(function.body, analysis.captured)
    return analysis.behind


def live_before(function: ast.FunctionDef, statements: Sequence[ast.stmt]) -> Names:
    """The names that some statements in a row read before they bind them."""
    return _Liveness(function).block(statements, _NOTHING)


def live_before_each(statements: Sequence[ast.stmt], after: Names) -> Names:
    """The names live before some statements that no loop is around, given those live behind them."""
    within = ast.FunctionDef("", ast.arguments([], [], None, [], [], None, []), list(statements), [], None)
    return _Liveness(within).block(statements, after)


def read_names(node: ast.AST) -> Names:
    """The names that are read somewhere in a node; of a comprehension not its own."""
    return _read(node)


@once_a_tree
def read_by(statement: ast.stmt) -> Names:
    """The same of a statement as it is translated, which nobody changes any more."""
    return _read(statement)


def captured_names(node: ast.AST) -> Names:
    """The names around them that the functions in a node may read."""
    functions = (x for x in all_nodes(node) if isinstance(x, (ast.FunctionDef, ast.Lambda)))
    return _NOTHING.union(*map(_captured, functions))


def _live_at_loops(function: ast.FunctionDef | ast.Lambda) -> Mapping[ast.stmt, tuple[Names, Names]]:
    found = _analysis(function)
    return {} if found is None else found.loops


@once_a_tree
def _analysis(function: ast.FunctionDef | ast.Lambda) -> _Liveness | None:
    if isinstance(function, ast.Lambda):
        return None
    analysis = _Liveness(function)
    analysis.block(function.body, analysis.captured)
    return analysis


class _Liveness:
    def __init__(self, function: ast.FunctionDef, lets_pass: Callable[[ast.With], bool] = lambda _: True) -> None:
        self.lets_pass = lets_pass
        at_once = _called_at_once(function)
        nested = [
            x for x in all_nodes(function)
            if isinstance(x, (ast.FunctionDef, ast.Lambda)) and x is not function and x not in at_once
        ]  # fmt: skip
        self.captured: Names = frozenset().union(*(_captured(x) for x in nested))
        self.loops: dict[ast.stmt, tuple[Names, Names]] = {}
        self.branches: dict[ast.stmt, Names] = {}
        self.behind: dict[ast.stmt, Names] = {}
        self.exits: list[tuple[Names, Names]] = []  # of each loop around: live at its head, live behind it

    def block(self, statements: Sequence[ast.stmt], after: Names) -> Names:
        """The names live before the statements, given those after them."""
        for s in reversed(statements):
            self.behind[s] = after | self.behind.get(s, _NOTHING)
            after = self.statement(s, after)
        return after

    def statement(self, s: ast.stmt, after: Names) -> Names:
        match s:
            case ast.Assign(targets, value):
                return self._bound(targets, after) | _read(value)
            case ast.AnnAssign(target, _, ast.expr() as value):
                return self._bound([target], after) | _read(value)
            case ast.If(test, body, orelse):
                self.branches[s] = after | self.branches.get(s, _NOTHING)
                return _read(test) | self.block(body, after) | self.block(orelse, after)
            case ast.With(items, body) if self.lets_pass(s):
                return self.block(body, after).union(*map(_read, items))
            case ast.While(test, body, orelse):
                return self.loop(s, [], test, body, self.block(orelse, after), after)
            case ast.For(target, iterable, body, orelse):
                return _read(iterable) | self.loop(s, [target], None, body, self.block(orelse, after), after)
            case ast.Return() | ast.Raise():
                return _read(s) | self.captured
            case ast.Break():
                return self.exits[-1][1]
            case ast.Continue():
                return self.exits[-1][0]
            case _:  # whatever else there is binds nothing for certain, and may go anywhere
                return after.union(_read(s), *(self.exits[-1] if self.exits else ()))

    def loop(
        self, s: ast.stmt, targets: list[ast.expr], test: ast.expr | None, body: Sequence[ast.stmt], done: Names,
        behind: Names,
    ) -> Names:  # fmt: skip
        """`done`: live where the loop runs out; `behind`: live where it is left."""
        head = done | (_read(test) if test is not None else _NOTHING)
        while True:
            self.exits.append((head, behind))
            inside = self.block(body, head)
            self.exits.pop()
            wider = head | self._bound(targets, inside)
            if wider == head:
                break
            head = wider
        self.loops[s] = head | behind, done | behind
        return head

    def _bound(self, targets: Sequence[ast.expr], after: Names) -> Names:
        """`after` without the names bound, with those that the targets read (``x[i] = …``)."""
        names = {
            x.id for t in targets for x in all_nodes(t) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)
        }
        return (after - names) | frozenset().union(*map(_read, targets)) | self.captured


def _called_at_once(function: ast.FunctionDef) -> set[ast.AST]:
    """The keys of `min`, `max` and sorts: functions that are called there, and known nowhere else."""
    bound = {x.id for x in all_nodes(function) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
    found: set[ast.AST] = set()
    for x in all_nodes(function):
        match x:
            case ast.Call(ast.Name("min" | "max" | "sorted" as name)) if name not in bound:
                pass
            case ast.Call(ast.Attribute(_, "sort")):
                pass
            case _:
                continue
        found |= {k.value for k in x.keywords if k.arg == "key" and isinstance(k.value, ast.Lambda)}
    return found


def _captured(function: ast.FunctionDef | ast.Lambda) -> Names:
    """The names that a nested function may read of those around it: not its parameters, nor what it binds."""
    a = function.args
    own = {x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if x is not None}
    body: list[ast.AST] = [function.body] if isinstance(function, ast.Lambda) else list(function.body)
    for statement in body:
        own |= _bound_here(statement)
    own -= {name for x in all_nodes(function) if isinstance(x, (ast.Nonlocal, ast.Global)) for name in x.names}
    outside = [x for x in (*a.defaults, *a.kw_defaults) if x is not None]
    return frozenset().union(*(_read(x) for x in body)) - own | frozenset().union(*(_read(x) for x in outside))


_SCOPES = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.ClassDef)


def _bound_here(node: ast.AST) -> set[str]:
    """The names that a statement binds in its own scope: not those of comprehensions and functions inside it."""
    if isinstance(node, _SCOPES):
        return set()
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Store) else set()
    return set().union(*(_bound_here(x) for x in child_nodes(node)))


def _read(node: ast.AST) -> Names:
    """The names read somewhere in `node`; ``x += 1`` reads `x`. What a comprehension binds is its own, and so
    are the parameters of a lambda."""
    if isinstance(node, ast.Name):
        return frozenset({node.id}) if isinstance(node.ctx, ast.Load) else _NOTHING
    if isinstance(node, ast.Lambda):
        return _captured(node)
    read = _NOTHING.union(*map(_read, child_nodes(node)))
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return read | {node.target.id}
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        own = {x.id for g in node.generators for x in all_nodes(g.target) if isinstance(x, ast.Name)}
        return (read - own) | _read(node.generators[0].iter)
    return read
