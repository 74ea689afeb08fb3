"""The rules of `rewriting`: each says of a place what may stand there instead."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.fuzz.rewriting import Change, Text, bound_in, expr, filled_in, name, names_in, statements

Rule = Callable[[Text, Any], Change | None]


def _of_numpy(node: ast.AST) -> str:
    """The name of what is called as ``np.name``."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr=attr)):
            return attr
    return ""


def is_plain(node: ast.AST) -> bool:
    """Whether nothing is called in there but NumPy's functions, methods that change nothing, and a few of Python's."""
    for x in ast.walk(node):
        if isinstance(x, ast.Call) and not _of_numpy(x):
            match x.func:
                case ast.Name(id=called) if called in ("len", "abs", "float", "int", "min", "max", "range", "sum"):
                    continue
                case ast.Attribute(attr=attr) if attr in _METHODS or attr in ("copy", "astype"):
                    continue
            return False
        if isinstance(x, ast.Call) and (_of_numpy(x) in ("copyto", "put") or any(k.arg == "out" for k in x.keywords)):
            return False
        if isinstance(x, (ast.NamedExpr, ast.Yield, ast.Await)):
            return False
    return True


RULES: dict[str, tuple[type[ast.AST] | tuple[type[ast.AST], ...], Rule]] = {}


def rule(*kinds: type[ast.AST]) -> Callable[[Rule], Rule]:
    """Registers a rule for places of some kinds."""

    def register(made: Rule) -> Rule:
        RULES[made.__name__] = kinds, made
        return made

    return register


@rule(ast.BinOp, ast.Call, ast.Subscript, ast.Compare, ast.UnaryOp)
def name_a_part(t: Text, e: ast.expr) -> Change | None:
    """``f(g(x))`` as ``t = g(x); f(t)``."""
    if not t.is_computed_first(e) or t.of(e) is None or isinstance(t.parents[id(e)], ast.stmt):
        return None
    made = t.fresh("part")
    return Change(name(made), (ast.Assign([ast.Name(made, ast.Store())], e, lineno=0),))


@rule(ast.Assign)
def inline_a_name(t: Text, s: ast.Assign) -> Change | None:
    """``t = g(x); f(t)`` as ``f(g(x))``."""
    block = t.block_of(s)
    at = block.index(s)
    if at + 1 >= len(block) or not (len(s.targets) == 1 and isinstance(s.targets[0], ast.Name)):
        return None
    own = s.targets[0].id
    uses = [x for x in ast.walk(t.function) if isinstance(x, ast.Name) and x.id == own and x is not s.targets[0]]
    if len(uses) != 1 or isinstance(uses[0].ctx, ast.Store) or t.statement(uses[0]) is not block[at + 1]:
        return None
    if not t.is_computed_first(uses[0]):
        return None
    follows = copy.deepcopy(block[at + 1])
    block.remove(block[at + 1])
    return Change([filled_in(follows, {own: s.value})])


_UFUNCS = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power",
    ast.FloorDiv: "floor_divide", ast.Mod: "remainder", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or",
    ast.MatMult: "matmul", ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal",
    ast.Eq: "equal", ast.NotEq: "not_equal", ast.USub: "negative", ast.Invert: "invert",
}  # fmt: skip
_OPERATORS = {name: kind for kind, name in _UFUNCS.items()}


@rule(ast.BinOp, ast.Compare, ast.UnaryOp)
def operator_as_function(t: Text, e: Any) -> Change | None:
    """``a + b`` of arrays as ``np.add(a, b)``."""
    seen = t.of(e)
    if seen is None or not seen.is_array:
        return None
    match e:
        case ast.BinOp(left, op, right) if type(op) in _UFUNCS:
            args = [left, right]
        case ast.Compare(left, [op], [right]) if type(op) in _UFUNCS:
            args = [left, right]
        case ast.UnaryOp(op, operand) if type(op) in _UFUNCS:
            args = [operand]
        case _:
            return None
    return Change(ast.Call(expr(f"np.{_UFUNCS[type(op)]}"), args, []))


