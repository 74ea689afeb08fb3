"""Calls: specialisations, the caches, arguments that share memory, other libraries' arrays, missing tools."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target


def chain(x: Any, a: Any, b: Any) -> Any:
    return 1 / (1 + np.exp(-x)) * a + b


def shift(p: Any, q: Any) -> None:
    p[1:] = q[:-1]
    q += 1


def half(x: Any, axis: Any = 0, scale: float = 0.5) -> Any:
    return x.sum(axis=axis) * scale


def test_sizes_of_one_type_share_a_specialisation() -> None:
    compiled = transkern.compile(chain, target="cpu")
    for n in (0, 2, 3, 100):
        x = np.ones(n, np.float32)
        np.testing.assert_allclose(compiled(x, x, x), chain(x, x, x), rtol=1e-6)
    assert len(compiled.cache_info().specialisations) == 1
    x = np.ones(1, np.float32)
    assert compiled(x, x, x).shape == (1,)  # broadcasting looks at a size of 1
    assert len(compiled.cache_info().specialisations) == 2


def test_arrays_that_loops_make_longer_have_one_specialisation() -> None:
    """A loop is not written out for each number of its iterations where the array can have room to grow."""

    def path(x: Any, steps: int) -> Any:
        out = np.zeros((0, len(x)))
        for k in range(steps):
            x = x * 0.5 + k
            out = np.vstack([out, x])
        return out

    compiled = transkern.compile(path, target="cpu")
    for size, steps in ((3, 2), (4, 30), (2, 0)):
        assert np.array_equal(compiled(np.ones(size), steps), path(np.ones(size), steps))
    assert len(compiled.cache_info().specialisations) == 1


def test_dtypes_follow_numpy() -> None:
    compiled = transkern.compile(chain, target="cpu")
    for dtype in (np.float32, np.float64, np.int32, np.bool_, np.uint8):
        x = np.ones(5, dtype)
        if dtype is np.bool_:
            with pytest.raises(TypeError):
                chain(x, x, x)
            continue
        assert compiled(x, x, x).dtype == chain(x, x, x).dtype


def test_keywords_defaults_and_constants() -> None:
    compiled = transkern.compile(half, target="cpu")
    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(compiled(x), half(x))
    np.testing.assert_array_equal(compiled(x, axis=1), half(x, axis=1))
    np.testing.assert_array_equal(compiled(x, 0, scale=2.0), half(x, 0, scale=2.0))
    with pytest.raises(TypeError, match="missing"):
        compiled()


@pytest.mark.parametrize("offset", [-2, -1, 0, 1, 2])
def test_arguments_that_overlap(offset: int) -> None:
    wanted, got = np.arange(12.0), np.arange(12.0)
    shift(wanted[2:10], wanted[2 + offset : 10 + offset])
    transkern.compile(shift, target="cpu")(got[2:10], got[2 + offset : 10 + offset])
    np.testing.assert_array_equal(got, wanted)


def test_read_only_and_strided_arguments() -> None:
    compiled = transkern.compile(shift, target="cpu")
    frozen = np.arange(4.0)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        compiled(frozen, np.arange(4.0))
    wanted, got = np.arange(12.0), np.arange(12.0)
    shift(wanted[::-3], wanted[:4])
    compiled(got[::-3], got[:4])
    np.testing.assert_array_equal(got, wanted)


def test_a_wrong_call_leaves_the_arguments_alone() -> None:
    def update(x: Any, y: Any) -> None:
        x += 1
        x += y

    compiled = transkern.compile(update, target="cpu")
    x = np.zeros(4)
    with pytest.raises(ValueError, match=r"operands could not be broadcast together with shapes \(4,\) \(3,\)"):
        compiled(x, np.zeros(3))


def test_pickles_as_source_and_options() -> None:
    again = pickle.loads(pickle.dumps(transkern.compile(chain, target="cpu")))
    x = np.ones(3)
    np.testing.assert_allclose(again(x, x, x), chain(x, x, x))


def test_fallback_says_so_once() -> None:
    def refused(x: Any) -> Any:
        return np.linalg.eigvals(x)

    compiled = transkern.compile(refused, target="cpu", fallback="numpy")
    with pytest.warns(UserWarning, match="runs in NumPy"):
        compiled(np.eye(2))
    np.testing.assert_array_equal(compiled(np.eye(2)), refused(np.eye(2)))


def in_new_process(code: str, **environment: str) -> str:
    script = "import numpy as np, transkern\nfrom tests.test_runtime import chain\n" + code
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


CALL = "x = np.ones(9, 'f4')\nf = transkern.compile(chain, target='cpu')\nf(x, x, x)\n"


def test_the_disk_cache_serves_a_new_process(tmp_path: Path) -> None:
    ask = CALL + "print(f.cache_info().compiled, f.cache_info().from_disk)"
    assert in_new_process(ask, TRANSKERN_CACHE_DIR=str(tmp_path)) == "1 0"
    assert in_new_process(ask, TRANSKERN_CACHE_DIR=str(tmp_path)) == "0 1"
    assert (tmp_path.stat().st_mode & 0o777) in (0o700, 0o755)
    for built in tmp_path.rglob("*.so"):  # a damaged entry is made anew
        built.write_bytes(b"not a shared object")
    assert in_new_process(ask, TRANSKERN_CACHE_DIR=str(tmp_path)) == "1 0"


def test_a_cache_may_be_emptied_while_it_is_used(tmp_path: Path) -> None:
    folder = str(tmp_path / "cache")
    code = CALL + f"import shutil; shutil.rmtree({folder!r}); x = np.ones(9); print(f(x, x, x).dtype)"
    assert in_new_process(code, TRANSKERN_CACHE_DIR=folder) == "float64"


def test_a_cache_that_cannot_be_written_is_left_alone(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert in_new_process(CALL + "print('works')", TRANSKERN_CACHE_DIR=str(blocked / "cache")) == "works"


def test_no_compiler_is_a_clear_error(tmp_path: Path) -> None:
    code = (
        "import shutil; shutil.which = lambda name: None\n"
        "try:\n    transkern.compile(chain, target='cpu')(1.0, 2.0, 3.0)\n"
        "except transkern.TargetUnavailable as error:\n    print(error)"
    )
    assert "no C compiler" in in_new_process(code, TRANSKERN_CACHE_DIR=str(tmp_path))


def test_a_failing_compiler_shows_its_log(tmp_path: Path) -> None:
    broken = tmp_path / "cc"
    broken.write_text("#!/bin/sh\necho 'ld: cannot find -lgomp' >&2\nexit 1\n")
    broken.chmod(0o755)
    code = (
        "try:\n    transkern.compile(chain, target='cpu')(1.0, 2.0, 3.0)\n"
        "except transkern.BuildError as error:\n    print(error)"
    )
    out = in_new_process(code, TRANSKERN_CACHE_DIR=str(tmp_path / "cache"), CC=str(broken))
    assert "cannot find -lgomp" in out
    assert "transkern doctor" in out


def test_cuda_without_a_device_names_what_else_there_is() -> None:
    code = (
        "try:\n    transkern.compile(chain, target='cuda')(np.ones(3), np.ones(3), np.ones(3))\n"
        "except transkern.TargetUnavailable as error:\n    print(error)"
    )
    out = in_new_process(code, TRANSKERN_CUDA_SIM="0", CUDA_VISIBLE_DEVICES="")
    assert "TRANSKERN_CUDA_SIM=1" in out
    assert 'target="cpu"' in out


def test_importing_is_light() -> None:
    code = "import sys; print([m for m in ('jax', 'cupy', 'torch', 'islpy', 'rich', 'astor') if m in sys.modules])"
    assert in_new_process(code) == "[]"


def test_jax_arrays_come_back_as_jax_arrays() -> None:
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.ones(5, "float32")
    result = transkern.compile(chain, target="cpu")(x, x, x)
    assert type(result).__module__.startswith("jax")
    np.testing.assert_allclose(
        np.asarray(result), chain(np.ones(5, "f4"), np.ones(5, "f4"), np.ones(5, "f4")), rtol=1e-6
    )


def test_emitted_c_runs_without_transkern(tmp_path: Path) -> None:
    from transkern.frontend.values.types import parse_signature
    from transkern.runtime.caching.building import texts

    files = texts(chain, parse_signature("chain(float32[n], float32[n], float32[n])")[1], "cpu")
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    code = (
        "import sys; sys.modules['transkern'] = None\nimport numpy as np, chain\n"
        "x = np.linspace(-2, 2, 1001).astype('f4')\n"
        "print(np.abs(chain.chain(x, x, x) - (1 / (1 + np.exp(-x)) * x + x)).max() < 1e-6)"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.stdout.strip() == "True", run.stderr


@transkern.compile(target="cpu")
def decorated(x: Any) -> Any:
    return x + 1


def test_a_decorated_function_pickles_by_name() -> None:
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    np.testing.assert_array_equal(decorated(np.arange(3)), np.arange(3) + 1)


FACTOR = 5


def times(x: Any) -> Any:
    return x * FACTOR


def test_a_captured_global_may_change(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = transkern.compile(times, target="cpu")
    x = np.arange(3.0)
    np.testing.assert_array_equal(compiled(x), x * 5)
    monkeypatch.setitem(globals(), "FACTOR", 7)
    np.testing.assert_array_equal(compiled(x), x * 7)


MODULES = {
    "__init__.py": "",
    "main.py": "from . import helpers\nimport pkg.helpers as other\n\n\ndef f(x):\n"
    "    from .helpers import scale as s\n    return helpers.scale(x) + other.RATE + s(x) * other.Settings.gain\n",
    "helpers.py": "import numpy as np\n\nRATE = 2.0\n\n\nclass Settings:\n    gain = 0.5\n\n\ndef inner(x):\n"
    "    return np.sqrt(x)\n\n\ndef scale(x):\n    return inner(x) * RATE\n",
}
USE = (
    "from pkg import main, helpers\nf = transkern.compile(main.f, target='cpu')\nx = np.arange(3.0)\n"
    "for rate in (2.0, 3.0, 2.0):\n    helpers.RATE = rate\n    assert (f(x) == main.f(x)).all()\n"
    "print(f.cache_info().compiled, f.cache_info().from_disk)\n"
)


def test_functions_of_the_users_modules_and_what_they_use(tmp_path: Path) -> None:
    """The cache knows when a module has changed that a function came to through others, and when it is as before. A
    number that varies is an argument, which hides no name of the function's."""
    package = tmp_path / "pkg"
    package.mkdir()
    for name, text in MODULES.items():
        (package / name).write_text(text)
    settings = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(transkern.__file__).parent.parent}"}
    settings["TRANSKERN_CACHE_DIR"] = str(tmp_path / "cache")
    assert in_new_process(USE, **settings) == "2 0"
    assert in_new_process(USE, **settings) == "0 2"
    for before, now in (("sqrt", "negative"), ("gain = 0.5", "gain = 0.25")):
        helpers = package / "helpers.py"
        helpers.write_text(helpers.read_text().replace(before, now) + "\n")
        assert in_new_process(USE, **settings) == "2 0"


