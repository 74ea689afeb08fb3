"""Fields of `%` and `format` that were taken for text: stars, and conversions and options that are read seldom."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from tests.fuzz.changes import arguments
from tests.regressions.bodies import both
from tests.regressions.support import alike
from tests.tools import on_target
from tests.trust.against_python import outcome

RIGHT = (
    "print('%6.*f' % (3, x[0]))", "print('%*.*f|' % (8, 3, x[0]))", "print('%*.*f|' % (-8, 3, x[0]))",
    "print('%*d|' % (len(k), k[0]), '%-*d|' % (6, k[0]))", "print('%.*f|' % (-2, x[0]))", "print('%.*f' % (2.0, x[0]))",
    "print('%.f %ld %u' % (x[0], k[0], k[1]))", "print('abc' % f'{k[0]}')", "print('%d %%' % k[0])",
    "print('%d %d' % ('abc', k[0]))", "print('%x' % x[0])", "print('%f' % complex(x[0], 1))",
    "print('{} {0}'.format(x[0]))", "print('{0} {}'.format(x[0]))", "print('{0} {a} {0}'.format(x[0], a=k[0]))",
    "print('{{{}}}'.format(x[0]))", "print('%s %d' % (None, k[0]))", "raise ValueError('%6.*f' % (3, x[0]))",
)  # fmt: skip
REFUSED = (
    "print('%c' % k[0])", "print('%a' % x[0])", "print('%(a)s' % {'a': x[0]})", "print('%5.3d' % k[0])",
    "print('100%' % k[0])", "print('%z %d' % (k[0], k[1]))", "print('{:{}.3f}'.format(x[0], 10))",
    "print('{:{}.3f}'.format(10, x[0]))", "print('{0.real}'.format(x[0]))", "print('{!a}'.format(x[0]))",
    "print('{'.format(x[0]))", "print('%f' % (x[0] * np.complex64(1j)))", "print('%5%' % k[0])",
)
_FLAGS = tuple("".join(flags) for r in range(4) for flags in itertools.combinations("-+ 0#", r))


@pytest.mark.parametrize("body", (*RIGHT, *REFUSED))
def test_fields(body: str) -> None:
    plain, compiled = both(body)
    found, wanted = (outcome(f, *arguments(1)) for f in (compiled, plain))
    assert found == wanted if body in RIGHT else found[0] == "refused"


@pytest.mark.parametrize("kind", "dixXofFeEgG")
def test_options(kind: str) -> None:
    precisions = ("", ".", ".0", ".3") if kind in "fFeEgG" else ("",)
    values = ("x[0]", "-x[1] / 0", "k[0]", "1e20 * x[0]") if kind in "fFeEgG" else ("k[0]", "-k[1]")
    lines = [
        f"print('{'|'.join(f'%{flags}{width}{precision}{kind}' for flags in _FLAGS)}' % (({value},) * {len(_FLAGS)}))"
        for width in ("", "9") for precision in precisions for value in values
    ]
    plain, compiled = both("\n".join(lines))
    found, wanted = (outcome(f, *arguments(1)) for f in (compiled, plain))
    assert found == wanted


def stars(x: Any, n: Any) -> Any:
    if x[0] > 5:
        raise ValueError("%*.*f of %-*d|" % (n, 3, x[0], 4, len(x)))  # noqa: UP031
    return x


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_on_targets(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for first in (1.0, 9.0):
        alike(stars, np.full(3, first), 8, target=on_target(target, monkeypatch))
