"""dynamic programming collection for the algorithms class: knapsack, edit distance, LIS, LCS, matrix chain, coin change, rod"""
import numpy as np

MOD = 1_000_000_007


def knapsack(values, weights, cap):
    n = len(values)
    K = np.zeros((n + 1, cap + 1), dtype=np.int64)
    for i in range(1, n + 1):
        for w in range(cap + 1):
            K[i][w] = K[i - 1][w]
            if weights[i - 1] <= w:
                cand = K[i - 1][w - weights[i - 1]] + values[i - 1]
                if cand > K[i][w]:
                    K[i][w] = cand
    chosen = []
    w = cap
    for i in range(n, 0, -1):
        if K[i][w] != K[i - 1][w]:
            chosen.append(i - 1)
            w -= weights[i - 1]
    return K[n][cap], sorted(chosen)


def edit_distance(s, t):
    d = np.zeros((len(s) + 1, len(t) + 1), dtype=int)
    d[:, 0] = range(len(s) + 1)
    d[0, :] = range(len(t) + 1)
    for i in range(1, len(s) + 1):
        for j in range(1, len(t) + 1):
            cost = 0 if s[i - 1] == t[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
            # Damerau
            if i > 1 and j > 1 and s[i - 1] == t[j - 2] and s[i - 2] == t[j - 1]:
                d[i, j] = min(d[i, j], d[i - 2, j - 2] + 1)
    return d[-1, -1]


def lcs(a, b):
    n, m = len(a), len(b)
    L = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n):
        for j in range(m):
            if a[i] == b[j]:
                L[i + 1][j + 1] = L[i][j] + 1
            else:
                L[i + 1][j + 1] = max(L[i][j + 1], L[i + 1][j])
    out = ""
    i, j = n, m
    while i and j:
        if a[i - 1] == b[j - 1]:
            out = a[i - 1] + out
            i -= 1
            j -= 1
        elif L[i - 1][j] >= L[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return out


def lis(x):
    n = len(x)
    best = [1] * n
    prev = [-1] * n
    for i in range(n):
        for j in range(i):
            if x[j] < x[i] and best[j] + 1 > best[i]:
                best[i] = best[j] + 1
                prev[i] = j
    k = best.index(max(best))
    seq = []
    while k != -1:
        seq.append(x[k])
        k = prev[k]
    return seq[::-1]


def matrix_chain(dims):
    n = len(dims) - 1
    m = np.zeros((n, n))
    s = np.zeros((n, n), dtype=int)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            m[i, j] = np.inf
            for k in range(i, j):
                q = m[i, k] + m[k + 1, j] + dims[i] * dims[k + 1] * dims[j + 1]
                if q < m[i, j]:
                    m[i, j] = q
                    s[i, j] = k

    def paren(i, j):
        if i == j:
            return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 26]
        return "(" + paren(i, s[i, j]) + paren(s[i, j] + 1, j) + ")"

    return m[0, n - 1], paren(0, n - 1)


def count_change(coins, amount, exact=True):
    ways = [0] * (amount + 1)
    ways[0] = 1
    for c in coins:
        for a in range(c, amount + 1):
            if exact:
                ways[a] += ways[a - c]        # python ints, gets large
            else:
                ways[a] = (ways[a] + ways[a - c]) % MOD
    return ways[amount]


def rolling_hash(s, base=911382323, mod=972663749):
    h = 0
    for ch in s:
        h = (h * base + ord(ch)) % mod
    return h


def main():
    rs = np.random.RandomState(8)
    values = rs.randint(10, 100, size=80)
    weights = rs.randint(5, 60, size=80)
    v, items = knapsack(values, weights, 2200)
    print("knapsack:", v, "weight", weights[items].sum(), "items", items)

    words = ["".join(rs.choice(list("abcde"), 300)) for _ in range(5)]
    table = np.zeros((5, 5), dtype=int)
    for i in range(5):
        for j in range(i + 1, 5):
            table[i, j] = table[j, i] = edit_distance(words[i], words[j])
    print(table)
    print("hashes", [rolling_hash(w) for w in words])
    print(edit_distance("ca", "abc"), edit_distance("", "xyz"), edit_distance("teh", "the"))

    c = lcs(words[0] * 3, words[1] * 3)
    print("lcs", len(c), c[:40])

    x = rs.randint(0, 10000, 1500)
    seq = lis(x)
    print("lis", len(seq), seq[:3], "...", [int(s) for s in seq[-3:]])

    dims = [int(d) for d in rs.randint(5, 60, 110)]
    cost, p = matrix_chain(dims)
    print("chain %.0f %s" % (cost, p[:60]))

    coins = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
    print("change exact", count_change(coins, 150000))
    print("change mod  ", count_change(coins, 150000, exact=False))


main()
