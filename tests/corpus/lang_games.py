"""Games and simulation: boards, agents as objects, queues, rules chosen by strings and enums."""

# ruff: noqa: B007, B018, B905, E741, PERF401, UP031
from __future__ import annotations

import enum
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.corpus.registry import Case

DIRECTIONS = ((0, 1), (1, 0), (0, -1), (-1, 0))
RULES = {"life": ({3}, {2, 3}), "seeds": ({2}, set())}
Move = namedtuple("Move", "row column score", defaults=(0.0,))


class Cell(enum.IntEnum):
    EMPTY = 0
    WALL = 1
    GOAL = 2


class GameError(ValueError):
    """An illegal move."""


@dataclass
class Player:
    x: int
    y: int
    health: float = 100.0
    name: str = "hero"
    alive: bool = True

    def hit(self, damage: float, armour: float = 0.0) -> float:
        dealt = max(damage - armour, 0.0)
        self.health -= dealt
        if self.health <= 0:
            self.health = 0.0
            self.alive = False
        return dealt


class World:
    size = 8
    gravity = -9.81

    def __init__(self, positions: Any, velocities: Any) -> None:
        self.positions = positions
        self.velocities = velocities
        self.tick = 0
        self.log: list[int] = []

    def bounce(self) -> int:
        below = self.positions[:, 1] < 0
        self.positions[below, 1] *= -1
        self.velocities[below, 1] *= -0.5
        return int(below.sum())

    def update(self, dt: float) -> None:
        self.velocities[:, 1] += self.gravity * dt
        self.positions += self.velocities * dt
        self.log.append(self.bounce())
        self.tick += 1


def simulate(world: World, steps: int) -> Any:
    """Methods that call methods, a list attribute that grows in a loop."""
    for _ in range(steps):
        world.update(0.1)
    return world.tick, sum(world.log)


def life(board: Any, rule: str = "life", wrap: bool = True) -> Any:
    """Sets of constants, membership of a run-time number."""
    born, survives = RULES[rule]
    rows, columns = board.shape
    out = np.zeros_like(board)
    for i in range(rows):
        for j in range(columns):
            count = 0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if di == 0 and dj == 0:
                        continue
                    r, c = i + di, j + dj
                    if wrap:
                        r, c = r % rows, c % columns
                    elif not (0 <= r < rows and 0 <= c < columns):
                        continue
                    count += board[r, c]
            if board[i, j]:
                out[i, j] = count in survives
            else:
                out[i, j] = count in born
    return out


def flood_fill(board: Any, start: tuple, value: int) -> int:
    """A stack in a list: append and pop."""
    target = board[start]
    if target == value:
        return 0
    filled = 0
    stack = [start[0] * board.shape[1] + start[1]]
    for _ in range(4 * board.size + 1):
        if not stack:
            break
        at = stack.pop()
        i, j = divmod(at, board.shape[1])
        if board[i, j] != target:
            continue
        board[i, j] = value
        filled += 1
        for di, dj in DIRECTIONS:
            r, c = i + di, j + dj
            if 0 <= r < board.shape[0] and 0 <= c < board.shape[1] and board[r, c] == target:
                stack.append(r * board.shape[1] + c)
    return filled


def walk(board: Any, moves: list, start: tuple = (0, 0)) -> Any:
    """Enum members, exceptions of one's own, early return."""
    row, column = start
    for k, m in enumerate(moves):
        dr, dc = 0, 0
        if m == 0:
            dc = 1
        elif m == 1:
            dr = 1
        elif m == 2:
            dc = -1
        else:
            dr = -1
        if not (0 <= row + dr < board.shape[0]) or not (0 <= column + dc < board.shape[1]):
            raise GameError(f"move {k} leaves the board at ({row}, {column})")
        if board[row + dr, column + dc] == Cell.WALL:
            continue
        row, column = row + dr, column + dc
        if board[row, column] == Cell.GOAL:
            return row, column, k + 1
    return row, column, -1


def winner(board: Any) -> int:
    """Tic-tac-toe: any and all over generators."""
    for player in (1, 2):
        for i in range(3):
            if all(board[i, j] == player for j in range(3)) or all(board[j, i] == player for j in range(3)):
                return player
        if all(board[i, i] == player for i in range(3)) or all(board[i, 2 - i] == player for i in range(3)):
            return player
    return 0


def best_move(scores: Any, legal: Any) -> Move:
    """A named tuple with a default, made and replaced."""
    best = Move(-1, -1)
    for i, row in enumerate(scores):
        for j, s in enumerate(row):
            if legal[i, j] and (best.row < 0 or s > best.score):
                best = best._replace(row=i, column=j, score=float(s))
    return best


def fight(hero: Player, damages: Any, armour: float = 2.0) -> Any:
    """A dataclass with numbers, a flag and a name, changed by a method in a loop."""
    total = 0.0
    for d in damages:
        if not hero.alive:
            break
        total += hero.hit(float(d), armour)
    else:
        total = -total
    return total


def roll_dice(seed: int, count: int, sides: int = 6) -> tuple:
    """Integer random numbers, a list that is returned, min and max of it."""
    rolls = []
    state = seed
    for _ in range(count):
        state ^= (state << 13) & 0xFFFFFFFF
        state ^= state >> 17
        state ^= (state << 5) & 0xFFFFFFFF
        rolls.append(state % sides + 1)
    return rolls, sum(rolls), min(rolls), max(rolls), rolls[0] in rolls[1:]


