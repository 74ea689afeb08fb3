"""Keys of dicts and positions in lists that only the run knows."""

import numpy as np

# --- keys


def complex_counts(x):
    """complex_counts(complex128[n])"""
    counts = {}
    for v in x:
        counts[v] = counts.get(v, 0) + 1
    return len(counts)


def complex_counts_instead(x):
    """complex_counts_instead(complex128[n])"""
    counts = {}
    for v in x:
        counts[v.real, v.imag] = counts.get((v.real, v.imag), 0) + 1
    return len(counts)


def complex_seen(x):
    """complex_seen(complex128[n])"""
    seen = set()
    for v in x:
        seen.add(v)
    return len(seen)


def complex_seen_instead(x):
    """complex_seen_instead(complex128[n])"""
    seen = set()
    for v in x:
        seen.add((v.real, v.imag))
    return len(seen)


def default_for_an_error(x):
    """default_for_an_error(float64[n])"""
    weights = {"left": 1.0, None: 2.0}
    side = None
    for v in x:
        if v < 0:
            side = "left"
    return weights.get(side, 0.0)


def default_for_an_error_instead(x):
    """default_for_an_error_instead(float64[n])"""
    weights = {"left": 1.0, None: 2.0}
    left = False
    for v in x:
        if v < 0:
            left = True
    return weights["left"] if left else weights[None]


def texts_beside_numbers(x):
    """texts_beside_numbers(int64[n])"""
    found = {"all": 0}
    for v in x:
        found["all"] += v
        found[v] = found.get(v, 0) + 1
    return found


def texts_beside_numbers_instead(x):
    """texts_beside_numbers_instead(int64[n])"""
    total, found = {"all": 0}, {}
    for v in x:
        total["all"] += v
        found[v] = found.get(v, 0) + 1
    return total, found


# --- positions


def chosen_function(x, k):
    """chosen_function(float64[n], int64[1])"""
    return [np.sin, np.cos][k[0]](x)


def chosen_function_instead(x, k):
    """chosen_function_instead(float64[n], int64[1])"""
    return np.sin(x) if k[0] == 0 else np.cos(x)


def chosen_array(x, y, k):
    """chosen_array(float64[n], float64[n], int64[1])"""
    return (x, y)[k[0]]


def chosen_array_instead(x, y, k):
    """chosen_array_instead(float64[n], float64[n], int64[1])"""
    return np.stack((x, y))[k[0]]


def number_or_name(k):
    """number_or_name(int64[1])"""
    return {"a": 1, "b": "none"}["a" if k[0] > 0 else "b"]


def first_weights(x):
    """first_weights(float64[n])"""
    return (0.5, 0.25, 0.125)[: int(x[0])]


def first_weights_instead(x):
    """first_weights_instead(float64[n])"""
    return np.array((0.5, 0.25, 0.125))[: int(x[0])]


def zero_or_element(x):
    """zero_or_element(float32[n])"""
    first = x[0] if x[1] > 0 else 0
    return first * np.ones(3, dtype=np.int8)


def zero_or_element_instead(x):
    """zero_or_element_instead(float32[n])"""
    first = x[0] if x[1] > 0 else x.dtype.type(0)
    return first * np.ones(3, dtype=np.int8)
