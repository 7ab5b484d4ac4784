"""The findings, in words and pictures."""
