"""What kernels draw: generators of random numbers, and the tables of them."""
