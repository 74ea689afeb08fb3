"""NumPy's warnings, with their lines, and filters that make errors of them."""

import warnings

import numpy as np


def ratios(a, b):
    out = np.empty(len(a))
    for k in range(len(a)):
        out[k] = a[k] / b[k]
    return out


def logs(a):
    return np.log(a) * 2 + np.sqrt(a) - 1


rng = np.random.default_rng(0)
a, b = rng.random(100_000), rng.random(100_000)
for k in range(8):
    c = ratios(a, b)
print(c[:3], c[-3:])
b[7] = 0.0
print(ratios(a, b)[6:9])
for k in range(200):
    d = logs(a + k)
print(d[:3])
print(logs(a - 0.5)[:4])
with np.errstate(all="ignore"):
    print(logs(a - 0.5)[:4])
with np.errstate(invalid="raise"):
    try:
        logs(a - 0.5)
    except FloatingPointError as error:
        print("caught", error)
warnings.simplefilter("error")
try:
    print(ratios(a, b)[6:9])
except RuntimeWarning as error:
    print("caught", error)
