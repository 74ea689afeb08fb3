"""Compile a function's text for Pallas and hold it against NumPy."""

import copy
import functools

import numpy as np

from transkern.pipeline import passes_for, program_of
from transkern.targets.pallas.module.load import load, printed

SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 1e-30, 1e30)


@functools.cache
def compiled(source, types, narrow=False):
    name = types.partition("(")[0]
    return load(printed(program_of("import numpy as np\n" + source, name, types, passes_for("pallas")), narrow))


@functools.cache
def plain(source, name):
    space = {"np": np}
    exec(source, space)
    return space[name]


def check(source, types, *args, exact=True, rtol=2e-6, atol=1e-7, text=()):
    """The compiled function does to `args` what NumPy does: results, dtypes, errors and changed arguments."""
    name = types.partition("(")[0]
    function = compiled(source, types)
    for part in text:
        assert part in function.text, function.text
    first, second = copy.deepcopy(args), copy.deepcopy(args)
    with np.errstate(all="ignore"):
        try:
            expected = plain(source, name)(*first)
        except Exception as error:
            try:
                function(*second)
            except type(error) as raised:
                assert str(raised) == str(error)
                same(second, args, True, 0, 0)
                return
            raise AssertionError(f"no {type(error).__name__}: {error}") from error
    found = function(*second)
    same(found, expected, exact, rtol, atol)
    same(second, first, exact, rtol, atol)


def same(found, expected, exact, rtol, atol):
    if isinstance(expected, (tuple, list)):
        assert type(found) is type(expected) and len(found) == len(expected), (found, expected)
        for f, e in zip(found, expected, strict=True):
            same(f, e, exact, rtol, atol)
        return
    assert type(found) is type(expected), (type(found), type(expected))
    if isinstance(expected, (np.ndarray, np.generic)):
        assert found.dtype == expected.dtype and found.shape == expected.shape, (
            found.dtype,
            found.shape,
            expected.dtype,
            expected.shape,
        )
    if expected is None or isinstance(expected, str):
        assert found == expected
    elif exact:
        np.testing.assert_array_equal(found, expected)
        if np.asarray(expected).dtype.kind == "f":  # -0.0 is not 0.0; the sign of NaN means nothing
            number = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(found) & number, np.signbit(expected) & number)
    else:
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


def random(*shape, dtype=np.float32, seed=0, special=0):
    """Normal numbers, the first few of them special."""
    values = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    flat = values.reshape(-1)
    for k, value in enumerate((SPECIAL * special)[: flat.size] if special else ()):
        flat[(k * 7) % flat.size] = value
    return values
