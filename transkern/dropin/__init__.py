"""Scripts run as they are: functions that profit are compiled when they are called (docs/run.md)."""
