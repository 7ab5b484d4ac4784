"""Candidate patches: each module knows one kind of repair and proposes it as edits."""
