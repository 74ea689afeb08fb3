"""Texts, types of arguments and results, the module around, and memory that has several names."""

# ruff: noqa: F401, F524, UP031, UP032

import numpy as np

try:
    import numba

    HAVE_NUMBA = True
except ImportError:
    HAVE_NUMBA = False

SAMPLES = np.loadtxt("samples.txt")
COUNTS = np.zeros(8)
CALLS = 0
STEPS = 10


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y


def scaled(x, steps=STEPS):
    return x * steps


STEPS = 20


# --- the module around


def uses_a_class(x, y):
    """uses_a_class(float, float)"""
    v = Vector(x, y)
    return v.x + v.y


def bound_in_a_try(x):
    """bound_in_a_try(float64[n])"""
    return x * 2 if HAVE_NUMBA else x


def default_bound_twice(x):
    """default_bound_twice(float64[n])"""
    return scaled(x)


def default_bound_twice_instead(x):
    """default_bound_twice_instead(float64[n])"""
    return scaled(x, 20)


def file_read_by_the_module(x):
    """file_read_by_the_module(float64[n])"""
    return x + SAMPLES[0]


def file_read_by_the_module_instead(x, samples):
    """file_read_by_the_module_instead(float64[n], float64[m])"""
    return x + samples[0]


def array_of_the_module(k):
    """array_of_the_module(int)"""
    COUNTS[k] += 1
    return COUNTS.sum()


def array_of_the_module_instead(k, counts):
    """array_of_the_module_instead(int, float64[8])"""
    counts[k] += 1
    return counts.sum()


def global_count(x):
    """global_count(float64[n])"""
    global CALLS
    CALLS += 1
    return x * 2


def outer_name(x):
    """outer_name(float64[n])"""
    total = 0.0

    def add(v):
        nonlocal total
        total += v

    adds = [add]
    for v in x:
        adds[0](v)
    return total


def outer_name_instead(x):
    """outer_name_instead(float64[n])"""

    def add(total, v):
        return total + v

    total = 0.0
    for v in x:
        total = add(total, v)
    return total


def too_few_types(x, y):
    """too_few_types(float64[n])"""
    return x + y


# --- statements


def class_within(x):
    """class_within(float64[n])"""

    class Pair:
        first = 1

    return x * Pair.first


def pattern(x):
    """pattern(float64[3])"""
    match (x[0], x[1]):
        case (0.0, a) | (a, 0.0):
            return a
    return 0.0


def pattern_instead(x):
    """pattern_instead(float64[3])"""
    if x[0] == 0.0:
        return x[1]
    if x[1] == 0.0:
        return x[0]
    return 0.0


def bare_raise(x):
    """bare_raise(float64[n])"""
    if x[0] < 0:
        raise
    return x


def bare_raise_instead(x):
    """bare_raise_instead(float64[n])"""
    if x[0] < 0:
        raise ValueError("x is negative")
    return x


def arguments_of_an_error(x):
    """arguments_of_an_error(int)"""
    try:
        return 1 // x, ""
    except ZeroDivisionError as e:
        return 0, e.args[0]


def arguments_of_an_error_instead(x):
    """arguments_of_an_error_instead(int)"""
    try:
        return 1 // x, ""
    except ZeroDivisionError as e:
        return 0, str(e)


def cleans_up(x, k):
    """cleans_up(float64[n], int)"""
    try:
        y = int(x[0]) // k
    finally:
        x[0] = 0
    return y


def cleans_up_instead(x, k):
    """cleans_up_instead(float64[n], int)"""
    y, failed = 0, False
    try:
        y = int(x[0]) // k
    except ZeroDivisionError:
        failed = True
    x[0] = 0
    if failed:
        raise ZeroDivisionError("k is zero")
    return y


def told_by_an_assert(a):
    """told_by_an_assert(float64[n,n])"""
    assert a[0, 0] > 0, f"the largest is {np.sort(a[0])[-1]}"
    return a * 2


def told_by_an_assert_instead(a):
    """told_by_an_assert_instead(float64[n,n])"""
    largest = np.sort(a[0])[-1]
    assert a[0, 0] > 0, f"the largest is {largest}"
    return a * 2


def one_of_two_messages(x):
    """one_of_two_messages(float)"""
    side = "left" if x < 0 else "right"
    if abs(x) > 1:
        raise ValueError(f"too far {side}")
    return x


def one_of_two_messages_instead(x):
    """one_of_two_messages_instead(float)"""
    if x < -1:
        raise ValueError("too far left")
    if x > 1:
        raise ValueError("too far right")
    return x


