"""Find where a fix can be written: frames, statements, uses, and the names that are known there."""
