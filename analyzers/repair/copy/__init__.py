"""The operator *copy*: clones, new tensors and lists for what was written in place."""
