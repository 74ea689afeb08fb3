"""Programs that were compiled wrongly once, made small; each says what was at fault."""
