"""Game of life + Langton's ant + Rule 110 on small tori. Python loops version, for teaching."""
import numpy as np
import zlib

GLIDER = ["010", "001", "111"]
GUN = """
........................O...........
......................O.O...........
............OO......OO............OO
...........O...O....OO............OO
OO........O.....O...OO..............
OO........O...O.OO....O.O...........
..........O.....O.......O...........
...........O...O....................
............OO......................
""".strip().split("\n")


def place(world, pattern, r, c, on="O1"):
    for i, line in enumerate(pattern):
        for j, ch in enumerate(line):
            world[r + i, c + j] = ch in on


def neighbours(world, r, c):
    rows, cols = world.shape
    n = 0
    for dr in (-1, 0, 1):
        for dc in (-1, 0, 1):
            if dr == 0 and dc == 0:
                continue
            if world[(r + dr) % rows, (c + dc) % cols]:
                n += 1
    return n


def step(world, out):
    births = deaths = 0
    for r in range(world.shape[0]):
        for c in range(world.shape[1]):
            n = neighbours(world, r, c)
            if world[r, c]:
                out[r, c] = n == 2 or n == 3
                if not out[r, c]:
                    deaths += 1
            else:
                out[r, c] = n == 3
                if out[r, c]:
                    births += 1
    return births, deaths


def langton(n, size=64):
    grid = np.zeros((size, size), dtype=np.uint8)
    x = y = size // 2
    dx, dy = 0, -1
    for k in range(n):
        if grid[y, x] == 0:
            dx, dy = -dy, dx
            grid[y, x] = 1
        else:
            dx, dy = dy, -dx
            grid[y, x] -= 1
        x = (x + dx) % size
        y = (y + dy) % size
    return grid, (x, y)


def rule(number, width, steps):
    table = [(number >> i) & 1 for i in range(8)]
    row = np.zeros(width, dtype=int)
    row[-1] = 1
    rows = [row]
    for _ in range(steps):
        new = np.zeros_like(row)
        for i in range(width):
            idx = 4 * row[i - 1] + 2 * row[i] + row[(i + 1) % width]
            new[i] = table[idx]
        row = new
        rows.append(row)
    return np.array(rows)


def main():
    w = np.zeros((44, 48), dtype=bool)
    place(w, GUN, 2, 2)
    place(w, GLIDER, 30, 30)
    other = np.empty_like(w)
    pop = [int(w.sum())]
    for gen in range(1, 361):
        b, d = step(w, other)
        w, other = other, w
        pop.append(int(w.sum()))
        if gen % 60 == 0:
            print(f"gen {gen:3d}: pop {pop[-1]:3d} births {b:2d} deaths {d:2d}")
    for line in w[:14]:
        print("".join(".O"[int(x)] for x in line))
    print("populations:", pop[::10])

    g, pos = langton(1000000)
    print("ant", pos, "black", g.sum(), "crc", zlib.crc32(g.tobytes()), g.dtype)

    r = rule(110, 80, 60)
    print(r.sum(axis=1))
    print("".join(" #"[v] for v in r[-1]))


if __name__ == "__main__":
    main()
