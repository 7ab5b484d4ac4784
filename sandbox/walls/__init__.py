"""The walls around one run, one module each, shared by every backend.

Each function acts on the calling process, cannot be undone, and raises `WallError` if the wall
cannot be raised. Nothing ever runs behind fewer walls than were requested.
"""