@rule(ast.Call)
def function_as_operator(t: Text, e: ast.Call) -> Change | None:
    """``np.add(a, b)`` of arrays as ``a + b``."""
    kind, seen = _OPERATORS.get(_of_numpy(e)), t.of(e)
    if kind is None or e.keywords or seen is None or not seen.is_array:
        return None
    if len(e.args) == 1 and issubclass(kind, ast.unaryop):
        return Change(ast.UnaryOp(kind(), e.args[0]))
    if len(e.args) == 2 and issubclass(kind, ast.operator):
        return Change(ast.BinOp(e.args[0], kind(), e.args[1]))
    if len(e.args) == 2 and issubclass(kind, ast.cmpop):
        return Change(ast.Compare(e.args[0], [kind()], [e.args[1]]))
    return None


_METHODS = (
    "sum", "mean", "min", "max", "any", "all", "std", "var", "argmin", "argmax", "cumsum", "prod", "reshape", "ravel",
    "transpose", "argsort", "clip", "dot", "take", "repeat", "round", "squeeze", "nonzero", "ptp", "cumprod",
    "diagonal",
)  # fmt: skip


@rule(ast.Call)
def method_as_function(t: Text, e: ast.Call) -> Change | None:
    """``x.sum(axis=1)`` as ``np.sum(x, axis=1)``."""
    match e.func:
        case ast.Attribute(owner, attr) if attr in _METHODS and (seen := t.of(owner)) and seen.is_array:
            if attr in ("reshape", "transpose") and len(e.args) > 1:
                return Change(ast.Call(expr(f"np.{attr}"), [owner, ast.Tuple(e.args, ast.Load())], e.keywords))
            return Change(ast.Call(expr(f"np.{attr}"), [owner, *e.args], e.keywords))
    return None


@rule(ast.Call)
def function_as_method(t: Text, e: ast.Call) -> Change | None:
    """``np.sum(x, axis=1)`` as ``x.sum(axis=1)``."""
    attr = _of_numpy(e)
    if attr not in _METHODS or not e.args or not (seen := t.of(e.args[0])) or not seen.is_array:
        return None
    return Change(ast.Call(ast.Attribute(e.args[0], attr, ast.Load()), e.args[1:], e.keywords))


@rule(ast.BinOp)
def square(t: Text, e: ast.BinOp) -> Change | None:
    """``x ** 2`` of an array as ``x * x``, or as ``np.square(x)``."""
    match e:
        case ast.BinOp(ast.Name() as x, ast.Pow(), ast.Constant(2)) if (seen := t.of(e)) and seen.is_array:
            return Change(expr("x * x", x=x))
        case ast.BinOp(x, ast.Pow(), ast.Constant(2)) if (seen := t.of(e)) and seen.is_array:
            return Change(expr("np.square(x)", x=x))
        case ast.BinOp(ast.Name(id=x), ast.Mult(), ast.Name(id=y)) if x == y and (seen := t.of(e)) and seen.is_array:
            return Change(expr("x ** 2", x=e.left))
    return None


@rule(ast.If)
def other_branch_first(t: Text, s: ast.If) -> Change | None:
    """``if c: a else: b`` as ``if not c: b else: a``."""
    if not s.orelse:
        return None
    return Change(statements("if not c:\n    b\nelse:\n    a", c=s.test, a=s.body, b=s.orelse))


@rule(ast.If)
def both_as_nested(t: Text, s: ast.If) -> Change | None:
    """``if a and b: …`` as ``if a: if b: …``."""
    match s:
        case ast.If(ast.BoolOp(ast.And(), [first, *rest]), body, []):
            inner = rest[0] if len(rest) == 1 else ast.BoolOp(ast.And(), rest)
            return Change(statements("if a:\n    if b:\n        c", a=first, b=inner, c=body))
    return None


@rule(ast.If)
def return_as_branch(t: Text, s: ast.If) -> Change | None:
    """``if c: return a`` with more behind it as ``if c: return a else: …``."""
    block = t.block_of(s)
    at = block.index(s)
    if s.orelse or not isinstance(s.body[-1], ast.Return) or at + 1 == len(block):
        return None
    rest = block[at + 1 :]
    del block[at + 1 :]
    return Change([ast.If(s.test, s.body, rest)])


