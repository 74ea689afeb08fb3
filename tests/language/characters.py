"""Texts, character by character: edit distances, alignments, counts."""

# ruff: noqa: E501, E701, E702, E741, SIM108, N803, N806, C408
from __future__ import annotations

import numpy as np

from tests.language.registry import case


@case("kitten", "sitting")
@case("kitten and sitting", "sitting")
def edit_distance(a, b):
    n, m = len(a), len(b)
    d = np.zeros((n + 1, m + 1), dtype=int)
    d[:, 0] = np.arange(n + 1)
    d[0, :] = np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            c = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + c)
    return d[n, m]


@case("hello world, how are you")
def letters(s):
    h = np.zeros(26, dtype=int)
    for c in s:
        if "a" <= c <= "z":
            h[ord(c) - ord("a")] += 1
    return h


@case("some text to look into", 3)
@case("some text to look into", -2)
@case("some text to look into", 22)
def one_character(s, k):
    c = s[k]
    return c, c == "e", c != "some", c > "f", c in ("e", "k"), chr(ord(c) + 1), len(c), ["a", "bc", "d"][k % 3]


@case("abcabcabcabca", {"a": 1.5, "b": 2.5})
def no_such_key(s, values):
    total = 0.0
    for c in s:
        total += values[c] if c != "c" or total < 0 else 0.0
    return total


@case([1, 0, 2, 1, 1, 0], {0: "A", 1: "B", 2: "C"})
def by_a_number(ks, names):
    weights = {0: 10.0, 1: 20.0, 2: 0.5}
    total = 0.0
    for k in ks:
        total += weights[k]
        weights[k] += 1.0
    return total, weights


@case("ACGTTGCAAC", "ACGTCGCATC", 2, -1, -2)
def needleman(a, b, match, mismatch, gap):
    n, m = len(a), len(b)
    F = np.zeros((n+1, m+1))
    for i in range(n+1): F[i,0] = i*gap
    for j in range(m+1): F[0,j] = j*gap
    for i in range(1,n+1):
        for j in range(1,m+1):
            s = match if a[i-1] == b[j-1] else mismatch
            F[i,j] = max(F[i-1,j-1]+s, F[i-1,j]+gap, F[i,j-1]+gap)
    i, j = n, m
    path = []
    while i > 0 and j > 0:
        path.append((i, j))
        s = match if a[i-1] == b[j-1] else mismatch
        if F[i,j] == F[i-1,j-1] + s:
            i -= 1; j -= 1
        elif F[i,j] == F[i-1,j] + gap:
            i -= 1
        else:
            j -= 1
    return F, path


@case("ACGTACGTTTGACA"*3)
def counts(seq):
    d = {'A':0,'C':0,'G':0,'T':0}
    for c in seq:
        d[c] += 1
    return d


@case("ACGTACGTTTGACA"*3)
def onehot(seq):
    idx = {'A':0,'C':1,'G':2,'T':3}
    out = np.zeros((len(seq), 4))
    for i, c in enumerate(seq):
        out[i, idx[c]] = 1
    return out


@case("ACGTACGTTTGACA"*3)
def gc(seq):
    return (seq.count('G') + seq.count('C')) / len(seq)


@case("hello world this is text")
def vowels(s):
    k = 0
    for c in s:
        if c in "aeiou":
            k += 1
    return k


@case("racecar")
def pal(s):
    n = len(s)
    for i in range(n//2):
        if s[i] != s[n-1-i]:
            return False
    return s == s[::-1]


@case("hello world")
def runs(s):
    best = 1; cur = 1
    prev = s[0]
    for c in s[1:]:
        if c == prev:
            cur += 1
            best = max(best, cur)
        else:
            cur = 1
        prev = c
    return best, prev


@case("AGGTAB", "GXTXAYB")
def lcs(X, Y):
    m = len(X); n = len(Y)
    L = [[None]*(n+1) for i in range(m+1)]
    for i in range(m+1):
        for j in range(n+1):
            if i == 0 or j == 0:
                L[i][j] = 0
            elif X[i-1] == Y[j-1]:
                L[i][j] = L[i-1][j-1]+1
            else:
                L[i][j] = max(L[i-1][j], L[i][j-1])
    return L[m][n]


@case("the quick brown fox jumps over the lazy dog and runs away from the very lazy cat")
def caesar_sum(s):
    t = 0
    for ch in s:
        if ch == ' ':
            continue
        t += (ord(ch) - ord('a') + 3) % 26
    return t


@case(17)
def binary(n):
    bits = []
    while n > 0:
        bits.append(n % 2)
        n //= 2
    return bits[::-1]


@case("+[->+<]>>", 6)
def match_brackets(prog, k):
    jumps = np.zeros(len(prog), dtype=int)
    stack = []
    for i, c in enumerate(prog):
        if c == '[':
            stack.append(i)
        elif c == ']':
            j = stack.pop()
            jumps[i] = j
            jumps[j] = i
    return jumps


@case(12345)
def sum_of_digits(n):
    return sum(int(d) for d in str(n)), len(str(n)), str(n)[0] == "1", str(-n)[0], [int(c) for c in f"{n}"]


@case(-12021)
def backwards(n):
    s = str(abs(n))
    return s == s[::-1], int(s[::-1]), int(str(n)), list(str(n)), str(n).count("2"), str(n), f"<{n}|{n + 1}>"


@case("Hello, Wor1d", 3)
def shifted(text, k):
    out = []
    for c in text:
        if c.isalpha():
            base = ord("A") if c.isupper() else ord("a")
            out.append(chr((ord(c) - base + k) % 26 + base))
        else:
            out.append(c)
    return "".join(out)


@case("aB3 \t_z")
def kinds_of_characters(text):
    found = []
    for c in text:
        found.append((c.isalpha(), c.isdigit(), c.isalnum(), c.isspace(), c.isupper(), c.islower()))
    return found, "".join([c.upper() for c in text]), "".join([c.lower() for c in text])


@case("12,345,6")
def numbers_read(text):
    numbers, v = [], 0
    for c in text:
        if c.isdigit():
            v = v * 10 + int(c)
        else:
            numbers.append(v)
            v = 0
    return [*numbers, v]


@case("12x4")
def no_digit(text):
    return [int(c) for c in text]


@case("aaabccdd")
def run_lengths(text):
    out = ""
    i = 0
    while i < len(text):
        j = i
        while j < len(text) and text[j] == text[i]:
            j += 1
        out += text[i] + str(j - i)
        i = j
    return out, len(out)


@case(37)
def digits_in_front(n):
    s = ""
    while n > 0:
        s = str(n % 2) + s
        n //= 2
    return s


@case(48)
def numerals(n):
    text = "MMXIV = "
    for value, sign in [(10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]:
        while n >= value:
            text = text + sign
            n -= value
    return text


@case(np.array([3, 7, 4, 4]))
def directions(x):
    path = ""
    for i in range(len(x) - 1):
        path += "+" if x[i + 1] > x[i] else "-" if x[i + 1] < x[i] else "="
    return path


KEY = b"secret!"


@case(np.arange(9, dtype=np.uint8), 2)
def bytes_of_a_key(x, k):
    out = x.copy()
    for i in range(len(x)):
        out[i] ^= KEY[i % len(KEY)]
    h = 2166136261
    for byte in b"hello":
        h = ((h ^ byte) * 16777619) & 0xFFFFFFFF
    return out, h, KEY[k], KEY[-k], list(KEY), sum(KEY), KEY[1:3] == b"ec"


@case(9)
def no_such_byte(k):
    return KEY[k]
