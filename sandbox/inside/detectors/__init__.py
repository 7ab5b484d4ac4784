"""Faults that raise nothing: one file for each kind."""
