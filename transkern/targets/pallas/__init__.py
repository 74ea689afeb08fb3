"""Kernel IR to Pallas kernels with a jitted JAX wrapper: for TPU, and for any machine in Pallas' interpret mode."""
