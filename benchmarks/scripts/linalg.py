"""LU with partial pivoting, Householder QR, Jacobi eigenvalues, conjugate gradients: all by hand, compared with numpy.
Numerical methods course, exercise sheet 3."""
import numpy as np


class SingularError(Exception):
    def __init__(self, column, pivot):
        super().__init__(f"matrix is singular: pivot {pivot!r} in column {column}")
        self.column = column


def lu(A, eps=1e-12):
    A = A.astype(float).copy()
    n = A.shape[0]
    perm = list(range(n))
    sign = 1
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        if abs(A[p, k]) < eps:
            raise SingularError(k, float(A[p, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            perm[k], perm[p] = perm[p], perm[k]
            sign = -sign
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            f = A[i, k]
            for j in range(k + 1, n):
                A[i, j] -= f * A[k, j]
    return A, perm, sign


def lu_solve(LU, perm, b):
    n = len(b)
    y = np.zeros(n)
    for i in range(n):
        s = b[perm[i]]
        for j in range(i):
            s -= LU[i, j] * y[j]
        y[i] = s
    for i in range(n - 1, -1, -1):
        s = y[i]
        for j in range(i + 1, n):
            s -= LU[i, j] * y[j]
        y[i] = s / LU[i, i]
    return y


def det(LU, sign):
    d = float(sign)
    for i in range(len(LU)):
        d *= LU[i, i]
    return d


def householder_qr(A):
    R = A.copy()
    m, n = R.shape
    Q = np.eye(m)
    for k in range(min(m - 1, n)):
        norm = 0.0
        for i in range(k, m):
            norm += R[i, k] ** 2
        norm = norm ** 0.5
        v = np.zeros(m)
        v[k:] = R[k:, k]
        v[k] += norm if v[k] >= 0 else -norm
        vv = v @ v
        for j in range(n):
            s = 0.0
            for i in range(k, m):
                s += v[i] * R[i, j]
            s *= 2 / vv
            for i in range(k, m):
                R[i, j] -= s * v[i]
        for j in range(m):
            s = 0.0
            for i in range(k, m):
                s += Q[j, i] * v[i]
            s *= 2 / vv
            for i in range(k, m):
                Q[j, i] -= s * v[i]
    return Q, R


def jacobi_eigen(A, tol=1e-10, max_sweeps=30):
    A = A.copy()
    n = len(A)
    for sweep in range(max_sweeps):
        off = 0.0
        for i in range(n):
            for j in range(i + 1, n):
                off += 2 * A[i, j] * A[i, j]
        print("   sweep", sweep, "off-diagonal norm %.6e" % np.sqrt(off))
        if np.sqrt(off) < tol:
            break
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(A[p, q]) < 1e-300:
                    continue
                theta = (A[q, q] - A[p, p]) / (2 * A[p, q])
                t = (1 if theta >= 0 else -1) / (abs(theta) + np.sqrt(theta * theta + 1))
                c = 1 / np.sqrt(t * t + 1)
                s = t * c
                for k in range(n):
                    akp, akq = A[k, p], A[k, q]
                    A[k, p] = c * akp - s * akq
                    A[k, q] = s * akp + c * akq
                for k in range(n):
                    apk, aqk = A[p, k], A[q, k]
                    A[p, k] = c * apk - s * aqk
                    A[q, k] = s * apk + c * aqk
    return sorted(float(A[i, i]) for i in range(n))


def cg(A, b, tol=1e-12):
    n = len(b)
    x = [0.0] * n
    r = list(b)
    p = list(b)
    rs = sum(v * v for v in r)
    it = 0
    while rs > tol and it < 10 * n:
        Ap = [sum(A[i, j] * p[j] for j in range(n)) for i in range(n)]
        alpha = rs / sum(p[i] * Ap[i] for i in range(n))
        for i in range(n):
            x[i] += alpha * p[i]
            r[i] -= alpha * Ap[i]
        new = sum(v * v for v in r)
        for i in range(n):
            p[i] = r[i] + new / rs * p[i]
        rs = new
        it += 1
    return np.array(x), it


def main():
    rng = np.random.default_rng(10)
    n = 170
    A = rng.standard_normal((n, n))
    b = rng.standard_normal(n)
    LU, perm, sign = lu(A)
    x = lu_solve(LU, perm, b)
    print("residual < 1e-10:", np.max(np.abs(A @ x - b)) < 1e-10)
    print("x[:4] =", x[:4])
    print("det = %.10e" % det(LU, sign))

    Q, R = householder_qr(rng.standard_normal((70, 45)))
    print("QR orthogonality < 1e-12:", np.abs(Q.T @ Q - np.eye(70)).max() < 1e-12)
    print("diag R", np.round(np.diag(R)[:6], 8))

    S = rng.integers(-5, 6, (44, 44)).astype(float)
    S = S + S.T
    ev = jacobi_eigen(S)
    print("eigenvalues", ["%.8f" % e for e in ev[:4]], "max diff to numpy < 1e-8:",
          bool(np.max(np.abs(np.array(ev) - np.linalg.eigvalsh(S))) < 1e-8))

    M = rng.standard_normal((120, 120))
    spd = M @ M.T + 120 * np.eye(120)
    x, it = cg(spd, rng.standard_normal(120))
    print("cg iterations", it, "norm %.10f" % np.linalg.norm(x))

    # exercise 3c: what happens with a rank-deficient matrix?
    B = np.arange(36, dtype=int).reshape(6, 6)
    for M in (np.array([[0, 1], [1, 0]]), np.array([[2, 1], [1, 3]]), B):
        LU, perm, sign = lu(M)
        print(M.shape, "det", det(LU, sign))


if __name__ == "__main__":
    main()
