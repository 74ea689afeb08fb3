"""For those who look for a bug of transkern: which pass is wrong, scripts that show internal errors, where time goes.

``python -m transkern.debug`` is the command line of it; `docs/debugging.md` tells how it is used. Nothing of the
compiler imports this package but to write a report.
"""
