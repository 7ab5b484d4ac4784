"""The operator *value only*: store or pass on a number instead of a graph."""
