"""Functions over the language, each run against NumPy: special values, errors, in-place effects, specialisation."""

# ruff: noqa: E501, E701, E702, E731, F841, B007, C416, SIM113
from __future__ import annotations

import math

import numpy as np

from tests.language.registry import CASES, case

rng = np.random.default_rng(1)
X, Y = rng.standard_normal(17), rng.standard_normal(17)
M, T = rng.standard_normal((5, 7)), rng.standard_normal((2, 3, 4))
B = np.array([True, False, True])
S = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 5e-324, 1e308])
IM = np.array([-(2**31), 2**31 - 1, 0, -1, 1, 7, -7], dtype="i4")

@case(S)
def d1(x): return np.maximum(x,0), np.minimum(x,0), np.fmax(x,1), np.sign(x), abs(x), -x, x*0, x//2, x%2, np.floor(x), np.sqrt(x), np.isnan(x), x==x, np.rint(x), x**2
@case(S)
def d2(x): return x.max(), x.min(), x.argmax(), x.argmin(), np.where(x>0)[0], x[x==x], np.sort(x), np.clip(x,-1,1)
@case(IM)
def d3(i): return i+i, i*i, -i, abs(i), i//-1, i//2, i%3, i%-3, i//0, i%0, i<<3, i>>2, i**2, np.sign(i), i.sum(), i.prod(), i/0
@case(np.array([-2**63, -9, -8, -1, 0, 1, 7, 8, 2**63 - 1]), -9)
@case(np.array([-2**31, -9, -8, -1, 0, 1, 7, 8, 2**31 - 1], np.int32), 7)
def divided_by_powers_of_two(i, k):
    return i // 2, i % 2, i // 8, i % 8, i // 1024, i % 1024, (i + k) // 4 * 3, (k - i) % 16 + 1, -(i % 4), k // 8, k % 8
@case(X,Y)
def items_before_a_store(x,y): return x+y, np.multiply(x,2,out=y)
@case(X,30)
def d4(x,k): return x[k]
@case(X,-20)
def d5(x,k):
    x[0]=5; x[k]=1
@case(X,M)
def d6(x,m): return x+m
@case(M)
def d7(m): return m.reshape(3,3)
@case(np.zeros(0))
def d8(x): return x.max()
@case(np.zeros(0))
def d9(x): return x.argmax()
@case(X)
def d10(x): return x[np.array([0,99])]
@case(X)
def d11(x): raise ValueError("bad input")
@case(X)
def d12(x):
    if x[0]>-100: raise ValueError(f"size {len(x)}")
    return x
@case(X,0)
def d13(x,k): return 1/k
@case(X,0)
def d14(x,k): return 1//k
@case(M,1, tol=1e-12)
def d15(m,axis): return m.sum(axis=axis)
@case(T, tol=1e-12)
def d16(t): return t.transpose(2,0,1), t.swapaxes(0,2), t[0], t[:,1], t[...,::-1], t.sum(axis=(0,2)), t.reshape(6,4), t.reshape(-1), t[:, :, None, 1:]
@case(B)
def d17(b): return b|True, b&b, ~b, b.sum(), b+b, b*2, b.any(), b^b, np.cumsum(b), b.astype(int)
@case(X)
def d18(x):
    y=x
    y+=1
    return x
@case(X)
def d19(x):
    y=x[2:5]
    y[:]=0
    z=x[2:5].copy()
    z[:]=1
    return y
@case(X)
def d20(x):
    out=[]
    for i in range(0,len(x),3): out.append(i*2)
    out.append(100)
    return out
@case(X)
def d21(x):
    r=0
    for i in range(10):
        for j in range(i):
            if j==3: continue
            if j>5: break
            r+=i*j
    return r
@case(X)
def d22(x):
    n=0
    while True:
        n+=1
        if n>7: break
    return n
@case(X,Y)
def d23(x,y):
    a=np.empty((2,len(x)))
    a[0]=x; a[1,:]=y
    return a, a.T, a.shape
@case(X, tol=1e-12)
def d24(x):
    m=x>0
    x[m]*=-1
    x[~m]=0
    return x, m.sum(), x[m].size, x[m].mean() if m.any() else 0.0
@case(M)
def d25(m):
    i,j=np.nonzero(m>0)
    return i,j,m[i,j], np.argwhere(m>1)
