"""Lists of tuples and of lists of numbers that are passed as arrays."""

from __future__ import annotations

from typing import Any


def ragged(values: Any, starts: Any) -> Any:
    return [values[starts[i] : starts[i + 1]].tolist() for i in range(len(starts) - 1)]


def rows1(c0: Any) -> Any:
    return [(c0[k].item(),) for k in range(len(c0))]


def rows2(c0: Any, c1: Any) -> Any:
    return [(c0[k].item(), c1[k].item()) for k in range(len(c0))]


def rows3(c0: Any, c1: Any, c2: Any) -> Any:
    return [(c0[k].item(), c1[k].item(), c2[k].item()) for k in range(len(c0))]


def rows4(c0: Any, c1: Any, c2: Any, c3: Any) -> Any:
    return [(c0[k].item(), c1[k].item(), c2[k].item(), c3[k].item()) for k in range(len(c0))]


def rows5(c0: Any, c1: Any, c2: Any, c3: Any, c4: Any) -> Any:
    return [(c0[k].item(), c1[k].item(), c2[k].item(), c3[k].item(), c4[k].item()) for k in range(len(c0))]


def rows6(c0: Any, c1: Any, c2: Any, c3: Any, c4: Any, c5: Any) -> Any:
    return [
        (c0[k].item(), c1[k].item(), c2[k].item(), c3[k].item(), c4[k].item(), c5[k].item())
        for k in range(len(c0))
    ]


def rows7(c0: Any, c1: Any, c2: Any, c3: Any, c4: Any, c5: Any, c6: Any) -> Any:
    return [
        (c0[k].item(), c1[k].item(), c2[k].item(), c3[k].item(), c4[k].item(), c5[k].item(), c6[k].item())
        for k in range(len(c0))
    ]


def rows8(c0: Any, c1: Any, c2: Any, c3: Any, c4: Any, c5: Any, c6: Any, c7: Any) -> Any:
    return [
        (c0[k].item(), c1[k].item(), c2[k].item(), c3[k].item(), c4[k].item(), c5[k].item(), c6[k].item(), c7[k].item())
        for k in range(len(c0))
    ]
