"""C for a program: kernels, loops in vectors and threads, the entry that Python calls."""
