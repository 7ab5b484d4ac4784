"""The operator *cut*: a value goes on as numbers, without its history."""
