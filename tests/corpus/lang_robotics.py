"""Robotics: transforms, filters, planners, controllers with state."""

# ruff: noqa: B007, B018, B905, E741, PERF401, UP031
from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tests.corpus.registry import Case

WHEEL_BASE = 0.35
LIMITS = (-1.5, 1.5)


class Pose(NamedTuple):
    x: float
    y: float
    theta: float


@dataclass
class Pid:
    kp: float
    ki: float = 0.0
    kd: float = 0.0
    integral: float = 0.0
    previous: float | None = None

    def __call__(self, error: float, dt: float) -> float:
        self.integral += error * dt
        derivative = 0.0 if self.previous is None else (error - self.previous) / dt
        self.previous = error
        return self.kp * error + self.ki * self.integral + self.kd * derivative


@dataclass
class Kalman:
    x: np.ndarray
    P: np.ndarray
    Q: np.ndarray
    R: float
    innovations: list = field(default_factory=list)

    def predict(self, F: Any) -> None:
        self.x = F @ self.x
        self.P = F @ self.P @ F.T + self.Q

    def update(self, z: float, H: Any) -> None:
        innovation = z - H @ self.x
        S = H @ self.P @ H + self.R
        K = self.P @ H / S
        self.x = self.x + K * innovation
        self.P = self.P - np.outer(K, H @ self.P)
        self.innovations.append(innovation)


def normalise_angle(theta: float) -> float:
    """A while loop on a number, in both directions."""
    while theta > math.pi:
        theta -= 2 * math.pi
    while theta < -math.pi:
        theta += 2 * math.pi
    return theta


def drive(pose: Pose, left: float, right: float, dt: float = 0.1) -> Pose:
    """Differential drive: trigonometry of math, a branch on nearly equal speeds."""
    v, omega = (left + right) / 2, (right - left) / WHEEL_BASE
    if math.isclose(left, right):
        return Pose(pose.x + v * dt * math.cos(pose.theta), pose.y + v * dt * math.sin(pose.theta), pose.theta)
    theta = pose.theta + omega * dt
    radius = v / omega
    x = pose.x + radius * (math.sin(theta) - math.sin(pose.theta))
    y = pose.y - radius * (math.cos(theta) - math.cos(pose.theta))
    return Pose(x, y, normalise_angle(theta))


def odometry(start: Pose, wheels: Any) -> Any:
    """A named tuple carried through a loop over rows."""
    pose = start
    xs = np.zeros(len(wheels))
    for k, (left, right) in enumerate(wheels):
        pose = drive(pose, float(left), float(right))
        xs[k] = pose.x
    return pose, xs


def control(pid: Pid, target: float, measured: Any) -> Any:
    """An optional attribute that gets a value, a callable object."""
    first = pid(target - float(measured[0]), 0.1)
    outputs = [first]
    for m in measured[1:]:
        outputs.append(pid(target - float(m), 0.1))
    return np.clip(outputs, *LIMITS)


def track(kalman: Kalman, readings: Any, dt: float = 0.1) -> Any:
    """Matrices as attributes, rebound in a loop; a list attribute."""
    F = np.array([[1.0, dt], [0.0, 1.0]])
    H = np.array([1.0, 0.0])
    for z in readings:
        kalman.predict(F)
        if not np.isnan(z):
            kalman.update(z, H)
    return kalman.x


def rotation(axis: str, angle: float) -> Any:
    """List displays as matrices, an error for a wrong flag."""
    c, s = math.cos(angle), math.sin(angle)
    if axis == "x":
        return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    if axis == "y":
        return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    if axis == "z":
        return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    raise ValueError(f"axis must be 'x', 'y' or 'z', not {axis!r}")


