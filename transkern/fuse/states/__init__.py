"""States of arrays from one iteration to the next: which need memory, and which change places."""
