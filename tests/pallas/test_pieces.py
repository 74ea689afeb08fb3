"""Arrays put together of others, borders and elements before the first: parts that leave an array where nobody looks are
slices with zeros around, in kernels."""

import numpy as np
import pytest

from tests.pallas.support import check, compiled, random

SOURCE = '''
def differences(x, y):
    return y * np.diff(x, prepend=x[:1])

def borders(x, y):
    p = np.pad(x, 2)
    return (p[:-4] + p[1:-3] + p[2:-2] + p[3:-1] + p[4:]) * y

def both(x, y):
    return np.concatenate((x, y)) * 2.0 + 1.0

def side_by_side(x, y):
    return np.hstack((x, y[:, :2])) * 2.0 + 1.0

def around(x, y):
    p = np.pad(x, 1)
    return (p[1:-1, :-2] + p[1:-1, 2:] + p[:-2, 1:-1] + p[2:, 1:-1]) * y

def inserted(x, y):
    return np.insert(x, 3, 7) * 2

def turned(x, y):
    return np.concatenate((x[3:], x[:3])) - x * y

def backwards(x, y):
    return np.concatenate((y[:1], x[::-1])) * 2

def in_branches(x, y):
    out = np.zeros_like(x)
    for i in range(len(x)):
        if i >= 2:
            out[i] = x[i - 2] * y[i]
        else:
            out[i] = y[i]
    return out

def truths(x, y):
    b = np.concatenate(([True], x > y))
    return np.where(b[1:] & b[:-1], x, y)
'''
TYPES = {
    **dict.fromkeys(("differences", "borders", "turned", "in_branches"), "({t}[n],{t}[n])"), "both": "({t}[n],{t}[m])",
    "side_by_side": "({t}[n,k],{t}[n,m])", "around": "({t}[n,m],{t}[n,m])", "inserted": "({t}[n],{t}[m])",
    "backwards": "({t}[n],{t}[n])", "truths": "({t}[n],{t}[n])",
}  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_in_kernels(name):
    for n in (9, 130):
        shape = (n, n + 3) if name in ("side_by_side", "around") else (n,)
        x, y = random(*shape, special=1), random(*shape, seed=1)
        check(SOURCE, name + TYPES[name].format(t="float32"), x, y)
    text = compiled(SOURCE, name + TYPES[name].format(t="float32")).text
    if name in ("backwards", "in_branches", "truths"):  # XLA's, or nothing leaves an array
        return
    assert "left to XLA" not in text and "_grid(" in text and "_part(" in text


def test_of_few():
    for name in ("differences", "turned", "in_branches", "backwards"):
        for n in (2, 3):
            check(SOURCE, name + TYPES[name].format(t="int32"), *(np.arange(n, dtype=np.int32) + k for k in (1, 5)))
