"""Checks: where they go, and which of them are proven."""
