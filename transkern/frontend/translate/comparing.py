"""Comparisons: of numbers, arrays, texts, lists and objects, chained ones, `is` and `in`."""

from __future__ import annotations

import ast
import operator
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from transkern import refusals
from transkern.frontend.bodies import At, Body
from transkern.frontend.compositions import compose
from transkern.frontend.containers import dict_types, empties, hashed, hashed_sets, pools
from transkern.frontend.containers.elements import is_typed
from transkern.frontend.loops import iterating
from transkern.frontend.loops.trips import condition_of
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.elementwise import apply
from transkern.frontend.python import characters, spelling
from transkern.frontend.python.characters import COMPARISONS
from transkern.frontend.python.truth import truth
from transkern.frontend.translate import object_operators, special_methods
from transkern.frontend.translate.waiting import waiting
from transkern.frontend.values import classes, doubts, python_types
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_number, is_python_number
from transkern.frontend.values.scalars import ordered
from transkern.frontend.values.values import (
    Array,
    Char,
    Dict,
    Flat,
    GrowingList,
    Hashed,
    Instance,
    JoinedText,
    Known,
    Object,
    OneOf,
    OrNone,
    Range,
    Record,
    Scalar,
    Seq,
    Static,
    Text,
    Value,
    as_plain_tuple,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.expr import Const
from transkern.ir.ops import MIRRORED

_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal", ast.Eq: "equal",
    ast.NotEq: "not_equal",
}  # fmt: skip
_ORDERED = "compare numbers with numbers; None and texts with `==`"

