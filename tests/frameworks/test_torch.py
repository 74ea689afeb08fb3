"""Compiled functions as operators of PyTorch: graphs, exports, gradients, against NumPy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.frameworks import functions as f
from tests.tools import optional, require

torch = optional("torch")
require("cc")

from transkern.frameworks import torch as operators  # noqa: E402 - it imports PyTorch

BACKEND = "aot_eager"  # all of `torch.compile` but the compiler of what is around our operators


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    torch._dynamo.reset()
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        yield


def graph(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    compiled = transkern.compile(function, target="cpu")
    made: Callable[..., Any] = torch.compile(
        lambda *args: compiled(*args), fullgraph=True, **({"backend": BACKEND} | options)
    )
    return made


def same(found: Any, wanted: Any) -> None:
    """That a result in a graph is NumPy's: its numbers are tensors without axes there."""
    match wanted:
        case np.ndarray() | np.generic():
            assert type(found) is torch.Tensor and str(found.dtype) == f"torch.{wanted.dtype}"
            assert found.shape == wanted.shape and found.is_contiguous()
            np.testing.assert_array_equal(found.numpy(), wanted)
            if wanted.dtype.kind == "f":
                np.testing.assert_array_equal(np.signbit(found.numpy()), np.signbit(wanted))
        case dict():
            assert list(found) == list(wanted)
            for key in wanted:
                same(found[key], wanted[key])
        case tuple() | list():
            assert type(found) is type(wanted)
            for one, two in zip(found, wanted, strict=True):
                same(one, two)
        case f.Fit(slope, rest):
            assert type(found) is f.Fit
            same(found.slope, slope)
            same(found.rest, rest)
        case _:
            assert type(found) is type(wanted) and found == wanted


# ---- graphs ----------------------------------------------------------------------------------------------------------

CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    *((f.chain, (f.values(d, 9), f.values(d, 9)[::-1].copy())) for d in ("float32", "float64", "int64", "int32")),
    *((f.total, (f.values(d, n),)) for d in ("float64", "int32", "bool") for n in (0, 1, 6)),
    *((f.several, (f.values("float32", n), 2)) for n in (0, 1, 7)),
    (f.paired, (f.values("float64", 5),)),
    (f.fitted, (f.values("float32", 5)[3:],)),
    (f.recurrence, (np.linspace(0, 1, 7), 0.5)),
    *((f.joined, (f.values("int32", n), f.values("int32", 4), 3)) for n in (0, 1, 2, 5)),
    (f.outer, (f.values("float64", 3), f.values("float64", 1))),
    (f.outer, (f.values("float64", 0), f.values("float64", 4))),
    (f.folded, (f.values("float64", 6),)),
    *((f.positive, (f.values(d, n),)) for d in ("float32", "int64") for n in (0, 1, 8)),
    (f.both_positive, (f.values("float64", 8), f.values("float64", 8)[::-1].copy())),
    (f.along, (np.arange(6.0).reshape(2, 3), 1)),
    (f.along, (np.arange(6.0).reshape(2, 3), -2)),
    (f.weighted, ({"w": np.eye(3), "b": (np.ones(3), 2)}, np.arange(6.0).reshape(2, 3))),
    (f.looked_up, (np.arange(5.0), np.array([3, 0, -1]))),
    (f.one_of_two, (np.array([-1.0, 2.0]), 2)),
    (f.one_of_two, (np.array([1.0, 2.0]), 2)),
]


