"""Scripts that stubs let through, each with the names of what they replace in it."""
