"""The emitted module itself: on its own, as a JAX function, its errors and its documentation."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.pallas.support import compiled, random
from transkern.errors import CompileError
from transkern.pipeline import program_of
from transkern.targets.pallas.module.emit import emit

SOFTMAX = """
def f(x):
    m = x.max(axis=1, keepdims=True)
    e = np.exp(x - m)
    return e / e.sum(axis=1, keepdims=True)
"""
FILTER = "def f(x, t): return x[x > t] * 2"
SCALE = "def f(x, a):\n    x *= a"


def test_it_runs_where_transkern_is_not(tmp_path):
    (tmp_path / "emitted.py").write_text(compiled(SOFTMAX, "f(float32[n,m])").text)
    code = (
        "import sys; sys.modules['transkern'] = None\nimport numpy as np, emitted\n"
        "y = emitted.f(np.ones((3, 5), np.float32)); print(float(y[0, 0]))"
    )
    environment = dict(os.environ, PYTHONPATH=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert abs(float(done.stdout) - 0.2) < 1e-6


def test_its_text_does_not_depend_on_the_order_of_sets():
    """What is no type of a TPU kernel was told of whichever array came first."""
    code = (
        "from transkern.pipeline import program_of\nfrom transkern.targets.pallas.module.emit import emit\n"
        "print(emit(program_of('def f(a, b, c, d):\\n    return a + b, c * d, a - d',"
        " 'f', 'f(int8[n], uint16[n], uint64[n], int16[n])')))"
    )
    made = [
        subprocess.run(
            [sys.executable, "-c", code], env=dict(os.environ, PYTHONHASHSEED=seed), capture_output=True, text=True
        ).stdout
        for seed in "123"
    ]
    assert "in a TPU kernel" in made[0] and len(set(made)) == 1


def test_it_is_a_jax_function():
    f = compiled(SOFTMAX, "f(float32[n,m])").jax_function
    x = jnp.asarray(random(20, 30))
    np.testing.assert_allclose(jax.jit(lambda y: f(y * 2))(x), jax.nn.softmax(x * 2, axis=1), rtol=1e-5)
    np.testing.assert_allclose(jax.vmap(f)(jnp.stack([x, x + 1]))[1], jax.nn.softmax(x + 1, axis=1), rtol=1e-5)


def test_while_jax_traces_dynamic_sizes_come_with_their_count():
    f = compiled(FILTER, "f(float32[n],float)").jax_function
    x = random(100)
    padded, count = jax.jit(lambda y: f(y, 0.3))(x)
    assert padded.shape == (100,)
    np.testing.assert_array_equal(padded[: int(count)], x[x > np.float32(0.3)] * 2)


def test_written_arguments_come_back():
    f = compiled(SCALE, "f(float32[n],float)")
    x = jnp.arange(4.0)
    result, (new,) = f.jax_function(x, 2.0)
    assert result is None and isinstance(new, jax.Array)
    np.testing.assert_array_equal(new, [0, 2, 4, 6])
    with pytest.raises(TypeError, match="these cannot change"):
        f(x, 2.0)
    frozen = np.ones(3, np.float32)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        f(frozen, 2.0)


def test_the_users_lines_stand_above_the_code():
    text = compiled(SOFTMAX, "f(float32[n,m])").text
    assert "# return e / e.sum(axis=1, keepdims=True)" in text


def test_wrong_arguments():
    f = compiled(SOFTMAX, "f(float32[n,m])").jax_function
    with pytest.raises(TypeError, match="x: expected a float32 array with 2 dimensions"):
        f(np.ones(3, np.float32))
    with pytest.raises(TypeError, match="float32"):
        f(np.ones((3, 4), np.int32))


def test_64_bits_are_refused_on_a_tpu_and_narrowed_on_request(monkeypatch):
    source, types = "def f(x): return x * 2.5 + 1", "f(float64[n])"
    f = compiled(source, types)
    monkeypatch.setattr(jax, "default_backend", lambda: "tpu")
    with pytest.raises(TypeError, match="allow_float32"):
        f(np.ones(3))
    monkeypatch.undo()
    assert f(np.ones(3)).dtype == np.float64
    text = emit(program_of("import numpy as np\n" + source, "f", types), narrow=True)
    assert "float64" not in text and "enable_x64" not in text
    np.testing.assert_array_equal(compiled(source, types, True)(np.ones(3)), [3.5] * 3)


def test_positions_are_not_64_bit_data():
    assert "enable_x64" not in compiled("def f(x): return np.argsort(x)[::-1] + 1", "f(float32[n])").text


def test_a_refusal_names_the_line():
    source = "import numpy as np\ndef f(x):\n    for i in range(len(x)):\n        if x[i] > 3:\n            return i\n    return -1"
    with pytest.raises(CompileError) as caught:
        emit(program_of(source, "f", "f(float32[n])"))
    assert caught.value.span.line and "cpu" in str(caught.value)
