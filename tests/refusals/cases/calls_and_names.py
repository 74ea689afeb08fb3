"""Calls, names, branches and comparisons."""

import itertools
import math
import warnings

import numpy as np

LIMITS = [0.0, 1.0]
WEIGHTS = np.ones(3)


def with_an_option(rows):
    """with_an_option(float64[n,m])"""
    return np.array(rows, ndmax=2)


def without_an_argument(x):
    """without_an_argument(float64[n])"""
    return np.dot(x)


def without_an_argument_instead(x):
    """without_an_argument_instead(float64[n])"""
    return np.dot(x, x)


def with_a_flag(x, keep):
    """with_a_flag(float64[n,m], bool)"""
    return np.sum(x, axis=0, keepdims=keep)


def with_a_flag_instead(x):
    """with_a_flag_instead(float64[n,m])"""
    return np.sum(x, axis=0, keepdims=True)


def with_a_mode(x, kernel, mode):
    """with_a_mode(float64[n], float64[3], int)"""
    return np.convolve(x, kernel, mode=mode)


def with_a_mode_instead(x, kernel):
    """with_a_mode_instead(float64[n], float64[3])"""
    return np.convolve(x, kernel, mode="full")


def with_none(x):
    """with_none(float64[n])"""
    return np.diff(x, n=None)


def with_none_instead(x):
    """with_none_instead(float64[n])"""
    return np.diff(x)


def into_a_list(x):
    """into_a_list(float64[2])"""
    sums = [0.0, 0.0]
    np.cumsum(x, out=sums)
    return sums


def into_a_list_instead(x):
    """into_a_list_instead(float64[2])"""
    sums = np.empty(2)
    np.cumsum(x, out=sums)
    return sums


def unpacked_range(n):
    """unpacked_range(int)"""
    first, second = range(n)
    return first + second


def unpacked_range_instead(n):
    """unpacked_range_instead(int)"""
    numbers = range(n)
    return numbers[0] + numbers[1]


def unpacked_pairs(x):
    """unpacked_pairs(float64[n])"""
    first, second = enumerate(x)
    return first[1] + second[1]


def unpacked_pairs_instead(x):
    """unpacked_pairs_instead(float64[n])"""
    items = list(enumerate(x))
    first, second = items[0], items[1]
    return first[1] + second[1]


def unpacked_arguments(x):
    """unpacked_arguments(float64[n])"""
    return max(*x)


def unpacked_arguments_instead(x):
    """unpacked_arguments_instead(float64[3])"""
    return max(*x)


def unpacked_number(k):
    """unpacked_number(int)"""
    row, column = k
    return row * column


def new_shape(x):
    """new_shape(float64[n,m])"""
    x.shape = (x.size,)
    return x.sum()


def new_shape_instead(x):
    """new_shape_instead(float64[n,m])"""
    y = x.reshape(x.size)
    return y.sum()


def new_dtype(x):
    """new_dtype(float64[n])"""
    x.dtype = np.int64
    return x


def flat_plus_one(x):
    """flat_plus_one(float64[n,m])"""
    return x.flat + 1


def flat_plus_one_instead(x):
    """flat_plus_one_instead(float64[n,m])"""
    return x.ravel() + 1


def repeated_in_place(x, times):
    """repeated_in_place(float64[n], int)"""
    values = []
    for v in x:
        values.append(v)
    values *= times
    return values


def repeated_in_place_instead(x, times):
    """repeated_in_place_instead(float64[n], int)"""
    values = []
    for v in x:
        values.append(v)
    values = values * times
    return values


def both_dicts(x):
    """both_dicts(float64[n])"""
    found = {"low": 0.0} | {"high": x[0]}
    return found["high"]


def both_dicts_instead(x):
    """both_dicts_instead(float64[n])"""
    found = {"low": 0.0}
    found.update({"high": x[0]})
    return found["high"]