@rule(ast.For)
def counted_while(t: Text, s: ast.For) -> Change | None:
    """``for i in range(a, b)`` as a ``while`` that counts."""
    match s:
        case ast.For(ast.Name(id=i), ast.Call(ast.Name(id="range"), args, []), body, []) if len(args) in (1, 2):
            inside = [x for b in body for x in ast.walk(b)]
            if i in bound_in(*body) or any(isinstance(x, (ast.Continue, ast.Lambda)) for x in inside):
                return None
            end = t.fresh("end")
            text = f"{i} = _first\n{end} = _last\nwhile {i} < {end}:\n    _body\n    {i} += 1"
            return Change(statements(text, _first=args[0] if args[1:] else ast.Constant(0), _last=args[-1], _body=body))
    return None


@rule(ast.For)
def rows_by_number(t: Text, s: ast.For) -> Change | None:
    """``for row in x`` as ``for i in range(len(x)): row = x[i]``."""
    i = ""
    match s:
        case ast.For(ast.Name() as row, ast.Name() as x, body, []):
            i = t.fresh("at")
        case ast.For(ast.Tuple([ast.Name(id=i), ast.Name() as row]), ast.Call(ast.Name(id=called), [x], []), body, []):
            if called != "enumerate":
                return None
        case _:
            return None
    if not isinstance(x, ast.Name) or not (seen := t.of(x)) or not seen.is_array or x.id in bound_in(*body):
        return None
    text = f"for {i} in range(len({x.id})):\n    _row = {x.id}[{i}]\n    _body"
    return Change(statements(text, _row=row, _body=body))


@rule(ast.Call, ast.Subscript)
def length(t: Text, e: Any) -> Change | None:
    """``len(x)`` as ``x.shape[0]``, and back."""
    match e:
        case ast.Call(ast.Name(id="len"), [x], []) if (seen := t.of(x)) and seen.is_array:
            return Change(expr("x.shape[0]", x=x))
        case ast.Subscript(ast.Attribute(x, "shape"), ast.Constant(0), ast.Load()):
            return Change(expr("len(x)", x=x))
    return None


@rule(ast.Subscript)
def bounds_written_out(t: Text, e: ast.Subscript) -> Change | None:
    """``x[1:]`` as ``x[1:len(x)]``, ``x[:n]`` as ``x[0:n]``."""
    match e:
        case ast.Subscript(ast.Name(id=x), ast.Slice(lower, upper, None)) if (seen := t.of(e.value)) and seen.is_array:
            if upper is None:
                return Change(ast.Subscript(e.value, ast.Slice(lower, expr(f"len({x})")), e.ctx))
            if lower is None:
                return Change(ast.Subscript(e.value, ast.Slice(ast.Constant(0), upper), e.ctx))
    return None


@rule(ast.Subscript)
def one_axis_after_the_other(t: Text, e: ast.Subscript) -> Change | None:
    """``x[i, j]`` as ``x[i][j]``, and ``x[i, :]`` as ``x[i]``."""
    match e:
        case ast.Subscript(x, ast.Tuple([first, *rest]), ast.Load()) if (seen := t.of(first)) and seen.is_number:
            if all(isinstance(r, ast.Slice) and not (r.lower or r.upper or r.step) for r in rest):
                return Change(ast.Subscript(x, first, ast.Load()))
            inner = rest[0] if len(rest) == 1 else ast.Tuple(rest, ast.Load())
            return Change(ast.Subscript(ast.Subscript(x, first, ast.Load()), inner, ast.Load()))
    return None


_FLIPPED = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq}


@rule(ast.Compare)
def comparison_turned(t: Text, e: ast.Compare) -> Change | None:
    """``a < b`` as ``b > a``."""
    match e:
        case ast.Compare(left, [op], [right]) if type(op) in _FLIPPED:
            return Change(ast.Compare(right, [_FLIPPED[type(op)]()], [left]))
    return None


