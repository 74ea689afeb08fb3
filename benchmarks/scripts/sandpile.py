"""Abelian sandpile + forest fire + Greenberg-Hastings: self-organised criticality zoo."""
import numpy as np

EMPTY, TREE, FIRE = 0, 1, 2


class Sandpile:
    def __init__(self, n, seed):
        self.n = n
        self.z = np.zeros((n, n), dtype=np.int32)
        self.rng = np.random.default_rng(seed)
        self.lost = 0
        self.sizes = []

    def topple_all(self, start):
        todo = [start]
        size = 0
        n, z = self.n, self.z
        while todo:
            i, j = todo.pop()
            if z[i, j] < 4:
                continue
            z[i, j] -= 4
            size += 1
            if z[i, j] >= 4:
                todo.append((i, j))
            for a, b in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
                if a < 0 or b < 0 or a == n or b == n:
                    self.lost += 1
                    continue
                z[a, b] += 1
                if z[a, b] >= 4:
                    todo.append((a, b))
        return size

    def drop(self):
        i, j = self.rng.integers(0, self.n, 2)
        self.z[i, j] += 1
        s = self.topple_all((int(i), int(j))) if self.z[i, j] >= 4 else 0
        self.sizes.append(s)
        return s


def log_hist(sizes, base=2):
    h = {}
    for s in sizes:
        if s == 0:
            continue
        k = 0
        while base ** (k + 1) <= s:
            k += 1
        h[k] = h.get(k, 0) + 1
    return h


def identity_element(n):
    """2*max - stabilised(2*max), stabilised again: pretty picture"""
    def stab(g):
        g = g.copy()
        changed = True
        rounds = 0
        while changed:
            changed = False
            rounds += 1
            for i in range(n):
                for j in range(n):
                    if g[i, j] > 3:
                        k = g[i, j] // 4
                        g[i, j] %= 4
                        if i > 0:
                            g[i - 1, j] += k
                        if i < n - 1:
                            g[i + 1, j] += k
                        if j > 0:
                            g[i, j - 1] += k
                        if j < n - 1:
                            g[i, j + 1] += k
                        changed = True
        return g, rounds
    six = np.full((n, n), 6)
    a, r1 = stab(six)
    b, r2 = stab(six - a)
    return b, (r1, r2)


def forest_fire(n, steps, p, f):
    np.random.seed(55)
    g = (np.random.rand(n, n) < 0.5).astype(np.int8)
    log = []
    for t in range(steps):
        new = g.copy()
        burned = 0
        for i in range(n):
            for j in range(n):
                c = g[i, j]
                if c == FIRE:
                    new[i, j] = EMPTY
                    burned += 1
                elif c == EMPTY:
                    if np.random.random() < p:
                        new[i, j] = TREE
                else:
                    near = (g[i - 1, j] == FIRE or g[(i + 1) % n, j] == FIRE or
                            g[i, j - 1] == FIRE or g[i, (j + 1) % n] == FIRE)
                    if near or np.random.random() < f:
                        new[i, j] = FIRE
        g = new
        log.append((int((g == TREE).sum()), burned))
    return g, log


def main():
    sp = Sandpile(36, 2023)
    grains = 14000
    for k in range(grains):
        s = sp.drop()
        if s > 1500:
            print(f"grain {k}: avalanche of {s}")
    print("on table", int(sp.z.sum()), "lost", sp.lost, "check", int(sp.z.sum()) + sp.lost == grains)
    print("mean height", sp.z.mean())
    h = log_hist(sp.sizes)
    for k in sorted(h):
        print(f"{2**k:6d}-{2**(k + 1) - 1:<6d} {h[k]:6d} {'*' * int(np.sqrt(h[k]))}")
    print(np.bincount(sp.z.ravel()))

    e, rounds = identity_element(20)
    print("identity, rounds", rounds)
    for row in e[:10]:
        print("".join(" .o@"[int(v)] for v in row))

    g, log = forest_fire(48, 120, 0.02, 0.0003)
    for t in range(0, 120, 20):
        print("t=%3d trees=%4d burned=%3d" % (t, *log[t]))
    print("total burned", sum(b for _, b in log), np.unique(g, return_counts=True))


if __name__ == "__main__":
    main()
