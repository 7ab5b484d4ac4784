"""What happened to a reused graph, told from the evidence and laid over the source."""
