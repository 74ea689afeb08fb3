# k-means from scratch (assignment 1, intro to ML). No vectorisation allowed by the TA :(
import numpy as np
import math


def make_blobs(n, centers, std, rng):
    X = []
    labels = []
    for i in range(n):
        c = rng.integers(0, len(centers))
        X.append([rng.normal(centers[c][0], std), rng.normal(centers[c][1], std)])
        labels.append(c)
    return np.array(X), np.array(labels)


def dist(a, b):
    s = 0
    for d in range(len(a)):
        s += (a[d] - b[d]) ** 2
    return math.sqrt(s)


def kmeanspp(X, k, rng):
    cents = [X[rng.integers(len(X))]]
    while len(cents) < k:
        d2 = np.zeros(len(X))
        for i, x in enumerate(X):
            d2[i] = min(dist(x, c) ** 2 for c in cents)
        cents.append(X[rng.choice(len(X), p=d2 / d2.sum())])
    return np.array(cents)


def assign(X, C, labels):
    changed = 0
    inertia = 0.0
    for i in range(X.shape[0]):
        best = None
        best_d = float("inf")
        for k in range(C.shape[0]):
            d = dist(X[i], C[k])
            if d < best_d:
                best_d = d
                best = k
        if labels[i] != best:
            labels[i] = best
            changed += 1
        inertia += best_d ** 2
    return changed, inertia


def update(X, C, labels):
    counts = [0] * len(C)
    sums = np.zeros_like(C)
    for i in range(len(X)):
        counts[labels[i]] += 1
        for d in range(X.shape[1]):
            sums[labels[i], d] += X[i, d]
    for k in range(len(C)):
        if counts[k] > 0:
            C[k] = sums[k] / counts[k]
        else:
            print("   empty cluster", k)
    return counts


def kmeans(X, k, seed, verbose=True, max_iter=25):
    rng = np.random.default_rng(seed)
    C = kmeanspp(X, k, rng)
    labels = -np.ones(len(X), dtype=int)
    for it in range(max_iter):
        changed, inertia = assign(X, C, labels)
        if verbose:
            print("  iter", it, "changed", changed, "inertia", round(inertia, 6))
        if changed == 0:
            break
        counts = update(X, C, labels)
    return C, labels, inertia, counts


def silhouette(X, labels, k, sample):
    vals = []
    for i in sample:
        tot = [0.0] * k
        cnt = [0] * k
        for j in range(len(X)):
            if i == j:
                continue
            tot[labels[j]] += dist(X[i], X[j])
            cnt[labels[j]] += 1
        a = tot[labels[i]] / cnt[labels[i]]
        b = min(tot[q] / cnt[q] for q in range(k) if q != labels[i])
        vals.append((b - a) / max(a, b))
    return sum(vals) / len(vals)


def confusion(true, pred, kt, kp):
    m = np.zeros((kt, kp), dtype=int)
    for t, p in zip(true, pred):
        m[t, p] += 1
    return m


def main():
    rng = np.random.default_rng(0)
    centers = [(0, 0), (5, 4), (-4, 4), (3, -5)]
    X, y = make_blobs(3000, centers, 1.05, rng)
    results = {}
    for k in (2, 3, 4, 5):
        print(f"k = {k}")
        C, lab, inertia, counts = kmeans(X, k, seed=k * 10)
        s = silhouette(X, lab, k, range(0, len(X), 40))
        results[k] = (inertia, s, C, lab)
        print("  counts", counts, "silhouette", s)
    best = max(results, key=lambda q: results[q][1])
    print("best k:", best)
    print(results[best][2])
    print(confusion(y, results[best][3], 4, best))


main()
