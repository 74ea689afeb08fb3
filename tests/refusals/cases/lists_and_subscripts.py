"""Lists, dicts and sets, subscripts, loops over things, random numbers, functions without a kernel."""

# ruff: noqa: B905, C400, F821, RUF059 (functions as users write them)

from collections import defaultdict

import numpy as np

LIMITS = np.array([3.0, 1.0, 2.0])


@np.vectorize
def doubled(x):
    """doubled(float)"""
    return 2 * x


def doubled_instead(x):
    """doubled_instead(float64[n])"""
    return 2 * x


def dice(seed, n):
    """dice(int, int)"""
    rng = np.random.RandomState(seed)
    return rng.integers(1, 7, size=n)


def dice_instead(seed, n):
    """dice_instead(int, int)"""
    rng = np.random.RandomState(seed)
    return rng.randint(1, 7, size=n)


def noise_into(x, seed):
    """noise_into(float64[n,m], int)"""
    rng = np.random.default_rng(seed)
    rng.standard_normal(out=x)
    return x


def noise_into_instead(x, seed):
    """noise_into_instead(float64[n,m], int)"""
    rng = np.random.default_rng(seed)
    x[...] = rng.standard_normal(x.shape)
    return x


def shuffled(n, seed):
    """shuffled(int, int)"""
    rng = np.random.default_rng(seed)
    order = list(range(n))
    rng.shuffle(order)
    return order


def shuffled_instead(n, seed):
    """shuffled_instead(int, int)"""
    rng = np.random.default_rng(seed)
    order = np.array(list(range(n)))
    rng.shuffle(order)
    return order


def permuted_by_elements(x, seed):
    """permuted_by_elements(float64[n,m], int)"""
    rng = np.random.default_rng(seed)
    return rng.permuted(x)


def permuted_by_elements_instead(x, seed):
    """permuted_by_elements_instead(float64[n,m], int)"""
    rng = np.random.default_rng(seed)
    return rng.permuted(x.ravel()).reshape(x.shape)


def drawn_bytes(seed):
    """drawn_bytes(int)"""
    rng = np.random.default_rng(seed)
    return rng.bytes(5)


def labels(x):
    """labels(float64[n])"""
    names = []
    for v in x:
        names.append("up" if v > 0 else "down")
    return np.array(names)


def labels_instead(x):
    """labels_instead(float64[n])"""
    names = []
    for v in x:
        names.append("up" if v > 0 else "down")
    return names


def values_of(x, y):
    """values_of(float64[n], float64[n])"""
    fields = {"x": x, "y": y}
    return np.array(fields)


def values_of_instead(x, y):
    """values_of_instead(float64[n], float64[n])"""
    fields = {"x": x, "y": y}
    return np.array([fields["x"], fields["y"]])


def between(x, low, high):
    """between(float64[n], float, float)"""
    return x[x > low & x < high]


def between_instead(x, low, high):
    """between_instead(float64[n], float, float)"""
    return x[(x > low) & (x < high)]


def masks_and_weights(x, w):
    """masks_and_weights(float64[n], float64[n])"""
    return (x > 0) & w


def masks_and_weights_instead(x, w):
    """masks_and_weights_instead(float64[n], float64[n])"""
    return (x > 0) & (w > 0)


def missing(x):
    """missing(float64[n])"""
    found = [(v if v > 0 else None, v) for v in x]
    return np.array(found)


def missing_instead(x):
    """missing_instead(float64[n])"""
    found = [(v if v > 0 else np.nan, v) for v in x]
    return np.array(found)


def points_and_ends(x):
    """points_and_ends(float64[n])"""
    return np.array([x, x[-1]])


def any_positive(x):
    """any_positive(float64[n])"""
    if x > 0:
        return 1
    return 0


def any_positive_instead(x):
    """any_positive_instead(float64[n])"""
    if (x > 0).any():
        return 1
    return 0


def running(x):
    """running(float64[n])"""
    total = 0.0
    for v in x:
        total += v
        yield total


def running_instead(x):
    """running_instead(float64[n])"""
    total = 0.0
    made = []
    for v in x:
        total += v
        made.append(total)
    return made


def counted_with_default(x):
    """counted_with_default(int64[n])"""
    counts = {}
    for v in x:
        counts[v] = counts.get(v, 0) + 1
    return {**counts, -1: 0}


def counted_with_default_instead(x):
    """counted_with_default_instead(int64[n])"""
    counts = {}
    for v in x:
        counts[v] = counts.get(v, 0) + 1
    made = dict(counts)
    made[-1] = 0
    return made




