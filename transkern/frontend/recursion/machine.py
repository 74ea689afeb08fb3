"""The blocks of a recursion as branches of one loop, with a stack of places to return to and one for each name that a
frame keeps."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence

from transkern.frontend.recursion.blocks import (
    LENGTH,
    Block,
    Branches,
    Calls,
    End,
    Goes,
    Returns,
    cut,
    following,
    stored_in,
)
from transkern.frontend.sources.module_names import ThroughModule
from transkern.frontend.syntax.desugar import OF_CALLERS, PLACES, WHOLE, assign, load, placed
from transkern.frontend.syntax.hoisting import IsSelf, NotRewritten
from transkern.frontend.syntax.liveness import captured_names, live_before_each, read_names
from transkern.frontend.syntax.syntax import assigned_names, parameter_names
from transkern.parsing import all_nodes

TOO_DEEP = "too deep"
"""The name of `RecursionError` in what is made here, whatever the user's own means."""

_AT, _RESULT = "block-to-run", "result-handed-back"
_KNOWN = "results-known"
_END = -1

Names = frozenset[str]


def machine(
    node: ast.FunctionDef, body: Sequence[ast.stmt], is_self: IsSelf, python: Callable[[str], bool], cached: bool
) -> ast.FunctionDef:
    """The function as one loop, where `body` is its body with calls of itself apart (`hoisting.hoisted`)."""
    _check(node, body, is_self)
    first = cut(body, is_self, python, node)
    made = _Machine(node, first, cached)
    return placed(_with_body(node, made.body()), node)


def _with_body(node: ast.FunctionDef, body: list[ast.stmt]) -> ast.FunctionDef:
    made = ast.FunctionDef(node.name, node.args, body, [], node.returns)
    return ast.copy_location(made, node)


def _check(node: ast.FunctionDef, body: Sequence[ast.stmt], is_self: IsSelf) -> None:
    if node.args.vararg or node.args.kwarg:
        raise NotRewritten("a function with `*args` or `**kwargs` that calls itself", node)
    for s in body:
        for x in all_nodes(s):
            if isinstance(x, (ast.FunctionDef, ast.ClassDef)) and any(map(is_self, all_nodes(x))):
                raise NotRewritten("a call of the function by one in it", x)
            if isinstance(x, (ast.Global, ast.Nonlocal)) and not isinstance(x, ThroughModule):
                raise NotRewritten(f"`{ast.unparse(x)}` in a function that calls itself", x)


def blocks_of(first: Block) -> list[Block]:
    """All blocks that may run, those before a jump back in the order of the text."""
    found: dict[Block, None] = {}
    todo = [first]
    while todo:
        block = todo.pop()
        if block not in found:
            found[block] = None
            todo += reversed(following(block.end))
    return list(found)


