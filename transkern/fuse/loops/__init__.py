"""Loops fused, split and unrolled, and temporaries that shrink or go."""
