"""AdaBoost with decision stumps, a CART tree (recursive, Gini) and a perceptron / logistic SGD, on 'two moons'."""
import numpy as np


def moons(n, noise, rng):
    X = np.zeros((n, 4))
    y = np.zeros(n, dtype=int)
    for i in range(n):
        t = rng.uniform(0, np.pi)
        if i % 2:
            X[i, 0], X[i, 1] = np.cos(t), np.sin(t)
            y[i] = 1
        else:
            X[i, 0], X[i, 1] = 1 - np.cos(t), 0.5 - np.sin(t)
            y[i] = -1
        X[i, :2] += rng.normal(0, noise, 2)
        X[i, 2] = rng.normal()              # two useless features
        X[i, 3] = X[i, 0] * X[i, 1] + rng.normal(0, 0.5)
    return X, y


class Stump:
    def __init__(self):
        self.feature = None
        self.threshold = None
        self.polarity = 1

    def fit(self, X, y, w, n_thr=12):
        n, m = X.shape
        best = np.inf
        for f in range(m):
            lo, hi = X[:, f].min(), X[:, f].max()
            for k in range(1, n_thr):
                thr = lo + (hi - lo) * k / n_thr
                err = 0.0
                for i in range(n):
                    pred = 1 if X[i, f] > thr else -1
                    if pred != y[i]:
                        err += w[i]
                pol = 1
                if err > 0.5:
                    err = 1 - err
                    pol = -1
                if err < best:
                    best = err
                    self.feature, self.threshold, self.polarity = f, thr, pol
        return best

    def predict_one(self, x):
        return self.polarity * (1 if x[self.feature] > self.threshold else -1)


def adaboost(X, y, rounds):
    n = len(y)
    w = np.full(n, 1 / n)
    model = []
    for r in range(rounds):
        s = Stump()
        err = s.fit(X, y, w)
        alpha = 0.5 * np.log((1 - err) / max(err, 1e-10))
        for i in range(n):
            w[i] *= np.exp(-alpha * y[i] * s.predict_one(X[i]))
        w /= w.sum()
        model.append((alpha, s))
        if r % 5 == 0:
            print(f"  round {r:3d} feature {s.feature} thr {s.threshold:+.5f} pol {s.polarity:+d} err {err:.6f} alpha {alpha:.6f}")
    return model


def boost_predict(model, x):
    tot = 0
    for a, s in model:
        tot += a * s.predict_one(x)
    return 1 if tot > 0 else -1


def gini(pos, neg):
    n = pos + neg
    if n == 0:
        return 0
    p = pos / n
    return 2 * p * (1 - p)


def build_tree(X, y, depth, min_leaf=5):
    pos = int((y == 1).sum())
    neg = len(y) - pos
    if depth == 0 or pos == 0 or neg == 0 or len(y) < 2 * min_leaf:
        return {"leaf": 1 if pos >= neg else -1, "n": len(y)}
    best = (gini(pos, neg) - 1e-9, None, None)
    for f in range(X.shape[1]):
        order = np.argsort(X[:, f], kind="stable")
        lp = ln = 0
        for k in range(len(order) - 1):
            if y[order[k]] == 1:
                lp += 1
            else:
                ln += 1
            a, b = X[order[k], f], X[order[k + 1], f]
            if a == b or k + 1 < min_leaf or len(order) - k - 1 < min_leaf:
                continue
            g = ((lp + ln) * gini(lp, ln) + (len(order) - lp - ln) * gini(pos - lp, neg - ln)) / len(order)
            if g < best[0]:
                best = (g, f, (a + b) / 2)
    if best[1] is None:
        return {"leaf": 1 if pos >= neg else -1, "n": len(y)}
    _, f, thr = best
    m = X[:, f] <= thr
    return {"f": f, "thr": float(thr), "l": build_tree(X[m], y[m], depth - 1), "r": build_tree(X[~m], y[~m], depth - 1)}


def tree_predict(t, x):
    while "leaf" not in t:
        t = t["l"] if x[t["f"]] <= t["thr"] else t["r"]
    return t["leaf"]


def show(t, indent=""):
    if "leaf" in t:
        print(indent + f"-> {t['leaf']:+d} (n={t['n']})")
    else:
        print(indent + f"x{t['f']} <= {t['thr']:.4f}")
        show(t["l"], indent + "  ")
        show(t["r"], indent + "  ")


def perceptron(X, y, epochs):
    w = [0.0] * (X.shape[1] + 1)
    for e in range(epochs):
        mistakes = 0
        for x, t in zip(X, y):
            s = w[-1]
            for j, v in enumerate(x):
                s += w[j] * v
            if s * t <= 0:
                for j in range(len(x)):
                    w[j] += t * x[j]
                w[-1] += t
                mistakes += 1
        print("  epoch", e, "mistakes", mistakes)
    return w


def logistic_sgd(X, y, epochs, lr=0.1, lam=1e-3, rng=None):
    w = np.zeros(X.shape[1])
    b = 0.0
    for e in range(epochs):
        for i in rng.permutation(len(X)):
            z = b
            for j in range(len(w)):
                z += w[j] * X[i, j]
            g = -y[i] / (1 + np.exp(y[i] * z))
            for j in range(len(w)):
                w[j] -= lr * (g * X[i, j] + lam * w[j])
            b -= lr * g
        lr *= 0.8
    return w, b


def unscaled_demo(X, y):
    """without feature scaling exp() overflows: count how often, and skip these samples"""
    big = X * np.array([1.0, 800.0, 1.0, 300.0])
    w = np.zeros(4)
    overflow = {}
    with np.errstate(over="raise"):
        for e in range(4):
            for i in range(len(big)):
                z = 0.0
                for j in range(4):
                    z += w[j] * big[i, j]
                try:
                    g = -y[i] / (1 + np.exp(y[i] * z))
                except FloatingPointError:
                    overflow[e] = overflow.get(e, 0) + 1
                    continue
                for j in range(4):
                    w[j] -= 0.01 * g * big[i, j]
    return w, overflow


def main():
    rng = np.random.default_rng(2)
    X, y = moons(3000, 0.2, rng)
    Xt, yt = moons(600, 0.2, rng)
    model = adaboost(X, y, 31)
    acc = lambda f: sum(f(x) == t for x, t in zip(Xt, yt)) / len(yt)
    print("adaboost test accuracy", acc(lambda x: boost_predict(model, x)))
    tree = build_tree(X, y, 4)
    show(tree)
    print("tree test accuracy", acc(lambda x: tree_predict(tree, x)))
    w = perceptron(X, y, 6)
    print("perceptron", w, "acc", acc(lambda x: 1 if np.dot(w[:-1], x) + w[-1] > 0 else -1))
    w, b = logistic_sgd(X, y, 12, rng=rng)
    print("logistic", w, b, "acc", acc(lambda x: 1 if w @ x + b > 0 else -1))
    print("unscaled:", *unscaled_demo(X, y))


if __name__ == "__main__":
    main()
