"""Array functions as physicists write them."""

from __future__ import annotations

from typing import Any

from tests.corpus.registry import Case


def heat_step(u: Any, alpha: float, steps: int) -> Any:
    """Explicit heat equation on a plate with fixed edges, in place."""
    for _ in range(steps):
        laplacian = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += alpha * laplacian


CASES = [
    Case(heat_step, lambda r: (r.normal(size=(9, 11)), 0.1, 5)),
]
