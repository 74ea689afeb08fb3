"""`make evidence`: what kernels are made of and ask of memory, without the hardware (python -m benchmarks.evidence)."""

from transkern.targets.chips import TPUS

GENERATIONS = tuple(TPUS)
LONGEST = "v5e"
"""The generation for which plain JAX is compiled, too: its bytes are the same on the others, but for padding."""


def short(message: str) -> str:
    """The line of a message that says what it is."""
    lines = [line for line in message.splitlines() if line.strip()]
    return lines[-1 if lines[0].startswith("Traceback") else 0] if lines else ""