def complex_in_a_message(z):
    """complex_in_a_message(complex128[n])"""
    if z[0].real < 0:
        raise ValueError(f"not in the half-plane: {z[0]}")
    return np.sqrt(z)


def complex_in_a_message_instead(z):
    """complex_in_a_message_instead(complex128[n])"""
    if z[0].real < 0:
        raise ValueError(f"not in the half-plane: {z[0].real} and {z[0].imag}")
    return np.sqrt(z)


def part_of_a_list(x):
    """part_of_a_list(float64[n])"""
    kept = [[v, 2 * v] for v in x if v > 0]
    kept[1:3] = [[0.0, 1.0]]
    return kept


def part_of_a_list_instead(x):
    """part_of_a_list_instead(float64[n])"""
    kept = [[v, 2 * v] for v in x if v > 0]
    kept = [*kept[:1], [0.0, 1.0], *kept[3:]]
    return kept


# --- texts


def width_of_a_text(x):
    """width_of_a_text(float64[n])"""
    shown = f"{x[0]} m"
    if x[0] < 0:
        raise ValueError(f"negative: {shown:>12}")
    return x


def width_of_a_text_instead(x):
    """width_of_a_text_instead(float64[n])"""
    if x[0] < 0:
        raise ValueError(f"negative: {x[0]:>10} m")
    return x


def float_as_an_integer(x):
    """float_as_an_integer(float64[n])"""
    if x[0] < 0:
        raise ValueError("%d items" % x[0])
    return x


def float_as_an_integer_instead(x):
    """float_as_an_integer_instead(float64[n])"""
    if x[0] < 0:
        raise ValueError("%d items" % int(x[0]))
    return x


def field_left_over(x):
    """field_left_over(float64[n])"""
    if x[0] < 0:
        raise ValueError("{} of {}".format(x[0]))
    return x


def field_left_over_instead(x):
    """field_left_over_instead(float64[n])"""
    if x[0] < 0:
        raise ValueError("{} of {}".format(x[0], len(x)))
    return x


def names_in_a_set(x):
    """names_in_a_set(float64[n])"""
    total = 0.0
    for k, name in enumerate({"left", "right"}):
        total += x[k] * len(name)
    return total


def names_in_a_set_instead(x):
    """names_in_a_set_instead(float64[n])"""
    total = 0.0
    for k, name in enumerate(("left", "right")):
        total += x[k] * len(name)
    return total


# --- types


def array_of_objects(n):
    """array_of_objects(int)"""
    return np.zeros(n, dtype=object)


def of_another_machine(n):
    """of_another_machine(int)"""
    return np.zeros(n, dtype=">f8")


def of_another_machine_instead(n):
    """of_another_machine_instead(int)"""
    return np.zeros(n, dtype=np.float64)


def half_precision(x):
    """half_precision(float16[n])"""
    return np.fft.rfft(x)


def half_precision_instead(x):
    """half_precision_instead(float16[n])"""
    return np.fft.rfft(x.astype(np.float32))


def complex_as_integers(z):
    """complex_as_integers(complex128[n])"""
    found = [v for v in z if v.real > 0]
    return np.array(found, dtype=int)


def complex_as_integers_instead(z):
    """complex_as_integers_instead(complex128[n])"""
    found = [v.real for v in z if v.real > 0]
    return np.array(found, dtype=int)


def strides_in_an_array(x):
    """strides_in_an_array(float64[n])"""
    return np.lib.stride_tricks.as_strided(x, (3, 3), np.array([8, 8]))


def strides_in_an_array_instead(x):
    """strides_in_an_array_instead(float64[n])"""
    return np.lib.stride_tricks.as_strided(x, (3, 3), (8, 8))


# --- NumPy's functions


def without_an_axis(x):
    """without_an_axis(float64[n,m])"""
    return x[x[:, 0] > 0].squeeze()


def without_an_axis_instead(x):
    """without_an_axis_instead(float64[n,m])"""
    return x[x[:, 0] > 0].squeeze(axis=0)


def where_alone(x):
    """where_alone(float64[n])"""
    return np.log(x, where=x > 0)


def where_alone_instead(x):
    """where_alone_instead(float64[n])"""
    return np.log(x, where=x > 0, out=np.zeros(len(x)))


def keeps_an_axis(x):
    """keeps_an_axis(int64[n,m])"""
    return np.gcd.reduce(x, axis=1, keepdims=True)


def keeps_an_axis_instead(x):
    """keeps_an_axis_instead(int64[n,m])"""
    return np.expand_dims(np.gcd.reduce(x, axis=1), 1)


