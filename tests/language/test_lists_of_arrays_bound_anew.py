"""Lists of arrays that each iteration of a loop makes anew: populations, simplices, beams, boxes that are split."""

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require


def filtered(x, u):
    pop = [x + i for i in range(len(u))]
    for k in range(len(u)):
        pop = [a * u[k] for a in pop if a[0] > -3]
    return pop


def with_scores(x, u):
    pop = []
    for i in range(len(u)):
        pop.append((x + i, float(u[i])))
    for _ in range(len(u)):
        new = []
        for a, s in pop:
            new.append((a * 0.5, s + a[1]))
        new.sort(key=lambda t: t[1])
        pop = new[:3] + [(x * 2, 0.0)]  # noqa: RUF005 - as users write it
    return [s for _, s in pop], pop[0][0]


def generations(x, u):
    pop = [x + i for i in range(len(u) + 2)]
    fit = [0.0]
    for k in range(len(u)):
        fit = [float(np.sum((a - 1.0) ** 2)) for a in pop]
        best = [pop[i] for i in np.argsort(fit)[:2]]
        children = []
        while len(children) < len(pop) - 2:
            c = 0.5 * (best[0] + best[1])
            c[k % 3] += u[k]
            children.append(c)
        pop = best + children
    return np.array(pop), fit


def boxes_split(x, u):
    boxes = [np.array([0.0, 1.0, 2.0, 3.0])]
    for k in range(len(u)):
        new = []
        for box in boxes:
            m = 0.5 * (box[0] + box[2])
            new.append(np.array([box[0], box[1], m, box[3]]))
            if k < 3:
                new.append(np.array([m, box[1], box[2], box[3]]))
        boxes = new
    return np.array(boxes)


def arguments_at_first(x, u):
    pop = [x]
    for k in range(len(u)):
        new = []
        for a in pop[-3:]:
            new.append(a * 0.5)
            if a.sum() > 2:
                new.append(a + u[k])
        pop = new
    return pop


def a_simplex(x, u):
    simplex = [[x * 2, 3.0]]
    for i in range(2):
        simplex.append([x + i, float(i)])
    for k in range(len(u)):
        simplex.sort(key=lambda t: t[1])
        if u[k] > 1:
            del simplex[-1]
            simplex.append([simplex[0][0] + u[k], simplex[0][1] - 1])
            continue
        simplex = [[t[0] * 0.5, t[1] - 0.25] for t in simplex]
    return simplex[0][0] * 1, simplex[0][1]


def turned_round(x, u):
    pop = [x + 1, x * 2, x - 3]
    s = 0.0
    for k in range(len(u)):
        pop = pop[1:] + [pop[0]]  # noqa: RUF005 - as users write it
        s += pop[0][0] * u[k]
    return s, np.array(pop)


@pytest.mark.parametrize("size", [0, 1, 4, 200])
@pytest.mark.parametrize("function", [
    filtered, with_scores, generations, boxes_split, arguments_at_first, a_simplex, turned_round,
])  # fmt: skip
def test_lists_of_arrays(function, size):
    require("cc")
    if function in (with_scores,) and not size:
        pytest.skip("the function itself takes the first of none")
    if function is generations and size == 200:
        size = 40  # NumPy takes its time
    alike(function, np.array([1.0, -0.0, 3.0]), np.linspace(-1, 2, size))
