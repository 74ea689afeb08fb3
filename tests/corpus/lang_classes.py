"""Classes whose operators mean something, generators that loops use up, names that are None first, growing arrays."""

# ruff: noqa: B905, PERF401, SIM102, SIM108
from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.corpus.registry import Case


@dataclass
class Dual:
    """A value and its derivative."""

    value: Any
    slope: Any

    def __add__(self, other: Any) -> Dual:
        other = lifted(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slope)

    def __sub__(self, other: Any) -> Dual:
        return self + (-lifted(other))

    def __rsub__(self, other: Any) -> Dual:
        return lifted(other) + (-self)

    def __mul__(self, other: Any) -> Dual:
        other = lifted(other)
        return Dual(self.value * other.value, self.slope * other.value + self.value * other.slope)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Dual:
        other = lifted(other)
        return Dual(self.value / other.value, (self.slope * other.value - self.value * other.slope) / other.value**2)

    def __pow__(self, n: int) -> Dual:
        return Dual(self.value**n, n * self.value ** (n - 1) * self.slope)


def lifted(x: Any) -> Dual:
    return x if isinstance(x, Dual) else Dual(x, 0.0)


class Quaternion:
    def __init__(self, w: Any, x: Any, y: Any, z: Any) -> None:
        self.w, self.x, self.y, self.z = w, x, y, z

    def __mul__(self, q: Quaternion) -> Quaternion:
        return Quaternion(
            self.w * q.w - self.x * q.x - self.y * q.y - self.z * q.z,
            self.w * q.x + self.x * q.w + self.y * q.z - self.z * q.y,
            self.w * q.y - self.x * q.z + self.y * q.w + self.z * q.x,
            self.w * q.z + self.x * q.y - self.y * q.x + self.z * q.w,
        )

    def __truediv__(self, s: Any) -> Quaternion:
        return Quaternion(self.w / s, self.x / s, self.y / s, self.z / s)

    def __abs__(self) -> Any:
        return math.sqrt(self.w**2 + self.x**2 + self.y**2 + self.z**2)

    def __invert__(self) -> Quaternion:
        return Quaternion(self.w, -self.x, -self.y, -self.z)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.w, self.x, self.y, self.z))


class Polynomial:
    def __init__(self, coefficients: Any) -> None:
        self.coefficients = coefficients

    def __len__(self) -> int:
        return len(self.coefficients)

    def __getitem__(self, k: Any) -> Any:
        return self.coefficients[k]

    def __call__(self, x: Any) -> Any:
        value = 0.0
        for k in range(len(self) - 1, -1, -1):
            value = value * x + self[k]
        return value

    def slope(self) -> Polynomial:
        return Polynomial(self.coefficients[1:] * np.arange(1, len(self)))

    def __matmul__(self, other: Polynomial) -> Polynomial:
        return Polynomial(np.convolve(self.coefficients, other.coefficients))


class Laplacian:
    """Minus the second differences, without a matrix."""

    def __init__(self, n: int, shift: float) -> None:
        self.n, self.shift = n, shift

    def __matmul__(self, x: Any) -> Any:
        y = (2.0 + self.shift) * x
        y[1:] -= x[:-1]
        y[:-1] -= x[1:]
        return y


class Ring:
    """The last values of a stream."""

    def __init__(self, room: int) -> None:
        self.values = np.zeros(room)
        self.count = 0

    def __len__(self) -> int:
        return min(self.count, len(self.values))

    def __iadd__(self, value: Any) -> Ring:
        self.values[self.count % len(self.values)] = value
        self.count += 1
        return self

    def __getitem__(self, back: int) -> Any:
        if back >= len(self):
            raise IndexError(f"only {len(self)} values")
        return self.values[(self.count - 1 - back) % len(self.values)]

    def __bool__(self) -> bool:
        return self.count > 0


class Interval:
    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = low, high

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __mul__(self, other: Interval) -> Interval:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    def __contains__(self, value: Any) -> bool:
        return bool(self.low <= value <= self.high)

    def __and__(self, other: Interval) -> Interval:
        return Interval(max(float(self.low), other.low), min(float(self.high), other.high))

    def __bool__(self) -> bool:
        return bool(self.low <= self.high)


class Board:
    def __init__(self, cells: Any) -> None:
        self.cells = cells

    def __getitem__(self, at: tuple[int, int]) -> Any:
        return self.cells[at[0] % self.cells.shape[0], at[1] % self.cells.shape[1]]

    def __setitem__(self, at: tuple[int, int], value: Any) -> None:
        i, j = at
        self.cells[i % self.cells.shape[0], j % self.cells.shape[1]] = value

    def __len__(self) -> int:
        return int(self.cells.size)


