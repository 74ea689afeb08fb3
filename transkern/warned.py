"""Warnings about the machine: each once a process, at the user's own line. And lines that have warned stay so."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

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


@contextmanager
def lines_kept() -> Iterator[None]:
    """Within, filters may change for a while (`warnings.catch_warnings`): lines that have warned before do not warn
    again behind it, as they do in Python wherever a filter has changed, whoever's it was."""
    before, _ = _versions()
    spaces = [getattr(module, "__dict__", {}) for module in list(sys.modules.values())]
    told = [r for space in spaces if (r := space.get("__warningregistry__")) and r.get("version") == before]
    try:
        yield
    finally:
        _, now = _versions()
        for registry in told:
            registry["version"] = now


@contextmanager
def unseen() -> Iterator[None]:
    """Within, nothing warns; lines that have warned before stay so."""
    with lines_kept(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _versions() -> tuple[int, int]:
    """The version of the filters before this is asked, and behind it: asking counts as a change, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = _version()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            second = _version()
        third = _version()
    return first - (second - first), third + (third - second)


def _version() -> int:
    """The version of the filters, which a registry of lines that have warned gets when it is looked at."""
    registry: dict[str | tuple[str, type[Warning], int], int] = {}
    warnings.warn_explicit("", UserWarning, "", 0, registry=registry)
    return registry["version"]
