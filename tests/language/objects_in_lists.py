"""Objects of a class in lists and dicts of run-time length, and objects that hold each other."""

# ruff: noqa: B007, PERF401

from __future__ import annotations

import itertools
import math
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from tests.language.registry import case

X = np.array([0.5, -1.25, 2.0, -0.0, 1.75, 0.25, -3.0])
ODD = np.array([math.nan, 1.0, math.inf, -0.0, -math.inf, 0.0, 5e-324])


class Agent:
    def __init__(self, position, energy=5):
        self.position = position
        self.energy = energy
        self.near = []
        self.best = None
        self.state = "new"

    @property
    def alive(self):
        return self.energy > 0

    def move(self, by):
        self.position = self.position + by
        self.energy -= 1
        self.state = "moved"


@case(X, 4)
@case(X[:0], 2)
def agents(x, steps):
    """Methods, properties, lists and arrays as attributes, references in both, a list that is bound anew."""
    people = []
    for i in range(len(x)):
        people.append(Agent(np.array([x[i], 0.0]), int(abs(x[i]) * 3) + 1))
    for a in people:
        for b in people:
            if a is not b and abs(a.position[0] - b.position[0]) < 1.0:
                a.near.append(b)
    total = 0
    for _ in range(steps):
        for a in people:
            if not a.alive:
                continue
            a.move(np.array([0.1, 0.2]))
            a.position[1] += 1.0
            for b in a.near:
                total += b.energy
                if a.best is None or b.energy > a.best.energy:
                    a.best = b
        people = [a for a in people if a.alive]
    people.sort(key=lambda a: a.energy)
    most = max(people, key=lambda a: a.position[0]) if people else None
    known = most is not None and most.best in people
    numbers = [(a.energy, a.position[1]) for a in people]
    return total, numbers, [len(a.near) for a in people], [a.state for a in people], known, len(people)


class Tree:
    def __init__(self, value):
        self.value = value
        self.left = None
        self.right = None


@case(X)
@case(ODD)
@case(X[:0])
def in_order(x):
    """A search tree: objects that a loop hands on, and that hold each other."""
    root = None
    for v in x:
        if root is None:
            root = Tree(v)
            continue
        here = root
        while True:
            if v < here.value:
                if here.left is None:
                    here.left = Tree(v)
                    break
                here = here.left
            else:
                if here.right is None:
                    here.right = Tree(v)
                    break
                here = here.right
    out, stack, here = [], [], root
    while stack or here is not None:
        while here is not None:
            stack.append(here)
            here = here.left
        here = stack.pop()
        out.append(here.value)
        here = here.right
    return out


class Link:
    def __init__(self, value):
        self.value = value
        self.next = None


class Chain:
    def __init__(self):
        self.head = None
        self.__size = 0

    def push(self, value):
        link = Link(value)
        link.next = self.head
        self.head = link
        self.__size += 1

    def turn(self):
        before, here = None, self.head
        while here is not None:
            here.next, before, here = before, here, here.next
        self.head = before

    def __len__(self):
        return self.__size


@case(X)
@case(X[:1])
@case(X[:0])
def chained(x):
    """A linked list; `None.value` is an AttributeError."""
    chain = Chain()
    for v in x:
        chain.push(v)
    first = chain.head.value
    chain.turn()
    out, here = [], chain.head
    while here:
        out.append(here.value)
        here = here.next
    return first, out, len(chain), chain.head.next.value


@dataclass
class Point:
    x: float
    y: float = 1.0
    notes: list = field(default_factory=list)


@case(X, 2)
@case(ODD, 9)
def points(x, k):
    """A dataclass compares by its fields; an index outside; `is`; one object under several names."""
    found = []
    for v in x:
        found.append(Point(v, notes=[]))
    one, same = Point(x[0], 1.0), found[0]
    same.notes.append(0.5)
    same.y += 2
    count = 0
    for p in found:
        if p == one:
            count += 1
        p.notes += [1.0]
    pairs = sum(1 for p, q in itertools.combinations(found, 2) if p.x < q.x)
    return count, [len(p.notes) for p in found], found[0].y, found[0] is same, found[0] is one, pairs, found[k].x


