"""Line detection: Gauss blur, Sobel, non-max suppression, hysteresis and Hough accumulator, from a lecture on
computer vision. Also circle Hough for a coin picture."""
import numpy as np
from math import pi, sin, cos, atan2, hypot, exp


def draw_line(img, x0, y0, x1, y1, v=255.0):
    # Bresenham
    dx, dy = abs(x1 - x0), -abs(y1 - y0)
    sx = 1 if x0 < x1 else -1
    sy = 1 if y0 < y1 else -1
    err = dx + dy
    while True:
        img[y0, x0] = v
        if x0 == x1 and y0 == y1:
            break
        e2 = 2 * err
        if e2 >= dy:
            err += dy
            x0 += sx
        if e2 <= dx:
            err += dx
            y0 += sy


def convolve(img, kernel):
    kh, kw = kernel.shape
    ph, pw = kh // 2, kw // 2
    pad = np.pad(img, ((ph, ph), (pw, pw)), mode="edge")
    out = np.zeros_like(img)
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            s = 0.0
            for i in range(kh):
                for j in range(kw):
                    s += pad[y + i, x + j] * kernel[kh - 1 - i, kw - 1 - j]
            out[y, x] = s
    return out


def gauss_kernel(sigma, r):
    k = np.array([[exp(-(i * i + j * j) / (2 * sigma**2)) for i in range(-r, r + 1)] for j in range(-r, r + 1)])
    return k / k.sum()


def canny(img, lo, hi):
    g = convolve(img, gauss_kernel(1.0, 2))
    gx = convolve(g, np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]))
    gy = convolve(g, np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]]))
    h, w = img.shape
    mag = np.zeros((h, w))
    ang = np.zeros((h, w), dtype=int)
    for y in range(h):
        for x in range(w):
            mag[y, x] = hypot(gx[y, x], gy[y, x])
            ang[y, x] = int(round(atan2(gy[y, x], gx[y, x]) / (pi / 4))) % 4
    off = {0: (0, 1), 1: (1, 1), 2: (1, 0), 3: (1, -1)}
    edge = np.zeros((h, w), dtype=np.uint8)
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            dy, dx = off[ang[y, x]]
            m = mag[y, x]
            if m >= mag[y + dy, x + dx] and m >= mag[y - dy, x - dx]:
                if m > hi:
                    edge[y, x] = 2
                elif m > lo:
                    edge[y, x] = 1
    changed = True
    rounds = 0
    while changed:
        changed = False
        rounds += 1
        for y in range(1, h - 1):
            for x in range(1, w - 1):
                if edge[y, x] == 1 and (edge[y - 1:y + 2, x - 1:x + 2] == 2).any():
                    edge[y, x] = 2
                    changed = True
    return edge == 2, rounds


def hough_lines(edge, n_theta=360):
    h, w = edge.shape
    diag = int(np.ceil(hypot(h, w)))
    acc = np.zeros((2 * diag + 1, n_theta), dtype=np.int32)
    ct = [cos(pi * t / n_theta) for t in range(n_theta)]
    st = [sin(pi * t / n_theta) for t in range(n_theta)]
    ys, xs = np.nonzero(edge)
    for y, x in zip(ys, xs):
        for t in range(n_theta):
            rho = int(round(x * ct[t] + y * st[t])) + diag
            acc[rho, t] += 1
    return acc, diag


def peaks(acc, diag, k, sep=8):
    a = acc.copy()
    found = []
    for _ in range(k):
        r, t = divmod(int(np.argmax(a)), a.shape[1])
        found.append((r - diag, t, int(a[r, t])))
        a[max(0, r - sep):r + sep + 1, max(0, t - sep):t + sep + 1] = 0
    return found


def hough_circle(edge, radii):
    best = (0, None)
    h, w = edge.shape
    for rad in radii:
        acc = np.zeros((h, w), dtype=int)
        for y in range(h):
            for x in range(w):
                if not edge[y, x]:
                    continue
                for k in range(0, 360, 3):
                    a = int(x - rad * cos(k * pi / 180))
                    b = int(y - rad * sin(k * pi / 180))
                    if 0 <= a < w and 0 <= b < h:
                        acc[b, a] += 1
        top = acc.max()
        print("   radius", rad, "votes", top, "at", np.unravel_index(acc.argmax(), acc.shape))
        if top > best[0]:
            best = (top, rad)
    return best


def main():
    np.random.seed(3)
    img = np.zeros((120, 140))
    draw_line(img, 5, 105, 130, 10)
    draw_line(img, 10, 10, 10, 110)
    draw_line(img, 5, 30, 135, 90)
    img += np.random.normal(0, 10, img.shape)
    edge, rounds = canny(img, 60, 140)
    print("edge pixels", edge.sum(), "hysteresis rounds", rounds)
    acc, diag = hough_lines(edge)
    for rho, theta, votes in peaks(acc, diag, 6):
        print(f"rho={rho:4d} theta={theta:3d} votes={votes}")

    coin = np.zeros((100, 100))
    yy, xx = np.mgrid[:100, :100]
    coin[(yy - 33)**2 + (xx - 37)**2 < 18**2] = 200
    coin += np.random.normal(0, 5, coin.shape)
    e2, _ = canny(coin, 80, 200)
    print(hough_circle(e2, range(12, 25)))


main()
