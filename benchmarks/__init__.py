"""Each benchmark is a command that prints a table with ratios."""
