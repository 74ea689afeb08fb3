# TSP: nearest neighbour, 2-opt, simulated annealing, ant colony.  Operations research seminar
import math
import random
import numpy as np

random.seed(1)
np.random.seed(1)

best_ever = {"len": math.inf, "by": None}


def note(length, who):
    if length < best_ever["len"] - 1e-9:
        best_ever["len"] = length
        best_ever["by"] = who
        print(f"    * new best {length:.6f} by {who}")


def distance_matrix(pts):
    n = len(pts)
    D = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            D[i, j] = math.hypot(pts[i][0] - pts[j][0], pts[i][1] - pts[j][1])
    return D


def tour_length(tour, D):
    return sum(D[tour[k - 1], tour[k]] for k in range(len(tour)))


def nearest_neighbour(D, start=0):
    n = len(D)
    left = set(range(n))
    left.remove(start)
    tour = [start]
    while left:
        cur = tour[-1]
        nxt = min(left, key=lambda j: (D[cur, j], j))
        left.remove(nxt)
        tour.append(nxt)
    return tour


def two_opt(tour, D):
    n = len(tour)
    improved = True
    moves = 0
    while improved:
        improved = False
        for i in range(n - 1):
            for j in range(i + 2, n):
                if i == 0 and j == n - 1:
                    continue
                a, b = tour[i], tour[i + 1]
                c, d = tour[j], tour[(j + 1) % n]
                if D[a, c] + D[b, d] < D[a, b] + D[c, d] - 1e-12:
                    tour[i + 1:j + 1] = tour[i + 1:j + 1][::-1]
                    improved = True
                    moves += 1
    return moves


def anneal(tour, D, T0=1.0, cooling=0.9999, steps=90000):
    n = len(tour)
    cur = tour_length(tour, D)
    best = cur
    best_tour = tour[:]
    T = T0
    accepted = 0
    for s in range(steps):
        i, j = sorted(random.sample(range(n), 2))
        if j - i < 1 or (i == 0 and j == n - 1):
            continue
        a, b = tour[i - 1], tour[i]
        c, d = tour[j], tour[(j + 1) % n]
        delta = D[a, c] + D[b, d] - D[a, b] - D[c, d]
        if delta < 0 or random.random() < math.exp(-delta / T):
            tour[i:j + 1] = reversed(tour[i:j + 1])
            cur += delta
            accepted += 1
            if cur < best:
                best = cur
                best_tour = tour[:]
        T *= cooling
        if s % 15000 == 0:
            print("    step %6d T=%.5f cur=%.5f best=%.5f" % (s, T, cur, best))
    return best_tour, best, accepted


class AntColony:
    def __init__(self, D, n_ants=10, alpha=1.0, beta=3.0, rho=0.3):
        self.D = D
        self.n = len(D)
        self.tau = np.ones((self.n, self.n))
        self.eta = 1.0 / (D + np.eye(self.n)) ** beta
        self.n_ants = n_ants
        self.alpha, self.rho = alpha, rho
        self.best = (np.inf, None)

    def walk(self):
        start = np.random.randint(self.n)
        tour = [start]
        visited = np.zeros(self.n, dtype=bool)
        visited[start] = True
        while len(tour) < self.n:
            i = tour[-1]
            w = np.zeros(self.n)
            total = 0.0
            for j in range(self.n):
                if not visited[j]:
                    w[j] = self.tau[i, j] ** self.alpha * self.eta[i, j]
                    total += w[j]
            u = np.random.random() * total
            acc = 0.0
            nxt = -1
            for j in range(self.n):
                if visited[j]:
                    continue
                acc += w[j]
                nxt = j
                if acc >= u:
                    break
            tour.append(nxt)
            visited[nxt] = True
        return tour

    def step(self):
        tours = []
        for _ in range(self.n_ants):
            t = self.walk()
            l = tour_length(t, self.D)
            tours.append((l, t))
            if l < self.best[0]:
                self.best = (l, t)
                note(l, "ants")
        self.tau *= 1 - self.rho
        for l, t in tours:
            for k in range(self.n):
                a, b = t[k - 1], t[k]
                self.tau[a, b] += 1.0 / l
                self.tau[b, a] += 1.0 / l
        return np.mean([l for l, _ in tours])


def main():
    n = 90
    pts = [(random.random(), random.random()) for _ in range(n)]
    D = distance_matrix(pts)
    nn = nearest_neighbour(D)
    note(tour_length(nn, D), "nearest neighbour")
    t2 = nn[:]
    m = two_opt(t2, D)
    note(tour_length(t2, D), f"2-opt ({m} moves)")
    sa, l, acc = anneal(list(range(n)), D)
    note(l, "annealing")
    print("accepted", acc, "recomputed", tour_length(sa, D))
    aco = AntColony(D)
    for it in range(40):
        m = aco.step()
        if it % 10 == 9:
            print("  colony %2d mean %.5f best %.5f" % (it + 1, m, aco.best[0]))
    print("best:", best_ever)
    print("tau:", aco.tau.min(), aco.tau.max())
    k = sa.index(0)
    print("sa tour from 0:", (sa[k:] + sa[:k])[:20])


main()
