"""Many calls of brief functions, of which few are timed: something else happens in the midst of them."""

import collections
import sys
import traceback

import numpy as np

SCALE = 2.0


def ratio(x, k):
    s = 0.0
    for v in x:
        s += SCALE * v / x[k]
    return s


def shifted(x, k):
    for i in range(len(x)):
        x[i] = x[i] + 1 / x[k]
    return x


class Tracker:
    def __init__(self, n):
        self.x, self.v, self.n = np.zeros(n), np.ones(n), 0
        self.y, self.log = np.zeros(n), [None]

    def step(self, dt):
        for i in range(len(self.x)):
            self.x[i] += self.v[i] * dt
        self.n += 1
        self.log.append(self.x[0])
        return self.x[1] * self.v[0]

    def scaled(self, k):
        for i in range(len(self.x)):
            self.y[i] = self.x[i] / self.v[k]
        return self.y[0]


def told(f, *args):
    try:
        return repr(f(*args))
    except Exception as error:
        return "".join(traceback.format_exception(error))


x, found = np.arange(1.0, 40.0), []
for k in range(900):
    if k == 500:
        x[7] = 0.0
    if k == 700:
        SCALE = 3.0
    at = 7 if k == 503 else 60 if k == 505 else 3
    given = x.astype("f4") if k == 600 else list(x[:5]) if k == 601 else x
    if k == 605:
        with np.errstate(divide="raise"):
            found.append(told(ratio, x, 7))
    found.append(told(ratio, given, at))
    y = x.copy()
    found.append(told(shifted, y, at))
    found.append(y.tolist())
one, other = Tracker(30), Tracker(9)
for k in range(700):
    it = other if k % 50 == 7 else one
    if k == 400:
        one.v[0] = 0.0
    if k == 407:
        one.v[0] = 1.0
    if k == 450:
        it.extra = "new"
    if k == 460:
        one.v = one.v.astype("f4")
    found.append(told(it.step, 0.01))
    found.append(told(it.scaled, 99 if k == 500 else k % 9))
    found.append((it.x.tolist(), it.n, len(it.log)))
traced = collections.Counter()


def tracer(frame, event, argument):
    traced[event, frame.f_code.co_name] += 1
    return tracer


sys.settrace(tracer)
ratio(x, 3)
sys.settrace(None)
print(sorted(traced.items()))
for line in found:
    print(line)