@case(X)
@case(np.array([0.1, 0.2, 0.15]))
def counted(x):
    """In a dict and in a queue."""
    agents = {}
    for i in range(len(x)):
        key = int(abs(x[i]) * 3)
        if key not in agents:
            agents[key] = Agent(x[i])
        else:
            agents[key].energy += 1
            agents[key].position = max(agents[key].position, x[i])
    queue, served = deque([Link(0.0)]), 0
    while queue:
        link = queue.popleft()
        served += 1
        if link.value < 3:
            queue.append(Link(link.value + abs(x[served % len(x)]) + 0.5))
    least = min(agents, key=lambda k: agents[k].energy)
    return [(k, a.energy, a.position) for k, a in agents.items()], served, least


def nearest(nodes, x):
    distances = [abs(n.value - x) for n in nodes]
    return distances.index(min(distances))


@case(X, 3.0)
@case(X, 0.1)
def planned(x, goal):
    """As planners do: the nearest node's number, a node that may be left out, the way back."""
    nodes = [Link(0.0)]
    for v in x:
        near = nodes[nearest(nodes, v)]
        new = Link(near.value + 0.5 * (v - near.value))
        new.next = near
        if new.value > -1.0:
            nodes.append(new)
        if abs(nodes[-1].value - goal) < 0.5:
            return way_back(nodes, goal)
    return None


def way_back(nodes, goal):
    path, node = [[goal, 0.0]], nodes[-1]
    while node.next is not None:
        path.append([node.value, 1.0])
        node = node.next
    return path


class Blob:
    def __init__(self, kind, at):
        self.kind = kind
        self.at = at
        self.size = 1
        self.score = None
        self.trail = []


@case(X)
@case(X[:0])
def blobs(x):
    """Objects as results: one object under two numbers is one object."""
    found = []
    for v in x:
        blob = Blob("hot" if v > 0 else "cold", np.array([v, 1.0]))
        blob.trail.append(v)
        if v > 0.5:
            blob.size += 1
            blob.score = v
        found.append(blob)
    if found:
        found.append(found[0])
        found[0].size += 10
    return found


@case(X)
@case(X[:0])
def best_of(x):
    best = None
    for v in x:
        point = Point(v, notes=[])
        if best is None or point.x > best.x:
            best = point
    return best


@case(X)
@case(ODD)
@case(X[:0])
def logged(x):
    """Dicts in a list, one of which has a name."""
    history, best = [], None
    for i, v in enumerate(x):
        entry = {"step": i, "loss": v * 2, "note": None, "tags": []}
        if v > 0:
            entry["note"] = v
            entry["tags"].append(i)
            entry["loss"] += 1.0
        history.append(entry)
        if best is None or entry["loss"] < best["loss"]:
            best = entry
    noted = sum(1 for h in history if h["note"] is not None)
    tags = sum(len(h["tags"]) for h in history)
    return history, noted, [h.get("loss", 0.0) for h in history], tags, -1 if best is None else best["step"]


@case(X)
def traded(x):
    trades, held, total = [], 0, 0.0
    for i in range(len(x)):
        if x[i] > 0 and held == 0:
            trades.append({"side": "buy", "at": i, "price": x[i]})
            held = 1
        elif x[i] < 0 and held == 1:
            trades.append({"side": "sell", "at": i, "price": x[i]})
            held = 0
    for t in trades:
        for k in ("at", "price"):
            total += t[k]
        if "side" in t and t["side"] == "buy":
            total -= 1
    cheapest = sorted(trades, key=lambda t: t["price"])
    return cheapest, total, len(trades), [t["side"] for t in trades if t["at"] > 1]


MOTION = [[1, 0, 1], [0, 1, 1], [-1, -1, math.sqrt(2)], [-1, 1, math.sqrt(2)]]


@case(X, 9)
def moved(x, n):
    """Integers and floats of a constant list at run-time positions keep their types."""
    steps, cost, total = [], 0, 0
    for i in range(n):
        steps.append((MOTION[i % 4][0] * 3, MOTION[i % 4][2]))
        cost = cost + MOTION[i % 4][2]
        total += MOTION[i % 4][1]
    return steps, cost, total, x[0] * MOTION[n % 4][2]
