"""The operator *reconnect*: restore a graph where it was lost."""
