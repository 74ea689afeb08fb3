"""Python's functions of numbers that are exact: integers by a modulus, roots, sums of floats."""
