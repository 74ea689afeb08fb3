"""Array functions as roboticists write them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.registry import Case


def rotation(axis: Any, angle: float) -> Any:
    """Rodrigues' formula."""
    u = axis / np.linalg.norm(axis)
    skew = np.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])
    return np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * (skew @ skew)


def forward_kinematics(angles: Any, lengths: Any) -> Any:
    """Joints of a planar arm."""
    heading = np.cumsum(angles)
    x = np.concatenate(([0.0], np.cumsum(lengths * np.cos(heading))))
    y = np.concatenate(([0.0], np.cumsum(lengths * np.sin(heading))))
    return np.column_stack((x, y))


def quaternion_product(p: Any, q: Any) -> Any:
    """Hamilton products of rows (w, x, y, z)."""
    w0, x0, y0, z0 = p.T
    w1, x1, y1, z1 = q.T
    return np.stack(
        [
            w0 * w1 - x0 * x1 - y0 * y1 - z0 * z1,
            w0 * x1 + x0 * w1 + y0 * z1 - z0 * y1,
            w0 * y1 - x0 * z1 + y0 * w1 + z0 * x1,
            w0 * z1 + x0 * y1 - y0 * x1 + z0 * w1,
        ],
        axis=-1,
    )


def kalman(x: Any, P: Any, z: Any, F: Any, H: Any, Q: Any, R: Any) -> Any:
    """One step: predict and correct."""
    x = F @ x
    P = F @ P @ F.T + Q
    innovation = z - H @ x
    S = H @ P @ H.T + R
    K = P @ H.T @ np.linalg.inv(S)
    x = x + K @ innovation
    P = (np.eye(x.shape[0]) - K @ H) @ P
    return x, P, np.linalg.norm(innovation)


def transform_points(pose: Any, points: Any) -> Any:
    """A pose (x, y, angle) applied to points, and its inverse."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    R = np.array([[c, -s], [s, c]])
    world = points @ R.T + pose[:2]
    back = (world - pose[:2]) @ R
    return world, back


def occupancy(ranges: Any, angles: Any, cells: int, size: float) -> Any:
    """Hits of a scan in a grid."""
    valid = (ranges > 0) & (ranges < size)
    x = ranges[valid] * np.cos(angles[valid])
    y = ranges[valid] * np.sin(angles[valid])
    column = np.floor((x / size + 1) / 2 * cells).astype(int)
    row = np.floor((y / size + 1) / 2 * cells).astype(int)
    grid = np.zeros((cells, cells), dtype=int)
    np.add.at(grid, (np.clip(row, 0, cells - 1), np.clip(column, 0, cells - 1)), 1)
    return grid


def wrap_angles(a: Any, b: Any) -> Any:
    """Differences of headings in [-pi, pi), and their mean direction."""
    d = np.mod(a - b + np.pi, 2 * np.pi) - np.pi
    return d, np.arctan2(np.mean(np.sin(d)), np.mean(np.cos(d)))


def pid(errors: Any, kp: float, ki: float, kd: float, dt: float) -> Any:
    """Outputs of a controller over a series of errors, limited to 10."""
    integral = np.cumsum(errors) * dt
    derivative = np.concatenate(([0.0], np.diff(errors) / dt))
    return np.clip(kp * errors + ki * integral + kd * derivative, -10.0, 10.0)


def jacobian(angles: Any, lengths: Any) -> Any:
    """The Jacobian of a planar arm, and a damped step to a goal."""
    heading = np.cumsum(angles)
    dx = -np.cumsum((lengths * np.sin(heading))[::-1])[::-1]
    dy = np.cumsum((lengths * np.cos(heading))[::-1])[::-1]
    J = np.vstack((dx, dy))
    goal = np.array([0.1, -0.2])
    step = J.T @ np.linalg.solve(J @ J.T + 0.01 * np.eye(2), goal)
    return J, step


def particle_resample(particles: Any, weights: Any, seed: int) -> Any:
    """Systematic resampling."""
    n = weights.shape[0]
    rng = np.random.default_rng(seed)
    positions = (np.arange(n) + rng.random()) / n
    chosen = np.searchsorted(np.cumsum(weights) / np.sum(weights), positions)
    return particles[np.minimum(chosen, n - 1)]


def trajectory(q0: Any, q1: Any, duration: float, steps: int) -> Any:
    """A cubic path between joint positions: positions and velocities."""
    t = np.linspace(0.0, duration, steps)
    s = t / duration
    blend = 3 * s**2 - 2 * s**3
    rate = 6 * s * (1 - s) / duration
    return q0 + np.outer(blend, q1 - q0), np.outer(rate, q1 - q0)


def nearest_obstacles(points: Any, obstacles: Any, limit: float) -> Any:
    """The nearest obstacle of each point and whether it is too close."""
    d2 = np.sum((points[:, None] - obstacles[None]) ** 2, axis=-1)
    nearest = np.argmin(d2, axis=1)
    distance = np.sqrt(d2[np.arange(points.shape[0]), nearest])
    return nearest, distance, np.any(distance < limit)


def bezier(control: Any, n: int) -> Any:
    """Points of a cubic curve and its length."""
    t = np.linspace(0, 1, n)[:, None]
    p0, p1, p2, p3 = control[0], control[1], control[2], control[3]
    curve = (1 - t) ** 3 * p0 + 3 * (1 - t) ** 2 * t * p1 + 3 * (1 - t) * t**2 * p2 + t**3 * p3
    return curve, np.sum(np.linalg.norm(np.diff(curve, axis=0), axis=1))


CASES = [
    Case(rotation, lambda r: (r.normal(size=3), 0.7), ulps=16, scale=1.0),
    Case(forward_kinematics, lambda r: (r.normal(size=5), r.random(5)), ulps=16, scale=4.0),
    Case(quaternion_product, lambda r: (r.normal(size=(6, 4)), r.normal(size=(6, 4)))),
    Case(
        kalman,
        lambda r: (
            r.normal(size=4),
            np.eye(4),
            r.normal(size=2),
            np.eye(4) + 0.1 * np.eye(4, k=2),
            np.eye(2, 4),
            0.01 * np.eye(4),
            0.1 * np.eye(2),
        ),
        ulps=64,
        scale=2.0,
        special=False,
    ),
    Case(transform_points, lambda r: (r.normal(size=3), r.normal(size=(8, 2))), ulps=32, scale=4.0),
    Case(occupancy, lambda r: (r.random(30) * 6, np.linspace(-3.0, 3.0, 30), 10, 5.0), special=False),
    Case(wrap_angles, lambda r: (r.normal(0, 5, 9), r.normal(0, 5, 9)), ulps=32, scale=6.3),
    Case(pid, lambda r: (r.normal(size=12), 1.2, 0.1, 0.05, 0.1), ulps=16, scale=8.0),
    Case(jacobian, lambda r: (r.normal(size=4), r.random(4) + 0.2), ulps=256, scale=2.0, special=False),
    Case(
        particle_resample,
        lambda r: (r.normal(size=(10, 3)), r.random(10), 5),
        special=False,
        refused={"pallas": "`seeded` has no JAX form"},
    ),
    Case(trajectory, lambda r: (r.normal(size=3), r.normal(size=3), 2.0, 9)),
    Case(nearest_obstacles, lambda r: (r.normal(size=(6, 2)), r.normal(size=(4, 2)), 0.4), ulps=4),
    Case(bezier, lambda r: (r.normal(size=(4, 2)), 12), ulps=16, scale=4.0),
]
