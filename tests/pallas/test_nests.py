"""Loop nests with known answers, interpreted: the results are Python's."""

import pytest

import transkern
from tests.kernels.support import difference, outcome
from tests.nests.collected import NESTS
from tests.nests.threaded import chosen

SOME = NESTS[::5]  # all take longer than they tell


@pytest.mark.parametrize("nest", SOME, ids=lambda nest: nest.name)
def test_result(nest):
    args = nest.inputs(0, chosen(nest)[-1])
    found = outcome(transkern.compile(nest.function, target="pallas"), args)
    assert not difference(found, outcome(nest.function, args), nest.tolerance or 1e-12)
