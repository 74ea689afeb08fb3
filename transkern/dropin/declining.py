"""What becomes of a function of a script, and what compiled code says where it does not take a call."""

from __future__ import annotations

UNDECIDED, COMPILED, PARTED, PYTHON = "undecided", "compiled", "in parts", "Python"

TOO_SHORT = "too short to gain by it: its time is its callers'"

OTHER_TYPES = "arguments of other types, whose code would cost more than it saves"


class Declined(Exception):
    """Python is to run the function."""


class Warned(Declined):
    """The same, as NumPy may have something to warn of."""
