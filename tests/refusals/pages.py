"""`docs/errors.md`, made of the explanations: ``python -m tests.refusals.pages`` writes it anew."""

from __future__ import annotations

from pathlib import Path

from transkern.explanations import explanation
from transkern.refusals import KINDS

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"

_HEAD = """# Codes of refusals

The first line of a refusal ends with a code in brackets. `transkern explain-error TK1201` shows what stands here of it.
A code is never given to another kind, and never taken back. (`python -m tests.refusals.pages` makes this page of
`transkern/explanations`.)
"""


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    parts += [f"- [{code}](#{code.lower()}): {kind.title}" for code, kind in sorted(KINDS.items())]
    for code in sorted(KINDS):
        text = explanation(code)
        assert text is not None
        title, _, rest = text.partition("\n")
        lines = [f'\n<a id="{code.lower()}"></a>\n\n#{title}', rest.strip("\n").replace("\n## ", "\n### ")]
        parts.append("\n".join(lines))
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
