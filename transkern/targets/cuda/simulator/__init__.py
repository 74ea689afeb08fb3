"""CUDA C++ text, unchanged, run on the CPU: for tests and debugging where there is no GPU.

`device` has the shape of CuPy, so that a launcher runs with it in CuPy's place; `check` runs kernels under
AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer; `compile` and `source` build the text with g++;
`runtime.h`, `intrinsics.h` and `runtime.cpp` are CUDA's execution model: a block's threads are fibers.
"""
