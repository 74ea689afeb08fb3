"""Which version of transkern this is."""

__version__ = "0.1.0"
