"""What the kinds of refusals mean, and what to write instead: one Markdown file each, ``TK1203.md``.

The first line is the heading. Where a kind is about a function's text, one block of code below ``## Refused`` is
refused for it, and one below ``## Instead`` does the same and compiles (`tests/refusals/test_explanations.py`).
"""

from __future__ import annotations

from importlib import resources

from transkern import refusals


def explanation(code: str) -> str | None:
    """The text on a kind of refusal, by its code as a user writes it (``TK1203``, ``tk1203`` or ``1203``); None where
    there is no such kind."""
    kind = refusals.by_code(code)
    file = None if kind is None else resources.files(__name__) / f"{kind.code}.md"
    return file.read_text(encoding="utf-8") if file is not None and file.is_file() else None
