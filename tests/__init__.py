"""The tests. Shared parts are imported by name: ``from tests.tools import require``."""