@rule(ast.BinOp)
def operands_turned(t: Text, e: ast.BinOp) -> Change | None:
    """``a * b`` as ``b * a``."""
    if isinstance(e.op, (ast.Mult, ast.Add)) and (seen := t.of(e)) and (seen.is_array or seen.is_number):
        return Change(ast.BinOp(e.right, e.op, e.left))
    return None


@rule(ast.Assign, ast.Return)
def outlined(t: Text, s: Any) -> Change | None:
    """An expression as a function of its own."""
    if s.value is None or isinstance(s.value, (ast.Name, ast.Constant)):
        return None
    if any(isinstance(x, (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp)) for x in ast.walk(s.value)):
        return None
    own = {a.arg for a in t.function.args.args} | bound_in(t.function)
    free = sorted(names_in(s.value) & own)
    helper = t.fresh("helper")
    made = ast.parse(f"def {helper}({', '.join(free)}):\n    return 0").body[0]
    made.body[0].value = s.value  # type: ignore[attr-defined]
    called = expr(f"{helper}({', '.join(free)})")
    instead = ast.Return(called) if isinstance(s, ast.Return) else ast.Assign(s.targets, called, lineno=0)
    return Change([instead], module=(made,))


@rule(ast.Assign)
def two_at_once(t: Text, s: ast.Assign) -> Change | None:
    """``a = x; b = y`` as ``a, b = x, y``, and back."""
    block = t.block_of(s)
    at = block.index(s)
    match s.targets[0], s.value:
        case ast.Tuple(targets), ast.Tuple(values) if len(targets) == len(values):
            if names_in(*targets) & names_in(*values[1:]) or not all(isinstance(x, ast.Name) for x in targets):
                return None
            return Change([ast.Assign([x], v, lineno=0) for x, v in zip(targets, values, strict=True)])
        case ast.Name(id=own), _ if at + 1 < len(block):
            match block[at + 1]:
                case ast.Assign([ast.Name() as second], value) if own not in names_in(value, second):
                    del block[at + 1]
                    pair = ast.Tuple([s.targets[0], second], ast.Store())
                    return Change([ast.Assign([pair], ast.Tuple([s.value, value], ast.Load()), lineno=0)])
    return None


@rule(ast.Assign)
def other_order(t: Text, s: ast.Assign) -> Change | None:
    """``a = x; b = y`` as ``b = y; a = x``."""
    block = t.block_of(s)
    at = block.index(s)
    if at + 1 == len(block) or not isinstance(follows := block[at + 1], ast.Assign):
        return None
    pair = (s, follows)
    if not all(isinstance(x, ast.Name) for p in pair for x in p.targets) or not all(is_plain(p.value) for p in pair):
        return None
    if bound_in(s) & names_in(follows) or bound_in(follows) & names_in(s):
        return None
    del block[at + 1]
    return Change([follows, s])


@rule(ast.AugAssign)
def assignment_written_out(t: Text, s: ast.AugAssign) -> Change | None:
    """``x[i] += e`` as ``x[i] = x[i] + e``, ``n += 1`` as ``n = n + 1``."""
    seen = t.of(s.value)
    if isinstance(s.target, ast.Name) and not (seen and seen.is_number):
        return None
    old = copy.deepcopy(s.target)
    old.ctx = ast.Load()
    return Change([ast.Assign([s.target], ast.BinOp(old, s.op, s.value), lineno=0)])


@rule(ast.Assign)
def assignment_in_place(t: Text, s: ast.Assign) -> Change | None:
    """``x[i] = x[i] + e`` as ``x[i] += e``."""
    match s:
        case ast.Assign([ast.Subscript() | ast.Name() as target], ast.BinOp(left, op, right)):
            if ast.unparse(target) == ast.unparse(left) and not isinstance(op, ast.MatMult):
                return Change([ast.AugAssign(target, op, right)])
    return None


