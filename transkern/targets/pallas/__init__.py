"""Kernel IR to Pallas kernels with a jitted JAX wrapper: for TPU, and for any machine in Pallas' interpret mode.

A grid kernel is a pure function of a block, run over all blocks (`grid`); a sequential loop with its parallel bodies is
one kernel with its state in VMEM (`lanes` for arrays of one axis, `whole` for arrays as they are). What Mosaic cannot
say – gathers, scans, compactions, some functions and dtypes – is the same statements as XLA ops in the jitted function
(`vector`, `stores`, `reductions`, `statements`); a comment in the emitted text says which and why.

Interpreted, + - * / and sqrt are rounded as NumPy rounds them, but subnormal results are flushed to zero. On a TPU
division and the functions are as exact as the hardware's. Sums differ in order.
"""
