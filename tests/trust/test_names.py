"""What functions and types are called: Python's names and texts, or a refusal where they tell an address."""

from __future__ import annotations

import numpy as np
import pytest

from tests.trust.against_python import difference, refused

NAMES = (
    "type([1]).__name__",
    "f'{type(k).__name__}'",
    "type(k).__name__ == 'int'",
    "{type(x).__name__: 1}",
    "f'{x.dtype.name} {x.dtype} {type(x).__name__}'",
    "type(x).__qualname__ + '!'",
    "f'{type(x).__module__}'",
    "f'{np.add.__name__} {len.__name__} {np.sum.__name__}'",
    "np.add.nin",
    "f'{np.add.identity} {np.maximum.identity}'",
    "'%s' % type(x)",
    "f'{type(x)} {list} {len!r} {np.float64}'",
    "str(list)",
    "math.__name__",
)


@pytest.mark.parametrize("text", NAMES)
def test_names_are_pythons(text: str) -> None:
    found = difference(text, "x, k", [np.zeros(2), 3], stage=0)
    assert not found, found


def test_missing_attributes() -> None:
    for text in ("np.ndarray.nothing", "list.nothing", "np.add.nothing"):
        found = difference(text, "x", [1.0], stage=0)
        assert not found, found


@pytest.mark.parametrize("text", ["f'{np.sum}'", "str(math.fsum) + str(np.mean)"])
def test_addresses_are_refused(text: str) -> None:
    assert refused(text, "x", [1.0])
