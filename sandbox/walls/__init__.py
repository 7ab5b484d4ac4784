"""The walls around one run, each in a module of its own; shared by every backend.

Everything here acts on the calling process, cannot be undone, and raises `WallError` when it
does not hold. Nothing is ever run behind fewer walls than were asked for.
"""
