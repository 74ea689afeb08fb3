"""What a kernel's text and its launch are described by, between the printers and the launcher."""

from __future__ import annotations

from dataclasses import dataclass, field

from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.storage import storage
from transkern.targets.cuda.spelling import TYPES

THREADS = 256  # a block of an elementwise kernel
REDUCED = 8  # elements that a thread of a reduction takes at the same time
COLUMNS = 128  # columns of a table from which on a thread goes down several rows of one
DOWN = 8  # rows, at most
SHORT_ROWS = 32  # rows of fewer elements have a thread each, and more only where they are few
MANY_STEPS = 128  # of a thread, which take as long as two meetings of blocks that share them
BLOCK_THREADS = 1024  # the most a block can have
TILED = 512  # the most of one whose threads keep their elements: each has twice as many registers then
FIRST, STEP = "blockIdx.x * (long long)blockDim.x + threadIdx.x", "(long long)gridDim.x * blockDim.x"
"""The number of a thread in the grid, and how many there are."""

NUMPY = {spelled: storage(dtype) for dtype, spelled in TYPES.items()}


@dataclass(frozen=True, slots=True)
class Launch:
    """How many blocks and threads: `form` is ``elements``, ``columns``, ``steps``, ``binned``, ``rows``, ``parts``,
    ``spread`` or ``block``, `counts` its sizes."""

    form: str
    counts: tuple[Expr, ...]
    each: int = 1  # elements a thread; of a block, steps after which those of a grid meet
    along: bool = False  # of ``parts``: the elements of a point, not points, are neighbours in memory
    short: bool = True  # and also for points that have few
    touched: int = 0  # of ``block``: bytes that a point of its loops asks memory for


@dataclass(slots=True)
class KernelText:
    """A kernel: its text, what a launch of it is given, in the order of its parameters, and how it is launched."""

    name: str
    text: str
    buffers: list[n.Buffer]
    scalars: list[Var]
    launch: Launch
    guards: dict[int, n.Guard] = field(default_factory=dict)
    # NumPy dtypes of what passes through memory between blocks; where empty, it takes 16 bytes
    partials: tuple[str, ...] = ()
    cooperative: bool = False  # a ``block`` kernel that a cooperative grid can run, too: its last parameter is for that
    slices: dict[str, str] = field(default_factory=dict)  # buffers of which each ``thread`` or ``block`` has one
    errors: bool = False  # its parameter before the last one of a cooperative kernel is what checks have found
    counted: tuple[str, ...] = ()  # buffers whose numbers of places are its last parameters
    # the same in the same text, for other sizes: of ``rows``, short ones, and few long ones; of ``parts``, many points
    other: KernelText | None = None
