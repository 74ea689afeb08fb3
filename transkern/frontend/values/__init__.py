"""What names can stand for: kinds of values, their types, shapes and memory."""
