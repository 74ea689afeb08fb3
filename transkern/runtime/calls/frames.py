"""Which frames of a traceback are transkern's. Light: a script that is run begins with it."""

from __future__ import annotations

import types

_OURS = ("transkern.", "transkern_cuda_", "transkern_pallas_", "transkern_step")


def behind_ours(trace: types.TracebackType | None) -> types.TracebackType | None:
    """What a traceback has behind frames of transkern, and of code that it has made."""
    while trace is not None and is_ours(trace.tb_frame):
        trace = trace.tb_next
    return trace


def is_ours(frame: types.FrameType) -> bool:
    """Whether a frame is of transkern, or of code that it has made."""
    return str(frame.f_globals.get("__name__")).startswith(_OURS)
