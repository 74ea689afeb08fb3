"""Facts about programs; reads, never edits."""
