"""Loops, `with`, methods and functions of NumPy, lists whose elements are replaced, and results."""

import functools
import math
import warnings
from collections import deque

import numpy as np
from numpy.lib.stride_tricks import as_strided

# --- loops


def grows(x):
    """grows(float64[n])"""
    out = x
    for _ in range(300):
        out = np.array([out, out])
    return out


def grows_instead(x):
    """grows_instead(float64[n])"""
    out = np.empty((301, len(x)))
    for k in range(301):
        out[k] = x
    return out


def many_values(a, b, c):
    """many_values(float, float, float)"""
    total = 0.0
    for v in [a, b, c] * 100:
        total = total * 0.5 + v
    return total


def many_values_instead(a, b, c):
    """many_values_instead(float, float, float)"""
    total = 0.0
    for v in np.array([a, b, c] * 100):
        total = total * 0.5 + v
    return total


def halves(n):
    """halves(int)"""
    queue = deque([n])
    for k in queue:
        if k > 1:
            queue.append(k // 2)
    return len(queue)


def halves_instead(n):
    """halves_instead(int)"""
    queue = deque([n])
    at = 0
    while at < len(queue):
        if queue[at] > 1:
            queue.append(queue[at] // 2)
        at += 1
    return len(queue)


def series(x):
    """series(float)"""
    terms = [1.0, x]
    for t in terms:
        if len(terms) < 200:
            terms.append(t * x * x)
    return sum(terms)


def series_instead(x):
    """series_instead(float)"""
    terms = [1.0, x]
    at = 0
    while len(terms) < 200:
        terms.append(terms[at] * x * x)
        at += 1
    return sum(terms)


def exchanges(u, v, steps):
    """exchanges(float64[n], float64[n], int)"""
    for t in range(steps):
        v[:] = u + t
        if t % 3:
            u, v = v, u
    return u


def exchanges_instead(u, v, steps):
    """exchanges_instead(float64[n], float64[n], int)"""
    u, v = u.copy(), v.copy()
    for t in range(steps):
        v[:] = u + t
        if t % 3:
            u, v = v.copy(), u.copy()
    return u


def exchanges_in_a_list(a, b, n):
    """exchanges_in_a_list(float64[n], float64[n], int)"""
    pair = [a, b]
    for _ in range(n):
        for k in range(1, len(a)):
            pair[1][k] = pair[0][k] + pair[0][k - 1]
            pair[0], pair[1] = pair[1], pair[0]
    return pair[0]


def exchanges_in_a_list_instead(a, b, n):
    """exchanges_in_a_list_instead(float64[n], float64[n], int)"""
    pair = [a.copy(), b.copy()]
    for _ in range(n):
        for k in range(1, len(a)):
            pair[1][k] = pair[0][k] + pair[0][k - 1]
            pair[0], pair[1] = pair[1], pair[0]
    return pair[0]


def steps(a, n):
    """steps(float64[n], int)"""
    state = [a]
    for k in range(n):
        state[0][0] += 1
        for j in range(k):
            state[0] = state[0] * j
    return state[0]


def steps_instead(a, n):
    """steps_instead(float64[n], int)"""
    state = [a.copy()]
    for k in range(n):
        state[0][0] += 1
        for j in range(k):
            state[0] = state[0] * j
    return state[0]


def nested_deeper(x):
    """nested_deeper(float64[n])"""
    path = None
    for v in x:
        if v > 0:
            path = (v, path)
    return path


def nested_deeper_instead(x):
    """nested_deeper_instead(float64[n])"""
    path = []
    for v in x:
        if v > 0:
            path.append(v)
    return path


def reads_message(values, k):
    """reads_message(float64[n], int)"""
    try:
        return values[k]
    except IndexError as error:
        print("bad index:", error)
        return 0.0


def reads_message_instead(values, k):
    """reads_message_instead(float64[n], int)"""
    if not -len(values) <= k < len(values):
        print("bad index:", k)
        return 0.0
    return values[k]


def computed_exception(x, k):
    """computed_exception(float64[n], int)"""
    expected = [IndexError, ValueError]
    try:
        return x[k]
    except expected:
        return 0.0


def computed_exception_instead(x, k):
    """computed_exception_instead(float64[n], int)"""
    try:
        return x[k]
    except (IndexError, ValueError):
        return 0.0


# --- managers


def counts_warnings(x):
    """counts_warnings(float64[n])"""
    with warnings.catch_warnings(record=True) as caught:
        y = np.sqrt(x)
    return y, len(caught)


def counts_warnings_instead(x):
    """counts_warnings_instead(float64[n])"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = np.sqrt(x)
    return y, int(np.isnan(y).any())


def raises_floats(x):
    """raises_floats(float64[n])"""
    with np.errstate(divide="raise"):
        return 1 / x


def raises_floats_instead(x):
    """raises_floats_instead(float64[n])"""
    with np.errstate(divide="ignore"):
        y = 1 / x
    if not np.isfinite(y).all():
        raise FloatingPointError("divide by zero encountered")
    return y


def prints_short(x):
    """prints_short(float64[n])"""
    with np.printoptions(precision=3):
        print(x)


def prints_short_instead(x):
    """prints_short_instead(float64[n])"""
    for v in x:
        print(f"{v:.3f}")


def filters_for_good(x):
    """filters_for_good(float64[n])"""
    warnings.simplefilter("ignore")
    return np.sqrt(x)


def filters_for_good_instead(x):
    """filters_for_good_instead(float64[n])"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.sqrt(x)


def makes_errors(x):
    """makes_errors(float64[n])"""
    with warnings.catch_warnings():
        warnings.filterwarnings("error")
        return np.log(x)


def makes_errors_instead(x):
    """makes_errors_instead(float64[n])"""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore")
        y = np.log(x)
    if not np.isfinite(y).all():
        raise ValueError("logarithm of what is not positive")
    return y


# --- math, cached functions


def gcd_of_three(a, b, c):
    """gcd_of_three(int, int, int)"""
    return math.gcd(a, b, c)


def gcd_of_three_instead(a, b, c):
    """gcd_of_three_instead(int, int, int)"""
    return math.gcd(math.gcd(a, b), c)


def choices(n, k):
    """choices(int64[m], int)"""
    return math.comb(n[0], k)


def choices_instead(n, k):
    """choices_instead(int64[m], int)"""
    ways = 1
    for i in range(k):
        ways = ways * (int(n[0]) - i) // (i + 1)
    return ways


def distance(p, q):
    """distance(float64[n], float64[n])"""
    return math.dist(p[p > 0], q)


def distance_instead(p, q):
    """distance_instead(float64[n], float64[n])"""
    return np.linalg.norm(p[p > 0] - q)


def untraced(k):
    return k * k


@functools.lru_cache
def traced(k):
    print("computing", k)
    return k * k


def cached_effect(k):
    """cached_effect(int)"""
    return traced(k) + 1


def cached_effect_instead(k):
    """cached_effect_instead(int)"""
    return untraced(k) + 1


def all_divisors(k):
    return [d for d in range(1, k + 1) if k % d == 0]


@functools.cache
def divisors(k):
    return all_divisors(k)


def cached_list(k):
    """cached_list(int)"""
    return len(divisors(k))


def cached_list_instead(k):
    """cached_list_instead(int)"""
    return len(all_divisors(k))


@functools.cache
def window(n):
    return np.hanning(n)


def stores_cached(n):
    """stores_cached(int)"""
    w = window(n)
    w[0] = 1
    return w.sum()


def stores_cached_instead(n):
    """stores_cached_instead(int)"""
    w = window(n).copy()
    w[0] = 1
    return w.sum()


# --- methods of arrays


def bytes_of(x):
    """bytes_of(uint8[n])"""
    return x.tobytes()


def sorts_nameless(x):
    """sorts_nameless(float64[n])"""
    (x * 2).sort()
    return x


def sorts_nameless_instead(x):
    """sorts_nameless_instead(float64[n])"""
    y = x * 2
    y.sort()
    return y


def reshapes(x):
    """reshapes(float64[n])"""
    return x.reshape(2, 3, "F")


def reshapes_instead(x):
    """reshapes_instead(float64[n])"""
    return x.reshape(2, 3, order="F")


def flattens(x):
    """flattens(float64[n,m])"""
    return x.flatten("A")


def flattens_instead(x):
    """flattens_instead(float64[n,m])"""
    return x.flatten("C")


def fills(x, y):
    """fills(float64[n], float64[n])"""
    x.fill(y)


def fills_instead(x, y):
    """fills_instead(float64[n], float64[n])"""
    x[...] = y


def bits(x):
    """bits(bool[n])"""
    return x.view(np.uint8)


def bits_instead(x):
    """bits_instead(bool[n])"""
    return x.astype(np.uint8)


def compresses(x, out):
    """compresses(float64[n], float64[m])"""
    np.compress(x > 0, x, out=out)


def compresses_instead(x, out):
    """compresses_instead(float64[n], float64[m])"""
    out[:] = x[x > 0]


def stores_filtered(done, x):
    """stores_filtered(bool[n], bool[m])"""
    done[0] = x[x]


def stores_filtered_instead(done, x):
    """stores_filtered_instead(bool[n], bool[m])"""
    done[0] = x[x][0]


# --- functions of NumPy


def nothing():
    """nothing()"""
    return np.array(None)


def nothing_instead():
    """nothing_instead()"""
    return np.array(np.nan)


def from_generator(x):
    """from_generator(float64[n])"""
    return np.fromiter((v * v for v in x), dtype=float, count=len(x))


def from_generator_instead(x):
    """from_generator_instead(float64[n])"""
    return np.fromiter((v * v for v in x), dtype=float)[: len(x)]


def joins_rows(x):
    """joins_rows(float64[n,m])"""
    return np.concatenate(x)


def joins_rows_instead(x):
    """joins_rows_instead(float64[n,m])"""
    return x.reshape(-1)


def takes_apart(x):
    """takes_apart(float64[n,m])"""
    a, b = np.unstack(x[x[:, 0] > 0])
    return a + b


def takes_apart_instead(x):
    """takes_apart_instead(float64[2,m])"""
    a, b = np.unstack(x)
    return a + b


def turns(x, axes):
    """turns(float64[n,m], int64[2])"""
    return np.transpose(x, axes)


def turns_instead(x):
    """turns_instead(float64[n,m])"""
    return np.transpose(x, (1, 0))


def lower_part(x, k):
    """lower_part(float64[n,m], float)"""
    return np.tril(x, k)


def lower_part_instead(x, k):
    """lower_part_instead(float64[n,m], float)"""
    return np.tril(x, int(k))


def epsilon(x):
    """epsilon(float)"""
    return np.finfo(x).eps


def epsilon_instead(x):
    """epsilon_instead(float)"""
    return np.finfo(np.float64).eps


def extends(x):
    """extends(float64[n,m])"""
    rows = []
    for row in x:
        if row[0] > 0:
            rows.append(row[row > 0])
    return np.block(rows)


def extends_instead(x):
    """extends_instead(float64[n,m])"""
    rows = []
    for row in x:
        if row[0] > 0:
            rows.append(row[row > 0])
    return np.concatenate(rows)


def owned(x):
    """owned(float64[n])"""
    return np.require(x, requirements=["OWNDATA"])


def owned_instead(x):
    """owned_instead(float64[n])"""
    return np.array(x)


def over_memory(x):
    """over_memory(float64[n])"""
    return np.ndarray((2, 3), float, buffer=x)


def over_memory_instead(x):
    """over_memory_instead(float64[n])"""
    return x[:6].reshape(2, 3)


def windows(x):
    """windows(float64[n])"""
    w = as_strided(x, (len(x) - 2, 3), (8, 8))
    w[0] = 0
    return w.sum(1)


def windows_instead(x):
    """windows_instead(float64[n])"""
    w = as_strided(x, (len(x) - 2, 3), (8, 8)).copy()
    w[0] = 0
    return w.sum(1)


def ramp(x):
    """ramp(float64[n])"""
    return np.pad(x, 2, mode="linear_ramp")


def pads(x):
    """pads(float64[n])"""
    return np.pad(x, ((1, 1), (2, 2)))


def pads_instead(x):
    """pads_instead(float64[n])"""
    return np.pad(x, (1, 1))


def scales(x, factor, out):
    """scales(float64[n], float, float64[n])"""
    np.dot(x, factor, out=out)


def scales_instead(x, factor, out):
    """scales_instead(float64[n], float, float64[n])"""
    np.multiply(x, factor, out=out)


def sums_over(x, rows):
    """sums_over(float64[n,m], bool)"""
    return np.einsum("ij->i" if rows else "ij->j", x)


def sums_over_instead(x, rows):
    """sums_over_instead(float64[n,m], bool)"""
    if rows:
        return np.einsum("ij->i", x)
    return np.einsum("ij->j", x)


def too_few(x):
    """too_few(float64[n,m])"""
    return np.einsum("ij,jk->ik", x)


def too_few_instead(x):
    """too_few_instead(float64[n,m])"""
    return np.einsum("ij,kj->ik", x, x)


def one_letter(x):
    """one_letter(float64[n,m])"""
    return np.einsum("i->", x)


def one_letter_instead(x):
    """one_letter_instead(float64[n,m])"""
    return np.einsum("ij->", x)


def unknown_letter(x):
    """unknown_letter(float64[n,m])"""
    return np.einsum("ij->ik", x)


def unknown_letter_instead(x):
    """unknown_letter_instead(float64[n,m])"""
    return np.einsum("ij->i", x)


def circle(n, step):
    """circle(int, complex)"""
    return np.arange(0, n * step, step)


def circle_instead(n, step):
    """circle_instead(int, complex)"""
    return 0 + np.arange(n) * step


def halves_of_columns(x):
    """halves_of_columns(float16[n,m])"""
    return x.sum(0)


def halves_of_columns_instead(x):
    """halves_of_columns_instead(float16[n,m])"""
    return x.sum(0, dtype=np.float32)


def whole_mean(x):
    """whole_mean(float64[n,m])"""
    return x.mean(0, dtype=int)


def whole_mean_instead(x):
    """whole_mean_instead(float64[n,m])"""
    return x.mean(0).astype(int)


def mean_into(x, out):
    """mean_into(float64[n,m], int64[n])"""
    np.mean(x, axis=1, out=out)


def mean_into_instead(x, out):
    """mean_into_instead(float64[n,m], int64[n])"""
    out[...] = np.mean(x, axis=1)


# --- elements of lists that are replaced


def every_other_pair(n):
    """every_other_pair(int)"""
    pairs = [[k, k * k] for k in range(n)]
    pairs[::2] = [[0, 0] for _ in range((n + 1) // 2)]
    return pairs


def every_other_pair_instead(n):
    """every_other_pair_instead(int)"""
    pairs = [[k, k * k] for k in range(n)]
    for k in range(0, n, 2):
        pairs[k] = [0, 0]
    return pairs


def other_elements(n):
    """other_elements(int)"""
    pairs = [(k, k * k) for k in range(n)]
    pairs[0] = 3
    return pairs


def other_elements_instead(n):
    """other_elements_instead(int)"""
    pairs = [(k, k * k) for k in range(n)]
    pairs[0] = (3, 3)
    return pairs


def other_dtype(x):
    """other_dtype(float64[n,m])"""
    rows = [row * 2 for row in x]
    rows[0] = rows[0] > 0
    return rows


def other_dtype_instead(x):
    """other_dtype_instead(float64[n,m])"""
    rows = [row * 2 for row in x]
    rows[0] = (rows[0] > 0).astype(float)
    return rows


# --- results


def keys(x):
    """keys(float64[n])"""
    found = {"least": x.min(), "most": x.max()}
    return found.keys()


def keys_instead(x):
    """keys_instead(float64[n])"""
    found = {"least": x.min(), "most": x.max()}
    return list(found.keys())


def interpolation(x):
    """interpolation(float64[n])"""
    return lambda t: x[0] * (1 - t) + x[1] * t


def interpolation_instead(x, t):
    """interpolation_instead(float64[n], float)"""
    return (lambda t: x[0] * (1 - t) + x[1] * t)(t)


def places(x):
    """places(float64[n])"""
    return range(0, len(x), 2)


def places_instead(x):
    """places_instead(float64[n])"""
    return list(range(0, len(x), 2))


def numbered(x):
    """numbered(float64[n])"""
    return enumerate(x)


def numbered_instead(x):
    """numbered_instead(float64[n])"""
    return list(enumerate(x))


def latest(x):
    """latest(float64[n])"""
    recent = deque(maxlen=3)
    for v in x:
        recent.append(v)
    return recent


def latest_instead(x):
    """latest_instead(float64[n])"""
    recent = deque(maxlen=3)
    for v in x:
        recent.append(v)
    return list(recent)


def many_none(x):
    """many_none(float64[n])"""
    parts = [x if x[k] > 0 else None for k in range(6)]
    return parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]


def many_none_instead(x):
    """many_none_instead(float64[n])"""
    parts = [x if x[k] > 0 else None for k in range(5)]
    return parts[0], parts[1], parts[2], parts[3], parts[4]


def rows_of(x):
    """rows_of(float64[n,m])"""
    rows = []
    for k in range(len(x)):
        if x[k, 0] > 0:
            rows.append(x[k])
    return rows


def rows_of_instead(x):
    """rows_of_instead(float64[n,m])"""
    rows = []
    for k in range(len(x)):
        if x[k, 0] > 0:
            rows.append(x[k].copy())
    return rows


def dtype_of(x):
    """dtype_of(float64[n])"""
    return x.dtype


def dtype_of_instead(x):
    """dtype_of_instead(float64[n])"""
    return str(x.dtype)


def rows_by_number(x):
    """rows_by_number(float64[n,m])"""
    return {row[0]: row[1:] for row in x}


def rows_by_number_instead(x):
    """rows_by_number_instead(float64[n,m])"""
    return {row[0]: row[1:].copy() for row in x}
