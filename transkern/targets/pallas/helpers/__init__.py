"""The small functions that emitted modules carry with them, by subject; `printing/prelude.py` takes those in use."""
