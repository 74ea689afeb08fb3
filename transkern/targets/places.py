"""Numbers for the places in the user's source at which emitted code may raise."""

from __future__ import annotations

from transkern.ir.expr import Span


class Places:
    """Hands out a number for each place; `spans` are the places, by number."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self._numbers: dict[Span, int] = {}

    def number(self, span: Span) -> int:
        """The number of a place."""
        found = self._numbers.setdefault(span, len(self.spans))
        if found == len(self.spans):
            self.spans.append(span)
        return found


def place_of(error: BaseException) -> int | None:
    """The number of the place of an error that knows it; it forgets it."""
    number: int | None = error.__dict__.pop(PLACE, None)
    return number


PLACE = "transkern_place"
"""Under what name an error keeps its number on the way to who loaded the code."""