def forward_kinematics(angles: Any, lengths: list, degrees: bool = False) -> Any:
    """zip of an array and a list, cumulative angle."""
    if degrees:
        angles = np.deg2rad(angles)
    points = np.zeros((len(lengths) + 1, 2))
    total = 0.0
    for k, (a, l) in enumerate(zip(angles, lengths)):
        total += a
        points[k + 1, 0] = points[k, 0] + l * np.cos(total)
        points[k + 1, 1] = points[k, 1] + l * np.sin(total)
    return points[-1], points


def euler_to_matrix(angles: Any, order: str = "xyz") -> Any:
    """A string iterated over."""
    result = np.eye(3)
    for k, axis in enumerate(order):
        result = result @ rotation(axis, angles[k])
    return result


def quaternion_multiply(p: tuple, q: tuple) -> tuple:
    """Tuples of floats in and out."""
    pw, px, py, pz = p
    qw, qx, qy, qz = q
    return (
        pw * qw - px * qx - py * qy - pz * qz,
        pw * qx + px * qw + py * qz - pz * qy,
        pw * qy - px * qz + py * qw + pz * qx,
        pw * qz + px * qy - py * qx + pz * qw,
    )


def nearest_obstacle(position: tuple, obstacles: Any, radius: float | None = None) -> Any:
    """Optional radius; the result is None or a number by the caller's choice."""
    px, py = position
    best, index = math.inf, -1
    for k in range(len(obstacles)):
        d = math.hypot(obstacles[k, 0] - px, obstacles[k, 1] - py)
        if d < best:
            best, index = d, k
    if radius is None:
        return index, best
    return index, best, best < radius


def occupancy(points: Any, size: int = 8, resolution: float = 0.5) -> Any:
    """Counting into a grid with bounds and a continue."""
    grid = np.zeros((size, size), dtype=np.int32)
    outside = 0
    for x, y in points:
        i, j = int(math.floor(x / resolution)) + size // 2, int(math.floor(y / resolution)) + size // 2
        if not (0 <= i < size and 0 <= j < size):
            outside += 1
            continue
        grid[i, j] += 1
    return grid, outside


def breadth_first(walls: Any, start: tuple, goal: tuple) -> int:
    """A queue in an array, neighbours by constant offsets, for-else."""
    rows, columns = walls.shape
    distance = -np.ones((rows, columns), dtype=np.int64)
    queue = np.zeros((rows * columns, 2), dtype=np.int64)
    head, tail = 0, 1
    queue[0] = start
    distance[start] = 0
    while head < tail:
        i, j = queue[head]
        head += 1
        if i == goal[0] and j == goal[1]:
            break
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            r, c = i + di, j + dj
            if r < 0 or c < 0 or r >= rows or c >= columns:
                continue
            if walls[r, c] or distance[r, c] >= 0:
                continue
            distance[r, c] = distance[i, j] + 1
            queue[tail, 0], queue[tail, 1] = r, c
            tail += 1
    return int(distance[goal])


def smooth_path(path: Any, weight: float = 0.5, tolerance: float = 1e-3) -> Any:
    """Iterate until the change is small, bounded; a local function that captures."""
    new = path.copy()

    def relax(i: int) -> float:
        old = new[i].copy()
        new[i] += weight * (path[i] - new[i]) + 0.25 * (new[i - 1] + new[i + 1] - 2 * new[i])
        return float(np.abs(new[i] - old).sum())

    for iteration in range(25):
        change = 0.0
        for i in range(1, len(path) - 1):
            change += relax(i)
        if change < tolerance:
            break
    return new, iteration


def fuse(readings: dict, weights: dict | None = None) -> Any:
    """A dict of arrays and an optional dict of numbers with the same keys."""
    weights = weights or {name: 1.0 for name in readings}
    total = sum(weights[name] for name in readings)
    fused = None
    for name, values in readings.items():
        part = weights[name] / total * values
        fused = part if fused is None else fused + part
    return fused


