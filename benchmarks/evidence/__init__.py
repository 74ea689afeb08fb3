"""`make evidence`: what kernels are made of and ask of memory, without the hardware (python -m benchmarks.evidence)."""
