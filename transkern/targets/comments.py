"""The user's text in comments of C: nothing in it ends the comment, or makes it longer."""

from __future__ import annotations

import re
from typing import Any


def comment(text: str) -> str:
    """A line of the user's, or the name of a file, as a comment. A backslash at its end would take in the next line;
    what cannot be printed (ends of lines of other kinds, controls of a terminal, marks that turn the order of letters)
    stands as a space."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    return f"// {plain}".replace("*/", "* /").rstrip("\\ ")


def known_text(value: Any) -> str:
    """An argument that is part of the code, as a text: without an address, which differs in each process."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value)) if callable(value) else repr(value)