@case(M, tol=1e-12)
def d26(m):
    d=((m[:,None,:]-m[None,:,:])**2).sum(axis=-1)
    return np.sqrt(d), d.argmin(axis=1)
@case(X, None, tol=1e-12)
def d27(x,w=None):
    if w is None: w=np.ones_like(x)
    return (x*w).sum()/w.sum()
@case(X,'relu')
def d28(x,kind):
    if kind=='relu': return np.maximum(x,0)
    elif kind=='tanh': return np.tanh(x)
    raise ValueError(kind)
@case(X)
def d29(x):
    f=lambda t: t*2+1
    def g(a,b): return a-b
    return g(f(x),x), g(b=x,a=f(x))
@case(X)
def d30(x):
    acc=np.zeros(3)
    idx=np.array([0,1,1,2])
    acc[idx]+=1
    return acc
@case(X, tol=1e-12)
def d31(x): return np.mean(x), np.sum(x), np.max(x), np.abs(x), np.argsort(-x), np.square(x), np.power(x,2), np.cumsum(x)[::-1], np.any(x>2), np.round(x,2), np.median(x) if False else 0
@case(np.float32(2.5), X.astype('f4'))
def d32(a,x): return a*x, a+1, a*2.0, x*np.float64(1)
@case(X)
def d33(x):
    s=0
    for i in range(len(x)): s+=1
    t=0
    for v in x: t+=v
    return s,t
@case(X)
def d34(x): return x.tolist() if False else (x*1).shape[0], x[3:3], x[5:2].sum(), np.zeros((0,3)).sum(axis=0)
@case(np.arange(12.).reshape(3,4)[:, ::2], X)
def d35(m,x): return m*2, m.sum(axis=1), m[::-1], m.copy(), m.ravel()
@case(X)
def d36(x): return x.astype(np.float32), x.astype(int), x.astype('float32').astype(np.float64), (x>0).astype(np.float32), np.asarray(x,dtype=np.float32)
@case(np.float64(3.7), 5, True, 2.5)
def d37(a,b,c,d): return a+b, b/d, c+b, int(a), b//2, b%3, -b, b**2, d**2, abs(-b), a if c else b, not c, b==5
@case(X)
def d38(x):
    for i in range(len(x)-1,-1,-1):
        if x[i]<0:
            break
    return i
@case(X)
def d39(x):
    u=np.zeros((4,4)); 
    u[1:-1,1:-1]=x[:4].reshape(2,2)
    u[0]=u[1]; u[:,-1]=u[:,-2]
    return u
@case(np.array([3,1,2]), X)
def d40(idx,x): x[idx]=0; return x[idx], x.take(idx), np.take(x,idx)


@case(5, 3)
def d41(n, m):
    a = np.zeros((n, m))
    a[1:, 0] = np.arange(n - 1)
    b = np.ones(n + m)
    return a, b, np.full(m, 2.5) * n, np.empty((n, 0)).sum(axis=1)


@case(X, 4)
def d42(x, n):
    out = np.zeros(n)
    for i in range(n):
        out[i] = x[i] * i
    return out, np.linspace(0, 1, n)


@case(np.array([3, 1, 2, 3, 1]), 5)
def d43(idx, n):
    counts = np.zeros(n, dtype=int)
    for k in idx:
        counts[k] += 1
    return counts


@case(X, 7)
def d44(x, k):
    y = x + 1
    if len(x) > 3:
        y = x * 2
    z = y - 1
    if k > 9:
        z = z + y
    return y, z


@case(X, 3)
def d45(x, k):
    if k > 3:
        y = x[:4]
    else:
        y = x[2:9] * 2
    return y + 1, y.sum()


CASES[-1].tolerance = 1e-13


@case(np.arange(12.0).reshape(4, 3))
def d46(a):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            a[i, k] += k
    for i in range(a.shape[0]):
        for k in range(a.shape[1] - 1):
            a[i, k] *= i
    return k, i


@case(np.arange(12.0).reshape(4, 3) % 5 / 4, 4)
def d47(a, n):
    prev = 0.0
    for i in range(n):
        for j in range(3):
            if a[i, j] > 0.5:
                last = j
                prev = a[i, j]
                break
            last = -1
        a[i, 0] = prev + last
    for i in range(n):
        prev = i * 1.0
        for last in range(2):
            a[i, 1] += last
    return float(prev), last


