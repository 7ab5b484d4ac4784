"""Fixes that change a setting: an argument of a checkpoint, a wrapper, a compiler, a mode."""
