"""The forms that kernels take: a grid of blocks, rows of lanes, whole arrays."""
