"""The disk cache, and what code must be compiled anew for."""
