"""From evidence to causes: locations, what distinguishes the patterns, ranking."""