@rule(ast.Assign, ast.Return)
def rows_one_by_one(t: Text, s: Any) -> Change | None:
    """An array statement of elementwise functions as a loop over its rows."""
    if s.value is None or (isinstance(s, ast.Assign) and not isinstance(s.targets[0], ast.Name)):
        return None
    seen = t.of(s.value)
    if seen is None or not seen.is_array or not isinstance(s.value, (ast.BinOp, ast.Call, ast.Compare, ast.UnaryOp)):
        return None
    i, before = t.fresh("row"), []

    def row(e: ast.expr) -> ast.expr | None:
        at = t.of(e)
        if isinstance(e, ast.Constant) or (at and not at.shape):
            return e
        if at is None or len(at.shape) > len(seen.shape):
            return None
        match e:
            case ast.BinOp(left, op, right) if not isinstance(op, ast.MatMult):
                parts = [row(left), row(right)]
                return None if None in parts else ast.BinOp(parts[0], op, parts[1])
            case ast.UnaryOp(op, operand) if not isinstance(op, ast.Not):
                part = row(operand)
                return None if part is None else ast.UnaryOp(op, part)
            case ast.Compare(left, [op], [right]):
                parts = [row(left), row(right)]
                return None if None in parts else ast.Compare(parts[0], [op], [parts[1]])
            case ast.Call(func, args, []) if isinstance(getattr(np, _of_numpy(e), None), np.ufunc):
                parts = [row(a) for a in args]
                return None if None in parts else ast.Call(func, parts, [])
        if not isinstance(e, ast.Name):
            held = t.fresh("held")
            before.append(ast.Assign([ast.Name(held, ast.Store())], e, lineno=0))
            e = name(held)
        if len(at.shape) < len(seen.shape):
            return e
        return ast.Subscript(e, name(i) if at.shape[0] == seen.shape[0] else ast.Constant(0), ast.Load())

    made = row(s.value)
    if made is None or isinstance(made, ast.Subscript):
        return None
    lead = next((x for x in ast.walk(made) if isinstance(x, ast.Subscript) and ast.unparse(x.slice) == i), None)
    if lead is None:
        return None
    out = s.targets[0].id if isinstance(s, ast.Assign) else t.fresh("out")
    store = out if out not in names_in(s.value) else t.fresh("out")
    names = [x for x in ast.walk(s.value) if isinstance(x, ast.Name)]
    inner = [x for x in names if (a := t.of(x)) and len(a.shape) == len(seen.shape) and a.shape[1:] == seen.shape[1:]]
    if len(seen.shape) == 1:
        size = f"len({ast.unparse(lead.value)})"
    elif inner:
        size = f"(len({ast.unparse(lead.value)}), *{ast.unparse(inner[0])}.shape[1:])"
    else:
        return None
    lines = statements(
        f"{store} = np.empty({size}, np.{seen.dtype + '_' * (seen.dtype == 'bool')})\n"
        f"for {i} in range(len({ast.unparse(lead.value)})):\n    {store}[{i}] = _value", _value=made,
    )  # fmt: skip
    lines = [*before, *lines]
    if isinstance(s, ast.Return):
        return Change([*lines, *statements(f"return {store}")])
    return Change([*lines, *([] if store == out else statements(f"{out} = {store}"))])


@rule(ast.ListComp)
def appended(t: Text, e: ast.ListComp) -> Change | None:
    """``[f(v) for v in x if c]`` as a loop that appends."""
    if len(e.generators) != 1 or not t.is_computed_first(e):
        return None
    (generator,) = e.generators
    if bound_in(generator.target) & (names_in(t.function) - names_in(e)):
        return None
    out = t.fresh("items")
    body = statements(f"{out}.append(_value)", _value=e.elt)
    for condition in reversed(generator.ifs):
        body = [ast.If(condition, body, [])]
    loop = ast.For(generator.target, generator.iter, body, [], lineno=0)
    return Change(name(out), (*statements(f"{out} = []"), loop))


@rule(ast.Attribute)
def turned(t: Text, e: ast.Attribute) -> Change | None:
    """``x.T`` as ``np.transpose(x)``, or of a matrix as ``np.swapaxes(x, 0, 1)``."""
    if e.attr != "T" or not (seen := t.of(e.value)) or not seen.is_array:
        return None
    return Change(expr("np.swapaxes(x, 0, 1)" if len(seen.shape) == 2 else "np.transpose(x)", x=e.value))


