"""Fix settings: an argument of a checkpoint, a wrapper, a compiler, a mode."""
