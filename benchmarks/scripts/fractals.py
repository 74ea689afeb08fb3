#!/usr/bin/env python3
import sys
import cmath
import numpy as np

PALETTE = " .,:;i1tfLCG08@"


def mandel(c, maxit):
    z = 0
    for n in range(maxit):
        if abs(z) > 2:
            return n
        z = z * z + c
    return maxit


def mandelbrot(xmin, xmax, ymin, ymax, w, h, maxit=80):
    img = np.zeros((h, w), dtype=np.uint16)
    for iy in range(h):
        for ix in range(w):
            c = complex(xmin + (xmax - xmin) * ix / (w - 1), ymin + (ymax - ymin) * iy / (h - 1))
            img[iy, ix] = mandel(c, maxit)
    return img


def smooth_julia(c, n, bound, maxit=90):
    out = np.zeros((n, n))
    for i in range(n):
        y = -bound + 2 * bound * i / (n - 1)
        for j in range(n):
            x = -bound + 2 * bound * j / (n - 1)
            zx, zy = x, y
            k = 0
            while zx * zx + zy * zy < 100 and k < maxit:
                zx, zy = zx * zx - zy * zy + c.real, 2 * zx * zy + c.imag
                k += 1
            if k < maxit:
                out[i, j] = k + 1 - np.log2(np.log(zx * zx + zy * zy) / 2)
            else:
                out[i, j] = np.nan
    return out


def newton(n, roots, tol=1e-6):
    """which root of z^3 = 1 does Newton reach"""
    basin = np.full((n, n), -1, dtype=int)
    steps = {}
    for i, y in enumerate(np.linspace(-1.5, 1.5, n)):
        for j, x in enumerate(np.linspace(-1.5, 1.5, n)):
            z = complex(x, y)
            for k in range(40):
                try:
                    z -= (z**3 - 1) / (3 * z**2)
                except ZeroDivisionError:
                    break
                done = False
                for r, root in enumerate(roots):
                    if abs(z - root) < tol:
                        basin[i, j] = r
                        done = True
                if done:
                    steps[k] = steps.get(k, 0) + 1
                    break
    return basin, steps


def buddha(n, samples, rng, maxit=50):
    counts = np.zeros((n, n), dtype=np.int32)
    escaped = 0
    for _ in range(samples):
        c = complex(rng.uniform(-2, 1), rng.uniform(-1.5, 1.5))
        orbit = []
        z = 0j
        for _ in range(maxit):
            z = z * z + c
            orbit.append(z)
            if abs(z) > 2:
                break
        else:
            continue
        escaped += 1
        for z in orbit:
            i = int((z.imag + 1.5) / 3 * n)
            j = int((z.real + 2) / 3 * n)
            if 0 <= i < n and 0 <= j < n:
                counts[i, j] += 1
    return counts, escaped


def render(img, out=sys.stdout):
    m = img.max()
    for row in img:
        out.write("".join(PALETTE[int(v) * (len(PALETTE) - 1) // int(m)] for v in row).rstrip() + "\n")


def main():
    img = mandelbrot(-2.1, 0.7, -1.2, 1.2, 118, 44)
    render(img)
    big = mandelbrot(-0.76, -0.73, 0.08, 0.11, 300, 300, 120)
    print("histogram", np.bincount(np.minimum(big.ravel() // 12, 10)))
    print("inside", (big == 120).sum(), big.dtype, "mean", big.mean())
    j = smooth_julia(-0.8 + 0.156j, 300, 1.5)
    print("julia: nan %d min %.8f max %.8f sum %r" % (np.isnan(j).sum(), np.nanmin(j), np.nanmax(j), float(np.nansum(j))))
    roots = [cmath.exp(2j * cmath.pi * k / 3) for k in range(3)]
    b, steps = newton(101, roots)
    print("basins", [(b == r).sum() for r in (-1, 0, 1, 2)])
    print("steps", dict(sorted(steps.items())))
    c, e = buddha(60, 60000, np.random.default_rng(4))
    print("buddha escaped", e, "max", c.max(), "total", c.sum())
    print(c[28:32, 20:30])


if __name__ == "__main__":
    main()
