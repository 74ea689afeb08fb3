"""What a tracer sees of a module's functions."""

from __future__ import annotations

import types
from typing import Any


def tracer_of(file: str, events: list[Any]) -> Any:
    """A tracer, for ``sys.settrace``, that puts into `events` what the functions of a file do: name, event, line. At
    which line a function ends that an error leaves is not told."""

    def tracer(frame: types.FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename == file:
            line = 0 if event == "return" and argument is None else frame.f_lineno
            events.append((frame.f_code.co_name, event, line))
            return tracer
        return None

    return tracer