def times_nothing(x, y):
    """times_nothing(float64[n], float64[n])"""
    matrix = None
    if x[0] > 0:
        matrix = y
    return x @ matrix


def times_nothing_instead(x, y):
    """times_nothing_instead(float64[n], float64[n])"""
    matrix = None
    if x[0] > 0:
        matrix = y
    return 0.0 if matrix is None else x @ matrix


def misspelt(x):
    """misspelt(float64[n])"""
    return np.averge(x)


def misspelt_instead(x):
    """misspelt_instead(float64[n])"""
    return np.average(x)


def old_name(x):
    """old_name(float64[n])"""
    return np.float(x[0])


def old_name_instead(x):
    """old_name_instead(float64[n])"""
    return float(x[0])


def flags(x):
    """flags(float64[n])"""
    return x.flags.owndata


def key_on_one_path(x):
    """key_on_one_path(float64[n])"""
    found = {"first": x}
    if x[0] > 0:
        found["root"] = np.sqrt(x)
    return len(found)


def key_on_one_path_instead(x):
    """key_on_one_path_instead(float64[n])"""
    found = {"first": x, "root": np.zeros(x.size)}
    if x[0] > 0:
        found["root"] = np.sqrt(x)
    return len(found)


def strict_or_not(x, y, strict):
    """strict_or_not(float64[n], float64[m], bool)"""
    return sum(a * b for a, b in zip(x, y, strict=strict))


def strict_or_not_instead(x, y):
    """strict_or_not_instead(float64[n], float64[m])"""
    return sum(a * b for a, b in zip(x, y, strict=True))


def code_of_a_digit(n):
    """code_of_a_digit(int)"""
    return ord(str(n))


def dict_of_numbers():
    """dict_of_numbers()"""
    return dict([1, 2])


def all_of_rows(x):
    """all_of_rows(float64[n,m])"""
    return all(x > 0)


def all_of_rows_instead(x):
    """all_of_rows_instead(float64[n,m])"""
    return np.all(x > 0)


def rounded_to_cents(price):
    """rounded_to_cents(float)"""
    return round(price, -2)


def rounded_to_cents_instead(price):
    """rounded_to_cents_instead(float)"""
    return np.round(price, -2)


def larger_array(x, y):
    """larger_array(float64[n], float64[n])"""
    return max(x, y)


def larger_array_instead(x, y):
    """larger_array_instead(float64[n], float64[n])"""
    return np.maximum(x, y)


def largest_or_zero(x):
    """largest_or_zero(float64[n])"""
    return max(x, key=abs, default=0.0)


def largest_or_zero_instead(x):
    """largest_or_zero_instead(float64[n])"""
    return max(x, key=abs) if len(x) else 0.0


def sum_from_a_row(x):
    """sum_from_a_row(float64[n,m])"""
    return sum(x, np.ones(x.shape[1]))


def sum_from_a_row_instead(x):
    """sum_from_a_row_instead(float64[n,m])"""
    total = np.ones(x.shape[1])
    for row in x:
        total = total + row
    return total


def warned_with_a_text(x):
    """warned_with_a_text(float64[n])"""
    if x[0] < 0:
        warnings.warn("negative", "UserWarning", stacklevel=2)
    return x


def warned_with_a_text_instead(x):
    """warned_with_a_text_instead(float64[n])"""
    if x[0] < 0:
        warnings.warn("negative", UserWarning, stacklevel=2)
    return x


def warned_once(x):
    """warned_once(float64[n])"""
    with warnings.catch_warnings():
        warnings.simplefilter("once")
        warnings.warn("negative", stacklevel=2)
    return x


def called_array(x):
    """called_array(float64[n])"""
    return x(0)


def scaled(x, factor=2.0, *, shift=0.0):
    return x * factor + shift


def too_many_arguments(x):
    """too_many_arguments(float64[n])"""
    return scaled(x, 3.0, 1.0)


def too_many_arguments_instead(x):
    """too_many_arguments_instead(float64[n])"""
    return scaled(x, 3.0, shift=1.0)