class Dense:
    def __init__(self, weights: Any, bias: Any) -> None:
        self.weights, self.bias = weights, bias

    def __call__(self, x: Any) -> Any:
        return np.tanh(x @ self.weights + self.bias)


class Network:
    def __init__(self, layers: list[Dense]) -> None:
        self.layers = layers

    def __len__(self) -> int:
        return len(self.layers)

    def __getitem__(self, k: int) -> Dense:
        return self.layers[k]

    def __iter__(self) -> Iterator[Dense]:
        return iter(self.layers)

    def __call__(self, x: Any) -> Any:
        for layer in self:
            x = layer(x)
        return x


@dataclass
class Track:
    """A filter of positions with a velocity (alpha-beta)."""

    position: float
    velocity: float
    missed: int = 0

    def __call__(self, measured: Any, dt: float) -> Any:
        self.position += self.velocity * dt
        if measured is None:
            self.missed += 1
            return None
        residual = measured - self.position
        self.position += 0.85 * residual
        self.velocity += 0.005 / dt * residual
        return residual


@dataclass
class Task:
    release: float
    length: float

    def __lt__(self, other: Task) -> bool:
        return self.length < other.length or (self.length == other.length and self.release < other.release)


def minibatches(x: Any, y: Any, size: int) -> Iterator[Any]:
    for start in range(0, len(x), size):
        yield x[start : start + size], y[start : start + size]


def runs_above(x: Any, level: float) -> Iterator[Any]:
    """Where runs of values above a level begin and end."""
    start = None
    for i in range(len(x)):
        if x[i] > level:
            if start is None:
                start = i
        elif start is not None:
            yield start, i
            start = None
    if start is not None:
        yield start, len(x)


def around(i: int, j: int) -> Iterator[Any]:
    for di in (-1, 0, 1):
        for dj in (-1, 0, 1):
            if di or dj:
                yield i + di, j + dj


def halvings(low: float, high: float) -> Iterator[float]:
    while high - low > 1e-3:
        middle = (low + high) / 2
        yield middle
        low = middle


def windows(image: Any, size: int) -> Iterator[Any]:
    for i in range(image.shape[0] - size + 1):
        for j in range(image.shape[1] - size + 1):
            yield i, j, image[i : i + size, j : j + size]


def rosenbrock_slopes(x: Any) -> Any:
    """Forward differentiation: numbers on either side of an operator."""
    total, slopes = 0.0, np.zeros(len(x))
    for k in range(len(x)):
        value = Dual(0.0, 0.0)
        for i in range(len(x) - 1):
            a = Dual(x[i], 1.0 if i == k else 0.0)
            c = Dual(x[i + 1], 1.0 if i + 1 == k else 0.0)
            value = value + 100.0 * (c - a**2) ** 2 + (1.0 - a) ** 2
        total, slopes[k] = value.value, value.slope
    return total, slopes


def sensitivity(spot: Any, strike: float, n: int) -> Any:
    """Derivatives along arrays: the same class with arrays in it."""
    s = Dual(spot, np.ones_like(spot))
    value = s / strike
    for k in range(1, n):
        value = value + s**k / (strike + k) - 0.5 * s
    return value.value, value.slope


def attitude(rates: Any, vector: Any, dt: float) -> Any:
    """Integrates angular rates with quaternions, then turns a vector."""
    q = Quaternion(1.0, 0.0, 0.0, 0.0)
    for x, y, z in rates:
        q = q * Quaternion(1.0, 0.5 * dt * x, 0.5 * dt * y, 0.5 * dt * z)
        q = q / abs(q)
    turned = q * Quaternion(0.0, vector[0], vector[1], vector[2]) * ~q
    return np.array(list(turned)[1:]), [part for part in q]


def newton_roots(coefficients: Any, starts: Any) -> Any:
    """Objects that are called, with len and subscripts inside; None where Newton's steps do not end."""
    p = Polynomial(coefficients)
    slope = p.slope()
    roots = []
    for x in starts:
        found = None
        for _ in range(20):
            below = slope(x)
            if below == 0:
                break
            step = p(x) / below
            x = x - step
            if abs(step) < 1e-9:
                found = x
                break
        roots.append(found)
    return roots, len(p), len(p @ slope), (p @ slope)(0.5)


