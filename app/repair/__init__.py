"""Candidate patches: which are run, and what each was seen to do."""