def tensors(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    if isinstance(value, dict):
        return {k: tensors(v) for k, v in value.items()}
    return tuple(map(tensors, value)) if isinstance(value, tuple) else value


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(("function", "args"), CALLS, ids=lambda x: getattr(x, "__name__", ""))
def test_graphs(function: Callable[..., Any], args: tuple[Any, ...], dynamic: bool) -> None:
    with np.errstate(all="ignore"):
        wanted = function(*args)
    same(graph(function, dynamic=dynamic)(*tensors(args)), wanted)


def test_no_function_runs_while_a_graph_is_made() -> None:
    compiled = transkern.compile(f.recurrence)
    with torch._subclasses.FakeTensorMode():
        found = compiled(torch.empty(5), 0.5)
    assert found.shape == (5,) and found.dtype == torch.float32
    assert compiled.cache_info().compiled == compiled.cache_info().from_disk == 0


def test_one_graph_for_all_sizes() -> None:
    seen = []

    def backend(module: Any, inputs: Any) -> Any:
        seen.append(module)
        return module.forward

    run = graph(f.joined, backend=backend, dynamic=True)
    for n in (5, 6, 9, 30):
        x = np.arange(n) * 1.0
        same(run(torch.from_numpy(x), torch.from_numpy(x[:4].copy()), 3), f.joined(x, x[:4], 3))
    assert len(seen) == 1


def test_numbers_that_change() -> None:
    run = graph(f.recurrence)
    for a in (0.5, 0.25, 2.0, -0.0):
        same(run(torch.arange(4.0), a), f.recurrence(np.arange(4, dtype=np.float32), a))


def test_tensors_of_all_layouts() -> None:
    base = torch.arange(24.0).reshape(4, 6)
    for x in (base.T, base[::2, 1::2], base[:, 0], base.expand(2, 4, 6), torch.tensor(3.0)):
        same(graph(f.chain)(x, x), f.chain(x.numpy(), x.numpy()))


def test_inside_what_inductor_compiles() -> None:
    compiled = transkern.compile(f.chain)
    run = torch.compile(lambda x, y: torch.relu(compiled(x * 2, y) + 1).sum(), fullgraph=True)
    x, y = torch.linspace(-2, 2, 9), torch.linspace(1, -1, 9)
    wanted = np.maximum(f.chain((x * 2).numpy(), y.numpy()) + 1, 0).sum()
    torch.testing.assert_close(run(x, y), torch.tensor(wanted))


def test_arguments_that_are_written() -> None:
    x = torch.arange(5.0)
    compiled = transkern.compile(f.raised)

    @torch.compile(fullgraph=True, backend=BACKEND)
    def run(x: Any) -> Any:
        return compiled(x, 2) * 2, x.sum()

    doubled, whole = run(x)
    assert x.tolist() == [1, 2, 2, 3, 4] and doubled.tolist() == [2, 4, 4, 6, 8] and whole == 12
    assert run(x.clone())[1] == 14


def test_broken_graphs() -> None:
    """Where PyTorch does not take a call into its graph, it runs as it is, and gives what it gives then."""
    x, kept = torch.arange(-3.0, 4), transkern.compile(f.positive)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=False):
        same(torch.compile(lambda x: kept(x * 1) + 1, backend=BACKEND)(x), f.positive(x.numpy()) + 1)
    scale = f.Scale(3.0)
    assert torch.compile(lambda x: scale.scaled(x) + 1, backend=BACKEND)(x).tolist() == (x * 3 + 1).tolist()
    chain = transkern.compile(f.chain)
    found = torch.compile(lambda x: chain(x.numpy(), np.ones(7, np.float32)), backend=BACKEND)(x)
    np.testing.assert_array_equal(found, f.chain(x.numpy(), np.ones(7, np.float32)))
    with pytest.raises(IndexError, match="out of bounds"):
        torch.compile(transkern.compile(f.looked_up), backend=BACKEND)(torch.arange(3.0), torch.tensor([7]))


def test_keywords_and_constants() -> None:
    x, chosen, chain = torch.arange(1.0, 5), transkern.compile(f.chosen), transkern.compile(f.chain)
    for given, wanted in (({"how": "sum"}, 10), ({"how": "one"}, 1), ({"how": "one", "last": True}, 4)):
        run = torch.compile(lambda x, given=given: chosen(x, **given), fullgraph=True, backend=BACKEND)
        assert run(x) == wanted
    same(torch.compile(lambda x: chain(y=x, x=-x), fullgraph=True, backend=BACKEND)(x), f.chain(-x.numpy(), x.numpy()))
    same(torch.compile(chain, fullgraph=True, backend=BACKEND)(x, x), f.chain(x.numpy(), x.numpy()))


