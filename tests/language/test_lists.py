"""Lists that grow have room for all that they come to hold."""

from __future__ import annotations

import numpy as np
import pytest

import transkern
from tests.language.objects_in_lists import X, blobs
from transkern.ir import nodes as n
from transkern.ir.build import substitute
from transkern.ir.expr import Const
from transkern.pipeline import program_of

SOURCE = """
def rest(count):
    found = []
    for k in range(count):
        found.append(k * k)
    return found[1:]

def behind(x, i):
    k = i
    for v in x:
        if v > 0:
            k += 1
    found = [x[0]]
    found.extend(x[k - 1:])
    return found
"""


@pytest.mark.parametrize(
    ("types", "args", "longest"),
    [("rest(int)", {"count": 9}, 8), ("behind(float64[n], int)", {"n.": 7, "i": 0}, 8)],
)
def test_slices_have_room(types: str, args: dict[str, int], longest: int) -> None:
    name = types.partition("(")[0]
    program = program_of(SOURCE, name, types)
    (result,) = [s.result for s in program.body if isinstance(s, n.Return)]
    assert isinstance(result, n.ListResult)
    (room,) = program.buffers[result.buffer].dims
    found = substitute(room, {k: Const(v, "index") for k, v in args.items()})
    assert isinstance(found, Const) and int(found.value) >= longest  # type: ignore[arg-type]


def test_an_object_in_a_list_twice_is_one_object() -> None:
    found = transkern.compile(blobs, target="cpu")(np.array(X))
    assert found[0] is found[-1] and found[0] is not found[1]
