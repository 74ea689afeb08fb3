"""What the CUDA target changes in a program before it prints it."""
