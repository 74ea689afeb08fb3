"""What is made quickly is made as `dataclasses` make it; trees are gone through as `ast` goes through them."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pytest

import transkern
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Const, Load, Reduce, Span, Var
from transkern.ir.names import Names
from transkern.ir.traverse import bodies, with_bodies
from transkern.parsing import all_nodes, child_nodes
from transkern.records import make_quickly, replace

KINDS = (Span, Const, Var, Load, Apply, Axis, Reduce, n.Buffer, n.View, *get_args(n.Stmt))


@pytest.mark.parametrize("kind", KINDS)
def test_as_dataclasses_make_it(kind: Any) -> None:
    fields = dataclasses.fields(kind)
    plain = dataclasses.make_dataclass(
        kind.__name__, [(f.name, f.type, dataclasses.field(default=f.default, kw_only=f.kw_only)) for f in fields],
        frozen=True, slots=True,
    )  # fmt: skip
    assert _parameters(kind) == _parameters(plain)
    values = {f.name: f"{f.name} of it" for f in fields}
    made = kind(**values)
    assert {f.name: getattr(made, f.name) for f in fields} == values
    for f in fields:
        changed = replace(made, **{f.name: "another"})
        assert type(changed) is kind
        assert {f.name: getattr(changed, f.name) for f in fields} == values | {f.name: "another"}
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(made, f.name, 1)
    with pytest.raises(TypeError):
        replace(made, no_such_field=1)
    assert pickle.loads(pickle.dumps(made)) == made


def _parameters(kind: Any) -> list[tuple[Any, ...]]:
    return [(p.name, p.default, p.kind) for p in inspect.signature(kind.__init__).parameters.values()]


def test_only_what_has_nothing_else_to_do_when_it_is_made() -> None:
    @dataclass(frozen=True, slots=True)
    class Counted:
        value: int

        def __post_init__(self) -> None:
            raise AssertionError

    with pytest.raises(AssertionError):
        make_quickly(Counted)


def test_what_is_known_of_a_record_is_not_its_changed_ones() -> None:
    one, two = Apply("add", (Var("i"), Var("j")), "index"), Apply("add", (Var("i"), Var("k")), "index")
    assert hash(one) != hash(two)
    assert hash(replace(one, args=two.args)) == hash(two) and replace(one, args=two.args) == two


def test_a_statement_whose_blocks_stay_is_the_same() -> None:
    inner = n.Let("x", b.ONE)
    loop = n.Loop("i", b.ZERO, Var("n"), b.ONE, "parallel", (inner,))
    choice, repeated = n.If(b.TRUE, (loop,), (inner,)), n.While((inner,), b.TRUE, (loop, inner))
    for s in (inner, loop, choice, repeated):
        assert with_bodies(s, lambda block: (*block,)) is s
    changed = with_bodies(choice, lambda block: tuple(x for x in block if x is not inner))
    assert changed == n.If(b.TRUE, (loop,), ())
    seen: list[tuple[n.Stmt, ...]] = []
    with_bodies(repeated, lambda block: seen.append(block) or block)
    assert seen == [repeated.head, repeated.body] == list(bodies(repeated)), "in the order in which they run"


def test_names_are_looked_for_when_one_is_asked_for() -> None:
    asked = []

    def taken() -> set[str]:
        asked.append(1)
        return {"x", "x_1"}

    names = Names(taken)
    assert not asked
    assert [names.fresh("x"), names.fresh("x"), names.fresh("y")] == ["x_2", "x_3", "y"] and len(asked) == 1


def test_trees_are_gone_through_as_ast_does() -> None:
    files = sorted(Path(transkern.__file__).parent.glob("frontend/**/*.py"))[::4]
    trees = [ast.parse(path.read_bytes()) for path in files]
    trees.append(ast.parse("match x:\n case {'a': [1, *_], **k} | P(y=2) as z if z: f(*a, **k)"))
    trees.append(ast.parse("async def f(*a, b: int = 1, **k) -> None: global c; yield {**k, 'x': f'{a!r:>{b}}'}"))
    for tree in trees:
        assert list(all_nodes(tree)) == [x for x in ast.walk(tree) if not isinstance(x, ast.expr_context)]
        for x in ast.walk(tree):
            assert child_nodes(x) == [y for y in ast.iter_child_nodes(x) if not isinstance(y, ast.expr_context)]


def test_the_text_of_an_expression_is_what_dataclasses_write() -> None:
    e = Load("a", (Apply("add", (Var("i"), Const(1, "index")), "index"),), "float64")
    wanted = (
        "Load(buffer='a', index=(Apply(op='add', args=(Var(name='i', dtype='index'), Const(value=1, dtype='index')), "
        "dtype='index'),), dtype='float64')"
    )
    assert repr(e) == wanted == repr(e)
    assert repr(replace(e, buffer="b")) == wanted.replace("'a'", "'b'")
