"""Parallel iterations that go together: vector lanes around loops in order."""