def conjugate_gradients(rhs: Any, shift: float, most: int) -> Any:
    """An operator `A @ x` that is no matrix; the residuals' norms in an array that grows."""
    a = Laplacian(len(rhs), shift)
    x = np.zeros_like(rhs)
    r = rhs - a @ x
    p, old, history = r, r @ r, np.zeros(0)
    for _ in range(most):
        if old < 1e-20:
            break
        q = a @ p
        alpha = old / (p @ q)
        x = x + alpha * p
        r = r - alpha * q
        new = r @ r
        history = np.append(history, math.sqrt(new))
        p = r + new / old * p
        old = new
    return x, history


def smoothed_stream(x: Any, room: int) -> Any:
    """A ring buffer with `+=`, subscripts, len and truth; the peaks are found behind the value that tells them."""
    ring, peaks = Ring(room), []
    out = np.empty(len(x))
    for i, value in enumerate(x):
        if not ring:
            ring += value
            out[i] = value
            continue
        ring += value
        total = 0.0
        for back in range(len(ring)):
            total += ring[back]
        out[i] = total / len(ring)
        if len(ring) > 2 and ring[1] > ring[0] and ring[1] > ring[2]:
            peaks.append(i - 1)
    return out, peaks, ring[0] if ring else None


def enclosure(lows: Any, highs: Any, x: Any) -> Any:
    """Interval arithmetic: a polynomial's range, and which values lie in it."""
    total, unit = Interval(0.0, 0.0), Interval(1.0, 1.0)
    power = unit
    for k in range(len(lows)):
        total = total + Interval(lows[k], highs[k]) * power
        power = power * Interval(-0.5, 2.0)
    common = total & Interval(-1.0, 1.0)
    inside = [v for v in x if v in common]
    return (total.low, total.high), (common.low, common.high) if common else None, len(inside), x[0] in total


def bursts(signal: Any, level: float) -> Any:
    """Runs that a generator finds: the longest of them, their energies, the gap between them."""
    longest, energies, previous, gaps = None, [], None, []
    for start, end in runs_above(signal, level):
        energies.append((signal[start:end] ** 2).sum())
        if longest is None or end - start > longest[1] - longest[0]:
            longest = (start, end)
        if previous is not None:
            gaps.append(start - previous)
        previous = end
    return longest, energies, gaps, max(gaps) if gaps else None


def torus_life(cells: Any, steps: int) -> Any:
    """A board whose subscripts wrap, neighbours from a generator."""
    board = Board(cells)
    for _ in range(steps):
        following = np.zeros_like(board.cells)
        for i in range(board.cells.shape[0]):
            for j in range(board.cells.shape[1]):
                alive = sum(board[x, y] for x, y in around(i, j))
                if alive == 3 or (alive == 2 and board[i, j]):
                    following[i, j] = 1
        board = Board(following)
    board[-1, -1] = 7
    return board.cells, len(board), board[0, 0]


def train(x: Any, y: Any, first: Any, second: Any, rate: float) -> Any:
    """Layers that are called, a network that is a sequence of them, minibatches from a generator."""
    net = Network([Dense(first, np.zeros(first.shape[1])), Dense(second, np.zeros(second.shape[1]))])
    losses, best = [], None
    for u, v in minibatches(x, y, 4):
        hidden = net[0](u)
        out = net[1](hidden)
        error = (out - v) * (1 - out**2) / len(u)
        back = (error @ net[1].weights.T) * (1 - hidden**2)
        net[1].weights = net[1].weights - rate * hidden.T @ error
        net[1].bias = net[1].bias - rate * error.sum(axis=0)
        net[0].weights = net[0].weights - rate * u.T @ back
        net[0].bias = net[0].bias - rate * back.sum(axis=0)
        loss = ((net(u) - v) ** 2).mean()
        losses.append(loss)
        if best is None or loss < best:
            best = loss
    return losses, best, len(net), net(x)


def tracking(measured: list[Any], dt: float) -> Any:
    """Measurements of which some are None, a filter that is called; the largest residual, if there was one."""
    track = Track(0.0, 1.0)
    worst, residuals = None, []
    for z in measured:
        residual = track(z, dt)
        if residual is None:
            continue
        residuals.append(residual)
        if worst is None or abs(residual) > abs(worst):
            worst = residual
    return track, worst, residuals


def shortest_first(releases: Any, lengths: Any) -> Any:
    """Objects compared with `<`: the shortest task that is there runs next."""
    clock, waited, order = 0.0, 0.0, []
    done = np.zeros(len(releases), dtype=bool)
    while not done.all():
        chosen = None
        for i in range(len(releases)):
            if done[i] or releases[i] > clock:
                continue
            if chosen is None or Task(releases[i], lengths[i]) < Task(releases[chosen], lengths[chosen]):
                chosen = i
        if chosen is None:
            clock = releases[~done].min()
            continue
        waited += clock - releases[chosen]
        clock += lengths[chosen]
        done[chosen] = True
        order.append(chosen)
    return order, waited, clock