@case(X)
def d48(x):
    d = np.zeros(3, np.int64)
    d[0] = -2
    first = x[d[0]]
    for i in range(3):
        first += x[d[i]]
        d[2 - i] = -i - 1  # what was known of all zeros does not hold in the next iteration
    return first


@case(X)
def d49(x):
    order = np.argsort(x)
    order[0] = order[1]  # no permutation any more
    y = np.zeros(len(x))
    y[order] += 1.0
    return y


@case(X, Y)
def d50(x, y):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        if y[i] > 0:
            s = y[i] * 2  # read after a branch whose other side leaves
        else:
            continue
        if x[i] > 1.5:
            break
        else:
            t = x[i] * s
            u = t + 1
        out[i] = t + u
    return out
@case(IM, IM[::-1])
def chosen_extremes(x, y): return np.where(x>y, x, y-3).max(), np.max(np.where(x<0, 1, 2)), np.where(x>0, 5, y).min(), np.where(x[None]>0, y[:,None], x).min(axis=1)
@case(np.array([0, 3, 2**63 + 1, 2**64 - 1], dtype="u8"), np.array([-2, 3, -(2**63), 5]), -1, 3)
def signed_beside_unsigned(u, s, k, j): return u > s, u >= s, u < s, u <= s, u == s, u != s, s > u, s >= u, s < u, s <= u, s == u, u > k, k < u, u == j, u < j, u > -1, u >= 0, u[3] > k, u[1] == s[1], np.greater(s, u)
@case(np.array([0, 3, 200], dtype="u1"), np.array([-2, 3, 100], dtype="i1"), -1, 300)
def narrow_beside_python(u, s, k, j): return u > s, u > k, u < j, s < j, s > k, u == 200, s != -2, u < -1, u > 255
@case(S, 0.3)
def error_functions(x, t):
    out = np.empty_like(x)
    for i in range(len(x)): out[i] = math.erf(x[i]) * 2 + math.erfc(x[i])
    return out, math.erf(t), math.erfc(-t), 0.5 * (1 + math.erf(t / math.sqrt(2)))
@case(X, 3)
def made_anew_and_kept(x, rounds):
    c = x.copy()
    for _ in range(rounds):
        new = np.zeros(len(x))
        for j in range(len(x)): new[j] = c[j] * 2 + c[-j]
        if new[0] > 5: break
        c = new
    return c
@case(M, 3, 4)
def sizes_equal_by_assumption(m, k, rounds):
    c = m[:k].copy()
    for _ in range(rounds):
        near = np.argmin(((m - c[:, np.newaxis])**2).sum(axis=2), axis=0)
        new = np.zeros((k, m.shape[1]))
        for j in range(k): new[j] = m[near == j].mean(axis=0)
        if np.allclose(new, c): break
        c = new
    return c
@case(M, 3, 4)
def centres_by_comprehension(m, k, rounds):
    c = m[:k].copy()
    for _ in range(rounds):
        near = np.argmin(((m - c[:, np.newaxis])**2).sum(axis=2), axis=0)
        c = np.array([m[near == j].mean(axis=0) for j in range(k)])
    return c
@case(100)
def sieve(n):
    p = np.ones(n + 1, dtype=bool)
    p[:2] = False
    for i in range(2, int(n ** 0.5) + 1):
        if p[i]: p[i * i :: i] = False
    return np.flatnonzero(p)
@case(X.copy(), Y.copy())
def slices_with_steps_of_loops(x, y):
    s = 0.0
    for k in range(1, 5):
        x[k::k] += 1
        y[:k:k] = k
        s += x[::k].max() + x[1:-1:k].min()
        z = x[k:len(x):k] * 2
        y[:len(z)] = z
    return s
@case(X, Y)
def path_traced_back(s, t):
    n, m = len(s), len(t)
    d = np.full((n+1, m+1), np.inf)
    d[0, 0] = 0
    for i in range(1, n+1):
        for j in range(1, m+1):
            d[i, j] = abs(s[i-1] - t[j-1]) + min(d[i-1, j], d[i, j-1], d[i-1, j-1])
    path = []
    i, j = n, m
    while i > 0 and j > 0:
        path.append((i-1, j-1))
        k = np.argmin([d[i-1, j-1], d[i-1, j], d[i, j-1]])
        if k == 0:
            i -= 1; j -= 1
        elif k == 1: i -= 1
        else: j -= 1
    return d[n, m], path[::-1]
