"""The back ends: from kernels to text, and from text to something that can be called."""