def test_memory_under_two_names_is_refused_where_it_is_written() -> None:
    compiled, x = transkern.compile(f.raised_beside), torch.zeros(6)
    for views in (lambda x: (x[:4], x[2:]), lambda x: (x, x)):
        with pytest.raises(Exception, match="shares memory with another one"):
            torch.compile(lambda x, views=views: compiled(*views(x)), fullgraph=True, backend=BACKEND)(x)
        y = torch.zeros(6)
        assert compiled(*views(y)) == views(y)[1].sum()
    run = torch.compile(lambda x: compiled(x[:4], x[2:]), backend=BACKEND)  # as it is, which has a graph broken there
    assert run(torch.zeros(6)) == 2


def test_methods_and_modules() -> None:
    class Layer(torch.nn.Module):
        apply_all = transkern.compile(f.chain)

        def forward(self, x: Any) -> Any:
            return Layer.apply_all(x, x)

    found = torch.compile(Layer(), fullgraph=True, backend=BACKEND)(torch.arange(3.0))
    same(found, f.chain(*[np.arange(3, dtype=np.float32)] * 2))


def test_what_changes_is_seen_by_a_new_graph() -> None:
    space: dict[str, Any] = {"scale": 2.0}
    exec("def scaled(x):\n    return x * scale", space)
    import linecache

    linecache.cache["<scaled>"] = (1, None, ["def scaled(x):\n", "    return x * scale"], "<scaled>")
    exec(compile("def scaled(x):\n    return x * scale", "<scaled>", "exec"), space)
    compiled = transkern.compile(space["scaled"])
    run = torch.compile(lambda x: compiled(x), fullgraph=True, backend=BACKEND)
    assert run(torch.ones(2)).tolist() == [2, 2]
    space["scale"] = 3.0
    assert run(torch.ones(2)).tolist() == [3, 3]
    space["scale"] = np.ones(5)
    with pytest.raises(Exception, match="broadcast"):
        run(torch.ones(2))


# ---- operators -------------------------------------------------------------------------------------------------------

REGISTERED: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (f.chain, (np.linspace(-2, 2, 9), np.linspace(1, -1, 9))),
    (f.several, (np.linspace(-2, 2, 5), 2)),
    (f.joined, (f.values("int32", 5), f.values("int32", 4), 3)),
    (f.both_positive, (f.values("float64", 8), f.values("float64", 8)[::-1].copy())),
    (f.along, (np.arange(6.0).reshape(2, 3), 1)),
    (f.raised, (np.arange(5.0), 2)),
    (f.weighted, ({"w": np.eye(3), "b": (np.ones(3), 2)}, np.arange(6.0).reshape(2, 3))),
]


