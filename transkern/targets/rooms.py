"""Lists without a bound on devices, in Python's text: a call whose lists outgrow their room begins anew with more."""

from __future__ import annotations

NO_ROOM = '''
class _NoRoom(Exception):
    """A list without a bound is longer than the memory that it has."""
'''


def begin_anew(first: int, last: int) -> str:
    """The function that makes a call with room for `first` elements a list, up to `last`."""
    return f'''
def _begin_anew(run, *args):
    """`run` with so much room for lists without a bound that none outgrows it."""
    room = {first}
    while room <= {last}:
        try:
            return run(*args, room)
        except _NoRoom:
            room *= 8
    raise MemoryError
'''
