"""Textbook examples of dependence analysis: subscripts, bounds and ranges of every form."""

from __future__ import annotations

import numpy as np

from tests.nests.registry import drawn, nest

# ---- one subscript --------------------------------------------------------------------------------------------------


@nest("float64[n], float64[n]")
def scale(x, y):
    for i in range(len(x)):  # parallel
        y[i] = 2 * x[i] + 1


@nest("float64[n]")
def even_from_odd(a):
    for i in range(len(a) // 2):  # parallel
        a[2 * i] = a[2 * i + 1] + 1


@nest("float64[n]")
def multiples(a):
    for i in range((len(a) + 1) // 4):  # parallel
        a[4 * i] = a[2 * i + 1] * 2


@nest("float64[n]", [{"n": 20}, {"n": 25}])
def out_of_reach(a):
    for i in range(5):  # parallel
        a[i] = a[i + 10] + 1


@nest("float64[n]", [{"n": 21}, {"n": 25}])
def just_in_reach(a):
    for i in range(11):  # sequential
        a[i] = a[i + 10] + 1


@nest("float64[n]", [{"n": 7}, {"n": 8}])
def only_integers_tell(a):
    for i in range(2):  # parallel
        a[3 * i] = a[5 * i + 1] + 1


@nest("float64[n]")
def shifted_by_half(a):
    n = len(a) // 2
    for i in range(n):  # parallel
        a[i] = a[i + n] * 2


@nest("float64[n]")
def shifted_by_almost_half(a):
    n = len(a) // 2
    for i in range(n):  # sequential
        a[i] = a[i + n - 1] * 2


@nest("float64[n]")
def copied_down(a):
    for i in range(len(a) - 1):  # sequential
        a[i] = a[i + 1]


@nest("float64[n]")
def copied_up(a):
    for i in range(1, len(a)):  # sequential | scan
        a[i] = a[i - 1]


@nest("float64[n]", [{"n": n} for n in (0, 1, 10, 11, 21, 30)])
def distance_ten(a):
    for i in range(10, len(a)):  # sequential | scan
        a[i] = a[i - 10] + 1


@nest(
    "float64[n], int", [{"n": n, "k": k} for n, k in ((0, 1), (5, 0), (1, 0), (5, -2), (5, 1), (9, 3), (9, 8), (9, 20))]
)
def distance_unknown(a, k):
    for i in range(max(0, k), len(a)):  # sequential | scan
        a[i] = a[i - max(0, k)] + 1


@nest("float64[n]")
def mirrored(a):
    n = len(a)
    for i in range(n):  # sequential
        a[i] = a[n - 1 - i] + 1


@nest("float64[n]")
def mirrored_half(a):
    n = len(a)
    for i in range(n // 2):  # parallel
        a[i] = a[n - 1 - i] + 1


@nest("float64[n]")
def reversed_in_place(a):
    n = len(a)
    for i in range(n // 2):  # parallel
        a[i], a[n - 1 - i] = a[n - 1 - i], a[i]


@nest("float64[n]")
def crossing(a):
    n = len(a)
    for i in range(n // 2 + 1):  # sequential
        if n > 0:
            a[i] = a[n - 1 - i] + 1


@nest("float64[n], float64[n]")
def by_remainder(x, a):
    for i in range(len(x)):  # sequential
        a[i % 3] = x[i]


@nest("float64[n], float64[n]")
def by_quotient(x, a):
    for i in range(len(x)):  # sequential
        a[i // 2] = x[i]


@nest("float64[n]", [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 9}])
def by_both(x):
    out = np.zeros((len(x) // 3 + 1, 3))
    for i in range(len(x)):  # parallel
        out[i // 3, i % 3] = x[i]
    return out


@nest("float64[n]")
def parity_by_remainder(a):
    for i in range(len(a) - 1):  # parallel
        if i % 2 == 0:
            a[i] = a[i + 1]


# ---- several subscripts ---------------------------------------------------------------------------------------------


@nest("float64[n,m]")
def filled(a):
    for i in range(a.shape[0]):  # parallel
        for j in range(a.shape[1]):  # parallel
            a[i, j] = 10 * i + j


@nest("float64[n,n]")
def coupled_apart(a):
    for i in range(a.shape[0] - 2):  # parallel
        a[i + 1, i + 2] = a[i, i] + 1


@nest("float64[n,n]")
def coupled_together(a):
    for i in range(a.shape[0] - 1):  # sequential | scan
        a[i + 1, i + 1] = a[i, i] + 1


@nest("float64[n]")
def rotated(x):
    n = len(x)
    out = np.zeros((2 * n + 1, 2 * n + 1))
    for i in range(n):  # parallel
        for j in range(n):  # parallel
            out[i + j, i - j + n] = x[i] * 2 + x[j]
    return out


@nest("float64[n]")
def antidiagonals(x):
    n = len(x)
    out = np.zeros(2 * n + 1)
    for i in range(n):  # sequential with parallel body | sequential
        for j in range(n):  # parallel
            out[i + j] = x[i] * 2 + x[j]
    return out


@nest("float64[n,n]")
def lower_from_upper(a):
    for i in range(a.shape[0]):  # parallel
        for j in range(i):  # parallel
            a[i, j] = a[j, i]


@nest("float64[n,n]")
def transposed_in_place(a):
    for i in range(len(a)):  # parallel
        for j in range(i + 1, len(a)):  # parallel
            t = a[i, j]
            a[i, j] = a[j, i]
            a[j, i] = t


@nest("float64[n,n]")
def transposed_wrongly(a):
    for i in range(len(a)):  # sequential with parallel body | sequential | wavefront
        for j in range(len(a)):  # parallel
            a[i, j] = a[j, i]


@nest("float64[n]", [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 8}])
def triangular_sums(a):
    for i in range(len(a)):  # sequential with parallel body | sequential | scan
        for j in range(i):  # reduction
            a[i] += a[j]


@nest("float64[n,m]")
def linearised(a):
    n, m = a.shape
    out = np.zeros(n * m)
    for i in range(n):  # independent: parallel | sequential with parallel body | sequential
        for j in range(m):  # parallel
            out[i * m + j] = a[i, j] + 1
    return out


@nest("float64[n,m,3]")
def linearised_in_three(a):
    n, m, p = a.shape
    out = np.zeros(n * m * p)
    for i in range(n):  # parallel
        for j in range(m):  # parallel
            for k in range(p):  # parallel
                out[(i * m + j) * p + k] = a[i, j, k] + 1
    return out


@nest("float64[n,m]")
def linearised_with_overlap(a):
    n, m = a.shape
    out = np.zeros(n * m + 1)
    for i in range(n):  # sequential with parallel body | sequential
        for j in range(m):  # independent: parallel | sequential
            out[i * (m - 1) + j + 1] = a[i, j] + 1
    return out


@nest("float64[n,n]")
def triangle_packed(a):
    n = a.shape[0]
    out = np.zeros(n * (n + 1) // 2)
    for i in range(n):  # parallel
        for j in range(i + 1):  # parallel
            out[i * (i + 1) // 2 + j] = a[i, j]
    return out


@nest("float64[n,m]", [{"n": 1, "m": 2}, {"n": 2, "m": 3}, {"n": 3, "m": 1}, {"n": 4, "m": 5}])
def unpacked(a):
    n, m = a.shape
    out = np.zeros((n, m))
    for t in range(n * m):  # parallel
        out[t // m, t % m] = a[t // m, t % m] + 1
    return out


DISTANCES = [
    {"n": n, "m": 3, "k": k}
    for n, k in ((0, 0), (5, -1), (9, -3), (9, 0), (9, 2), (9, 4), (9, 5), (9, 9), (4, 30))
]


@nest("float64[n], int", DISTANCES)
def shifted_by_any(a, k):
    for i in range(len(a) - k):  # sequential
        a[i] = a[i + k] * 2 + 1


@nest("float64[n], int", DISTANCES)
def shifted_up_by_any(a, k):
    for i in range(k, len(a)):  # sequential | scan
        a[i] = a[i - k] + 1


@nest("float64[n], int", DISTANCES)
def shifted_backwards_by_any(a, k):
    for i in range(len(a) - 1, k - 1, -1):  # sequential | scan
        a[i] = a[i - k] + 1


@nest("float64[n,m], int", DISTANCES)
def rows_shifted_by_any(a, k):
    for i in range(a.shape[0] - k):  # sequential with parallel body | sequential
        for j in range(a.shape[1]):  # parallel
            a[i, j] = a[i + k, j] - 1


@nest("float64[n], float64[m], int", [{**sizes, "m": m} for sizes in DISTANCES for m in (1, 4, 5)])
def stepped_by_any(a, b, k):
    for i in range(0, len(b), 2):  # sequential
        a[i] = a[i + k] + b[i]


@nest("float64[n,4]")
def packed(a):
    n = len(a)
    out = np.zeros(4 * n)
    for i in range(n):  # parallel
        for j in range(4):  # parallel
            out[4 * i + j] = a[i, j] + 1
    return out


@nest("float64[n,5]")
def packed_too_tight(a):
    n = len(a)
    out = np.zeros(4 * n + 1)
    for i in range(n):  # sequential with parallel body | sequential
        for j in range(5):  # parallel
            out[4 * i + j] = a[i, j] + 1
    return out


@nest("float64[n,m]")
def down_the_columns(a):
    for i in range(1, a.shape[0]):  # per-lane | scan | sequential with parallel body
        for j in range(a.shape[1]):  # parallel
            a[i, j] = a[i - 1, j] + a[i, j]


@nest("float64[n,m]")
def along_the_rows(a):
    for i in range(a.shape[0]):  # parallel
        for j in range(1, a.shape[1]):  # scan | sequential
            a[i, j] = a[i, j - 1] + a[i, j]


@nest("float64[n,m,3]")
def middle_axis_carries(a):
    for i in range(a.shape[0]):  # parallel
        for j in range(1, a.shape[1]):  # per-lane | scan | sequential with parallel body
            for k in range(3):  # parallel
                a[i, j, k] = a[i, j - 1, k] + 1


@nest("float64[n,m]")
def explicit_antidiagonals(a):
    n, m = a.shape
    for d in range(n + m - 1):  # parallel
        for i in range(max(0, d - m + 1), min(n, d + 1)):  # parallel
            a[i, d - i] = a[i, d - i] * 2 + d


# ---- ranges ---------------------------------------------------------------------------------------------------------


@nest("float64[n], float64[m], int")
def bounded_by_minima(x, y, k):
    for i in range(max(0, k), min(len(x), len(y))):  # parallel
        y[i] = x[i] + 1


@nest("float64[n]")
def pairs(a):
    for i in range(0, len(a) - 1, 2):  # parallel
        a[i] = a[i + 1] + 1


@nest("float64[n]")
def every_third_from_two_back(a):
    for i in range(2, len(a), 3):  # parallel
        a[i] = a[i - 2] + a[i - 1]


@nest("float64[n]")
def every_second_from_two_back(a):
    for i in range(2, len(a), 2):  # sequential | scan
        a[i] = a[i - 2] + 1


@nest("float64[n]")
def backwards_copied_up(a):
    for i in range(len(a) - 1, 0, -1):  # sequential
        a[i] = a[i - 1]


@nest("float64[n]")
def backwards_smeared_down(a):
    for i in range(len(a) - 1, 0, -1):  # sequential | scan
        a[i - 1] = a[i] + 1


@nest("float64[n]")
def backwards_doubled(a):
    for i in range(len(a) - 1, -1, -1):  # parallel
        a[i] = a[i] * 2


@nest("float64[n]")
def backwards_in_pairs(a):
    for i in range(len(a) - 1, 0, -2):  # parallel
        a[i] = a[i - 1]


@nest("float64[n]")
def negative_subscripts(a):
    for i in range(len(a) // 2):  # parallel
        a[i] = a[-1 - i] + 1


@nest("float64[n], float64[n]")
def by_enumerate(x, y):
    for i, v in enumerate(x):  # parallel
        y[i] = v * v


@nest("float64[n]")
def enumerated_and_written(x):
    for i, v in enumerate(x):  # sequential | scan
        if i + 1 < len(x):
            x[i + 1] = v + 1


@nest("float64[n], float64[n]")
def by_zip(x, y):
    total = 0.0
    for u, v in zip(x, y):  # reduction
        total += u * v
    return total


@nest("float64[n], float64[n], float64[n]")
def by_enumerated_zip(x, y, out):
    for i, (u, v) in enumerate(zip(x, y)):  # parallel
        out[i] = u - v


@nest("float64[n], float64[n]")
def by_reversed(x, y):
    for i in reversed(range(len(x))):  # parallel
        y[i] = x[i] + i


@nest("float64[n]")
def suffix_sums(a):
    for i in reversed(range(len(a) - 1)):  # scan | sequential
        a[i] += a[i + 1]


@nest("float64[n,m]")
def rows_doubled(a):
    for row in a:  # parallel
        for j in range(len(row)):  # parallel
            row[j] = row[j] * 2


@nest("float64[n], int", ints=(0, 1, 2, 5))
def zero_trips(a, k):
    for i in range(k, k):  # parallel
        a[i] = a[i + 1]


@nest("float64[n]", [{"n": 1}, {"n": 2}, {"n": 9}])
def one_trip(a):
    for i in range(len(a) - 1, len(a)):  # parallel
        a[i] = a[0] + 1


@nest("float64[n], int", [{"n": 8, "k": k} for k in (0, 1, 2, 3, 4)])
def stretched(a, k):
    for i in range(2):  # parallel
        for j in range(k):  # parallel
            a[2 * j + i] = i + j


# ---- functions within -----------------------------------------------------------------------------------------------


@nest("float64[n], float64[n]")
def called_function(x, y):
    def halved(v):
        return v / 2

    for i in range(len(x)):  # parallel
        y[i] = halved(x[i]) + 1


@nest("float64[n]")
def called_previous(a):
    def previous(k):
        return a[k - 1]

    for i in range(1, len(a)):  # scan | sequential
        a[i] = previous(i) + 1


@nest("float64[n,m]", a=drawn("n", "m", low=1))
def called_loop(a):
    def normalised(row):
        total = 0.0
        for j in range(len(row)):  # reduction
            total += row[j]
        return total

    out = np.zeros(len(a))
    for i in range(len(a)):  # parallel
        out[i] = normalised(a[i])
    return out