@pytest.mark.parametrize(("function", "args"), REGISTERED, ids=lambda x: getattr(x, "__name__", ""))
def test_opcheck(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    compiled = transkern.compile(function)
    given = tensors(args)
    operator = operators.register(f"transkern_tests::{function.__name__}", compiled, *given)
    flat = [v for v in torch.utils._pytree.tree_leaves(given) if not isinstance(v, int)]
    flat += [v for v in given if isinstance(v, int)]
    torch.library.opcheck(operator, tuple(flat))


def test_operators_are_named_and_told_what_is_written() -> None:
    compiled = transkern.compile(f.raised)
    operator = operators.register("transkern_tests::raised_here", compiled, torch.ones(3), 2)
    assert str(operator._schema) == "transkern_tests::raised_here(Tensor(a0!) x, SymInt k) -> ()"
    x = torch.zeros(3)
    operator(x, 1)
    assert x.tolist() == [1, 0, 0] and x._version == 1
    with pytest.raises(TypeError, match="takes a compiled function"):
        operators.register("transkern_tests::plain", f.raised, torch.ones(3), 2)  # type: ignore[arg-type]


# ---- exports ---------------------------------------------------------------------------------------------------------


class Module(torch.nn.Module):  # type: ignore[misc]
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def test_export_with_free_sizes() -> None:
    compiled = transkern.compile(f.joined)
    free = {0: torch.export.Dim.DYNAMIC}
    exported = torch.export.export(
        Module(lambda x, y: compiled(x, y, 3)), (torch.ones(6), torch.ones(4)), dynamic_shapes=((free, free),)
    )
    for n, m in ((6, 4), (9, 2), (20, 30)):
        x, y = np.arange(n, dtype=np.float32), np.arange(m, dtype=np.float32)
        same(exported.module()(torch.from_numpy(x), torch.from_numpy(y)), f.joined(x, y, 3))


def test_export_of_sizes_that_data_decide_and_of_changes() -> None:
    free = ({0: torch.export.Dim("n", min=2)},)
    kept, changed = transkern.compile(f.positive), transkern.compile(f.raised)
    exported = torch.export.export(Module(lambda x: kept(x) + 1), (torch.ones(6),), dynamic_shapes=(free,))
    x = f.values("float32", 11)
    same(exported.module()(torch.from_numpy(x)), f.positive(x) + 1)
    exported = torch.export.export(Module(lambda x: changed(x, 2).sum()), (torch.ones(6),), dynamic_shapes=(free,))
    y = torch.zeros(7)
    assert exported.module()(y) == 2 and y.tolist() == [1, 1, 0, 0, 0, 0, 0]


def test_strict_export_is_refused_in_words() -> None:
    compiled = transkern.compile(f.total)
    with pytest.raises(Exception, match="strict=False"):
        torch.export.export(Module(lambda x: compiled(x)), (torch.ones(6),), strict=True)


def test_an_exported_program_in_another_process(tmp_path: Path) -> None:
    """Its operators have names that both know."""
    text = (
        "import torch, transkern\n"
        "from transkern.frameworks.torch import register\n"
        "from tests.frameworks import functions as f\n"
        "compiled = transkern.compile(f.joined)\n"
        "register('shared::joined', compiled, torch.ones(4), torch.ones(4), 3)\n"
    )
    path = str(tmp_path / "joined.pt2")
    write = (
        "class M(torch.nn.Module):\n    def forward(self, x, y): return compiled(x, y, 3)\n"
        "D = torch.export.Dim.DYNAMIC\n"
        "made = torch.export.export(M(), (torch.ones(6), torch.ones(5)), dynamic_shapes=({0: D}, {0: D}))\n"
        f"assert 'shared.joined' in str(made.graph)\ntorch.export.save(made, {path!r})\n"
    )
    read = f"print(torch.export.load({path!r}).module()(torch.arange(4.0), torch.ones(3)).tolist())\n"
    for rest in (write, read):
        run = subprocess.run([sys.executable, "-c", text + rest], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout.strip() == "[0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 1.0]"


# ---- gradients -------------------------------------------------------------------------------------------------------


def differentiable(function: Callable[..., Any], gradient: Callable[..., Any], **options: Any) -> Any:
    compiled = transkern.compile(function)
    compiled.defgrad(gradient, **options)
    return compiled


def draws(*shapes: tuple[int, ...]) -> list[Any]:
    random = np.random.default_rng(0)
    return [torch.from_numpy(random.normal(size=s)).requires_grad_() for s in shapes]


def test_gradients() -> None:
    (x,) = draws((6,))
    swish = differentiable(f.swish, f.swish_gradient)
    assert torch.autograd.gradcheck(lambda x: swish(x, 1.5), x)
    softmax = differentiable(f.softmax, f.softmax_gradient, with_result=True)
    assert torch.autograd.gradcheck(softmax, draws((3, 4)))
    dense = differentiable(f.dense, f.dense_gradient)
    w, b, x = draws((4, 3), (3,), (4,))
    assert torch.autograd.gradcheck(lambda w, b, x: tuple(dense({"w": w, "b": b}, x).values()), (w, b, x))


def test_a_gradient_of_a_gradient() -> None:
    cube = transkern.compile(f.cube)
    cube.defgrad(f.cube_gradient).defgrad(f.cube_second)
    (x,) = draws((5,))
    assert torch.autograd.gradgradcheck(cube, x)


@pytest.mark.parametrize("dynamic", [False, True])
def test_gradients_in_graphs(dynamic: bool) -> None:
    softmax = differentiable(f.softmax, f.softmax_gradient, with_result=True)
    run = torch.compile(lambda x: (softmax(x * 2) ** 2).sum(), fullgraph=True, backend=BACKEND, dynamic=dynamic)
    for shape in ((3, 4), (5, 2)):
        (x,) = draws(shape)
        run(x).backward()
        y = x.detach().clone().requires_grad_()
        (torch.softmax(y * 2, -1) ** 2).sum().backward()
        torch.testing.assert_close(x.grad, y.grad)


def test_opcheck_of_gradients() -> None:
    operator = operators.register(
        "transkern_tests::swish", differentiable(f.swish, f.swish_gradient), torch.ones(3, dtype=torch.float64), 2.0
    )
    torch.library.opcheck(operator, (draws((4,))[0], 1.5))


def test_a_gradient_that_is_none_of_its_function() -> None:
    (x,) = draws((3,))
    for gradient, told in (
        (lambda g, x, y: (g.sum(), g), r"shape \(\) for an argument of shape \(3,\)"),
        (lambda g, x, y: (g, g, g), "3 gradients for 2 parameters"),
    ):
        with pytest.raises(transkern.CompileError, match=told) as caught:
            differentiable(f.chain, gradient)(x, x).sum().backward()
        assert caught.value.kind.code == "TK2007"
    with pytest.raises(transkern.CompileError, match="writes into its arguments"):
        differentiable(f.raised, lambda g, x, k: (g, None))(x * 1, 2)


def test_a_gradient_that_would_be_lost_is_an_error_in_graphs_too() -> None:
    (x,) = draws((3,))
    with pytest.raises(Exception, match="requires gradients"):
        graph(f.total)(x)
    with pytest.raises(TypeError, match=r"requires gradients(.|\n)*defgrad"):
        torch.compile(transkern.compile(f.total), backend=BACKEND)(x)
    with torch.no_grad():
        assert graph(f.total)(x) == x.sum()


def test_batches_of_torch_func() -> None:
    swish = differentiable(f.swish, f.swish_gradient)
    x = draws((3, 4))[0].detach()
    found = torch.func.vmap(lambda x: swish(x, 1.5), in_dims=1)(x)
    torch.testing.assert_close(found, torch.nn.functional.silu(x.T * 1.5) / 1.5)
    several = transkern.compile(f.both_positive)
    with pytest.raises(Exception, match=r"equal|size|stack"):
        torch.func.vmap(several)(torch.tensor([[1.0, -1], [1, 1]]), torch.ones(2, 2))


# ---- what no graph holds ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "args", "told"),
    [
        (f.listed, (torch.ones(3),), "a list whose length only the run knows"),
        (f.number_or_array, (torch.ones(3),), "in one place"),
        (f.prints, (torch.ones(3),), "prints"),
        (f.draws, (torch.ones(3),), "generator"),
        (f.appends, (torch.ones(3), [1.0, 2.0]), "`found` is changed"),
        (f.raised, (np.ones(3), torch.tensor(2)), "TK"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_refusals(function: Callable[..., Any], args: tuple[Any, ...], told: str) -> None:
    compiled, fake = transkern.compile(function), torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True)
    with fake, pytest.raises(transkern.CompileError, match=told):
        compiled(*args)


def test_errors_of_sizes_come_while_a_graph_is_made() -> None:
    with pytest.raises(Exception, match=r"operands could not be broadcast together with shapes \(3,\) \(4,\)"):
        graph(f.chain)(torch.ones(3), torch.ones(4))


def test_errors_of_values_are_the_functions_own() -> None:
    with pytest.raises(IndexError, match="out of bounds"):
        graph(f.looked_up)(torch.arange(3.0), torch.tensor([5]))
