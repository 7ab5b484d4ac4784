"""The manners of a public service: limits, keys, headers, logs, metrics."""
