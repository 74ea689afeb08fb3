"""Which version of transkern this is, and where its files are."""

from pathlib import Path

__version__ = "0.1.0"

ROOT = Path(__file__).parent
"""The folder of the package."""
