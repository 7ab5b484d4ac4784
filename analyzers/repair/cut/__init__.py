"""The operator *cut*: a value continues as numbers, without its history."""