class Comparisons(Body):
    """The translation of comparisons."""

    def comparison(
        self, node: ast.Compare, left: ast.expr, ops: Sequence[ast.cmpop], others: Sequence[ast.expr]
    ) -> Value:
        ctx = self.ctx
        x = self.expr(left)
        result: Value | None = None
        for k, (op, other) in enumerate(zip(ops, others, strict=True)):
            if isinstance(result, Static) and not result.value:
                return result
            if result is not None and not isinstance(other, (ast.Name, ast.Constant)):
                rest = ast.Compare(ast.Name(ctx.names.fresh("compared"), ast.Load()), list(ops[k:]), list(others[k:]))
                return self._decided_or(node, result, x, rest)
            with waiting(ctx) as those:
                those.put(x)
                y = self.expr(other)
                if isinstance(op, (ast.In, ast.NotIn)) and isinstance(other, (ast.Dict, ast.DictComp)):
                    y = self.settle(y, "table")  # where `x` may be a key that only the run knows
                x = those.values[0]
            with At(ctx, node, self.scope.file):
                one = self.compared(op, x, y)
                result = one if result is None else self._and(result, one)
            x = y
        assert result is not None
        return result

    def _other_than_all(self, name: str, value: Value, known: object) -> Value:
        """A comparison with None or a text, which no number is: of an array, NumPy compares each element."""
        if not python_types.is_array(value):
            return Static(asked(self.ctx, COMPARISONS[name], python_types.example(self.ctx, value), known))
        array = as_array(self.ctx, value)
        if not array.ndim:
            return Static(asked(self.ctx, COMPARISONS[name], np.ones((), array.dtype), known))
        return replace(array, body=Const(name == "not_equal", "bool"), view=False, identity="", empty=None)

    def _decided_or(self, node: ast.Compare, result: Value, x: Value, rest: ast.Compare) -> Value:
        """``a < x < f(y)``, whose ``a < x`` is `result`: `rest`, which compares `x`, is evaluated where that holds."""
        assert isinstance(rest.left, ast.Name)
        known = ast.Name(self.ctx.names.fresh("outcome"), ast.Load())
        names = {known.id: result, rest.left.id: x}
        self.env.update(names)
        for made in (known, rest, rest.left):
            ast.copy_location(made, node)
        try:
            return self.chosen(True, [known, rest])
        finally:
            for name in names:
                self.env.pop(name, None)

    def compared(self, op: ast.cmpop, x: Value, y: Value) -> Value:
        ctx = self.ctx
        if isinstance(op, (ast.Is, ast.IsNot)):
            for one, two in ((x, y), (y, x)):
                if isinstance(one, OneOf) and isinstance(two, Static) and two.value is None:
                    is_none = one.where(lambda option: option is None)
                    return Scalar(is_none if isinstance(op, ast.Is) else b.logical_not(is_none), True)
                if isinstance(one, OrNone) and isinstance(two, Static) and two.value is None:
                    return Scalar(one.none if isinstance(op, ast.Is) else b.logical_not(one.none), True)
            told = pools.same(x, y)
            if told is not None:
                return told if isinstance(op, ast.Is) else self._not(told)
            same = _identical(x, y)
            if same is None:
                ctx.fail(refusals.OPERANDS, "`is` between run-time values", "use ==")
            return Static(same is isinstance(op, ast.Is))
        if isinstance(op, (ast.In, ast.NotIn)):
            made = special_methods.contained(ctx, x, y)
            if made is not None:
                made = truth(ctx, made)
                return made if isinstance(op, ast.In) else self._not(made)
            known = not isinstance(ctx.deref(y), Dict) or isinstance(x, OneOf)  # of texts each is compared
            if not known and isinstance(y, Object) and hashed.is_run_time_key(ctx, x):
                ctx.must_look_up(y.token)
            y = as_array(ctx, y) if isinstance(y, Flat) and not y.named else y
            python_types.check(ctx, operator.contains, ctx.deref(y), ctx.deref(x))
            found = iterating.contains(ctx, x if isinstance(x, Instance) else ctx.deref(x), ctx.deref(y))
            return found if isinstance(op, ast.In) else self._not(found)
        name = _COMPARE[type(op)]
        made = object_operators.compared(ctx, name, x, y)
        if made is not None:
            return made
        if isinstance(x, OrNone) or isinstance(y, OrNone):
            return self._compare_or_none(op, *(v if isinstance(v, Instance) else ctx.deref(v) for v in (x, y)))
        one_list = isinstance(x, GrowingList) and x == y
        one_object = isinstance(x, Object) and isinstance(y, Object) and x.token == y.token
        if name in ("equal", "not_equal") and (one_list or one_object):  # whose elements are themselves
            return Static(name == "equal")
        x, y = object_operators.fields_compared(name, ctx.deref(x), ctx.deref(y))
        python_types.check(ctx, COMPARISONS[name], x, y)
        if name in ("equal", "not_equal") and python_types.are_of_different_families(ctx, x, y):
            return Static(name == "not_equal")
        if isinstance(x, (Dict, Record)) and isinstance(y, (Dict, Record)) and name in ("equal", "not_equal"):
            if not _have_the_same_keys(x, y):
                return Static(name == "not_equal")
            others = tuple(y.get(k) or Static(None) for k in x.keys) if isinstance(x, Dict) else y.items
            x, y = Seq(x.items), Seq(others)
        x, y = as_plain_tuple(x), as_plain_tuple(y)
        if (one_set := python_types.known_set(x)) is not None and (other_set := python_types.known_set(y)) is not None:
            return Static(COMPARISONS[name](one_set, other_set))
        if isinstance(x, Hashed) or isinstance(y, Hashed):
            if (of_sets := hashed_sets.compare(ctx, name, x, y)) is not None:
                return of_sets
            if name in ("equal", "not_equal") and (of_dicts := dict_types.equal(ctx, x, y)) is not None:
                return of_dicts if name == "equal" else self._not(of_dicts)
        for one in (x, y):
            if isinstance(one, Hashed) or (isinstance(one, Seq) and one.kind not in ("tuple", "list")):
                help = "compare their lengths, and test each key with `in`"
                ctx.fail(refusals.OPERANDS, f"a comparison of {describe(x)} and {describe(y)}", help)
        one_kind, other_kind = classes.object_at(x), classes.object_at(y)
        if one_kind is not None and other_kind is not None:  # `x.dtype == float`
            return Static(bool(COMPARISONS[name](one_kind, other_kind)))
        if isinstance(x, Known) and isinstance(y, Known):
            return Static((x.path == y.path) is (name == "equal"))
        x, y = spelling.spelled(self.ctx, x), spelling.spelled(self.ctx, y)
        if isinstance(x, (JoinedText, Text)) or isinstance(y, (JoinedText, Text)):
            return self._compare_made_texts(name, x, y)
        if isinstance(x, OneOf) or isinstance(y, OneOf):
            of_texts = characters.compare_chosen(ctx, name, x, y)
            if of_texts is not None:
                return of_texts
        if isinstance(x, Char) or isinstance(y, Char):
            return characters.compare(ctx, name, x, y)
        if isinstance(x, Range) and isinstance(y, Range):
            return self._compared_ranges(name, x, y)
        if python_types.is_array(y) and isinstance(x, (Seq, GrowingList, Range)):  # the array's method answers
            name, x, y = MIRRORED[name], y, x
        arrays = any(isinstance(v, Static) and isinstance(v.value, np.ndarray) for v in (x, y))
        if isinstance(x, Static) and isinstance(y, Static) and not arrays and not (is_number(x) and is_number(y)):
            try:
                return Static(bool(COMPARISONS[name](x.value, y.value)))
            except TypeError:
                ctx.fail(refusals.OPERANDS, f"a comparison of {describe(x)} and {describe(y)}", _ORDERED)
        if isinstance(x, Seq) and isinstance(y, Seq) and name in ("equal", "not_equal"):
            if len(x.items) != len(y.items):
                return Static(name == "not_equal")
            result: Value = Static(True)
            for p, q in zip(x.items, y.items, strict=True):
                result = self._and(result, self._are_equal(p, q))
            return result if name == "equal" else self._not(result)
        if isinstance(x, Seq) and isinstance(y, Seq) and x.kind == y.kind:
            return self._order(op, x, y)
        if isinstance(x, (Seq, GrowingList)) or isinstance(y, (Seq, GrowingList)):
            for one in (x, y):
                doubts.agreed(ctx, one, is_python_number, "a comparison with a list of")
            if isinstance(x, (Seq, GrowingList)) and isinstance(y, Static) and y.value is None:
                return Static(name == "not_equal")
            compared = self._compare_lists(name, x, y)
            if compared is not None:
                return compared
        for one, two in ((x, y), (y, x)):
            if isinstance(one, Static) and (one.value is None or isinstance(one.value, str)):
                if name not in ("equal", "not_equal"):
                    ctx.fail(refusals.OPERANDS, f"a comparison of {describe(x)} and {describe(y)}", _ORDERED)
                return self._other_than_all(name, two, one.value)
        return empties.operation(ctx, name, [x, y], lambda given: apply(ctx, name, given, operator_call=True))

    def _compare_made_texts(self, name: str, x: Value, y: Value) -> Value:
        """A comparison of texts of which the run makes one: character by character, where it is joined of such."""
        others = [v for v in (x, y) if isinstance(v, Static) and not isinstance(v.value, str)]
        if others and name in ("equal", "not_equal"):
            return Static(name == "not_equal")
        one, two = _characters_of(x), _characters_of(y)
        compared = None if one is None or two is None else self._compare_lists(name, one, two)
        if compared is None:
            problem = f"a comparison of {describe(x)} and {describe(y)}"
            self.ctx.fail(refusals.OPERANDS, problem, "compare what they are made of")
        return compared

    def _compare_lists(self, name: str, x: Value, y: Value) -> Value | None:
        """A comparison of lists one of which has a run-time length, or of a list or tuple with something else of
        Python's; None where an array takes part."""
        ctx = self.ctx
        kinds = [
            v.kind if isinstance(v, Seq) or (isinstance(v, GrowingList) and not v.is_queue) else "" for v in (x, y)
        ]
        if kinds in (["list", "list"], ["tuple", "tuple"]):
            if any(not v.items if isinstance(v, Seq) else not is_typed(ctx, v) for v in (x, y)):  # type: ignore[arg-type]
                lengths = [b.index(len(v.items)) if isinstance(v, Seq) else v.length for v in (x, y)]  # type: ignore
                return Scalar(b.compare(name, *lengths), True)
            match name:
                case "equal" | "not_equal":
                    same = compose(ctx, "lists", "equal", [x, y], {})
                    return same if name == "equal" else self._not(same)
                case "less" | "less_equal":
                    return compose(ctx, "lists", name, [x, y], {})
                case _:
                    return compose(ctx, "lists", {"greater": "less", "greater_equal": "less_equal"}[name], [y, x], {})
        if name in ("equal", "not_equal") and (
            set(kinds) in ({"list", "tuple"}, {"list", "set"}, {"tuple", "set"})
            or any(isinstance(v, (Static, Scalar)) and is_python_number(v) for v in (x, y))
        ):
            return Static(name == "not_equal")
        return None

    def _compared_ranges(self, name: str, x: Range, y: Range) -> Value:
        """Whether two ranges are equal: whether they run over the same numbers."""
        known = [[b.constant(e) for e in (r.start, r.stop, r.step)] for r in (x, y)]
        if None in known[0] + known[1]:
            problem = "a comparison of ranges that are known at run time only"
            self.ctx.fail(refusals.OPERANDS, problem, "compare their ends")
        one, two = (range(*(e for e in bounds if e is not None)) for bounds in known)
        return Static((one == two) is (name == "equal"))

    def _are_equal(self, one: Value, two: Value) -> Value:
        """Whether items of two tuples (lists) are equal, as those are compared: an object is equal to itself."""
        if iterating.is_one_object(one, two):
            return Static(True)
        made = truth(self.ctx, self.compared(ast.Eq(), one, two))
        return replace(made, python=True) if isinstance(made, Scalar) else made

    def _order(self, op: ast.cmpop, x: Seq, y: Seq) -> Value:
        """The order of two tuples (lists): that of the first items that differ."""
        if not x.items or not y.items:
            return Static(COMPARISONS[_COMPARE[type(op)]](len(x.items), len(y.items)))
        first, second = x.items[0], y.items[0]
        rest = self._order(op, replace(x, items=x.items[1:]), replace(y, items=y.items[1:]))
        same = self._are_equal(first, second)
        if isinstance(same, Static):
            return rest if same.value else self.compared(op, first, second)
        compared = self.compared(op, first, second)
        here = condition_of(truth(self.ctx, compared))
        python = not isinstance(compared, Scalar) or compared.python
        return Scalar(b.where(condition_of(same), condition_of(rest), here), python)

    def _compare_or_none(self, op: ast.cmpop, x: Value, y: Value) -> Value:
        """A comparison of what may be None: that is equal to None alone, and has no order."""
        ctx = self.ctx
        if not isinstance(op, (ast.Eq, ast.NotEq)):
            symbol = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}[type(op)]
            return self.compared(op, *ordered(ctx, symbol, x, y))
        one, two = (x, y) if isinstance(x, OrNone) else (y, x)
        assert isinstance(one, OrNone)
        if isinstance(two, OrNone):
            inner = self.compared(ast.Eq(), one.value, two.value)
            if not isinstance(inner, (Scalar, Static)):
                problem = "a comparison of two values that may be None"
                ctx.fail(refusals.MAY_BE_NONE, problem, "test them with `is None` first")
            both = b.both(b.logical_not(one.none), b.logical_not(two.none))
            same = b.both(both, condition_of(truth(ctx, inner)))
            is_same = Scalar(b.either(b.both(one.none, two.none), same), True)
            return is_same if isinstance(op, ast.Eq) else self._not(is_same)
        if isinstance(two, Static) and two.value is None:
            return Scalar(one.none if isinstance(op, ast.Eq) else b.logical_not(one.none), True)
        equal = self.compared(ast.Eq(), one.value, two)
        if isinstance(equal, Array) and equal.ndim:
            ctx.fail(refusals.MAY_BE_NONE, "a comparison of an array that may be None", "test it with `is None` first")
        is_equal = Scalar(b.both(b.logical_not(one.none), condition_of(truth(ctx, equal))), True)
        return is_equal if isinstance(op, ast.Eq) else self._not(is_equal)

    def _and(self, x: Value, y: Value) -> Value:
        if isinstance(x, Static):
            return y if x.value else x
        if isinstance(x, Scalar) and isinstance(y, (Static, Scalar)):
            if len({*doubts.kinds_of(x), *doubts.kinds_of(y)}) > 1:
                return self.either(condition_of(truth(self.ctx, x)), y, x, [], [])
            if isinstance(y, Static):
                return x if y.value else y
            return Scalar(b.both(condition_of(truth(self.ctx, x)), condition_of(truth(self.ctx, y))), x.python)
        self.ctx.fail(refusals.TRUTH, "a chained comparison of arrays", "use (a < b) & (b < c)")

    def _not(self, x: Value) -> Value:
        value = truth(self.ctx, x)
        if isinstance(value, Static):
            return Static(not value.value)
        assert isinstance(value, Scalar)
        return Scalar(b.logical_not(value.expr), True)