def test_only_what_a_translation_looks_at_counts(tmp_path: Path) -> None:
    """A library whose functions know each other (and themselves) is not gone through."""
    names = [f"g{k}" for k in range(60)]
    lines = [f"def {n}(x):\n    return {', '.join(names)}\n" for n in names]
    text = "\n".join([*lines, "def f(x):\n    if x.ndim > 3:\n        return g0(x)\n    return x + 1\n"])
    (tmp_path / "library.py").write_text(text)
    code = "import library\nf = transkern.compile(library.f)\n"
    code += "print(f(np.arange(2)), len(f.known.watched[0].conditions) < 3)"
    settings = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(transkern.__file__).parent.parent}"}
    assert in_new_process(code, TRANSKERN_CACHE_DIR=str(tmp_path / "cache"), **settings) == "[1 2] True"


def test_a_compiled_function_takes_no_modules_place() -> None:
    assert in_new_process(CALL + "import sys; print('chain' in sys.modules)") == "False"


def test_jax_arrays_choose_where_they_are() -> None:
    jnp = pytest.importorskip("jax.numpy")
    compiled = transkern.compile(times)
    result = compiled(jnp.ones(5, "float32"))
    assert compiled.cache_info().specialisations == ["cpu: (float32[x_0])"]
    assert type(result).__module__.startswith("jax")
    np.testing.assert_array_equal(np.asarray(result), np.full(5, 5, np.float32))


