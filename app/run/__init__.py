"""The original, run and traced."""