def misspelt(x):
    """misspelt(float64[n])"""
    return x * sacle


def shifted_flat(a):
    """shifted_flat(float64[n])"""
    a.flat[1:] = a[:-1]
    return a


def shifted_flat_instead(a):
    """shifted_flat_instead(float64[n])"""
    a.flat[1:] = a[:-1].copy()
    return a


def whole_row_at_once(a, row):
    """whole_row_at_once(float64[n,m], float64[m])"""
    a.flat[0] = row
    return a


def first_positive(a):
    """first_positive(float64[n,m])"""
    return next(v for row in a for v in row if v > 0)


def first_positive_instead(a):
    """first_positive_instead(float64[n,m])"""
    for row in a:
        for v in row:
            if v > 0:
                return v
    return 0.0


def next_of_flat(a):
    """next_of_flat(float64[n,m])"""
    return next(a.flat)


def next_of_flat_instead(a):
    """next_of_flat_instead(float64[n,m])"""
    return a.ravel()[0]


def zeros_of(p):
    """zeros_of(float64[n])"""
    return np.roots(p)


def saved(x):
    """saved(float64[n])"""
    np.savetxt("x.txt", x)
    return x


def limits_sorted(x):
    """limits_sorted(float64[n])"""
    LIMITS.sort()
    return np.searchsorted(LIMITS, x)


def limits_sorted_instead(x):
    """limits_sorted_instead(float64[n])"""
    limits = LIMITS.copy()
    limits.sort()
    return np.searchsorted(limits, x)


def bytes_of(x):
    """bytes_of(float64[n])"""
    return x.tobytes()


def as_fraction(x):
    """as_fraction(float)"""
    return x.as_integer_ratio()


def grid(x):
    """grid(float64[n])"""
    return np.mgrid[0:3, x]


def grid_instead(x):
    """grid_instead(float64[n])"""
    return np.meshgrid(np.arange(3), x, indexing="ij")


def table_of_distances(n):
    """table_of_distances(int)"""
    return np.fromfunction(np.hypot, (8, 8))


def table_of_distances_instead(n):
    """table_of_distances_instead(int)"""
    return np.fromfunction(lambda i, j: np.hypot(i, j), (8, 8))


def cells(i, j):
    """cells(int, int)"""
    return np.ravel_multi_index((i, j), (30, 40), mode="wrap")


def cells_instead(i, j):
    """cells_instead(int, int)"""
    return np.ravel_multi_index((i % 30, j % 40), (30, 40))


def cells_of_pairs(pairs):
    """cells_of_pairs(int64[2,n])"""
    return np.ravel_multi_index(pairs, (30, 40))


def cells_of_pairs_instead(pairs):
    """cells_of_pairs_instead(int64[2,n])"""
    return np.ravel_multi_index((pairs[0], pairs[1]), (30, 40))


def pairs_and_numbers(x):
    """pairs_and_numbers(float64[n])"""
    out = []
    for k in range(len(x)):
        out.append((k, x[k]))
        if x[k] > 0:
            out.append(k)
    return out


def pairs_and_numbers_instead(x):
    """pairs_and_numbers_instead(float64[n])"""
    out = []
    for k in range(len(x)):
        out.append((k, x[k]))
        if x[k] > 0:
            out.append((k, 0.0))
    return out


def sorted_narrow(x):
    """sorted_narrow(float32[n])"""
    out = []
    for v in x:
        out.append(v)
    out.append(1.0)
    out.sort()
    return out


def sorted_narrow_instead(x):
    """sorted_narrow_instead(float32[n])"""
    out = []
    for v in x:
        out.append(v)
    out.append(x.dtype.type(1.0))
    out.sort()
    return out


def counted_from_one(x):
    """counted_from_one(int64[n])"""
    counts = defaultdict(lambda: 1)
    for v in x:
        counts[v] += 1
    return counts


def counted_from_one_instead(x):
    """counted_from_one_instead(int64[n])"""
    counts = defaultdict(lambda: 1)
    for v in x:
        counts[v] += 1
    return dict(counts)


def counted_from_number(x):
    """counted_from_number(int64[n])"""
    counts = defaultdict(0)
    for v in x:
        counts[v] += 1
    return counts


def keyed_by_rows(a):
    """keyed_by_rows(int64[n,2])"""
    seen = {}
    for k in range(len(a)):
        seen[k] = 1
        seen[a[k]] = k
    return seen


def keyed_by_rows_instead(a):
    """keyed_by_rows_instead(int64[n,2])"""
    seen = {}
    for k in range(len(a)):
        seen[a[k, 0], a[k, 1]] = k
    return seen


