"""The demo's real input: coins in a photograph, thinned by the compiled function, and the picture of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import transkern
from tests.tools import example, on_target, require


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_coins_are_found(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("skimage")
    on_target(target, monkeypatch)
    detect, nms = example("detect"), example("nms").nms
    photograph, boxes, scores = detect.candidates()
    assert len(boxes) > 10_000 and boxes.dtype == scores.dtype == np.float32
    if target == "cuda":  # the simulator runs every thread by itself
        boxes, scores = boxes[::16], scores[::16]
    kept = transkern.compile(nms, target=target)(boxes, scores, len(boxes), 0.2)
    np.testing.assert_array_equal(kept, nms(boxes, scores, len(boxes), 0.2))
    assert len(kept) == 24  # as many as there are coins
    if target == "cpu":
        from PIL import Image

        path = tmp_path / "made" / "nms.png"
        detect.draw(photograph, boxes, scores, kept, path)
        assert Image.open(path).size[0] > 2 * photograph.shape[1]