def trajectory(position: Any, velocity: Any, steps: int) -> Any:
    """Rows put below an array, until the ball is below ground; the step before may be None."""
    path, previous, hit = position[None, :].copy(), None, None
    for k in range(steps):
        velocity = velocity + np.array([0.0, -0.98])
        position = position + 0.1 * velocity
        if previous is not None and position[1] < 0 <= previous[1]:
            hit = k
            break
        path = np.vstack([path, position])
        previous = position
    return path, hit, len(path), path[-1]


def bisected(x: Any, low: float, high: float) -> Any:
    """A generator whose loop ends by itself, its values in a list, a sum, and a comprehension."""
    middles = list(halvings(low, high))
    return len(middles), sum(halvings(low, high)), [float(np.interp(m, np.arange(len(x)), x)) for m in middles[:3]]


def best_match(image: Any, template: Any) -> Any:
    """Windows from a generator; the best place is None where none is good enough."""
    best, at, tried = None, None, 0
    for i, j, part in windows(image, 3):
        tried += 1
        score = ((part - template) ** 2).sum()
        if score < 20 and (best is None or score < best):
            best, at = score, (i, j)
    return at, best, tried


def labelled(values: Any, limits: list[Any]) -> Any:
    """Lists of texts: names chosen for each value, counted and compared."""
    names = ["low", "normal", "high"]
    labels = []
    for v in values:
        label = names[0]
        for name, limit in zip(names[1:], limits):
            if v >= limit:
                label = name
        labels.append(label)
    counts = {name: sum(1 for label in labels if label == name) for name in names}
    return labels, counts, labels[-1] == "high"


def breakpoints(x: Any, tolerance: float) -> Any:
    """A curve made simpler: points are kept in an array that grows; the last kept one is None at first."""
    kept, last = np.zeros((0, 2)), None
    for i in range(len(x)):
        if last is None or abs(x[i] - last) > tolerance:
            kept = np.concatenate([kept, np.array([[float(i), x[i]]])])
            last = x[i]
    slopes = np.diff(kept[:, 1]) / np.diff(kept[:, 0])
    return kept, slopes


CASES = [
    Case(rosenbrock_slopes, lambda r: (r.normal(size=4),), ulps=8, scale=1e3),
    Case(sensitivity, lambda r: (r.random(6) + 0.5, 1.5, 4), ulps=8, scale=10.0),
    Case(attitude, lambda r: (r.normal(size=(7, 3)), r.normal(size=3), 0.05), ulps=16, scale=1.0),
    Case(newton_roots, lambda r: (r.normal(size=4), r.normal(size=5)), ulps=1e6, scale=1.0),
    Case(conjugate_gradients, lambda r: (r.normal(size=12), 0.5, 8), ulps=1e4, scale=1.0, special=False),
    Case(smoothed_stream, lambda r: (r.normal(size=15), 4), ulps=4),
    Case(smoothed_stream, lambda r: (r.normal(size=0), 3)),
    Case(enclosure, lambda r: (r.normal(size=4) - 1, r.normal(size=4) + 1, r.normal(size=9)), ulps=4),
    Case(bursts, lambda r: (r.normal(size=40), 0.2), ulps=8),
    Case(bursts, lambda r: (r.random(5), 2.0)),
    Case(torus_life, lambda r: (r.integers(0, 2, (5, 6)), 3)),
    Case(train, lambda r: (r.normal(size=(10, 3)), r.random((10, 2)), r.normal(size=(3, 5)), r.normal(size=(5, 2)), .1),
         ulps=1e3, scale=1.0, special=False,
         refused={"pallas": "an array whose size depends on data has no JAX form"}),
    Case(tracking, lambda r: ([1.0, None, float(r.normal()), 2.5, None, float(r.normal())], 0.1), ulps=4),
    Case(shortest_first, lambda r: (r.random(8) * 10, r.integers(1, 5, 8) * 1.0), special=False),
    Case(trajectory, lambda r: (np.array([0.0, 0.4]), r.random(2), 30)),
    Case(bisected, lambda r: (r.normal(size=9), 0.5, 6.5)),
    Case(best_match, lambda r: (r.normal(size=(6, 7)), r.normal(size=(3, 3))), ulps=4),
    Case(labelled, lambda r: (r.normal(size=9), [-0.5, 0.5])),
    Case(breakpoints, lambda r: (np.cumsum(r.normal(size=20)), 1.0)),
]
