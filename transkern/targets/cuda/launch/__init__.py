"""Parts of the launcher: library steps on the device, and results."""