class _Machine:
    def __init__(self, node: ast.FunctionDef, first: Block, cached: bool) -> None:
        self.node, self.first, self.cached = node, first, cached
        self.blocks = blocks_of(first)
        self.parameters = parameter_names(node)
        self.calls = [b.end for b in self.blocks if isinstance(b.end, Calls)]
        self.given = {id(call): self._arguments(call.call) for call in self.calls}
        bound = assigned_names([s for b in self.blocks for s in b.statements])
        bound |= frozenset().union(*(call.binds for call in self.calls))
        self.same = {p for p in self.parameters if p not in bound and all(self._is_passed_on(c, p) for c in self.calls)}
        self.own = (bound | set(self.parameters)) - self.same
        self.of_a_frame: set[str] = set()  # functions that see names of a frame: none of them is there behind a call
        self.functions = self._functions()
        self.live = self._live()
        self.bound_at = self._bound()
        self.labels = self._labels()
        self.gives = any(isinstance(b.end, Returns) and b.end.value is not None for b in self.blocks)
        self.gives = self.gives or any(call.target is not None for call in self.calls)

    def _is_passed_on(self, call: Calls, parameter: str) -> bool:
        value = self.given[id(call)][parameter]
        return isinstance(value, ast.Name) and value.id == parameter

    def _arguments(self, call: ast.Call) -> dict[str, ast.expr]:
        """What a call gives each parameter."""
        args = self.node.args
        names = [a.arg for a in (*args.posonlyargs, *args.args)]
        if isinstance(call.func, ast.Attribute):  # a method
            names = names[1:]
        if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            raise NotRewritten("a call of itself with `*` or `**`", call)
        if len(call.args) > len(names):
            raise NotRewritten("a call of itself with too many arguments", call)
        given = dict(zip(names, call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords if k.arg is not None}
        if isinstance(call.func, ast.Attribute):
            given[self.parameters[0]] = call.func.value
        last = [a.arg for a in (*args.posonlyargs, *args.args)][-len(args.defaults) :] if args.defaults else []
        others = zip((a.arg for a in args.kwonlyargs), args.kw_defaults, strict=True)
        for name, value in (*zip(last, args.defaults, strict=True), *others):
            if name not in given and value is not None:
                if not _is_constant(value):
                    raise NotRewritten(f"a call of itself without `{name}`, whose default is no constant", call)
                given[name] = value
        if set(given) != set(self.parameters):
            raise NotRewritten("a call of itself with other arguments than it takes", call)
        return given

    def _functions(self) -> list[ast.stmt]:
        """The functions that are made alike in all frames, as they see no name that has a value of its own in each:
        they are made once, before the loop."""
        found = []
        for s in [s for b in self.blocks for s in b.statements if _makes_function(s)]:
            (name,) = bound_by([s])
            alone = sum(name in bound_by([t]) for b in self.blocks for t in b.statements) == 1
            if (captured_names(s) - {name}) & self.own or not alone:
                self.of_a_frame.add(name)
            else:
                self.own = self.own - {name}
                found.append(s)
        for b in self.blocks:
            b.statements = [s for s in b.statements if s not in found]
        return found

    # --- what is known of names

    def _live(self) -> dict[Block, Names]:
        """The frame's names that may be read from the start of each block on."""
        live: dict[Block, Names] = dict.fromkeys(self.blocks, frozenset())
        while True:
            before = dict(live)
            for block in reversed(self.blocks):
                live[block] = live_before_each(block.statements, self._behind(block, live)) & self.own
            if live == before:
                return live

    def _behind(self, block: Block, live: dict[Block, Names]) -> Names:
        """Those that may be read behind a block's statements."""
        match block.end:
            case Goes(to):
                return live[to]
            case Branches(test, then, orelse):
                return read_names(test) | live[then] | live[orelse]
            case Calls(call, _, to):
                return read_names(call) | (live[to] - block.end.binds)
            case Returns(value):
                return (read_names(value) if value is not None else frozenset()) | self._key()
            case None:
                return frozenset()

    def _key(self) -> Names:
        """Of a cached function: the names of what a frame was called with."""
        return frozenset(map(_called_with, self.parameters)) if self.cached else frozenset()

    def _known(self, context: ast.expr_context) -> ast.expr:
        """The item of the results that are known for what a frame was called with."""
        names = [load(_called_with(p)) for p in self.parameters]
        return ast.Subscript(load(_KNOWN), names[0] if len(names) == 1 else ast.Tuple(names, ast.Load()), context)

    def _bound(self) -> dict[Block, Names]:
        """The names that are bound for certain where each block begins."""
        every = frozenset(self.own) | self._key()
        bound = dict.fromkeys(self.blocks, every)
        bound[self.first] = frozenset(self.parameters) | self._key()
        while True:
            before = dict(bound)
            for block in self.blocks:
                end = bound[block] | bound_by(block.statements)
                end |= block.end.binds if isinstance(block.end, Calls) else frozenset()
                for to in following(block.end):
                    bound[to] &= end
            if bound == before:
                return bound

    def saved(self, block: Block) -> list[str]:
        """What the frame that `block` ends with a call keeps meanwhile."""
        assert isinstance(block.end, Calls)
        names = (self.live[block.end.to] | self._key()) - block.end.binds
        unbound = names - bound_by(block.statements) - self.bound_at[block]
        if unbound:
            problem = f"`{min(unbound)}`, which need not be bound where the function calls itself"
            raise NotRewritten(problem, block.end.call)
        if functions := names & self.of_a_frame:
            problem = f"`{min(functions)}`, a function that sees the names of one that calls itself"
            raise NotRewritten(problem, block.end.call)
        return sorted(names)

    def _labels(self) -> dict[Block, int]:
        """The numbers of the blocks that the loop goes to: those that are not reached from one place alone."""
        reached: dict[Block, int] = dict.fromkeys(self.blocks, 0)
        labelled = {self.first}
        for block in self.blocks:
            for to in following(block.end):
                reached[to] += 1
            if isinstance(block.end, Calls):
                labelled.add(block.end.to)
        labelled |= {block for block, count in reached.items() if count > 1}
        return {block: k for k, block in enumerate(x for x in self.blocks if x in labelled)}

    # --- the text

    def body(self) -> list[ast.stmt]:
        at = self.node
        resumes = {b.end.to: b for b in self.blocks if isinstance(b.end, Calls)}
        chain: list[ast.stmt] = []
        for block, number in reversed(self.labels.items()):
            test = ast.Compare(load(_AT), [ast.Eq()], [ast.Constant(number)])
            body = [*self._resumed(block, resumes), *self._text(block)]
            chain = [placed(ast.If(test, body, chain), at)] if chain else body
        running = ast.Compare(load(_AT), [ast.NotEq()], [ast.Constant(_END)])
        kept = {name for b in self.blocks if isinstance(b.end, Calls) for name in self.saved(b)}
        made = [
            assign(_AT, ast.Constant(self.labels[self.first]), at),
            assign(PLACES, ast.List([ast.Constant(_END)], ast.Load()), at),
            *(assign(_stack(name), ast.List([], ast.Load()), at) for name in sorted(kept)),
        ]
        if self.cached:
            made.append(assign(_KNOWN, ast.Dict([], []), at))
        loop = placed(ast.While(running, chain, []), at)
        setattr(loop, WHOLE, True)
        made.append(loop)
        made = [*self.functions, *made]
        return [*made, placed(ast.Return(load(_RESULT)), at)] if self.gives else made

    def _resumed(self, block: Block, resumes: dict[Block, Block]) -> list[ast.stmt]:
        """How a block begins: with what its frame has kept, and the result of the call before it."""
        if block is self.first and self.cached:
            return [assign(_called_with(p), load(p), self.node) for p in self.parameters]
        if block not in resumes:
            return []
        call = resumes[block].end
        assert isinstance(call, Calls)
        made = [
            assign(name, ast.Call(ast.Attribute(load(_stack(name)), "pop", ast.Load()), [], []), call.call)
            for name in self.saved(resumes[block])
        ]
        if call.target is not None:
            made.append(placed(ast.Assign([call.target], load(_RESULT)), call.call))
        return made

    def _text(self, block: Block) -> list[ast.stmt]:
        made = [*block.statements, *self._end(block, block.end)]
        if block is self.first and self.cached:
            found = self._known(ast.Load())
            assert isinstance(found, ast.Subscript)
            known = ast.Compare(found.slice, [ast.In()], [found.value])
            return [placed(ast.If(known, [assign(_RESULT, found, self.node), self._left(self.node)], made), self.node)]
        return made

    def _end(self, block: Block, end: End | None) -> list[ast.stmt]:
        match end:
            case Goes(to):
                return self._to(to)
            case Branches(test, then, orelse):
                return [ast.copy_location(ast.If(test, self._to(then) or [ast.Pass()], self._to(orelse)), test)]
            case Calls(call):
                return self._called(block, call)
            case Returns(value, at):
                return self._returned(value, at)
            case None:
                return []

    def _to(self, block: Block) -> list[ast.stmt]:
        if block in self.labels:
            return [assign(_AT, ast.Constant(self.labels[block]), self.node)]
        return self._text(block)

    def _called(self, block: Block, call: ast.Call) -> list[ast.stmt]:
        assert isinstance(block.end, Calls)
        deep = ast.Compare(
            ast.Call(load(LENGTH), [load(PLACES)], []), [ast.GtE()], [ast.Constant(sys.getrecursionlimit())]
        )
        raised = ast.Raise(ast.Call(load(TOO_DEEP), [ast.Constant("maximum recursion depth exceeded")], []))
        given = self.given[id(block.end)]
        changed = [p for p in self.parameters if p not in self.same and not _is_name(given[p], p)]
        made: list[ast.stmt] = [ast.If(deep, [raised], [])]
        made += [_pushed(_stack(name), load(name)) for name in self.saved(block)]
        made.append(_pushed(PLACES, ast.Constant(self.labels[block.end.to])))
        if len(changed) == 1:
            made.append(assign(changed[0], given[changed[0]], call))
        elif changed:
            targets: list[ast.expr] = [ast.Name(p, ast.Store()) for p in changed]
            values = ast.Tuple([given[p] for p in changed], ast.Load())
            made.append(ast.Assign([ast.Tuple(targets, ast.Store())], values))
        made.append(assign(_AT, ast.Constant(self.labels[self.first]), call))
        return [placed(s, call) for s in made]

    def _returned(self, value: ast.expr | None, at: ast.AST) -> list[ast.stmt]:
        made = [assign(_RESULT, value or ast.Constant(None), at)] if self.gives else []
        if self.cached:
            made.append(placed(ast.Assign([self._known(ast.Store())], load(_RESULT)), at))
        return [*made, self._left(at)]

    def _left(self, at: ast.AST) -> ast.stmt:
        """The frame ends: the one that called it goes on."""
        return assign(_AT, ast.Call(ast.Attribute(load(PLACES), "pop", ast.Load()), [], []), at)


def bound_by(statements: Sequence[ast.stmt]) -> Names:
    """The names that statements bind for certain, where their end is reached."""
    found: set[str] = set()
    for s in statements:
        match s:
            case ast.Assign(targets):
                found |= stored_in(*targets)
            case ast.AnnAssign(target, _, ast.expr()) | ast.AugAssign(target):
                found |= stored_in(target)
            case ast.If(_, body, orelse):
                ends = [bound_by(path) for path in (body, orelse) if not (path and isinstance(path[-1], ast.Raise))]
                found |= frozenset.intersection(*ends) if ends else frozenset()
            case ast.FunctionDef(name):
                found.add(name)
            case ast.With(body=body):
                found |= bound_by(body)
            case ast.Import(names) | ast.ImportFrom(_, names):
                found |= {a.asname or a.name.split(".")[0] for a in names}
            case _:
                pass
    return frozenset(found)


def _makes_function(s: ast.stmt) -> bool:
    """Whether a statement gives a function a name."""
    match s:
        case ast.FunctionDef():
            return True
        case ast.Assign([ast.Name()], ast.Lambda()):
            return True
        case _:
            return False


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
    )


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _called_with(parameter: str) -> str:
    return f"{parameter}-at-the-call"


def _stack(name: str) -> str:
    return f"{name}{OF_CALLERS}"


def _pushed(name: str, value: ast.expr) -> ast.stmt:
    return ast.Expr(ast.Call(ast.Attribute(load(name), "append", ast.Load()), [value], []))
