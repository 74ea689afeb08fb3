"""What lists do with their elements one by one."""

from __future__ import annotations

from typing import Any

import numpy as np


def _first(values: Any, wanted: Any) -> Any:
    at = -1
    for i in range(len(values)):
        if values[i] == wanted:
            at = i
            break
        if values[i] != values[i] and wanted != wanted:
            _refuse_nan()
    return at


def _refuse_nan() -> None:
    """An object is equal to itself where Python's containers compare, NaN too; which object it is, nobody knows."""
    raise RuntimeError("NaN among what a list is compared with: whether it is the same object is not compiled")


def index(values: Any, wanted: Any) -> Any:
    at = _first(values, wanted)
    if at < 0:
        raise ValueError(f"{wanted!r} is not in list")
    return at


def index_of_object(values: Any, wanted: Any) -> Any:
    """The same of objects, whose texts have addresses in them."""
    at = _first(values, wanted)
    if at < 0:
        raise ValueError("the object is not in list")
    return at


def index_in_tuple(values: Any, wanted: Any) -> Any:
    at = _first(values, wanted)
    if at < 0:
        raise ValueError("tuple.index(x): x not in tuple")
    return at


def append_all(queue: Any, values: Any) -> None:
    """``deque(values, maxlen)``, whose first values the others push out."""
    for v in values:
        queue.append(v)


def rows_of(array: Any) -> Any:
    """``array.tolist()`` of several dimensions."""
    return [row.tolist() for row in array]


def in_order(keys: Any, reverse: Any) -> Any:
    """The positions of a list's elements as `sorted` orders them: runs of twice the length are merged from two."""
    n = len(keys)
    order = np.arange(n)
    width = 1
    while width < n:
        merged = np.empty(n, dtype=np.int64)
        for low in range(0, n, 2 * width):
            middle = min(low + width, n)
            high = min(low + 2 * width, n)
            one = low
            two = middle
            for k in range(low, high):
                if one == middle:
                    first = False
                elif two == high:
                    first = True
                elif reverse:
                    first = not keys[order[one]] < keys[order[two]]
                else:
                    first = not keys[order[two]] < keys[order[one]]
                if first:
                    merged[k] = order[one]
                    one += 1
                else:
                    merged[k] = order[two]
                    two += 1
        order = merged
        width *= 2
    return order


def together(one: Any, two: Any) -> Any:
    """``one + two`` of lists of lists: the same lists stand in it."""
    found = []
    put_behind(found, one)
    put_behind(found, two)
    return found


def put_behind(items: Any, more: Any) -> None:
    """``items.extend(more)`` of lists of lists."""
    for item in more:
        items.append(item)


def with_part(values: Any, start: Any, stop: Any, others: Any) -> Any:
    """``values[start:stop] = others``: what is in the list then."""
    n = len(values)
    first = 0 if start is None else min(start, n) if start >= 0 else max(start + n, 0)
    last = n if stop is None else min(stop, n) if stop >= 0 else max(stop + n, 0)
    return values[:first] + others + values[max(first, last) :]


def shorten(values: Any, start: Any) -> None:
    """``del values[start:]``."""
    n = len(values)
    for _ in range(min(n - start, n) if start >= 0 else min(-start, n)):
        values.pop()


def delete_part(values: Any, start: Any, stop: Any) -> None:
    """``del values[start:stop]``."""
    n = len(values)
    first = 0 if start is None else min(start, n) if start >= 0 else max(start + n, 0)
    last = n if stop is None else min(stop, n) if stop >= 0 else max(stop + n, 0)
    gone = max(last - first, 0)
    if gone > 0:
        for k in range(last, n):
            values[k - gone] = values[k]
        for _ in range(gone):
            values.pop()


def _ends(n: Any, start: Any, stop: Any, step: Any) -> Any:
    """``slice(start, stop, step).indices(n)[:2]``."""
    if step == 0:
        raise ValueError("slice step cannot be zero")
    least, most = (0, n) if step > 0 else (-1, n - 1)
    first = (least if step > 0 else most) if start is None else start
    last = (most if step > 0 else least) if stop is None else stop
    if start is not None:
        first = min(max(first + n if first < 0 else first, least), most)
    if stop is not None:
        last = min(max(last + n if last < 0 else last, least), most)
    return first, last


