"""Arrays that a loop leaves under a name, and that stand elsewhere, too: a store through the name in the next iteration
went to a copy, and what showed the array (a matrix, a list, a dict) kept its old numbers."""

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import require


def in_a_list_in_order(x, n):
    pop = []
    for i in range(3):
        pop.append(x * i)
    best = x * 1
    for k in range(len(n)):
        best[0] = k
        best = pop[k % 2]
    return pop


def in_a_known_list(x, n):
    pop = [x * 1, x * 2]
    best = x * 1
    for k in range(len(n)):
        best[0] = k
        best = pop[0]
    return pop


def in_a_dict(x, n):
    d = {"a": x * 1}
    best = x * 1
    for k in range(len(n)):
        best[0] = k
        best = d["a"]
    return d


def in_a_tuple(x, n):
    pop = [x * 1, x * 2]
    best = (x * 1, 0)
    for k in range(len(n)):
        best[0][0] = k
        best = (pop[0], k)
    return pop


def in_a_matrix_on_one_path(x, n):
    a = np.zeros((3, 4)) + x
    best = x * 1
    for k in range(len(n)):
        best[0] = k
        if n[k] > 3:
            best = a[k % 2]
    return a


def in_a_list_on_one_path(x, n):
    pop = []
    for i in range(3):
        pop.append(x * i)
    best = x * 1
    for k in range(len(n)):
        if k:
            best[0] = k
        if n[k] > 3:
            best = pop[k % 2]
    return [p * 1 for p in pop]


def in_a_list_bound_anew(x, n):
    pop = []
    for i in range(3):
        pop.append(x * i)
    best = x * 1
    for k in range(len(n)):
        pop = pop[::-1]
        best[0] = k
        best = pop[k % 2]
    return np.array(pop)


@pytest.mark.parametrize("function", [
    in_a_list_in_order, in_a_known_list, in_a_dict, in_a_tuple, in_a_matrix_on_one_path, in_a_list_on_one_path,
    in_a_list_bound_anew,
])  # fmt: skip
def test_no_store_goes_to_a_copy(function):
    require("cc")
    arguments = np.arange(4.0), np.arange(300.0)
    with pytest.raises(transkern.CompileError, match=r"at the end of an iteration, and the loop stores|stands in sev"):
        transkern.compile(function, target="cpu")(*arguments)


def only_read(x, n):
    pop = [x * 1, x * 2]
    best, s = x * 1, 0.0
    for k in range(len(n)):
        s += best[0]
        best = pop[k % 2]
        pop.append(best + n[k])
    return s, best, len(pop)


def bound_before_the_store(x, n):
    pop = [x * 1, x * 2]
    best = x * 1
    for k in range(len(n)):
        best = pop[k % 2]
        best[0] = k
    return pop


def copied(x, n):
    pop = [x * 1, x * 2]
    best = x * 1
    for k in range(len(n)):
        best[0] = k
        best = pop[k % 2].copy()
    return pop, best


@pytest.mark.parametrize("function", [only_read, bound_before_the_store, copied])
def test_where_nothing_is_shared_all_is_as_before(function):
    require("cc")
    alike(function, np.arange(4.0), np.arange(300.0))


def handed_on(x, n):
    a = np.zeros((2, 4)) + x
    best, other = x * 1, x * 0
    for k in range(len(n)):
        other[0] = k + 0.5
        best, other = other, best
        if n[k] <= 2:
            best = a[0]
    return best, other * 1, a


def handed_on_from_a_tuple(x, n):
    t = (x * 3, x + 2)
    best, other = x * 1, x * 0
    for k in range(len(n)):
        other[0] = k + 0.5
        t = (t[1], t[0])
        other = best
        best = t[0]
    return best, other * 1, t[0] * 1, t[1] * 1


@pytest.mark.parametrize("function", [handed_on, handed_on_from_a_tuple])
def test_no_store_goes_to_a_copy_of_an_iteration_before(function):
    require("cc")
    with pytest.raises(transkern.CompileError, match="at the end of an iteration, and the loop stores"):
        transkern.compile(function, target="cpu")(np.arange(4.0), np.arange(5.0))