@rule(ast.Subscript)
def new_axis(t: Text, e: ast.Subscript) -> Change | None:
    """``x[:, None]`` of a line as ``x.reshape(-1, 1)``; ``x[None]`` as ``np.expand_dims(x, 0)``."""
    text = ast.unparse(e.slice)
    if not (seen := t.of(e.value)) or len(seen.shape) != 1:
        return None
    if text in ("(:, None)", ":, None", "(:, np.newaxis)", ":, np.newaxis"):
        return Change(expr("x.reshape(-1, 1)", x=e.value))
    if text in ("None", "(None, :)", "None, :", "np.newaxis", "np.newaxis, :"):
        return Change(expr("np.expand_dims(x, 0)", x=e.value))
    return None


@rule(ast.Call)
def axis_kept(t: Text, e: ast.Call) -> Change | None:
    """``x.sum(axis=1, keepdims=True)`` as ``x.sum(axis=1)[:, None]``."""
    match e:
        case ast.Call(_, _, [ast.keyword("axis", ast.Constant(1)), ast.keyword("keepdims", ast.Constant(True))]):
            if (seen := t.of(e)) and len(seen.shape) == 2:
                return Change(expr("x[:, None]", x=ast.Call(e.func, e.args, e.keywords[:1])))
    return None


@rule(ast.Call)
def filled(t: Text, e: ast.Call) -> Change | None:
    """``np.zeros(n)`` as ``np.full(n, 0.0)``; ``np.ones(n)`` likewise."""
    value = {"zeros": 0.0, "ones": 1.0}.get(_of_numpy(e))
    if value is None or len(e.args) != 1 or e.keywords:
        return None
    return Change(expr("np.full(n, v)", n=e.args[0], v=ast.Constant(value)))


@rule(ast.Call)
def chosen_by_store(t: Text, e: ast.Call) -> Change | None:
    """``np.where(c, a, b)`` of arrays of one shape as a copy of `b` and a store through the mask."""
    if _of_numpy(e) != "where" or len(e.args) != 3 or not t.is_computed_first(e) or not (seen := t.of(e)):
        return None
    condition, one, two = e.args
    at = [t.of(x) for x in e.args]
    if not all(x and x.shape == seen.shape for x in (at[0], at[2])) or not seen.shape or at[2].dtype != seen.dtype:
        return None
    held, out = t.fresh("mask"), t.fresh("chosen")
    before = statements(f"{held} = c", c=condition)
    if isinstance(one, ast.Constant) or (at[1] and not at[1].shape):
        before += statements(f"{out} = b.copy()\n{out}[{held}] = a", a=one, b=two)
    elif at[1] and at[1].shape == seen.shape:
        before += statements(f"{out} = b.copy()\n{out}[{held}] = (a)[{held}]", a=one, b=two)
    else:
        return None
    return Change(name(out), tuple(before))


@rule(ast.BinOp, ast.UnaryOp)
def logic(t: Text, e: Any) -> Change | None:
    """``a & b`` of masks as ``np.logical_and(a, b)``."""
    seen = t.of(e)
    if seen is None or seen.dtype != "bool" or not seen.shape:
        return None
    match e:
        case ast.BinOp(left, ast.BitAnd(), right):
            return Change(expr("np.logical_and(a, b)", a=left, b=right))
        case ast.BinOp(left, ast.BitOr(), right):
            return Change(expr("np.logical_or(a, b)", a=left, b=right))
        case ast.UnaryOp(ast.Invert(), x):
            return Change(expr("np.logical_not(a)", a=x))
    return None


def rewritten(text: Text, chance: random.Random) -> tuple[str, str] | None:
    """A module's text with its function changed by a rule, and the rule's name."""
    places: dict[str, list[ast.AST]] = {}
    for place in ast.walk(text.function):
        for key, (kinds, _) in RULES.items():
            if isinstance(place, kinds) and place is not text.function and id(place) in text.parents:
                places.setdefault(key, []).append(place)
    keys = sorted(places)
    chance.shuffle(keys)  # rules that have few places are as frequent as those that have many
    for key in keys:
        chance.shuffle(places[key])
        for place in places[key]:
            if (change := RULES[key][1](text, place)) is not None:
                text.put(place, change)
                return str(text), key
    return None
