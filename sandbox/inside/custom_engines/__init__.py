"""Autograd engines that a script writes by hand."""
