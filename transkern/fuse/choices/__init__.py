"""What branches decide, as values."""
