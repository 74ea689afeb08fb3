"""The lists, dicts and objects of the function: what is in them, where they were made, and where they change."""

from __future__ import annotations

from transkern.frontend.anew import Site
from transkern.frontend.state.choices import Choice
from transkern.frontend.state.control import Control
from transkern.frontend.values.values import Dict, Object, Value


class Heap:
    """Lists, dicts and objects, by their tokens."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self.contents: dict[int, Value] = {}  # what is in the lists, dicts and objects
        self.sites: dict[int, Site] = {}  # where each of them was made
        self.tokens = 0
        self.made_at: dict[int, tuple[int, ...]] = {}  # the loops around the making of each
        self.changed_at: dict[int, list[tuple[int, ...]]] = {}  # those around changes of it
        self.handed: set[int] = set()  # those whose contents have been copied into a list
        self.choices: list[Choice] = []  # in their order; survives what is taken back
        self.copied: dict[int, list[Object]] = {}  # lists of which copies have names, and these
        self.opening: list[set[int]] = []  # who wants to know which lists, dicts and objects are looked into

    def allocate(self, contents: Value, site: Site) -> Object:
        """A new list, dict or object."""
        self.tokens += 1
        self.made_at[self.tokens] = self._control.loop_path
        self.contents[self.tokens] = contents
        self.sites[self.tokens] = site
        return Object(self.tokens)

    def put(self, token: int, contents: Value) -> None:
        """A list, dict or object gets other contents, under all its names."""
        self.changed_at.setdefault(token, []).append(self._control.loop_path)
        self.contents[token] = contents

    def changes_again(self, token: int) -> bool:
        """Whether what is in it changes in the next iteration of a loop around."""
        made, here = self.made_at.get(token, ()), set(self._control.loop_path)
        return any(here & set(path) - set(made) for path in self.changed_at.get(token, []))

    def is_dict_of_caller(self, token: int) -> bool:
        return self.sites[token][0] == "argument" and isinstance(self.contents[token], Dict)
