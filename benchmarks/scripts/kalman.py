"""Tracking a manoeuvring target with a constant-velocity Kalman filter,
plus an RTS smoother and a scalar local-level filter for a gyro bias."""
import numpy as np

np.set_printoptions(precision=5, suppress=True)


class KalmanFilter:
    def __init__(self, F, H, Q, R, x0, P0):
        self.F, self.H, self.Q, self.R = F, H, Q, R
        self.x = x0.copy()
        self.P = P0.copy()
        self.loglik = 0.0
        self.n_rejected = 0
        self.history = []

    def predict(self):
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z, gate=25.0):
        if z is None or np.isnan(z).any():
            return False
        y = z - self.H @ self.x
        S = self.H @ self.P @ self.H.T + self.R
        Si = np.linalg.inv(S)
        d2 = y @ Si @ y
        if d2 > gate:
            self.n_rejected += 1
            return False
        K = self.P @ self.H.T @ Si
        self.x = self.x + K @ y
        self.P = (np.eye(len(self.x)) - K @ self.H) @ self.P
        self.loglik += -0.5 * (d2 + np.log(np.linalg.det(S)) + len(z) * np.log(2 * np.pi))
        return True

    def step(self, z):
        self.predict()
        ok = self.update(z)
        self.history.append((self.x.copy(), self.P.copy()))
        return ok


def simulate(n, dt, rng):
    truth = np.zeros((n, 4))
    meas = np.zeros((n, 2))
    truth[0] = [0, 0, 10, 0]
    for k in range(1, n):
        x, y, vx, vy = truth[k - 1]
        turn = 0.05 if (k // 200) % 2 else -0.02
        vx, vy = vx * np.cos(turn * dt) - vy * np.sin(turn * dt), vx * np.sin(turn * dt) + vy * np.cos(turn * dt)
        truth[k] = x + vx * dt, y + vy * dt, vx, vy
    for k in range(n):
        meas[k] = truth[k, :2] + rng.normal(0, 4.0, 2)
        u = rng.random()
        if u < 0.03:
            meas[k] = np.nan          # lost detection
        elif u < 0.05:
            meas[k] += rng.normal(0, 200, 2)  # clutter
    return truth, meas


def rts(history, F, Q):
    n = len(history)
    xs = [None] * n
    xs[-1], Ps = history[-1]
    for k in range(n - 2, -1, -1):
        x, P = history[k]
        Pp = F @ P @ F.T + Q
        G = P @ F.T @ np.linalg.inv(Pp)
        xs[k] = x + G @ (xs[k + 1] - F @ x)
        Ps = P + G @ (Ps - Pp) @ G.T
    return np.array(xs)


def local_level(y, q, r):
    """scalar filter, pure python"""
    m, p = y[0], 1.0
    ll = 0.0
    out = np.empty_like(y)
    for t in range(len(y)):
        p = p + q
        s = p + r
        v = y[t] - m
        k = p / s
        m += k * v
        p *= 1 - k
        ll -= 0.5 * (np.log(2 * np.pi * s) + v * v / s)
        out[t] = m
    return out, ll


def fit_bias(rng):
    bias = np.cumsum(rng.normal(0, 0.03, 24000))
    y = bias + rng.normal(0, 0.5, 24000)
    best = None
    for q in (1e-4, 3e-4, 9e-4, 3e-3, 1e-2):
        for r in (0.15, 0.25, 0.35):
            f, ll = local_level(y, q, r)
            print(f"    q={q:<8g} r={r:<5g} ll={ll:12.4f}")
            if best is None or ll > best[0]:
                best = (ll, q, r, f)
    ll, q, r, f = best
    print("best q, r:", q, r, "rmse", np.sqrt(np.mean((f - bias)**2)))


def main():
    rng = np.random.default_rng(5)
    dt = 0.1
    n = 20000
    truth, meas = simulate(n, dt, rng)
    F = np.eye(4)
    F[0, 2] = F[1, 3] = dt
    H = np.zeros((2, 4))
    H[0, 0] = H[1, 1] = 1
    G = np.array([[dt**2 / 2, 0], [0, dt**2 / 2], [dt, 0], [0, dt]])
    Q = G @ G.T * 4.0
    R = np.eye(2) * 16.0
    kf = KalmanFilter(F, H, Q, R, np.array([0.0, 0, 0, 0]), np.diag([100.0, 100, 100, 100]))
    used = 0
    for k in range(n):
        used += kf.step(meas[k])
        if k % 4000 == 0:
            print(k, kf.x, "trace P = %.4f" % np.trace(kf.P))
    est = np.array([h[0] for h in kf.history])
    sm = rts(kf.history, F, Q)
    good = ~np.isnan(meas).any(axis=1)
    print("used", used, "rejected", kf.n_rejected, "missing", int((~good).sum()))
    print("loglik", kf.loglik)
    print("rmse raw     ", np.sqrt(np.mean((meas[good] - truth[good, :2])**2)))
    print("rmse filtered", np.sqrt(np.mean((est[:, :2] - truth[:, :2])**2)))
    print("rmse smoothed", np.sqrt(np.mean((sm[:, :2] - truth[:, :2])**2)))
    print(kf.P)
    fit_bias(rng)


if __name__ == '__main__':
    main()
