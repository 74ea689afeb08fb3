"""Sorts that no library needs to do, or not all of."""
