"""Dicts and sets whose keys are known at run time, in lists:

    keys[k], alive[k], codes[k]   the k-th key that was put in, whether it is still in, and its hash
    table                         for each place the number of the key that stands there, or -1
    info                          how many keys are in, how many places are taken, where `pop` of a set goes on

The table is that of CPython's sets, place by place: they are looped over in its order. A search has one loop (that of
CPython another one in it, over neighbours), and computes in int64, which needs no checks for 64 bits: this text stands
where a dict is used, each time. All numbers and places in it are ones that the lists have: nobody asks (`TRUSTED`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

_PRIME = (1 << 61) - 1
_POSITIVE = (1 << 59) - 1


def code_of_number(key: Any) -> Any:
    """``hash`` of an integer."""
    number = int(key)
    code = number if -_PRIME < number < _PRIME else int(np.fmod(np.int64(number), np.int64(_PRIME)))
    return -2 if code == -1 else code


def code_of_float(key: Any) -> Any:
    """``hash`` of a floating-point number: what it is modulo 2**61 - 1, of which a factor 2**61 changes nothing."""
    number = float(key)
    if np.isnan(number):
        raise RuntimeError("NaN as a key: whether it is the same object is not compiled")
    code = 314159
    if not np.isinf(number):
        code = 0
        rest = abs(number)
        while rest >= 2.0**61:
            rest *= 2.0**-61
        while rest > 0:
            whole = int(rest)
            code = (code + whole) % _PRIME
            rest = (rest - whole) * 2.0**61
    if number < 0:
        code = -code
    return -2 if code == -1 else code


def code_of_tuple(codes: Any) -> Any:
    """``hash`` of a tuple whose items have these."""
    total = np.uint64(2870177450012600261)
    for code in codes:
        total = total + np.int64(code).astype(np.uint64) * np.uint64(14029467366897019727)
        total = (total << np.uint64(31)) | (total >> np.uint64(33))
        total = total * np.uint64(11400714785074694791)
    total = total + np.uint64(len(codes) ^ (2870177450012600261 ^ 3527539))
    made = int(total.astype(np.int64))
    return 1546275796 if made == -1 else made


def start(table: Any, info: Any) -> None:
    for _ in range(8):
        table.append(-1)
    for _ in range(3):
        info.append(0)


def find(keys: Any, alive: Any, codes: Any, table: Any, key: Any, code: Any) -> Any:
    """The number of a key; where it is not in, -1 less the place where it belongs: the last one on the way of a key
    that has been removed, or else the first that is free."""
    mask = np.int64(len(table) - 1)
    perturb = np.int64(code)
    first = perturb & mask
    place = first
    left = np.int64(9 if first + 9 <= mask else 0)
    free = np.int64(-1)
    number = table[place]
    while number >= 0 and (alive[number] == 0 or codes[number] != code or keys[number] != key):
        if alive[number] == 0:
            free = place
        if left > 0:
            left -= 1
            place += 1
        else:
            perturb = (perturb >> 5) & _POSITIVE
            first = (first * 5 + 1 + perturb) & mask
            place = first
            left = np.int64(9 if first + 9 <= mask else 0)
        number = table[place]
    return number if number >= 0 else int(-1 - (place if free < 0 else free))


def _rebuild(alive: Any, codes: Any, table: Any, info: Any, spare: Any, least: Any) -> None:
    """A table of more than `least` places, the keys in the order of the old one."""
    size = np.int64(8)
    while size <= least:
        size *= 2
    spare.clear()
    for place in range(len(table)):
        number = table[place]
        if number >= 0 and alive[number] == 1:
            spare.append(number)
    table.clear()
    for _ in range(size):
        table.append(-1)
    mask = size - 1
    for at in range(len(spare)):
        number = spare[at]
        perturb = np.int64(codes[number])
        first = perturb & mask
        beside = np.int64(0)
        while table[first + beside] >= 0:
            if beside < 9 and first + 9 <= mask:
                beside += 1
            else:
                perturb = (perturb >> 5) & _POSITIVE
                first = (first * 5 + 1 + perturb) & mask
                beside = np.int64(0)
        table[first + beside] = number
    info[1] = info[0]


def add(keys: Any, alive: Any, codes: Any, table: Any, info: Any, spare: Any, key: Any, code: Any) -> Any:
    """The number of a key, which is in from now on."""
    found = find(keys, alive, codes, table, key, code)
    if found < 0:
        place = -1 - found
        found = len(codes)
        keys.append(key)
        alive.append(1)
        codes.append(code)
        was_free = table[place] < 0
        table[place] = found
        info[0] += 1
        if was_free:
            info[1] += 1
            if info[1] * 5 >= (len(table) - 1) * 3:
                used = info[0]
                _rebuild(alive, codes, table, info, spare, used * 2 if used > 50000 else used * 4)
    return found


def remove(alive: Any, info: Any, number: Any) -> None:
    alive[number] = 0
    info[0] -= 1


def put(values: Any, number: Any, value: Any) -> None:
    """The value of a key that has just been added."""
    if number == len(values):
        values.append(value)
    else:
        values[number] = value


def last_alive(alive: Any) -> Any:
    """The number of the key that ``dict.popitem`` takes."""
    number = len(alive) - 1
    while alive[number] == 0:
        number -= 1
    return number


def first_alive(alive: Any, info: Any) -> Any:
    """The number of the first key of a dict; the next time the search goes on there."""
    number = info[2]
    while alive[number] == 0:
        number += 1
    info[2] = number
    return number


def clear(keys: Any, alive: Any, codes: Any, table: Any, info: Any) -> None:
    keys.clear()
    alive.clear()
    codes.clear()
    table.clear()
    info.clear()
    start(table, info)


def forget(values: Any) -> None:
    values.clear()


def numbers_as_put(alive: Any) -> Any:
    """The numbers of the keys of a dict, in order."""
    return np.flatnonzero(alive == 1)


def numbers_in_table(alive: Any, table: Any) -> Any:
    """The numbers of the keys of a set, in order."""
    numbers = table[table >= 0]
    return numbers[alive[numbers] == 1]


def next_in_table(alive: Any, table: Any, info: Any) -> Any:
    """The number of the key that ``set.pop`` takes."""
    mask = len(table) - 1
    place = info[2] & mask
    while table[place] < 0 or alive[table[place]] == 0:
        place = (place + 1) & mask
    info[2] = place + 1
    return table[place]


def put_new(values: Any, number: Any, value: Any) -> None:
    """The value of a key, if it has none."""
    if number == len(values):
        values.append(value)


def get(values: Any, number: Any, default: Any) -> Any:
    return values[number] if number >= 0 else default


def discard(alive: Any, info: Any, number: Any) -> None:
    if number >= 0:
        alive[number] = 0
        info[0] -= 1


def merge(
    keys: Any, alive: Any, codes: Any, table: Any, info: Any, spare: Any,
    its_keys: Any, its_alive: Any, its_codes: Any, its_table: Any, its_info: Any,
) -> None:  # fmt: skip
    """The keys of another set, too."""
    if its_info[0] > 0:
        if (info[1] + its_info[0]) * 5 >= (len(table) - 1) * 3:
            _rebuild(alive, codes, table, info, spare, (info[0] + its_info[0]) * 2)
        as_it_stands = info[1] == 0 and len(table) == len(its_table) and its_info[1] == its_info[0]
        for place in range(len(its_table)):
            number = its_table[place]
            if number >= 0 and its_alive[number] == 1:
                if as_it_stands:
                    table[place] = len(codes)
                    keys.append(its_keys[number])
                    alive.append(1)
                    codes.append(its_codes[number])
                    info[0] += 1
                    info[1] += 1
                else:
                    add(keys, alive, codes, table, info, spare, its_keys[number], its_codes[number])


def take(
    keys: Any, alive: Any, codes: Any, table: Any, info: Any,
    its_keys: Any, its_alive: Any, its_codes: Any, its_table: Any, its_info: Any,
) -> None:  # fmt: skip
    """The keys of another set, and as they stand there, instead of its own."""
    keys.clear()
    alive.clear()
    codes.clear()
    table.clear()
    for k in range(len(its_codes)):
        keys.append(its_keys[k])
        alive.append(its_alive[k])
        codes.append(its_codes[k])
    for k in range(len(its_table)):
        table.append(its_table[k])
    for k in range(3):
        info[k] = its_info[k]


def forget_removed(alive: Any, codes: Any, table: Any, info: Any, spare: Any) -> None:
    """A table without the keys that have been removed, if these take more than a quarter of it."""
    if info[1] - info[0] > (len(table) - 1) // 4:
        used = info[0]
        _rebuild(alive, codes, table, info, spare, used * 2 if used > 50000 else used * 4)


def remove_all(owner: Any, others: Any) -> None:
    for key in others:
        owner.discard(key)


def exchange(owner: Any, others: Any) -> None:
    """Those of `others` that are in go, and the others come in."""
    for key in others:
        if key in owner:
            owner.discard(key)
        else:
            owner.add(key)


def common(made: Any, one: Any, others: Any) -> None:
    for key in others:
        if key in one:
            made.add(key)


def update_set(owner: Any, others: Any) -> None:
    for key in others:
        owner.add(key)


def update_from_dict(
    alive: Any, codes: Any, table: Any, info: Any, spare: Any, owner: Any, others: Any
) -> None:  # fmt: skip
    """The keys of a dict, for which a set makes room at once."""
    if (info[1] + len(others)) * 5 >= (len(table) - 1) * 3:
        _rebuild(alive, codes, table, info, spare, (info[0] + len(others)) * 2)
    for key in others:
        owner.add(key)


def update_dict(owner: Any, pairs: Any) -> None:
    for key, value in pairs:
        owner[key] = value


def union(made: Any, one: Any, two: Any) -> None:
    made.update(one)
    made.update(two)


def intersection(made: Any, one: Any, two: Any) -> None:
    if len(two) > len(one):
        for key in one:
            if key in two:
                made.add(key)
    else:
        for key in two:
            if key in one:
                made.add(key)


def difference(made: Any, one: Any, two: Any) -> None:
    if len(one) >> 2 > len(two):
        made.update(one)
        for key in two:
            made.discard(key)
    else:
        for key in one:
            if key not in two:
                made.add(key)


def all_in(one: Any, two: Any) -> Any:
    result = True
    for key in one:
        if key not in two:
            result = False
            break
    return result


def none_in(one: Any, two: Any) -> Any:
    result = True
    for key in one:
        if key in two:
            result = False
            break
    return result


def count(owner: Any, others: Any) -> None:
    """``Counter.update`` with things to count."""
    for key in others:
        owner[key] += 1


def count_down(owner: Any, others: Any) -> None:
    for key in others:
        owner[key] -= 1


def add_counts(owner: Any, pairs: Any) -> None:
    for key, number in pairs:
        owner[key] = number + owner[key]


def subtract_counts(owner: Any, pairs: Any) -> None:
    for key, number in pairs:
        owner[key] -= number


def sum_of_counts(made: Any, one: Any, two: Any) -> None:
    for key, number in one.items():
        total = number + two[key]
        if total > 0:
            made[key] = total
    _others(made, one, two)


def _others(made: Any, one: Any, two: Any) -> None:
    """The counts above 0 of what is in the second alone."""
    for key, number in two.items():
        if key not in one and number > 0:
            made[key] = number


def difference_of_counts(made: Any, one: Any, two: Any) -> None:
    for key, number in one.items():
        rest = number - two[key]
        if rest > 0:
            made[key] = rest
    for key, number in two.items():
        if key not in one and number < 0:
            made[key] = 0 - number


def union_of_counts(made: Any, one: Any, two: Any) -> None:
    for key, number in one.items():
        other = two[key]
        larger = other if number < other else number
        if larger > 0:
            made[key] = larger
    _others(made, one, two)


def intersection_of_counts(made: Any, one: Any, two: Any) -> None:
    for key, number in one.items():
        other = two[key]
        smaller = number if number < other else other
        if smaller > 0:
            made[key] = smaller


def first_of(ordered: Any, number: Any) -> Any:
    return ordered[: max(number, 0)]


def total(values: Any) -> Any:
    return sum(values)


def repeated(keys: Any, values: Any) -> Any:
    """``Counter.elements``."""
    made = []
    for at in range(len(keys)):
        for _ in range(values[at]):
            made.append(keys[at])
    return made


def same_items(one: Any, two: Any) -> Any:
    """Whether two dicts are equal."""
    result = len(one) == len(two)
    if result:
        for key, value in one.items():
            if key not in two:
                result = False
                break
            other = two[key]
            if other != value:
                if other != other and value != value:
                    raise RuntimeError("NaN among what is compared: whether it is the same object is not compiled")
                result = False
                break
    return result


def same_counts(one: Any, two: Any) -> Any:
    """Whether two Counters are equal: what is not in has been counted 0 times."""
    result = True
    for key, number in one.items():
        if two[key] != number:
            result = False
            break
    for key, number in two.items():
        if one[key] != number:
            result = False
            break
    return result