def delete_steps(values: Any, start: Any, stop: Any, step: Any) -> None:
    """``del values[start:stop:step]``."""
    first, last = _ends(len(values), start, stop, step)
    n = len(values)
    gone = len(range(first, last, step))
    if gone > 0:
        lowest = min(first, first + (gone - 1) * step)
        apart = abs(step)
        kept = lowest
        for k in range(lowest, n):
            if (k - lowest) % apart != 0 or (k - lowest) // apart >= gone:
                values[kept] = values[k]
                kept += 1
        for _ in range(gone):
            values.pop()


def store_steps(values: Any, start: Any, stop: Any, step: Any, others: Any) -> None:
    """``values[start:stop:step] = others``, with a step other than 1."""
    first, last = _ends(len(values), start, stop, step)
    count = len(range(first, last, step))
    if len(others) != count:
        raise ValueError(f"attempt to assign sequence of size {len(others)} to extended slice of size {count}")
    for k in range(count):
        values[first + k * step] = others[k]


def count(values: Any, wanted: Any) -> Any:
    found = 0
    for i in range(len(values)):
        if values[i] == wanted:
            found += 1
        elif values[i] != values[i] and wanted != wanted:
            _refuse_nan()
    return found


def remove(values: Any, wanted: Any) -> Any:
    at = _first(values, wanted)
    if at < 0:
        raise ValueError("list.remove(x): x not in list")
    values.pop(at)


def rotate(queue: Any, steps: Any) -> None:
    """``deque.rotate``: from the end that is nearer."""
    count = len(queue)
    if count > 1:
        steps %= count
        if 2 * steps <= count:
            for _ in range(steps):
                queue.appendleft(queue.pop())
        else:
            for _ in range(count - steps):
                queue.append(queue.popleft())


def contains(values: Any, wanted: Any) -> Any:
    return _first(values, wanted) >= 0


def equal(one: Any, two: Any) -> Any:
    """``one == two`` of lists."""
    same = len(one) == len(two)
    if same:
        for i in range(len(one)):
            if one[i] != two[i]:
                if one[i] != one[i] and two[i] != two[i]:
                    _refuse_nan()
                same = False
                break
    return same


def less(one: Any, two: Any) -> Any:
    """``one < two`` of lists: by the first elements that differ."""
    shorter = min(len(one), len(two))
    before = len(one) < len(two)
    for i in range(shorter):
        if one[i] != two[i]:
            if one[i] != one[i] and two[i] != two[i]:
                _refuse_nan()
            before = one[i] < two[i]
            break
    return before


def less_equal(one: Any, two: Any) -> Any:
    shorter = min(len(one), len(two))
    before = len(one) <= len(two)
    for i in range(shorter):
        if one[i] != two[i]:
            if one[i] != one[i] and two[i] != two[i]:
                _refuse_nan()
            before = one[i] <= two[i]
            break
    return before


def concatenated(arrays: Any) -> Any:
    found: list[Any] = []
    for one in arrays:
        found.extend(one)
    if len(arrays) == 0:
        raise ValueError("need at least one array to concatenate")
    return np.array(found)


def stacked(arrays: Any, what: Any, dimension: Any) -> Any:
    """Rows that are arrays whose lengths only the run knows, which must be one: the error says of which `dimension`."""
    if len(arrays) == 0:
        raise ValueError(f"need at least one array to {what}")
    size = len(arrays[0])
    for k in range(len(arrays)):
        if len(arrays[k]) != size:
            if what == "stack":
                raise ValueError("all input arrays must have the same shape")
            text = "all the input array dimensions except for the concatenation axis must match exactly, but along"
            at = f"the array at index 0 has size {size} and the array at index {k} has size {len(arrays[k])}"
            raise ValueError(f"{text} dimension {dimension}, {at}")
    rows = np.empty((len(arrays), size), arrays[0].dtype)
    for k in range(len(arrays)):
        rows[k] = arrays[k]
    return rows


