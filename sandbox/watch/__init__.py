"""Watching a run from outside its walls: time, memory, processes, output."""
