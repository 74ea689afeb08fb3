"""`make evidence`: what kernels are made of and ask of memory, without the hardware (python -m benchmarks.evidence)."""

from transkern.targets.chips import TPUS

GENERATIONS = tuple(TPUS)
LONGEST = "v5e"
"""The generation for which plain JAX is compiled, too: its bytes are the same on the others, but for padding."""
