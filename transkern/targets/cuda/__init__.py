"""CUDA C++ text and its CuPy launcher; runs on a GPU, or on the CPU in the simulator."""
