"""Scalars and loads: what is computed, loaded or carried once."""
