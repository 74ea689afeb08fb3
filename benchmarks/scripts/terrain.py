"""Perlin noise terrain, hydraulic erosion droplets, and a sphere-tracing renderer, ASCII output."""
import math
import os
import tempfile
import numpy as np


class Perlin:
    def __init__(self, seed):
        r = np.random.RandomState(seed)
        p = np.arange(256)
        r.shuffle(p)
        self.perm = np.concatenate([p, p])

    @staticmethod
    def fade(t):
        return t * t * t * (t * (t * 6 - 15) + 10)

    @staticmethod
    def grad(h, x, y):
        h = h & 7
        u, v = (x, y) if h < 4 else (y, x)
        return (u if h & 1 == 0 else -u) + (2 * v if h & 2 == 0 else -2 * v)

    def noise(self, x, y):
        xi, yi = math.floor(x), math.floor(y)
        xf, yf = x - xi, y - yi
        xi &= 255
        yi &= 255
        p = self.perm
        aa = p[p[xi] + yi]
        ab = p[p[xi] + yi + 1]
        ba = p[p[xi + 1] + yi]
        bb = p[p[xi + 1] + yi + 1]
        u, v = self.fade(xf), self.fade(yf)
        x1 = (1 - u) * self.grad(aa, xf, yf) + u * self.grad(ba, xf - 1, yf)
        x2 = (1 - u) * self.grad(ab, xf, yf - 1) + u * self.grad(bb, xf - 1, yf - 1)
        return ((1 - v) * x1 + v * x2) / 3

    def fbm(self, x, y, octaves=4):
        total, amp, freq, norm = 0.0, 1.0, 1.0, 0.0
        for _ in range(octaves):
            total += amp * self.noise(x * freq, y * freq)
            norm += amp
            amp *= 0.5
            freq *= 2
        return total / norm


def heightmap(n, seed):
    pn = Perlin(seed)
    hm = np.empty((n, n), dtype=np.float32)
    for i in range(n):
        for j in range(n):
            hm[i, j] = pn.fbm(i / 20.0, j / 20.0)
    return hm


def erode(hm, droplets, rng):
    n = hm.shape[0]
    moved = 0.0
    for d in range(droplets):
        x, y = rng.integers(1, n - 1, size=2)
        sediment = 0.0
        for _ in range(30):
            bx, by, low = x, y, hm[x, y]
            for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                a, b = x + dx, y + dy
                if 0 <= a < n and 0 <= b < n and hm[a, b] < low:
                    bx, by, low = a, b, hm[a, b]
            if (bx, by) == (x, y):
                hm[x, y] += sediment
                break
            drop = min(0.1 * (hm[x, y] - low), 0.01)
            hm[x, y] -= drop
            sediment += drop
            moved += drop
            x, y = bx, by
        if (d + 1) % 4000 == 0:
            print(f"  droplets {d + 1}: moved {float(moved):.5f}")
    return moved


def scene(p):
    x, y, z = p
    sphere = math.sqrt(x * x + (y - 0.2) ** 2 + z * z) - 1.0
    qx = math.hypot(x, z) - 1.6
    torus = math.hypot(qx, y) - 0.25
    floor = y + 1.0 + 0.05 * math.sin(3 * x) * math.sin(3 * z)
    return min(sphere, torus, floor)


def normal(p, e=1e-4):
    g = []
    for k in range(3):
        a = list(p)
        b = list(p)
        a[k] += e
        b[k] -= e
        g.append(scene(a) - scene(b))
    l = math.sqrt(sum(v * v for v in g))
    return [v / l for v in g]


def march(o, d, tmax=20.0):
    t = 0.0
    for step in range(80):
        p = [o[k] + t * d[k] for k in range(3)]
        h = scene(p)
        if h < 1e-3:
            return t, step
        t += h
        if t > tmax:
            break
    return None, step


def render(w, h):
    light = np.array([0.5, 0.8, -0.4])
    light = list(light / np.linalg.norm(light))
    img = np.zeros((h, w))
    steps_total = 0
    for y in range(h):
        for x in range(w):
            d = [(x - w / 2) / w * 1.6, -(y - h / 2) / h * 0.9, 1.0]
            l = math.sqrt(sum(c * c for c in d))
            d = [c / l for c in d]
            t, s = march([0.0, 0.8, -4.0], d)
            steps_total += s
            if t is None:
                continue
            p = [0.0 + t * d[0], 0.8 + t * d[1], -4.0 + t * d[2]]
            nn = normal(p)
            diff = max(0.0, sum(a * b for a, b in zip(nn, light)))
            shadow, _ = march([p[k] + 0.02 * nn[k] for k in range(3)], light, 8.0)
            img[y, x] = 0.15 + 0.85 * diff * (0.3 if shadow is not None else 1.0)
    return img, steps_total


def main():
    hm = heightmap(144, 5)
    print("terrain", hm.dtype, "min %.6f max %.6f mean %.8f" % (hm.min(), hm.max(), hm.mean()))
    before = hm.astype(float).sum()
    m = erode(hm, 16000, np.random.default_rng(6))
    print("moved", m, type(m).__name__, "mass change %.5f" % (hm.astype(float).sum() - before))
    lo, hi = hm.min(), hm.max()
    for row in hm[::9]:
        print("".join("~~-.:+*#%@"[min(9, int((v - lo) / (hi - lo) * 10))] for v in row[::2]))
    img, steps = render(140, 52)
    for row in img:
        print("".join(" .,:;+*%#@"[min(9, int(v * 10))] for v in row).rstrip())
    print("march steps", steps, "mean brightness", float(img.mean()))
    with tempfile.TemporaryDirectory() as tmp:
        fn = os.path.join(tmp, "render.pgm")
        with open(fn, "wb") as f:
            f.write(b"P5 %d %d 255\n" % (img.shape[1], img.shape[0]))
            f.write((np.clip(img, 0, 1) * 255).astype(np.uint8).tobytes())
        print("pgm bytes", os.path.getsize(fn))


if __name__ == "__main__":
    main()
