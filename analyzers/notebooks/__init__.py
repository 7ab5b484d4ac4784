"""Jupyter notebooks: as scripts, as text to be patched, and in the order they were run."""
