"""Wrong calls say what Python says; what cannot be compiled says so at once; methods are methods."""

from __future__ import annotations

import functools
import logging
import math
import pickle
import traceback
from array import array
from collections import defaultdict, deque
from typing import Any

import numpy as np
import pytest

import transkern


def divide(a: Any, b: Any) -> Any:
    return a / b


def scaled(x: Any, /, y: Any = 1.0, *, by: Any, plus: Any = 0.0) -> Any:
    return (x + y) * by + plus


CALLS: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (divide, (), {}),
    (divide, (1.0,), {}),
    (divide, (1.0, 2.0, 3.0), {}),
    (divide, (1.0, 2.0), {"c": 3.0}),
    (divide, (1.0, 2.0), {"a": 3.0}),
    (scaled, (1.0,), {}),
    (scaled, (1.0, 2.0, 3.0), {"by": 2.0}),
    (scaled, (1.0, 2.0, 3.0, 4.0), {}),
    (scaled, (), {"x": 1.0, "by": 2.0}),
    (scaled, (1.0,), {"by": 2.0, "y": 3.0, "z": 4.0}),
]


@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize(("function", "args", "keywords"), CALLS)
def test_wrong_calls_say_what_python_says(function: Any, args: Any, keywords: Any, verify: bool) -> None:
    with pytest.raises(TypeError) as wanted:
        function(*args, **keywords)
    with pytest.raises(TypeError) as found:
        transkern.compile(function, target="cpu", verify=verify)(*args, **keywords)
    assert str(found.value) == str(wanted.value)
    assert len(traceback.extract_tb(found.value.__traceback__)) == 2  # who calls, and what is called
    assert found.value.__context__ is None


def test_right_calls_work_in_all_their_ways() -> None:
    compiled = transkern.compile(scaled, target="cpu")
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((1.0,), {"by": 2.0}), ((1.0, 3.0), {"plus": 1.0, "by": 2.0}), ((1.0,), {"y": 2.0, "by": 3.0}),
    ]  # fmt: skip
    for args, keywords in 2 * calls:
        assert compiled(*args, **keywords) == scaled(*args, **keywords)


def test_parameters_by_name_only_fall_back_too() -> None:
    def unknown(x: Any, *, axis: Any) -> Any:
        return np.polynomial.chebyshev.chebfit(np.sum(x, axis=axis), np.sum(x, axis=axis), 0)

    compiled, x = transkern.compile(unknown, target="cpu", fallback="numpy"), np.ones((2, 3))
    with pytest.warns(UserWarning, match="runs in NumPy"):
        assert np.array_equal(compiled(x, axis=1), unknown(x, axis=1))


def test_methods_are_named_as_python_names_them() -> None:
    with pytest.raises(TypeError) as wanted:
        Plain(2.0).scaled()  # type: ignore[call-arg]
    with pytest.raises(TypeError) as found:
        Model(2.0).scaled()
    assert str(found.value) == str(wanted.value).replace("Plain", "Model")


class Plain:
    def __init__(self, k: float) -> None:
        self.k = k

    def scaled(self, x: Any) -> Any:
        return x * self.k


class Model:
    def __init__(self, k: float) -> None:
        self.k = k

    @transkern.compile(target="cpu")
    def scaled(self, x: Any) -> Any:
        return x * self.k

    @transkern.compile(target="cpu")
    def called(self, x: Any) -> Any:
        return self.scaled(x) + self.twice(x) + self.of_class(x)

    @transkern.compile(target="cpu")
    @staticmethod
    def twice(x: Any) -> Any:
        return 2 * x

    @staticmethod
    @transkern.compile(target="cpu")
    def thrice(x: Any) -> Any:
        return 3 * x

    @transkern.compile(target="cpu")
    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x + 1

    @classmethod
    @transkern.compile(target="cpu")
    def of_class_too(cls, x: Any) -> Any:
        return x + 2

    @property
    @transkern.compile(target="cpu")
    def doubled(self) -> Any:
        return self.k * 2


MODEL = Model(2.0)


@transkern.compile(target="cpu")
def outer(x: Any) -> Any:
    return MODEL.scaled(x) + 1


def test_methods_that_are_compiled() -> None:
    x, model = np.arange(3.0), Model(2.0)
    assert np.array_equal(model.scaled(x), x * 2)
    assert np.array_equal(model.called(x), x * 2 + 2 * x + x + 1)  # compiled methods that it calls
    assert np.array_equal(outer(x), x * 2 + 1)
    for owner in (model, Model):
        assert np.array_equal(owner.twice(x), 2 * x)
        assert np.array_equal(owner.thrice(x), 3 * x)
        assert np.array_equal(owner.of_class(x), x + 1)
        assert np.array_equal(owner.of_class_too(x), x + 2)
    assert model.doubled == 4.0
    assert isinstance(Model.scaled, transkern.Compiled)


