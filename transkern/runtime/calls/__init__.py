"""Calls of compiled functions that do not go straight to code, and what runs where there is none."""
