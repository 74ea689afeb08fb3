"""The parts of the state of one translation (`context.Context`), by subject: each is a class, with the functions that
need other parts beside it."""