def test_constant_arguments_are_compared_at_every_call() -> None:
    compiled = transkern.compile(half, target="cpu")
    x = np.arange(12.0).reshape(3, 4)
    for axis in (0, 1, 0, 1, -1):
        np.testing.assert_array_equal(compiled(x, axis, 0.5), half(x, axis, 0.5))


def chosen_by_number(x, n):
    v = x[0] > 0 if n else 1
    return v, x * n


def test_constants_that_are_equal_and_not_the_same() -> None:
    """0.0 and -0.0, 0 and False: one must not run the other's code; NaN is itself."""
    compiled = transkern.compile(chosen_by_number, target="cpu")
    x = np.array([1.0, 0.0])
    nan = float("nan")
    for n in (0.0, -0.0, 0, False, 1, True, 1.0, np.float32(0), np.float32(-0.0), nan, -0.0, 0.0, True, float("nan")):
        one, other = compiled(x, n), chosen_by_number(x, n)
        assert type(one[0]) is type(other[0]), n
        np.testing.assert_array_equal(one[1], other[1])
        np.testing.assert_array_equal(np.signbit(one[1]), np.signbit(other[1]))
    assert len(compiled.cache_info().specialisations) <= 10


def drawn_anew(n: int) -> Any:
    first = np.random.default_rng().normal(size=n)
    return first, np.random.default_rng().normal(size=n), np.random.RandomState().rand(n)


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_a_generator_without_a_seed_draws_anew(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = transkern.compile(drawn_anew, target=on_target(target, monkeypatch))
    found = [*compiled(4), *compiled(4)]
    assert [(a.shape, a.dtype) for a in found] == [((4,), np.dtype(float))] * 6
    assert len({float(np.asarray(a)[0]) for a in found}) == 6


def careful(x: Any) -> Any:
    import warnings

    if x[0] < 0:
        warnings.warn(f"{x.size} of them", RuntimeWarning, stacklevel=2)
    return np.sqrt(np.abs(x))


def test_warnings_are_the_users(recwarn: pytest.WarningsRecorder) -> None:
    """They come from the line that warns, with its class; a filter makes them exceptions."""
    compiled = transkern.compile(careful, target="cpu")
    np.testing.assert_array_equal(compiled(np.array([4.0, 9.0])), [2, 3])
    assert not recwarn.list
    np.testing.assert_array_equal(compiled(np.array([-4.0, 9.0, 1.0])), [2, 3, 1])
    (told,) = recwarn.list
    assert (str(told.message), told.category, told.filename) == ("3 of them", RuntimeWarning, __file__)
    assert told.lineno == careful.__code__.co_firstlineno + 4
    with warnings.catch_warnings(), pytest.raises(RuntimeWarning, match="1 of them"):
        warnings.simplefilter("error")
        compiled(np.array([-1.0]))


def test_subclasses_of_ndarray(tmp_path: Path) -> None:
    """A memory map is an array like others; a matrix or a masked array has other operations, and is refused."""
    mapped = np.memmap(tmp_path / "numbers", dtype=np.float64, mode="w+", shape=(5,))
    mapped[:] = np.arange(5)

    def doubled(x: Any) -> Any:
        x *= 2
        return x + 1

    compiled = transkern.compile(doubled, target="cpu")
    found = compiled(mapped)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, np.arange(5) * 2 + 1)
    np.testing.assert_array_equal(mapped, np.arange(5) * 2)
    for kind in (np.matrix([[1, 2]]), np.ma.masked_array([1.0, 2.0], [0, 1])):
        with pytest.raises(transkern.CompileError, match=r"argument `x` is a .*: subclasses of ndarray"):
            compiled(kind)
