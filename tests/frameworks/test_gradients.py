"""What `defgrad` gives a function, without any framework."""

from __future__ import annotations

import pickle
from typing import Any

import cloudpickle
import numpy as np
import pytest

import transkern
from tests.frameworks import functions as f
from tests.tools import require

require("cc")


@transkern.compile(target="cpu")
def halved(x: Any) -> Any:
    return x / 2


@halved.defgrad
def halved_gradient(g: Any, x: Any) -> Any:
    return g / 2


def test_the_gradient_is_compiled_as_the_function_is() -> None:
    swish = transkern.compile(f.swish, target="cpu", fastmath=True, threads=1)
    gradient = swish.defgrad(f.swish_gradient)
    assert type(gradient) is transkern.Compiled and swish.gradient is gradient
    assert gradient.target == "cpu" and gradient.options == swish.options
    own = transkern.compile(f.swish_gradient, threads=2)
    assert swish.defgrad(own) is own and not swish.gradient_takes_result
    softmax = transkern.compile(f.softmax)
    assert softmax.defgrad(with_result=True)(f.softmax_gradient) is softmax.gradient
    assert softmax.gradient_takes_result


def test_gradients_are_functions() -> None:
    x = np.linspace(-2, 2, 7)
    np.testing.assert_array_equal(halved_gradient(np.ones(7), x), np.full(7, 0.5))
    step = 1e-6
    swish = transkern.compile(f.swish)
    found, none = swish.defgrad(f.swish_gradient)(np.ones(7), x, 1.5)
    wanted = (f.swish(x + step, 1.5) - f.swish(x - step, 1.5)) / (2 * step)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert none is None


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a Python function"):
        transkern.compile(f.swish).defgrad(3)


def test_gradients_go_along() -> None:
    """To other processes, by name and by their text."""
    assert pickle.loads(pickle.dumps(halved)).gradient is halved_gradient
    local = transkern.compile(lambda x: x * 3)
    local.defgrad(lambda g, r, x: g * 3, with_result=True)
    again = cloudpickle.loads(cloudpickle.dumps(local))
    assert again.gradient_takes_result and again(2.0) == 6.0
    assert again.gradient(2.0, 0.0, 1.0) == 6.0
