"""The operator *remake*: run the smallest slice that computes a graph again where it is needed."""
