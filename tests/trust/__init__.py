"""One promise of docs/trust.md a test."""
