"""Edits from evidence alone: transforms of a script, each at the positions that a run has shown.

A module here is one transform. It knows no pattern: which value was used twice, changed or lost,
and where, is all that it is given. `transform.py` holds their interface, and generates edits with
all of them; those that no pattern proposes are searched by `app.repair.edit_search`.
"""