def reduced(function: Any, values: Any, result: Any) -> Any:
    for value in values:
        result = function(result, value)
    return result


def reduced_from_first(function: Any, values: Any) -> Any:
    if len(values) == 0:
        raise TypeError("reduce() of empty iterable with no initial value")
    result = values[0]
    for value in values[1:]:
        result = function(result, value)
    return result


def pairs(items: Any) -> Any:
    """``list(itertools.combinations(items, 2))``."""
    found = []
    for i in range(len(items)):
        for j in range(i + 1, len(items)):
            found.append((items[i], items[j]))
    return found


def pairs_with_themselves(items: Any) -> Any:
    """``list(itertools.combinations_with_replacement(items, 2))``."""
    found = []
    for i in range(len(items)):
        for j in range(i, len(items)):
            found.append((items[i], items[j]))
    return found


def triples_with_themselves(items: Any) -> Any:
    """``list(itertools.combinations_with_replacement(items, 3))``."""
    found = []
    for i in range(len(items)):
        for j in range(i, len(items)):
            for k in range(j, len(items)):
                found.append((items[i], items[j], items[k]))
    return found


def singles(items: Any) -> Any:
    """``list(itertools.combinations(items, 1))``, and of `permutations`."""
    found = []
    for item in items:
        found.append((item,))
    return found


def triples(items: Any) -> Any:
    """``list(itertools.combinations(items, 3))``."""
    found = []
    for i in range(len(items)):
        for j in range(i + 1, len(items)):
            for k in range(j + 1, len(items)):
                found.append((items[i], items[j], items[k]))
    return found


def quadruples(items: Any) -> Any:
    """``list(itertools.combinations(items, 4))``."""
    found = []
    for i in range(len(items)):
        for j in range(i + 1, len(items)):
            for k in range(j + 1, len(items)):
                for m in range(k + 1, len(items)):
                    found.append((items[i], items[j], items[k], items[m]))
    return found


def ordered_pairs(items: Any) -> Any:
    """``list(itertools.permutations(items, 2))``."""
    found = []
    for i in range(len(items)):
        for j in range(len(items)):
            if i != j:
                found.append((items[i], items[j]))
    return found


def ordered_triples(items: Any) -> Any:
    """``list(itertools.permutations(items, 3))``."""
    found = []
    for i in range(len(items)):
        for j in range(len(items)):
            for k in range(len(items)):
                if i != j and i != k and j != k:
                    found.append((items[i], items[j], items[k]))
    return found


def keys_of(items: Any, key: Any) -> Any:
    found = []
    for item in items:
        found.append(key(item))
    return found


def max_by(items: Any, key: Any) -> Any:
    if len(items) == 0:
        max(())  # which raises what this Python says
    best = items[0]
    most = key(best)
    for at in range(1, len(items)):
        item = items[at]
        value = key(item)
        if value > most:
            best = item
            most = value
    return best


def min_by(items: Any, key: Any) -> Any:
    if len(items) == 0:
        min(())
    best = items[0]
    least = key(best)
    for at in range(1, len(items)):
        item = items[at]
        value = key(item)
        if value < least:
            best = item
            least = value
    return best


def listed(items: Any) -> Any:
    found = []
    for item in items:
        found.append(item)
    return found


def from_keys(keys: Any, value: Any) -> Any:
    """``dict.fromkeys(keys, value)``."""
    found = {}
    for key in keys:
        found[key] = value
    return found


def item_of(values: Any, key: Any) -> Any:
    """``values.__getitem__(key)``."""
    return values[key]


def put_empty_sets(owner: Any, count: Any) -> None:
    for _ in range(count):
        owner.append(set())


def repeated(values: Any, times: Any) -> Any:
    """``values * times``: the same values, again and again."""
    return [value for _ in range(times) for value in values]