def minimax(depth: int, index: int, maximise: bool, leaves: Any) -> Any:
    """Recursion of a depth that is an argument."""
    if depth == 0:
        return leaves[index]
    left = minimax(depth - 1, 2 * index, not maximise, leaves)
    right = minimax(depth - 1, 2 * index + 1, not maximise, leaves)
    return max(left, right) if maximise else min(left, right)


def game_value(leaves: Any, depth: int) -> Any:
    return minimax(depth, 0, True, leaves)


def collide(a: dict, b: dict) -> tuple:
    """Two agents as dicts of numbers; and-or as values; chained comparisons."""
    gap = a["x"] - b["x"]
    touching = -1.0 < gap < 1.0 and not (a.get("ghost", False) or b.get("ghost", False))
    push = 0.5 * (1 - abs(gap)) if touching else 0.0
    a["hits"] += touching
    return touching, push or 0.25, a["hits"] and b["x"]


def inventory(items: list, capacity: float) -> Any:
    """A list of tuples of numbers, a while loop with else, sorting by hand."""
    order = list(range(len(items)))
    for i in range(len(order)):
        for j in range(len(order) - 1 - i):
            a, b = items[order[j]], items[order[j + 1]]
            if a[1] * b[0] < b[1] * a[0]:
                order[j], order[j + 1] = order[j + 1], order[j]
    taken, left, k = [], capacity, 0
    while k < len(order):
        weight, value = items[order[k]]
        if weight > left:
            break
        taken.append(order[k])
        left -= weight
        k += 1
    else:
        left = 0.0
    return taken, left


def elevation(noise: Any, octaves: int = 3) -> Any:
    """Shifts and masks of integers, powers in a loop of constant length."""
    n = noise.shape[0]
    out = np.zeros(n)
    amplitude = 1.0
    for octave in range(octaves):
        step = 1 << octave
        for i in range(n):
            out[i] += amplitude * noise[(i // step) & (n - 1)]
        amplitude *= 0.5
    return out / out.max()


def scores_table(results: Any, names: tuple = ("wins", "draws", "losses")) -> dict:
    """A dict comprehension over zip; keys from a tuple."""
    counts = [int((results > 0).sum()), int((results == 0).sum()), int((results < 0).sum())]
    table = dict(zip(names, counts))
    table["points"] = 3 * table["wins"] + table["draws"]
    best, *others = counts
    return {**table, "others": others, "best": best}


def spawn(kind: str, level: int = 1) -> Player:
    """An object made inside and returned."""
    hero = Player(level, 2 * level, name=kind)
    if kind == "troll":
        hero.health += 10.0 * level
    hero.hit(5.0)
    return hero


def snake(body: list, direction: str, grow: bool = False) -> list:
    """insert and pop on a list that is an argument."""
    step = {"up": -10, "down": 10, "left": -1, "right": 1}[direction]
    body.insert(0, body[0] + step)
    if not grow:
        body.pop()
    return body


def patrol(path: Any, position: int, forward: bool, steps: int) -> Any:
    """Names bound on some paths only, a flag flipped."""
    visited = np.zeros(len(path), dtype=bool)
    for _ in range(steps):
        visited[position] = True
        if forward:
            if position + 1 < len(path):
                position += 1
                last_forward = position
            else:
                forward = False
        elif position > 0:
            position -= 1
        else:
            forward = True
    return path[position], visited.sum(), last_forward


def announce(scores: Any, title: str = "round") -> Any:
    """print, in order, with formats."""
    print(f"{title}: {len(scores)} players")
    for i in range(2):
        print("player", i, scores[i], sep=" | ", end=".\n")
    print("best %.2f at %d" % (scores.max(), scores.argmax()))
    return scores.max()


CASES = [
    Case(simulate, lambda r: (World(r.normal(size=(5, 2)) + 1, r.normal(size=(5, 2))), 4)),
    Case(life, lambda r: (r.integers(0, 2, (6, 7)),)),
    Case(life, lambda r: (r.integers(0, 2, (5, 5)), "seeds", False)),
    Case(flood_fill, lambda r: (r.integers(0, 2, (5, 6)), (2, 3), 7)),
    Case(walk, lambda r: (r.integers(0, 2, (6, 6)) * r.integers(0, 3, (6, 6)), [0, 0, 1, 1, 2, 0, 1])),
    Case(walk, lambda r: (np.zeros((3, 3), dtype=int), [0, 0, 0, 1])),
    Case(winner, lambda r: (r.integers(0, 3, (3, 3)),)),
    Case(best_move, lambda r: (r.normal(size=(4, 4)), r.integers(0, 2, (4, 4)).astype(bool))),
    Case(fight, lambda r: (Player(1, 2), r.random(9) * 30)),
    Case(roll_dice, lambda r: (int(r.integers(1, 9999)), 9)),
    Case(game_value, lambda r: (r.normal(size=8), 3)),
    Case(collide, lambda r: ({"x": float(r.random()), "hits": 0.5}, {"x": float(r.random()), "ghost": False})),
    Case(inventory, lambda r: ([(float(w), float(v)) for w, v in r.random((5, 2)) + 0.1], 1.5)),
    Case(elevation, lambda r: (r.random(8),)),
    Case(scores_table, lambda r: (r.integers(-1, 2, 12),)),
    Case(spawn, lambda r: ("troll", 3)),
    Case(snake, lambda r: ([44, 43, 42], "right")),
    Case(snake, lambda r: ([44, 43, 42], "up", True)),
    Case(patrol, lambda r: (r.normal(size=5), 2, True, 9)),
    Case(patrol, lambda r: (r.normal(size=5), 4, True, 2)),
    Case(announce, lambda r: (r.random(5),), special=False, refused={"pallas": "`print`, which JAX cannot do"}),
]
