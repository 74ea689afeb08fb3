"""Warnings about the machine: each once a process, at the user's own line."""

from __future__ import annotations

import sys
import warnings

from transkern.version import ROOT

_OURS = str(ROOT)
_said: set[str] = set()


def warn_once(about: str, message: str) -> None:
    """Says `message`, where nothing has been said `about` this subject yet."""
    if about not in _said:
        _said.add(about)
        warn(message)


def warn(message: str) -> None:
    """A warning that names the line outside transkern from which it was called."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)
