"""What a function has put into its arguments stays there where an exception follows that it did not raise itself."""

from __future__ import annotations

import numpy as np

from tests.language.registry import case

X = np.arange(6.0)
K = np.array([2, 4, 9, 1])


@case({"t": 1}, X, 2)
@case({"t": 1}, X, 5)
@case({"t": 1}, X, 6)
@case({"t": 1}, X, -9)
def counted_then_read(d, x, k):
    d["t"] += 1
    y = x[k]
    d["last"] = y * 2
    return x[k + 1] + y


@case({"sum": 0.0, "n": 0}, X, K)
@case({"sum": 0.0, "n": 0}, X, K[:2])
@case({"sum": np.float64(0.0), "n": 0}, X, K[:0])
def counted_in_a_loop(d, x, places):
    for k in places:
        d["n"] += 1
        d["sum"] += x[k]
    return d["sum"] / d["n"]


@case([], X, K)
@case([1.0], X, K)
@case([1.0], X, K[:1])
def listed_in_a_loop(found, x, places):
    for k in places:
        found.append(x[k])
    return len(found)


@case({}, X, X[:4])
@case({}, X, X)
@case({"z": 1}, X, X[:4])
def an_array_then_shapes(d, x, y):
    d["z"] = x * 2
    return x + y


@case({"a": 1, "b": 2}, X, 9)
@case({"a": 1, "b": 2}, X, 3)
def taken_out_then_read(d, x, k):
    del d["a"]
    y = x[k]
    del d["b"]
    return y


@case({"n": 1}, X)
@case({"n": 1}, X[2:])
@case({"n": 1}, X[:0])
def raised_and_caught(d, x):
    try:
        d["n"] += 1
        if x[0] > 1:
            raise ValueError("more")
        d["n"] += 10
    except ValueError:
        d["n"] += 100
    return d["n"]


@case([0.0, 0, 0j, False, np.float32(0.5), np.int8(3)], X, 3)
@case([0.0, 0, 0j, False, np.float32(0.5), np.int8(3)], X, 7)
def numbers_of_all_types(held, x, k):
    held[0] = float(k)
    held[1] += k
    held[2] = held[2] + k * 1j
    held[3] = k > 5
    held[4] = held[4] / np.float32(3)
    held[5] = np.int8(k)
    return x[k]


@case({"a": {"b": (1, [2, 3.0])}, "c": None}, X, 3)
@case({"a": {"b": (1, [2, 3.0])}, "c": None}, X, 7)
def containers_in_containers(d, x, k):
    d["c"] = {"k": k, "both": (k, [k, "text", 0.5])}
    d["a"]["b"] = (k, [2, 3.0])
    return x[k]


class Particle:
    def __init__(self, x, v):
        self.x, self.v = x, v


@case(Particle(1.0, 2.0), X, 3)
@case(Particle(1.0, 2.0), X, 8)
def an_object_moves(p, x, steps):
    for k in range(steps):
        p.x += p.v * x[k]
        p.v -= 0.5
    return p.x


def _checked(d, x, k):
    d["checked"] = d["checked"] + 1
    if k >= len(x):
        raise KeyError(k)
    return x[k]


@case({"checked": 0}, X, 2)
@case({"checked": 0}, X, 4)
@case({"checked": 0}, X, 6)
def changed_by_a_helper(d, x, k):
    return _checked(d, x, k) + _checked(d, x, k + 1) + 1 // (k - 2)


@case({"n": 0}, X.astype(int), 0)
@case({"n": 0}, X.astype(int), 2)
def then_divided(d, x, k):
    d["n"] = int(x[3])
    d["n"] += d["n"] // k
    d["m"] = 1.0 / k
    return d["n"]


@case([5, 7], X, 2)
@case([5, 7], X, 1)
def then_unpacked_or_asserted(held, x, k):
    held.append(k)
    assert k != 1, f"k is {k}"
    held[0] = held[1] + 1
    return held[k]


@case([3, 4], X, 5)
@case([3, 4], X, 1)
def swapped_then_read(held, x, k):
    held[0], held[1] = held[1], held[0]
    y = x[k + held[0]]
    held.pop()
    return y


class Marked:
    def __init__(self):
        self.a = self.e = 0.0


@case(Marked(), X, 2)
@case(Marked(), X, 5)
@case(Marked(), X, 7)
def named_as_in_what_is_emitted(marked, x, k):
    marked.a = x[0]
    y = x[k]
    marked.e = y
    return x[k + 1]
