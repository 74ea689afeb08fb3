#!/usr/bin/env python3
"""Sudoku by backtracking, n-queens counts, knight's tour (Warnsdorff), magic-square search.
Exit status = number of puzzles without solution, used by the nightly script."""
import sys
import numpy as np

PUZZLES = {
    "easy": "530070000600195000098000060800060003400803001700020006060000280000419005000080079",
    "medium": "000260701680070090190004500820100040004602900050003028009300074040050036703018000",
    "hard": "800000000003600000070090200050007000000045700000100030001000068008500010090000400",
    "broken": "550070000600195000098000060800060003400803001700020006060000280000419005000080079",
    "unsolvable": "200900000000000060000001000502600407000004100000098023000003080005010000007000000",
}

nodes = 0


def parse(s):
    return np.array([int(c) for c in s], dtype=np.int8).reshape(9, 9)


def allowed(b, r, c, v):
    for k in range(9):
        if b[r, k] == v or b[k, c] == v:
            return False
    br, bc = 3 * (r // 3), 3 * (c // 3)
    for i in range(br, br + 3):
        for j in range(bc, bc + 3):
            if b[i, j] == v:
                return False
    return True


def consistent(b):
    for r in range(9):
        for c in range(9):
            v = b[r, c]
            if v:
                b[r, c] = 0
                ok = allowed(b, r, c, v)
                b[r, c] = v
                if not ok:
                    return False
    return True


def most_constrained(b):
    best = None
    best_opts = None
    for r in range(9):
        for c in range(9):
            if b[r, c] == 0:
                opts = [v for v in range(1, 10) if allowed(b, r, c, v)]
                if best is None or len(opts) < len(best_opts):
                    best, best_opts = (r, c), opts
                    if len(opts) <= 1:
                        return best, best_opts
    return best, best_opts


def solve(b):
    global nodes
    nodes += 1
    cell, opts = most_constrained(b)
    if cell is None:
        return True
    for v in opts:
        b[cell] = v
        if solve(b):
            return True
        b[cell] = 0
    return False


def queens(n):
    cols = np.zeros(n, dtype=bool)
    d1 = np.zeros(2 * n, dtype=bool)
    d2 = np.zeros(2 * n, dtype=bool)
    first = []

    def place(r, sofar):
        if r == n:
            if not first:
                first.append(list(sofar))
            return 1
        total = 0
        for c in range(n):
            if cols[c] or d1[r + c] or d2[r - c + n]:
                continue
            cols[c] = d1[r + c] = d2[r - c + n] = True
            sofar.append(c)
            total += place(r + 1, sofar)
            sofar.pop()
            cols[c] = d1[r + c] = d2[r - c + n] = False
        return total

    return place(0, []), first[0] if first else None


MOVES = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]


def knights_tour(n, start):
    board = -np.ones((n, n), dtype=int)
    r, c = start
    board[r, c] = 0
    for step in range(1, n * n):
        cand = []
        for dr, dc in MOVES:
            a, b = r + dr, c + dc
            if 0 <= a < n and 0 <= b < n and board[a, b] < 0:
                deg = 0
                for er, ec in MOVES:
                    x, y = a + er, b + ec
                    if 0 <= x < n and 0 <= y < n and board[x, y] < 0:
                        deg += 1
                cand.append((deg, a, b))
        if not cand:
            return board, step
        _, r, c = min(cand)
        board[r, c] = step
    return board, n * n


def main():
    global nodes
    failures = 0
    for name, s in PUZZLES.items():
        b = parse(s)
        nodes = 0
        if not consistent(b):
            print(f"{name}: inconsistent clues")
            failures += 1
            continue
        ok = solve(b)
        print(f"{name}: {'solved' if ok else 'NO SOLUTION'} after {nodes} nodes")
        if ok:
            print("\n".join("  " + " ".join(map(str, row)) for row in b[:3]))
        else:
            failures += 1
    for n in range(4, 9):
        print("queens", n, *queens(n))
    for start in ((0, 0), (3, 4)):
        board, covered = knights_tour(24, start)
        print("tour from", start, "covers", covered, "of", board.size, "trace", board.trace())
    print(board[:2])
    return failures


if __name__ == "__main__":
    rc = main()
    if rc:
        print("failures:", rc, file=sys.stderr)
    sys.exit(rc)
