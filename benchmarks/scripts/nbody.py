"""N-body: softened gravity, kick-drift-kick leapfrog, energies monitored.
"""
import numpy as np


class System:
    G = 1.0

    def __init__(self, pos, vel, mass, eps=0.05):
        self.pos = pos
        self.vel = vel
        self.mass = mass
        self.eps2 = eps * eps
        self.n = len(mass)
        self.acc = np.zeros_like(pos)
        self.t = 0.0
        self.nforce = 0
        self.compute_acc()

    def compute_acc(self):
        n = self.n
        pos, mass, acc = self.pos, self.mass, self.acc
        acc[:] = 0.0
        for i in range(n):
            for j in range(i + 1, n):
                dx = pos[j, 0] - pos[i, 0]
                dy = pos[j, 1] - pos[i, 1]
                dz = pos[j, 2] - pos[i, 2]
                r2 = dx * dx + dy * dy + dz * dz + self.eps2
                inv = self.G / (r2 * np.sqrt(r2))
                acc[i, 0] += mass[j] * dx * inv
                acc[i, 1] += mass[j] * dy * inv
                acc[i, 2] += mass[j] * dz * inv
                acc[j, 0] -= mass[i] * dx * inv
                acc[j, 1] -= mass[i] * dy * inv
                acc[j, 2] -= mass[i] * dz * inv
        self.nforce += n * (n - 1) // 2

    def step(self, dt):
        self.vel += 0.5 * dt * self.acc
        self.pos += dt * self.vel
        self.compute_acc()
        self.vel += 0.5 * dt * self.acc
        self.t += dt

    def energy(self):
        kin = 0.0
        for i in range(self.n):
            kin += 0.5 * self.mass[i] * np.dot(self.vel[i], self.vel[i])
        pot = 0.0
        for i in range(self.n):
            for j in range(i):
                d = self.pos[i] - self.pos[j]
                pot -= self.G * self.mass[i] * self.mass[j] / np.sqrt(d.dot(d) + self.eps2)
        return kin, pot

    @property
    def angular_momentum(self):
        return np.sum(self.mass[:, None] * np.cross(self.pos, self.vel), axis=0)


def plummer(n, rng):
    pos = np.zeros((n, 3))
    vel = np.zeros((n, 3))
    for i in range(n):
        r = 10.0
        while r > 5:
            r = 1.0 / np.sqrt(rng.uniform(0.001, 1) ** (-2 / 3.0) - 1 + 1e-9)
        ct = rng.uniform(-1, 1)
        ph = rng.uniform(0, 2 * np.pi)
        st = np.sqrt(1 - ct**2)
        pos[i] = r * st * np.cos(ph), r * st * np.sin(ph), r * ct
        # von Neumann rejection for the speed
        while True:
            q, g = rng.uniform(0, 1), rng.uniform(0, 0.1)
            if g < q * q * (1 - q * q) ** 3.5:
                break
        v = q * np.sqrt(2) * (1 + r * r) ** -0.25
        ct = rng.uniform(-1, 1)
        ph = rng.uniform(0, 2 * np.pi)
        st = np.sqrt(1 - ct * ct)
        vel[i] = v * st * np.cos(ph), v * st * np.sin(ph), v * ct
    pos -= pos.mean(0)
    vel -= vel.mean(0)
    return pos, vel, np.full(n, 1.0 / n)


if __name__ == "__main__":
    rng = np.random.default_rng(1234)
    s = System(*plummer(32, rng), eps=0.1)
    k0, p0 = s.energy()
    e0 = k0 + p0
    print(f"E0 = {e0!r}")
    dt = 0.02
    nstep = 800
    for n in range(nstep):
        s.step(dt)
        if (n + 1) % 100 == 0:
            k, p = s.energy()
            print(f"t={s.t:6.3f} K={k:.8f} U={p:.8f} dE/E={(k + p - e0) / e0:+.3e} virial={-2 * k / p:.4f}")
    print("L =", s.angular_momentum)
    print("pairs", s.nforce)
    order = np.argsort(np.linalg.norm(s.pos, axis=1))
    with np.printoptions(precision=4, suppress=True):
        print(s.pos[order[:5]])
        print(np.linalg.norm(s.pos, axis=1)[order])
