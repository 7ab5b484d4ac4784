"""Runs untrusted scripts behind walls and reports what was observed. Knows nothing of diagnoses."""