def out_of_two(x, whole):
    """out_of_two(float64[n], float64[n])"""
    return np.modf(x, out=whole)


def out_of_two_instead(x, whole):
    """out_of_two_instead(float64[n], float64[n])"""
    return np.modf(x, out=(np.empty(len(x)), whole))


def counts_in_a_list(x):
    """counts_in_a_list(int64[n])"""
    counts = [0.0, 0.0, 0.0]
    np.add.at(counts, x, 1)
    return counts


def counts_in_a_list_instead(x):
    """counts_in_a_list_instead(int64[n])"""
    counts = np.array([0.0, 0.0, 0.0])
    np.add.at(counts, x, 1)
    return counts


def at_positions(x, k):
    """at_positions(float64[n], int64[m])"""
    np.logaddexp.at(x, k, 1.0)
    return x


def at_positions_instead(x, k):
    """at_positions_instead(float64[n], int64[m])"""
    for i in k:
        x[i] = np.logaddexp(x[i], 1.0)
    return x


# --- lists and their order


def number_among_lists(x, n):
    """number_among_lists(float64[k], int)"""
    rows = []
    for i in range(n):
        rows.append([1.0] * i)
        rows.append(x[i])
    return len(rows)


def number_among_lists_instead(x, n):
    """number_among_lists_instead(float64[k], int)"""
    rows = []
    for i in range(n):
        rows.append([1.0] * i)
        rows.append([x[i]])
    return len(rows)


def pairs_into_a_dict(x):
    """pairs_into_a_dict(float64[n])"""
    sizes = {"a": 1.0}
    sizes.update([("b", x[0])])
    return sizes["b"]


def pairs_into_a_dict_instead(x):
    """pairs_into_a_dict_instead(float64[n])"""
    sizes = {"a": 1.0}
    sizes["b"] = x[0]
    return sizes["b"]


def sorts_two_types(a, b):
    """sorts_two_types(float, int)"""
    return sorted([a, b])


def sorts_two_types_instead(a, b):
    """sorts_two_types_instead(float, int)"""
    return sorted([a, float(b)])


def sorts_rows(a):
    """sorts_rows(float64[n,m])"""
    return sorted(a)


def sorts_rows_instead(a):
    """sorts_rows_instead(float64[n,m])"""
    return a[np.argsort(a[:, 0])]


def sorts_arrays(a):
    """sorts_arrays(float64[n,2])"""
    rows = [row.copy() for row in a]
    rows.sort()
    return rows


def sorts_arrays_instead(a):
    """sorts_arrays_instead(float64[n,2])"""
    rows = [row.copy() for row in a]
    rows.sort(key=lambda r: (r[0], r[1]))
    return rows


def sorts_with_none(x):
    """sorts_with_none(float64[n])"""
    roots = []
    for v in x:
        roots.append(v**0.5 if v > 0 else None)
    return sorted(roots)


def sorts_with_none_instead(x):
    """sorts_with_none_instead(float64[n])"""
    roots = []
    for v in x:
        if v > 0:
            roots.append(v**0.5)
    return sorted(roots)


def list_of_rows(a):
    """list_of_rows(float64[n,m])"""
    return list(a)


def list_of_rows_instead(a):
    """list_of_rows_instead(float64[n,m])"""
    return [row.copy() for row in a]


# --- memory


def turned_while_held(x, n):
    """turned_while_held(float64[k], int)"""
    rows = []
    for i in range(n):
        rows.append(np.full(3, x[i]))
    first = rows[0]
    rows.reverse()
    return first[0]


def turned_while_held_instead(x, n):
    """turned_while_held_instead(float64[k], int)"""
    rows = []
    for i in range(n):
        rows.append(np.full(3, x[i]))
    first = rows[0].copy()
    rows.reverse()
    return first[0]


def mask_of_itself(x):
    """mask_of_itself(float64[n])"""
    chosen = x > 0
    chosen[chosen[::-1]] = False
    return chosen


def mask_of_itself_instead(x):
    """mask_of_itself_instead(float64[n])"""
    chosen = x > 0
    chosen[chosen[::-1].copy()] = False
    return chosen


def stretched(x):
    """stretched(float64[n])"""
    y, _ = np.broadcast_arrays(x, np.zeros((3, len(x))))
    y[0, 0] = 1
    return y


def stretched_instead(x):
    """stretched_instead(float64[n])"""
    y, _ = np.broadcast_arrays(x, np.zeros((3, len(x))))
    y = y.copy()
    y[0, 0] = 1
    return y
