"""From evidence to causes: where it points, what tells the patterns apart, which comes first."""
