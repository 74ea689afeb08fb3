"""CUDA C++ text, unchanged, run on the CPU: for tests and debugging where there is no GPU.

`device` has the shape of CuPy, so that a launcher runs with it in CuPy's place; `check` runs kernels under
AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer; `trace` counts what they ask of memory; `compile`
and `source` build the text with g++; `runtime.h`, `intrinsics.h` and `runtime.cpp` are CUDA's execution model: a
block's threads are fibers.

What differs from a device: threads run in a fixed order and one at a time; `__activemask()` is all lanes that have not
left the kernel; a C cast of a number out of range gives what the CPU gives; a thread that waits for a plain or volatile
location, without `__nanosleep` or an atomic in its loop, waits for ever; a `__shared__` variable is declared
inside a function; inline PTX, textures, streams' overlap and dynamic parallelism are missing.
"""
