"""Global (Needleman-Wunsch/Gotoh affine) and local (Smith-Waterman) alignment of
mutated toy genes.  Small lab script, see also notebook 2023-11."""
import random
import numpy as np

NEG = -10**9
MATCH, MISMATCH = 2, -3
GAP_OPEN, GAP_EXT = -5, -1

TRANSITIONS = {("A", "G"), ("G", "A"), ("C", "T"), ("T", "C")}


def score(a, b):
    if a == b:
        return MATCH
    if (a, b) in TRANSITIONS:
        return MISMATCH + 1
    return MISMATCH


def mutate(seq, rng, p_sub=0.08, p_indel=0.02):
    out = []
    for ch in seq:
        r = rng.random()
        if r < p_indel / 2:
            continue
        if r < p_indel:
            out.append(rng.choice("ACGT"))
            out.append(ch)
        elif r < p_indel + p_sub:
            out.append(rng.choice([c for c in "ACGT" if c != ch]))
        else:
            out.append(ch)
    return "".join(out)


def gotoh(a, b):
    n, m = len(a), len(b)
    M = np.full((n + 1, m + 1), NEG, dtype=np.int64)
    X = np.full((n + 1, m + 1), NEG, dtype=np.int64)
    Y = np.full((n + 1, m + 1), NEG, dtype=np.int64)
    M[0, 0] = 0
    for i in range(1, n + 1):
        X[i, 0] = GAP_OPEN + (i - 1) * GAP_EXT
    for j in range(1, m + 1):
        Y[0, j] = GAP_OPEN + (j - 1) * GAP_EXT
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            M[i, j] = score(a[i - 1], b[j - 1]) + max(
                M[i - 1, j - 1], X[i - 1, j - 1], Y[i - 1, j - 1])
            X[i, j] = max(M[i - 1, j] + GAP_OPEN, X[i - 1, j] + GAP_EXT)
            Y[i, j] = max(M[i, j - 1] + GAP_OPEN, Y[i, j - 1] + GAP_EXT)
    # traceback
    i, j = n, m
    state = int(np.argmax([M[n, m], X[n, m], Y[n, m]]))
    total = [M, X, Y][state][n, m]
    ra, rb = [], []
    while i > 0 or j > 0:
        if state == 0:
            state = int(np.argmax([M[i - 1, j - 1], X[i - 1, j - 1], Y[i - 1, j - 1]]))
            i -= 1
            j -= 1
            ra.append(a[i])
            rb.append(b[j])
        elif state == 1:
            state = 0 if M[i - 1, j] + GAP_OPEN >= X[i - 1, j] + GAP_EXT else 1
            i -= 1
            ra.append(a[i])
            rb.append("-")
        else:
            state = 0 if M[i, j - 1] + GAP_OPEN >= Y[i, j - 1] + GAP_EXT else 2
            j -= 1
            ra.append("-")
            rb.append(b[j])
    return int(total), "".join(reversed(ra)), "".join(reversed(rb))


def smith_waterman(a, b, gap=-4):
    H = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int32)
    best, pos = 0, (0, 0)
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            v = max(0,
                    H[i - 1, j - 1] + (MATCH if x == y else MISMATCH),
                    H[i - 1, j] + gap,
                    H[i, j - 1] + gap)
            H[i, j] = v
            if v > best:
                best, pos = v, (i, j)
    i, j = pos
    while i > 0 and j > 0 and H[i, j] > 0:
        i, j = i - 1, j - 1
    return int(best), pos, (i, j)


def identity(x, y):
    same = sum(p == q for p, q in zip(x, y))
    return same / len(x)


def show(x, y, width=60):
    for k in range(0, min(len(x), 180), width):
        p, q = x[k:k + width], y[k:k + width]
        print("A", p)
        print(" ", "".join("|" if c == d else (" " if "-" in (c, d) else ".") for c, d in zip(p, q)))
        print("B", q)
        print()


def main():
    rng = random.Random(7)
    base = "".join(rng.choice("ACGT") for _ in range(600))
    family = {"ref": base}
    for name, p in (("strain1", 0.04), ("strain2", 0.12), ("strain3", 0.25)):
        family[name] = mutate(base, rng, p_sub=p)

    names = list(family)
    for name in names[1:]:
        s, x, y = gotoh(family["ref"], family[name])
        gaps = x.count("-") + y.count("-")
        print(f"ref vs {name:8s} len={len(x):4d} score={s:5d} gaps={gaps:3d} id={identity(x, y):.2%}")
        if name == "strain2":
            show(x, y)

    probe = base[100:180]
    for name in names:
        b, end, start = smith_waterman(probe, family[name])
        print("local %-8s best=%4d end=%s diag start=%s" % (name, b, end, start))


main()
