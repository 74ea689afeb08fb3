"""NumPy's functions with the arguments that few use: NumPy's result, NumPy's error, or a refusal."""

from __future__ import annotations

import pytest

from tests.trust.against_python import difference
from tests.trust.odd_arguments import CALLS, VALUES, calls

_OTHER_TEXTS = ("np.cross([True, False], b, axis=0)", "np.tile(z, -1)", "np.unwrap(u, discont=-2, period=k)")
"""What raises in the order in which it is compiled, and not in NumPy's."""
_PARAMETERS = ", ".join(VALUES)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_calls(name: str) -> None:
    for text in calls(name, 12, 0):
        found = difference(f"return {text}", _PARAMETERS, list(VALUES.values()), stage=0)
        assert not found or text in _OTHER_TEXTS, found
