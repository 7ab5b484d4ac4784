"""The operator *reconnect*: a graph put back where it was lost."""