def column_if(a, wanted):
    """column_if(float64[n,m], bool)"""
    return a[wanted, 0]


def shape_of(x, k):
    """shape_of(float64[n], int)"""
    return x.sum[k]


def up_to(n):
    """up_to(int)"""
    total = 0
    for k in n:
        total += k
    return total


def up_to_instead(n):
    """up_to_instead(int)"""
    total = 0
    for k in range(n):
        total += k
    return total


def is_a_row(a, x):
    """is_a_row(float64[n,m], float64[m])"""
    rows = []
    for row in a:
        rows.append(row)
    return x in rows


def is_a_row_instead(a, x):
    """is_a_row_instead(float64[n,m], float64[m])"""
    rows = []
    for row in a:
        rows.append(row)
    return any((row == x).all() for row in rows)


def weighted(x, k):
    """weighted(float64[n], int)"""
    total = 0j
    for v, w in zip(x, [k, 1j, x[0]]):
        total += v * w
    return total


def weighted_instead(x, k):
    """weighted_instead(float64[n], int)"""
    total = 0j
    for v, w in zip(x, np.array([k, 1j, x[0]])):
        total += v * w
    return total


def normalised(x):
    """normalised(float64[n])"""
    squares = (v * v for v in x)
    return sum(squares) / max(squares)


def normalised_instead(x):
    """normalised_instead(float64[n])"""
    squares = list(v * v for v in x)
    return sum(squares) / max(squares)


def keys_before(x):
    """keys_before(int64[n])"""
    seen = {}
    keys = seen.keys()
    for v in x:
        seen[v] = 1
    return len(keys)


def keys_before_instead(x):
    """keys_before_instead(int64[n])"""
    seen = {}
    for v in x:
        seen[v] = 1
    return len(seen.keys())


def inverse_of_half(a):
    """inverse_of_half(float16[n,n])"""
    return np.linalg.inv(a)


def inverse_of_half_instead(a):
    """inverse_of_half_instead(float16[n,n])"""
    return np.linalg.inv(a.astype(np.float32))


def spectrum(a):
    """spectrum(float64[n,n])"""
    values, vectors = np.linalg.eig(a)
    return values


def spectrum_instead(a):
    """spectrum_instead(float64[n,n])"""
    values, vectors = np.linalg.eig(a.astype(complex))
    return values


def solved_for_number(a, b):
    """solved_for_number(float64[1,1], float)"""
    return np.linalg.solve(a, b)


def solved_for_number_instead(a, b):
    """solved_for_number_instead(float64[1,1], float)"""
    return np.linalg.solve(a, np.array([b]))


def pseudo_inverse(a, small):
    """pseudo_inverse(float64[n,m], float)"""
    return np.linalg.pinv(a, rcond=small)


def pseudo_inverse_instead(a, small):
    """pseudo_inverse_instead(float64[n,m], float)"""
    return np.linalg.pinv(a, rcond=1e-10)


def strides_of(x, k):
    """strides_of(float64[n], int)"""
    return x[::k].sum()



def strides_of_instead(x, k):
    """strides_of_instead(float64[n], int)"""
    return x[np.arange(0, len(x), k)].sum()


def one_or_the_other(x, k):
    """one_or_the_other(float64[n], int)"""
    pair = (x, 3)
    return pair[k]


def middle_entry(x):
    """middle_entry(float64[n])"""
    table = {3: x, 5: 2 * x}
    return table[4]


def every_second(x):
    """every_second(float64[n])"""
    return 5 in range(0, len(x), 2)


def every_second_instead(x):
    """every_second_instead(float64[n])"""
    return 0 <= 5 < len(x) and (5 - 0) % 2 == 0


def nested_three_times(n):
    """nested_three_times(int)"""
    rows = []
    for k in range(n):
        row = []
        for j in range(k):
            cell = []
            for i in range(j):
                cell.append(i)
            row.append(cell)
        rows.append(row)
    return rows


def huge(x):
    """huge(float64[n])"""
    return x[0] + 2 ** (10**9)


def picked(x, k):
    """picked(float64[n], int)"""
    choices = (x[0], 1, np.float32(2))
    return choices[k]


def picked_instead(x, k):
    """picked_instead(float64[n], int)"""
    choices = np.array((x[0], 1, np.float32(2)))
    return choices[k]


def real_part_under_filter(x, z):
    """real_part_under_filter(float64[n], complex128[n])"""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("once")
        x[:] = z
    return x


def real_part_under_filter_instead(x, z):
    """real_part_under_filter_instead(float64[n], complex128[n])"""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("once")
        x[:] = z.real
    return x
