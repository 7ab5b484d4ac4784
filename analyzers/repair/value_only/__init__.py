"""The operator *value only*: what is kept or handed on is a number, not a graph."""
