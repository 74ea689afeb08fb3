"""What the modules for the CPU have in common, as a file of its own: it is compiled once and linked to each of them.

An emitted file needs nothing but a C compiler, so it holds all of its text. A third of what the compiler does with a
small one is the part that is always the same (`glue`, `running`, `waking`), so modules that are compiled to be loaded
at once declare it only. The text is the same: its functions and variables are `static` in a file for users, hidden in
the common one (``-fvisibility=hidden``), where each module still has its own.
"""

from __future__ import annotations

import functools
import re

from transkern.targets.cpu.library import HEADERS
from transkern.targets.cpu.printing import glue
from transkern.targets.cpu.printing.memory import BYTES
from transkern.targets.cpu.printing.waking import ALONE, DEAL, WAKING
from transkern.targets.cpu.running import DECLARED, LATER, RUNNING, limits

FLAGS = ("-c", "-fvisibility=hidden")
"""In place of ``-shared``."""

_FUNCTION = re.compile(
    r"^static (?!inline )([^;{}=]*\)) \{(?:.*\}(?: *//.*)?|\n(?:.*\n)*?\})$", re.MULTILINE
)  # its body on its line, or up to a brace in the first column
_PROTOTYPES = re.compile(r"^static (?!inline )([^;{}=]*\));", re.MULTILINE)
_VARIABLE = re.compile(r"^static (?!inline )([^;{}=()]*?)(?: = [^;]*)?;", re.MULTILINE)
_INCLUDE = re.compile(r"^#include .*\n", re.MULTILINE)
_STATIC = re.compile(r"^static (?!inline )", re.MULTILINE)


@functools.cache  # of a few constants
def declared(text: str) -> str:
    """C text whose functions and variables are elsewhere, with what these include; those that are `inline` stay."""
    text = _FUNCTION.sub(r"\1;", _INCLUDE.sub("", text))
    text = _PROTOTYPES.sub(r"\1;", text)
    return _VARIABLE.sub(r"extern \1;", text)


@functools.cache
def text(threads: int, warns: bool) -> str:
    """The common file of modules whose kernels run on at most `threads` threads (0: any number), and which read the
    flags of the floating-point unit (`warns`)."""
    parts = [
        DECLARED, LATER, BYTES, DEAL, glue.PYTHON, glue.ERRSTATE, glue.RAISED, limits(threads, warns), RUNNING, WAKING,
        glue.ARRAYS, glue.RESULTS, glue.ROOMS, glue.TEMPORARIES, glue.LARGE_RESULTS, glue.FUNCTIONS, glue.LIBRARY,
        ALONE,
    ]  # fmt: skip
    return HEADERS + "\n".join(_STATIC.sub("", part) for part in parts)