def test_a_compiled_method_can_be_asked() -> None:
    model = Model(2.0)
    model.scaled(np.arange(3.0))
    assert "kernel" in model.scaled.explain()
    assert "call_scaled" in model.scaled.emit()
    assert model.scaled.kernels == 1
    assert model.scaled.__self__ is model and model.scaled == model.scaled
    assert pickle.loads(pickle.dumps(model)).scaled(2.0) == 4.0
    bound = transkern.compile(Plain(3.0).scaled, target="cpu")
    assert bound(2.0) == 6.0 and "call_scaled" in bound.emit()


async def waits(x: Any) -> Any:
    return x


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (3, "not 3"),
        ("x + 1", "not 'x + 1'"),
        (Plain, "the class `Plain`: compile its methods"),
        (Plain(1.0), "not <"),
        (np.sum, "NumPy's `sum`"),
        (np.add, "NumPy's `add`"),
        (np.linalg.inv, "NumPy's `inv`"),
        (np.vectorize(divide), "an np.vectorize"),
        (math.sqrt, "the built-in `sqrt`"),
        (functools.partial(divide, 1.0), "functools.partial(transkern.compile(f), ...)"),
        (property(divide), "write @property above @transkern.compile"),
        (waits, "`waits` is asynchronous"),
    ],
    ids=lambda given: given if isinstance(given, str) else type(given).__name__,
)
def test_what_is_no_function_is_refused_at_once(given: Any, told: str) -> None:
    for compiling in (transkern.compile, transkern.compile(target="cpu", fallback="numpy")):
        with pytest.raises(TypeError, match="takes") as caught:
            compiling(given)
        assert told in str(caught.value)


def test_an_option_that_there_is_not_is_told_where_it_is_given() -> None:
    for given in ((divide,), ()):
        with pytest.raises(TypeError, match=r"^compile\(\) got an unexpected keyword argument 'traget'$"):
            transkern.compile(*given, traget="cpu")  # type: ignore[call-overload]


def test_what_is_compiled_already_is_compiled_with_the_new_options() -> None:
    once = transkern.compile(divide, target="cuda")
    twice = transkern.compile(once, target="cpu", fastmath=True)
    assert twice.target == "cpu" and twice.options.fastmath and twice.function is divide


LOG = logging.getLogger(__name__)


def logs(x: Any) -> Any:
    LOG.info("first %s", x[0])
    return x


def looks(x: Any) -> Any:
    try:
        return x[7]
    except IndexError as error:
        return error.args


def defines(x: Any) -> Any:
    class Inner:
        pass

    return x


def again(x: Any) -> Any:
    try:
        return x[7]
    except IndexError:
        x[0] = 1.0
        raise


def cleans(x: Any) -> Any:
    try:
        return x[7]
    finally:
        x[0] = 1.0


@pytest.mark.parametrize(
    ("function", "line", "told"),
    [
        (logs, 'LOG.info("first %s", x[0])', "cannot compile a call of `logging.Logger.info`"),
        (looks, "return error.args", "`error.args`: of a caught exception"),
        (defines, "class Inner:", "`class` statements are not compiled"),
        (again, "raise", "`raise` without an exception, beside other statements"),
        (cleans, "try:", "`finally` with effects that others see"),
    ],
)
def test_refusals_name_what_is_meant(function: Any, line: str, told: str) -> None:
    with pytest.raises(transkern.CompileError) as caught:
        transkern.compile(function, target="cpu")(np.zeros(3))
    place, source, *_ = str(caught.value).splitlines()
    assert place.startswith(f"{__file__}:") and told in place
    assert source.partition("| ")[2].strip() == line


def test_what_cannot_be_a_constant_is_refused_where_another_was_one() -> None:
    """A size is a constant after the first call; an argument of a class that has no hash then comes to it."""

    @transkern.compile(target="cpu")
    def tail(x: Any, k: Any) -> Any:
        total = 0.0
        for i in range(k):
            total += x[i]
        return x[k:], [None] * k, total

    x = np.arange(4.0)
    assert tail(x, 3)[1] == [None] * 3
    record = np.zeros((), "i4,f8")[()]
    for other in (deque([1]), defaultdict(int), array("d", [1.0]), memoryview(b"12"), record, [1], {}):
        with pytest.raises((transkern.CompileError, TypeError)) as caught:
            tail(x, other)
        assert "hash" not in str(caught.value)
    with pytest.raises(transkern.CompileError):
        tail(x, Number(2))


class Number(int):
    pass
