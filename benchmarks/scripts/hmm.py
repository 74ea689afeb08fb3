#!/usr/bin/env python
"""CpG-island style HMM: simulate, forward/backward with scaling, Viterbi, Baum-Welch."""
import sys
import numpy as np

ALPHABET = "ACGT"


class HMM(object):
    def __init__(self, A, B, pi):
        self.A = np.asarray(A, dtype=float)
        self.B = np.asarray(B, dtype=float)
        self.pi = np.asarray(pi, dtype=float)
        self.K = self.A.shape[0]

    def sample(self, T, rs):
        states = np.zeros(T, dtype=int)
        obs = np.zeros(T, dtype=int)
        s = rs.choice(self.K, p=self.pi)
        for t in range(T):
            states[t] = s
            obs[t] = rs.choice(self.B.shape[1], p=self.B[s])
            s = rs.choice(self.K, p=self.A[s])
        return states, obs

    def forward(self, obs):
        T, K = len(obs), self.K
        alpha = np.zeros((T, K))
        scale = np.zeros(T)
        for t in range(T):
            tot = 0.0
            for j in range(K):
                if t == 0:
                    acc = self.pi[j]
                else:
                    acc = 0.0
                    for i in range(K):
                        acc += alpha[t - 1, i] * self.A[i, j]
                alpha[t, j] = acc * self.B[j, obs[t]]
                tot += alpha[t, j]
            scale[t] = tot
            for j in range(K):
                alpha[t, j] /= tot
        return alpha, scale

    def backward(self, obs, scale):
        T, K = len(obs), self.K
        beta = np.ones((T, K))
        for t in range(T - 2, -1, -1):
            for i in range(K):
                acc = 0.0
                for j in range(K):
                    acc += self.A[i, j] * self.B[j, obs[t + 1]] * beta[t + 1, j]
                beta[t, i] = acc / scale[t + 1]
        return beta

    def viterbi(self, obs):
        T, K = len(obs), self.K
        with np.errstate(divide="ignore"):
            lA, lB, lpi = np.log(self.A), np.log(self.B), np.log(self.pi)
        V = np.full((T, K), -np.inf)
        ptr = np.zeros((T, K), dtype=np.int8)
        for k in range(K):
            V[0, k] = lpi[k] + lB[k, obs[0]]
        for t in range(1, T):
            for k in range(K):
                best, arg = -np.inf, -1
                for i in range(K):
                    v = V[t - 1, i] + lA[i, k]
                    if v > best:
                        best, arg = v, i
                V[t, k] = best + lB[k, obs[t]]
                ptr[t, k] = arg
        path = [int(np.argmax(V[-1]))]
        for t in range(T - 1, 0, -1):
            path.append(int(ptr[t, path[-1]]))
        return path[::-1], V[-1].max()

    def baum_welch_step(self, obs):
        alpha, scale = self.forward(obs)
        beta = self.backward(obs, scale)
        T, K = len(obs), self.K
        xi = np.zeros((K, K))
        emis = np.zeros_like(self.B)
        for t in range(T):
            for i in range(K):
                g = alpha[t, i] * beta[t, i]
                emis[i, obs[t]] += g
                if t < T - 1:
                    for j in range(K):
                        xi[i, j] += alpha[t, i] * self.A[i, j] * self.B[j, obs[t + 1]] * beta[t + 1, j] / scale[t + 1]
        self.A = xi / xi.sum(axis=1, keepdims=True)
        self.B = emis / emis.sum(axis=1, keepdims=True)
        g0 = alpha[0] * beta[0]
        self.pi = g0 / g0.sum()
        return np.log(scale).sum()


def segments(path):
    segs = []
    start = 0
    for t in range(1, len(path) + 1):
        if t == len(path) or path[t] != path[start]:
            segs.append((start, t - 1, path[start]))
            start = t
    return segs


def main(argv):
    T = int(argv[1]) if len(argv) > 1 else 9000
    rs = np.random.RandomState(31337)
    truth = HMM([[0.985, 0.015], [0.03, 0.97]],
                [[0.3, 0.2, 0.2, 0.3], [0.12, 0.38, 0.38, 0.12]],
                [0.5, 0.5])
    states, obs = truth.sample(T, rs)
    print("".join(ALPHABET[o] for o in obs[:70]))
    print("".join("-+"[s] for s in states[:70]))

    path, lp = truth.viterbi(obs)
    acc = np.mean(np.array(path) == states)
    print("viterbi log-prob %.6f, accuracy %.4f" % (lp, acc))
    segs = [s for s in segments(path) if s[2] == 1]
    print("islands found:", len(segs), "first five:", segs[:5])

    model = HMM([[0.9, 0.1], [0.1, 0.9]], [[0.28, 0.22, 0.24, 0.26], [0.2, 0.3, 0.3, 0.2]], [0.6, 0.4])
    old = -np.inf
    for it in range(15):
        ll = model.baum_welch_step(obs)
        print("BW iter %2d  loglik %.6f  gain %.6g" % (it, ll, ll - old))
        old = ll
    np.set_printoptions(precision=4)
    print(model.A)
    print(model.B)
    print(repr(model.pi))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
