"""transkern: plain NumPy functions to kernels."""
