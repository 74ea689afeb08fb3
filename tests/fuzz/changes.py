"""Values that others were made of, and that change: programs of what is made, changed and used, in any order.

    make changes CHANGES=6000 OPTIONS="--first 1"

`programs.py` computes much with arrays; here few numbers go through all that Python can hold them in (lists, lists of
arrays and of lists, dicts, sets, tuples, views, functions with what they captured), each of which may be changed by
each of its methods behind anything that was made of it: what sees the change, and what does not, is Python's answer.
The program is grown statement by statement; one that raises ends it, now and then. What is compiled is run by the
interpreter of the IR, as in `questions.py`.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.fuzz.stages import function_of
from tests.fuzz.tools import Part
from tests.trust.against_python import CHECKED, REFUSED, interpreted, outcome
from transkern import InternalError
from transkern.errors import EMPTY, NOT_COMPILED, SEVERAL

SOURCES = {
    "array": (
        "x", "x.copy()", "x[1:]", "x * 2", "np.zeros(4)", "np.arange(5.0)", "y[0]", "y[:, 1]", "y.ravel()",
        "y.T.ravel()",
        "np.array([1.0, 2.0, 3.0])", "x[::-1]", "x[x > 0.5]", "np.ones(len(k))", "np.asarray(x)", "np.sort(x)",
    ),
    "ints": ("k", "k.copy()", "k[1:]", "np.arange(4)", "np.argsort(x)", "np.array([2, 0, 1])", "k * 2", "k[::-1]"),
    "matrix": (
        "y", "y.copy()", "y.T", "y[1:]", "np.zeros((2, 3))", "np.outer(x, x)", "y * 2", "x.reshape(2, -1)",
        "np.eye(3)",
    ),
    "list": (
        "[1, 2, 3]", "[]", "list(k)", "[v for v in x if v > 0.5]", "x.tolist()", "[0] * 3", "[x[0], 2.5]",
        "list(range(4))",
        "k.tolist()", "[v * 2 for v in k]", "[float(v) for v in x]", "[len(x), 0, 1]", "[True, False]",
    ),
    "arrays": (
        "[x * 2, x + 1]", "[x, x]", "[v * x for v in k]", "[np.zeros(3) for _ in range(3)]", "[np.zeros(3)] * 3",
        "list(y)",
        "[x, y[0]]", "[a for a in y]", "[x[:2], x[2:]]", "[x.copy(), x]", "[a * 2 for a in y if a[0] > 0]",
    ),
    "rows": (
        "[[1, 2], [3]]", "[[] for _ in range(3)]", "[[]] * 3", "[[v, v + 1] for v in k]", "y.tolist()",
        "[list(a) for a in y]",
    ),
    "dict": (
        "{}", "{1: 2, 3: 4}", "{v: i for i, v in enumerate(k)}", "dict.fromkeys(k, 0)", "dict(zip(k, x))",
        "{0: 1.5, 1: 2.5}",
    ),
    "named": (
        "{'a': x, 'b': x + 1}", "{'a': 1, 'b': 2}", "{'a': [1, 2], 'b': [3]}", "dict(a=x, b=x)",
        "{'a': x[0], 'b': 2.0}",
    ),
    "lists": ("{1: [], 2: [3]}", "{v: [] for v in k}", "{v: [v] for v in range(3)}", "defaultdict(list)"),
    "set": ("{1, 2}", "set(k)", "set()", "{v % 3 for v in k}", "set(k.tolist())"),
    "deque": ("deque()", "deque([1, 2, 3])", "deque(k)", "deque(x, maxlen=3)"),
    "number": (
        "len(x)", "x[0]", "k[0]", "2", "1.5", "x.sum()", "int(k[1])", "float(x[1])", "x.shape[0] - 1", "k.max()",
        "True",
    ),
    "object": ("Part(x, 2)", "Part(x[1:], len(x))", "Part(x * 2, 0)", "Part(k, k[0])"),
    "pair": ("(x, k)", "(x[0], 2)", "([1, 2], x)", "x.shape", "(x, x)", "divmod(len(x), 2)", "([], [])"),
}  # fmt: skip
"""What a program begins with: expressions of its arguments."""

MADE = {
    "array": (
        "A", "A[1:]", "A[::-1]", "A[:-1]", "A * 2", "A.copy()", "A[A > 0.5]", "list(A)", "A.tolist()", "tuple(A)",
        "A.reshape(-1, 1)", "A.ravel()", "np.asarray(A)", "np.array(A)", "A[0]", "A.sum()", "A.view()", "(A, L)",
        "[A, A]",
        "{'a': A, 'b': A}", "len(A)", "A > 0.5", "np.where(A > 0.5)[0]", "A.shape", "np.broadcast_to(A, (2, len(A)))",
        "np.split(A, [2])", "np.concatenate([A, A])", "A[:N]", "A[L]", "A[I]", "A[I[0]]", "A.T", "A[None]",
        "np.append(A, N)",
        "A.astype(float)", "A.astype(np.float32)", "A.flat[1:]", "A[...]", "np.flip(A)", "np.stack([A, A])", "A.max()",
        "np.cumsum(A)", "A[:len(L)]", "A.argmax()", "[v for v in A]", "{v: A for v in (1, 2)}", "A + A[::-1]",
        "A[0], A[1]",
        "np.roll(A, 1)", "np.where(A > 0.5, A, N)", "max(A)", "sorted(A)", "A if N > 1 else A[1:]", "np.diff(A)",
        "A.item(0)", "float(A[0])", "A.any()", "np.minimum(A, N)", "[A[1:], A]", "A[0] if len(A) else 0", "A.squeeze()",
        "np.delete(A, 0)", "np.repeat(A, 2)", "np.sum(A * A)", "np.array([A, A])", "A.reshape(-1)",
        "list(enumerate(A))",
    ),
    "ints": (
        "I", "I[1:]", "I * 2", "list(I)", "I.tolist()", "I[0]", "int(I[0])", "np.bincount(I % 5)", "np.zeros(I[0] % 5)",
        "range(I[0])", "x[:I[0]]", "A[I % len(A)]", "np.unique(I)", "I.astype(float)", "I > 1", "np.cumsum(I)",
        "set(I)",
        "I.sum()", "I.copy()", "np.repeat(I, 2)", "{v: 0 for v in I}", "slice(0, I[0])", "np.arange(I[0])", "I.max()",
    ),
    "matrix": (
        "M", "M[0]", "M[:, 0]", "M.T", "M.ravel()", "M.reshape(-1)", "list(M)", "M * 2", "M.sum(axis=0)", "M[1:]",
        "M[::-1]",
        "M.copy()", "M.tolist()", "M @ M.T", "[a for a in M]", "M[M > 0.5]", "M[:, ::-1]", "M.flatten()",
        "M.diagonal()",
        "tuple(M)", "M[0, 0]", "M.shape", "np.vstack([M, M])", "M[None]", "M.max(axis=1)", "M[[0, 1]]", "M[-1, 1:]",
        "(M[0], M[1])", "np.split(M, 2)", "M.mean()", "dict(enumerate(M))", "sorted(M, key=lambda a: a[0])",
    ),
    "list": (
        "L", "L[:]", "list(L)", "L.copy()", "L[1:]", "L[::-1]", "L + L", "L * 2", "tuple(L)", "np.array(L)",
        "sorted(L)",
        "set(L)", "[v * 2 for v in L]", "len(L)", "L[0]", "L[-1]", "sum(L)", "max(L)", "(L, L)", "[L, L]", "[L, L[:]]",
        "{'a': L, 'b': L}", "dict(enumerate(L))", "L or [1]", "list(reversed(L))", "range(len(L))", "x[:len(L)]",
        "np.zeros(len(L))", "L.count(1)", "L.index(L[0])", "L.pop()", "L.pop(0)", "L if N > 1 else []", "[L[0], L[-1]]",
        "list(zip(L, L))", "list(enumerate(L))", "{v: L for v in (1, 2)}", "[v for v in L if v > 1]", "N in L",
        "L == L[:]",
        "deque(L)", "np.asarray(L) + 1", "[*L, 5]", "any(L)", "L[:N]", "[[v] for v in L]", "{1: L}", "L[0] if L else 0",
        "np.mean(L)", "np.sum(L)", "np.array(L) > 1", "list(map(abs, L))", "[x * v for v in L]", "np.array([L, L])",
        "(*L,)",
    ),
    "arrays": (
        "T", "T[0]", "T[-1]", "T[0][1:]", "T[1:]", "list(T)", "T + T", "[a[:2] for a in T]", "np.array(T)", "T[0][0]",
        "len(T)",
        "sum(T)", "T.pop()", "[a * 2 for a in T]", "tuple(T)", "np.concatenate(T)", "T[0] * 2",
        "{'a': T[0], 'b': T[1]}",
        "(T[0], T[1])", "T[::-1]", "[a.sum() for a in T]", "[a.copy() for a in T]", "dict(enumerate(T))", "np.stack(T)",
        "T[0] if N > 1 else T[1]", "max(T, key=lambda a: a[0])", "T[0].tolist()", "[T[0], x]", "T[N]", "[T, T]",
        "list(zip(T, T))",
    ),
    "rows": (
        "R", "R[0]", "R[-1]", "R[:]", "[q[:] for q in R]", "R + R", "len(R)", "R[0] + R[1]", "[len(q) for q in R]",
        "R.pop()",
        "[v for q in R for v in q]", "sum(R, [])", "(R[0], R[1])", "{1: R[0]}", "R[0][0]", "[sum(q) for q in R]",
        "R[1:]",
        "{'a': R[0], 'b': R[1]}", "list(R)", "[list(q) for q in R]", "tuple(R)", "R[0] if N > 1 else R[1]",
        "max(R, key=len)",
    ),
    "dict": (
        "D", "dict(D)", "D.copy()", "list(D)", "list(D.items())", "list(D.values())", "len(D)", "D.get(1, 0)",
        "sorted(D)",
        "{q: v + 1 for q, v in D.items()}", "sum(D.values())", "np.array(list(D.values()))", "1 in D", "D.get(7)",
        "set(D)",
        "list(D.keys())", "[D, D]", "(D, 1)", "D.pop(1, None)", "D.setdefault(5, 2)", "{**D, 9: 1}",
        "max(D.values(), default=0)", "tuple(D)", "D or {1: 1}", "D | {8: 2}", "D[1]",
    ),
    "named": (
        "E", "E['a']", "dict(E)", "E['b']", "(E['a'], E['b'])", "list(E.values())", "E['a'] * 2",
        "{'a': E['a'], 'b': E['a']}",
        "{q: v for q, v in E.items()}", "E.get('c', 3)", "list(E)", "E.pop('a')", "len(E)", "{**E, 'c': 1}",
        "[E['a'], E['a']]",
        "E.copy()",
    ),
    "lists": (
        "G", "G[1]", "G.get(2)", "len(G)", "[len(v) for v in G.values()]", "dict(G)", "G.setdefault(4, [])", "list(G)",
        "{q: v[:] for q, v in G.items()}", "list(G.values())", "G[2][:]", "sum(G.values(), [])",
        "{q: len(v) for q, v in G.items()}",
    ),
    "set": (
        "S", "set(S)", "S.copy()", "sorted(S)", "len(S)", "S | {7}", "S & {1, 2}", "1 in S", "S - {1}", "max(S)",
        "list(S)",
        "sum(S)", "{v + 1 for v in S}", "np.array(sorted(S))", "x[:len(S)]", "(S, S)", "S or {1}", "frozenset(S)",
    ),
    "deque": (
        "Q", "list(Q)", "len(Q)", "Q[0]", "Q[-1]", "Q.popleft()", "Q.pop()", "np.array(Q)", "sum(Q)", "deque(Q)",
        "Q.copy()",
        "sorted(Q)", "tuple(Q)", "[v for v in Q]", "Q.maxlen",
    ),
    "number": (
        "N", "N + 1", "x[:N]", "np.zeros(N)", "[N] * 3", "range(N)", "(N, N)", "x * N", "float(N)", "int(N)",
        "np.full(3, N)",
        "min(N, 2)", "-N", "N > 1", "f'{N}'", "[N, N + 1]", "np.array(N)", "round(N)", "N // 2", "{N: 1}", "{N}",
        "x + N",
    ),
    "object": (
        "O", "O.a", "O.n", "O.found", "[O, O]", "(O, 1)", "{'a': O, 'b': O.a}", "O.a * 2", "O.moved(2)", "len(O.found)",
        "Part(O.a, O.n)", "O.total()", "O.a[:O.n]", "[O.a, O.a]", "Part(O.a, O.n).a", "np.array(O.found)", "[O.n, O.n]",
    ),
    "pair": (
        "P", "P[0]", "P[1]", "[P, P]", "P + (1,)", "(P[1], P[0])", "list(P)", "len(P)", "P[::-1]", "(P, N)",
        "dict(a=P[0])",
    ),
}  # fmt: skip
"""What is made of a value, by its kind: capitals are names of that kind."""

CHANGES = {
    "array": (
        "A[0] = 9", "A[:] = 1", "A += 1", "A *= N", "A[A > 0.5] = 0", "A[1:] = A[:-1]", "A.sort()",
        "np.add(A, 1, out=A)",
        "A.fill(3)", "A[::2] *= 2", "for i in range(len(A)):\n    A[i] += i", "A[0], A[-1] = A[-1], A[0]",
        "A[-1] = A[0]",
        "A = A + 1", "A = A[1:]", "np.copyto(A, 2.0)", "A[...] = A[::-1]", "A[I] = 5", "A -= A[0]", "A[:2] = L[:2]",
        "A[I[0]] += 1",
        "np.put(A, 0, 7)", "np.place(A, A > 1, 4)", "A.flat[0] = 6", "np.maximum(A, N, out=A)", "A[N] = N",
        "A[0] = len(L)",
        "A, Z = A[1:], A", "for v in A:\n    A[0] += v", "A[:N] = 0", "np.fill_diagonal(A.reshape(1, -1), 8)",
        "A.partition(1)",
        "A[A.argmax()] = -1", "np.add.at(A, I % len(A), 1)", "A = np.append(A, N)", "A[1:][0] = 4", "A[::-1][0] = 4",
        "A.reshape(-1, 1)[0, 0] = 11", "np.cumsum(A, out=A)", "A.clip(0, 2, out=A)", "np.random.seed(0)",
        "A.resize(2, refcheck=False)", "A = A.astype(np.float32)", "A += A[::-1]", "A[1:] += A[:-1]",
    ),
    "ints": (
        "I[0] = 1", "I += 1", "I[:] = 2", "I.sort()", "I = I + 1", "I[0] += I[1]", "I[1:] = I[:-1]", "I //= 2",
        "I[I > 1] = 0",
    ),
    "matrix": (
        "M[0] = 1", "M += 1", "M[0, 0] = 9", "M[:, 0] = 5", "M[0] = M[1]", "M.sort(axis=0)", "M[0] += M[1]",
        "M = M * 2",
        "for a in M:\n    a[0] = 3", "for a in M:\n    a += 1", "M[M > 1] = 0", "M.T[0] = 4", "M[:] = M[::-1]",
        "M[0], M[1] = M[1], M[0]",
        "M[[0, 1]] = M[[1, 0]]", "np.fill_diagonal(M, 7)", "M[0][0] = 6", "M -= M[0]", "a = M[0]\na *= 2",
        "M[:] = M[0]",
    ),
    "list": (
        "L.append(N)", "L[0] = 9", "L[-1] = N", "L.pop()", "L.pop(0)", "L.insert(0, 5)", "L.clear()", "del L[0]",
        "L += [7, 8]",
        "L.extend(L)", "L.sort()", "L.reverse()", "L[:] = [1, 2]", "L[1:] = []", "L = L + [1]", "L = []", "L[0] += 1",
        "L.remove(L[0])",
        "L[0], L[-1] = L[-1], L[0]", "for v in x:\n    if v > 0.5:\n        L.append(v)",
        "for v in L[:]:\n    L.append(v)",
        "while len(L) > 2:\n    L.pop()", "for i in range(len(L)):\n    L[i] = i", "L *= 2", "L = L[1:]",
        "L.append(len(L))", "del L[1:]",
        "L.extend(A)", "L.append(True)", "L.sort(reverse=True)", "L = [v + 1 for v in L]", "L[len(L):] = [4]",
        "L += L", "L.append(A[0])",
        "L.append(0.5)", "L, Z = [N], L", "L.extend(range(2))", "L[1:2] = [5, 6]", "L.append(L[0])",
    ),
    "arrays": (
        "T[0][0] = 9", "T.append(A)", "T[0] = A", "T[0] += 1", "T[-1][:] = 3", "for a in T:\n    a += 1",
        "for a in T:\n    a[0] = 7",
        "T.pop()", "T[0] = T[1]", "T[0], T[1] = T[1], T[0]", "T += [A, A]", "T.reverse()", "T.clear()", "del T[0]",
        "T = T[1:]",
        "T.append(T[0])", "T.append(A * 2)", "T[0] = T[0] + 1", "T.insert(0, A)", "T[1][0] = T[0][0]", "T.extend(T)",
        "T[0] *= N",
        "a = T[0]\na[0] = 5", "T[0].sort()", "for i in range(len(T)):\n    T[i] = T[i] * 2",
        "T.sort(key=lambda a: a[0])", "T[:] = T[::-1]",
        "T[1:] = T[:-1]", "T[0][1:] = 2",
    ),
    "rows": (
        "R[0].append(N)", "R.append([N])", "R[0] = R[1]", "R[-1] = []", "R[0][0] = 9", "for q in R:\n    q.append(1)",
        "R.pop()",
        "R.append(R[0])", "R[0], R[1] = R[1], R[0]", "R[0].clear()", "R[1] += [4]", "R.append(L)", "R[0].extend(R[1])",
        "del R[0]",
        "R.reverse()", "R = R[1:]", "q = R[0]\nq.append(6)", "R[0] = R[0] + [1]", "R.sort()", "R[0].pop()",
        "R[:] = R[::-1]",
        "R[1].append(len(R[0]))", "R[0][-1] += 1",
    ),
    "dict": (
        "D[1] = 9", "D[N] = 1", "D.pop(1, None)", "del D[1]", "D.clear()", "D.update({4: 5})", "D[1] += 1", "D = {}",
        "D[7] = len(D)",
        "for q in D:\n    D[q] = 0", "for q in list(D):\n    D.pop(q)", "D.setdefault(3, 9)", "D |= {6: 6}",
        "D[1] = D.get(1, 0) + 1",
        "for v in k:\n    D[v] = D.get(v, 0) + 1", "D = dict(D)", "D.popitem()",
    ),
    "named": (
        "E['a'] = 3", "E['a'] = E['b']", "E['a'] += 1", "E['c'] = N", "E['a'][0] = 9", "E['b'] = A",
        "E['a'], E['b'] = E['b'], E['a']",
        "E['a'] = L", "E['b'].append(4)", "E.update(a=A)", "E['a'] = E['a'] * 2", "a = E['a']\na *= 2", "del E['a']",
        "E['b'][:] = 2",
        "for q in E:\n    E[q] = E[q] + 1", "E = {'a': E['b'], 'b': E['a']}", "E.clear()",
    ),
    "lists": (
        "G[1].append(N)", "G[1] = []", "G.setdefault(4, []).append(1)", "G[2] = G[1]", "G[1] += [5]", "del G[1]",
        "G[1].pop()",
        "for v in k:\n    G.setdefault(v, []).append(v)", "for q in G:\n    G[q].append(q)", "G[2] = L",
        "G[1].clear()", "q = G[1]\nq.append(3)",
    ),
    "set": (
        "S.add(9)", "S.discard(1)", "S.clear()", "S |= {4}", "S.update(L)", "S = S | {5}", "S.add(N)", "S -= {1}",
        "S.remove(1)",
        "for v in k:\n    S.add(v)", "S = set()", "S.pop()", "S &= {1, 2}",
    ),
    "deque": (
        "Q.append(N)", "Q.appendleft(1)", "Q.pop()", "Q.popleft()", "Q.rotate(1)", "Q.clear()", "Q[0] = 7",
        "Q.extend(L)", "Q += [1]",
    ),
    "number": ("N += 1", "N = N * 2", "N -= 1", "N = len(L)", "N = A[0]", "N //= 2", "N = I[0]", "N *= 0.5"),
    "object": (
        "O.a = O.a * 2", "O.n += 1", "O.a[0] = 5", "O.found.append(N)", "O.add(N)", "O = Part(O.a, 3)",
        "p = O\np.n = 7", "O.a += 1", "O.n = O.a[0]", "O.found = L", "O.found = []", "O.a, O.n = A, N",
        "O.a.sort()", "O = O.moved(1)", "O.a = A", "O.found.clear()",
    ),
    "pair": ("P[0][0] = 9", "P = (P[1], P[0])", "P[0].append(1)", "A, B = P", "P[1].fill(2)", "P += (1,)", "P = P[1:]"),
}  # fmt: skip
"""Statements that change a value, or what its name stands for."""

LETTERS = {"A": "array", "I": "ints", "M": "matrix", "L": "list", "T": "arrays", "R": "rows", "D": "dict", "E": "named",
           "G": "lists", "S": "set", "Q": "deque", "N": "number", "O": "object", "P": "pair"}  # fmt: skip
BLOCKS = (
    "if x[0] > 0.5", "if len(x) > 2", "for _ in range(2)", "for j in range(len(k))", "if N > 1", "while n < 3",
    "try", "def",
)  # fmt: skip
ARGUMENTS = (
    ([0.25, 0.75, 2.0, 0.625], [1, 0, 2], 3),
    ([0.75, -1.0, 0.5, 3.0, 1.5, 0.0], [2, 2, 0, 1], 2),
    ([1.0, 0.25], [0, 1], 2),
)


def arguments(which: int) -> list[Any]:
    """`x`, `k` and `y`."""
    x, k, rows = ARGUMENTS[which]
    return [np.array(x), np.array(k), np.arange(rows * 4.0).reshape(rows, 4) * 0.5 - 1]


def kind_of(value: Any) -> str:
    """The key of what can be done with a value; empty if there is none."""
    match value:
        case bool() | int() | float() | np.generic():
            return "number"
        case np.ndarray():
            whole = value.dtype.kind in "iu"
            return "" if value.dtype == bool else {1: "ints" if whole else "array", 2: "matrix"}.get(value.ndim, "")
        case list():
            if value and all(isinstance(v, np.ndarray) for v in value):
                return "arrays"
            if value and all(isinstance(v, list) for v in value):
                return "rows"
            return "list" if all(kind_of(v) == "number" for v in value) else ""
        case dict():
            if value and all(isinstance(v, str) for v in value):
                return "named"
            return "lists" if value and all(isinstance(v, list) for v in value.values()) else "dict"
        case set():
            return "set"
        case deque():
            return "deque"
        case tuple():
            return "pair" if len(value) == 2 else ""
        case Part():
            return "object"
    return ""


HEAD = (
    "import numpy as np\nfrom collections import defaultdict, deque\nfrom tests.fuzz.tools import Part\n\n\n"
    "def f(x, k, y):\n"
)


class History:
    """A program as it grows: each statement is one that Python runs."""

    def __init__(self, rng: random.Random) -> None:
        self.random = rng
        self.lines: list[str] = []
        self.names: dict[str, Any] = dict(zip("xky", arguments(0), strict=True))
        self.fresh = 0
        self.ended = False

    def runs(self, lines: list[str], last: str = "return dict(locals())") -> Any:
        text = HEAD + "".join(f"    {line}\n" for line in [*lines, last])
        space: dict[str, Any] = {}
        exec(text, space)
        with np.errstate(all="ignore"):
            return space["f"](*arguments(0))

    def add(self, text: str) -> bool:
        """Whether the program goes on behind a statement; one that raises is kept now and then, and is the last."""
        lines = [*self.lines, *text.split("\n")]
        try:
            names = self.runs(lines)
        except SyntaxError:
            return False
        except Exception:
            if self.random.random() < 0.04:
                self.lines, self.ended = lines, True
            return False
        held = [v for v in names.values() if hasattr(v, "__len__")]
        if sum(v.size if isinstance(v, np.ndarray) else len(v) for v in held) > 400:
            return False
        self.lines, self.names = lines, names
        return True

    def filled(self, text: str) -> str | None:
        """A template with a name of the right kind for each capital: the same for the same one."""
        chosen: dict[str, str] = {}
        for letter in re.findall(r"\b[A-Z]\b", text):
            if letter == "Z" or letter in chosen:
                continue
            if letter == "B":
                chosen[letter] = self.name()
                continue
            of_kind = [n for n, v in self.names.items() if kind_of(v) == LETTERS[letter]]
            if not of_kind:
                if letter != "N":
                    return None
                of_kind = ["2"]
            chosen[letter] = self.random.choice(of_kind)
        if any(not chosen[c].isidentifier() for c in re.findall(r"\b([A-Z]) (?:[-+*/|&]*=[^=])", text) if c in chosen):
            return None
        chosen["Z"] = self.name()
        return re.sub(r"\b[A-Z]\b", lambda m: chosen[m[0]], text)

    def name(self) -> str:
        self.fresh += 1
        return f"v{self.fresh}"

    def source(self) -> None:
        kind = self.random.choice(list(SOURCES))
        self.add(f"{self.name()} = {self.random.choice(SOURCES[kind])}")

    def made(self) -> str | None:
        kind = self.kind()
        text = self.filled(self.random.choice(MADE[kind]))
        if text is None:
            return None
        old = [n for n in self.names if n.startswith("v")]
        name = self.random.choice(old) if old and self.random.random() < 0.12 else self.name()
        return f"{name} = {text}"

    def changed(self) -> str | None:
        return self.filled(self.random.choice(CHANGES[self.kind()]))

    def kind(self) -> str:
        """Of a value that there is; those that were made here more often than arguments."""
        found = [k for n, v in self.names.items() if (k := kind_of(v)) for _ in range(1 if n in "xky" else 3)]
        return self.random.choice(found)

    def statement(self) -> str | None:
        return self.made() if self.random.random() < 0.5 else self.changed()

    def block(self) -> str | None:
        """Statements under a condition, in a loop, in a function."""
        inner = [s for s in (self.statement() for _ in range(self.random.choice((1, 1, 2, 2, 3)))) if s]
        if not inner:
            return None
        body = "\n".join("    " + line for s in inner for line in s.split("\n"))
        head = self.filled(self.random.choice(BLOCKS))
        if head is None:
            return None
        match head:
            case "try":
                return f"try:\n{body}\nexcept (IndexError, ValueError, KeyError):\n    pass"
            case "while n < 3":
                return f"n = 0\nwhile n < 3:\n    n += 1\n{body}"
            case "def":
                return self.function()
        return f"{head}:\n{body}" if self.random.random() < 0.7 else f"{head}:\n{body}\nelse:\n    " + self.other()

    def other(self) -> str:
        return (self.changed() or "pass").replace("\n", "\n    ")

    def function(self) -> str | None:
        """A helper that changes what it is given, or what it captured, now or later."""
        change, name, value = self.changed(), self.name(), self.made()
        if change is None or value is None:
            return None
        body = "\n".join("    " + line for line in change.split("\n"))
        touched = re.findall(r"\bv\d+\b|\b[xky]\b", change)
        returned = value.split(" = ", 1)[1]
        if touched and self.random.random() < 0.6:
            first = touched[0]
            text = f"def {name}({first}):\n{body}\n    return {returned}\n"
            return text + f"{self.name()} = {name}({first})"
        later = self.statement() or "pass"
        return f"def {name}():\n{body}\n    return {returned}\n{later}\n{self.name()} = {name}()"

    def grown(self) -> str:
        for _ in range(self.random.choice((1, 2, 2, 3))):
            self.source()
        wanted = self.random.choice((3, 4, 5, 6, 8))
        for _ in range(60):
            if self.ended or len(self.lines) >= wanted + 2:
                break
            text = self.block() if self.random.random() < 0.3 else self.statement()
            if text is not None:
                self.add(text)
        names = [n for n in self.names if re.fullmatch(r"v\d+", n) and not callable(self.names[n])]
        if len(names) > 5 and self.random.random() < 0.3:
            names = self.random.sample(names, 3)
        return HEAD + "".join(f"    {line}\n" for line in [*self.lines, f"return {', '.join(names) or 'x'}"])


def source(seed: int) -> str:
    return History(random.Random(seed)).grown()


def verdicts(seed: int) -> Iterator[tuple[str, str]]:
    """For one program and some arguments in turn: "right", "refused", "typed" (but for the types of numbers) or
    "wrong", and what is."""
    text = source(seed)
    function = function_of(text)
    compiled = interpreted(function, CHECKED)
    for which in random.Random(seed).sample(range(len(ARGUMENTS)), 2):
        wanted = outcome(function, *arguments(which))
        try:
            found = outcome(compiled, *arguments(which))
        except InternalError as error:
            yield "wrong", f"{text}{error}"
            return
        if found[0] == "refused":
            yield "refused", f"{found[1]}"
            return
        if found[1] in (*REFUSED, EMPTY, SEVERAL) or str(found[1]).endswith(NOT_COMPILED):
            yield "refused", f"{found[1]}"
            continue
        agree = found == wanted or found[0] == wanted[0] != "value"
        verdict = "right" if agree else "typed" if _as_numbers(found) == _as_numbers(wanted) else "wrong"
        yield verdict, "" if agree else f"{text}of {ARGUMENTS[which]}:\n{_apart(found, wanted)}"


def _as_numbers(described: Any) -> Any:
    """A description without the types of numbers: those that loops hand on may be NumPy's (docs/language.md)."""
    match described:
        case (bool(), str(), (), str() as text) | ("int" | "float" | "bool", str() as text):
            return float(text) if text not in ("True", "False") else float(text == "True")
        case ("set" | "frozenset" as kind, list() as items):
            return kind, sorted(map(_as_numbers, items), key=repr)
        case list() | tuple():
            return [_as_numbers(v) for v in described]
        case _:
            return described


def _apart(found: Any, wanted: Any) -> str:
    """Where two descriptions differ."""
    if isinstance(found, (list, tuple)) and isinstance(wanted, (list, tuple)) and len(found) == len(wanted):
        return "; ".join(_apart(a, b) for a, b in zip(found, wanted, strict=True) if a != b)
    return f"{found}, not {wanted}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=6000)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--refusals", action="store_true", help="count what refusals say")
    parser.add_argument("--types", action="store_true", help="tell of numbers of other types, too")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    said: Counter[str] = Counter()
    for seed in range(options.first, options.first + options.programs):
        for verdict, told in verdicts(seed):
            counts[verdict] += 1
            if verdict == "refused":
                said[re.sub(r"\d+|`[^`]*`", "#", told.split("\n")[0])[:110]] += 1
            if verdict == "wrong" or (verdict == "typed" and options.types):
                print(f"seed {seed}: {told}\n", flush=True)
                break
    print(dict(counts))
    if options.refusals:
        for text, number in said.most_common(40):
            print(number, text)
    raise SystemExit(counts["wrong"] > 0)


if __name__ == "__main__":
    main()