def _characters_of(value: Value) -> Value | None:
    """The characters of a text as a list, where they can be told one by one."""
    match value:
        case JoinedText():
            return value.characters
        case Static(str() as text) | OneOf(options=(str() as text,)):
            return Seq(tuple(map(Static, text)), "list")
        case Char():
            return Seq((value,), "list")
        case _:
            return None


def _have_the_same_keys(x: Dict | Record, y: Dict | Record) -> bool:
    """Whether two dicts, or two objects, are equal where what they hold is."""
    if isinstance(x, Dict) and isinstance(y, Dict):
        return len(x.keys) == len(y.keys) and all(y.get(k) is not None for k in x.keys)
    if not isinstance(x, Record) or not isinstance(y, Record):
        return False
    return x.kind is y.kind or (x.is_tuple and y.is_tuple)


def _identical(x: Value, y: Value) -> bool | None:
    if isinstance(x, Object) and isinstance(y, Object):
        return x.token == y.token
    if (one := classes.object_at(x)) is not None and (two := classes.object_at(y)) is not None:
        return one is two
    if isinstance(x, Known) and isinstance(y, Known):
        return x.path == y.path
    if isinstance(x, Static) and isinstance(y, Static):
        return x.value is y.value or (type(x.value) is type(y.value) and x.value == y.value)
    if (isinstance(x, Static) and x.value is None) or (isinstance(y, Static) and y.value is None):
        return False
    if isinstance(x, Array) and isinstance(y, Array) and x.identity and y.identity:
        return x.identity == y.identity
    return None
