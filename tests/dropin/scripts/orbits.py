"""Classes with state, methods and properties; printed with all digits."""

import numpy as np


class System:
    def __init__(self, n):
        rng = np.random.default_rng(3)
        self.x = rng.normal(size=(n, 3))
        self.v = np.zeros((n, 3))
        self.m = rng.random(n) + 0.5
        self.steps = 0

    @property
    def energy(self):
        total = 0.0
        for i in range(len(self.m)):
            total += 0.5 * self.m[i] * (self.v[i, 0] ** 2 + self.v[i, 1] ** 2 + self.v[i, 2] ** 2)
            for j in range(i):
                d = self.x[i] - self.x[j]
                total -= self.m[i] * self.m[j] / np.sqrt(d[0] ** 2 + d[1] ** 2 + d[2] ** 2 + 0.01)
        return total

    def accelerations(self):
        n = len(self.m)
        a = np.zeros((n, 3))
        for i in range(n):
            for j in range(n):
                if i != j:
                    dx = self.x[j, 0] - self.x[i, 0]
                    dy = self.x[j, 1] - self.x[i, 1]
                    dz = self.x[j, 2] - self.x[i, 2]
                    r2 = dx * dx + dy * dy + dz * dz + 0.01
                    f = self.m[j] / (r2 * np.sqrt(r2))
                    a[i, 0] += f * dx
                    a[i, 1] += f * dy
                    a[i, 2] += f * dz
        return a

    def advance(self, dt):
        self.v += 0.5 * dt * self.accelerations()
        self.x += dt * self.v
        self.v += 0.5 * dt * self.accelerations()
        self.steps += 1

    def __repr__(self):
        return f"System({len(self.m)} bodies, {self.steps} steps)"


system = System(40)
print(system, repr(system.energy))
for k in range(60):
    system.advance(0.001)
    if k % 20 == 19:
        print(system, repr(system.energy))
print(system.x[:2].tolist())
