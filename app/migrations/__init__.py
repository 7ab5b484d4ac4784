"""The schema's history, applied when a process starts."""
