"""Forms that loops take on a device: words of rows, tiles in registers, sums in order, loops over a group."""
