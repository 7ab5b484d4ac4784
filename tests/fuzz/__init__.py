"""Drives the reader and the traceback parser with programs nobody would write."""
