"""`np.einsum` of several factors two at a time, and of matrices as the product of matrices that it is."""

import itertools
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


MANY = ["tij,tjk->tik", "tij,tkj->tik", "itj,ktj->tik", "tij,tjk->tki", "tij,tj->ti", "tj,tij->ti", "tj,tjk->tk",
        "abij,abjk->abik", "tji,tjk->tik"]  # fmt: skip


@pytest.mark.parametrize(
    ("subscripts", "dtype"), zip(MANY, itertools.cycle(["float32", "float64", "complex128"]), strict=False)
)
def test_many_products_are_the_librarys(subscripts: str, dtype: str) -> None:
    def product(x: Any, y: Any) -> Any:
        return np.einsum(subscripts, x, y)

    compiled = transkern.compile(product, target="cpu")
    rng = np.random.default_rng(3)
    plain = {"t": 5, "a": 2, "b": 3, "i": 33, "j": 35, "k": 34}
    for sizes in (plain, {**plain, "j": 0}, {**plain, "i": 1}, {**plain, "t": 0, "a": 0}, {**plain, "k": 5, "j": 2}):
        one, two = (
            rng.standard_normal([sizes[label] for label in labels]).astype(dtype)
            for labels in subscripts.split("->")[0].split(",")
        )
        for x, y in ((one, two), (one[::-1], np.asfortranarray(two))):
            found, wanted = compiled(x, y), product(x, y)
            assert found.dtype == wanted.dtype and found.shape == wanted.shape and found.flags.c_contiguous
            np.testing.assert_allclose(found, wanted, rtol=1e-3 if dtype == "float32" else 1e-10, atol=1e-4)


def test_attention_of_heads_is_products_and_one_kernel_between() -> None:
    def attention(q: Any, k: Any, v: Any) -> Any:
        scores = np.einsum("hid,hjd->hij", q, k)
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return np.einsum("hij,hjd->hid", e / e.sum(axis=-1, keepdims=True), v)

    compiled = transkern.compile(attention, target="cpu")
    q, k, v = np.random.default_rng(4).random((3, 4, 40, 36), np.float32)
    np.testing.assert_allclose(compiled(q, k, v), attention(q, k, v), rtol=1e-4)
    assert compiled.kernels == 1
