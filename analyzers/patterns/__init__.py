"""One file a pattern. A file put here is found; nothing else needs to know of it."""
