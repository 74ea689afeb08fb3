"""A neural net from absolutely nothing: explicit loops over units, batch size 1, momentum SGD.
   Spiral data set.  (Following the blog post, then made deeper.)"""
import numpy as np

LR = 0.03
MOMENTUM = 0.8
EPOCHS = 50


def relu(x):
    return x if x > 0 else 0.0


class Layer:
    def __init__(self, n_in, n_out, activation="relu"):
        self.W = np.random.randn(n_out, n_in) * np.sqrt(2.0 / n_in)
        self.b = np.zeros(n_out)
        self.vW = np.zeros_like(self.W)
        self.vb = np.zeros_like(self.b)
        self.activation = activation

    def forward(self, x):
        self.x = x
        n_out, n_in = self.W.shape
        self.z = np.zeros(n_out)
        for i in range(n_out):
            acc = self.b[i]
            for j in range(n_in):
                acc += self.W[i, j] * x[j]
            self.z[i] = acc
        if self.activation == "relu":
            self.a = np.array([relu(v) for v in self.z])
        else:
            self.a = self.z.copy()
        return self.a

    def backward(self, grad):
        n_out, n_in = self.W.shape
        gx = np.zeros(n_in)
        for i in range(n_out):
            g = grad[i]
            if self.activation == "relu" and self.z[i] <= 0:
                g = 0.0
            for j in range(n_in):
                gx[j] += g * self.W[i, j]
                self.vW[i, j] = MOMENTUM * self.vW[i, j] - LR * g * self.x[j]
                self.W[i, j] += self.vW[i, j]
            self.vb[i] = MOMENTUM * self.vb[i] - LR * g
            self.b[i] += self.vb[i]
        return gx


class MLP:
    def __init__(self, sizes):
        self.layers = []
        for k in range(len(sizes) - 1):
            act = "relu" if k < len(sizes) - 2 else "linear"
            self.layers.append(Layer(sizes[k], sizes[k + 1], act))

    def forward(self, x):
        for l in self.layers:
            x = l.forward(x)
        return x

    def train_step(self, x, y):
        out = self.forward(x)
        p = softmax(out)
        loss = -np.log(p[y] + 1e-12)
        g = p.copy()
        g[y] -= 1
        for l in reversed(self.layers):
            g = l.backward(g)
        return loss


def softmax(z):
    m = max(z)
    e = np.exp(z - m)
    return e / e.sum()


def spiral(n_per_class, n_class):
    X = np.zeros((n_per_class * n_class, 2))
    y = np.zeros(n_per_class * n_class, dtype="uint8")
    for c in range(n_class):
        ix = range(n_per_class * c, n_per_class * (c + 1))
        r = np.linspace(0.0, 1, n_per_class)
        t = np.linspace(c * 4, (c + 1) * 4, n_per_class) + np.random.randn(n_per_class) * 0.15
        X[ix] = np.c_[r * np.sin(t), r * np.cos(t)]
        y[ix] = c
    return X, y


def accuracy(net, X, y):
    ok = 0
    for i in range(len(X)):
        if np.argmax(net.forward(X[i])) == y[i]:
            ok += 1
    return ok / len(X)


if __name__ == "__main__":
    np.random.seed(1)
    X, y = spiral(60, 3)
    net = MLP([2, 16, 12, 3])
    losses = []
    for epoch in range(EPOCHS):
        order = np.random.permutation(len(X))
        tot = 0.0
        for i in order:
            tot += net.train_step(X[i], y[i])
        losses.append(tot / len(X))
        LR *= 0.98
        print(f"epoch {epoch:2d} loss {losses[-1]:.6f} lr {LR:.5f}")
    print("train accuracy: {:.1%}".format(accuracy(net, X, y)))
    grid = np.linspace(-1, 1, 9)
    for yy in grid[::-1]:
        print(" ".join("ABC"[np.argmax(net.forward(np.array([xx, yy])))] for xx in grid))
    print(net.layers[-1].b)
    print("first loss / last loss", losses[0], losses[-1])
