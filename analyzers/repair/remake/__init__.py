"""The operator *remake*: the least slice that makes a graph runs again where it is needed."""
