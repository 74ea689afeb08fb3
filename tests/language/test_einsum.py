"""`np.einsum` of several factors two at a time, and of matrices as the product of matrices that it is."""

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target

SIZES = dict(zip("abcijktp", (4, 5, 6, 2, 3, 7, 2, 3), strict=True))


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize(
    "subscripts",
    [
        "ai,tij,bj->tab", "ij,jk,ka->ia", "pi,ij,pj->p", "i,ij,j->", "ij,jk,ki->", "a,b,c->abc", "tij,bj->tib",
        "ijt,ijc->ct", "tij,jic->tc", "ji,jk->ki", "ii,ij,jk->k", "...i,ij,j->...", "ak,bk,k->ab", "i,ij,ik->kj",
        "ij->i", "ij->", "ij->ji",
    ],
)  # fmt: skip
def test_einsum(subscripts: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    factors = subscripts.split("->")[0].replace("...", "t").split(",")

    def one(x: Any) -> Any:
        return np.einsum(subscripts, x)

    def two(x: Any, y: Any) -> Any:
        return np.einsum(subscripts, x, y)

    def three(x: Any, y: Any, z: Any) -> Any:
        return np.einsum(subscripts, x, y, z)

    function: Any = (one, two, three)[len(factors) - 1]
    compiled = transkern.compile(function, target=target)  # type: ignore[call-overload]
    rng = np.random.default_rng(0)
    for sizes in (SIZES, {**SIZES, "j": 1}, {**SIZES, "i": 0})[: 3 if target == "cpu" else 1]:
        args = [rng.standard_normal([sizes[label] for label in labels]) for labels in factors]
        if "ii" in subscripts and sizes["j"] == 1:
            continue
        mine, numpys = compiled(*args), function(*args)
        assert type(mine) is type(numpys) and np.shape(mine) == np.shape(numpys)
        assert np.allclose(mine, numpys, rtol=1e-9 if mine.dtype == np.float64 else 1e-4, atol=1e-12)


def test_one_product_of_matrices() -> None:
    def three(x: Any, y: Any, z: Any) -> Any:
        return np.einsum("ij,jk,kl->il", x, y, z)

    compiled = transkern.compile(three)
    compiled(np.ones((60, 70)), np.ones((70, 80)), np.ones((80, 90)))
    assert compiled.kernels == 0  # both products are the library's
