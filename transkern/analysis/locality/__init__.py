"""Which axes of arguments can be cut into chunks that know nothing of each other, and how much they overlap.

    y[1:-1] = x[2:] - x[:-2]        one element of both neighbours
    y = x / x.sum(axis=1)[:, None]  axis 0 can be cut; axis 1 cannot, as line 3 adds it up

An axis is what one size of the arguments stands for, and all that runs along it. Where a chunk ends and the array does
not, a function takes the chunk's end for the array's: its results are wrong there, in some places at each end. How many
is what is computed here, statement by statement, from the elements that each one reads (`held.Extent`);
chunks that overlap by as many give the array's results in between. An axis is whole where an element of a result may
depend on any element along it, on its length, or on a place by number.

Nothing here is about dask. Source of the term halo: stencil codes on distributed memory.
"""

from __future__ import annotations

from collections.abc import Mapping

from transkern.analysis.locality.held import Locality, United
from transkern.analysis.locality.reading import Reading
from transkern.ir import nodes as n

__all__ = ["Locality", "locality"]

def locality(program: n.Program, numbers: Mapping[str, int], sizes: Mapping[str, int]) -> Locality:
    """What a program, as the front end makes it, allows.

    Args:
        program: of a function of arrays and numbers; each axis of its arguments has a size of its own.
        numbers: what integers among its arguments are.
        sizes: what its sizes are.
    """
    found = Locality()
    while True:  # until no axis has become whole and no two have become one: each changes what the others are
        before = set(found.whole)
        try:
            Reading(program, numbers, sizes, found).run()
        except United:
            continue
        if before == set(found.whole):
            return found