def arguments_of_the_run(x, n):
    """arguments_of_the_run(float64[n], int)"""
    given = {}
    for k in range(n):
        given[k] = x[k]
    return scaled(x, **given)


def arguments_of_the_run_instead(x, n):
    """arguments_of_the_run_instead(float64[n], int)"""
    return scaled(x, factor=x[n])


def kept_error(x):
    """kept_error(float64[n])"""
    error = ValueError("negative")
    if x[0] < 0:
        raise error
    return x


def kept_error_instead(x):
    """kept_error_instead(float64[n])"""
    if x[0] < 0:
        raise ValueError("negative")
    return x


def rising(x, k):
    return x if k == 0 else falling(x * 2, k - 1)


def falling(x, k):
    return x if k == 0 else rising(x - 1, k - 1)


def recursion_of_two(x, k):
    """recursion_of_two(float64[n], int)"""
    return rising(x, k)


def recursion_of_two_instead(x, k):
    """recursion_of_two_instead(float64[n], int)"""
    for left in range(k, 0, -1):
        x = x * 2 if (k - left) % 2 == 0 else x - 1
    return x


def sum_from(x, k):
    try:
        return x[k] + sum_from(x, k + 1)
    except IndexError:
        return 0.0


def recursion(x):
    """recursion(float64[n])"""
    return sum_from(x, 0)


def recursion_instead(x):
    """recursion_instead(float64[n])"""
    total = 0.0
    for v in x:
        total += v
    return total


def pairs(x):
    for i in range(len(x) - 1):
        yield x[i], x[i + 1]


def generator_with_a_name(x):
    """generator_with_a_name(float64[n])"""
    found = pairs(x)
    first, second = next(found)
    return first - second


def generator_with_a_name_instead(x):
    """generator_with_a_name_instead(float64[n])"""
    found = list(pairs(x))
    first, second = found[0]
    return first - second


def row_or_rows(x):
    if x[0] > 0:
        return x
    return x[None, :]


def result_of_two_shapes(x):
    """result_of_two_shapes(float64[n])"""
    return row_or_rows(x).sum(axis=0)


def orders(n):
    """orders(int)"""
    total = 0
    for order in itertools.permutations(range(n)):
        total += order[0]
    return total


def orders_instead():
    """orders_instead()"""
    total = 0
    for order in itertools.permutations(range(4)):
        total += order[0]
    return total


def same_number(x, y):
    """same_number(float, float)"""
    return x is y


def same_number_instead(x, y):
    """same_number_instead(float, float)"""
    return x == y


def less_than_none(x):
    """less_than_none(float64[n])"""
    return x < None


def equal_ranges(n):
    """equal_ranges(int)"""
    return range(n) == range(3)


def between(x):
    """between(float64[n])"""
    return np.sum(0 < x < 1)


def between_instead(x):
    """between_instead(float64[n])"""
    return np.sum((x > 0) & (x < 1))


def put_into_a_sum(x):
    """put_into_a_sum(float64[n])"""
    np.put(x + 1, [0], 2.0)
    return x


def put_into_a_sum_instead(x):
    """put_into_a_sum_instead(float64[n])"""
    y = np.array(x + 1)
    np.put(y, [0], 2.0)
    return y


def placed(x):
    """placed(float64[n])"""
    np.place(x, x > 0, [1.0, 2.0])
    return x


def choices_in_an_array(x, k):
    """choices_in_an_array(float64[n,m], int64[m])"""
    return np.choose(k, x)


def choices_in_an_array_instead(x, k):
    """choices_in_an_array_instead(float64[n,m], int64[m])"""
    return np.take_along_axis(x, k[None, :], axis=0)[0]


def one_condition(x):
    """one_condition(float64[n])"""
    return np.select(x > 0, x)


def one_condition_instead(x):
    """one_condition_instead(float64[n])"""
    return np.select([x > 0], [x])


