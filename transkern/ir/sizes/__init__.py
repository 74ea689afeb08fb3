"""What sizes are, over the sizes that they are made of."""
