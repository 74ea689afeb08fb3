"""Suffix array (prefix doubling), LCP, BWT + FM-index, KMP, Rabin-Karp, k-mer spectrum, codon usage.
Used for checking primers against a small genome."""
import io
import numpy as np
from collections import defaultdict

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def fake_genome(n, seed):
    rs = np.random.RandomState(seed)
    g = rs.choice(list("ACGT"), size=n, p=[0.3, 0.2, 0.2, 0.3])
    # add repeats
    for _ in range(6):
        a, b = rs.randint(0, n - 200, 2)
        g[b:b + 150] = g[a:a + 150]
    return "".join(g)


def suffix_array(s):
    n = len(s)
    rank = [ord(c) for c in s]
    sa = list(range(n))
    k = 1
    tmp = [0] * n
    while True:
        key = lambda i: (rank[i], rank[i + k] if i + k < n else -1)
        sa.sort(key=key)
        tmp[sa[0]] = 0
        for j in range(1, n):
            tmp[sa[j]] = tmp[sa[j - 1]] + (key(sa[j]) != key(sa[j - 1]))
        rank = tmp[:]
        if rank[sa[-1]] == n - 1:
            return np.array(sa)
        k *= 2


def kasai(s, sa):
    n = len(s)
    rank = np.empty(n, dtype=int)
    rank[sa] = np.arange(n)
    lcp = np.zeros(n, dtype=int)
    h = 0
    for i in range(n):
        if rank[i] > 0:
            j = sa[rank[i] - 1]
            while i + h < n and j + h < n and s[i + h] == s[j + h]:
                h += 1
            lcp[rank[i]] = h
            if h > 0:
                h -= 1
        else:
            h = 0
    return lcp


class FMIndex:
    def __init__(self, text, sa):
        self.bwt = "".join(text[i - 1] for i in sa)
        self.C = {}
        tot = 0
        for c in sorted(set(text)):
            self.C[c] = tot
            tot += text.count(c)
        self.occ = {c: np.zeros(len(text) + 1, dtype=np.int32) for c in self.C}
        for i, b in enumerate(self.bwt):
            for c in self.C:
                self.occ[c][i + 1] = self.occ[c][i] + (b == c)

    def count(self, pattern):
        lo, hi = 0, len(self.bwt)
        for c in reversed(pattern):
            if c not in self.C:
                return 0
            lo = self.C[c] + self.occ[c][lo]
            hi = self.C[c] + self.occ[c][hi]
            if lo >= hi:
                return 0
        return int(hi - lo)


def kmp(text, pat):
    fail = [0] * len(pat)
    k = 0
    for i in range(1, len(pat)):
        while k and pat[i] != pat[k]:
            k = fail[k - 1]
        if pat[i] == pat[k]:
            k += 1
        fail[i] = k
    hits = []
    k = 0
    for i, c in enumerate(text):
        while k and c != pat[k]:
            k = fail[k - 1]
        if c == pat[k]:
            k += 1
        if k == len(pat):
            hits.append(i - k + 1)
            k = fail[k - 1]
    return hits


def rabin_karp(text, pat, base=256, mod=(1 << 61) - 1):
    m = len(pat)
    hp = ht = 0
    power = pow(base, m - 1, mod)
    for i in range(m):
        hp = (hp * base + ord(pat[i])) % mod
        ht = (ht * base + ord(text[i])) % mod
    hits = []
    for i in range(len(text) - m + 1):
        if hp == ht and text[i:i + m] == pat:
            hits.append(i)
        if i + m < len(text):
            ht = ((ht - ord(text[i]) * power) * base + ord(text[i + m])) % mod
    return hits


def fuzzy(text, pat, maxmm):
    """all positions with at most maxmm mismatches, bytes arrays"""
    t = np.frombuffer(text.encode(), dtype=np.uint8)
    p = np.frombuffer(pat.encode(), dtype=np.uint8)
    hits = []
    for i in range(len(t) - len(p) + 1):
        mm = 0
        for j in range(len(p)):
            if t[i + j] != p[j]:
                mm += 1
                if mm > maxmm:
                    break
        else:
            hits.append((i, mm))
    return hits


def kmer_spectrum(s, k):
    d = defaultdict(int)
    for i in range(len(s) - k + 1):
        w = s[i:i + k]
        rc = w.translate(COMPLEMENT)[::-1]
        d[min(w, rc)] += 1
    spec = defaultdict(int)
    for v in d.values():
        spec[v] += 1
    return d, dict(sorted(spec.items()))


def gc_skew(s, win):
    out = []
    for i in range(0, len(s) - win + 1, win):
        g = c = 0
        for ch in s[i:i + win]:
            if ch == "G":
                g += 1
            elif ch == "C":
                c += 1
        out.append((g - c) / (g + c) if g + c else 0.0)
    return out


def write_fasta(fh, name, seq):
    fh.write(f">{name} len={len(seq)}\n")
    for i in range(0, len(seq), 60):
        fh.write(seq[i:i + 60] + "\n")


def main():
    g = fake_genome(70000, 9)
    text = g + "$"
    sa = suffix_array(text)
    lcp = kasai(text, sa)
    k = int(lcp.argmax())
    print("longest repeat", lcp[k], "at", sorted([int(sa[k]), int(sa[k - 1])]), text[sa[k]:sa[k] + 30])
    print("sa head", sa[:8], "mean lcp", lcp.mean())
    fm = FMIndex(text, sa)
    primers = [g[500:520], "ACGTACG", "TTTT", "GATTACA", "CCCCCCCCC"]
    for p in primers:
        a = kmp(g, p)
        b = rabin_karp(g, p)
        assert a == b and fm.count(p) == len(a), p
        print(f"{p:20s} {len(a):4d} hits {a[:5]}")
    f = fuzzy(g, primers[0], 7)
    print("fuzzy", len(f), f[:6])
    d, spec = kmer_spectrum(g, 10)
    top = sorted(d.items(), key=lambda kv: (-kv[1], kv[0]))[:5]
    print("k-mers", len(d), spec)
    print("top", top)
    print("skew", [f"{v:+.3f}" for v in gc_skew(g, 5000)])
    buf = io.StringIO()
    write_fasta(buf, "region", g[:130])
    print(buf.getvalue(), end="")


main()