def trapezoid_profile(distance: float, vmax: float, amax: float, n: int = 6) -> list:
    """A comprehension over a range with a conditional function."""
    ramp = vmax / amax
    if distance < vmax * ramp:
        ramp = math.sqrt(distance / amax)
    total = 2 * ramp + max(distance - amax * ramp * ramp, 0.0) / vmax

    def speed(t: float) -> float:
        if t < ramp:
            return amax * t
        if t > total - ramp:
            return amax * (total - t)
        return amax * ramp

    return [speed(total * k / (n - 1)) for k in range(n)]


def check_joints(angles: Any, limits: Any) -> Any:
    """Assertions with data in their messages."""
    assert angles.shape == limits.shape[:1], f"{angles.shape[0]} joints, {limits.shape[0]} limits"
    for k in range(len(angles)):
        low, high = limits[k]
        if angles[k] < low or angles[k] > high:
            raise ValueError("joint %d at %.2f is outside [%.1f, %.1f]" % (k, angles[k], low, high))
    return (angles - limits[:, 0]) / (limits[:, 1] - limits[:, 0])


def select(state: str, battery: float, distance: float) -> str:
    """A state machine: strings as results."""
    if state == "idle":
        return "idle" if battery < 0 else "driving"
    return state


def machine(steps: int, speed: float) -> Any:
    """A state in a string through a loop of constant length."""
    state, x = "idle", 0.0
    for _ in range(4):
        state = select(state, speed, x)
        x += speed if state == "driving" else 0.0
    return state, x, steps


# fmt: off
CASES = [
    Case(odometry, lambda r: (Pose(0.0, 0.0, 0.1), r.random((6, 2))), 64, 1.0, special=False),
    Case(control, lambda r: (Pid(1.2, 0.1, 0.05), 1.0, r.normal(size=6)), 4),
    Case(
        track, lambda r: (Kalman(np.zeros(2), np.eye(2), 0.01 * np.eye(2), 0.1), r.normal(size=5)), 256, 1.0,
        special=False,
    ),
    Case(euler_to_matrix, lambda r: (r.normal(size=3), "zyx"), 64, 1.0, special=False),
    Case(euler_to_matrix, lambda r: (r.normal(size=3), "xyw"), special=False),
    Case(forward_kinematics, lambda r: (r.normal(size=3), [1.0, 0.5, 0.25]), 16, 1.0, special=False),
    Case(forward_kinematics, lambda r: (r.normal(size=2) * 90, [1.0, 0.5], True), 16, 1.0, special=False),
    Case(quaternion_multiply, lambda r: (tuple(map(float, r.normal(size=4))), tuple(map(float, r.normal(size=4))))),
    Case(nearest_obstacle, lambda r: ((0.1, 0.2), r.normal(size=(6, 2))), 4),
    Case(nearest_obstacle, lambda r: ((0.1, 0.2), r.normal(size=(6, 2)), 0.5), 4),
    Case(occupancy, lambda r: (r.normal(size=(20, 2)),)),
    Case(breadth_first, lambda r: (r.random((6, 6)) < 0.2, (0, 0), (5, 5)), special=False),
    Case(smooth_path, lambda r: (r.normal(size=(7, 2)),), 64, 1.0, special=False),
    Case(fuse, lambda r: ({"lidar": r.normal(size=5), "sonar": r.normal(size=5)},)),
    Case(fuse, lambda r: ({"lidar": r.normal(size=5), "sonar": r.normal(size=5)}, {"lidar": 3.0, "sonar": 1.0})),
    Case(trapezoid_profile, lambda r: (5.0, 1.0, 2.0)),
    Case(trapezoid_profile, lambda r: (0.1, 1.0, 2.0, 9)),
    Case(check_joints, lambda r: (r.normal(size=4), np.array([[-2.0, 2.0]] * 4)), special=False),
    Case(check_joints, lambda r: (r.normal(size=3), np.array([[-2.0, 2.0]] * 4))),
    Case(machine, lambda r: (3, 0.5)),
]
# fmt: on
