"""The script itself: where it begins, in which order it runs, what it needs."""
