"""What is asked of, and rewritten in, the syntax tree before anything is known of values."""
