"""Names that are None at first, or on some paths: flags beside values."""

# ruff: noqa: E501, SIM108, E711
from __future__ import annotations

import numpy as np

from tests.language.registry import case

rng = np.random.default_rng(5)
X, M = rng.standard_normal(9), rng.standard_normal((9, 4))


@case(M)
def moving_average(x):
    ew = None
    for v in x:
        ew = v if ew is None else 0.9 * ew + 0.1 * v
    return ew


@case(M)
@case(M[:0])
def differences(x):
    prev, out = None, []
    for v in x:
        if prev is None:
            prev = v * 2
            continue
        out.append(prev[0] * v[1])
        out.append(abs(v - prev).max())
        prev = v * 2
    return out, prev


@case(X, 0.5)
@case(X, 100.0)
def first_above(x, level):
    at = None
    for i in range(len(x)):
        if x[i] > level:
            at = i
            break
    if at is None:
        return None
    return x[at:]


@case(X, 100.0)
@case(X, 0.0)
def best_pair(x, level):
    best = None
    for i in range(len(x)):
        if x[i] > level and (best is None or x[i] > best[1]):
            best = (i, x[i])
    return best


@case(X, 100.0)
@case(X, 0.0)
def none_has_no_sum(x, level):
    found = None
    for v in x:
        if v > level:
            found = v
    return found + 1


@case(X, 100.0)
@case(X, 0.0)
def none_has_no_order(x, level):
    found = None
    for v in x:
        if v > level:
            found = v
    return found > 2.0


@case(M, 100.0)
@case(M, 0.0)
def none_has_no_items(x, level):
    found = None
    for v in x:
        if v[0] > level:
            found = v
    return found[1], found.shape


@case(X, 100.0)
@case(X, 0.0)
def what_a_helper_finds(x, level):
    def find(v):
        for i in range(len(v)):
            if v[i] > level:
                return i

    k = find(x)
    return k, x[0] if k is None else x[k], k == None, k != 3, k == 0, not k, x.max()


@case(M, -1)
@case(M, 2)
def best_model(x, least):
    best_count, best = least, None
    for v in x:
        count = np.sum(np.abs(x - v * 2) < 1)
        if count > best_count:
            best_count, best = count, v * 2
    return best, best_count


@case(M, 0)
@case(M, 2)
@case(M, 9)
def momentum(x, start):
    velocity = None
    for i in range(start, len(x)):
        g = 0.1 * x[i]
        if velocity is None:
            velocity = np.zeros_like(g)
        velocity = 0.9 * velocity - g
        x[i] += velocity
    return x, velocity


@case(X)
def extremes(x):
    low = high = None
    for v in x:
        low = v if low is None or v < low else low
        high = v if high is None else max(high, v)
    return {"low": low, "high": high}


@case(X, None)
@case(X, 2.0)
def none_again(x, weight):
    total, current = 0.0, weight
    for v in x:
        if current is None:
            current = 1.0
        total += v * current
        if v < 0:
            current = None
    return total, current


@case(X)
def none_in_a_dict(x):
    state = {"previous": None, "count": 0}
    for v in x:
        if state["previous"] is None:
            state["previous"] = v
        else:
            state["previous"] = 0.5 * (state["previous"] + v)
        state["count"] += 1
    return state


@case(X, 3)
@case(X, 30)
def chosen_by_a_number(x, k):
    y = x * 2 if k < len(x) else None
    z = None if y is None else y + 1
    if y is not None and y[k] > 0:
        y[k] = 0
    return y, z


@case(X)
def longest_list(x):
    best = None
    for v in x:
        found = [w for w in x if w > v]
        if best is None or len(found) > len(best):
            best = found
    return best


@case(X, 0.0)
@case(X, 9.0)
def list_in_a_tuple(x, least):
    best = None
    for i in range(len(x)):
        for j in range(i):
            found = [w for w in x[j:i] if w > least]
            if found and (best is None or len(found) > len(best[1])):
                best = (i, j), found
    return best


@case(X, 0.0)
def list_of_known_length(x, least):
    best = last = None
    for i, v in enumerate(x):
        now = [i, v]
        if v > least and (best is None or v > best[1]):
            best = now
        last = {"at": i, "pair": now}
    return best, last


@case(np.abs(X[:6].reshape(2, 3)))
def list_before(a):
    before, total = None, 0.0
    for row in a:
        now = [v for v in row if v > 0]
        if before is not None:
            total += sum(p * q for p, q in zip(before, now))
        before = now
    return total, before
