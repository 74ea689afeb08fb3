"""Which way threads go through a text: its blocks of statements tell when they are entered, its loops when they turn.

    for (int i = thread; i < n; i += threads) {   ->   for (…) { transkern_trace_turn(0); transkern_trace_enter(7);
        …                                                  …
    }                                                  } transkern_trace_leave(0);

So `trace.cpp` knows in which iterations of the loops around it a thread makes an access, and which versions of a kernel
a launch goes through. Lines keep their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Set

DECLARED = (
    'extern "C" void transkern_trace_turn(unsigned); extern "C" void transkern_trace_leave(unsigned); '
    'extern "C" void transkern_trace_enter(unsigned); '
)
_HEAD = re.compile(r"( *)(if \(.*\)|} else(?: if \(.*\))?|for \(.*\)|while \(.*\)|do) \{$")
_WORKING = re.compile(r'extern "C" __global__|static __device__ .*_by\($|static __device__ .*_by\(.*\) \{$')
"""Functions whose loops are counted: those that go through a kernel's own. Helpers are called amid them."""


def told(text: str) -> str:
    """The text with such calls."""
    out = list[str]()
    loops = list[str]()  # their indents
    working = False
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if line and not line[0].isspace() and line[0] not in "#})":
            working, loops = bool(_WORKING.match(line)), []
        before = line
        if loops and line == f"{loops[-1]}}}":
            loops.pop()
            if not lines[number : number + 1] or not lines[number].lstrip().startswith("else"):
                line += f" transkern_trace_leave({len(loops)});"
        if head := _HEAD.match(before):
            if working and head[2].startswith(("for", "while")):
                line += f" transkern_trace_turn({len(loops)});"
                loops.append(head[1])
            line += f" transkern_trace_enter({number});"
        out.append(line)
    return DECLARED + "\n".join(out)


def only(text: str, entered: Set[int]) -> str:
    """The text in which blocks that no thread has entered stop the kernel instead: the questions whether to enter them
    are left, their code is not."""
    lines = text.split("\n")
    return "\n".join(
        line + " __trap(); __builtin_unreachable();" if _HEAD.match(line) and number not in entered else line
        for number, line in enumerate(lines, 1)
    )
