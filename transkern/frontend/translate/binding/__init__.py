"""What assignments do beside giving one name one value: operators in place, several names at once."""
