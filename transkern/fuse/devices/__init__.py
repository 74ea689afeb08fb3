"""Orders of loops that pay on a device alone."""
