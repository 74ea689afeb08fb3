"""Python's text for jax.numpy and Mosaic."""
