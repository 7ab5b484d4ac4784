"""Explanations of the errors that autograd raises."""
