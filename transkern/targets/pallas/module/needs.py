"""What the target needs besides transkern, before anything imports it."""

from __future__ import annotations

import importlib.util

from transkern.errors import TargetUnavailable


def need(*modules: str) -> None:
    """Raises TargetUnavailable where one of `modules` is not installed."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise TargetUnavailable(
            f"the pallas target needs {' and '.join(missing)}, which this Python does not have: "
            "pip install 'transkern[pallas]'"
        )