@case(np.array([3, 1, 2, 3, 1]), np.array([1, 2, 3, 1]))
def common_subsequence(a, b):
    n, m = len(a), len(b)
    t = np.zeros((n+1, m+1), dtype=int)
    for i in range(n):
        for j in range(m):
            t[i+1, j+1] = t[i, j] + 1 if a[i] == b[j] else max(t[i, j+1], t[i+1, j])
    found = []
    while n > 0 and m >= 1:
        if a[n-1] == b[m-1]:
            found.append(a[n-1])
            n, m = n - 1, m - 1
            continue
        if t[n-1, m] >= t[n, m-1]: n = n - 1
        else: m -= 1
    return np.array(found[::-1])
@case(np.array([5, 3, 8, 1, 9, 2]), 4)
def lists_turned(x, limit):
    pairs, found, rows = [], [], []
    for i in range(len(x)):
        if x[i] > limit:
            pairs.append((i, float(x[i]) * 0.5))
            found.append(x[i])
            rows.append(x[:2] * i)
    some = pairs[1:]
    pairs.reverse()
    found.reverse()
    more = pairs.copy()
    more.append((7, 0.25))
    return pairs, found, some, more, found[::2], rows[::-1], pairs[::-1]
@case(M[:4, :4], 30, 1e-9, tol=1e-12)
def power_iteration(a, rounds, tol):
    v, lam = np.ones(a.shape[1]), 0.0
    for _ in range(rounds):
        w = np.dot(a, v)
        v = w / np.linalg.norm(w)
        new = v @ a @ v
        if abs(new - lam) < tol:
            lam = new
            break
        lam = new
    return lam
@case(np.abs(M[:4, :4]), 0.3, tol=1e-12)
def sums_in_conditions(a, eps):
    v = np.ones(len(a))
    while np.max(np.abs(a @ v)) > eps: v = v * 0.5
    while np.sum(v) > eps / 9 and np.max(v) > eps / 100: v = v * 0.5
    return v
@case(np.arange(49.0).reshape(7, 7), 2)
def reduced_by_blocks(img, k):
    h, w = img.shape
    h2, w2 = h//k*k, w//k*k
    return img[:h2, :w2].reshape(h2//k, k, w2//k, k).mean(axis=(1, 3))
@case(np.abs(M), 3, 3, tol=1e-12)
def weights_by_rounds(m, k, rounds):
    n = len(m)
    c = m[:k]
    for _ in range(rounds):
        r = np.zeros((n, k))
        for j in range(k):
            diff = m - c[j]
            r[:, j] = np.sum(diff * diff, axis=1) + 0.1
        r /= r.sum(axis=1, keepdims=True)
        c = (r.T @ m) / r.sum(axis=0)[:, None]
    return c
@case(8)
def points_of_a_grid(n):
    y, x = np.ogrid[-1.4:1.4:n*1j, -2:0.8:n*1j]
    return x * x + y


@case(np.array([1., 5, 2, -4]))
def pieces(x):
    p=int(np.argmax(x))
    a,b,c = x[p-1:p+2]
    return a-2*b+c


@case(np.array([-4., 2]))
def too_short(x):
    p=int(np.argmax(x))
    a,b,c = x[p:p+3]
    return a-2*b+c


@case(np.array([1., 5, 2, -4]), 0)
@case(np.array([1., 5, 2, -4]), 3)
@case(np.array([1., 5, 2, -4]), 1)
def kept_ones(x, t):
    i, j, k = np.flatnonzero(x > t)
    return x[i]+x[j]*x[k]


@case(np.array([1., 5, 2, -4]), 0)
@case(np.array([1., 5, 2, -4]), 3)
def from_list(x, t):
    found=[]
    for v in x:
        if v>t: found.append(v)
    a, b, c = found
    return a*b-c


@case(np.array([[1,2],[3,4],[5,6.]]), 2)
@case(np.array([[1,2],[3,4],[5,6.]]), 0)
def rows_unpacked(m, t):
    p, q = m[m[:,0]>t]
    return p-q


@case(np.random.default_rng(4).random((12, 2)))
def hull(points):
    points = sorted(map(tuple, points))
    def turn(o, a, b):
        return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])
    lower = []
    for p in points:
        while len(lower) >= 2 and turn(lower[-2], lower[-1], p) <= 0:
            lower.pop()
        lower.append(p)
    return np.array(lower), [tuple(p) for p in points]
