"""The emitted module: its text, how it is loaded, what a TPU's compiler makes of it."""
