"""Characters that only the run knows: in lists, as keys, in joined texts; and the order of texts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target

X = np.array([0, 1, 2, 3.0])


def characters_appended(s, n):
    o = []
    for i in range(n):
        o.append(s[i])
    return o


def joined(s, n):
    o = []
    for i in range(n):
        o.append(s[i])
    return "".join(o)


def of_a_list_turned_round(x):
    o = []
    for v in x:
        o.append("MIDX"[int(v)])
    return "".join(reversed(o))


def texts_by_conditions(x):
    return ["lo" if v < 1 else "hi" for v in x]


def stored(x):
    o = ["-"] * len(x)
    for i in range(len(x)):
        if x[i] > 1:
            o[i] = "#"
    return "".join(o)


def beside_numbers(x):
    r = []
    for v in x:
        r.append((int(v), "buy" if v > 1 else "sell"))
    return r


def complement(s, t):
    comp = {"A": "T", "C": "G", "G": "C", "T": "A"}
    return "".join(comp[c] for c in reversed(s))


def pairs_of_characters(s, n):
    pairs = {("A", "T"), ("C", "G")}
    t = 0
    for i in range(n):
        for j in range(i, n):
            if (s[i], s[j]) in pairs or (s[j], s[i]) in pairs:
                t += 1
    return t


def keys(s, n):
    d = {}
    for i in range(n):
        d[s[i]] = d.get(s[i], 0) + 1
    return d


def counter(s, n):
    c = Counter(s[i] for i in range(n))
    return c, c.most_common(1), sorted(c.keys())


def members(s, n):
    seen = set()
    for i in range(n):
        seen.add(s[i])
    return len(seen), "A" in seen, s[0] in seen, seen


def alignment(s, x):
    al1, al2 = [], []
    i = 0
    while i < len(s):
        if x[i % len(x)] > 1:
            al1.append("-")
            al2.append(s[i])
        else:
            al1.append(s[i])
            al2.append("-")
        i += 1
    same = sum(p == q for p, q in zip(al1, al2))
    return "".join(al1[::-1]), "".join(reversed(al2)), same, "|".join(al1), len(al1)


def of_codes(x):
    return "".join(chr(ord("a") + int(v)) for v in x)


def shifted(s, n):
    out = []
    for i in range(n):
        k = (ord(s[i]) - 97 + 3) % 26
        out.append(chr(k + 97))
    return "".join(out)


def brackets(s, n):
    st = []
    for i in range(n):
        ch = s[i]
        if ch in "([{":
            st.append(ch)
        else:
            if not st:
                return False
            o = st.pop()
            if (o == "(" and ch != ")") or (o == "[" and ch != "]"):
                return False
    return len(st) == 0


def parts_of_a_joined_text(s, n):
    t = "".join(s[i] for i in range(n))
    return t[::-1], len(t), t[0], t


def joined_texts(x):
    t = ", ".join("low" if v < 1 else "high" for v in x)
    return t


def in_order(s, n):
    rows = []
    for i in range(n):
        rows.append((s[i], i))
    rows.sort()
    return rows, sorted(s[i] for i in range(n)), max(s[i] for i in range(n))


def groups(s, n):
    g = {}
    for i in range(n):
        g.setdefault(s[i], []).append(i)
    return g, {s[i]: i for i in range(n)}


def runs(s, n):
    last = "-"
    runs = []
    cnt = 0
    for i in range(n):
        if s[i] == last:
            cnt += 1
        else:
            if cnt:
                runs.append((last, cnt))
            last = s[i]
            cnt = 1
    runs.append((last, cnt))
    return runs


def rows_of_characters(s, n):
    board = [["."] * n for _ in range(n)]
    for i in range(n):
        board[i][i % 2] = s[i]
    return ["".join(r) for r in board]


def changed(s, n):
    t = [s[i] for i in range(n)]
    t[0], t[-1] = t[-1], t[0]
    if n > 2:
        t[1] = "xx"
    return t, t.count("A"), "G" in t, t.index("T")


def order_of_texts(x, s):
    a = "ab" if x[0] > 0 else "b"
    c = s[int(x[0])]
    d = "b" if x[1] > 0 else "cc"
    return (
        a < "b", a <= "ab", "ac" < a, a >= "b", a > "a", c < "ab", c <= "a", c > "ab", c > "", c < "", "ab" < c,  # noqa: SIM300
        a < d, a == d, c > d, d != c, c == "ab",
    )  # fmt: skip


def texts_in_order(x):
    names = ["low" if v < 1 else "high" if v < 3 else "at the end" for v in x]
    found = sorted(names, reverse=True)
    names.sort()
    return names, found


def counted_and_found(x, s):
    o = ["a" if v > 1 else "b" for v in (x[0], x[1], x[2])]
    c = (s[int(x[0]) % 3], s[int(x[1]) % 3])
    return o.count("a"), o.count(s[0]), c.count("b"), o.index("b"), "a" in o, (x[0], 1, x[1]).count(1)


def in_tuples(x, s):
    o = ("a" if x[0] > 1 else "b", s[int(x[1]) % 3], "zz" if x[2] > 1 else "b", 3)
    p, c = "c" if x[1] > 1 else "zz", s[int(x[0]) % 3]
    return "a" in o, "zz" in o, p in o, p in ("zz", "q"), c in o, 3 in o, None in o, (p, 1) in [("c", 1), ("zz", 2)], (
        "a", 2
    ) in [(c, 2)]  # fmt: skip


CALLS = [
    *((f, (np.array(x), "abc")) for f in (counted_and_found, in_tuples) for x in ([3.0, 1, 2], [1.0, 2, 1], [2.0, 2, 2])),
    (characters_appended, ("ACGT", 3)),
    (joined, ("ACGT", 3)),
    (joined, ("ACGT", 0)),
    (of_a_list_turned_round, (X,)),
    (of_a_list_turned_round, (X[:0],)),
    (texts_by_conditions, (X,)),
    (stored, (X,)),
    (stored, (X[:0],)),
    (beside_numbers, (X,)),
    (complement, ("ACCA", 0)),
    (pairs_of_characters, ("ACGTTG", 6)),
    (keys, ("ACGTTA", 6)),
    (counter, ("ACGTTA", 6)),
    (counter, ("ACGTTA", 0)),
    (members, ("ACGA", 4)),
    (alignment, ("ACGTAC", X)),
    (of_codes, (X,)),
    (of_codes, (X[:0],)),
    (shifted, ("hello", 5)),
    (brackets, ("([])", 4)),
    (brackets, ("([)]", 4)),
    (brackets, ("]", 1)),
    (parts_of_a_joined_text, ("ACGT", 3)),
    (parts_of_a_joined_text, ("ACGT", 0)),
    (joined_texts, (X,)),
    (joined_texts, (X[:0],)),
    (in_order, ("TACGA", 5)),
    (groups, ("TACGA", 5)),
    (runs, ("AABBBA", 6)),
    (rows_of_characters, ("ABCD", 3)),
    (changed, ("GATTACA", 7)),
    (changed, ("AT", 2)),
    (order_of_texts, (np.array([1.0, 1]), "ab")),
    (order_of_texts, (np.array([0.0, -1]), "ab")),
    (texts_in_order, (X,)),
    (texts_in_order, (X[::-1],)),
]


@pytest.mark.parametrize(("function", "arguments"), CALLS, ids=lambda v: getattr(v, "__name__", "of"))
def test_characters(function: Any, arguments: tuple[Any, ...]) -> None:
    alike(function, *arguments)


@pytest.mark.parametrize("function", [alignment, brackets])
def test_characters_on_cuda(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    alike(function, *next(arguments for of, arguments in CALLS if of is function), target="cuda")


def test_characters_beyond_ascii() -> None:
    with pytest.raises(RuntimeError, match="beyond ASCII"):
        transkern.compile(joined, target="cpu")("aßc", 3)
    alike(keys, "aßc", 1)


def test_the_order_of_a_set_of_characters_is_refused() -> None:
    def looped(s, n):
        seen = set()
        for i in range(n):
            seen.add(s[i])
        return list(seen)

    with pytest.raises(transkern.CompileError, match="another one in each run"):
        transkern.compile(looped, target="cpu")("ACGT", 3)


def digits(n):
    found = []
    while n > 0:
        found.append("01"[n % 2])
        n //= 2
    return "".join(reversed(found))


def joined_texts_compared(a):
    same = [s == s[::-1] for s in [digits(5)]], digits(int(a[0])) == digits(4)
    s = digits(int(a[0]))
    palindromes = []
    for v in a:
        t = digits(int(v))
        if t == t[::-1]:
            palindromes.append(int(v))
    return s == "101", s != "101", s == "11", s == "", s == "1", s < "11", s > "100", s is None, same, palindromes


def text_of_numbers_compared(a):
    return f"{a[0]}" == "5", f"{a[0]:03d}" < "006"


def text_of_floats_compared(a):
    return f"{a[0]:.1f}" == "5.0"


def test_texts_of_the_run_are_compared() -> None:
    for first in (5, 4, 0, 1):
        alike(joined_texts_compared, np.array([first, 3, 6, 9, 7]))
    with pytest.raises(transkern.CompileError, match="a comparison of a text made of run-time numbers"):
        transkern.compile(text_of_floats_compared, target="cpu")(np.array([5.0]))
    for first in (5, 40, -5):
        alike(text_of_numbers_compared, np.array([first]))


def in_binary(a, n):
    parity = {(s, b): bin((b << 2 | s) & 5).count("1") & 1 for s in range(4) for b in (0, 1)}
    ones = [bin(int(v)).count("1") for v in a]
    last = [bin(int(v))[-1] for v in a]
    return parity, ones, last, bin(n), bin(n).count("0"), bin(a[0])[2:], len(bin(n)), bin(n) == "0b101", bin(9)


def no_integer(a, n):
    return bin(a[0] * 0.5)


def no_code(a, n):
    return chr(a[0] * 0.5)


def formatted(x, n):
    forms = f"{n:08b}<{n:x}>{n:4X}|{n:04o}{n:3d}{n:05}|"
    table = np.array([int(c) for c in format(x[0], "08b")[::-1]])
    codes = [list(map(int, np.binary_repr(v, width=9))) for v in x]
    marks = (hex(n), oct(n), hex(x[-1])[2:], bin(n)[2:].zfill(12), str(n).zfill(5), np.binary_repr(n), np.binary_repr(n, 70))
    return list(forms), forms[-1], len(forms), table, codes, marks


def narrow(n, width):
    return np.binary_repr(n, width)


def checked(s):
    for i in range(len(s)):
        if not s[i].isalpha():
            raise ValueError(f"bad character {s[i]!r} at {i}: {s[i]}")
    return f"{s[i]} is last, {s[i]:>3}"


def test_digits_in_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.array([30, 255, 0, 7])
    for n in (0, 1, 5, -1, -256, -255, 2**40, 2**59):
        alike(formatted, x, n)
    alike(formatted, x.astype(np.uint8), 5, target=on_target("cuda", monkeypatch))
    for n in (0, 6, -6, -8, -1):
        for width in (0, 2, 4, 7):
            alike(narrow, n, width)


def test_characters_in_messages() -> None:
    for s in ("abc", "ab3c", "é=", "x"):
        alike(checked, s)
    with pytest.raises(RuntimeError, match="the repr of a character"):
        transkern.compile(checked)("a'")


def test_numbers_in_binary(monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.array([3, -1, 4, 0, 5, 2**40, -9])
    for n in (5, 0, -6, 2**63 - 1):
        alike(in_binary, a, n)
    alike(in_binary, a, 5, target=on_target("cuda", monkeypatch))
    alike(no_integer, a, 5)
    alike(no_code, a, 5)
