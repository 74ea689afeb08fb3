"""Difference constraints: the longest paths of the graph of ``x - y >= c`` are the least solution, or a cycle that
shows there is none [Cormen et al., Introduction to Algorithms, "Difference constraints and shortest paths"]."""

from __future__ import annotations

from collections.abc import Mapping


def edge_of(form: Mapping[str, int]) -> tuple[str, str, int] | None:
    """``high >= low + weight``, the empty name standing for 0; None where the form is not of that kind."""
    low = high = ""
    constant = 0
    for name, c in form.items():
        if not name:
            constant = c
        elif c == 1 and not high:
            high = name
        elif c == -1 and not low:
            low = name
        else:
            return None
    return low, high, -constant


def least_solution(edges: Mapping[tuple[str, str], int]) -> tuple[dict[str, int], bool] | None:
    """The least solution of ``high >= low + weight`` for all edges, and whether there are names without a lower bound:
    they get some numbers near 0. None where there is no solution."""
    names = {name for edge in edges for name in edge}
    found = {"": 0}
    listed = [(low, high, weight) for (low, high), weight in edges.items()]
    for _ in range(len(names) + 2):
        changed = False
        for low, high, weight in listed:
            if low in found:
                least = found[low] + weight
                if high not in found or least > found[high]:
                    if not high:
                        return None
                    found[high] = least
                    changed = True
        if not changed:
            break
    else:
        return None
    free = dict.fromkeys(names - found.keys(), 0)
    if free:
        inner = [e for e in listed if e[0] in free and e[1] in free]
        for _ in range(len(free) + 1):
            changed = False
            for low, high, weight in inner:
                if free[low] + weight > free[high]:
                    free[high] = free[low] + weight
                    changed = True
            if not changed:
                break
        else:
            return None
        room = (found[high] - weight - free[low] for low, high, weight in listed if low in free and high in found)
        shift = min(0, min(room, default=0))
        found.update({name: start + shift for name, start in free.items()})
    del found[""]
    return found, bool(free)
