"""Image filters on a synthetic 8-bit picture: bilateral, median, non-maximum, connected components,
Floyd-Steinberg dithering, Otsu, integral image. Loops because this gets ported to C later."""
import numpy as np


def synthetic(h, w, rng):
    img = np.zeros((h, w), dtype=np.uint8)
    for y in range(h):
        for x in range(w):
            img[y, x] = (x * 2 + y) % 256
    for (cy, cx, r, v) in ((20, 20, 9, 230), (45, 60, 14, 40), (70, 25, 11, 250), (75, 80, 7, 10)):
        for y in range(h):
            for x in range(w):
                if (y - cy)**2 + (x - cx)**2 <= r * r:
                    img[y, x] = v
    noise = rng.normal(0, 12, (h, w))
    noisy = np.clip(img + noise, 0, 255).astype(np.uint8)
    salt = rng.random((h, w))
    noisy[salt < 0.02] = 0
    noisy[salt > 0.98] = 255
    return img, noisy


def median3(img):
    h, w = img.shape
    out = img.copy()
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            vals = []
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    vals.append(img[y + dy, x + dx])
            vals.sort()
            out[y, x] = vals[4]
    return out


def bilateral(img, radius=3, sigma_s=2, sigma_r=30.0):
    h, w = img.shape
    out = np.zeros_like(img)
    src = img.astype(np.float64)
    for y in range(h):
        for x in range(w):
            acc = 0.0
            norm = 0.0
            for dy in range(-radius, radius + 1):
                for dx in range(-radius, radius + 1):
                    yy, xx = y + dy, x + dx
                    if yy < 0 or yy >= h or xx < 0 or xx >= w:
                        continue
                    diff = src[yy, xx] - src[y, x]
                    wgt = np.exp(-(dx * dx + dy * dy) / (2 * sigma_s**2) - diff * diff / (2 * sigma_r**2))
                    acc += wgt * src[yy, xx]
                    norm += wgt
            out[y, x] = int(acc / norm + 0.5)
    return out


def otsu(img):
    hist = [0] * 256
    for v in img.flat:
        hist[v] += 1
    total = img.size
    sum_all = sum(i * h for i, h in enumerate(hist))
    wb = sb = 0
    best, thr = -1.0, 0
    for t in range(256):
        wb += hist[t]
        if wb == 0:
            continue
        wf = total - wb
        if wf == 0:
            break
        sb += t * hist[t]
        var = wb * wf * (sb / wb - (sum_all - sb) / wf)**2
        if var > best:
            best, thr = var, t
    return thr


def components(mask):
    h, w = mask.shape
    lab = np.zeros((h, w), dtype=np.int32)
    sizes = {}
    n = 0
    for y in range(h):
        for x in range(w):
            if mask[y, x] and lab[y, x] == 0:
                n += 1
                todo = [(y, x)]
                lab[y, x] = n
                cnt = 0
                while todo:
                    a, b = todo.pop()
                    cnt += 1
                    for p, q in ((a - 1, b), (a + 1, b), (a, b - 1), (a, b + 1)):
                        if 0 <= p < h and 0 <= q < w and mask[p, q] and not lab[p, q]:
                            lab[p, q] = n
                            todo.append((p, q))
                sizes[n] = cnt
    return lab, sizes


def dither(img):
    work = img.astype(np.float32)
    h, w = work.shape
    for y in range(h):
        for x in range(w):
            old = work[y, x]
            new = 255.0 if old > 127 else 0.0
            work[y, x] = new
            err = old - new
            if x + 1 < w:
                work[y, x + 1] += err * 7 / 16
            if y + 1 < h:
                if x > 0:
                    work[y + 1, x - 1] += err * 3 / 16
                work[y + 1, x] += err * 5 / 16
                if x + 1 < w:
                    work[y + 1, x + 1] += err * 1 / 16
    return work


def sad_bug(a, b):
    """the famous uint8 difference mistake: kept to compare with the C code, which wraps as well"""
    bad = 0
    good = 0
    for y in range(0, a.shape[0], 2):
        for x in range(0, a.shape[1], 2):
            bad += int(a[y, x] - b[y, x])
            good += abs(int(a[y, x]) - int(b[y, x]))
    return bad, good


def psnr(a, b):
    mse = np.mean((a.astype(float) - b.astype(float))**2)
    return 10 * np.log10(255.0**2 / mse)


def main():
    rng = np.random.default_rng(77)
    clean, noisy = synthetic(130, 150, rng)
    med = median3(noisy)
    bil = bilateral(med)
    for name, im in (("noisy", noisy), ("median", med), ("bilateral", bil)):
        print(f"{name:10s} psnr {psnr(clean, im):8.4f} dB  mean {im.mean():.4f}  crc-ish {int((im.astype(np.int64) * np.arange(im.size).reshape(im.shape)).sum() % 65521)}")
    t = otsu(bil)
    lab, sizes = components(bil > t)
    print("otsu", t, "components", len(sizes), sorted(sizes.values(), reverse=True)[:6])
    d = dither(bil)
    print("dither", d.dtype, "mean", d.mean(), "white", int((d == 255).sum()))
    for row in d[8:34:2, 8:70]:
        print("".join("#" if v else " " for v in row))
    print("sad", sad_bug(clean, bil))


if __name__ == "__main__":
    main()
