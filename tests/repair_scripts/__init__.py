"""Scripts with faults whose repairs tests look at."""
