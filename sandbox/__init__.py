"""Run untrusted scripts behind walls and report what was observed. This package knows nothing of
diagnoses.
"""