def one_piece(x):
    """one_piece(float64[n])"""
    return np.piecewise(x, [x > 0], np.sin)


def one_piece_instead(x):
    """one_piece_instead(float64[n])"""
    return np.piecewise(x, [x > 0], [np.sin])


def diagonal_of_a_cube(x):
    """diagonal_of_a_cube(float64[n,n,n])"""
    np.fill_diagonal(x, 1.0)
    return x


def diagonal_of_a_cube_instead(x):
    """diagonal_of_a_cube_instead(float64[n,n,n])"""
    for i in range(len(x)):
        x[i, i, i] = 1.0
    return x


def is_a_reversed(x):
    """is_a_reversed(float64[n])"""
    return isinstance(reversed(x), reversed)


def appended_outside(x):
    """appended_outside(float64[n])"""
    LIMITS.append(x[0])
    return x


def appended_outside_instead(x):
    """appended_outside_instead(float64[n])"""
    limits = LIMITS[:]
    limits.append(x[0])
    return limits


def stored_outside(x):
    """stored_outside(float64[n])"""
    WEIGHTS[0] = x[0]
    return x


def stored_outside_instead(x):
    """stored_outside_instead(float64[n])"""
    weights = WEIGHTS.copy()
    weights[0] = x[0]
    return weights


def one_row_for_all(n, k):
    """one_row_for_all(int, int)"""
    rows = []
    row = [0, 0]
    for i in range(n):
        row[0] = i
        rows.append(row)
    return rows[k][0]


def one_row_for_all_instead(n, k):
    """one_row_for_all_instead(int, int)"""
    rows = []
    row = [0, 0]
    for i in range(n):
        row[0] = i
        rows.append(row[:])
    return rows[k][0]


def one_array_for_all(x):
    """one_array_for_all(float64[n])"""
    rows = []
    row = np.zeros(2)
    for v in x:
        row[0] = v
        rows.append(row)
    return np.array(rows)


def one_array_for_all_instead(x):
    """one_array_for_all_instead(float64[n])"""
    rows = []
    row = np.zeros(2)
    for v in x:
        row[0] = v
        rows.append(row.copy())
    return np.array(rows)


def root_of(v):
    if v < 0:
        raise ValueError("negative")
    return math.sqrt(v)


def caught_elsewhere(x):
    """caught_elsewhere(float64[n])"""
    try:
        total = len(x) + sum(root_of(v) for v in x)
    except ValueError:
        total = 0.0
    return total


def caught_elsewhere_instead(x):
    """caught_elsewhere_instead(float64[n])"""
    return 0.0 if (x < 0).any() else sum(root_of(v) for v in x)


def last_kept(x):
    """last_kept(float64[n])"""
    best, state = np.zeros(3), np.ones(3)
    for v in x:
        state[0] += v
        best = state
    return best + state


def last_kept_instead(x):
    """last_kept_instead(float64[n])"""
    best, state = np.zeros(3), np.ones(3)
    for v in x:
        state[0] += v
        best = state.copy()
    return best + state


def another_function(x):
    """another_function(float64[n])"""
    step, total = np.sin, 0.0
    for v in x:
        total += step(v)
        step = np.cos
    return total


def view_before_a_loop(x):
    """view_before_a_loop(float64[n])"""
    head = x[:2]
    for i in range(len(x)):
        x[i] = head[0]
        if x[i] > 3:
            head = np.ones(2)
    return head


def view_before_a_loop_instead(x):
    """view_before_a_loop_instead(float64[n])"""
    head = x[:2]
    head = head.copy()
    for i in range(len(x)):
        x[i] = head[0]
        if x[i] > 3:
            head = np.ones(2)
    return head


def mixed_list(x, k):
    """mixed_list(float64[n], int)"""
    values = [1.0, "a", x]
    values[k] = 2.0
    return x


def fallen_list(x):
    """fallen_list(float64[n])"""
    found = {}
    for v in x:
        found = [v]
    return found
