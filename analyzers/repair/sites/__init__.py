"""Where a repair can be written: frames, statements, uses and the names that are known there."""
